package terminaltest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority/terminaltest"
)

// A person at a real terminal opens the live view; an agent asks,
// the user presses a key, and the agent hears the answer. Where the daemon wants a
// code first, the view leaves the screen to it.
func TestRealView(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	person, beside := s.login(terminaltest.Login), s.login(quick)
	if out := person.Run("hookmux daemon start"); !strings.Contains(out, "running") {
		t.Fatalf("the daemon does not start: %q", out)
	}
	from := person.Mark()
	person.Type("hookmux up\n")
	person.Await(from, "No agent is running yet")

	shell, err := os.ReadFile("/bin/bash")
	if err != nil {
		t.Fatal(err)
	}
	agent := s.write("frobnicate", string(shell))
	s.write("request.json", `{"session_id":"s","hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash",`+
		`"tool_input":{"command":"touch shown-in-the-view"}}`)
	beside.Type(agent + " " + s.write("agent.sh", "export PATH="+s.bin+":$PATH\n"+
		"hookmux-hook claude PermissionRequest 300 <"+terminaltest.Base()+"/request.json >"+s.said+"/answer 2>&1\n") + "\n")
	person.Await(from, "shown-in-the-view")

	pressed, coded := time.Time{}, false
	terminaltest.Eventually(t, "the agent hears the user's yes", func() bool {
		b, _ := os.ReadFile(s.said + "/answer")
		if strings.Contains(string(b), `"allow"`) {
			return true
		}
		if code := shownCode.FindStringSubmatch(person.Screen()[from:]); code != nil {
			if !coded {
				coded = true
				person.Type(code[1])
			}
			return false
		}
		if time.Since(pressed) > 2*time.Second { // the first may come too early
			pressed = time.Now()
			person.Type("a")
		}
		return false
	})
	// What takes protection away needs a code, from the view as from a command.
	from = person.Mark()
	person.Type("O")
	person.Await(from, "Turn hookmux off")
	person.Type("\r")
	var code []string
	terminaltest.Eventually(t, "the daemon asks for a code", func() bool {
		code = shownCode.FindStringSubmatch(person.Screen()[from:])
		return code != nil
	})
	if out := beside.Run("hookmux status"); strings.Contains(out, "guards and rules are off") {
		t.Errorf("hookmux is off before the code was typed: %q", out)
	}
	person.Type(code[1])
	// The bar is drawn in one go. Of a message that takes another one's place, only the letters that differ are drawn.
	person.Await(from, "hookmux is OFF: guards and hooks stop nothing")
	if out := beside.Run("hookmux status"); !strings.Contains(out, "guards and rules are off") {
		t.Errorf("status after the code: %q, want it to say that everything is answered neutrally", out)
	}

	from = person.Mark()
	person.Type("q")
	person.Await(from, "\x1b[?1049l") // the view gave the screen back
	if out := person.Run("echo back-at-the-shell"); !strings.Contains(out, "back-at-the-shell") {
		t.Errorf("after the view the shell prints %q, want back-at-the-shell", out)
	}
}
