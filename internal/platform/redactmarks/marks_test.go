package redactmarks

import (
	"strings"
	"testing"
)

func TestReplaceAll(t *testing.T) {
	mark := string(Append(nil, "sk-key"))
	for text, want := range map[string]string{
		"":                            "",
		"plain":                       "plain",
		"a " + mark + " b":            "a X b",
		mark + mark:                   "XX",
		"[redacted:" + mark:           "[redacted:X",
		"[redacted:NOT] [redacted:no": "[redacted:NOT] [redacted:no",
	} {
		got, found := ReplaceAll(text, "X")
		if got != want || found != strings.Contains(want, "X") {
			t.Errorf("%q: want %q, got %q (found %v)", text, want, got, found)
		}
	}
}

func TestIsCut(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                     false,
		"plain]":                               false,
		string(AppendCut([]byte("ab"), "abc")): true,
		string(AppendCut(nil, strings.Repeat("x", 9000))):             true,
		string(AppendCut(nil, "abc")) + " and more of it":             false,
		string(AppendCut(nil, "abc")) + strings.Repeat("y", 99) + "]": false,
	} {
		if got := IsCut(text); got != want {
			t.Errorf("%q: want cut %v, got %v", text, want, got)
		}
	}
}
