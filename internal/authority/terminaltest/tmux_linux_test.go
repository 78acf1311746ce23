package terminaltest_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/authority/terminaltest"
)

// You work in tmux over ssh, in the first pane and in one that you split off. The code
// appears on your terminal, you type it, and hookmux does what you asked for.
func TestRealCodeInTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	person, beside := s.login(terminaltest.Login), s.login(quick)
	if out := person.Run("hookmux daemon start"); !strings.Contains(out, "running") {
		t.Fatalf("the daemon does not start: %q", out)
	}
	from := person.Mark()
	person.Type("tmux -f /dev/null new-session -s work\n")
	person.Await(from, "[work]")
	for _, keys := range []string{"", "\x02\""} { // the second: split the window
		person.Type(keys)
		from := person.Mark()
		person.Type("export PATH=" + s.bin + ":$PATH; echo re''ady\n") // a login shell sets its own
		person.Await(from, "ready")

		from = person.Mark()
		person.Type("hookmux off 1h\n")
		var code []string
		terminaltest.Eventually(t, "the daemon asks for a code", func() bool {
			code = shownCode.FindStringSubmatch(person.Screen()[from:])
			return code != nil
		})
		if out := beside.Run("hookmux status"); strings.Contains(out, "guards and rules are off") {
			t.Errorf("hookmux is off before the code was typed: %q", out)
		}
		person.TypeOneByOne(code[1])
		// The screen doesn't say when: tmux draws the other pane again, with its answer.
		terminaltest.Eventually(t, "hookmux is off", func() bool {
			return strings.Contains(beside.Run("hookmux status"), "guards and rules are off")
		})
		if out := beside.Run("hookmux on"); !strings.Contains(out, "hookmux is on again") {
			t.Errorf("on said %q", out)
		}
	}
}
