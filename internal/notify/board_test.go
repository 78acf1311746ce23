package notify

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
)

// noon is a moment at which nothing is quiet.
var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.Local)

// testRules tell of every kind on the channel desktop.
func testRules(change func(*rules)) *rules {
	r := &rules{
		on:       true,
		kinds:    func(string) []string { return config.NoticeKinds },
		channels: func(string) []string { return []string{"desktop"} },
		settle:   time.Second, shortTurn: 30 * time.Second,
	}
	if change != nil {
		change(r)
	}
	return r
}

// played are surroundings that a test chose.
type played struct {
	looking  bool
	sessions map[string]wire.Session
}

func (p *played) isLooking(string, string) bool { return p.looking }

func (p *played) current(agent, session string) (wire.Session, bool) {
	one, ok := p.sessions[agent+"/"+session]
	return one, ok
}

func request(change func(*wire.FeedItem)) wire.FeedItem {
	item := wire.FeedItem{ID: "r1", Kind: "permission", Agent: "claude", Session: "s", Status: wire.FeedPending,
		Choices: []string{"once", "deny"}}
	if change != nil {
		change(&item)
	}
	return item
}

func TestWhenARequestIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		rules  func(*rules)
		item   func(*wire.FeedItem)
		looks  bool
		at     time.Time
		told   bool
		within time.Duration // it is judged again; 0: never
	}{
		"a request":            {told: true},
		"switched off":         {rules: func(r *rules) { r.on = false }},
		"no channel":           {rules: func(r *rules) { r.channels = func(string) []string { return nil } }},
		"another kind":         {rules: func(r *rules) { r.kinds = func(string) []string { return []string{"plan"} } }},
		"of a subagent":        {item: func(i *wire.FeedItem) { i.AgentID = "a1" }},
		"of a subagent, asked": {item: func(i *wire.FeedItem) { i.AgentID = "a1" }, rules: func(r *rules) { r.subagents = true }, told: true},
		"not for this agent": {rules: func(r *rules) {
			r.kinds = func(agent string) []string { return map[string][]string{"codex": {"permission"}}[agent] }
		}},
		"looked at":            {looks: true, within: lookAgain},
		"in quiet hours":       {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("11:00-13:00") }, within: quietAgain},
		"over midnight":        {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("22:00-07:00") }, at: noon.Add(11 * time.Hour), within: quietAgain},
		"before quiet hours":   {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("22:00-07:00") }, told: true},
		"at their end":         {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("10:00-12:00") }, told: true},
		"in an agent's window": {item: func(i *wire.FeedItem) { i.Status, i.Choices = wire.FeedWindow, nil }, told: true},
	} {
		r := testRules(c.rules)
		if c.at.IsZero() {
			c.at = noon
		}
		item := request(c.item)
		got := r.judgeRequest(&item, c.at, func() bool { return c.looks })
		if told := got.channels != nil; told != c.told || got.again != c.within {
			t.Errorf("%s: told %v, again in %v; want %v, %v", name, told, got.again, c.told, c.within)
		}
	}
}

func endedTurnOf(result string, seconds float64) wire.Session {
	return wire.Session{Agent: "claude", ID: "s", Turn: &wire.Turn{N: 3, Ended: &noon, Result: result, Seconds: seconds}}
}

func TestWhenATurnIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		session wire.Session
		change  func(*wire.Session) // until it is judged
		rules   func(*rules)
		looks   bool
		kind    string
	}{
		"finished":       {session: endedTurnOf("ok", 60), kind: kindFinished},
		"failed":         {session: endedTurnOf("apiError", 60), kind: kindFailed},
		"interrupted":    {session: endedTurnOf("interrupted", 60)},
		"short":          {session: endedTurnOf("ok", 29)},
		"looked at":      {session: endedTurnOf("ok", 60), looks: true},
		"not wanted":     {session: endedTurnOf("ok", 60), rules: func(r *rules) { r.kinds = func(string) []string { return []string{"failed"} } }},
		"quiet":          {session: endedTurnOf("ok", 60), rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("11:00-13:00") }},
		"goes on":        {session: endedTurnOf("ok", 60), change: func(one *wire.Session) { one.Turn = &wire.Turn{N: 3} }},
		"the next began": {session: endedTurnOf("ok", 60), change: func(one *wire.Session) { one.Turn = &wire.Turn{N: 4} }},
		"a request waits": {session: endedTurnOf("ok", 60), change: func(one *wire.Session) {
			one.Waits = []string{"r1"}
		}},
	} {
		r, b := testRules(c.rules), newBoard()
		b.takeTurn(c.session, noon, r.settle)
		if c.change != nil {
			c.change(&c.session)
		}
		around := &played{looking: c.looks, sessions: map[string]wire.Session{"claude/s": c.session}}
		if tasks := b.judgeDue(r, noon, around); tasks != nil {
			t.Errorf("%s: %v before the settle time", name, tasks)
		}
		tasks := b.judgeDue(r, noon.Add(time.Second), around)
		got := ""
		if len(tasks) == 1 {
			got = turnKind(tasks[0].turn.Turn)
		}
		if got != c.kind || len(tasks) > 1 {
			t.Errorf("%s: told %q in %d tasks, want %q", name, got, len(tasks), c.kind)
		}
		b.takeTurn(c.session, noon, r.settle)
		if more := b.judgeDue(r, noon.Add(time.Hour), around); c.kind != "" && more != nil {
			t.Errorf("%s: told twice", name)
		}
	}
}

