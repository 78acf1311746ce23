package hub

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/recorder/spool"
)

// recover stores what an earlier hub acknowledged and did not get into the
// journal.
func (d *drain) recover() {
	_, left := d.intake.finished()
	for _, s := range left {
		if !d.storeSegment(s) {
			return
		}
	}
}

// storeSegment stores a file of the intake and removes it. False means that
// the hub ends.
func (d *drain) storeSegment(s spool.Segment) bool {
	switch d.storeFile(s.Path) {
	case fileEnding:
		return false
	case fileStored:
		d.intake.remove(s)
	}
	return true
}

// tidy deletes files whose records are all stored, and reads back those that
// were not handed over.
func (d *drain) tidy() {
	if d.intake.log == nil && !d.intake.reopen() {
		return
	}
	d.lookAtBook()
	d.intake.rest()
	gone, reread := d.intake.finished()
	for _, s := range gone {
		d.intake.remove(s)
	}
	if d.waiting() > 0 {
		return // memory first: what is read back comes after it
	}
	for _, s := range reread {
		if !d.storeSegment(s) {
			return
		}
	}
}

// sweepSpool stores what hooks left while no hub answered.
func (d *drain) sweepSpool() {
	for _, dir := range d.deps.Dirs.Spools() {
		files, err := spool.Sweep(dir)
		if err != nil {
			d.deps.Problems.Raise("spool:"+dir, "events that hooks left cannot be read: "+err.Error(), "repair "+dir)
			continue
		}
		if d.deps.Problems.Any() {
			d.deps.Problems.Mend("spool:" + dir)
		}
		for _, f := range files {
			switch d.storeFile(f.Path) {
			case fileEnding:
				return
			case fileStored:
				_ = os.Remove(f.Path)
			}
		}
	}
}

// fate is what became of a file that was to be stored.
type fate int

const (
	fileStored fate = iota
	fileKept        // it could not be read, so it must not go: another look may do better
	fileEnding      // the hub ends before it could be stored
)

// storeFile stores all records of a file. The first try goes in batches; if a
// hub died over that, the next goes record by record and notes which one it
// is at, so that a record over which the hub dies twice can be set aside.
func (d *drain) storeFile(path string) fate {
	records, skipped, err := spool.ReadFile(path)
	unread := "intake-read:" + path
	if err != nil {
		d.deps.Problems.Raise(unread, "written-down events cannot be read: "+err.Error(), "repair "+path)
		return fileKept
	}
	if d.deps.Problems.Any() {
		d.deps.Problems.Mend(unread)
	}
	if skipped > 0 {
		d.deps.Problems.Raise("intake-garbage", fmt.Sprintf("%s holds %d bytes that are no record; the rest was stored", path, skipped), "")
	}
	note := attempt{file: filepath.Join(d.deps.Dirs.Runtime, "attempt")}
	before := note.read()
	if before.path != path {
		for len(records) > 0 {
			n := min(len(records), batchItems)
			if !d.storeRecords(records[:n], note.with(path, "", 0)) {
				return fileEnding
			}
			records = records[n:]
		}
		return fileStored
	}
	for i := range records {
		tries := 1
		if before.id == records[i].ID {
			tries = before.tries + 1
		}
		if tries > maxTries {
			d.setAside(&records[i])
			continue
		}
		if !d.storeRecords(records[i:i+1], note.with(path, records[i].ID, tries)) {
			return fileEnding
		}
	}
	note.clear()
	return fileStored
}

// storeRecords stores records from a file. The note stands on disk only while
// they are worked on: waiting for a broken journal is no reason to suspect
// them if the hub ends meanwhile.
func (d *drain) storeRecords(records []spool.Record, note attempt) bool {
	batch := make([]drainItem, len(records))
	for i := range records {
		batch[i] = drainItem{record: records[i]}
	}
	return d.store(batch, &note)
}

// setAside keeps a record that must not be tried again.
func (d *drain) setAside(rec *spool.Record) {
	dir := filepath.Join(d.deps.Dirs.State, "aside")
	err := spool.Leave(dir, rec)
	what := fmt.Sprintf("event %s of %s was set aside: the hub died over it twice", rec.ID, rec.Agent)
	if err != nil {
		what += ", and it could not be kept: " + err.Error()
	}
	d.deps.Problems.Raise("aside:"+rec.ID, what, "please report it with the file in "+dir)
}

// maxTries is how often a hub may die over one record.
const maxTries = 2

// attempt notes on disk what is being recovered.
type attempt struct {
	file     string
	path, id string
	tries    int
}

func (a attempt) read() attempt {
	b, err := os.ReadFile(a.file)
	if err != nil {
		return a
	}
	lines := strings.Split(string(b), "\n")
	if len(lines) >= 3 {
		a.path, a.id = lines[0], lines[1]
		a.tries, _ = strconv.Atoi(lines[2])
	}
	return a
}

func (a attempt) with(path, id string, tries int) attempt {
	a.path, a.id, a.tries = path, id, tries
	return a
}

func (a attempt) write() {
	_ = os.WriteFile(a.file, []byte(a.path+"\n"+a.id+"\n"+strconv.Itoa(a.tries)+"\n"), 0o600)
}

func (a attempt) clear() { _ = os.Remove(a.file) }

// lookAtBook makes sure that the journal is still where it was: what was
// stored in a file somebody deleted is stored again, as far as it is still
// written down.
func (d *drain) lookAtBook() {
	j := d.book.Load()
	if j == nil {
		return
	}
	for _, p := range j.Problems() {
		d.deps.Problems.Raise("journal-broken", p.Text, "")
	}
	if j.Intact() {
		return
	}
	d.deps.Problems.Raise("journal-gone", j.Path()+" was deleted or replaced while the hub was running; a new journal was begun",
		"what was in the old one is gone with it")
	d.book.Store(nil)
	j.Close()
	d.intake.readBack()
	d.openJournal()
}
