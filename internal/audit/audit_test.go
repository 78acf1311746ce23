//go:build unix

package audit

import (
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

type bench struct {
	dirs     paths.Dirs
	at       time.Time
	problems []string
	changes  []string
	trail    *Trail
}

func newBench(root string) *bench {
	b := &bench{dirs: paths.Dirs{State: filepath.Join(root, "state"), Data: filepath.Join(root, "data")},
		at: time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)}
	if err := os.MkdirAll(b.dirs.State, 0o700); err != nil {
		panic(err)
	}
	b.restart()
	return b
}

// restart starts the next daemon.
func (b *bench) restart() {
	b.trail = New(b.dirs, func() time.Time { return b.at }, func(what, _ string) {
		if what != "" {
			b.problems = append(b.problems, what)
		}
	}, func(what, _ string) { b.changes = append(b.changes, what) })
}

func decision(id, verdict string) Record {
	return Record{Type: TypeDecision, Time: time.Date(2026, 11, 18, 1, 2, 3, 0, time.UTC), Verdict: verdict, By: "guard.destructive",
		Reason: "a “reason” with \u202e and \u009b", Event: &Event{ID: id, Agent: "claude", Tool: "Bash", Session: "s1", Cwd: "/p"},
		Decision: json.RawMessage(`{"verdict":"` + verdict + `"}`)}
}

// fill writes three days of two batches each.
func (b *bench) fill() {
	for day := range 3 {
		for batch := range 2 {
			b.trail.Append([]Record{decision(fmt.Sprintf("e%d-%d-a", day, batch), "deny"), decision(fmt.Sprintf("e%d-%d-b", day, batch), "allow")})
		}
		b.at = b.at.AddDate(0, 0, 1)
	}
}

func (b *bench) verify(t interface{ Fatalf(string, ...any) }) *Report {
	rep, err := Verify(b.dirs, nil)
	if err != nil {
		t.Fatalf("Verify: %v", err)
	}
	return rep
}

func (b *bench) ids(t *testing.T) (ids []string) {
	t.Helper()
	if _, err := Verify(b.dirs, func(r *Record, _ string) {
		switch {
		case r.Event != nil:
			ids = append(ids, r.Event.ID)
		default:
			ids = append(ids, r.Type)
		}
	}); err != nil {
		t.Fatal(err)
	}
	return ids
}

func TestTrailFits(t *testing.T) {
	b := newBench(t.TempDir())
	if rep := b.verify(t); rep.Problem != nil || rep.Records != 0 {
		t.Errorf("before the first decision: %+v", rep)
	}
	b.fill()
	b.restart() // a new daemon goes on
	b.trail.Append([]Record{decision("last", "ask")})
	rep := b.verify(t)
	if rep.Problem != nil || rep.Records != 13 || rep.Files != 4 || rep.Seq != 13 || len(rep.Gaps) != 0 || len(b.problems) != 0 {
		t.Errorf("report %+v, problem %v, problems %q; want 13 records in 4 files that fit", rep, rep.Problem, b.problems)
	}
	files, _ := filepath.Glob(filepath.Join(b.dirs.State, "audit", "*.jsonl"))
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if !json.Valid([]byte(line)) || strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e || r < 0x20 && r != '\n' }) {
				t.Errorf("%s: want lines of JSON in printable ASCII, got %q", f, line)
			}
		}
		if info, _ := os.Stat(f); info.Mode().Perm() != 0o600 {
			t.Errorf("%s: mode %v, want 0600", f, info.Mode())
		}
	}
}

// The same decision about the same call is in the trail once, however often it arrives:
// after a crash the journal's intake is read again, and the agent asks the next daemon.
func TestEachDecisionOnce(t *testing.T) {
	b := newBench(t.TempDir())
	b.trail.Append([]Record{decision("e1", "deny"), decision("e1", "deny")})
	b.trail.Append([]Record{decision("e1", "deny"), decision("e2", "allow")})
	b.at = b.at.AddDate(0, 0, 1) // past midnight, too
	b.restart()
	b.trail.Append([]Record{decision("e2", "allow"), decision("e1", "deny"), decision("e3", "none")})
	if got := b.ids(t); !slices.Equal(got, []string{"e1", "e2", "e3"}) {
		t.Errorf("records %q; want each once", got)
	}
	// Decided differently the second time: both are true, and the later says so.
	b.restart()
	b.trail.Append([]Record{decision("e2", "deny")})
	var replaces int64
	if _, err := Verify(b.dirs, func(r *Record, _ string) { replaces = r.Replaces }); err != nil || replaces != 2 {
		t.Errorf("the last record replaces %d, error %v; want 2", replaces, err)
	}
	if rep := b.verify(t); rep.Problem != nil {
		t.Error(rep.Problem)
	}
}

