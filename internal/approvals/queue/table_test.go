package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func call(session, command string) *event.Event {
	input := fmt.Sprintf(`{"command":%q}`, command)
	return &event.Event{
		Agent: "claude", Session: session, Kind: event.PermissionRequest, Native: "PermissionRequest", Cwd: "/p",
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{command}, Input: []byte(input)},
	}
}

func request(ev *event.Event) Request {
	now := time.Now()
	r := Request{
		Need:  policy.Need{Kind: policy.Permission, Choices: []event.Choice{event.ChooseOnce, event.ChooseDeny}},
		Event: ev, Opened: now, Until: now.Add(time.Hour),
	}
	Show(&r, "Claude Code", nil)
	return r
}

func mustOpen(t *testing.T, table *Table, r Request) *Ticket {
	t.Helper()
	ticket, err := table.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func yes(by string) UserAnswer {
	return UserAnswer{Verdict: event.Allow, Answer: event.Answer{Choice: event.ChooseOnce}, By: by}
}

func fine(*Request, *UserAnswer) error { return nil }

func TestAnswerReachesEveryWaiter(t *testing.T) {
	table := NewTable()
	r := request(call("s", "ls"))
	r.Key = "same"
	first := mustOpen(t, table, r)
	second := mustOpen(t, table, r)
	if first.ID() != second.ID() || table.Waiting() != 1 {
		t.Fatal("asked twice under one key")
	}
	results := make(chan Result, 2)
	for _, ticket := range []*Ticket{first, second} {
		go func() { results <- ticket.Wait(context.Background()) }()
	}
	answer, err := table.Reply(first.ID(), yes("me"), fine)
	if err != nil || answer.Outcome != Delivered || answer.Item.Decision.Outcome != "delivered" {
		t.Fatalf(`answer = %+v, error %v; want no error, answer.Outcome = Delivered and `+
			`answer.Item.Decision.Outcome = "delivered"`, answer, err)
	}
	for range 2 {
		if got := <-results; got.End != Answered || got.UserAnswer.By != "me" {
			t.Errorf(`got %+v, want got.End = Answered and got.UserAnswer.HiddenBy = "me"`, got)
		}
	}
	again, _ := table.Reply(first.ID(), yes("you"), fine)
	if again.Outcome != Already || again.Item.Decision.By != "me" {
		t.Errorf(`again = %+v, want again.Outcome = Already and again.Item.Decision.HiddenBy = "me"`, again)
	}
	if unknown, _ := table.Reply("zzzz", yes("me"), fine); unknown.Outcome != Unknown {
		t.Errorf("unknown = %+v, want unknown.Outcome = Unknown", unknown)
	}
}

// A key is chosen by whoever asks: it joins nobody to another's question.
func TestAKeyJoinsOnlyTheSameQuestion(t *testing.T) {
	table := NewTable()
	harmless, other, elsewhere := request(call("s", "ls")), request(call("s", "wipe everything")),
		request(call("t", "ls"))
	harmless.Key, other.Key, elsewhere.Key = "k", "k", "k"
	ids := map[string]bool{}
	for _, r := range []Request{harmless, other, elsewhere} {
		ids[mustOpen(t, table, r).ID()] = true
	}
	if len(ids) != 3 {
		t.Error("one answer for several questions")
	}
	if id, ok := table.ByKey("k"); ok {
		t.Error("one of several is meant:", id)
	}
	table.Close()
	if _, ok := table.ByKey("k"); !ok {
		t.Error("of those that ended the last one is meant")
	}
}

// One of several who wait may leave; with the last one the request goes.
func TestLeaving(t *testing.T) {
	table := NewTable()
	r := request(call("s", "ls"))
	r.Key = "k"
	a, b := mustOpen(t, table, r), mustOpen(t, table, r)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := a.Wait(ctx); got.End != HookGone || table.Waiting() != 1 {
		t.Fatalf("got %+v, want got.End = HookGone and table.Waiting() = 1", got)
	}
	if got := b.Leave(); got.End != HookGone || table.Waiting() != 0 {
		t.Fatalf("got %+v, want got.End = HookGone and table.Waiting() = 0", got)
	}
	if late, _ := table.Reply(a.ID(), yes("me"), fine); late.Outcome != Gone || late.Item.Status != "withdrawn" {
		t.Errorf(`late = %+v, want late.Outcome = Gone and late.Item.Status = "withdrawn"`, late)
	}
	if c := mustOpen(t, table, r); c.ID() == a.ID() {
		t.Error("joined what is over")
	}
	table.Close()
	if _, err := table.Open(r); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want error ErrClosed", err)
	}
}

