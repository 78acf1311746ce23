package daemon

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
)

// A tool call that a program pushes goes through the guards, whichever agent it
// speaks for; without their objection nobody is asked.
func TestPushedToolCallsAreGuarded(t *testing.T) {
	w := open(t)
	w.watchInbox()
	push := func(source, tool, command string) string {
		request := pushed(source+"-s1", "PreToolUse", tool, map[string]any{"command": command}, "")
		request["event"].(map[string]any)["_source"] = source
		got, code := w.cmux(wire.MethodCmuxPush, request)
		return string(got) + code
	}
	for source, tool := range map[string]string{"claude": "Bash", "opencode": "bash", "gemini": "run_shell_command",
		"cursor": "Bash", "pi": "bash"} {
		if got := push(source, tool, "hookmux guard off own-files"); !strings.Contains(got, `"resolved"`) ||
			!strings.Contains(got, `"mode":"deny"`) {
			t.Errorf("%s: a guarded call got %s", source, got)
		}
		if got := push(source, tool, "make"); !strings.Contains(got, `"acknowledged"`) {
			t.Errorf("%s: a harmless call got %s", source, got)
		}
	}
}
