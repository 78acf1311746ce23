package recorder

import (
	"slices"
	"sync"

	"github.com/hookmux/hookmux/internal/recorder/spool"
)

// intake is the log on disk: every event is written to it with one write(2)
// before it is answered. Nothing is read back from it unless a daemon died or the
// drain fell behind.
type intake struct {
	dir string
	log *spool.Log // nil when the folder cannot be written

	// writing is held by everybody between writing a record and counting it,
	// so that no file goes while a record in it is not counted yet.
	writing sync.RWMutex
	mu      sync.Mutex
	segs    map[uint64]*segment
	old     map[uint64]int // records in files of earlier daemons, which do not change
}

// segment counts one file of the log: it may go once everything in it is in
// the journal.
type segment struct {
	written, stored int
	reread          bool // some records were not handed over: read the file
}

// openIntake opens the log. With an error the intake works without one: events
// go to the journal through memory alone.
func openIntake(dir string) (*intake, error) {
	i := &intake{dir: dir, segs: map[uint64]*segment{}, old: map[uint64]int{}}
	var err error
	i.log, err = spool.OpenLog(dir)
	return i, err
}

// reopen tries again to have a log, once its folder may be repaired. Only the
// drain calls it.
func (i *intake) reopen() bool {
	log, err := spool.OpenLog(i.dir)
	if err != nil {
		return false
	}
	i.writing.Lock()
	i.log = log
	i.writing.Unlock()
	return true
}

// append writes a record and counts it. onDisk is false when there is no log.
func (i *intake) append(record *spool.Record) (number uint64, onDisk bool, err error) {
	i.writing.RLock()
	defer i.writing.RUnlock()
	if i.log == nil {
		return 0, false, nil
	}
	if number, err = i.log.Append(record); err != nil {
		return 0, false, err
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	seg := i.segs[number]
	if seg == nil {
		seg = &segment{}
		i.segs[number] = seg
	}
	seg.written++
	return number, true, nil
}

// markReread says that a record of a file did not fit into memory.
func (i *intake) markReread(number uint64) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if seg := i.segs[number]; seg != nil { // else it was read back just now
		seg.reread = true
	}
}

// hasLog reports whether there is a log to write to.
func (i *intake) hasLog() bool {
	i.writing.RLock()
	defer i.writing.RUnlock()
	return i.log != nil
}

// countStored counts records that are in the journal now.
func (i *intake) countStored(items []item) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for k := range items {
		if seg := i.segs[items[k].segment]; seg != nil {
			seg.stored++
		}
	}
}

// listClosed lists closed segments: those that may go, and those that must be
// read back.
func (i *intake) listClosed() (gone, reread []spool.Segment) {
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
			reread = append(reread, s) // of an earlier daemon, or not handed over
		case seg.stored == seg.written:
			gone = append(gone, s)
		}
	}
	return gone, reread
}

func (i *intake) removeSegment(s spool.Segment) {
	if err := i.log.Remove(s.N); err != nil {
		return
	}
	i.mu.Lock()
	delete(i.segs, s.N)
	i.mu.Unlock()
}

// rotate closes the current segment so that it can go when all is stored.
func (i *intake) rotate() {
	if i.log != nil {
		_ = i.log.Rotate()
	}
}

// undrained counts records that are not in the journal yet, also those that an
// earlier daemon left.
func (i *intake) undrained() int {
	left := i.leftSegments()
	i.mu.Lock()
	defer i.mu.Unlock()
	n := 0
	for _, s := range i.segs {
		n += s.written - s.stored
	}
	for _, s := range left {
		if i.segs[s.N] != nil {
			continue
		}
		count, known := i.old[s.N]
		if !known {
			records, _, err := spool.ReadFile(s.Path)
			if err != nil {
				continue // it may just have been stored and removed
			}
			count = len(records)
			i.old[s.N] = count
		}
		n += count
	}
	return n
}

// leftSegments lists the closed files of the log.
func (i *intake) leftSegments() []spool.Segment {
	i.writing.RLock()
	defer i.writing.RUnlock()
	if i.log == nil {
		return nil
	}
	list, err := i.log.Segments()
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(list, func(s spool.Segment) bool { return !s.Closed })
}

func (i *intake) close() {
	if i.log != nil {
		_ = i.log.Close()
	}
}

// rereadAll has everything that is still on disk stored again.
func (i *intake) rereadAll() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, seg := range i.segs {
		seg.reread = true
	}
}
