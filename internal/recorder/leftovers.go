package recorder

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
	"github.com/hookmux/hookmux/internal/services"
)

// leftovers stores files of records: what an earlier daemon acknowledged and did
// not get into the journal, and what hooks left while no daemon answered.
type leftovers struct {
	deps   services.Deps
	intake *intake
	// store writes a batch, again and again until it is in; false means that the daemon
	// stops. The note is on disk only while the batch is worked on.
	store func(batch []item, note *attempt) bool
}

// storeOldSegments stores what an earlier daemon left in the intake.
func (l *leftovers) storeOldSegments() {
	_, left := l.intake.listClosed()
	for _, s := range left {
		if !l.storeSegment(s) {
			return
		}
	}
}

// storeSegment stores a file of the intake and removes it, unless another daemon
// writes to it: that one stores it, and if it dies another look takes it. False
// means that the daemon ends.
func (l *leftovers) storeSegment(s spool.Segment) bool {
	release, ok := spool.Claim(s.Path)
	if !ok {
		return true
	}
	defer release()
	switch l.storeFile(s.Path) {
	case fileEnding:
		return false
	case fileStored:
		l.intake.removeSegment(s)
	}
	return true
}

// sweepSpool stores what hooks left while no daemon answered.
func (l *leftovers) sweepSpool() {
	for _, dir := range l.deps.Dirs.Spools() {
		files, err := spool.Sweep(dir)
		if err != nil {
			l.deps.Problems.Raise("spool:"+dir, "events that hooks left cannot be read: "+err.Error(),
				"repair "+dir)
			continue
		}
		if l.deps.Problems.Any() {
			l.deps.Problems.Clear("spool:" + dir)
		}
		for _, f := range files {
			switch l.storeFile(f.Path) {
			case fileEnding:
				return
			case fileStored:
				_ = os.Remove(f.Path)
			}
		}
	}
}

// fileResult says how storing a file went.
type fileResult int

const (
	fileStored fileResult = iota
	fileKept              // it could not be read, so it must not go: another look may do better
	fileEnding            // the daemon ends before it could be stored
)

// storeFile stores all records of a file. The first try goes in batches; if a
// daemon died over that, the next goes record by record and notes which one it
// is at, so that a record over which the daemon dies twice can be set aside.
func (l *leftovers) storeFile(path string) fileResult {
	records, skipped, err := spool.ReadFile(path)
	unread := "intake-read:" + path
	if files.IsNotPlainFile(err) {
		l.setFileAside(path, err)
		return fileKept
	}
	if err != nil {
		l.deps.Problems.Raise(unread, "written-down events cannot be read: "+err.Error(), "repair "+path)
		return fileKept
	}
	if l.deps.Problems.Any() {
		l.deps.Problems.Clear(unread)
	}
	if skipped > 0 {
		l.deps.Problems.Raise("intake-garbage",
			fmt.Sprintf("%s holds %d bytes that are no record; the rest was stored", path, skipped), "")
	}
	note := attempt{file: filepath.Join(l.deps.Dirs.Runtime, "attempt")}
	before := note.read()
	if before.path != path {
		for len(records) > 0 {
			n := min(len(records), batchItems)
			if !l.storeRecords(records[:n], note.with(path, "", 0)) {
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
			l.setAside(&records[i])
			continue
		}
		if !l.storeRecords(records[i:i+1], note.with(path, records[i].ID, tries)) {
			return fileEnding
		}
	}
	note.clear()
	return fileStored
}

// storeRecords stores records from a file. The note is on disk only while they are worked
// on: waiting for a broken journal is no reason to suspect them if the daemon ends
// meanwhile.
func (l *leftovers) storeRecords(records []spool.Record, note attempt) bool {
	batch := make([]item, len(records))
	for i := range records {
		batch[i] = item{record: records[i]}
	}
	return l.store(batch, &note)
}

// setFileAside moves aside whatever isn't a file of records.
func (l *leftovers) setFileAside(path string, why error) {
	aside, err := files.SetAside(path)
	if err != nil {
		l.deps.Problems.Raise("unfit:"+path, why.Error()+", and it cannot be set aside: "+err.Error(), "remove "+path)
		return
	}
	l.deps.Problems.Raise("unfit:"+path, why.Error()+"; it was set aside", "look at "+aside+", and remove it")
}

// setAside keeps a record that must not be tried again.
func (l *leftovers) setAside(rec *spool.Record) {
	dir := filepath.Join(l.deps.Dirs.State, "aside")
	err := spoolrecord.Leave(dir, rec)
	what := fmt.Sprintf("event %s of %s was set aside: the daemon died over it twice", rec.ID, rec.Agent)
	if err != nil {
		what += ", and it could not be kept: " + err.Error()
	}
	l.deps.Problems.Raise("aside:"+rec.ID, what, "please report it with the file in "+dir)
}

// maxTries is how often a daemon may die over one record.
const maxTries = 2

// attempt notes on disk what is being recovered.
type attempt struct {
	file     string
	path, id string
	tries    int
}

func (a attempt) read() attempt {
	b, err := files.Read(a.file, 64<<10)
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
	// Renamed into its place: a pipe at that path must not block us.
	_ = files.Write(a.file, []byte(a.path+"\n"+a.id+"\n"+strconv.Itoa(a.tries)+"\n"))
}

func (a attempt) clear() { _ = os.Remove(a.file) }
