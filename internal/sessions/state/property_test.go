package state

import (
	"fmt"
	"slices"
	"sort"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// Events the catalogue marks as asynchronous may arrive anywhere within their
// turn: in the end the session is the same.
func TestAsynchronousEventsMayMove(t *testing.T) {
	for _, a := range agent.Builtin().Agents() {
		turns := slices.ContainsFunc(a.Events, func(e *agent.EventSpec) bool { return e.Kind == event.TurnEnd })
		if len(a.Status.Async) == 0 || !turns || a.Install == nil { // nothing is told of one without hooks
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			moved := 0
			rapid.Check(t, func(t *rapid.T) {
				events := drawTurn(t, a)
				straight := final(t, a, events, nil)
				shuffled := shuffle(t, a, events)
				if fmt.Sprint(shuffled) != fmt.Sprint(events) {
					moved++
				}
				gaps := rapid.SliceOfN(rapid.IntRange(1, 5000), len(events), len(events)).Draw(t, "gaps")
				if got := final(t, a, shuffled, gaps); got != straight {
					t.Fatalf("in order: %s\nmoved:    %s\n%v", straight, got, names(shuffled))
				}
			})
			if moved == 0 {
				t.Error("nothing was ever moved")
			}
		})
	}
}

func names(events []event.Event) []string {
	var out []string
	for _, e := range events {
		name := e.Native
		if e.Tool != nil {
			name += " " + e.Tool.CallID
		}
		out = append(out, name)
	}
	return out
}

// of returns the native event of a kind that hookmux is told of.
func of(a *agent.Agent, kind event.Kind, failed bool) (string, bool) {
	for _, e := range a.Events {
		if e.Kind == kind && e.Install == agent.InstallDefault && e.Failed == failed {
			if kind == event.TurnEnd && a.Status.SignalOf(&event.Event{Native: e.Name, Kind: kind}) != "" {
				continue
			}
			return e.Name, true
		}
	}
	return "", false
}

// drawTurn makes a turn: a prompt, calls that go well or fail, and its end.
func drawTurn(t *rapid.T, a *agent.Agent) []event.Event {
	var events []event.Event
	add := func(kind event.Kind, failed bool, change func(*event.Event)) {
		name, ok := of(a, kind, failed)
		if !ok {
			return
		}
		e := event.Event{Agent: a.Name, Session: "s1", Native: name, Kind: kind, Cwd: "/w", AgentVersion: a.Tried}
		if change != nil {
			change(&e)
		}
		events = append(events, e)
	}
	add(event.TurnStart, false, func(e *event.Event) { e.Turn, e.Prompt = "t1", "Do it" })
	for i := range rapid.IntRange(0, 6).Draw(t, "calls") {
		failed := rapid.Bool().Draw(t, "fails")
		tool := func(e *event.Event) {
			e.Tool = &event.Tool{Name: "Edit", Kind: event.FileEdit, CallID: fmt.Sprint("c", i),
				Writes: []string{fmt.Sprint("/w/f", i)}, Input: []byte(fmt.Sprint(`{"n":`, i, `}`))}
			e.Turn = "t1"
		}
		add(event.ToolBefore, false, tool)
		if rapid.Bool().Draw(t, "asks") {
			add(event.PermissionRequest, false, tool)
		}
		_, told := of(a, event.ToolAfter, true)
		add(event.ToolAfter, failed && told, func(e *event.Event) {
			tool(e)
			e.Tool.Failed = failed
		})
	}
	for _, name := range a.Status.Async { // what else may come at any time
		spec, _ := a.Event(name)
		switch spec.Kind {
		case event.ModelAfter:
			events = append(events, event.Event{Agent: a.Name, Session: "s1", Native: name, Kind: spec.Kind, Turn: "t1",
				Detail: "completed"})
		case event.Other, event.SessionTitle, event.SessionStart:
			events = append(events, event.Event{Agent: a.Name, Session: "s1", Native: name, Kind: spec.Kind,
				Title: "T"})
		}
	}
	add(event.TurnEnd, false, func(e *event.Event) { e.Turn, e.Message = "t1", "Done." })
	return events
}

// shuffle moves asynchronous events about, between the turn's start and end.
func shuffle(t *rapid.T, a *agent.Agent, events []event.Event) []event.Event {
	out := slices.Clone(events)
	for range rapid.IntRange(1, 8).Draw(t, "moves") {
		if len(out) < 4 {
			break
		}
		i := rapid.IntRange(1, len(out)-2).Draw(t, "from")
		if !slices.Contains(a.Status.Async, out[i].Native) {
			continue
		}
		e := out[i]
		next := slices.Delete(slices.Clone(out), i, i+1)
		next = slices.Insert(next, rapid.IntRange(1, len(next)-1).Draw(t, "to"), e)
		if slices.Equal(firstHeard(next), firstHeard(out)) {
			out = next
		}
	}
	return out
}

