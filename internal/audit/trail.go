package audit

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Trail writes the trail. One goroutine uses it.
type Trail struct {
	dirs    paths.Dirs
	now     func() time.Time
	problem func(what, fix string) // why it can't be written; "" says that it is over
	changed func(what, fix string) // called when it was changed

	open  bool
	key   ed25519.PrivateKey
	state state
	heads []head // files that exist, oldest first, without the one that is written
	dirty bool   // state is on disk, and the files may lack what it adds
	seen  bounded.Map[string, decided]

	missed      int64 // decisions that could not be written
	missedSince time.Time
}

// decided holds what the trail says about an event.
type decided struct {
	seq    int64
	digest string
}

// keepSeen is how many events are remembered, so that none is in the trail twice.
const keepSeen = 16 << 10

// New returns a trail, which is opened with the first record.
func New(dirs paths.Dirs, now func() time.Time, problem, changed func(what, fix string)) *Trail {
	return &Trail{dirs: dirs, now: now, problem: problem, changed: changed}
}

func (t *Trail) path(name string) string { return filepath.Join(t.dirs.State, folder, name) }

// Append adds records; their Seq and Prev are filled in. What was decided in the same way
// about the same event is not added again. What can't be written is counted, and the
// next record that can be is a gap that says so.
func (t *Trail) Append(records []Record) {
	if len(records) == 0 {
		return
	}
	if err := t.append(records); err != nil {
		if t.missed == 0 {
			t.missedSince = t.now()
		}
		t.missed += int64(len(records))
		t.problem(fmt.Sprintf("decisions aren't added to the audit trail (%d so far): %v", t.missed, err),
			"make room or repair "+t.path("")+"; decisions go on, and the trail will show the gap")
		return
	}
	t.problem("", "")
}

// NoteMissed records decisions that were lost before they got here. The next record comes after a
// gap that says so.
func (t *Trail) NoteMissed(decisions int64, since time.Time) {
	if t.missed == 0 {
		t.missedSince = since
	}
	t.missed += decisions
}

func (t *Trail) append(records []Record) error {
	begun, err := t.makeReady()
	if err != nil {
		return err
	}
	batch := make([]Record, 0, len(records)+2)
	if begun != nil {
		batch = append(batch, *begun)
	}
	if t.missed > 0 {
		batch = append(batch, Record{Type: TypeGap, Time: t.now().UTC(), Gap: &Gap{Reason: "the trail couldn't be written",
			Missed: t.missed, From: t.missedSince.UTC()}})
	}
	for i := range records {
		if r := records[i]; t.isNew(&r, batch) {
			batch = append(batch, r)
		}
	}
	if len(batch) == 0 {
		return nil
	}
	if err := t.commit(batch); err != nil {
		return err
	}
	t.missed = 0
	return nil
}

// isNew reports whether the trail lacks a record, and notes which one it replaces.
func (t *Trail) isNew(r *Record, batch []Record) bool {
	if r.Event == nil || r.Event.ID == "" {
		return true
	}
	digest := digestOf(r)
	for i := range batch { // seldom more than a few
		if b := &batch[i]; b.Event != nil && b.Event.ID == r.Event.ID && digestOf(b) == digest {
			return false
		}
	}
	before, known := t.seen.Get(r.Event.ID)
	if known && before.digest == digest {
		return false
	}
	r.Replaces = before.seq
	return true
}

// digestOf returns what was decided, without when.
func digestOf(r *Record) string {
	b, _ := json.Marshal([]string{r.Type, r.Verdict, r.By, r.Reason, string(r.Decision), string(r.Note)})
	return sum(b)[:16]
}

