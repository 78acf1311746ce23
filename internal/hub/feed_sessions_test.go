package hub

import (
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
)

// Programs that speak to cmux's feed use the same names of events for every
// agent, and the sessions of all follow them: a question waits until it is
// answered, and no longer.
func TestPushedEventsDriveSessions(t *testing.T) {
	for source, tool := range map[string]string{"claude": "Bash", "codex": "Bash", "opencode": "bash", "pi": "bash",
		"gemini": "run_shell_command", "cursor": "Bash", "some-other-agent": "Bash"} {
		t.Run(source, func(t *testing.T) {
			w := open(t)
			w.watchFeed()
			push := func(name string, wait int, more map[string]any) {
				t.Helper()
				e := map[string]any{"session_id": source + "-s1", "hook_event_name": name, "_source": source, "cwd": w.Base}
				for k, v := range more {
					e[k] = v
				}
				if got, code := w.cmux(wire.MethodFeedPush, map[string]any{"event": e, "wait_timeout_seconds": wait}); code != "" {
					t.Errorf("%s was refused: %s %s", name, got, code)
				}
			}
			push("SessionStart", 0, nil)
			w.statusIs("s1", "idle")
			push("UserPromptSubmit", 0, map[string]any{"prompt": "build it"})
			w.statusIs("s1", "running")
			ask := map[string]any{"tool_name": tool, "tool_input": map[string]any{"command": "make"},
				"_opencode_request_id": "r1"}
			for _, choice := range []string{"once", "deny"} {
				done := make(chan struct{})
				go func() { defer close(done); push("PermissionRequest", 60, ask) }()
				item := w.waiting()
				w.statusIs("s1", "needsInput")
				w.say(wire.FeedReplyParams{ID: item.ID, Choice: choice})
				<-done
				w.statusIs("s1", "running")
			}
			push("PreToolUse", 0, ask)
			w.statusIs("s1", "running")
			push("PostToolUse", 0, ask)
			w.statusIs("s1", "running")
			push("Stop", 0, nil)
			w.statusIs("s1", "success")
			push("UserPromptSubmit", 0, map[string]any{"prompt": "and again"})
			w.statusIs("s1", "running")
			push("SessionEnd", 0, nil)
			if d := w.session("s1"); d.Ended == nil {
				t.Errorf("after SessionEnd the session is %s and has no end", d.Status)
			}
		})
	}
}
