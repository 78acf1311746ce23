package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/wire"
)

// follower collects what a stream says.
type follower struct {
	t     *testing.T
	notes chan client.Note
	end   context.CancelFunc
	done  chan error
}

func (w *daemonFixture) follow(params wire.StreamParams) *follower {
	w.T.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f := &follower{w.T, make(chan client.Note, 10_000), cancel, make(chan error, 1)}
	go func() {
		f.done <- w.Client.Stream(ctx, params, func(n client.Note) error { f.notes <- n; return nil })
	}()
	w.T.Cleanup(f.stop)
	return f
}

func (f *follower) stop() {
	f.end()
	select {
	case err := <-f.done:
		f.done <- err
	case <-time.After(daemontest.Patience):
		f.t.Error("the stream does not end")
	}
}

func (f *follower) next() client.Note {
	f.t.Helper()
	select {
	case n := <-f.notes:
		return n
	case <-time.After(daemontest.Patience):
		f.t.Fatal("the stream says nothing")
	}
	return client.Note{}
}

// ready reads up to where it is live and gives the ids on the way.
func (f *follower) ready() (ids []string) {
	f.t.Helper()
	for {
		n := f.next()
		switch {
		case n.Ready != nil:
			return ids
		case n.Entry != nil:
			ids = append(ids, idOf(n.Entry))
		}
	}
}

// events reads so many and gives their ids and the cursor of the last.
func (f *follower) events(n int) (ids []string, cursor string) {
	f.t.Helper()
	for len(ids) < n {
		if note := f.next(); note.Entry != nil {
			ids = append(ids, idOf(note.Entry))
			cursor = note.Entry.Cursor
		}
	}
	return ids, cursor
}

func (w *daemonFixture) report(ids ...string) {
	w.T.Helper()
	for _, id := range ids {
		r := daemontest.SessionEvent("claude", "Notification", map[string]any{"message": id})
		r.ID = id
		w.MustPass(r)
	}
}

func numbered(prefix string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%03d", prefix, i)
	}
	return ids
}

func TestAStreamGoesOnWhereItWas(t *testing.T) {
	w := open(t)
	first, second, third := numbered("a", 30), numbered("b", 300), numbered("c", 20)
	live := w.follow(wire.StreamParams{})
	if ids := live.ready(); len(ids) != 0 {
		t.Errorf("a new stream began with %v", ids)
	}
	w.report(first...)
	got, cursor := live.events(len(first))
	live.stop()
	w.report(second...)
	again := w.follow(wire.StreamParams{After: cursor})
	w.report(third...)
	more, _ := again.events(len(second) + len(third))
	want := strings.Join(append(append(first, second...), third...), " ")
	if all := strings.Join(append(got, more...), " "); all != want {
		t.Errorf("got  %s\nwant %s", all, want)
	}
	// From the beginning, and across a restart of the daemon.
	w.Down()
	w.Up()
	whole := w.follow(wire.StreamParams{After: "0"})
	if ids := whole.ready(); strings.Join(ids, " ") != want {
		t.Errorf("from the beginning: %v", ids)
	}
	var bad *wire.Error
	if err := w.Client.Stream(context.Background(), wire.StreamParams{After: "yesterday"},
		func(client.Note) error { return nil }); !errors.As(err, &bad) {
		t.Errorf("a wrong cursor: %v", err)
	}
}

func TestASlowReaderLosesNothingAndHoldsNobodyUp(t *testing.T) {
	w := open(t)
	k := w.talk() // it asks for everything and reads nothing
	k.say(`{"jsonrpc":"2.0","id":1,"method":"events.stream","params":{}}` + "\n")
	if got := k.line(); !strings.Contains(got, `"ok":true`) {
		t.Fatalf(`k.line() = %q, want "ok":true in it`, got)
	}
	quick := w.follow(wire.StreamParams{})
	quick.ready()
	ids := numbered("n", 200)
	text := strings.Repeat("words ", 1000) // far more than a socket holds
	for _, id := range ids {
		r := daemontest.SessionEvent("claude", "Notification", map[string]any{"message": text})
		r.ID = id
		w.MustPass(r)
	}
	if got, _ := quick.events(len(ids)); strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("the quick one got %v", got)
	}
	var slow []string
	for len(slow) < len(ids) {
		var note struct {
			Method string     `json:"method"`
			Params wire.Entry `json:"params"`
		}
		if err := json.Unmarshal([]byte(k.line()), &note); err != nil {
			t.Fatal(err)
		}
		if note.Method == wire.NoteEvent {
			slow = append(slow, idOf(&note.Params))
		}
	}
	if strings.Join(slow, " ") != strings.Join(ids, " ") {
		t.Errorf("the slow one got %v", slow)
	}
}

