package shell

import "testing"

const blanks = " \t\n"

func TestSplitExpansions(t *testing.T) {
	for text, want := range map[string]string{
		"a": "a", "$X": "", "$X/y": "/y", "${X}/y": "/y", "$HOME/y": "$HOME/y", "${HOME}": "${HOME}", "$(a b)c": "c",
		"`a b`c": "c", "$": "", "a$1b": "ab",
		"$(a (b) c)d": "d", "$(a": "", "`a": "", "$?x": "x",
	} {
		if got := WithoutUnknown(text); got != want {
			t.Errorf("WithoutUnknown(%q) = %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]int{"a b": 1, "$(a b) c": 6, "`a b` c": 5, "${a b} c": 6, "ab": 2, "$x y": 2} {
		if got := FieldEnd(text, blanks, true); got != want {
			t.Errorf("FieldEnd(%q) = %d, want %d", text, got, want)
		}
	}
	if got := FieldEnd("$(a b)", blanks, false); got != 3 {
		t.Errorf("without expansions FieldEnd = %d, want 3", got)
	}
}
