package recorder

import (
	"context"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/services"
)

// drain fills the journal behind the pipeline: from memory while all is well,
// from the files on disk after a death or when it fell behind. It is the only
// writer, and the id makes every event arrive once.
type drain struct {
	deps      services.Deps
	intake    *intake
	queue     *queue
	store     *store
	leftovers leftovers
	listener  Listener
	retention func() Retention

	wake chan struct{}
	hot  atomic.Bool // events are coming, and it looks by the clock
	over chan struct{}
	// caughtUp is closed once what earlier daemons and hooks left is stored.
	caughtUp chan struct{}
}

// Listener is notified of what the drain does.
type Listener interface {
	// CaughtUp is called once, when everything on disk is in the journal.
	CaughtUp(ctx context.Context)
}

const (
	// gather is how long a busy drain lets events come together: one commit
	// for many costs a fraction of one commit each.
	gather = 4 * time.Millisecond
	// gatherMore is how long when many come: no viewer can read that fast anyway.
	gatherMore = 10 * time.Millisecond
	manyCome   = 32
	// idleRounds is how many looks without an event end that.
	idleRounds = 60
	// muchPassed is after how many events memory is given back when it is
	// quiet again.
	muchPassed = 4096
	// restAfter is how long it must be quiet before files are tidied up.
	restAfter = 200 * time.Millisecond
	// sweepEvery is how often the spool is looked at while hooks keep coming.
	sweepEvery  = 2 * time.Second
	retainEvery = time.Hour
	// longestRetry is how long a broken journal is left alone between two
	// tries. On a full disk events are in memory alone until it works again.
	longestRetry = 500 * time.Millisecond
)

// wakeUp lets the drain know that there is something to store.
func (d *drain) wakeUp() {
	if d.hot.Load() {
		return
	}
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// runDrain stores what comes until stop is called. ending is called before the journal
// is closed.
func (d *drain) runDrain(ctx context.Context, ending func()) {
	defer d.store.close()
	defer ending()
	d.leftovers.storeOldSegments()
	d.leftovers.sweepSpool()
	close(d.caughtUp)
	d.listener.CaughtUp(ctx)
	var (
		batch    []item
		idle     int // rounds without an event
		came     int // events of the last round
		passed   int // events since memory was given back
		swept    = time.Now()
		retained time.Time
		rest     = time.NewTimer(restAfter)
	)
	defer rest.Stop()
	tidy := func() {
		d.tidyFiles()
		d.leftovers.sweepSpool()
		swept = time.Now()
		if swept.Sub(retained) > retainEvery {
			d.store.retain(d.retention())
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
					d.freeMemory()
					passed = 0
				}
				select {
				case <-d.wake:
				case <-time.After(sweepEvery):
					continue
				case <-d.over:
					d.storeRest()
					return
				}
			case <-d.over:
				d.storeRest()
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
		if services.Pause(span, d.over) {
			d.storeRest()
			return
		}
		came = 0
		for full := true; full; {
			batch = d.queue.takeBatch(batch[:0])
			full = len(batch) == batchItems
			if len(batch) == 0 {
				break
			}
			idle = 0
			passed += len(batch)
			came += len(batch)
			if !d.storeBatch(batch, nil) {
				return // the daemon ends while the journal is broken: the files keep it all
			}
		}
		if idle++; idle > idleRounds {
			d.hot.Store(false)
			if d.queue.waiting() > 0 {
				d.hot.Store(true) // it came in between
			}
		}
		if time.Since(swept) > sweepEvery {
			tidy()
		}
	}
}

// freeMemory gives memory back when it is quiet after many events.
func (d *drain) freeMemory() {
	d.store.freeBuffers()
	debug.FreeOSMemory()
}

// storeRest stores what is left when the daemon ends.
func (d *drain) storeRest() {
	for {
		batch := d.queue.takeBatch(nil)
		if len(batch) == 0 {
			break
		}
		if !d.storeBatch(batch, nil) {
			return
		}
	}
	d.tidyFiles()
}

// storeBatch writes a batch, again and again until it is in or the daemon ends. What
// comes from a file has a note of it.
func (d *drain) storeBatch(batch []item, note *attempt) bool {
	wait := 50 * time.Millisecond
	clearNote := func() {
		if note != nil {
			note.clear()
		}
	}
	for {
		if note != nil {
			note.write()
		}
		err := d.openJournal()
		if err == nil {
			err = d.store.writeBatch(batch, clearNote)
		}
		if err != nil {
			clearNote()
		}
		if err == nil {
			d.deps.Problems.Clear("journal")
			d.deps.Problems.Clear("state")
			break
		}
		d.store.reportTrouble(err)
		select {
		case <-d.over:
			return false
		case <-time.After(wait):
		}
		wait = min(2*wait, longestRetry)
	}
	if note == nil {
		d.intake.countStored(batch)
		d.queue.releaseBatch(batch)
	}
	return true
}

// openJournal opens the journal where it is not open. Whatever took it away may have
// taken the intake's folder as well, so the next event goes to a file that is in its
// place: a journal that stores again promises that nothing is lost from here on.
func (d *drain) openJournal() error {
	if d.store.journal.Load() != nil {
		return nil
	}
	err := d.store.openJournal()
	if err == nil {
		d.intake.rotate()
	}
	return err
}

// tidyFiles deletes files whose records are all stored, and reads back those that
// were not handed over.
func (d *drain) tidyFiles() {
	if !d.intake.hasLog() {
		if !d.intake.reopen() {
			return
		}
		d.deps.Problems.Clear("intake")
	}
	if !d.store.checkJournal() {
		d.intake.rereadAll()
	}
	d.intake.rotate()
	gone, reread := d.intake.listClosed()
	for _, s := range gone {
		d.intake.removeSegment(s)
	}
	if d.queue.waiting() > 0 {
		return // memory first: what is read back comes after it
	}
	for _, s := range reread {
		if !d.leftovers.storeSegment(s) {
			return
		}
	}
}
