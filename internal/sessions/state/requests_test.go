package state

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

func TestRequestsAndQuestionsAreOneList(t *testing.T) {
	b, at := NewSessions(), time.Now()
	say := func(kind event.Kind, tool *event.Tool) *event.Event {
		at = at.Add(time.Second)
		ev := &event.Event{ID: at.String(), Agent: "claude", Session: "s", Kind: kind, Time: at, Tool: tool}
		b.Apply(ev, Rules{})
		return ev
	}
	must := func(what string, status Status, ids ...string) {
		t.Helper()
		s, ok := b.Get(Key{Agent: "claude", ID: "s"})
		if !ok {
			t.Fatalf("%s: there is no session", what)
		}
		list := s.WaitingList()
		if s.Status != status || len(list) != len(ids) {
			t.Fatalf("%s: %s with %+v, wanted %s with %v", what, s.Status, list, status, ids)
		}
		for i := range ids {
			if list[i].ID != ids[i] {
				t.Errorf("%s: %q waits, wanted %q", what, list[i].ID, ids[i])
			}
		}
	}
	tool := &event.Tool{Name: "Bash", Kind: event.Shell, CallID: "1", Commands: []string{"make"}}
	say(event.TurnStart, nil)
	call := say(event.ToolBefore, tool)
	must("a call", Running)
	b.RequestOpened("aaaa", call, at, Rules{})
	must("waiting before the call", WaitingForYou, "aaaa")
	b.RequestEnded("aaaa", false, at)
	must("let go: the agent asks nothing", Running)
	b.RequestEnded("aaaa", false, at) // said again
	must("let go twice", Running)

	ask := say(event.PermissionRequest, tool)
	must("at the agent's own prompt", WaitingForYou, "s.1")
	b.RequestOpened("bbbb", ask, at, Rules{})
	must("waiting", WaitingForYou, "bbbb")
	b.RequestEnded("bbbb", false, at)
	must("time is over: the agent asks under the same id", WaitingForYou, "bbbb")
	b.RequestOpened("cccc", ask, at, Rules{})
	b.RequestEnded("cccc", true, at)
	must("answered", Running)

	say(event.PermissionRequest, tool)
	b.RequestOpened("dddd", call, at, Rules{Off: true})
	must("hookmux knows what it holds whatever is followed", WaitingForYou, "dddd", "s.2")
	say(event.TurnEnd, nil)
	must("the turn ended, the hook still waits", WaitingForYou, "dddd")
	say(event.SessionEnd, nil)
	must("nobody waits in a session that ended", Success)
}

func TestARequestWithoutASessionIsOne(t *testing.T) {
	b, at := NewSessions(), time.Now()
	ev := &event.Event{Agent: "claude", Kind: event.PermissionRequest, Time: at, Message: "May I?"}
	b.RequestOpened("aaaa", ev, at, Rules{})
	list := b.Snapshot()
	if len(list) != 1 || list[0].Status != WaitingForYou || len(list[0].WaitingList()) != 1 {
		t.Fatalf("list = %+v, want 1 of them, list[0].Status = WaitingForYou and len(list[0].WaitingList()) = 1", list)
	}
	if b.RequestEnded("aaaa", true, at); b.Len() != 0 {
		t.Errorf("%d sessions are left", b.Len())
	}
}

func TestStoredRequestsGoWithTheirDaemon(t *testing.T) {
	b, at := NewSessions(), time.Now()
	ev := &event.Event{Agent: "claude", Session: "s", Kind: event.PermissionRequest, Time: at,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, CallID: "1"}}
	b.Apply(ev, Rules{})
	b.RequestOpened("aaaa", ev, at, Rules{})
	b.RequestOpened("bbbb", &event.Event{Agent: "claude", Kind: event.PermissionRequest, Time: at}, at, Rules{})
	next := NewSessions()
	next.Load(b.Snapshot(), at, func(*Session) Liveness { return Alive })
	s, ok := next.Get(Key{Agent: "claude", ID: "s"})
	if !ok || next.Len() != 1 {
		t.Fatalf("%d sessions, %+v; want ok and next.Len() == 1", next.Len(), s)
	}
	if list := s.WaitingList(); len(list) != 1 || list[0].InInbox {
		t.Errorf("%+v; the agent is asking in its own terminal", list)
	}
}
