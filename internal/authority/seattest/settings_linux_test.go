package seattest_test

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/seattest"
)

// TestRealSettings: a person at a real terminal deletes a hook's file and gets it back
// with one yes; and takes hookmux out: the plan is shown, then the code is asked for, and
// the Enter that their hand adds answers nothing.
func TestRealSettings(t *testing.T) {
	if !seattest.Inside(t) {
		return
	}
	s := newStage(t)
	person := s.login(seattest.Login)
	person.Run("mkdir -p ~/.claude")
	person.Run("hookmux hub start")
	if out := person.Run("hookmux install claude --yes"); !strings.Contains(out, "hooked") {
		t.Fatalf("install said %q, want that Claude Code is hooked", out)
	}
	if out := person.Run("hookmux module new gate"); !strings.Contains(out, "wrote ~/.config/hookmux/hooks/gate.ts") {
		t.Fatalf("module new said %q, want the file's path with ~", out)
	}
	person.Run("rm ~/.config/hookmux/hooks/gate.ts")
	if out := person.Run("hookmux status"); !strings.Contains(out, "hooks/gate.ts (removed)") ||
		!strings.Contains(out, "`hookmux confirm --restore` undoes them") {
		t.Errorf("status said %q, want the deleted file and what undoes it", out)
	}
	from, end := person.Start("hookmux confirm --restore")
	person.Await(from, "Undo these changes, so that the files hold again what you confirmed? [y/N] ")
	person.Type("y\n")
	s.awaitEnd(person, from, end, "")
	if shown := person.Screen()[from:]; !strings.Contains(shown, "restored ~/.config/hookmux/hooks/gate.ts") {
		t.Errorf("confirm --restore showed %q, want that the file is restored", shown)
	}
	if out := person.Run("hookmux confirm"); !strings.Contains(out, "nothing waits") {
		t.Errorf("confirm said %q, want that nothing waits", out)
	}

	from, end = person.Start("hookmux uninstall claude")
	s.awaitEnd(person, from, end, "\n")
	shown := person.Screen()[from:]
	plan, code := strings.Index(shown, ".claude/settings.json"), strings.Index(shown, "to confirm")
	if plan < 0 || code < plan {
		t.Errorf("uninstall showed %q, want its plan before the code", shown)
	}
	if !strings.Contains(shown, "taken out of ~/.claude/settings.json") || strings.Contains(shown, "[y/N]") {
		t.Errorf("uninstall showed %q, want no further question and that the hooks are taken out", shown)
	}
}

// awaitEnd waits until a command ends, and types the code if one is asked for.
func (s *stage) awaitEnd(at *seattest.Terminal, from int, end, after string) {
	s.t.Helper()
	typed := false
	seattest.Eventually(s.t, "the command ends", func() bool {
		shown := at.Screen()[from:]
		if code := shownCode.FindStringSubmatch(shown); code != nil && !typed {
			typed = true
			at.Type(code[1] + after)
		}
		return strings.Contains(shown, end)
	})
}
