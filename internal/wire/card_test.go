package wire

import (
	"slices"
	"testing"
)

func TestCardLines(t *testing.T) {
	card := "Agent wants to run\nin /p\n  $ a\n  + b\n  - c\n  ## d\n  $e\n  · f: g\nalways would allow: h\n"
	var kinds []CardLineKind
	for line := range CardLines(card) {
		kinds = append(kinds, line.Kind)
		if line.Kind == CommandLine && line.Command() != "a" {
			t.Errorf(`the command is %q, want "a"`, line.Command())
		}
	}
	want := []CardLineKind{OwnLine, OwnLine, CommandLine, AddedLine, RemovedLine, HeadingLine, OtherLine, OtherLine,
		OwnLine}
	if !slices.Equal(kinds, want) {
		t.Errorf("the kinds of lines are %v, want %v", kinds, want)
	}
	for shown, want := range map[string]string{
		card: "Agent wants to run: $ a", "only one line": "only one line", "one\nin /p\n": "one", "": "",
	} {
		if got := (&InboxRequest{Shown: shown}).About(); got != want {
			t.Errorf("%q is about %q, want %q", shown, got, want)
		}
	}
}
