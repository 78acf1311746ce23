package queue

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/wire"
)

// MaxPending is how many requests of one session may wait. An agent that asks
// more than that is not read by anybody.
const MaxPending = 50

// MaxPushed is how many requests that programs pushed may wait, under whatever names. They
// are limited separately from those of hooks: invented sessions can't keep you from being
// asked about a real one.
const MaxPushed = 256

// keepEnded bounds what is remembered of requests that ended.
const keepEnded = 500

// ErrTooManyOfSession says that too many requests of the session wait already.
var ErrTooManyOfSession = errors.New("too many requests of this session wait")

// ErrTooManyPushed says that too many pushed requests wait already.
var ErrTooManyPushed = errors.New("too many pushed requests wait")

// ErrClosed says that the table takes no more requests.
var ErrClosed = errors.New("the daemon is stopping")

// NewTable makes an empty table.
func NewTable() *Table {
	return &Table{
		pending: map[string]*entry{}, byKey: map[string]*entry{}, sessions: map[session]int{},
		byID: map[string]*entry{},
		log:  newChanges(), signs: newSigns(),
	}
}

// SetListener sets the listener. Call it before the first request.
func (t *Table) SetListener(l Listener) { t.listener = l }

// KeepIDs takes over ids of the daemon before. It is called before the first request.
func (t *Table) KeepIDs(list []KeptID) { t.kept = newKeptIDs(list) }

// Ticket is one caller's place at a request.
type Ticket struct {
	table *Table
	entry *entry
}

// ID returns the request's.
func (t *Ticket) ID() string { return t.entry.id }

// Open registers a request, then announces it. A request that already waits under the same
// key, for the same thing, is joined.
func (t *Table) Open(r Request) (*Ticket, error) {
	e := &entry{
		request: r, keys: policy.Keys(r.Event), worker: policy.WorkerOf(r.Event),
		waiters: 1, over: make(chan struct{}),
	}
	who := r.session()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil, ErrClosed
	}
	if there := t.byKey[r.joinKey()]; r.Key != "" && there != nil {
		there.waiters++
		return &Ticket{t, there}, nil
	}
	if t.sessions[who] >= MaxPending {
		return nil, ErrTooManyOfSession
	}
	if r.Pushed && t.pushed >= MaxPushed {
		return nil, ErrTooManyPushed
	}
	if e.id = t.kept.takeOut(r.Event.ID, r.Hash); e.id == "" {
		e.id = t.freeID()
	}
	t.pending[e.id], t.byID[e.id] = e, e
	if r.Key != "" {
		t.byKey[r.joinKey()] = e
	}
	t.sessions[who]++
	if r.Pushed {
		t.pushed++
	}
	t.signs.addEntry(e)
	t.busy.Add(1)
	e.timer = time.AfterFunc(time.Until(r.Until), func() { t.End(e.id, TimeOver) })
	if t.listener != nil {
		t.listener.RequestOpened(e.id, &e.request)
	}
	t.noteChange(wire.NoteInboxReceived, e)
	return &Ticket{t, e}, nil
}

func (t *Table) freeID() string {
	var random [idLength]byte
	for {
		_, _ = rand.Read(random[:])
		id := newID(random[:])
		if _, taken := t.byID[id]; !taken && !t.kept.all[id] {
			return id
		}
	}
}

// Wait is over when the request is, or ctx. Who leaves with ctx gives up their
// place; with the last one the request ends.
func (t *Ticket) Wait(ctx context.Context) Result {
	select {
	case <-t.entry.over:
		return t.table.result(t.entry)
	case <-ctx.Done():
	}
	return t.table.leaveEntry(t.entry)
}

// ConfirmDelivered records that an answer which Wait gave reached the caller. A daemon that
// stops waits for that: what was called delivered must be delivered.
func (t *Ticket) ConfirmDelivered() { t.table.delivering.Add(-1) }

// DeliveryPending reports whether answers are on their way to callers.
func (t *Table) DeliveryPending() bool { return t.delivering.Load() > 0 }

// Leave gives up the place without waiting.
func (t *Ticket) Leave() Result { return t.table.leaveEntry(t.entry) }

func (t *Table) leaveEntry(e *entry) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.end == Waiting {
		if e.waiters--; e.waiters > 0 {
			return Result{ID: e.id, End: HookGone}
		}
		t.endEntry(e, HookGone, UserAnswer{})
	}
	return Result{ID: e.id, End: e.end, UserAnswer: e.said}
}

func (t *Table) result(e *entry) Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Result{ID: e.id, End: e.end, UserAnswer: e.said}
}

// End ends a request that waits, for a reason that is no answer. It is false
// when it had ended before.
func (t *Table) End(id string, why End) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.pending[id]
	if e == nil {
		return false
	}
	t.endEntry(e, why, UserAnswer{})
	return true
}

// Drop ends the requests that are meant, for a reason that is no answer.
func (t *Table) Drop(meant func(r *Request) bool, why End) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, e := range t.pending {
		if meant(&e.request) {
			t.endEntry(e, why, UserAnswer{})
		}
	}
}

// Shorten has requests wait no longer than until; those for which it gives no
// time stay as they are.
func (t *Table) Shorten(until func(r *Request) time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, e := range t.pending {
		if at := until(&e.request); !at.IsZero() && at.Before(e.request.Until) {
			t.endAt(id, e, at)
		}
	}
}

// Lengthen has requests wait until a later time, but no longer than their hooks may;
// those for which it gives no time stay as they are.
func (t *Table) Lengthen(until func(r *Request) time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, e := range t.pending {
		at := until(&e.request)
		if latest := e.request.Latest; at.After(latest) {
			at = latest
		}
		if at.After(e.request.Until) && e.timer.Stop() {
			t.endAt(id, e, at)
		}
	}
}

