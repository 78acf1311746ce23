package terminaltest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/terminaltest"
)

// A person at a real terminal deletes a hook's file and gets it back
// with one yes; and takes hookmux out: the plan is shown, then the code is asked for, and
// the Enter that their hand adds answers nothing.
func TestRealSettings(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	person := s.login(terminaltest.Login)
	person.Run("mkdir -p ~/.claude")
	person.Run("hookmux daemon start")
	if out := person.Run("hookmux install claude --yes"); !strings.Contains(out, "hooked") {
		t.Fatalf("install said %q, want that Claude Code is hooked", out)
	}
	if out := person.Run("hookmux hooks new gate"); !strings.Contains(out, "wrote ~/.config/hookmux/hooks/gate.ts") {
		t.Fatalf("hooks new said %q, want the file's path with ~", out)
	}
	person.Run("rm ~/.config/hookmux/hooks/gate.ts")
	if out := person.Run("hookmux status"); !strings.Contains(out, "hooks/gate.ts (removed)") ||
		!strings.Contains(out, "`hookmux config accept --restore` undoes them") {
		t.Errorf("status said %q, want the deleted file and what undoes it", out)
	}
	from, end := person.Start("hookmux config accept --restore")
	person.Await(from, "Undo these changes in the files? [y/N] ")
	person.Type("y\n")
	s.awaitEnd(person, from, end, "")
	if shown := person.Screen()[from:]; !strings.Contains(shown, "restored ~/.config/hookmux/hooks/gate.ts") {
		t.Errorf("config accept --restore showed %q, want that the file is restored", shown)
	}
	if out := person.Run("hookmux config accept"); !strings.Contains(out, "nothing to accept") {
		t.Errorf("config accept said %q, want that there is nothing to accept", out)
	}

	from, end = person.Start("hookmux uninstall claude")
	s.awaitEnd(person, from, end, "\n")
	shown := person.Screen()[from:]
	plan, code := strings.Index(shown, ".claude/settings.json"), strings.Index(shown, "to confirm")
	if plan < 0 || code < plan {
		t.Errorf("uninstall showed %q, want its plan before the code", shown)
	}
	if !strings.Contains(shown, "removed from ~/.claude/settings.json") || strings.Contains(shown, "[y/N]") {
		t.Errorf("uninstall showed %q, want no further question and that the hooks are taken out", shown)
	}
}

// A yes that lasts is one question, the daemon's code, and says what it
// will allow before that.
func TestRealStandingYes(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	person, beside := s.login(terminaltest.Login), s.login(quick)
	person.Run("hookmux daemon start")
	s.confirm(person, "hookmux away", "away")
	s.write("request.json", `{"session_id":"s","hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash",`+
		`"tool_input":{"command":"touch x"}}`)
	beside.Type("hookmux-hook claude PermissionRequest 300 <" + terminaltest.Base() + "/request.json >" + s.said + "/answer\n")
	terminaltest.Eventually(t, "the request waits", func() bool {
		return requestID.MatchString(person.Run("hookmux inbox --json"))
	})
	from, end := person.Start("hookmux approve --always")
	s.awaitEnd(person, from, end, "")
	shown := person.Screen()[from:]
	rule, code := strings.Index(shown, "always allow claude in this session, until you remove it: run exactly: touch x"),
		strings.Index(shown, "to confirm")
	if rule < 0 || code < rule || strings.Contains(shown, "[y/N]") {
		t.Errorf("approve --always showed %q, want the rule, then the code, and no other question", shown)
	}
	terminaltest.Eventually(t, "the agent hears the yes", func() bool {
		b, _ := os.ReadFile(s.said + "/answer")
		return strings.Contains(string(b), `"allow"`)
	})
}

// awaitEnd waits until a command ends, and types the code if one is asked for.
func (s *testBed) awaitEnd(at *terminaltest.Terminal, from int, end, after string) {
	s.t.Helper()
	typed := false
	terminaltest.Eventually(s.t, "the command ends", func() bool {
		shown := at.Screen()[from:]
		if code := shownCode.FindStringSubmatch(shown); code != nil && !typed {
			typed = true
			at.Type(code[1] + after)
		}
		return strings.Contains(shown, end)
	})
}
