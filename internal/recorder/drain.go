package hub

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/wire"
)

// drain fills the journal behind the corridor: from memory while all is well,
// from the files on disk after a death or when it fell behind. It is the only
// writer, and the id makes every event arrive once.
type drain struct {
	deps   services.Deps
	ctx    context.Context // ends when the hub does
	hub    *Hub
	intake *intake
	book   atomic.Pointer[journal.Journal] // nil while it cannot be opened

	// queue keeps the order in which events were written down. Putting
	// something in does not wake the drain: that is done once the caller has
	// its answer, or will have to wait for it.
	queueMu sync.Mutex
	queue   []drainItem
	queued  int64 // bytes in the queue and in the batch being stored
	wake    chan struct{}
	hot     atomic.Bool // events are coming, and it looks by the clock
	over    chan struct{}
	// caughtUp is closed once what earlier hubs and hooks left is stored.
	caughtUp chan struct{}

	maxPage int // bytes of events in one page

	text  []byte // redacted bodies of one batch
	items []journal.Item
	rows  []journal.Row
}

// drainItem is a record on its way, with what the corridor read out of it.
type drainItem struct {
	record  spool.Record
	kind    event.Kind
	session string
	tool    string
	segment uint64
	known   bool // kind, session and tool are filled in already
}

const (
	queueItems = 16 << 10
	queueBytes = 64 << 20
	batchItems = 512
	// gather is how long a busy drain lets events come together: one commit
	// for many costs a fraction of one commit each.
	gather = 4 * time.Millisecond
	// gatherMore is how long when many come: whoever watches cannot read that
	// fast anyway.
	gatherMore = 10 * time.Millisecond
	manyCome   = 32
	// idleRounds is how many looks without an event end that.
	idleRounds = 60
	// keepText is how much room for redacted bodies is kept between batches.
	keepText = 1 << 20
	// muchPassed is after how many events memory is given back when it is
	// quiet again.
	muchPassed = 4096
	// restAfter is how long it must be quiet before files are tidied up.
	restAfter = 200 * time.Millisecond
	// sweepEvery is how often the spool is looked at while hooks keep coming.
	sweepEvery  = 2 * time.Second
	retainEvery = time.Hour
	// longestRetry is how long a broken journal is left alone between two
	// tries.
	longestRetry = 2 * time.Second
)

func newDrain(h *Hub) *drain {
	d := &drain{deps: h.deps, ctx: h.ctx, hub: h, maxPage: maxPage, wake: make(chan struct{}, 1), over: make(chan struct{}), caughtUp: make(chan struct{})}
	if err := d.openJournal(); err != nil {
		d.trouble(err)
	}
	return d
}

func (d *drain) openJournal() error {
	if d.book.Load() != nil {
		return nil
	}
	j, err := journal.Open(filepath.Join(d.deps.Dirs.State, "journal.db"), journal.Options{})
	if err != nil {
		return err
	}
	for _, p := range j.Problems() {
		d.deps.Problems.Raise("journal-broken", p.Text, "")
	}
	d.book.Store(j)
	return nil
}

func (d *drain) trouble(err error) {
	d.deps.Problems.Raise("journal", "events are not reaching the journal: "+err.Error(),
		"make room or repair "+d.deps.Dirs.State+"; hooks go on deciding, and what is waiting is kept in "+d.deps.Dirs.Intake())
}

// hand gives an item to the drain without ever waiting for it. False means
// that it must be read back from disk.
func (d *drain) hand(item drainItem) bool {
	size := sizeOf(&item)
	item.known = true
	d.queueMu.Lock()
	defer d.queueMu.Unlock()
	if len(d.queue) >= queueItems || d.queued+size > queueBytes {
		return false
	}
	d.queued += size
	d.queue = append(d.queue, item)
	return true
}

func sizeOf(item *drainItem) int64 { return int64(len(item.record.Payload)) + 256 }

