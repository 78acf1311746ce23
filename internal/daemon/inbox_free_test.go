package daemon

import (
	"os"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
)

// An agent started in a mode that asks nobody is never kept waiting, though
// it puts its permission events. A word in its prompt does not free it.
func TestFreeAgent(t *testing.T) {
	started := func(env []string, args ...string) *proctest.Table {
		return daemontest.AtTerminal(proctest.Node{PID: daemontest.AgentPID, Name: "copilot",
			Program: "/opt/copilot/bin/copilot", Args: append([]string{"copilot"}, args...), Env: env,
			Below: []proctest.Node{
				{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"},
			}})
	}
	for name, c := range map[string]struct {
		table *proctest.Table
		free  bool
	}{
		"asks":          {started(nil), false},
		"flag":          {started(nil, "--model", "x", "--allow-all-tools", "-p", "Do it"), true},
		"short":         {started(nil, "--yolo"), true},
		"in the prompt": {started(nil, "-p", "--yolo"), false},
		"behind --":     {started(nil, "--", "--yolo"), false},
		"variable":      {started([]string{"COPILOT_ALLOW_ALL=Yes"}), true},
		"variable off":  {started([]string{"COPILOT_ALLOW_ALL=0"}), false},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			w.watchInbox()
			w.SetProcesses(c.table)
			call := w.startCall(daemontest.SessionEvent("copilot", "permissionRequest", map[string]any{
				"hookName": "permissionRequest", "toolName": "bash", "toolInput": map[string]any{"command": "make"},
			}))
			if !c.free {
				// From inside: without its process the agent would be gone.
				if err := w.h.CallMethod(wire.MethodInboxReply, wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"},
					nil); err != nil {
					t.Error(err)
				}
			}
			got, _ := call.answer()
			if approved := got != ""; approved == c.free {
				t.Errorf("the hook heard %q", got)
			}
		})
	}
}
