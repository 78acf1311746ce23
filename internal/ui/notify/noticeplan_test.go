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

func request(change func(*wire.InboxRequest)) wire.InboxRequest {
	item := wire.InboxRequest{ID: "r1", Kind: "permission", Agent: "claude", Session: "s", Status: wire.InboxPending,
		Choices: []string{"once", "deny"}}
	if change != nil {
		change(&item)
	}
	return item
}

func TestWhenARequestIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		rules  func(*rules)
		item   func(*wire.InboxRequest)
		looks  bool
		at     time.Time
		told   bool
		within time.Duration // it is evaluated again; 0: never
	}{
		"a request":            {told: true},
		"switched off":         {rules: func(r *rules) { r.on = false }},
		"no channel":           {rules: func(r *rules) { r.channels = func(string) []string { return nil } }},
		"another kind":         {rules: func(r *rules) { r.kinds = func(string) []string { return []string{"plan"} } }},
		"of a subagent":        {item: func(i *wire.InboxRequest) { i.AgentID = "a1" }},
		"of a subagent, asked": {item: func(i *wire.InboxRequest) { i.AgentID = "a1" }, rules: func(r *rules) { r.subagents = true }, told: true},
		"not for this agent": {rules: func(r *rules) {
			r.kinds = func(agent string) []string { return map[string][]string{"codex": {"permission"}}[agent] }
		}},
		"looked at":            {looks: true, within: lookAgain},
		"in quiet hours":       {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("11:00-13:00") }, within: quietAgain},
		"over midnight":        {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("22:00-07:00") }, at: noon.Add(11 * time.Hour), within: quietAgain},
		"before quiet hours":   {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("22:00-07:00") }, told: true},
		"at their end":         {rules: func(r *rules) { r.quiet, _ = config.ParseQuiet("10:00-12:00") }, told: true},
		"in an agent's window": {item: func(i *wire.InboxRequest) { i.Status, i.Choices = wire.InboxPrompt, nil }, told: true},
	} {
		r := testRules(c.rules)
		if c.at.IsZero() {
			c.at = noon
		}
		item := request(c.item)
		got := r.planRequest(&item, c.at, func() bool { return c.looks })
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
		change  func(*wire.Session) // until it is evaluated
		rules   func(*rules)
		looks   bool
		kind    string
	}{
		"finished":       {session: endedTurnOf("ok", 60), kind: kindFinished},
		"failed":         {session: endedTurnOf("apiError", 60), kind: kindFailed},
		"a failed call":  {session: endedTurnOf("toolErrors", 60), kind: kindFailed},
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
		r, b := testRules(c.rules), newNoticePlan()
		b.applyTurn(c.session, noon, r.settle)
		if c.change != nil {
			c.change(&c.session)
		}
		around := &played{looking: c.looks, sessions: map[string]wire.Session{"claude/s": c.session}}
		if tasks := b.planDue(r, noon, around); tasks != nil {
			t.Errorf("%s: %v before the settle time", name, tasks)
		}
		tasks := b.planDue(r, noon.Add(time.Second), around)
		got := ""
		if len(tasks) == 1 {
			got = turnKind(tasks[0].turn.Turn)
		}
		if got != c.kind || len(tasks) > 1 {
			t.Errorf("%s: told %q in %d tasks, want %q", name, got, len(tasks), c.kind)
		}
		b.applyTurn(c.session, noon, r.settle)
		if more := b.planDue(r, noon.Add(time.Hour), around); c.kind != "" && more != nil {
			t.Errorf(`%s: told twice; want c.kind == "" or more == nil`, name)
		}
	}
}

