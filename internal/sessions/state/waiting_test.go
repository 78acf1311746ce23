package state

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func TestACallThatIsHeldNeedsInput(t *testing.T) {
	b, at := NewBook(), time.Now()
	say := func(kind event.Kind, tool *event.Tool) *event.Event {
		at = at.Add(time.Second)
		ev := &event.Event{ID: at.String(), Agent: "claude", Session: "s", Kind: kind, Time: at, Tool: tool}
		b.Apply(ev, Rules{})
		return ev
	}
	status := func() Status {
		s, ok := b.Get(Key{Agent: "claude", ID: "s"})
		if !ok {
			t.Fatal("no session")
		}
		return s.Status
	}
	say(event.SessionStart, nil)
	say(event.TurnStart, nil)
	call := say(event.ToolBefore, &event.Tool{Name: "Bash", Kind: event.Shell, CallID: "1", Commands: []string{"make"}})
	if status() != Running {
		t.Fatal(status())
	}
	b.WaitsForPerson(call, at, Rules{})
	if status() != NeedsInput {
		t.Error("held:", status())
	}
	b.WaitsNoMore(call, at, Rules{})
	if status() != Running {
		t.Error("let go:", status())
	}
	b.WaitsNoMore(call, at, Rules{}) // nothing is asked: nothing changes
	if status() != Running {
		t.Error(status())
	}
	if c := b.WaitsForPerson(call, at, Rules{Off: true}); c.Session != nil {
		t.Error("switched off")
	}
}
