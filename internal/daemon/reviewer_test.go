package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// reviewedCall returns a permission request of Codex whose record names a reviewer.
// The record is written before the request is sent, as Codex does.
func (w *daemonFixture) reviewedCall(reviewer, command string) frame.Request {
	w.T.Helper()
	record := filepath.Join(w.Dirs.Home, ".codex/sessions/2026/11/15/rollout-1-s1.jsonl")
	w.Write(record, fmt.Sprintf(`{"type":"turn_context","payload":{"turn_id":"t1","approvals_reviewer":%q}}`+"\n",
		reviewer))
	r := daemontest.SessionEvent("codex", "PermissionRequest", map[string]any{
		"turn_id": "t1", "transcript_path": record, "cwd": w.Base, "permission_mode": "default",
		"tool_name": "Bash", "tool_input": map[string]any{"command": command},
	})
	r.ID, r.Cwd = frame.NewID(), w.Base
	return r
}

// Codex puts its permission requests to hooks before its own reviewer sees
// them. Nobody is asked about those, though somebody looks at the inbox.
func TestAgentReviews(t *testing.T) {
	w := open(t)
	w.watchInbox()
	r := w.reviewedCall("auto_review", "make install")
	var told wire.Explained
	w.MustCall(wire.MethodExplain,
		wire.ExplainParams{Agent: r.Agent, Event: r.Event, Payload: r.Payload, Cwd: w.Base}, &told)
	if notes := strings.Join(told.Notes, "\n"); !strings.Contains(notes, "Codex CLI's own reviewer decides") {
		t.Errorf("explain says %q, expected who decides", notes)
	}
	w.Send(daemontest.SessionEvent("codex", "UserPromptSubmit",
		map[string]any{"turn_id": "t1", "prompt": "install it", "cwd": w.Base}))
	if got, ok := w.startCall(r).answer(); got != "" || !ok {
		t.Errorf("the hook heard %q (%v), expected nothing", got, ok)
	}
	if list := w.items(); len(list) != 0 {
		t.Errorf("%d requests wait, expected none: %+v", len(list), list)
	}
	w.statusIs("s1", "running")
	if got := w.session("s1"); got.Reviewer != event.ReviewerAgent || got.WaitingSince != nil {
		t.Errorf("reviewer %q, waiting since %v; expected agent and not waiting", got.Reviewer, got.WaitingSince)
	}
	row := w.Row(r.ID, true)
	if row.Outcome.Neutral != "the agent's own reviewer decides" {
		t.Errorf("recorded as %+v, expected who decides", row.Outcome)
	}
}

// With a person as reviewer the request stands in Codex's own window, where
// nobody looks at the inbox. What the record says last counts.
func TestPersonReviews(t *testing.T) {
	w := open(t)
	for _, c := range []struct {
		reviewer, status string
		want             event.Reviewer
	}{
		{"auto_review", "running", event.ReviewerAgent},
		{"user", "waiting", event.ReviewerUser}, // changed in Codex's menu
	} {
		if got := w.Send(w.reviewedCall(c.reviewer, "make "+c.reviewer)); len(got.Stdout) != 0 {
			t.Errorf("%s: the hook heard %s, expected nothing", c.reviewer, got.Stdout)
		}
		w.statusIs("s1", c.status)
		// The follower of the record may be one row behind for a moment.
		w.Eventually("the session's reviewer is "+string(c.want),
			func() bool { return w.session("s1").Reviewer == c.want })
	}
}

// Guards and hooks have their say before the reviewer.
func TestHooksBeforeReviewer(t *testing.T) {
	evaluator := daemontest.Entry(t, "evaluate", hook.Guard, event.PermissionRequest,
		func(_ context.Context, c *hook.Call) (event.Decision, error) {
			switch command := c.Event.Tool.Commands[0]; {
			case strings.Contains(command, "deploy"):
				return event.Decision{Verdict: event.Deny, Reason: "no deploys today"}, nil
			case strings.Contains(command, "test"):
				return event.Decision{Verdict: event.Allow}, nil
			}
			return event.Decision{}, nil
		})
	w := open(t, evaluator)
	w.watchInbox()
	for command, want := range map[string]string{"make deploy": `"deny"`, "make test": `"allow"`, "make": ""} {
		got := string(w.Send(w.reviewedCall("auto_review", command)).Stdout)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: the hook heard %q, expected %q", command, got, want)
		}
	}
	if list := w.items(); len(list) != 0 {
		t.Errorf("%d requests wait, expected none", len(list))
	}
}

// A saved permission is a person's word too, so it counts before the reviewer.
func TestPermissionBeforeReviewer(t *testing.T) {
	w := open(t)
	r := w.reviewedCall("auto_review", "make test")
	w.permissionAll([]frame.Request{r})
	if got := string(w.Send(r).Stdout); !strings.Contains(got, `"allow"`) {
		t.Errorf("the hook heard %q, expected the permission's yes", got)
	}
}