// A request that goes from the inbox to the agent's window is one notice all the way.
func TestARequestMovesToTheWindow(t *testing.T) {
	r, b, around := testRules(nil), newNoticePlan(), &played{}
	item := request(nil)
	window := request(func(i *wire.InboxRequest) { i.Status, i.Choices = wire.InboxPrompt, nil })
	b.applyNote(wire.NoteInboxReceived, item, noon, r.settle)
	if tasks := b.planDue(r, noon.Add(time.Second), around); len(tasks) != 1 || tasks[0].again {
		t.Fatalf("told %+v, want once", tasks)
	}
	if tasks := b.applyNote(wire.NoteInboxPrompt, window, noon, r.settle); tasks != nil {
		t.Errorf("%+v while it still waits, want nothing", tasks)
	}
	tasks := b.applyNote(wire.NoteInboxExpired, item, noon, r.settle)
	if len(tasks) != 1 || !tasks[0].again || tasks[0].item.Status != wire.InboxPrompt {
		t.Errorf("%+v, want the notice changed to the window's", tasks)
	}
	tasks = b.applyNote(wire.NoteInboxPromptOver, window, noon, r.settle)
	if len(tasks) != 1 || !tasks[0].withdraw {
		t.Errorf("%+v, want it withdrawn", tasks)
	}
	tasks = b.applyNote(wire.NoteInboxPrompt, window, noon, r.settle)
	if len(tasks) != 1 || !tasks[0].again {
		t.Errorf("%+v, want it shown again, quietly", tasks)
	}
	if tasks := b.planDue(r, noon.Add(time.Hour), around); tasks != nil {
		t.Errorf("%+v, want no second telling", tasks)
	}
}

// listener holds what a plan wants told against what it promises.
type listener struct {
	t          *rapid.T
	r          *rules
	now        time.Time
	looking    bool
	waiting    map[string]bool
	came       map[string]time.Time
	told       map[string]bool // on its own, or together with others
	visible    map[string]bool // on its own
	together   []string        // named by the notice of many
	groupTimes []time.Time     // when that was told everywhere
}

func (l *listener) hear(tasks []task) {
	for _, d := range tasks {
		switch {
		case d.id == groupID:
			l.hearGroup(&d)
		case d.withdraw && !l.visible[d.id]:
			l.t.Fatalf("%s is withdrawn and was not shown", d.id)
		case d.withdraw:
			l.visible[d.id] = false
		case d.again && !l.told[d.id]:
			l.t.Fatalf("%s is shown again and was never told", d.id)
		case d.again:
			l.visible[d.id] = true
		case l.told[d.id]:
			l.t.Fatalf("%s is told twice", d.id)
		default:
			l.mayBeTold(d.id)
			apart := 0
			for _, shown := range l.visible {
				if shown {
					apart++
				}
			}
			if apart >= maxSingleNotices {
				l.t.Fatalf("%s is told on its own beside %d others", d.id, apart)
			}
			l.told[d.id], l.visible[d.id] = true, true
		}
	}
}

// mayBeTold fails for what must not be told now.
func (l *listener) mayBeTold(id string) {
	switch {
	case !l.waiting[id]:
		l.t.Fatalf("%s is told and waits no more", id)
	case l.now.Sub(l.came[id]) < l.r.settle:
		l.t.Fatalf("%s is told after %v, before it settled", id, l.now.Sub(l.came[id]))
	case l.looking || l.r.isQuiet(l.now):
		l.t.Fatalf("%s is told while looked at (%v) or in quiet hours", id, l.looking)
	}
}

func (l *listener) hearGroup(d *task) {
	if d.withdraw {
		if l.together == nil {
			l.t.Fatal("the notice of many is withdrawn and was not shown")
		}
		l.together = nil
		return
	}
	l.together = nil
	for _, item := range d.group {
		if !l.told[item.ID] {
			l.mayBeTold(item.ID)
		}
		l.told[item.ID] = true
		l.together = append(l.together, item.ID)
	}
	if d.again {
		return
	}
	if n := len(l.groupTimes); n > 0 && l.now.Sub(l.groupTimes[n-1]) < groupRest || l.r.isQuiet(l.now) {
		l.t.Fatalf("the notice of many is told at %v, after %v", l.now, l.groupTimes)
	}
	l.groupTimes = append(l.groupTimes, l.now)
}

// isRight fails where something is shown that waits no more.
func (l *listener) isRight() {
	for id := range l.visible {
		if l.visible[id] && !l.waiting[id] {
			l.t.Fatalf("%s waits no more and is still shown", id)
		}
	}
	for _, id := range l.together {
		if !l.waiting[id] || l.visible[id] {
			l.t.Fatalf("the notice of many counts %s, which waits no more or has its own", id)
		}
	}
}