// A request that goes from the feed to the agent's window is one notice all the way.
func TestARequestMovesToTheWindow(t *testing.T) {
	r, b, around := testRules(nil), newBoard(), &played{}
	item := request(nil)
	window := request(func(i *wire.FeedItem) { i.Status, i.Choices = wire.FeedWindow, nil })
	b.takeNote(wire.NoteFeedReceived, item, noon, r.settle)
	if tasks := b.judgeDue(r, noon.Add(time.Second), around); len(tasks) != 1 || tasks[0].again {
		t.Fatalf("told %+v, want once", tasks)
	}
	if tasks := b.takeNote(wire.NoteFeedWindow, window, noon, r.settle); tasks != nil {
		t.Errorf("%+v while it is still held, want nothing", tasks)
	}
	tasks := b.takeNote(wire.NoteFeedExpired, item, noon, r.settle)
	if len(tasks) != 1 || !tasks[0].again || tasks[0].item.Status != wire.FeedWindow {
		t.Errorf("%+v, want the notice changed to the window's", tasks)
	}
	tasks = b.takeNote(wire.NoteFeedWindowOver, window, noon, r.settle)
	if len(tasks) != 1 || !tasks[0].withdraw {
		t.Errorf("%+v, want it withdrawn", tasks)
	}
	tasks = b.takeNote(wire.NoteFeedWindow, window, noon, r.settle)
	if len(tasks) != 1 || !tasks[0].again {
		t.Errorf("%+v, want it shown again, quietly", tasks)
	}
	if tasks := b.judgeDue(r, noon.Add(time.Hour), around); tasks != nil {
		t.Errorf("%+v, want no second telling", tasks)
	}
}

// Whatever comes and goes: a request is told at most once, only while it waits, only
// after the settle time, never while looked at or in quiet hours, and is withdrawn
// exactly when it was told and waits no more.
func TestTellingHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := testRules(func(r *rules) { r.quiet, _ = config.ParseQuiet("13:00-13:10") })
		b, around, now := newBoard(), &played{}, noon
		waiting, came, told := map[string]bool{}, map[string]time.Time{}, map[string]bool{}
		visible := map[string]bool{}
		hear := func(tasks []task) {
			for _, d := range tasks {
				switch {
				case d.withdraw && !visible[d.id]:
					t.Fatalf("%s is withdrawn and was not shown", d.id)
				case d.withdraw:
					visible[d.id] = false
				case d.again && !told[d.id]:
					t.Fatalf("%s is shown again and was never told", d.id)
				case d.again:
					visible[d.id] = true
				case told[d.id]:
					t.Fatalf("%s is told twice", d.id)
				case !waiting[d.id]:
					t.Fatalf("%s is told and waits no more", d.id)
				case now.Sub(came[d.id]) < r.settle:
					t.Fatalf("%s is told after %v, before it settled", d.id, now.Sub(came[d.id]))
				case around.looking || r.isQuiet(now):
					t.Fatalf("%s is told while looked at (%v) or in quiet hours", d.id, around.looking)
				default:
					told[d.id], visible[d.id] = true, true
				}
			}
		}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			id := fmt.Sprint("r", rapid.IntRange(0, 3).Draw(t, "id"))
			item := request(func(i *wire.FeedItem) { i.ID = id })
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0:
				if !waiting[id] {
					waiting[id], came[id] = true, now
				}
				hear(b.takeNote(wire.NoteFeedReceived, item, now, r.settle))
			case 1:
				waiting[id] = false
				note := rapid.SampledFrom([]string{wire.NoteFeedResolved, wire.NoteFeedExpired,
					wire.NoteFeedWithdrawn}).Draw(t, "note")
				hear(b.takeNote(note, item, now, r.settle))
			case 2:
				now = now.Add(time.Duration(rapid.IntRange(0, 1200).Draw(t, "seconds")) * time.Second / 4)
			case 3:
				around.looking = rapid.Bool().Draw(t, "looking")
			case 4:
				hear(b.judgeDue(r, now, around))
			}
			for id := range visible {
				if visible[id] && !waiting[id] {
					t.Fatalf("%s waits no more and is still shown", id)
				}
			}
		}
		// Nobody is forgotten: once nothing speaks against it, what waits is told.
		around.looking = false
		now = now.Add(2 * time.Hour)
		if r.isQuiet(now) {
			now = now.Add(time.Hour)
		}
		hear(b.judgeDue(r, now, around))
		for id := range waiting {
			if waiting[id] && !told[id] {
				t.Fatalf("%s waits and was never told", id)
			}
		}
	})
}

func TestChannelsOfKinds(t *testing.T) {
	r := testRules(func(r *rules) {
		r.someKinds = []string{"permission", "finished"}
		r.channels = func(kind string) []string {
			return map[string][]string{"permission": {"desktop", "tmux"}, "finished": {"bell", "tmux"}, "plan": {"sound"}}[kind]
		}
	})
	got := r.allChannels(config.NoticeKinds)
	if want := []string{"desktop", "tmux", "bell"}; !slices.Equal(got, want) {
		t.Errorf("channels %v, want %v", got, want)
	}
}
