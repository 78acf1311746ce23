package recorder

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// missed counts decisions that neither the disk nor memory had room for.
type missed struct {
	mu    sync.Mutex
	n     int64
	since time.Time
}

func (m *missed) add(at time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.n == 0 {
		m.since = at
	}
	m.n++
}

func (m *missed) take() (n int64, since time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n, m.n = m.n, 0
	return n, m.since
}

// keepText is how much room for redacted bodies is kept between batches.
const keepText = 1 << 20

// store writes items into the journal, redacted. Only the drain calls it,
// except for journal, which readers load.
type store struct {
	deps   services.Deps
	late   func(*event.Event) // hears of each event that was read from disk
	stored func()             // called after each batch
	// deleted is called when events were deleted
	deleted   func()
	followers []Follower
	outbox    func() bool
	missed    missed

	journal atomic.Pointer[journal.Journal] // nil while it cannot be opened

	text  []byte // redacted bodies of one batch
	items []journal.Item
	rows  []journal.Row
}

// journalFile is the journal's name in the state folder.
const journalFile = "journal.db"

func (s *store) openJournal() error {
	if s.journal.Load() != nil {
		return nil
	}
	j, err := journal.Open(filepath.Join(s.deps.Dirs.OpenState(), journalFile), journal.Options{Outbox: s.outbox})
	if err != nil {
		return err
	}
	for _, p := range j.Problems() {
		s.deps.Problems.Raise("journal-broken", p.Text, "")
	}
	s.journal.Store(j)
	return nil
}

func (s *store) reportTrouble(err error) {
	s.deps.Problems.Raise("journal", "events are not reaching the journal: "+err.Error(),
		"make room or repair "+s.deps.Dirs.State+"; hooks go on deciding, and what is waiting is kept in "+
			s.deps.Dirs.Intake())
}

// writeBatch redacts a batch and puts it into the journal, which is open, in one
// transaction. It calls written once the batch is in, before followers see it.
func (s *store) writeBatch(batch []item, written func()) error {
	s.items, s.text = s.items[:0], s.text[:0]
	if cap(s.rows) < len(batch) {
		s.rows = make([]journal.Row, len(batch), max(len(batch), batchItems))
	}
	s.rows = s.rows[:len(batch)]
	events := map[string]bool{}
	watched := s.deps.Notes.Watched()
	var outcomes []wire.Outcome
	for i := range batch {
		one := &batch[i]
		if one.record.Type == spool.TypeDecision {
			if o, ok := s.outcomeRow(one); ok {
				s.items = append(s.items, o)
				if watched && !events[one.record.ID] {
					outcomes = append(outcomes, s.cleanOutcome(one))
				}
			}
			continue
		}
		if watched {
			events[one.record.ID] = true
		}
		s.fillRow(one, &s.rows[i])
		s.items = append(s.items, journal.Item{Row: &s.rows[i]})
	}
	cursors, _, err := s.journal.Load().Write(s.items)
	if err == nil {
		written()
	}
	if err == nil && len(s.followers) > 0 {
		observed := s.observe(cursors)
		decisions, since := s.missed.take()
		for _, one := range s.followers {
			if decisions > 0 {
				one.Missed(decisions, since)
			}
			one.Stored(observed)
		}
	}
	clear(s.rows) // no payload is held on to
	clear(s.items)
	if cap(s.text) > keepText {
		s.text = nil // seldom is so much said at once
	}
	if err != nil {
		return err
	}
	s.stored()
	for _, o := range outcomes {
		s.deps.Notes.Publish(wire.NoteOutcome, o)
	}
	return nil
}

// observe returns the batch as followers see it: events that are new, and what came of
// events.
func (s *store) observe(cursors []int64) []Observed {
	var list []Observed
	rows := map[string]*journal.Row{}
	for i := range s.items {
		if row := s.items[i].Row; row != nil {
			rows[row.ID] = row
			if cursors[i] != 0 {
				list = append(list, Observed{Event: row})
			}
			continue
		}
		o, err := readOutcome(s.items[i].Outcome.Decision)
		if err != nil {
			continue
		}
		row := rows[o.ID]
		if row == nil {
			if stored, ok, err := s.journal.Load().Get(context.Background(), o.ID); ok && err == nil {
				row = &stored.Row
			}
		}
		list = append(list, Observed{Event: row, Outcome: &o})
	}
	return list
}

// limits is how much of an event is kept: tool results are long and seldom
// read again.
var limits = redact.DefaultLimits()