// A daemon may die between any two writes.
func TestCrashBetweenWrites(t *testing.T) {
	for cut := range 3 {
		b := newBench(t.TempDir())
		b.fill() // the next record begins a new day: heads.jsonl and a new file
		b.trail.makeReady()
		next := b.trail.state
		next.settle()
		if err := b.trail.endFile(&next); err != nil {
			t.Fatal(err)
		}
		r := decision("cut", "deny")
		next.File, next.First, next.Before = "2026-11-21.000000000013.jsonl", 13, next.Hash
		r.Seq, r.Prev = 13, next.Hash
		line, hash, _ := appendLine(nil, &r)
		next.Seq, next.Hash, next.Lines = 13, hash, string(line)
		if err := b.trail.replaceState(next); err != nil {
			t.Fatal(err)
		}
		if cut > 0 { // half of the line in heads.jsonl
			f, _ := os.OpenFile(b.trail.path(headsFile), os.O_WRONLY|os.O_CREATE, 0o600)
			f.WriteAt([]byte(next.HeadLines[:40*cut]), next.HeadsAt)
			f.Close()
		}
		if cut > 1 {
			f, _ := os.OpenFile(b.trail.path(next.File), os.O_WRONLY|os.O_CREATE, 0o600)
			f.WriteAt(line[:20], 0)
			f.Close()
		}
		if rep := b.verify(t); rep.Problem != nil || rep.Records != 13 {
			t.Errorf("cut %d: %d records, %v; want 13 that fit", cut, rep.Records, rep.Problem)
		}
		b.restart()
		b.trail.Append([]Record{decision("cut", "deny"), decision("after", "deny")})
		if rep := b.verify(t); rep.Problem != nil || rep.Records != 14 || len(rep.Gaps) != 0 {
			t.Errorf("cut %d, next daemon: %d records, %v; want 14 that fit", cut, rep.Records, rep.Problem)
		}
	}
}

// A daemon that is killed while it begins the trail leaves nothing that looks like a
// deleted one.
func TestCrashWhileBeginning(t *testing.T) {
	for name, cut := range map[string]func(b *bench){
		"before head.json": func(b *bench) {
			os.Remove(b.trail.path(headFile))
			os.Remove(filepath.Join(b.dirs.Data, markerFile))
		},
		"within head.json": func(b *bench) {
			os.Rename(b.trail.path(headFile), b.trail.path(".temp"))
			os.Remove(filepath.Join(b.dirs.Data, markerFile))
		},
		"before the marker":       func(b *bench) { os.Remove(filepath.Join(b.dirs.Data, markerFile)) },
		"before the first record": func(*bench) {},
	} {
		b := newBench(t.TempDir())
		if begun, err := b.trail.makeReady(); err != nil || begun != nil {
			t.Fatalf("%s: %+v, error %v", name, begun, err)
		}
		cut(b)
		if rep := b.verify(t); rep.Problem != nil || rep.Records != 0 {
			t.Errorf("%s: %d records, %v; want an empty trail that fits", name, rep.Records, rep.Problem)
		}
		b.restart()
		b.trail.Append([]Record{decision("e1", "deny")})
		if rep := b.verify(t); rep.Problem != nil || rep.Records != 1 || len(rep.Gaps) != 0 || len(b.changes) != 0 {
			t.Errorf("%s, next daemon: %d records, %v, changes %q; want one that fits", name, rep.Records, rep.Problem, b.changes)
		}
	}
}

