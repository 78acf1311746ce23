package guardnote

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestWrittenNoteIsReadBack(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	want := []Cover{{Any, "tool.before"}, {Any, "tool.permission.request"}, {"claude", "UserPromptSubmit"}}
	for range 2 {
		if err := Write(state, []Cover{want[2], want[1], want[0], want[2]}); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(state); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
	if err := Write(state, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(state); err != nil || len(got) != 0 {
		t.Errorf("an empty list came back as %v, %v", got, err)
	}
	entries, err := os.ReadDir(state)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %v, %v; want the note alone", entries, err)
	}
}

func TestListThatDoesNotFitCoversEverything(t *testing.T) {
	var many []Cover
	for i := range maxCovers + 1 {
		many = append(many, Cover{"agent", fmt.Sprint("Event", i)})
	}
	for name, list := range map[string][]Cover{
		"many": many, "long": {{"agent", strings.Repeat("x", maxSize)}}, "odd": {{"two words", "Event"}}, "empty": {{"", ""}},
	} {
		state := t.TempDir()
		if err := Write(state, list); err != nil {
			t.Fatal(err)
		}
		if got, err := Read(state); err != nil || !Covers(got, "anybody", "Anything", "") {
			t.Errorf("%s: %v, %v; want everything to be covered", name, got, err)
		}
	}
}

func TestDamagedNoteIsNotBelieved(t *testing.T) {
	whole := string(formatNote(Builtin()))
	for _, text := range []string{
		"", "end\n", "hookmux guards 2\nend\n", "hookmux guards 1\n", "hookmux guards 1\nend", whole[:len(whole)-1], whole[:20],
		"hookmux guards 1\none\nend\n", "hookmux guards 1\na b c\nend\n", "hookmux guards 1\n\nend\n", "hookmux guards 1\na bend\n",
		"\x00" + whole, whole + "more\n",
	} {
		if got, err := parseNote(text); !errors.Is(err, ErrDamaged) {
			t.Errorf("%q was read as %v, %v", text, got, err)
		}
	}
	state := t.TempDir()
	if _, err := Read(state); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no note: %v; want err to be os.ErrNotExist", err)
	}
	if err := os.Symlink("/dev/zero", File(state)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(state); err == nil {
		t.Error("a link was followed")
	}
	if err := Write(state, Builtin()); err != nil {
		t.Fatal(err)
	}
	if got, err := Read(state); err != nil || !reflect.DeepEqual(got, Builtin()) {
		t.Errorf("after writing over a link: %v, %v", got, err)
	}
}

func TestCovers(t *testing.T) {
	list := append(Builtin(), Cover{"claude", "UserPromptSubmit"}, Cover{"mine", Any})
	for _, c := range []struct {
		agent, native, kind string
		want                bool
	}{
		{"claude", "PreToolUse", "tool.before", true},
		{"claude", "UserPromptSubmit", "turn.start", true},
		{"codex", "UserPromptSubmit", "turn.start", false},
		{"mine", "Whatever", "", true},
		{"unknown", "Whatever", "", false},
		{"claude", "Notification", "user.attention", false},
	} {
		if got := Covers(list, c.agent, c.native, c.kind); got != c.want {
			t.Errorf("%s %s: %v, want %v", c.agent, c.native, got, c.want)
		}
	}
}

func FuzzParseNote(f *testing.F) {
	f.Add(string(formatNote(Builtin())))
	f.Add("hookmux guards 1\nend\n")
	f.Fuzz(func(t *testing.T, text string) {
		covers, err := parseNote(text)
		if err == nil && string(formatNote(covers)) != text {
			t.Errorf("%q was read as %v, which is written as %q", text, covers, formatNote(covers))
		}
	})
}