// fillRow makes a record fit for the journal. Its body lives in s.text until the
// batch is written.
func (s *store) fillRow(i *item, row *journal.Row) {
	r := &i.record
	if !i.known {
		s.decodeRecord(i)
	}
	short := func(text string) string { return s.columnText(text, longestName) }
	*row = journal.Row{
		ID: r.ID, Time: r.Time, Agent: short(r.Agent), Kind: string(i.kind), Native: short(r.Event),
		Tool: short(i.tool), Session: short(i.session), Cwd: s.columnText(r.Cwd, longestCwd),
		AgentVersion: short(r.AgentVersion), Caller: short(r.Caller), Pane: short(r.Pane), TTY: short(r.TTY),
		PID: r.PID, Start: r.Start, Nested: r.Nested, Truncated: r.Truncated,
	}
	if len(r.Payload) == 0 {
		return
	}
	from := len(s.text)
	s.text, _ = s.deps.Redactor.AppendJSON(s.text, r.Payload, limits)
	row.Body = s.text[from:len(s.text):len(s.text)]
}

// The longest texts that are stored beside the body. Linux takes no longer path.
const longestName, longestCwd = 256, 4096

// columnText makes a value fit to be stored beside the body: names and ids come
// from outside and may be anything.
func (s *store) columnText(text string, most int) string {
	if text == "" {
		return ""
	}
	return s.deps.Redactor.Text(termsafe.CutMarked(text, most))
}

// decodeRecord reads a record that came from disk. A decoder that panics over it
// costs the reading, not the record.
func (s *store) decodeRecord(i *item) {
	r := &i.record
	i.kind, i.known = event.Other, true
	defer func() {
		if p := recover(); p != nil {
			s.deps.Problems.Raise("decode",
				"a record could not be read and was stored as it is: "+fmt.Sprint(p), "")
		}
	}()
	ev := s.deps.Catalogue.Decode(agent.Input{ID: r.ID, Time: r.Time, Agent: r.Agent, Event: r.Event,
		Payload: r.Payload, Cwd: r.Cwd, Truncated: r.Truncated})
	i.kind, i.session = ev.Kind, ev.Session
	ev.AgentVersion, ev.Where = r.AgentVersion, event.Place{PID: r.PID, Start: r.Start, TTY: r.TTY, Pane: r.Pane}
	s.late(&ev)
	r.Agent, r.Event, r.Cwd = ev.Agent, ev.Native, ev.Cwd
	if ev.Tool != nil {
		i.tool = ev.Tool.Name
	}
}

func (s *store) outcomeRow(i *item) (journal.Item, bool) {
	o, err := readOutcome(i.record.Payload)
	if err != nil {
		return journal.Item{}, false
	}
	var decision event.Decision
	_ = decision.UnmarshalJSON(o.Decision)
	clean, _ := s.deps.Redactor.AppendJSON(nil, i.record.Payload, limits)
	return journal.Item{Outcome: &journal.Outcome{
		ID: o.ID, Time: o.Time, Took: time.Duration(o.TookUS) * time.Microsecond, Verdict: decision.Verdict.Word(),
		By: decision.By, Degraded: len(decision.Degraded) > 0, Decision: clean,
	}}, true
}

// cleanOutcome returns an outcome as it is announced: without secrets.
func (s *store) cleanOutcome(i *item) wire.Outcome {
	clean, _ := s.deps.Redactor.AppendJSON(nil, i.record.Payload, limits)
	o, _ := readOutcome(clean)
	return o
}

// Retention is how much of the journal is kept.
type Retention struct {
	Age      time.Duration
	AgentAge map[string]time.Duration // where it differs, by agent
	MaxBytes int64
}

// retain forgets what is older or larger than the settings keep.
func (s *store) retain(keep Retention) {
	for _, one := range s.followers {
		one.Retain(keep)
	}
	j := s.journal.Load()
	if j == nil {
		return // the next batch opens it
	}
	n, err := j.Retain(time.Now(), keep.Age, keep.AgentAge, keep.MaxBytes)
	if n > 0 {
		s.deleted()
	}
	if err != nil {
		s.deps.Problems.Raise("retention", "old events could not be deleted: "+err.Error(), "")
	} else {
		s.deps.Problems.Clear("retention")
	}
}

// checkJournal makes sure that the journal is still where it was. It returns false if the
// file was deleted: what was stored in it has to be stored again, as far as it is still
// written down.
func (s *store) checkJournal() bool {
	j := s.journal.Load()
	if j == nil {
		return true
	}
	for _, p := range j.Problems() {
		s.deps.Problems.Raise("journal-broken", p.Text, "")
	}
	if j.Intact() {
		return true
	}
	s.deps.Problems.Raise("journal-gone",
		j.Path()+" was deleted or replaced while the daemon was running; a new journal was begun",
		"what was in the old one is gone with it")
	s.journal.Store(nil)
	j.Close()
	if err := s.openJournal(); err != nil {
		s.reportTrouble(err)
	}
	return false
}

// close closes the journal.
func (s *store) close() {
	if j := s.journal.Load(); j != nil {
		j.Close()
	}
}

// freeBuffers frees the memory kept between batches.
func (s *store) freeBuffers() { s.text, s.rows, s.items = nil, nil, nil }