// firstHeard returns the order in which calls are first heard of: it tells which one
// was the last, and with that how the turn went.
func firstHeard(events []event.Event) (ids []string) {
	for i := range events {
		if tool := events[i].Tool; tool != nil && events[i].Kind != event.PermissionRequest &&
			!slices.Contains(ids, tool.CallID) {
			ids = append(ids, tool.CallID)
		}
	}
	return ids
}

// final returns what is left of the turn, without times.
func final(t *rapid.T, a *agent.Agent, events []event.Event, gaps []int) string {
	b := NewSessions()
	now := t0
	for i := range events {
		step := time.Second
		if gaps != nil {
			step = time.Duration(gaps[i]) * time.Millisecond
		}
		now = now.Add(step)
		e := events[i]
		e.Time = now
		b.Apply(&e, Rules{Spec: &a.Status})
	}
	if b.Len() != 1 {
		t.Fatalf("%d sessions, want 1", b.Len())
	}
	s, _ := b.Get(Key{a.Name, "s1"})
	files := slices.Clone(s.Files)
	sort.Strings(files)
	var failed []string
	for _, f := range s.Errors {
		failed = append(failed, f.Call)
	}
	sort.Strings(failed)
	return fmt.Sprint(s.Status, s.Turn.Result, s.Turn.ExitCode, s.Turn.Tools, s.Turn.Errors, s.Turn.Summary,
		s.TurnCount,
		files, failed, s.Tool, s.Title, len(s.Asks), s.Waits(), s.Turn.Open(), len(s.Machine.Calls))
}

// Whatever arrives, in whatever order: the session holds together.
func TestAnythingGoes(t *testing.T) {
	agents := agent.Builtin().Agents()
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SampledFrom(agents).Draw(t, "agent")
		b, now := NewSessions(), t0
		for range rapid.IntRange(1, 40).Draw(t, "events") {
			spec := rapid.SampledFrom(a.Events).Draw(t, "event")
			now = now.Add(time.Duration(rapid.IntRange(-5000, 20000).Draw(t, "gap")) * time.Millisecond)
			e := event.Event{
				Agent: a.Name, Native: spec.Name, Kind: spec.Kind, Time: now,
				Session: rapid.SampledFrom([]string{"s1", "s1", "s2", ""}).Draw(t, "session"),
				Turn:    rapid.SampledFrom([]string{"", "t1", "t2"}).Draw(t, "turn"),
				Detail: rapid.SampledFrom([]string{"", "permission_prompt", "idle_prompt", "error", "retry",
					"idle"}).Draw(t, "detail"),
				GoingOn: rapid.Bool().Draw(t, "going on"), Prompt: "p", Message: "m",
				Where: event.Place{PID: rapid.IntRange(0, 2).Draw(t, "pid"), Start: 1},
			}
			if rapid.Bool().Draw(t, "tool") {
				e.Tool = &event.Tool{Name: "Bash", Kind: event.Shell,
					CallID: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "call"), Input: []byte(`{}`),
					Failed: rapid.Bool().Draw(t, "failed")}
			}
			if rapid.IntRange(0, 4).Draw(t, "sub") == 0 {
				e.Subagent = &event.Subagent{ID: rapid.SampledFrom([]string{"", "s2", "x"}).Draw(t, "subagent"),
					Parent: rapid.SampledFrom([]string{"", "s1", "s3"}).Draw(t, "parent")}
			}
			c := b.ApplyNumbered(&e, uint64(rapid.IntRange(0, 9).Draw(t, "seq")), Rules{Spec: &a.Status})
			if rapid.IntRange(0, 9).Draw(t, "gone") == 0 {
				b.ProcessGone(1, 1, now)
			}
			if c.Session != nil {
				holds(t, c.Session)
			}
		}
		for _, s := range b.Snapshot() {
			holds(t, s)
		}
	})
}

func holds(t *rapid.T, s *Session) {
	switch {
	case !slices.Contains(Statuses(), s.Status):
		t.Fatalf("status %q; want s.Status in Statuses()", s.Status)
	case (s.Status == WaitingForYou) != (len(s.Asks) > 0) || s.Waits() != (len(s.Asks) > 0):
		t.Fatalf("%s with %d asks, waiting since %v", s.Status, len(s.Asks), s.WaitingSince)
	case s.Status == Running && !s.Turn.Open():
		t.Fatal("running without a turn")
	case s.Status.Finished() && s.Turn.Open():
		t.Fatal("finished with an open turn")
	case s.Tool != "" && !s.Turn.Open():
		t.Fatalf("%q after the turn", s.Tool)
	case !s.Live() && (s.Turn.Open() || s.Waits() || s.Status == Running):
		t.Fatalf("ended and %s; want s.Live() or (!s.Turn.Open(), !s.AnyDecides() and s.Status != Running)", s.Status)
	case s.Turn != nil && !s.Turn.Open() && s.Turn.Result == "":
		t.Fatal("a turn ended without a result")
	case s.Turn != nil && s.Turn.Duration(s.LastEvent) < 0:
		t.Fatal("a turn ended before it began")
	}
}
