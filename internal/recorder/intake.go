package hub

import (
	"encoding/json"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/wire"
)

// intake writes every event down before it is answered, with one write(2),
// and hands it to the drain in memory, so that nothing is read back from disk
// unless a hub died or the drain fell behind.
type intake struct {
	log   *spool.Log // nil when the place cannot be written
	drain *drain

	// writing is held by everybody between writing a record and counting it,
	// so that no file goes while a record in it is not counted yet.
	writing sync.RWMutex
	mu      sync.Mutex
	segs    map[uint64]*segment
}

// segment counts one file of the log: it may go once everything in it is in
// the journal.
type segment struct {
	written, stored int
	reread          bool // some records were not handed over: read the file
}

func openIntake(dir string, d *drain) (*intake, error) {
	log, err := spool.OpenLog(dir)
	if err != nil {
		return nil, err
	}
	i := &intake{log: log, drain: d, segs: map[uint64]*segment{}}
	d.intake = i
	return i, nil
}

// reopen tries again to have a log, once its place may be repaired. Only the
// drain calls it.
func (i *intake) reopen() bool {
	log, err := spool.OpenLog(i.drain.deps.Dirs.Intake())
	if err != nil {
		return false
	}
	i.writing.Lock()
	i.log = log
	i.writing.Unlock()
	i.drain.deps.Problems.Mend("intake")
	return true
}

// noIntake serves while the log's place is broken: events go to the journal
// through memory alone.
func noIntake(d *drain) *intake {
	i := &intake{drain: d, segs: map[uint64]*segment{}}
	d.intake = i
	return i
}

// take writes an event down and hands it on.
func (i *intake) take(in *arrival, p *passage) error {
	rec := spool.Record{
		Type: spool.TypeEvent, ID: in.id, Time: in.at, Agent: p.ev.Agent, Event: p.ev.Native, Cwd: p.ev.Cwd,
		AgentVersion: p.ev.AgentVersion, PID: p.ev.Where.PID, Start: p.ev.Where.Start, TTY: p.ev.Where.TTY,
		Pane: p.ev.Where.Pane, Nested: p.ev.Nested, Truncated: p.ev.Truncated, Payload: in.payload,
	}
	item := drainItem{record: rec, kind: p.ev.Kind, session: p.ev.Session}
	if p.ev.Tool != nil {
		item.tool = p.ev.Tool.Name
	}
	return i.put(item)
}

// conclude writes down what came of an event.
func (i *intake) conclude(in *arrival, p *passage, d event.Decision) {
	outcome := outcomeOf(in, p, d)
	body, err := json.Marshal(outcome)
	if err != nil {
		return
	}
	item := drainItem{record: spool.Record{Type: spool.TypeDecision, ID: in.id, Time: in.at, Agent: p.ev.Agent, Event: p.ev.Native, Payload: body}}
	_ = i.put(item) // the event's own write reports a broken disk
}

// put writes a record down and lines it up for the drain, which is woken once
// the caller has its answer: sooner would only slow that down.
func (i *intake) put(item drainItem) error {
	var err error
	i.writing.RLock()
	if i.log != nil {
		item.segment, err = i.log.Append(&item.record)
	}
	onDisk := i.log != nil && err == nil
	if onDisk {
		i.mu.Lock()
		seg := i.segs[item.segment]
		if seg == nil {
			seg = &segment{}
			i.segs[item.segment] = seg
		}
		seg.written++
		i.mu.Unlock()
	} else {
		item.segment = 0
	}
	i.writing.RUnlock()
	if !i.drain.hand(item) && onDisk {
		i.mu.Lock()
		if seg := i.segs[item.segment]; seg != nil { // else it was read back just now
			seg.reread = true
		}
		i.mu.Unlock()
	}
	return err
}

// written reports whether there is a log to write to.
func (i *intake) written() bool {
	i.writing.RLock()
	defer i.writing.RUnlock()
	return i.log != nil
}

// stored counts records that are in the journal now.
func (i *intake) stored(items []drainItem) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for k := range items {
		if seg := i.segs[items[k].segment]; seg != nil {
			seg.stored++
		}
	}
}

// finished lists closed segments: those that may go, and those that must be
// read back.
func (i *intake) finished() (gone, reread []spool.Segment) {
	if i.log == nil {
		return nil, nil
	}
	i.writing.Lock()
	defer i.writing.Unlock()
	list, err := i.log.Segments()
	if err != nil {
		return nil, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, s := range list {
		if !s.Closed {
			continue
		}
		seg := i.segs[s.N]
		switch {
		case seg == nil || seg.reread:
			reread = append(reread, s) // of an earlier hub, or not handed over
		case seg.stored == seg.written:
			gone = append(gone, s)
		}
	}
	return gone, reread
}

func (i *intake) remove(s spool.Segment) {
	if err := i.log.Remove(s.N); err != nil {
		return
	}
	i.mu.Lock()
	delete(i.segs, s.N)
	i.mu.Unlock()
}

// rest closes the current segment so that it can go when all is stored.
func (i *intake) rest() {
	if i.log != nil {
		_ = i.log.Rotate()
	}
}

func (i *intake) undrained() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for _, s := range i.segs {
		n += s.written - s.stored
	}
	return n
}

func (i *intake) close() {
	if i.log != nil {
		_ = i.log.Close()
	}
}

// readOutcome reads back what conclude wrote.
func readOutcome(payload []byte) (wire.Outcome, error) {
	var o wire.Outcome
	err := json.Unmarshal(payload, &o)
	return o, err
}

// readBack has everything that is still on disk stored again.
func (i *intake) readBack() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, seg := range i.segs {
		seg.reread = true
	}
}
