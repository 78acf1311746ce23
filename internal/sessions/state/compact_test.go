package state

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

// many makes sessions, each a second after the one before.
func many(w *world, n int) {
	for i := range n {
		w.send(event.TurnStart, session(fmt.Sprint("s", i)), prompt("Tidy up"), from(100+i, 1))
		if i%2 == 0 {
			w.send(event.TurnEnd, session(fmt.Sprint("s", i)), message("Done."))
		}
	}
}

func TestSleepCannotBeSeen(t *testing.T) {
	w := newWorld(t)
	many(w, 40)
	w.send(event.PermissionRequest, session("s1"), shell("c1", "make"))
	w.sessions.CompactIdle(w.now.Add(time.Hour), 0)
	if w.sessions.ActiveCount() != 0 || w.sessions.Len() != 40 {
		t.Fatalf("%d of %d are awake", w.sessions.ActiveCount(), w.sessions.Len())
	}
	asleep := w.sessions.Snapshot()
	for _, s := range asleep { // wakes every one
		w.sessions.SetPlace(s.Key, s.Place)
	}
	if w.sessions.ActiveCount() != 40 {
		t.Fatalf("%d are awake, want 40", w.sessions.ActiveCount())
	}
	if awake := w.sessions.Snapshot(); !reflect.DeepEqual(asleep, awake) {
		t.Errorf("asleep %+v\nawake %+v; want asleep equal to awake", asleep, awake)
	}
	w.sessions.CompactIdle(w.now.Add(time.Hour), 0)
	if got := w.sessions.Waiting(); len(got) != 1 || got[0].ID != "s1" {
		t.Errorf(`waiting: %v; want len(got) == 1 and got[0].ID == "s1"`, got)
	}
	if got := w.sessions.ByProcess(103, 1); len(got) != 1 || got[0].ID != "s3" {
		t.Errorf("in the process: %v", got)
	}
	for _, g := range w.sessions.Overviews() {
		s, _ := w.sessions.Get(g.Key)
		if one, ok := w.sessions.Overview(g.Key); !ok || overviewFor(s) != g || one != g {
			t.Errorf("glanced %+v, is %+v; want ok, overviewFor(s) == g and one == g", g, overviewFor(s))
		}
	}
	if got := w.sessions.ProcessGone(103, 1, w.now); len(got) != 1 || got[0].Session.Live() {
		t.Errorf("got %+v, want 1 of them and not got[0].Session.Live()", got)
	}
	if got := w.sessions.Unfollow("claude", w.now); len(got) != 19 {
		t.Errorf("%d were unfollowed, want 19", len(got))
	}
	w.sessions.CompactIdle(w.now.Add(time.Hour), 0)
	if got := w.sessions.Tick(w.now.Add(2*LeaveAfter), nil); len(got) != 40 || w.sessions.Len() != 0 ||
		w.sessions.store.usedBytes != 0 {
		t.Errorf("%d left, %d are there, %d bytes count", len(got), w.sessions.Len(), w.sessions.store.usedBytes)
	}
}

func TestTheLatestStayAwake(t *testing.T) {
	w := newWorld(t)
	for i := range 20 {
		w.sessions.Apply(&event.Event{Agent: "claude", Session: fmt.Sprint("s", i), Kind: event.TurnStart,
			Native: "UserPromptSubmit", Time: sec(float64(i))}, w.rules)
	}
	if n := w.sessions.CompactIdle(sec(8), 5); n != 8 {
		t.Errorf("%d fell asleep; those heard of lately should not", n)
	}
	for range 2 {
		w.sessions.CompactIdle(sec(1e6), 5)
		if w.sessions.ActiveCount() != 5 {
			t.Errorf("%d are awake, want 5", w.sessions.ActiveCount())
		}
	}
	for _, id := range []string{"s15", "s19"} {
		if w.sessions.store.active[Key{"claude", id}] == nil {
			t.Errorf(`%s sleeps; want w.sessions.store.active[Key{"claude", id}] != nil`, id)
		}
	}
}

func TestTextThatDoesNotCountIsLetGo(t *testing.T) {
	w := newWorld(t)
	long := ""
	for range 100 {
		long += "/directory"
	}
	for i := range 600 {
		w.sessions.Apply(&event.Event{Agent: "claude", Session: fmt.Sprint("s", i), Kind: event.TurnStart,
			Native: "UserPromptSubmit", Time: sec(float64(i)), Cwd: long}, w.rules)
	}
	w.sessions.CompactIdle(sec(1e6), 0)
	all := w.sessions.store.keptBytes
	for i := range 600 {
		if i%10 != 0 {
			w.sessions.Forget(Key{"claude", fmt.Sprint("s", i)})
		}
	}
	if held := w.sessions.store.keptBytes; held > all/2 {
		t.Errorf("%d of %d bytes are held for a tenth of the sessions", held, all)
	}
	w.sessions.ReleaseMemory()
	if w.sessions.store.keptBytes != w.sessions.store.usedBytes || w.sessions.Len() != 60 {
		t.Errorf("%d bytes are held of which %d count, %d sessions", w.sessions.store.keptBytes, w.sessions.store.usedBytes,
			w.sessions.Len())
	}
	if s, ok := w.sessions.Get(Key{"claude", "s590"}); !ok || s.Cwd != long {
		t.Errorf("s = %+v, want ok and s.Cwd = %q", s, long)
	}
}

// What JSON cannot hold stays as it is.
func TestOddBytesStayAwake(t *testing.T) {
	w := newWorld(t)
	w.sessions.Apply(&event.Event{Agent: "claude", Session: "s1", Kind: event.TurnStart, Native: "UserPromptSubmit",
		Time: t0, Cwd: "/caf\xe9"}, w.rules)
	w.sessions.Apply(&event.Event{Agent: "claude", Session: "s2", Kind: event.TurnStart, Native: "UserPromptSubmit",
		Time: t0, Cwd: "/caf\uFFFD"}, w.rules)
	w.sessions.CompactIdle(t0.Add(time.Hour), 0)
	if w.sessions.ActiveCount() != 1 {
		t.Errorf("%d are awake, want 1", w.sessions.ActiveCount())
	}
	for id, want := range map[string]string{"s1": "/caf\xe9", "s2": "/caf\uFFFD"} {
		if s, _ := w.sessions.Get(Key{"claude", id}); s.Cwd != want {
			t.Errorf("%s is in %q, want %q", id, s.Cwd, want)
		}
	}
}

// Sessions may be put to sleep while events come.
func TestEventsWhileFallingAsleep(t *testing.T) {
	b := NewSessions()
	rules := rulesOf(t, "claude")
	const events = 300
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range events {
				b.Apply(&event.Event{Agent: "claude", Session: fmt.Sprint("s", g, i%3), Kind: event.TurnStart,
					Native: "UserPromptSubmit", Time: sec(float64(i)), Turn: fmt.Sprint(i)}, rules)
			}
		})
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for over := false; !over; {
		select {
		case <-done:
			over = true
		default:
		}
		b.CompactIdle(sec(1e6), 0)
		b.Overviews()
		time.Sleep(100 * time.Microsecond)
	}
	for _, s := range b.Snapshot() {
		if s.TurnCount != events/3 {
			t.Errorf("%s: %d turns; want s.TurnCount == events/3", s.Key, s.TurnCount)
		}
	}
}
