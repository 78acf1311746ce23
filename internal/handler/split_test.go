package handler

import (
	"strings"
	"testing"
)

func TestSplit(t *testing.T) {
	for line, want := range map[string]string{
		``:                                "",
		`  a  b	c `:                       "a|b|c",
		`a 'b c' "d e"`:                   "a|b c|d e",
		`a\ b c`:                          "a b|c",
		`x '' ""`:                         "x||",
		`pre'mid'"post"`:                  "premidpost",
		`"a\"b\\c\$d\n"`:                  `a"b\c$d\n`,
		`'a\b'`:                           `a\b`,
		`echo $HOME *.go a;b | c`:         "echo|$HOME|*.go|a;b|||c",
		"one \\\ntwo":                     "one|two",
		`~/bin/x ~ '~' "~/y" \~ ~user a~`: "/h/bin/x|/h|~|~/y|~|~user|a~",
	} {
		words, err := Split(line)
		if err != nil {
			t.Errorf("%q: error %v, want no error", line, err)
			continue
		}
		texts := make([]string, len(words))
		for i, w := range words {
			texts[i] = w.In("/h")
		}
		if got := strings.Join(texts, "|"); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
	for _, line := range []string{`a 'b`, `a "b`, `a \`, `"a\"`} {
		if _, err := Split(line); err == nil {
			t.Errorf("%q: no error; want an error", line)
		}
	}
}

func FuzzSplit(f *testing.F) {
	f.Add(`a 'b c' "d\"e" \~ ~/x`)
	f.Fuzz(func(t *testing.T, line string) {
		words, err := Split(line)
		if err != nil {
			return
		}
		for _, w := range words {
			want := w.Text
			if w.Home {
				want = "/h" + strings.TrimPrefix(w.Text, "~")
			}
			if got := w.In("/h"); got != want {
				t.Errorf("%q: the word %+v in /h is %q, expected %q", line, w, got, want)
			}
		}
	})
}