// nudge lets the drain know that there is something to store.
func (d *drain) nudge() {
	if d.hot.Load() {
		return
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

func (d *drain) waiting() int {
	d.queueMu.Lock()
	defer d.queueMu.Unlock()
	return len(d.queue)
}

// end tells the drain to store what it has and stop.
func (d *drain) end() { close(d.over) }

func (d *drain) run() {
	defer func() {
		if j := d.book.Load(); j != nil {
			j.Close()
		}
	}()
	d.recover()
	d.sweepSpool()
	close(d.caughtUp)
	d.hub.sessions.CatchUp(d.ctx, d.eventsSince)
	var (
		batch    []drainItem
		idle     int // rounds without an event
		came     int // events of the last round
		passed   int // events since memory was given back
		swept    = time.Now()
		retained time.Time
		rest     = time.NewTimer(restAfter)
	)
	defer rest.Stop()
	tidy := func() {
		d.tidy()
		d.sweepSpool()
		swept = time.Now()
		if swept.Sub(retained) > retainEvery {
			d.retain()
			retained = swept
		}
	}
	for {
		if !d.hot.Load() {
			// Quiet: wait for the next event, or for another look at the files.
			rest.Reset(restAfter)
			select {
			case <-d.wake:
			case <-rest.C:
				tidy()
				if passed > muchPassed {
					d.giveBack()
					passed = 0
				}
				select {
				case <-d.wake:
				case <-time.After(sweepEvery):
					continue
				case <-d.over:
					d.last()
					return
				}
			case <-d.over:
				d.last()
				return
			}
			d.hot.Store(true)
			idle = 0
		}
		// Events are coming: it looks by the clock. Being woken by each would
		// take time from the very caller who is reading its answer.
		span := gather
		if came >= manyCome {
			span = gatherMore
		}
		if pause(span, d.over) {
			d.last()
			return
		}
		came = 0
		for full := true; full; {
			batch = d.more(batch[:0])
			full = len(batch) == batchItems
			if len(batch) == 0 {
				break
			}
			idle = 0
			passed += len(batch)
			came += len(batch)
			if !d.store(batch, nil) {
				return // the hub ends while the journal is broken: the files keep it all
			}
		}
		if idle++; idle > idleRounds {
			d.hot.Store(false)
			if d.waiting() > 0 {
				d.hot.Store(true) // it came in between
			}
		}
		if time.Since(swept) > sweepEvery {
			tidy()
		}
	}
}

// giveBack: quiet after a storm, and others may need the memory.
func (d *drain) giveBack() {
	d.text, d.rows, d.items = nil, nil, nil
	d.hub.sessions.ReleaseMemory(sessions.KeepActive)
	debug.FreeOSMemory()
}

// pause waits, and says whether the hub ended meanwhile.
func pause(span time.Duration, over <-chan struct{}) bool {
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-t.C:
		return false
	case <-over:
		return true
	}
}

// more takes what is there, up to a batch.
func (d *drain) more(batch []drainItem) []drainItem {
	d.queueMu.Lock()
	defer d.queueMu.Unlock()
	n := min(batchItems-len(batch), len(d.queue))
	batch = append(batch, d.queue[:n]...)
	left := copy(d.queue, d.queue[n:])
	clear(d.queue[left:])
	d.queue = d.queue[:left]
	if left == 0 && cap(d.queue) > 4*batchItems {
		d.queue = nil // a flood is over
	}
	return batch
}

// last stores what is left when the hub ends.
func (d *drain) last() {
	for {
		batch := d.more(nil)
		if len(batch) == 0 {
			break
		}
		if !d.store(batch, nil) {
			return
		}
	}
	d.tidy()
}

// store writes a batch, again and again until it is in or the hub ends. What
// comes from a file has a note of it.
func (d *drain) store(batch []drainItem, note *attempt) bool {
	wait := 50 * time.Millisecond
	for {
		if note != nil {
			note.write()
		}
		err := d.write(batch)
		if note != nil {
			note.clear()
		}
		if err == nil {
			d.deps.Problems.Mend("journal")
			d.deps.Problems.Mend("state")
			break
		}
		d.trouble(err)
		select {
		case <-d.over:
			return false
		case <-time.After(wait):
		}
		wait = min(2*wait, longestRetry)
	}
	if note == nil {
		d.intake.stored(batch)
		var freed int64
		for i := range batch {
			freed += sizeOf(&batch[i])
			batch[i] = drainItem{}
		}
		d.queueMu.Lock()
		d.queued -= freed
		d.queueMu.Unlock()
	}
	return true
}

// write redacts a batch and puts it into the journal in one transaction.
func (d *drain) write(batch []drainItem) error {
	if err := d.openJournal(); err != nil {
		return err
	}
	d.items, d.text = d.items[:0], d.text[:0]
	if cap(d.rows) < len(batch) {
		d.rows = make([]journal.Row, len(batch), max(len(batch), batchItems))
	}
	d.rows = d.rows[:len(batch)]
	events := map[string]bool{}
	watched := d.deps.Notes.Watched()
	var outcomes []wire.Outcome
	for i := range batch {
		item := &batch[i]
		if item.record.Type == spool.TypeDecision {
			if o, ok := d.outcome(item); ok {
				d.items = append(d.items, o)
				if watched && !events[item.record.ID] {
					outcomes = append(outcomes, d.announce(item))
				}
			}
			continue
		}
		if watched {
			events[item.record.ID] = true
		}
		d.row(item, &d.rows[i])
		d.items = append(d.items, journal.Item{Row: &d.rows[i]})
	}
	_, _, err := d.book.Load().Write(d.items)
	clear(d.rows) // no payload is held on to
	clear(d.items)
	if cap(d.text) > keepText {
		d.text = nil // seldom is so much said at once
	}
	if err != nil {
		return err
	}
	d.hub.streams.stored()
	for _, o := range outcomes {
		d.deps.Notes.Publish(wire.NoteOutcome, o)
	}
	return nil
}

// limits is how much of an event is kept: tool results are long and seldom
// read again.
var limits = redact.DefaultLimits()

// row makes a record fit for the journal. Its body lives in d.text until the
// batch is written.
func (d *drain) row(item *drainItem, row *journal.Row) {
	r := &item.record
	if !item.known {
		d.decode(item)
	}
	*row = journal.Row{
		ID: r.ID, Time: r.Time, Agent: column(r.Agent), Kind: string(item.kind), Native: column(r.Event), Tool: column(item.tool),
		Session: column(item.session), Cwd: longColumn(r.Cwd), AgentVersion: column(r.AgentVersion), Caller: column(r.Caller),
		Pane: column(r.Pane), TTY: column(r.TTY), PID: r.PID, Start: r.Start, Nested: r.Nested, Truncated: r.Truncated,
	}
	if len(r.Payload) == 0 {
		return
	}
	from := len(d.text)
	d.text, _ = redact.AppendJSON(d.text, r.Payload, limits)
	row.Body = d.text[from:len(d.text):len(d.text)]
}

// column makes a short value fit to be stored beside the body: names and ids
// come from outside and may be anything.
func column(s string) string { return redact.Text(cutText(s, 256)) }

func longColumn(s string) string { return redact.Text(cutText(s, longestPath)) }

func cutText(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "…"
}

// decode reads a record that came from disk. A decoder that stumbles over it
// costs the reading, not the record.
func (d *drain) decode(item *drainItem) {
	r := &item.record
	item.kind, item.known = event.Other, true
	defer func() {
		if p := recover(); p != nil {
			d.deps.Problems.Raise("decode", "a record could not be read and was stored as it is: "+fmt.Sprint(p), "")
		}
	}()
	ev := d.deps.Catalogue.Decode(agent.Input{ID: r.ID, Time: r.Time, Agent: r.Agent, Event: r.Event, Payload: r.Payload, Cwd: r.Cwd, Truncated: r.Truncated})
	item.kind, item.session = ev.Kind, ev.Session
	ev.AgentVersion, ev.Where = r.AgentVersion, event.Place{PID: r.PID, Start: r.Start, TTY: r.TTY, Pane: r.Pane}
	d.hub.sessions.ApplyLate(&ev)
	r.Agent, r.Event, r.Cwd = ev.Agent, ev.Native, ev.Cwd
	if ev.Tool != nil {
		item.tool = ev.Tool.Name
	}
}

func (d *drain) outcome(item *drainItem) (journal.Item, bool) {
	o, err := readOutcome(item.record.Payload)
	if err != nil {
		return journal.Item{}, false
	}
	var decision event.Decision
	_ = decision.UnmarshalJSON(o.Decision)
	clean, _ := redact.AppendJSON(nil, item.record.Payload, limits)
	return journal.Item{Outcome: &journal.Outcome{
		ID: o.ID, Time: o.Time, Took: time.Duration(o.TookUS) * time.Microsecond, Verdict: decision.Verdict.Word(),
		By: decision.By, Degraded: len(decision.Degraded) > 0, Decision: clean,
	}}, true
}

func (d *drain) announce(item *drainItem) wire.Outcome {
	clean, _ := redact.AppendJSON(nil, item.record.Payload, limits)
	o, _ := readOutcome(clean)
	return o
}

// retain forgets what is older or larger than the settings keep.
func (d *drain) retain() {
	if err := d.openJournal(); err != nil {
		d.trouble(err)
		return
	}
	keep := d.hub.rules.retention()
	if _, err := d.book.Load().Retain(time.Now(), keep.keep, keep.perAgent, keep.maxBytes); err != nil {
		d.deps.Problems.Raise("retention", "old events could not be deleted: "+err.Error(), "")
	} else {
		d.deps.Problems.Mend("retention")
	}
}