func TestNothingIsAnsweredThatIsNotWrittenDown(t *testing.T) {
	table := NewTable()
	ticket := mustOpen(t, table, request(call("s", "ls")))
	broken := errors.New("disk full")
	if _, err := table.Reply(ticket.ID(), yes("me"), func(*Request, *UserAnswer) error { return broken }); !errors.Is(err,
		broken) {
		t.Fatalf("error %v, want error %v", err, broken)
	}
	if table.Waiting() != 1 {
		t.Fatal("gone; want table.Waiting() == 1")
	}
	// While one is written down, another reply waits for what comes of it.
	begun, goOn := make(chan struct{}), make(chan struct{})
	done := make(chan Answer, 1)
	go func() {
		a, _ := table.Reply(ticket.ID(), yes("first"), func(*Request, *UserAnswer) error { close(begun); <-goOn; return nil })
		done <- a
	}()
	<-begun
	second := make(chan Answer, 1)
	go func() {
		a, _ := table.Reply(ticket.ID(), yes("second"), fine)
		second <- a
	}()
	select {
	case a := <-second:
		t.Error("told before anything was decided:", a)
	case <-time.After(20 * time.Millisecond):
	}
	close(goOn)
	if first := <-done; first.Outcome != Delivered {
		t.Errorf("first = %+v, want first.Outcome = Delivered", first)
	}
	if a := <-second; a.Outcome != Already || a.Item.Decision.By != "first" {
		t.Errorf(`a = %+v, want a.Outcome = Already and a.Item.Decision.HiddenBy = "first"`, a)
	}
	// One that ends meanwhile was not delivered.
	ticket = mustOpen(t, table, request(call("s", "ls")))
	late, _ := table.Reply(ticket.ID(), yes("me"),
		func(*Request, *UserAnswer) error { table.End(ticket.ID(), TimeOver); return nil })
	if late.Outcome != Gone || late.Item.Status != "expired" || late.Item.Decision != nil {
		t.Errorf(`late = %+v, want late.Outcome = Gone, late.Item.Status = "expired" and late.Item.Decision = nil`,
			late)
	}
}

func TestEnds(t *testing.T) {
	table := NewTable()
	for why, status := range map[End]Status{
		AtPrompt: Resolved, AgentGone: Withdrawn, HookGone: Withdrawn, TimeOver: Expired, Skipped: Withdrawn, DaemonStops: Withdrawn,
	} {
		ticket := mustOpen(t, table, request(call("s", "ls")))
		if !table.End(ticket.ID(), why) || table.End(ticket.ID(), TimeOver) {
			t.Errorf("%v: want a request to end the first time, and not the second", why)
		}
		item, err := table.Find(ticket.ID())
		if got := ticket.Wait(context.Background()); got.End != why || err != nil || item.Status != string(status) ||
			item.EndedAt == nil {
			t.Errorf("why = %v, got %+v, item.Status = %q, error %v; want got.End = %v, no error, item.Status = "+
				"string(status) and item.EndedAt other than nil", why, got, item.Status, err, why)
		}
	}
	r := request(call("s", "ls"))
	r.Until = time.Now()
	if got := mustOpen(t, table, r).Wait(context.Background()); got.End != TimeOver {
		t.Errorf("got %+v, want got.End = TimeOver", got)
	}
}