// makeReady opens the trail, or checks whether it is still as it was left. If it was changed, it is
// put aside and begun again, with the record that says so.
func (t *Trail) makeReady() (begun *Record, err error) {
	if t.open && !t.dirty {
		why := t.isChanged()
		if why == "" {
			return nil, nil
		}
		return t.beginAgain(why)
	}
	if t.open {
		return nil, t.finish()
	}
	if t.key, err = loadKey(t.dirs); err != nil {
		return nil, err
	}
	known, err := readPublic(t.dirs)
	if err != nil {
		return t.beginAgain(err.Error())
	}
	names, err := listFiles(t.path(""))
	if err != nil {
		return nil, err
	}
	if known == nil && !isBegun(names) {
		return nil, t.begin()
	}
	line, err := readHead(t.path(""))
	switch {
	case err == nil && line == nil:
		return t.beginAgain(t.path(headFile) + " is missing")
	case errors.Is(err, files.ErrNotRegular), errors.Is(err, files.ErrTooLarge):
		return t.beginAgain(err.Error())
	case err != nil:
		return nil, err
	case !publicKey(t.key).Equal(known):
		return t.beginAgain("its key was replaced")
	}
	if err := readSigned(known, string(line), &t.state); err != nil {
		return t.beginAgain(t.path(headFile) + ": " + err.Error())
	}
	if why := t.load(); why != "" {
		return t.beginAgain(why)
	}
	t.open = true
	return nil, t.finish()
}

// begin creates the folder, an empty trail in it, and then the marker: if there is a marker, a missing
// head.json was deleted, and not cut off by a crash.
func (t *Trail) begin() error {
	if err := os.MkdirAll(t.path(""), 0o700); err != nil {
		return err
	}
	line, err := sign(t.key, state{})
	if err != nil {
		return err
	}
	if err := files.WriteSynced(t.path(headFile), line); err != nil {
		return err
	}
	if err := writePublic(t.dirs, publicKey(t.key)); err != nil {
		return err
	}
	t.state, t.heads, t.open, t.dirty = state{}, nil, true, false
	return nil
}

// isBegun reports whether a folder without a marker has more in it than begin puts there
// before it writes one.
func isBegun(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return name != headFile && !strings.HasPrefix(name, ".") // a dot: being written
	})
}

// beginAgain puts the trail aside, and begins another with a record that says so.
func (t *Trail) beginAgain(why string) (*Record, error) {
	t.open = false
	where := "nothing is left of it"
	if _, err := os.Lstat(t.path("")); err == nil {
		to := filepath.Join(t.dirs.State, aside+t.now().UTC().Format("20060102T150405.000000"))
		if err := os.Rename(t.path(""), to); err != nil {
			return nil, err
		}
		where = "it is in " + to
	}
	if err := t.begin(); err != nil {
		return nil, err
	}
	t.changed("the audit trail was changed: "+why+"; "+where+", and another one was begun", "hookmux audit verify")
	return &Record{Type: TypeGap, Time: t.now().UTC(),
		Gap: &Gap{Reason: "the trail before this one was changed: " + why + "; " + where}}, nil
}

// load reads what the writer has to know, and returns why the trail doesn't fit.
func (t *Trail) load() (why string) {
	rep := &check{dir: t.path(""), key: publicKey(t.key), state: t.state}
	t.heads = nil
	if bad := rep.readHeads(); bad != nil {
		return bad.Error()
	}
	t.heads = rep.files
	t.seen.Clear()
	list := append([]head(nil), t.heads[max(0, len(t.heads)-1):]...)
	if t.state.File != "" {
		list = append(list, head{File: t.state.File, First: t.state.First, Last: t.state.Seq, Before: t.state.Before,
			Hash: t.state.Hash})
	}
	for _, f := range list {
		if bad := rep.readFile(f, t.note); bad != nil {
			return bad.Error()
		}
	}
	return ""
}

func (t *Trail) note(r *Record, _ string) {
	if r.Event != nil {
		t.seen.Put(r.Event.ID, decided{r.Seq, digestOf(r)}, keepSeen)
	}
}

// isChanged compares the lengths of the files with what was written.
func (t *Trail) isChanged() string {
	for _, one := range []struct {
		name string
		size int64
	}{
		{t.state.File, t.state.At + int64(len(t.state.Lines))}, {headsFile, t.state.HeadsAt + int64(len(t.state.HeadLines))},
	} {
		if one.name == "" || one.size == 0 {
			continue
		}
		info, err := os.Lstat(t.path(one.name))
		if err != nil {
			return err.Error()
		}
		if !info.Mode().IsRegular() || info.Size() != one.size {
			return fmt.Sprintf("%s has %d bytes; %d were written", t.path(one.name), info.Size(), one.size)
		}
	}
	if t.state.Seq > 0 {
		if _, err := os.Lstat(t.path(headFile)); err != nil {
			return err.Error()
		}
	}
	return ""
}