// endAt sets when a request's time is over. The caller holds the table.
func (t *Table) endAt(id string, e *entry, at time.Time) {
	e.request.Until = at
	e.timer.Stop()
	e.timer = time.AfterFunc(time.Until(at), func() { t.End(id, TimeOver) })
}

// endEntry ends a pending request, once. The caller holds the table.
func (t *Table) endEntry(e *entry, why End, said UserAnswer) {
	e.end, e.ended, e.said = why, time.Now(), said
	e.timer.Stop()
	delete(t.pending, e.id)
	if key := e.request.joinKey(); t.byKey[key] == e {
		delete(t.byKey, key)
	}
	if e.request.Pushed {
		t.pushed--
	}
	who := e.request.session()
	if t.sessions[who]--; t.sessions[who] <= 0 {
		delete(t.sessions, who)
	}
	t.signs.dropEntry(e)
	t.busy.Add(-1)
	if why == Answered {
		t.delivering.Add(int64(e.waiters))
	}
	if t.listener != nil {
		t.listener.RequestEnded(e.id, &e.request, why)
	}
	close(e.over) // whoever waits goes first
	if why == Answered {
		e.outcome = Delivered
		if old := t.signs.expectEffect(e); old != nil {
			t.busy.Add(-1)
		}
		t.busy.Add(1)
	}
	if oldest, _, full := t.ended.Put(e, struct{}{}, keepEnded); full {
		delete(t.byID, oldest.id)
	}
	t.noteChange(noteOf(why), e)
}

func noteOf(why End) string {
	switch why.Status() {
	case Resolved:
		return wire.NoteInboxResolved
	case Expired:
		return wire.NoteInboxExpired
	}
	return wire.NoteInboxWithdrawn
}

// Close ends every request and takes no more. It gives the ids of those that waited,
// for the next table.
func (t *Table) Close() []KeptID {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	var waited []KeptID
	for _, e := range t.pending {
		waited = append(waited, KeptID{e.id, e.request.Event.ID, e.request.Hash})
		t.endEntry(e, DaemonStops, UserAnswer{})
	}
	return waited
}

// Waiting returns how many requests wait.
func (t *Table) Waiting() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.pending)
}

// CountOf returns how many requests of a session wait, of hooks or pushed ones.
func (t *Table) CountOf(agent, id string, pushed bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sessions[session{agent, id, pushed}]
}

// Pushed returns how many pushed requests wait.
func (t *Table) Pushed() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.pushed
}

// Items returns the requests that wait, oldest first; with all, behind those that
// ended lately.
func (t *Table) Items(all bool) []wire.InboxRequest {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := []wire.InboxRequest{}
	if all {
		for e := range t.ended.All() {
			list = append(list, e.asItem())
		}
	}
	return append(list, t.waitingItems()...)
}

// Find returns the request with an id that begins like this: one that waits, or else one
// that ended.
func (t *Table) Find(beginning string) (wire.InboxRequest, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.findEntry(beginning)
	if err != nil {
		return wire.InboxRequest{}, err
	}
	return e.asItem(), nil
}

// FindWaiting is Find for a request that waits, with what is closed when it does
// no more.
func (t *Table) FindWaiting(beginning string) (item wire.InboxRequest, over <-chan struct{}, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.findEntry(beginning)
	if err != nil || e.end != Waiting {
		return wire.InboxRequest{}, nil, false
	}
	return e.asItem(), e.over, true
}

// Request gives what a pending request was opened with.
func (t *Table) Request(id string) (Request, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.pending[id]
	if e == nil {
		return Request{}, false
	}
	return e.request, true
}

// ByKey returns the id of the request that was opened under a key; none when several
// wait under it.
func (t *Table) ByKey(key string) (string, bool) {
	if key == "" {
		return "", false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	found := ""
	for id, e := range t.pending {
		if e.request.Key != key {
			continue
		}
		if found != "" {
			return "", false
		}
		found = id
	}
	if found != "" {
		return found, true
	}
	for e := range t.ended.Backward() {
		if e.request.Key == key {
			return e.id, true
		}
	}
	return "", false
}

// KeyOf returns the key a request was opened under.
func (t *Table) KeyOf(id string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e := t.byID[id]; e != nil {
		return e.request.Key
	}
	return ""
}

// NotFoundError says that no request is meant by an id.
type NotFoundError struct {
	ID   string
	Like []string // several begin like this
}

func (e *NotFoundError) Error() string {
	if len(e.Like) > 0 {
		return fmt.Sprintf("%q could be %s; type more of the ID", e.ID, strings.Join(e.Like, ", "))
	}
	return fmt.Sprintf("there's no request %q; `hookmux inbox` lists those that are waiting", e.ID)
}

// seenLately is how long an id may still mean a request that ended.
const seenLately = 10 * time.Minute

func (t *Table) findEntry(beginning string) (*entry, error) {
	if beginning == "" {
		return nil, &NotFoundError{ID: beginning}
	}
	if e := t.byID[strings.ToLower(beginning)]; e != nil {
		return e, nil
	}
	// A request that ended a moment ago may be the one that is meant, because it was on
	// screen. So it is listed beside those that wait.
	var near, others []string
	for id, e := range t.byID {
		if e.end == Waiting || time.Since(e.ended) < seenLately {
			near = append(near, id)
		} else {
			others = append(others, id)
		}
	}
	for _, ids := range [][]string{near, others} {
		id, like := pickID(ids, beginning)
		if id != "" {
			return t.byID[id], nil
		}
		if len(like) > 0 {
			return nil, &NotFoundError{beginning, like}
		}
	}
	return nil, &NotFoundError{ID: beginning}
}