func TestTooManyOfASession(t *testing.T) {
	table := NewTable()
	for range MaxPending {
		mustOpen(t, table, request(call("s", "ls")))
	}
	if _, err := table.Open(request(call("s", "ls"))); !errors.Is(err, ErrTooManyOfSession) {
		t.Fatalf("error %v, want error ErrTooManyOfSession", err)
	}
	other := mustOpen(t, table, request(call("another", "ls")))
	table.End(table.Items(false)[0].ID, Skipped)
	mustOpen(t, table, request(call("s", "ls")))
	if all := table.Items(true); len(all) != MaxPending+2 || all[len(all)-1].Status != "pending" {
		t.Errorf(`len(all) = %v, want MaxPending + 2 and all[len(all)-1].Status = "pending"`, len(all))
	}
	table.Close()
	if other.Wait(context.Background()).End != DaemonStops {
		t.Error("not let go")
	}
}

// What programs push counts apart, for a session and over all.
func TestTooManyPushed(t *testing.T) {
	table := NewTable()
	push := func(session string) error {
		r := request(call(session, "ls"))
		r.Pushed = true
		_, err := table.Open(r)
		return err
	}
	for range MaxPending {
		if err := push("s"); err != nil {
			t.Fatal(err)
		}
	}
	if err := push("s"); !errors.Is(err, ErrTooManyOfSession) {
		t.Errorf("error %v, want error ErrTooManyOfSession", err)
	}
	for i := range MaxPushed - MaxPending {
		if err := push(fmt.Sprint("made up ", i)); err != nil {
			t.Fatalf("i = %v, error %v; want no error", i, err)
		}
	}
	if err := push("yet another"); !errors.Is(err, ErrTooManyPushed) || table.Pushed() != MaxPushed {
		t.Errorf("error %v, table.Pushed() = %v; want error ErrTooManyPushed and table.Pushed() = MaxPushed",
			err, table.Pushed())
	}
	for range MaxPending {
		mustOpen(t, table, request(call("s", "ls"))) // the session's own
	}
	if table.CountOf("claude", "s", false) != MaxPending || table.CountOf("claude", "s", true) != MaxPending {
		t.Errorf("%d own requests and %d pushed ones, want %d each", table.CountOf("claude", "s", false),
			table.CountOf("claude", "s", true), MaxPending)
	}
	table.Close()
	if table.Pushed() != 0 || table.CountOf("claude", "s", true) != 0 {
		t.Error(`still counted; want table.Pushed() == 0 and table.CountOf("claude", "s", true) == 0`)
	}
}

func TestIDs(t *testing.T) {
	table := NewTable()
	ticket := mustOpen(t, table, request(call("s", "ls")))
	id := ticket.ID()
	if item, err := table.Find(strings.ToUpper(id[:3])); err != nil || item.ID != id {
		t.Errorf("item.ID = %q, error %v; want no error and item.ID = %q", item.ID, err, id)
	}
	var none *NotFoundError
	if _, err := table.Find(""); !errors.As(err, &none) {
		t.Errorf("error %v, want errors.As(err, &none)", err)
	}
	if id, like := pickID([]string{"abcd", "abce", "xyz2"}, "ab"); id != "" || len(like) != 2 {
		t.Errorf(`id = %q, like = %q; want id = "" and len(like) = 2`, id, like)
	}
	if id, _ := pickID([]string{"abcd", "abc"}, "abc"); id != "abc" {
		t.Errorf(`pickID([]string{"abcd", "abc"}, "abc") = %q, want "abc"`, id)
	}
	table.Close()
}

