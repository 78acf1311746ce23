package agent

import (
	"slices"
	"testing"

	"github.com/hookmux/hookmux/event"
)

// OpenCode without a person rejects permissions by itself and asks nobody
// after the before-hook; with one it is the other way round.
func TestInboxWhereNobodySits(t *testing.T) {
	a, _ := Builtin().Agent("opencode")
	for _, c := range []struct {
		native   string
		attended event.Attended
		asked    bool
		once     bool
	}{
		{"permission.asked", event.AttendedYes, true, true},
		{"permission.asked", event.AttendedUnknown, true, true},
		{"permission.asked", event.AttendedNo, false, false},
		{"tool.execute.before", event.AttendedYes, true, false},
		{"tool.execute.before", event.AttendedUnknown, true, false},
		{"tool.execute.before", event.AttendedNo, true, true},
	} {
		p := a.Inbox.At(c.native).For(&event.Event{Attended: c.attended})
		if (p != nil) != c.asked || p != nil && slices.Contains(p.Permission, event.ChooseOnce) != c.once {
			t.Errorf("%s %q: p = %+v, want (p != nil) = %v and not p != nil && slices.Contains(p.Permission, "+
				"event.ChooseOnce) != c.once", c.native, c.attended, p, c.asked)
		}
	}
	if a.Inbox.At("session.idle").For(&event.Event{}) != nil {
		t.Error("a point nobody made")
	}
}