// What couldn't be written is marked as soon as something can be.
func TestGapOfAFullDisk(t *testing.T) {
	b := newBench(t.TempDir())
	b.trail.Append([]Record{decision("e1", "deny")})
	// As good as full: neither head.json nor a temporary file can be made there.
	dir := filepath.Join(b.dirs.State, "audit")
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	blocked := filepath.Join(b.dirs.State, aside+b.at.UTC().Format("20060102T150405.000000"))
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil { // it can't be put aside either
		t.Fatal(err)
	}
	b.trail.Append([]Record{decision("e2", "deny"), decision("e3", "deny")})
	b.trail.Append([]Record{decision("e4", "deny")})
	if len(b.problems) != 2 || !strings.Contains(b.problems[1], "3 so far") {
		t.Errorf("problems %q; want that three aren't in the trail", b.problems)
	}
	os.RemoveAll(blocked)
	os.Remove(dir)
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	b.trail.Append([]Record{decision("e5", "deny")})
	rep := b.verify(t)
	if rep.Problem != nil || len(rep.Gaps) != 1 || rep.Gaps[0].Missed != 3 {
		t.Errorf("report %+v, problem %v; want one gap of 3", rep, rep.Problem)
	}
	if got := b.ids(t); !slices.Equal(got, []string{"e1", "gap", "e5"}) {
		t.Errorf("records %q", got)
	}
}

// What was lost before it came to the trail is a gap, too.
func TestGapOfLostDecisions(t *testing.T) {
	b := newBench(t.TempDir())
	b.trail.Append([]Record{decision("e1", "deny")})
	b.trail.NoteMissed(2, b.at)
	b.trail.NoteMissed(3, b.at.Add(time.Minute))
	b.trail.Append([]Record{decision("e2", "deny")})
	rep := b.verify(t)
	if rep.Problem != nil || len(rep.Gaps) != 1 || rep.Gaps[0].Missed != 5 || !rep.Gaps[0].From.Equal(b.at) {
		t.Errorf("report %+v, problem %v; want one gap of 5 since %v", rep, rep.Problem, b.at)
	}
}

func TestRetentionKeepsSignedEnds(t *testing.T) {
	b := newBench(t.TempDir())
	b.fill()
	b.trail.Retain(time.Date(2026, 11, 19, 23, 0, 0, 0, time.UTC))
	b.trail.Append([]Record{decision("after", "deny")})
	rep := b.verify(t)
	if rep.Problem != nil || rep.Records != int64(13-4*rep.Removed) || rep.Seq != 13 {
		t.Fatalf("report %+v, problem %v", rep, rep.Problem)
	}
	if rep.Removed != 1 {
		t.Errorf("%d days removed; want one: only 18 November ended before", rep.Removed)
	}
	b.restart()
	b.trail.Retain(b.at)
	if rep := b.verify(t); rep.Problem != nil || rep.Removed != 3 || rep.Records != 1 {
		t.Errorf("report %+v, problem %v; want three days removed", rep, rep.Problem)
	}
	heads, _ := os.ReadFile(filepath.Join(b.dirs.State, "audit", headsFile))
	if n := strings.Count(string(heads), "\n"); n != 6 {
		t.Errorf("%d signed lines; want the ends of three days and their removal", n)
	}
}

// Whoever deletes or changes the trail while a daemon runs, or between two, is noticed,
// and the trail goes on behind a gap.
func TestChangedTrailIsPutAside(t *testing.T) {
	for name, change := range map[string]func(b *bench) error{
		"whole folder": func(b *bench) error { return os.RemoveAll(b.trail.path("")) },
		"head":         func(b *bench) error { return os.Remove(b.trail.path(headFile)) },
		"tail": func(b *bench) error {
			return os.Truncate(b.trail.path(b.trail.state.File), b.trail.state.At)
		},
	} {
		for _, restarted := range []bool{false, true} {
			b := newBench(t.TempDir())
			b.fill()
			b.trail.Append([]Record{decision("x", "deny")})
			b.trail.Append([]Record{decision("y", "deny")})
			if err := change(b); err != nil {
				t.Fatal(err)
			}
			before := b.verify(t)
			if name != "tail" && before.Problem == nil { // the last batch is in head.json, too
				t.Errorf("%s: want verify to find it", name)
			}
			if restarted {
				b.restart()
			}
			if name == "tail" && restarted {
				continue // nothing is lost: the next daemon writes it again
			}
			b.trail.Append([]Record{decision("z", "deny")})
			rep := b.verify(t)
			if len(rep.Gaps) != 1 || !strings.Contains(rep.Gaps[0].Reason, "was changed") {
				t.Errorf("%s, restarted %v: report %+v; want a gap that says so", name, restarted, rep)
			}
			if len(b.changes) != 1 {
				t.Errorf("%s, restarted %v: told %q; want one problem", name, restarted, b.changes)
			}
			if name != "whole folder" && (rep.Problem == nil || !strings.HasPrefix(rep.Problem.File, aside)) {
				t.Errorf("%s: problem %v; want the folder it was put aside in", name, rep.Problem)
			}
		}
	}
}

