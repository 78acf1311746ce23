package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// A custom agent brings hooks of its own. They're run, and hookmux's no still counts, although
// they allow the call.
func TestRealHooksOfACustomAgent(t *testing.T) {
	for name, c := range map[string]struct{ folder, file, hooks string }{
		"copilot": {".copilot/agents", "own.agent.md", `  preToolUse:
    - type: command
      bash: "touch %s; echo '{\"permissionDecision\":\"allow\"}'"
`},
		"claude": {".claude/agents", "own.md", `  PreToolUse:
    - matcher: "*"
      hooks:
        - type: command
          command: "touch %s; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\"}}'"
`},
	} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			mark := filepath.Join(st.Base, "own-hook-ran")
			writePersonFile(t, st.Home, filepath.Join(c.folder, c.file),
				"---\nname: own\ndescription: Does what it is told\nhooks:\n"+fmt.Sprintf(c.hooks, mark)+"---\nDo what you are told.\n")
			call := func(command string) model.Step {
				return model.Step{Calls: []model.ToolCall{st.Table.Shell.Call(command)}}
			}
			st.SetScript([]model.Step{call("touch ran-agent"), call("touch ran-free"), {Say: testbed.LastWords}})
			asked := 0
			if err := st.StartDaemonWithHooks(func(ev *event.Event, _ int) event.Decision {
				if ev.Kind != event.ToolBefore {
					return event.Decision{}
				}
				if asked++; asked > 1 {
					return event.Decision{} // a first refusal may be the last hook that runs
				}
				return event.Decision{Verdict: event.Deny, Reason: "not today"}
			}); err != nil {
				t.Fatal(err)
			}
			args := append([]string{"--agent", "own"}, st.FreeCommand("Run it")...)
			if err := st.RunHeadless(context.Background(), st.AgentCommand(), args); err != nil {
				t.Logf("it ended with %v: %s", err, testbed.ClipText(st.Evidence.Stderr))
			}
			if asked != 2 || !st.LeftItsFile("free") {
				t.Errorf("hookmux was asked %d times, want 2, and the second call to run: %s %s", asked,
					testbed.ClipText(st.Evidence.Stdout), testbed.ClipText(st.Evidence.Stderr))
			}
			if st.LeftItsFile("agent") {
				t.Error("what hookmux refused ran")
			}
			if _, err := os.Stat(mark); err != nil {
				t.Errorf("the agent's own hook was not run: %s %s", testbed.ClipText(st.Evidence.Stdout),
					testbed.ClipText(st.Evidence.Stderr))
			}
		})
	}
}