// commit chains records and writes them.
func (t *Trail) commit(batch []Record) error {
	next := t.state
	next.settle()
	day := t.now().UTC().Format(time.DateOnly)
	if next.File != "" && !strings.HasPrefix(next.File, day) {
		if err := t.endFile(&next); err != nil {
			return err
		}
	}
	if next.File == "" {
		next.File = fmt.Sprintf("%s.%012d.jsonl", day, next.Seq+1)
		next.First, next.Before, next.At = next.Seq+1, next.Hash, 0
	}
	var lines []byte
	var err error
	for i := range batch {
		r := &batch[i]
		r.Seq, r.Prev = next.Seq+1, next.Hash
		if lines, next.Hash, err = appendLine(lines, r); err != nil {
			return err
		}
		next.Seq++
	}
	next.Lines = string(lines)
	if err := t.replaceState(next); err != nil {
		return err
	}
	for i := range batch {
		t.note(&batch[i], "")
	}
	return t.finish()
}

// settle adopts what the last change added.
func (s *state) settle() {
	s.At, s.Lines = s.At+int64(len(s.Lines)), ""
	s.HeadsAt, s.HeadLines = s.HeadsAt+int64(len(s.HeadLines)), ""
}

// endFile signs the end of the file that is being written.
func (t *Trail) endFile(s *state) error {
	one := head{File: s.File, First: s.First, Last: s.Seq, Before: s.Before, Hash: s.Hash}
	if err := t.addHead(s, one); err != nil {
		return err
	}
	s.File, s.At = "", 0
	return nil
}

func (t *Trail) addHead(s *state, one head) error {
	one.N, one.Prev = s.Heads+1, s.HeadsHash
	line, err := sign(t.key, one)
	if err != nil {
		return err
	}
	s.HeadLines += string(line)
	s.Heads, s.HeadsHash = one.N, sum(line)
	return nil
}

// replaceState writes head.json: from here on the change is made, whatever happens.
func (t *Trail) replaceState(next state) error {
	line, err := sign(t.key, next)
	if err != nil {
		return err
	}
	if err := files.Write(t.path(headFile), line); err != nil {
		return err
	}
	if ended := t.state.File; ended != "" && next.File != ended {
		t.heads = append(t.heads, head{File: ended, First: t.state.First, Last: t.state.Seq, Before: t.state.Before,
			Hash: t.state.Hash})
	}
	t.state, t.dirty = next, true
	return nil
}

// finish adds to the files what head.json says.
func (t *Trail) finish() error {
	for _, one := range []struct {
		name, lines string
		at          int64
	}{{headsFile, t.state.HeadLines, t.state.HeadsAt}, {t.state.File, t.state.Lines, t.state.At}} {
		if one.lines == "" {
			continue
		}
		f, err := os.OpenFile(t.path(one.name), os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = f.WriteAt([]byte(one.lines), one.at)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return err
		}
	}
	t.dirty = false
	return nil
}

// Retain removes the files of days that ended before a moment. Their signed ends stay.
func (t *Trail) Retain(before time.Time) {
	if _, err := os.Lstat(t.path("")); err != nil {
		return // there is none yet
	}
	if begun, err := t.makeReady(); err != nil || begun != nil {
		if begun != nil {
			_ = t.commit([]Record{*begun})
		}
		return
	}
	day := before.UTC().Format(time.DateOnly)
	next, keep := t.state, t.heads
	next.settle()
	var gone []head
	for len(keep) > 0 && keep[0].File[:len(day)] < day {
		gone, keep = append(gone, keep[0]), keep[1:]
		old := gone[len(gone)-1]
		old.Removed = true
		if t.addHead(&next, old) != nil {
			return
		}
	}
	if len(gone) == 0 || t.replaceState(next) != nil {
		return
	}
	t.heads = keep
	if t.finish() == nil {
		for _, one := range gone {
			_ = os.Remove(t.path(one.File))
		}
	}
}