// Any changed, removed, inserted or moved byte of any file is found.
func TestAnyChangeIsFound(t *testing.T) {
	pristine := newBench(t.TempDir())
	for day := range 4 {
		for n := range 5 { // some are neither first nor last
			pristine.trail.Append([]Record{decision(fmt.Sprintf("e%d-%d", day, n), "deny")})
		}
		if day < 3 {
			pristine.at = pristine.at.AddDate(0, 0, 1)
		}
	}
	pristine.trail.Retain(time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC))
	pristine.trail.Append([]Record{decision("last", "deny")})
	dir := filepath.Join(pristine.dirs.State, "audit")
	if rep := pristine.verify(t); rep.Problem != nil {
		t.Fatal(rep.Problem)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, e := range entries {
		files = append(files, filepath.Join(dir, e.Name()))
	}
	files = append(files, filepath.Join(pristine.dirs.Data, markerFile))
	current := filepath.Join(dir, pristine.trail.state.File)
	rapid.Check(t, func(rt *rapid.T) {
		path := rapid.SampledFrom(files).Draw(rt, "file")
		was, err := os.ReadFile(path)
		if err != nil {
			rt.Fatalf("%v", err)
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(was), "\n"), "\n")
		changed := slices.Clone(was)
		at := rapid.IntRange(0, len(was)-1).Draw(rt, "at")
		switch rapid.IntRange(0, 9).Draw(rt, "change") {
		case 0:
			changed[at] ^= byte(rapid.IntRange(1, 255).Draw(rt, "bits"))
		case 1:
			changed = slices.Delete(changed, at, at+1)
		case 2:
			changed = slices.Insert(changed, at, rapid.Byte().Draw(rt, "byte"))
		case 3:
			to := rapid.IntRange(0, len(was)-1).Draw(rt, "to")
			changed[at], changed[to] = changed[to], changed[at]
		case 4:
			changed = changed[:at]
		case 5: // a whole line
			i := rapid.IntRange(0, len(lines)-1).Draw(rt, "line")
			changed = []byte(strings.Join(slices.Delete(slices.Clone(lines), i, i+1), ""))
		case 6: // a line twice
			i, j := rapid.IntRange(0, len(lines)-1).Draw(rt, "line"), rapid.IntRange(0, len(lines)-1).Draw(rt, "to")
			changed = []byte(strings.Join(slices.Insert(slices.Clone(lines), j, lines[i]), ""))
		case 7: // a record that fits the chain, behind the end
			if path != current {
				rt.Skip()
			}
			r := decision("forged", "allow")
			r.Seq, r.Prev = pristine.trail.state.Seq+1, pristine.trail.state.Hash
			changed, _, _ = appendLine(changed, &r)
		case 8, 9: // two lines in each other's place, or one in place of another
			i, j := rapid.IntRange(0, len(lines)-1).Draw(rt, "line"), rapid.IntRange(0, len(lines)-1).Draw(rt, "to")
			swapped := slices.Clone(lines)
			if swapped[i] = lines[j]; rapid.Bool().Draw(rt, "swap") {
				swapped[j] = lines[i]
			}
			changed = []byte(strings.Join(swapped, ""))
		}
		if string(changed) == string(was) {
			rt.Skip()
		}
		if path == current && strings.HasPrefix(string(was), string(changed)) && int64(len(changed)) >= pristine.trail.state.At {
			rt.Skip() // the last batch is in head.json as well: nothing is lost
		}
		if path == filepath.Join(dir, headsFile) && strings.HasPrefix(string(was), string(changed)) &&
			int64(len(changed)) >= pristine.trail.state.HeadsAt {
			rt.Skip()
		}
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			rt.Fatalf("%v", err)
		}
		defer os.WriteFile(path, was, 0o600)
		if rep := pristine.verify(rt); rep.Problem == nil {
			rt.Fatalf("%s: the change was not found:\n%q\n%q", filepath.Base(path), was, changed)
		}
	})
	forgeries := 0
	for _, path := range files { // a bit in every part of every file, and every file as a whole
		was, _ := os.ReadFile(path)
		for at := range was {
			if signature := filepath.Base(path) == headFile && at >= len(was)-2*ed25519.SignatureSize; at%31 != 0 && !signature {
				continue
			}
			for _, bit := range []byte{1, 'a' - 'A'} { // hashes and signatures in capitals are others
				changed := slices.Clone(was)
				changed[at] ^= bit
				os.WriteFile(path, changed, 0o600)
				if rep := pristine.verify(t); rep.Problem == nil {
					t.Errorf("%s: bit %d of byte %d was changed: not found", path, bit, at)
				}
			}
		}
		for i := range strings.Count(string(was), "\n") { // a record that says something else, and hashes to match
			for _, behind := range []bool{true, false} {
				forged, ok := forge(string(was), i, behind)
				if !ok {
					break // no file of records
				}
				forgeries++
				os.WriteFile(path, forged, 0o600)
				if rep := pristine.verify(t); rep.Problem == nil {
					t.Errorf("%s: line %d was forged, with all hashes behind it (%v): not found", path, i+1, behind)
				}
			}
		}
		lines := strings.SplitAfter(strings.TrimSuffix(string(was), "\n"), "\n")
		for i := range len(lines) - 1 { // each record and the next, in each other's place
			changed := slices.Clone(lines)
			changed[i], changed[i+1] = strings.TrimSuffix(lines[i+1], "\n")+"\n", lines[i]
			os.WriteFile(path, []byte(strings.Join(changed, "")), 0o600)
			if rep := pristine.verify(t); rep.Problem == nil {
				t.Errorf("%s: lines %d and %d changed places: not found", path, i+1, i+2)
			}
		}
		os.Remove(path)
		if rep := pristine.verify(t); rep.Problem == nil && path != current {
			t.Errorf("%s was deleted: not found", path)
		}
		os.WriteFile(path, was, 0o600)
	}
	added := filepath.Join(dir, "2026-11-20.000000000099.jsonl")
	os.WriteFile(added, nil, 0o600)
	if rep := pristine.verify(t); rep.Problem == nil {
		t.Errorf("%s was added: not found", added)
	}
	if forgeries < 20 {
		t.Errorf("%d records were forged, want more", forgeries)
	}
}

