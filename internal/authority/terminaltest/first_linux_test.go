package terminaltest_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority/terminaltest"
)

// firstCommands is how many commands a new user may have to type between an
// unpacked release and the first request they approved.
const firstCommands = 6

// Somebody unpacked a release and has an agent. They start the
// agent through hookmux in one terminal and the live view in another; the agent
// asks, and they press a key. Every line they type is counted.
func TestRealFirstSteps(t *testing.T) {
	if !terminaltest.Inside(t) {
		return
	}
	s := newTestBed(t)
	if err := os.MkdirAll(terminaltest.Base()+"/agents", 0o755); err != nil {
		t.Fatal(err)
	}
	s.write("request.json", `{"session_id":"s","hook_event_name":"PermissionRequest","cwd":"/","tool_name":"Bash",`+
		`"tool_input":{"command":"touch first-of-all"}}`)
	s.write("agents/claude", "#!/bin/bash\n"+
		"touch "+s.said+"/started\n"+
		"while ! [ -e "+s.said+"/asks ]; do sleep 0.1; done\n"+
		"hookmux-hook claude PermissionRequest 300 <"+terminaltest.Base()+"/request.json >"+s.said+"/answer 2>&1\n")
	work, view := terminaltest.Login(t), quick(t)
	var typed []string
	types := func(at *terminaltest.Terminal, line string) int {
		typed = append(typed, line)
		from := at.Mark()
		at.Type(line + "\n")
		return from
	}
	for _, at := range []*terminaltest.Terminal{work, view} {
		at.Run("export PATH=" + terminaltest.Base() + "/agents:$PATH") // the agent was there before
		types(at, "export PATH="+s.bin+":$PATH")
	}
	types(work, "hookmux run claude")
	terminaltest.Eventually(t, "the agent starts", func() bool {
		_, err := os.Stat(s.said + "/started")
		return err == nil
	})
	from := types(view, "hookmux up")
	view.Await(from, "No agent is running yet")
	if err := os.WriteFile(s.said+"/asks", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	view.Await(from, "first-of-all")
	pressed, coded := time.Time{}, false
	terminaltest.Eventually(t, "the agent hears the yes", func() bool {
		b, _ := os.ReadFile(s.said + "/answer")
		if strings.Contains(string(b), `"allow"`) {
			return true
		}
		if code := shownCode.FindStringSubmatch(view.Screen()[from:]); code != nil && !coded {
			coded = true
			view.Type(code[1])
		} else if code == nil && time.Since(pressed) > 2*time.Second { // the first may come too early
			pressed = time.Now()
			view.Type("a")
		}
		return false
	})
	t.Logf("%d commands: %q", len(typed), typed)
	if len(typed) > firstCommands {
		t.Errorf("%d commands were typed, want at most %d: %q", len(typed), firstCommands, typed)
	}
}
