//go:build linux

package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/recorder/spool"
)

// acknowledged is the ids of events that a daemon acknowledged: each must be in the
// journal, once.
type acknowledged struct {
	mu    sync.Mutex
	acked map[string]time.Time
	total int
	lost  int // events that a fault itself destroyed
}

func newAcknowledged() *acknowledged { return &acknowledged{acked: map[string]time.Time{}} }

func (b *acknowledged) noteAcknowledged(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.acked[id] = time.Now()
	b.total++
}

// writeOff forgets events that a fault destroyed.
func (b *acknowledged) writeOff(ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if _, ok := b.acked[id]; ok {
			delete(b.acked, id)
			b.lost++
		}
	}
}

// writeOffAll forgets everything that was acknowledged so far.
func (b *acknowledged) writeOffAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lost += len(b.acked)
	clear(b.acked)
}

// storeTime is how long a daemon may take to store everything when there are no calls.
const storeTime = 2 * time.Minute

// checkJournal pauses the load, has everything stored, ends the daemon and
// compares the journal with what was acknowledged.
func (w *world) checkJournal() {
	resume := w.load.pause()
	defer resume()
	if _, ok := waitUntil(storeTime, w.everythingStored); !ok {
		w.fail("events are left in intake and spool", "none", strings.Join(w.leftRecords(), ", "))
	}
	w.signalDaemon(syscall.SIGTERM)
	if _, ok := waitUntil(time.Minute, func() bool { return !daemonstart.DaemonHoldsLock(w.Dirs) }); !ok {
		w.fail("a daemon that was told to end", "ends", "it runs on")
		w.endDaemons()
	}
	if err := w.compareJournal(); err != nil {
		w.fail("the journal", "can be read", err.Error())
	}
}

// everythingStored reports whether no record waits outside the journal. It
// keeps a daemon running that stores them.
func (w *world) everythingStored() bool {
	if !w.daemonAnswers() {
		w.load.makeOne(false)
		return false
	}
	return len(w.leftRecords()) == 0
}

// leftRecords lists the records in intake and spool.
func (w *world) leftRecords() []string {
	var left []string
	for _, dir := range append(w.Dirs.Spools(), w.Dirs.Intake()) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := e.Name()
			if !e.Type().IsRegular() || !strings.HasSuffix(name, ".rec") && !strings.HasSuffix(name, ".log") {
				continue
			}
			if records, _, err := spool.ReadFile(dir + "/" + name); err != nil || len(records) > 0 {
				left = append(left, dir+"/"+name)
			}
		}
	}
	return left
}

// isStored reports whether an event is in the journal, while a daemon writes it.
func (w *world) isStored(id string) bool {
	db, err := sql.Open("sqlite", "file:"+w.stateFile("journal.db")+"?mode=ro")
	if err != nil {
		return false
	}
	defer db.Close()
	n := 0
	return db.QueryRow("SELECT count(*) FROM events WHERE id = ?", id).Scan(&n) == nil && n == 1
}

func (w *world) compareJournal() error {
	j, err := journal.Open(w.stateFile("journal.db"), journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	rows := map[string]int{}
	for event, err := range j.Query(context.Background(), journal.Filter{}) {
		if err != nil { // part of it is damaged: what was acknowledged must be found all the same
			clear(rows)
			break
		}
		rows[event.ID]++
	}
	w.acknowledged.mu.Lock()
	defer w.acknowledged.mu.Unlock()
	for id := range w.acknowledged.acked {
		if rows[id] > 0 {
			continue
		}
		if _, found, err := j.Get(context.Background(), id); err == nil && found {
			rows[id] = 1
		}
	}
	var missing, doubled []string
	for id := range w.acknowledged.acked {
		if rows[id] == 0 {
			missing = append(missing, id)
		}
	}
	for id, n := range rows {
		if n > 1 || !strings.HasPrefix(id, callPrefix) && !strings.HasPrefix(id, clientPrefix) {
			doubled = append(doubled, fmt.Sprintf("%s (%d rows)", id, n))
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		w.fail("acknowledged events", "all in the journal",
			fmt.Sprintf("%d of %d are missing: %s", len(missing), len(w.acknowledged.acked),
				w.acknowledged.describeMissing(missing)))
	}
	if len(doubled) > 0 {
		w.fail("events in the journal", "each once, under the id of its call", strings.Join(doubled, ", "))
	}
	return nil
}

// describeMissing names some events and when they were acknowledged. The
// caller holds the lock.
func (b *acknowledged) describeMissing(ids []string) string {
	var words []string
	for _, id := range ids[:min(len(ids), 8)] {
		words = append(words, id+" at "+b.acked[id].Format("15:04:05.000"))
	}
	return strings.Join(words, ", ")
}