// The beginning of an id that fits a request which ended a moment ago is not
// taken for another one that waits: whoever types saw the first.
func TestABeginningNeverMeansAnother(t *testing.T) {
	table := NewTable()
	for i := range 200 { // ids are drawn, so some begin alike
		mustOpen(t, table, request(call(fmt.Sprint(i), "ls")))
	}
	byLetter := map[string][]string{}
	for id := range table.byID {
		byLetter[id[:1]] = append(byLetter[id[:1]], id)
	}
	for letter, ids := range byLetter {
		if len(ids) < 2 {
			continue
		}
		for _, id := range ids[1:] {
			table.End(id, TimeOver)
		}
		var none *NotFoundError
		if item, err := table.Find(letter); !errors.As(err, &none) || len(none.Like) != len(ids) {
			t.Errorf("%s is %s, %v; want errors.As(err, &none) and len(none.Like) == len(ids)", letter, item.ID, err)
		}
		for _, id := range ids[1:] {
			table.byID[id].ended = time.Now().Add(-seenLately)
		}
		if item, err := table.Find(letter); err != nil || item.ID != ids[0] {
			t.Errorf("%s is %s, %v; want no error and item.ID == ids[0]", letter, item.ID, err)
		}
	}
	table.Close()
}

func TestShorten(t *testing.T) {
	table := NewTable()
	short, long := mustOpen(t, table, request(call("s", "a"))), mustOpen(t, table, request(call("t", "b")))
	table.Shorten(func(r *Request) time.Time {
		if r.Event.Session == "s" {
			return time.Now().Add(time.Millisecond)
		}
		return time.Time{}
	})
	if got := short.Wait(context.Background()); got.End != TimeOver {
		t.Errorf("got.End = %v, want TimeOver", got.End)
	}
	if status(t, table, long.ID()) != "pending" {
		t.Error("the other one")
	}
	table.Close()
}

func TestWatch(t *testing.T) {
	table := NewTable()
	a := mustOpen(t, table, request(call("s", "a")))
	items, next := table.Watch()
	if len(items) != 1 || items[0].ID != a.ID() {
		t.Fatalf("items = %+v, want 1 of them and items[0].ID = a.ID()", items)
	}
	_, _, wake, _ := table.Next(next)
	b := mustOpen(t, table, request(call("s", "b")))
	<-wake
	_, _ = table.Reply(a.ID(), yes("me"), fine)
	table.End(b.ID(), TimeOver)
	list, end, _, ok := table.Next(next)
	var notes []string
	for _, c := range list {
		notes = append(notes, c.Note)
	}
	if !ok || strings.Join(notes, " ") != "inbox.received inbox.resolved inbox.expired" {
		t.Errorf(`notes = %q, ok = %v; want ok and strings.Join(notes, " ") = "inbox.received inbox.resolved `+
			`inbox.expired"`, notes, ok)
	}
	if line := list[0].Line(); !strings.HasPrefix(string(line),
		`{"jsonrpc":"2.0","method":"inbox.received","params":{"id":"`+b.ID()) {
		t.Errorf("line = %s, want one that begins with "+
			"`{\"jsonrpc\":\"2.0\",\"method\":\"inbox.received\",\"params\":{\"id\":\"` + b.ID()", line)
	}
	if more, _, _, ok := table.Next(end); len(more) != 0 || !ok {
		t.Errorf("more = %+v, ok = %v; want len(more) = 0 and ok", more, ok)
	}
	if _, _, _, ok := table.Next(end + 1); ok {
		t.Error("a number nobody gave out")
	}
}

