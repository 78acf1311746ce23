package state

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

// codexAsks returns a Codex that begins two commands and asks about both. Its questions name
// no call and carry a description that the calls do not have.
func codexAsks(t *testing.T) (*world, []*event.Event) {
	t.Helper()
	w := newWorld(t)
	w.rules = rulesOf(t, "codex")
	w.send(event.TurnStart, native("UserPromptSubmit"), prompt("go"))
	var asked []*event.Event
	began := w.now
	for _, c := range []struct{ id, command string }{{"c1", "make one"}, {"c2", "make two"}} {
		w.send(event.ToolBefore, native("PreToolUse"), shell(c.id, c.command), at(began.Add(time.Second)))
	}
	for _, command := range []string{"make one", "make two"} {
		ev := w.event(event.PermissionRequest, native("PermissionRequest"), shell("", command),
			at(began.Add(2*time.Second)))
		ev.Tool.Input = []byte(`{"command":"` + command + `","description":"why"}`)
		w.sessions.Apply(ev, w.rules)
		asked = append(asked, ev)
	}
	return w, asked
}

func TestQuestionsAreAboutTheirOwnCalls(t *testing.T) {
	w, _ := codexAsks(t)
	if asks := w.get().Asks; len(asks) != 2 || asks[0].Call != "c1" || asks[1].Call != "c2" {
		t.Fatalf("the questions are %+v, expected one about each call", w.get().Asks)
	}
	w.send(event.ToolAfter, native("PostToolUse"), shell("c1", "make one"), gives(`{}`))
	if asks := w.get().Asks; len(asks) != 1 || asks[0].Call != "c2" || w.get().Status != WaitingForYou {
		t.Errorf("after the first call ended %s with %+v; the second is still asked about", w.get().Status, asks)
	}
}

func TestAHeldRequestIsTheAgentsOwnQuestion(t *testing.T) {
	w, asked := codexAsks(t)
	w.sessions.RequestOpened("r1", asked[0], w.now, w.rules)
	if open := w.get().OpenAsks(); len(open) != 1 || open[0].Call != "c2" {
		t.Fatalf("while the first waits %+v stand in the window, expected the second alone", open)
	}
	w.sessions.RequestEnded("r1", true, w.now)
	if asks := w.get().Asks; len(asks) != 1 || asks[0].Call != "c2" {
		t.Errorf("after the answer %+v are asked, expected the second alone", asks)
	}
	w.sessions.ApplyDecision(asked[1], event.Decision{Verdict: event.Allow}, w.now, w.rules)
	if s := w.get(); len(s.Asks) != 0 || s.Status != Running {
		t.Errorf("after both answers %s with %+v", s.Status, s.Asks)
	}
}