// Large events make pages that are cut by their size; nothing may be missing
// behind the cut.
func TestLargePagesHaveNoGaps(t *testing.T) {
	w := newFixture(t)
	w.Make()
	w.h.recorder.LimitPages(4 << 10)
	w.Start()
	ids := numbered("n", 32)
	for _, id := range ids {
		r := daemontest.SessionEvent("claude", "Notification", map[string]any{"message": strings.Repeat("words ", 200)})
		r.ID = id
		w.MustPass(r)
	}
	w.Row(ids[len(ids)-1], false)
	var queried []string
	for _, r := range w.Rows() {
		queried = append(queried, r.ID)
	}
	if strings.Join(queried, " ") != strings.Join(ids, " ") {
		t.Errorf("a query gives %d of %d", len(queried), len(ids))
	}
	if got := w.follow(wire.StreamParams{After: "0"}).ready(); strings.Join(got, " ") != strings.Join(ids, " ") {
		t.Errorf("a stream gives %d of %d", len(got), len(ids))
	}
}

func TestFilters(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	everything := w.follow(wire.StreamParams{})
	byAgent := w.follow(wire.StreamParams{Filter: wire.Filter{Agents: []string{"codex-cli"}}}) // an alias
	byKind := w.follow(wire.StreamParams{Filter: wire.Filter{Kinds: []string{"tool.before", "Notification"}}})
	bySession := w.follow(wire.StreamParams{Filter: wire.Filter{Session: "s-grok"}})
	byTool := w.follow(wire.StreamParams{Filter: wire.Filter{Tool: "Bash"}})
	byVerdict := w.follow(wire.StreamParams{Filter: wire.Filter{Verdict: "deny"}})
	for _, f := range []*follower{everything, byAgent, byKind, bySession, byTool, byVerdict} {
		f.ready()
	}
	for _, agent := range []string{"claude", "codex", "grok"} {
		r := daemontest.ToolBefore(agent, "s-"+agent, w.Base, "make deploy")
		r.ID = agent + "-deploy"
		w.Send(r)
		r = daemontest.ToolBefore(agent, "s-"+agent, w.Base, "make test")
		r.ID = agent + "-test"
		w.Send(r)
	}
	w.report("note")
	last := daemontest.SessionEvent("codex", "Stop", map[string]any{"session_id": "s-grok"})
	last.ID = "last"
	w.Send(last)

	for _, c := range []struct {
		name string
		f    *follower
		want string
	}{
		{"everything", everything, "claude-deploy claude-test codex-deploy codex-test grok-deploy grok-test note last"},
		{"agent", byAgent, "codex-deploy codex-test last"},
		{"kind", byKind, "claude-deploy claude-test codex-deploy codex-test grok-deploy grok-test note"},
		{"session", bySession, "grok-deploy grok-test last"},
		{"tool", byTool, "claude-deploy claude-test codex-deploy codex-test"},
	} {
		want := strings.Fields(c.want)
		ids, _ := c.f.events(len(want))
		if strings.Join(ids, " ") != c.want {
			t.Errorf("%s: %v, want %v", c.name, ids, want)
		}
	}
	// A verdict may come with its event or after it; each once, none missing.
	denied := map[string]int{}
	for range 3 {
		n := byVerdict.next()
		for n.Entry == nil && n.Outcome == nil {
			n = byVerdict.next()
		}
		if n.Entry != nil {
			denied[idOf(n.Entry)]++
		} else {
			denied[n.Outcome.ID]++
		}
	}
	if len(denied) != 3 || denied["grok-deploy"] != 1 {
		t.Errorf(`denied: %v; want len(denied) == 3 and denied["grok-deploy"] == 1`, denied)
	}
}

