package agent

import (
	"slices"
	"testing"
)

func TestOthers(t *testing.T) {
	list := Others()
	if n := len(list) + len(Builtin().Agents()); n < 40 {
		t.Errorf("only %d agents are recognised", n)
	}
	names, programs := map[string]bool{}, map[string]string{}
	for _, known := range Builtin().AllMarks() {
		if known.Name == "" || names[known.Name] {
			t.Errorf("%q is there twice or has no name", known.Name)
		}
		names[known.Name] = true
		if known.Name != "generic" && len(known.Programs)+len(known.Paths) == 0 {
			t.Errorf("nothing tells %s from other programs", known.Name)
		}
		for _, program := range known.Programs {
			if other := programs[program]; other != "" {
				t.Errorf("%s is the program of %s and of %s", program, other, known.Name)
			}
			programs[program] = known.Name
		}
		for _, fragment := range known.Paths {
			if len(fragment) < 6 {
				t.Errorf("%s: %q is in too many paths", known.Name, fragment)
			}
		}
	}
	for _, want := range []string{"aider", "cursor-agent", "goose", "amp", "cline", "crush", "auggie", "kiro-cli",
		"junie"} {
		if programs[want] == "" {
			t.Errorf("%s is not recognised", want)
		}
	}
	// People type in the terminals of editors.
	for _, editor := range []string{"code", "cursor", "windsurf", "trae", "zed", "emacs", "nvim"} {
		if programs[editor] != "" {
			t.Errorf("%s accuses whoever types in its terminal", editor)
		}
	}
	if !slices.ContainsFunc(list, func(k Known) bool { return k.Name == "roo" && len(k.Environment) == 1 }) {
		t.Error("roo's variables are not read")
	}
}
