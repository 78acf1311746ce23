package toolnames

import (
	"reflect"
	"slices"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// A word in two keys of one tool could mean either.
func TestEveryWordMeansOneThing(t *testing.T) {
	for _, dialect := range []map[event.ToolKind]Spelling{Claude, Pi} {
		for kind, s := range dialect {
			seen := map[string]string{}
			for _, k := range s.Keys {
				if slices.Contains(k.Others, k.Word) {
					t.Errorf("%s: %s stands for itself twice", kind, k.Word)
				}
				for _, w := range append([]string{k.Word}, k.Others...) {
					if other := seen[w]; other != "" || w == s.Subject {
						t.Errorf(`%s: %q is %s and %s; want other == "" and w != s.Subject`,
							kind, w, k.Word, other+s.Subject)
					}
					seen[w] = k.Word
				}
			}
		}
	}
}

// What one dialect calls a key, the other must be able to read.
func TestDialectsReadEachOther(t *testing.T) {
	for kind, pi := range Pi {
		claude, ok := Claude[kind]
		if !ok {
			t.Errorf("%s is known to pi alone", kind)
		}
		for i, k := range pi.Keys {
			if i < len(claude.Keys) && claude.Keys[i].Word != k.Word &&
				(!slices.Contains(claude.Keys[i].Others, k.Word) || !slices.Contains(k.Others, claude.Keys[i].Word)) {
				t.Errorf("%s: %s and %s do not know each other", kind, k.Word, claude.Keys[i].Word)
			}
		}
	}
	if got := Pi[event.FileEdit].Key("oldText").Others; !slices.Equal(got,
		[]string{"old_string", "oldString", "old_str", "oldStr", "old_text"}) {
		t.Errorf("oldText is also %q", got)
	}
	if _, ok := Pi[event.Fetch]; ok {
		t.Error("pi has no tool that fetches")
	}
}

func TestSearches(t *testing.T) {
	for tool, want := range map[string]Searched{
		"Grep": Contents, "search_file_content": Contents, "search_symbols": Contents,
		"Glob": FileNames, "find_files": FileNames, "LS": Folder, "list_directory": Folder,
	} {
		if got := Searches(tool); got != want {
			t.Errorf("%s searches %d, want %d", tool, got, want)
		}
	}
}

func TestDigAndReplace(t *testing.T) {
	value := func(text string) any {
		return map[string]any{"a": []any{"x", map[string]any{"cmd": text}}}
	}
	path := Dig(value("ls"), "ls")
	if !reflect.DeepEqual(path, []any{"a", 1, "cmd"}) {
		t.Fatalf(`found at %v; want path equal to []any{"a", 1, "cmd"}`, path)
	}
	got := value("ls")
	if !Replace(got, path, "ls -l") || !reflect.DeepEqual(got, value("ls -l")) {
		t.Errorf(`replaced to %v; want Replace(got, path, "ls -l") and got equal to value("ls -l")`, got)
	}
	if Dig("ls", "ls") != nil || Dig(value("ls"), "cat") != nil {
		t.Error("found what is not inside")
	}
	if Replace(value("ls"), []any{"a", 7}, "x") || Replace(value("ls"), []any{"a", "b"}, "x") {
		t.Error("replaced what is not there")
	}
	deep := any("ls")
	for range maxDig + 1 {
		deep = []any{deep}
	}
	if Dig(deep, "ls") != nil {
		t.Error("dug without end")
	}
}