func TestOutcomesFollowTheirEventsOnce(t *testing.T) {
	release := make(chan struct{})
	slow := daemontest.Entry(t, "slow", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			<-release
			return event.Decision{Verdict: event.Deny, Reason: "after all"}, nil
		})
	w := open(t, slow)
	all := w.follow(wire.StreamParams{})
	others := w.follow(wire.StreamParams{Filter: wire.Filter{Agents: []string{"codex"}}})
	denials := w.follow(wire.StreamParams{Filter: wire.Filter{Verdict: "deny"}})
	all.ready()
	others.ready()
	denials.ready()
	r := daemontest.ToolBefore("claude", "s", w.Base, "x")
	r.ID = "slow"
	answered := make(chan struct{})
	go func() { defer close(answered); _, _ = w.TrySend(r) }()
	n := all.next()
	if n.Entry == nil || idOf(n.Entry) != "slow" || n.Entry.Outcome != nil {
		t.Fatalf(`first came %+v; want n.Entry != nil, idOf(n.Entry) == "slow" and n.Entry.Outcome == nil`, n)
	}
	close(release)
	<-answered
	if n = all.next(); n.Outcome == nil || n.Outcome.ID != "slow" || verdictOf(n.Outcome) != "deny" {
		t.Errorf(`then came %+v; want n.Outcome != nil, n.Outcome.ID == "slow" and verdictOf(n.Outcome) == "deny"`, n)
	}
	if n = denials.next(); (n.Outcome == nil || n.Outcome.ID != "slow") && (n.Entry == nil || idOf(n.Entry) != "slow") {
		t.Errorf("a stream of denials got %+v", n)
	}
	w.report("end")
	if ids, _ := all.events(1); ids[0] != "end" {
		t.Errorf(`then %v; want ids[0] == "end"`, ids)
	}
	stop := daemontest.SessionEvent("codex", "Stop", nil)
	stop.ID = "codex-stop"
	w.Send(stop)
	if n = others.next(); n.Entry == nil || idOf(n.Entry) != "codex-stop" {
		t.Errorf("a stream for another agent got %+v", n)
	}
}

func TestStreamsEndWithTheDaemon(t *testing.T) {
	w := open(t)
	f := w.follow(wire.StreamParams{})
	f.ready()
	w.Down()
	select {
	case err := <-f.done:
		if err == nil {
			t.Error("ended without a word")
		}
		f.done <- err
	case <-time.After(daemontest.Patience):
		t.Error("the stream outlives the daemon")
	}
}

func TestProblemsAreStreamed(t *testing.T) {
	bad := daemontest.Entry(t, "bad", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			return event.Decision{}, errors.New("broken\nwith details")
		})
	w := open(t, bad)
	f := w.follow(wire.StreamParams{Filter: wire.Filter{Agents: []string{"grok"}}})
	f.ready()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "x"), "broken")
	if n := f.next(); n.Problem == nil || !strings.Contains(n.Problem.What, "bad") ||
		strings.Contains(n.Problem.What, "\n") {
		t.Errorf("streamed %+v; want n.Problem != nil, \"bad\" in n.Problem.What and no \"\\n\" in n.Problem.What", n)
	}
}

func TestNewestFirstIsToldInOrder(t *testing.T) {
	w := open(t)
	ids := numbered("n", 25)
	w.report(ids...)
	w.Row(ids[24], false)
	var got wire.QueryResult
	w.MustCall(wire.MethodQuery, wire.QueryParams{Limit: 10, Newest: true}, &got)
	if len(got.Entries) != 10 || idOf(&got.Entries[0]) != ids[15] || idOf(&got.Entries[9]) != ids[24] {
		t.Errorf("%d entries; want len(got.Entries) == 10, idOf(&got.Entries[0]) == ids[15] and "+
			"idOf(&got.Entries[9]) == ids[24]", len(got.Entries))
	}
	w.MustCall(wire.MethodQuery, wire.QueryParams{Limit: 10}, &got)
	if got.Next == "" || idOf(&got.Entries[9]) != ids[9] {
		t.Errorf("first page ends with %s, next %q", got.Entries[9].Event, got.Next)
	}
	w.MustCall(wire.MethodQuery, wire.QueryParams{Filter: wire.Filter{Since: time.Now().Add(time.Hour)}}, &got)
	if len(got.Entries) != 0 {
		t.Error("events from the future")
	}
}

func idOf(e *wire.Entry) string {
	id, _ := jsontext.String(jsontext.Get(e.Event, "id"))
	return id
}

func verdictOf(o *wire.Outcome) string {
	var d event.Decision
	_ = d.UnmarshalJSON(o.Decision)
	return d.Verdict.Word()
}