// Whatever comes and goes: a request is told at most once, on its own or together with
// others, only while it waits, only after the settle time, never while looked at or in
// quiet hours; a few have notices of their own and one notice counts the others; and
// what waits no more is shown nowhere.
func TestTellingHoldsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := testRules(func(r *rules) { r.quiet, _ = config.ParseQuiet("13:00-13:10") })
		b, around := newNoticePlan(), &played{}
		l := &listener{t: t, r: r, now: noon, waiting: map[string]bool{}, came: map[string]time.Time{},
			told: map[string]bool{}, visible: map[string]bool{}}
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			id := fmt.Sprint("r", rapid.IntRange(0, 7).Draw(t, "id"))
			item := request(func(i *wire.InboxRequest) { i.ID = id })
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1:
				if !l.waiting[id] {
					l.waiting[id], l.came[id] = true, l.now
				}
				l.hear(b.applyNote(wire.NoteInboxReceived, item, l.now, r.settle))
			case 2:
				l.waiting[id] = false
				note := rapid.SampledFrom([]string{wire.NoteInboxResolved, wire.NoteInboxExpired,
					wire.NoteInboxWithdrawn}).Draw(t, "note")
				l.hear(b.applyNote(note, item, l.now, r.settle))
			case 3:
				l.now = l.now.Add(time.Duration(rapid.IntRange(0, 1200).Draw(t, "seconds")) * time.Second / 4)
			case 4:
				around.looking = rapid.Bool().Draw(t, "looking")
				l.looking = around.looking
			case 5:
				l.hear(b.planDue(r, l.now, around))
			}
			l.isRight()
		}
		// Nobody is forgotten: once nothing speaks against it, what waits is told.
		around.looking, l.looking = false, false
		l.now = l.now.Add(2 * time.Hour)
		if r.isQuiet(l.now) {
			l.now = l.now.Add(time.Hour)
		}
		l.hear(b.planDue(r, l.now, around))
		l.isRight()
		l.now = l.now.Add(groupRest)
		l.hear(b.planDue(r, l.now, around))
		for id := range l.waiting {
			if l.waiting[id] && !l.told[id] {
				t.Fatalf("%s waits and was never told", id)
			}
			if l.waiting[id] && !l.visible[id] && !slices.Contains(l.together, id) {
				t.Fatalf("%s waits and no notice tells of it", id)
			}
		}
		if due := b.groupDue(); !due.IsZero() {
			t.Fatalf("more wait than was told, and that is put off until %v at %v", due, l.now)
		}
	})
}

// Many at once are a few notices, and one that counts the others; where it cannot be
// replaced it comes once a minute, and only while it grows.
func TestManyRequestsAreOneNotice(t *testing.T) {
	r, b, around := testRules(nil), newNoticePlan(), &played{}
	now, everywhere, changed := noon, 0, 0
	hear := func(tasks []task) {
		for _, d := range tasks {
			switch {
			case d.id != groupID:
			case d.again:
				changed++
			default:
				everywhere++
			}
		}
	}
	for i := range 500 {
		item := request(nil)
		item.ID, item.Agent = fmt.Sprint("r", i), []string{"claude", "codex"}[i%2]
		hear(b.applyNote(wire.NoteInboxReceived, item, now, r.settle))
		now = now.Add(200 * time.Millisecond)
		hear(b.planDue(r, now, around))
	}
	if apart := b.countApart(); apart != maxSingleNotices || everywhere != 2 {
		t.Errorf("%d have their own notice, and the one of many was told %d times in 100 s; want %d, 2", apart, everywhere,
			maxSingleNotices)
	}
	if at, _ := b.nextDue(); at.After(now.Add(groupRest)) {
		t.Errorf("the next look is at %v, want it within %v", at, groupRest)
	}
	hear(b.planDue(r, now.Add(groupRest), around))
	hear(b.planDue(r, now.Add(2*groupRest), around))
	if everywhere != 3 {
		t.Errorf("told %d times, want once more, and not again where nothing came", everywhere)
	}
	items, _ := b.groupItems()
	n := newGroupNotice(items, func(agent string) string { return "the " + agent })
	if n.Title != "497 more requests wait for you" || n.Body != "the codex: 249, the claude: 248" || n.CanDeny || n.CanShow ||
		n.isNews() {
		t.Errorf("the notice says %q, %q, deny %v, show %v", n.Title, n.Body, n.CanDeny, n.CanShow)
	}
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

// No two requests look alike: some desktops make one notification of those that do.
func TestNoticesDiffer(t *testing.T) {
	for _, full := range []bool{false, true} {
		first, second := request(nil), request(func(i *wire.InboxRequest) { i.ID = "r2" })
		one, other := requestNotice(&first, "Claude Code", full), requestNotice(&second, "Claude Code", full)
		if one.lines() == other.lines() {
			t.Errorf("two requests are both told as %q", one.lines())
		}
	}
}