// forge makes the n-th record of a file an approval with a hash that fits, and, with behind,
// computes those of the records behind it as well: somebody without the key can.
func forge(text string, n int, behind bool) (forged []byte, ok bool) {
	prev := ""
	i := -1
	for line := range strings.Lines(text) {
		i++
		r, hash, err := readLine(line)
		if err != nil {
			return nil, false
		}
		if i < n || i > n && !behind {
			forged, prev = append(forged, line...), hash
			continue
		}
		if i == n {
			r.Verdict = "allow, said somebody"
		} else {
			r.Prev = prev
		}
		if forged, prev, err = appendLine(forged, &r); err != nil {
			return nil, false
		}
	}
	return forged, true
}

// A check has one record in memory, however large the file of a day is.
func TestVerifyNeedsLittleMemory(t *testing.T) {
	b := newBench(t.TempDir())
	r := decision("", "deny")
	r.Reason = strings.Repeat("why ", 4<<10)
	for batch := range 20 {
		records := make([]Record, 100)
		for i := range records {
			one := *r.Event
			one.ID = fmt.Sprint(batch, "-", i)
			records[i] = r
			records[i].Event = &one
		}
		b.trail.Append(records)
	}
	b.trail = nil
	info, err := os.Stat(filepath.Join(b.dirs.State, "audit", "2026-11-18.000000000001.jsonl"))
	if err != nil || info.Size() < 30<<20 {
		t.Fatalf("the file has %d bytes, error %v; want one that's worth a look", info.Size(), err)
	}
	live := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before, most, n := live(), int64(0), 0
	rep, err := Verify(b.dirs, func(*Record, string) {
		if n++; n%500 == 250 {
			most = max(most, live()-before)
		}
	})
	if err != nil || rep.Problem != nil || rep.Records != 2000 {
		t.Fatalf("report %+v, error %v", rep, err)
	}
	if most > 12<<20 { // head.json has the last batch
		t.Errorf("a check of %d MB has %d MB in memory", info.Size()>>20, most>>20)
	}
}

