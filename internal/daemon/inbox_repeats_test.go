package daemon

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// repeated returns a call of an agent that reports it again once the user said
// yes at its own prompt.
func repeated(event, call, command string) frame.Request {
	return daemontest.SessionEvent("codebuddy", event, map[string]any{
		"tool_name": "Bash", "tool_input": map[string]any{"command": command}, "tool_use_id": call,
	})
}

// What was left to the agent's own prompt is not asked about again when the
// agent reports it a second time; the next call is.
func TestACallIsPutToThePersonOnce(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(repeated("PermissionRequest", "c1", "make"))
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
	if got, _ := call.answer(); got != "" {
		t.Errorf(`released: %s, want ""`, got)
	}
	w.MustPass(repeated("PreToolUse", "c1", "make"))
	w.MustPass(repeated("PermissionRequest", "c1", "make"))

	call = w.startCall(repeated("PermissionRequest", "c2", "make"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"behavior":"allow"`) {
		t.Errorf(`call.answer() = %q, want "behavior":"allow" in it`, got)
	}
	// The same number with another command is another call.
	call = w.startCall(repeated("PermissionRequest", "c1", "make install"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny", Reason: "no"})
	if got, _ := call.answer(); !strings.Contains(got, `"behavior":"deny"`) {
		t.Errorf(`call.answer() = %q, want "behavior":"deny" in it`, got)
	}
}

// What was let pass once passes again when the same call is reported again,
// and no other does.
func TestAnAllowanceIsForOneCallHoweverOftenItIsReported(t *testing.T) {
	const rule = "git-history.force-push"
	push := func(event, call string) frame.Request { return repeated(event, call, "git push --force origin main") }
	w := open(t)
	w.set("guard.destructive", "block")
	w.MustDeny(push("PreToolUse", "c0"), rule)
	w.MustCall(wire.MethodAllow, wire.AllowParams{Rule: rule, Once: true}, nil)
	for _, event := range []string{"PreToolUse", "PermissionRequest", "PreToolUse", "PermissionRequest"} {
		w.MustPass(push(event, "c1"))
	}
	w.MustDeny(push("PreToolUse", "c2"), rule)
}
