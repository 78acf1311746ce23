package notify

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/wire"
)

// noticePlan has what waits for you and what you were notified of. It has no clock and sends
// nothing: its methods return what to do.
type noticePlan struct {
	waiting map[string]*waitingRequest
	turns   map[string]*endedTurn
	told    bounded.Map[string, toldOn] // requests and turns that were shown, and how
	group   groupNotice
}

// toldOn is how something was shown: on its own, or together with others.
type toldOn struct{ apart, group []string }

// waitingRequest is one request: in the inbox, at the agent's own prompt, or
// for a moment both.
type waitingRequest struct {
	inbox, window *wire.InboxRequest
	came          time.Time
	due           time.Time // when to look at it; zero: never again
	shown         []string  // the channels it was shown on, on its own
	group         []string  // the channels it was shown on together with others
}

// item returns the request as it can be answered now.
func (w *waitingRequest) item() *wire.InboxRequest {
	if w.inbox != nil {
		return w.inbox
	}
	return w.window
}

// endedTurn is a turn that ended a moment ago.
type endedTurn struct {
	session wire.Session
	due     time.Time
}

// task is one thing to do.
type task struct {
	withdraw bool
	again    bool // it was shown before, and is only shown again if that replaces what is there
	id       string
	item     *wire.InboxRequest
	turn     *wire.Session
	group    []*wire.InboxRequest // requests that are shown together
	channels []string
}

// keepTold limits what is remembered.
const keepTold = 4096

func newNoticePlan() *noticePlan {
	return &noticePlan{waiting: map[string]*waitingRequest{}, turns: map[string]*endedTurn{}}
}

// applyNote records what happened to a request.
func (b *noticePlan) applyNote(note string, item wire.InboxRequest, now time.Time, settle time.Duration) []task {
	w := b.waiting[item.ID]
	opens := note == wire.NoteInboxReceived || note == wire.NoteInboxPrompt
	if w == nil && !opens {
		return nil
	}
	if w == nil {
		w = &waitingRequest{came: now, due: now.Add(settle)}
		b.waiting[item.ID] = w
		if on, told := b.told.Get(item.ID); told {
			w.due, w.shown, w.group = time.Time{}, on.apart, on.group
		}
	}
	before := w.item()
	switch note {
	case wire.NoteInboxReceived:
		w.inbox = &item
	case wire.NoteInboxPrompt:
		w.window = &item
	case wire.NoteInboxPromptOver:
		w.window = nil
	default:
		w.inbox = nil
	}
	if w.item() == nil {
		delete(b.waiting, item.ID)
		if w.shown != nil {
			return []task{{withdraw: true, id: item.ID, item: &item, channels: w.shown}}
		}
		return b.updateGroup(now)
	}
	if w.group != nil {
		return b.updateGroup(now)
	}
	if w.shown != nil && (before == nil || before.Status != w.item().Status) {
		return []task{{again: true, id: item.ID, item: w.item(), channels: w.shown}}
	}
	return nil
}

// applyTurn records that a turn ended.
func (b *noticePlan) applyTurn(one wire.Session, now time.Time, settle time.Duration) {
	if turnKind(one.Turn) == "" || b.told.Has(turnID(&one)) {
		return
	}
	b.turns[turnID(&one)] = &endedTurn{session: one, due: now.Add(settle)}
}

func turnID(one *wire.Session) string {
	return "turn " + one.Agent + " " + one.ID + " " + strconv.Itoa(one.Turn.N)
}

// nextDue returns when something is due next.
func (b *noticePlan) nextDue() (at time.Time, found bool) {
	take := func(due time.Time) {
		if !due.IsZero() && (!found || due.Before(at)) {
			at, found = due, true
		}
	}
	for _, w := range b.waiting {
		take(w.due)
	}
	for _, t := range b.turns {
		take(t.due)
	}
	take(b.groupDue())
	return at, found
}

// sessionKey names a session.
type sessionKey struct{ agent, session string }

// dueSessions returns the sessions of everything that is due now.
func (b *noticePlan) dueSessions(now time.Time) []sessionKey {
	var list []sessionKey
	for _, w := range b.waiting {
		if !w.due.IsZero() && !w.due.After(now) {
			list = append(list, sessionKey{w.item().Agent, w.item().Session})
		}
	}
	for _, t := range b.turns {
		if !t.due.After(now) {
			list = append(list, sessionKey{t.session.Agent, t.session.ID})
		}
	}
	return list
}

// surroundings holds what is asked of the machine when a notice is planned.
type surroundings interface {
	// isLooking reports whether the user looks at the pane of a session now.
	isLooking(agent, session string) bool
	// current returns the session as it is now.
	current(agent, session string) (wire.Session, bool)
}

// planDue plans everything that is due, the oldest first.
func (b *noticePlan) planDue(r *rules, now time.Time, around surroundings) []task {
	var ids []string
	for id, w := range b.waiting {
		if !w.due.IsZero() && !w.due.After(now) {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(x, y string) int {
		return cmp.Or(b.waiting[x].came.Compare(b.waiting[y].came), cmp.Compare(x, y))
	})
	var tasks []task
	apart := b.countApart()
	for _, id := range ids {
		w := b.waiting[id]
		item := w.item()
		v := r.planRequest(item, now, func() bool { return around.isLooking(item.Agent, item.Session) })
		w.due = time.Time{}
		if v.again > 0 {
			w.due = now.Add(v.again)
		}
		switch {
		case v.channels == nil:
		case apart < maxSingleNotices:
			apart++
			w.shown = v.channels
			b.told.Put(id, toldOn{apart: v.channels}, keepTold)
			tasks = append(tasks, task{id: id, item: item, channels: v.channels})
		default:
			w.group = v.channels
			b.told.Put(id, toldOn{group: v.channels}, keepTold)
		}
	}
	tasks = append(tasks, b.updateGroup(now)...)
	tasks = append(tasks, b.planGroup(r, now)...)
	return append(tasks, b.planTurns(r, now, around)...)
}

func (b *noticePlan) planTurns(r *rules, now time.Time, around surroundings) []task {
	var tasks []task
	for id, t := range b.turns {
		if t.due.After(now) {
			continue
		}
		delete(b.turns, id)
		one, ok := around.current(t.session.Agent, t.session.ID)
		if !ok || one.Turn == nil || turnID(&one) != id || turnKind(one.Turn) == "" {
			continue // it goes on, or another one began
		}
		channels := r.planTurn(&one, now, func() bool { return around.isLooking(one.Agent, one.ID) })
		if channels != nil {
			b.told.Put(id, toldOn{apart: channels}, keepTold)
			tasks = append(tasks, task{id: id, turn: &one, channels: channels})
		}
	}
	slices.SortFunc(tasks, func(x, y task) int { return cmp.Compare(x.id, y.id) })
	return tasks
}

// isWaiting reports whether the subject of a notice still waits.
func (b *noticePlan) isWaiting(id string) bool {
	return b.waiting[id] != nil || id == groupID && b.group.channels != nil
}
