// Package recorder writes every event down and fills the journal. An event is
// appended to a log on disk before it is answered (intake.go), handed on in
// memory (queue.go) and stored, redacted, by one goroutine behind the answer
// (drain.go, store.go). What a dead daemon or a hook without a daemon left is stored
// at the start and now and then (leftovers.go). Reader reads the journal
// (pages.go).
package recorder

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Recorder is the service.
type Recorder struct {
	*Reader
	deps   services.Deps
	intake *intake
	queue  *queue
	drain  *drain

	indexer *indexer
}

// Options configures a recorder.
type Options struct {
	Deps      services.Deps
	Listener  Listener
	Late      func(*event.Event) // hears of each event that is read back from disk
	Stored    func()             // called after each batch
	Retention func() Retention
	Followers []Follower
	// Outbox reports whether what is stored is put into the journal's outbox, too; nil: no.
	Outbox func() bool
}

// Follower receives what was stored, in order, from the goroutine that stores: after the
// answer, and before the next batch. A batch over which a daemon died comes again.
type Follower interface {
	Stored(batch []Observed)
	// Missed is called with the number of decisions since a moment that were lost, because
	// neither the disk nor memory had room for them. It comes before the next batch.
	Missed(decisions int64, since time.Time)
	// Retain is called now and then with how much of the journal is kept.
	Retain(keep Retention)
}

// Observed is an event, or what came of one, as it was stored: redacted. It holds for
// the call only.
type Observed struct {
	Event   *journal.Row  // nil where the journal doesn't have the event of Outcome
	Outcome *wire.Outcome // nil for an event
}

// New opens journal and intake. A recorder that can open neither works, and
// raises problems until they are repaired.
func New(o Options) *Recorder {
	if o.Deps.Redactor == nil {
		o.Deps.Redactor = redact.New()
	}
	x := newIndexer(o.Deps)
	s := &store{deps: o.Deps, late: o.Late, stored: func() { o.Stored(); x.wakeUp() }, deleted: x.forgetLater,
		followers: o.Followers, outbox: o.Outbox}
	if err := s.openJournal(); err != nil {
		s.reportTrouble(err)
	}
	r := &Recorder{deps: o.Deps, queue: &queue{}, indexer: x}
	var err error
	if r.intake, err = openIntake(o.Deps.Dirs.Intake()); err != nil {
		o.Deps.Problems.Raise("intake",
			fmt.Sprintf("events cannot be written down before they are answered: %v", err),
			"make room or repair "+o.Deps.Dirs.Intake()+"; decisions go on meanwhile")
	}
	r.drain = &drain{
		deps: o.Deps, intake: r.intake, queue: r.queue, store: s, listener: o.Listener, retention: o.Retention,
		wake: make(chan struct{}, 1), over: make(chan struct{}), caughtUp: make(chan struct{}),
	}
	r.drain.leftovers = leftovers{deps: o.Deps, intake: r.intake, store: r.drain.storeBatch}
	r.Reader = &Reader{journal: &s.journal, catalogue: o.Deps.Catalogue, caughtUp: r.drain.caughtUp, maxPage: maxPage,
		indexFile: indexPath(o.Deps.Dirs), maxUnindexed: maxUnindexed}
	x.reader = r.Reader
	return r
}

// Run fills the journal until Stop is called and everything is stored, or the
// journal is broken then. ctx is given to the listener.
func (r *Recorder) Run(ctx context.Context) {
	indexing, stop := context.WithCancel(ctx)
	var running services.Background
	running.Go(func() { r.indexer.run(indexing) })
	r.drain.runDrain(ctx, func() {
		stop()
		running.Wait(context.Background()) // it reads the journal, which is closed next
	})
}

// Stop lets Run end.
func (r *Recorder) Stop() { close(r.drain.over) }

// Close closes the log on disk.
func (r *Recorder) Close() { r.intake.close() }

// RecordEvent writes an event down: from here on it survives the death of the
// daemon. The drain is not woken; see Wake. With [services.ErrCrippled] the
// event is not taken at all.
func (r *Recorder) RecordEvent(id string, at time.Time, ev *event.Event, payload []byte) error {
	return r.putItem(eventItem(id, at, ev, payload))
}

// RecordOutcome writes down what came of an event.
func (r *Recorder) RecordOutcome(o *wire.Outcome) {
	one, err := outcomeItem(o)
	if err != nil {
		return
	}
	_ = r.putItem(one) // the event's own write reports a broken disk
}

func (r *Recorder) putItem(one item) error {
	number, onDisk, err := r.intake.append(&one.record)
	if isCrippling(err) {
		return fmt.Errorf("%w: %w", services.ErrCrippled, err)
	}
	one.segment = number
	switch {
	case r.queue.putItem(one):
	case onDisk:
		r.intake.markReread(number)
	case one.record.Type == spool.TypeDecision:
		r.drain.store.missed.add(one.record.Time)
	}
	return err
}

// isCrippling reports whether an error comes from a limit of this process (RLIMIT_FSIZE,
// RLIMIT_NOFILE), which another program may have lowered.
func isCrippling(err error) bool {
	return errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EMFILE)
}

// Wake lets the drain store what was recorded. It is called once the caller has
// its answer: sooner would only slow that down.
func (r *Recorder) Wake() { r.drain.wakeUp() }

// Writable reports whether events are written down before they are answered.
func (r *Recorder) Writable() bool { return r.intake.hasLog() }

// Undrained returns how many records are not in the journal yet: of this daemon, of
// earlier ones, and what hooks left while no daemon answered.
func (r *Recorder) Undrained() int {
	n := r.intake.undrained()
	for _, dir := range r.deps.Dirs.Spools() {
		if files, err := spool.Sweep(dir); err == nil {
			n += len(files) // one record each
		}
	}
	return n
}