// A storm of replies, hang-ups, ends and a close: each request ends once, each
// waiter hears one and the same end, and of all replies to it at most one was
// delivered.
func TestStorm(t *testing.T) {
	for seed := range uint64(4) {
		table := NewTable()
		r := rand.New(rand.NewPCG(seed, 7))
		var work sync.WaitGroup
		var open, delivered, heard atomic.Int64
		written := sync.Map{}
		for i := range 300 {
			ctx, cancel := context.WithCancel(context.Background())
			ticket, err := table.Open(request(call(fmt.Sprint("s", i%20), fmt.Sprint("cmd ", i%7))))
			if err != nil {
				cancel()
				continue
			}
			open.Add(1)
			work.Add(1)
			go func() {
				defer work.Done()
				got := ticket.Wait(ctx)
				if got.End == Waiting {
					t.Error("woken for nothing")
				}
				if got.End == Answered {
					heard.Add(1)
					if _, ok := written.Load(got.ID + got.UserAnswer.By); !ok {
						t.Error("heard what was not written down")
					}
				}
			}()
			for j := range 2 + r.IntN(3) {
				pause, by := time.Duration(r.IntN(2000))*time.Microsecond, fmt.Sprint("p", j)
				slow := time.Duration(r.IntN(300)) * time.Microsecond
				what := r.IntN(8)
				work.Add(1)
				go func() {
					defer work.Done()
					time.Sleep(pause)
					switch what {
					case 0:
						cancel()
					case 1:
						table.End(ticket.ID(), []End{TimeOver, AgentGone, Skipped}[j%3])
					case 2:
						table.ObserveEvent(&event.Event{Agent: "claude", Session: fmt.Sprint("s", i%20), Kind: event.TurnEnd},
							"")
					default:
						answer, err := table.Reply(ticket.ID(), yes(by), func(_ *Request, s *UserAnswer) error {
							time.Sleep(slow)
							if what == 7 {
								return errors.New("no room")
							}
							written.Store(ticket.ID()+s.By, true)
							return nil
						})
						switch {
						case err == nil && answer.Outcome == Delivered:
							delivered.Add(1)
						case err == nil && answer.Outcome == Already && answer.Item.Decision == nil &&
							answer.Item.End != AtPrompt.Code():
							t.Errorf("told that somebody was first, and nobody was: %+v", answer.Item)
						}
					}
				}()
			}
			_ = cancel
		}
		time.Sleep(time.Millisecond)
		table.Close()
		work.Wait()
		if table.Waiting() != 0 || delivered.Load() != heard.Load() {
			t.Errorf("seed %d: %d delivered, %d heard, %d wait", seed, delivered.Load(), heard.Load(), table.Waiting())
		}
		if n := int64(len(table.Items(true))); n != min(open.Load(), keepEnded) {
			t.Errorf("%d requests ended, %d were opened", n, open.Load())
		}
	}
}

// A request that waited when a daemon stopped has its id again in the next one. The same id
// never stands for anything else there.
func TestIDsOfTheDaemonBefore(t *testing.T) {
	asked := call("s", "ls")
	asked.ID = "event-1"
	before := NewTable()
	id := mustOpen(t, before, request(asked)).ID()
	kept := before.Close()

	for name, c := range map[string]struct {
		change func(*event.Event)
		same   bool
	}{
		"the same event":      {func(*event.Event) {}, true},
		"another event":       {func(ev *event.Event) { ev.ID = "event-2" }, false},
		"another command":     {func(ev *event.Event) { *ev = *call("s", "rm"); ev.ID = "event-1" }, false},
		"no id of an event's": {func(ev *event.Event) { ev.ID = "" }, false},
	} {
		next := NewTable()
		next.KeepIDs(kept)
		ev := *asked
		c.change(&ev)
		if got := mustOpen(t, next, request(&ev)).ID(); (got == id) != c.same {
			t.Errorf("%s: it was %s and is %s; want the same id: %v", name, id, got, c.same)
		}
		if c.same { // told twice: the second is a request of its own
			if got := mustOpen(t, next, request(&ev)).ID(); got == id {
				t.Errorf("two requests have the id %s, want it once", id)
			}
		}
		next.Close()
	}
}

// What a kept id stood for may not come back. Whoever types it then gets no other request.
func TestAKeptIDIsNeverDrawn(t *testing.T) {
	table := NewTable()
	var kept []KeptID
	for _, first := range letters {
		for _, second := range alphabet {
			kept = append(kept, KeptID{string(first) + string(second) + "aa", "gone", string(first) + string(second)})
		}
	}
	table.KeepIDs(kept)
	for range 20000 {
		if id := table.freeID(); table.kept.all[id] {
			t.Fatalf("%s was drawn, want none of the daemon before", id)
		}
	}
	table.Close()
}