// Something that isn't a file, or has no end, stops neither a check nor the daemon.
func TestNoFileInAFilesPlace(t *testing.T) {
	for _, name := range []string{headFile, headsFile, "2026-11-18.000000000001.jsonl", "2026-11-20.000000000009.jsonl"} {
		for what, put := range map[string]func(path string) error{
			"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
			"a link":   func(path string) error { return os.Symlink("/dev/zero", path) },
			"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
			"a long line": func(path string) error {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					return err
				}
				return os.Truncate(path, 300<<20)
			},
		} {
			b := newBench(t.TempDir())
			b.fill()
			b.at = b.at.AddDate(0, 0, -1) // the last day goes on
			path := b.trail.path(name)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			if rep, err := Verify(b.dirs, nil); err == nil && rep.Problem == nil {
				t.Errorf("%s in the place of %s fits", what, name)
			}
			b.restart()
			b.trail.Append([]Record{decision("after", "deny")})
			if b.trail.missed != 0 {
				t.Errorf("%s in the place of %s: the next daemon adds nothing: %q", what, name, b.problems)
			}
		}
	}
}

// The first record that doesn't fit is named.
func TestFirstMisfitIsNamed(t *testing.T) {
	b := newBench(t.TempDir())
	b.fill()
	name := "2026-11-19.000000000005.jsonl"
	path := filepath.Join(b.dirs.State, "audit", name)
	was, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(was), "\n")
	for what, text := range map[string]string{
		"its hash is wrong": lines[0] + strings.Replace(lines[1], "allow", "denyy", 1) + lines[2] + lines[3],
		"in its place":      lines[0] + lines[2] + lines[3],
		"isn't a record":    lines[0] + "x\n" + lines[1] + lines[2] + lines[3],
	} {
		os.WriteFile(path, []byte(text), 0o600)
		rep := b.verify(t)
		if p := rep.Problem; p == nil || p.File != name || p.Line != 2 || p.Seq != 6 || !strings.Contains(p.What, what) {
			t.Errorf("%s: %+v; want line 2 of %s, record 6", what, p, name)
		}
	}
	os.WriteFile(path, []byte(lines[0]+lines[1]), 0o600)
	if p := b.verify(t).Problem; p == nil || !strings.Contains(p.What, "records 7 to 8 are missing") {
		t.Errorf("%+v; want the missing ones named", p)
	}
}

// Who rolls everything back, or has the key and makes another trail, is found by an end
// that was kept elsewhere, and by nothing else.
func TestKeptEnd(t *testing.T) {
	b := newBench(t.TempDir())
	b.fill()
	rep := b.verify(t)
	end, err := ParseEnd(fmt.Sprintf("%d:%s", rep.Seq, rep.Hash))
	if err != nil {
		t.Fatal(err)
	}
	b.trail.Append([]Record{decision("more", "deny")})
	if rep, err := VerifyEnd(b.dirs, end); err != nil || rep.Problem != nil {
		t.Errorf("the trail went on: %v, error %v", rep.Problem, err)
	}
	// The same files with the same key, made again without one record.
	for _, dir := range []string{b.trail.path(""), filepath.Join(b.dirs.Data, markerFile)} {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	b.restart()
	b.at = time.Date(2026, 11, 18, 12, 0, 0, 0, time.UTC)
	b.trail.Append([]Record{decision("e0-0-a", "deny")})
	if rep := b.verify(t); rep.Problem != nil {
		t.Errorf("without a kept end it can't be known: %v", rep.Problem)
	}
	if rep, err := VerifyEnd(b.dirs, end); err != nil || rep.Problem == nil {
		t.Errorf("the trail was replaced: %+v, error %v; want it found", rep, err)
	}
	for _, text := range []string{"", "12", "0:" + rep.Hash, "x:" + rep.Hash, "12:abc"} {
		if _, err := ParseEnd(text); err == nil {
			t.Errorf("ParseEnd(%q): want an error", text)
		}
	}
}
