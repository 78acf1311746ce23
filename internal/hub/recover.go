package hub

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/spool"
)

// recover stores what an earlier hub acknowledged and did not get into the
// journal.
func (d *drain) recover() {
	_, left := d.intake.finished()
	for _, s := range left {
		if !d.storeFile(s.Path) {
			return
		}
		d.intake.remove(s)
	}
}

// tidy deletes files whose records are all stored, and reads back those that
// were not handed over.
func (d *drain) tidy() {
	if d.intake.log == nil {
		return
	}
	d.intake.rest()
	gone, reread := d.intake.finished()
	for _, s := range gone {
		d.intake.remove(s)
	}
	if len(d.queue) > 0 {
		return // memory first: what is read back comes after it
	}
	for _, s := range reread {
		if !d.storeFile(s.Path) {
			return
		}
		d.intake.remove(s)
	}
}

// sweepSpool stores what hooks left while no hub answered.
func (d *drain) sweepSpool() {
	for _, dir := range d.hub.dirs.Spools() {
		files, err := spool.Sweep(dir)
		if err != nil {
			d.hub.problems.raise("spool", "events that hooks left cannot be read: "+err.Error(), "repair "+dir)
			continue
		}
		for _, f := range files {
			if !d.storeFile(f.Path) {
				return
			}
			_ = os.Remove(f.Path)
		}
	}
}

// storeFile stores all records of a file. The first try goes in batches; if a
// hub died over that, the next goes record by record and notes which one it
// is at, so that a record over which the hub dies twice can be set aside.
func (d *drain) storeFile(path string) bool {
	records, skipped, err := spool.ReadFile(path)
	if err != nil {
		d.hub.problems.raise("intake-read", "written-down events cannot be read: "+err.Error(), "repair "+path)
		return true // nothing to be had from it; it stays where it is
	}
	if skipped > 0 {
		d.hub.problems.raise("intake-garbage", fmt.Sprintf("%s holds %d bytes that are no record; the rest was stored", path, skipped), "")
	}
	note := attempt{file: filepath.Join(d.hub.dirs.Runtime, "attempt")}
	before := note.read()
	if before.path != path {
		note.write(path, "", 0)
		for len(records) > 0 {
			n := min(len(records), batchItems)
			if !d.storeRecords(records[:n]) {
				return false
			}
			records = records[n:]
		}
		note.clear()
		return true
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
		note.write(path, records[i].ID, tries)
		if !d.storeRecords(records[i : i+1]) {
			return false
		}
	}
	note.clear()
	return true
}

func (d *drain) storeRecords(records []spool.Record) bool {
	batch := make([]drainItem, len(records))
	for i := range records {
		batch[i] = drainItem{record: records[i]}
	}
	return d.store(batch, false)
}

// setAside keeps a record that must not be tried again.
func (d *drain) setAside(rec *spool.Record) {
	dir := filepath.Join(d.hub.dirs.State, "aside")
	err := spool.Leave(dir, rec)
	what := fmt.Sprintf("event %s of %s was set aside: the hub died over it twice", rec.ID, rec.Agent)
	if err != nil {
		what += ", and it could not be kept: " + err.Error()
	}
	d.hub.problems.raise("aside:"+rec.ID, what, "please report it with the file in "+dir)
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

func (a attempt) write(path, id string, tries int) {
	_ = os.WriteFile(a.file, []byte(path+"\n"+id+"\n"+strconv.Itoa(tries)+"\n"), 0o600)
}

func (a attempt) clear() { _ = os.Remove(a.file) }
