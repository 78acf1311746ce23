package daemon

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// What ended while the user was away is in the digest, however often the daemon
// began anew meanwhile.
func TestDigestOutlivesTheDaemon(t *testing.T) {
	w := open(t)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	before := w.startCall(hiddenPermission("make")) // nobody there: passes at once
	before.answer()
	w.MustCall(wire.MethodAway, nil, nil)

	call := w.startCall(permission("s", "npm test"))
	item := w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "everywhere"})
	call.answer()
	for range 2 { // by the permission
		if got := w.Send(permission("t", "npm test")); !strings.Contains(string(got.Stdout), `"allow"`) {
			t.Fatalf(`got.Stdout = %s, want "allow" in it`, got.Stdout)
		}
	}
	call = w.startCall(permission("s", "deploy "+secret))
	second := w.waiting()
	w.say(wire.InboxReplyParams{ID: second.ID, Choice: "deny", Reason: "not now"})
	call.answer()
	w.Down()
	w.Up()
	asking := daemontest.SessionEvent("claude", "PermissionRequest",
		map[string]any{"tool_name": "AskUserQuestion", "tool_input": map[string]any{"questions": []any{
			map[string]any{"question": "Which?", "options": []any{map[string]any{"label": "x"},
				map[string]any{"label": "y"}}}}}})
	call = w.startCall(asking)
	third := w.waiting()
	w.say(wire.InboxReplyParams{ID: third.ID, Choice: "answer",
		Answers: []event.QuestionAnswer{{Options: []string{"y"}}}})
	call.answer()
	r := permission("s", "too late")
	r.Deadline = 50 * time.Millisecond
	w.startCall(r).answer()
	w.Down()
	w.Up()
	w.Send(permission("t", "npm test"))
	call = w.startCall(permission("s", "last"))
	last := w.waiting()
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: last.ID}, nil)
	call.answer()

	var digest wire.Digest
	w.MustCall(wire.MethodBack, nil, &digest)
	var lines []string
	for _, i := range digest.Ended {
		line := i.Kind + " " + i.Status
		if i.Decision != nil {
			line += " " + i.Decision.Choice + " " + i.Decision.Outcome
		} else {
			line += ": " + i.End
		}
		lines = append(lines, line)
		if i.Shown == "" || i.EndedAt == nil || i.Agent != "claude" || i.Session == "" {
			t.Errorf(`i = %+v, want i.Shown not empty, i.EndedAt other than nil, i.Agent = "claude" and i.Session `+
				`not empty`, i)
		}
	}
	want := "permission resolved always delivered\npermission resolved deny delivered\nquestion resolved answer " +
		"delivered\n" +
		"permission expired: time is over\npermission withdrawn: left to the agent's own prompt"
	if got := strings.Join(lines, "\n"); got != want || digest.Permitted != 3 || digest.Note != "" {
		t.Fatalf(`strings.Join(lines, "\n") = %s, digest = %+v; want %q, digest.Permitted = 3 and digest.Note = ""`,
			got, digest, want)
	}
	one, two := digest.Ended[0], digest.Ended[1]
	if one.ID != item.ID || one.SHA256 != item.SHA256 || one.Decision.By == "" || one.Decision.By == "person" ||
		one.Decision.Permission == "" || !strings.Contains(one.Shown, "$ npm test") {
		t.Errorf(`one = %+v, one.Decision = %+v; want one.ID = %q, one.SHA256 = %q, one.Decision.By not empty, `+
			`one.Decision.By other than "person", one.Decision.Permission not empty and "$ npm test" in one.Shown`,
			one, one.Decision, item.ID, item.SHA256)
	}
	if two.SHA256 != second.SHA256 || strings.Contains(two.Shown+string(two.Input), secret) ||
		two.Decision.Reason != "not now" {
		t.Errorf(`two = %+v, two.Decision = %+v; want two.SHA256 = %q, no %q in two.Shown + string(two.Input) and `+
			`two.Decision.Reason = "not now"`, two, two.Decision, second.SHA256, secret)
	}
	if three := digest.Ended[2]; len(three.Decision.Answers) != 1 || three.Decision.Answers[0].Words() != "y" {
		t.Errorf(`three.Decision = %+v, want len(three.Decision.Answers) = 1 and three.Decision.Answers[0].Words() `+
			`= "y"`, three.Decision)
	}
	w.MustCall(wire.MethodBack, nil, &digest)
	if digest.WasAway {
		t.Error("twice; want !digest.WasAway")
	}
}
