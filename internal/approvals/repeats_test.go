package approvals

import (
	"fmt"
	"testing"

	"github.com/hookmux/hookmux/event"
)

func TestRepeatsTellCallsApart(t *testing.T) {
	call := func(kind event.Kind, session, id, command string) *event.Event {
		return &event.Event{Agent: "a", Session: session, Kind: kind, Tool: &event.Tool{
			Name: "Bash", Kind: event.Shell, CallID: id, Commands: []string{command},
			Input: []byte(`{"command":"` + command + `"}`)}}
	}
	var once Repeats
	for _, c := range []struct {
		ev   *event.Event
		want bool
	}{
		{call(event.PermissionRequest, "s", "1", "make"), false},
		{call(event.PermissionRequest, "s", "1", "make"), true},
		{call(event.PermissionRequest, "s", "2", "make"), false}, // two identical calls are two questions
		{call(event.PermissionRequest, "t", "1", "make"), false},
		{call(event.PermissionRequest, "s", "1", "make clean"), false},
		{call(event.ToolBefore, "s", "1", "make"), false},
		{call(event.PermissionRequest, "s", "", "ls"), false},
		{call(event.PermissionRequest, "s", "", "ls"), false}, // without a number nobody knows
		{&event.Event{Kind: event.UserQuestion}, false},
	} {
		if got := once.Knows(c.ev); got != c.want {
			t.Errorf("looked at: %+v: %v, want %v", c.ev.Tool, got, c.want)
		}
		if got := once.Remember(c.ev); got != c.want {
			t.Errorf("%+v: once.Remember(c.ev) = %v, want %v", c.ev.Tool, got, c.want)
		}
	}
	for i := range 3 * keepAnswers {
		once.Remember(call(event.ToolBefore, "s", fmt.Sprint(i), "x"))
	}
	if once.known.Len() > keepAnswers {
		t.Errorf("%d calls are kept, want at most %d", once.known.Len(), keepAnswers)
	}
}
