package daemon

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// Words beside a yes reach the agent with the result of that call, once, where
// it takes none at the request.
func TestNoteIsToldAfterTheCall(t *testing.T) {
	w := open(t)
	w.watchInbox()
	ended := func(session, command string) string {
		r := daemontest.ToolBefore("claude", session, "", command)
		r.Event = "PostToolUse"
		r.Payload = []byte(strings.Replace(string(r.Payload), `"PreToolUse"`, `"PostToolUse"`, 1))
		return string(w.Send(r).Stdout)
	}
	call := w.startCall(permission("s", "make"))
	result := w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once", Note: "then run the linter"})
	if len(result.Degraded) > 0 {
		t.Errorf("said to be lost: %q", result.Degraded)
	}
	call.answer()
	if got := ended("s", "make other"); got != "" {
		t.Errorf(`another call: %s, want ""`, got)
	}
	if got := ended("s", "make"); !strings.Contains(got, `"additionalContext"`) ||
		!strings.Contains(got, "then run the linter") {
		t.Errorf("the call: %q; want `\"additionalContext\"` in got and \"then run the linter\" in got", got)
	}
	if got := ended("s", "make"); got != "" {
		t.Errorf(`told again: %s, want ""`, got)
	}
	// A call that never ran takes the words with it.
	call = w.startCall(permission("s", "make"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once", Note: "then run the linter"})
	call.answer()
	w.Send(daemontest.SessionEvent("claude", "Stop", map[string]any{"session_id": "s"}))
	if got := ended("s", "make"); got != "" {
		t.Errorf("of an earlier turn: %s", got)
	}
}
