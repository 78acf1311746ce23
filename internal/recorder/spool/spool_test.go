package spool

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
)

func anyRecord(t *rapid.T) Record {
	text := rapid.String()
	return Record{
		Type: rapid.SampledFrom([]byte{TypeEvent, TypeDecision}).Draw(t, "type"),
		ID:   text.Draw(t, "id"), Time: time.Unix(0, rapid.Int64Range(1, 1<<61).Draw(t, "time")),
		Agent: text.Draw(t, "agent"), Event: text.Draw(t, "event"), Cwd: text.Draw(t, "cwd"),
		AgentVersion: text.Draw(t, "version"),
		PID:          rapid.IntRange(-1, 1<<30).Draw(t, "pid"), Start: rapid.Uint64().Draw(t, "start"),
		TTY: text.Draw(t, "tty"), Pane: text.Draw(t, "pane"), Caller: text.Draw(t, "caller"),
		Nested: rapid.Bool().Draw(t, "nested"), Truncated: rapid.Bool().Draw(t, "truncated"),
		Payload: rapid.SliceOfN(rapid.Byte(), 1, 200).Draw(t, "payload"),
	}
}

func record(n int) *Record {
	return &Record{Type: TypeEvent, ID: fmt.Sprintf("id%06d", n), Agent: "claude", Event: "Stop", Time: time.Unix(1, 2),
		Payload: []byte("{}")}
}

func TestRoundTripWithGarbageAndTail(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var file []byte
		var want []Record
		garbage := 0
		for range rapid.IntRange(1, 5).Draw(t, "records") {
			// Garbage of every kind, also pieces of real records.
			piece := Append(nil, record(0))
			junk := rapid.SampledFrom([][]byte{nil, nil, []byte("junk"), spoolrecord.Mark[:], piece[:7], piece[:len(piece)-1],
				bytes.Repeat(spoolrecord.Mark[:3], 3)}).Draw(t, "junk")
			file = append(file, junk...)
			garbage += len(junk)
			rec := anyRecord(t)
			want = append(want, rec)
			file = Append(file, &rec)
		}
		end := len(file)
		whole := Append(nil, record(1))
		tail := whole[:rapid.IntRange(0, len(whole)-1).Draw(t, "tail")]
		file = append(file, tail...)

		r := Read(iotest.HalfReader(bytes.NewReader(file)))
		var got []Record
		for rec := range r.All() {
			got = append(got, rec)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
		if r.Err() != nil || r.Skipped() != int64(garbage) || r.good != int64(end) || torn(r) != int64(len(tail)) {
			t.Fatalf("err %v, skipped %d of %d, offset %d of %d, torn %d of %d", r.Err(), r.Skipped(), garbage,
				r.good, end, torn(r), len(tail))
		}
	})
}

func TestGoOnFromOffset(t *testing.T) {
	file := Append(Append(nil, record(1)), record(2))
	cut := len(file) - 3
	r := Read(bytes.NewReader(file[:cut]))
	if rec, ok := r.Next(); !ok || rec.ID != "id000001" {
		t.Fatal("first record is missing")
	}
	if _, ok := r.Next(); ok {
		t.Fatal("a torn record came out")
	}
	r = Read(bytes.NewReader(file[r.good:]))
	if rec, ok := r.Next(); !ok || rec.ID != "id000002" {
		t.Fatal("second record is missing")
	}
}

func TestReadError(t *testing.T) {
	bad := errors.New("disk on fire")
	r := Read(iotest.ErrReader(bad))
	if _, ok := r.Next(); ok || !errors.Is(r.Err(), bad) {
		t.Errorf("r.Err() = %v, want not ok and error %v", r.Err(), bad)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(Append([]byte("junk"), record(1)))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := Read(bytes.NewReader(in))
		n := 0
		for range r.All() {
			n++
		}
		if int64(len(in)) < r.good+torn(r) || r.Skipped() > int64(len(in)) || n > len(in) {
			t.Fatalf("%d bytes: %d records, offset %d, torn %d, skipped %d", len(in), n, r.good, torn(r),
				r.Skipped())
		}
	})
}

func readAll(t *testing.T, l *Log) map[string]uint64 {
	t.Helper()
	segs, err := l.Segments()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]uint64{}
	for _, s := range segs {
		recs, skipped, err := ReadFile(s.Path)
		if err != nil || skipped != 0 {
			t.Fatalf("%s: %d skipped, %v; want no error and skipped == 0", s.Path, skipped, err)
		}
		for _, r := range recs {
			if _, twice := got[r.ID]; twice {
				t.Errorf("%s is there twice", r.ID)
			}
			got[r.ID] = s.N
		}
	}
	return got
}

func TestLogConcurrent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "intake")
	l, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 100 {
				rec := record(w*1000 + i)
				seg, err := l.Append(rec)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				want[rec.ID] = seg
				mu.Unlock()
				if i%25 == 0 {
					if err := l.Rotate(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if got := readAll(t, l); !reflect.DeepEqual(got, want) {
		t.Errorf("%d records, want %d, or in other segments", len(got), len(want))
	}
	segs, _ := l.Segments()
	for i, s := range segs {
		if s.Closed != (i < len(segs)-1) {
			t.Errorf("segment %d of %d: closed %v", i, len(segs), s.Closed)
		}
		info, err := os.Stat(s.Path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: info.Mode() = %v, error %v; want no error and info.Mode().Perm() = 0o600",
				s.Path, info.Mode(), err)
		}
		err = l.Remove(s.N)
		if (err == nil) != s.Closed {
			t.Errorf("remove %+v: %v; want (err == nil) == s.Closed", s, err)
		}
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("info.Mode() = %v, error %v; want no error and info.Mode().Perm() = 0o700", info.Mode(), err)
	}
	if err := l.Remove(segs[0].N); err != nil {
		t.Errorf("removing twice: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := l.Append(record(1)); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want error ErrClosed", err)
	}
}

func TestLogNeverWritesBehindATornTail(t *testing.T) {
	dir := t.TempDir()
	torn := filepath.Join(dir, "intake-41.log")
	if err := os.WriteFile(torn, Append(nil, record(1))[:9], 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := l.Append(record(2))
	if err != nil || seg <= 41 {
		t.Errorf("segment %d, %v; expected one behind 41", seg, err)
	}
	if err := l.Rotate(); err != nil {
		t.Fatal(err)
	}
	after, _ := l.Current()
	if err := l.Rotate(); err != nil { // an empty segment stays
		t.Fatal(err)
	}
	if n, _ := l.Current(); n != after || n <= seg {
		t.Errorf("current segment is %d, expected %d, which is behind %d", n, after, seg)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if segs, _ := l.Segments(); len(segs) != 2 || !segs[1].Closed {
		t.Errorf("segs = %+v, want 2 of them and segs[1].Closed", segs)
	}
}

// Two logs in one folder never use the same number twice, and neither can claim
// what the other writes to.
func TestTwoLogsInOneFolder(t *testing.T) {
	dir := t.TempDir()
	var logs [2]*Log
	used := map[uint64]int{}
	for i := range logs {
		var err error
		if logs[i], err = OpenLog(dir); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = logs[i].Close() })
	}
	for round := range 50 {
		for i, l := range logs {
			n, err := l.Append(record(2*round + i))
			if err != nil {
				t.Fatal(err)
			}
			if _, twice := used[n]; twice {
				t.Fatalf("round %d: log %d writes to segment %d, which was used before", round, i, n)
			}
			used[n] = i
			if _, ok := Claim(l.path(n)); ok {
				t.Fatalf("round %d: segment %d was claimed while log %d writes to it", round, n, i)
			}
			if err := l.Rotate(); err != nil {
				t.Fatal(err)
			}
			release, ok := Claim(l.path(n))
			if !ok {
				t.Fatalf("round %d: closed segment %d cannot be claimed", round, n)
			}
			if _, ok := Claim(l.path(n)); ok {
				t.Fatalf("round %d: segment %d was claimed twice", round, n)
			}
			if err := logs[1-i].Remove(n); err != nil {
				t.Fatal(err)
			}
			release()
		}
	}
}

// A log that loses the race for a file it just made begins another.
func TestLogGivesUpAFileThatIsClaimed(t *testing.T) {
	dir := t.TempDir()
	stop := make(chan struct{})
	var other sync.WaitGroup
	other.Go(func() { // stores and removes whatever it may
		for {
			select {
			case <-stop:
				return
			default:
			}
			files, _ := filepath.Glob(filepath.Join(dir, "intake-*.log"))
			for _, path := range files {
				if release, ok := Claim(path); ok {
					if info, err := os.Stat(path); err == nil && info.Size() == 0 {
						_ = os.Remove(path)
					}
					release()
				}
			}
		}
	})
	l, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		n, err := l.Append(record(i))
		if err != nil {
			t.Fatal(err)
		}
		if recs, _, err := ReadFile(l.path(n)); err != nil || len(recs) != 1 {
			t.Fatalf("record %d: segment %d holds %d records, error %v; expected the one just written", i, n, len(recs), err)
		}
		if err := l.Rotate(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	other.Wait()
	if err := l.Close(); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("closing a log whose last file may be gone: %v", err)
	}
}

func TestLogBeginsNewSegmentWhenLarge(t *testing.T) {
	l, err := OpenLog(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	big := record(1)
	big.Payload = make([]byte, 3<<20)
	first, _ := l.Append(big)
	second, err := l.Append(big)
	if err != nil || second <= first {
		t.Errorf("segments %d and %d, %v; expected the second behind the first", first, second, err)
	}
	big.Payload = make([]byte, 21<<20)
	if _, err := l.Append(big); err == nil {
		t.Error("a record that no reader accepts was written")
	}
}

// A write that fails half way must not leave a record glued to its remains.
func TestLogTakesPartOfARecordBack(t *testing.T) {
	l, err := OpenLog(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Append(record(1)); err != nil {
		t.Fatal(err)
	}
	// A descriptor that can't be written to stands in for a full disk.
	path := l.file.Name()
	good := l.file
	if l.file, err = os.Open(path); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(record(2)); err == nil {
		t.Error("no error; want an error")
	}
	_ = l.file.Close()
	l.file = good
	if _, err := l.Append(record(3)); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, l); len(got) != 2 {
		t.Errorf("readAll(t, l) = %+v, want 2 of them", got)
	}
}

func TestLeaveAndSweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "spool")
	if files, err := Sweep(dir); err != nil || len(files) != 0 {
		t.Errorf("files = %+v, error %v; want no error and len(files) = 0", files, err)
	}
	for _, n := range []int{3, 1, 2, 2} {
		if err := spoolrecord.Leave(dir, record(n)); err != nil {
			t.Fatal(err)
		}
	}
	stale, fresh := filepath.Join(dir, ".tmp-stale-1"), filepath.Join(dir, ".tmp-fresh-1")
	for _, f := range []string{stale, fresh, filepath.Join(dir, "README")} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	past := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(stale, past, past); err != nil {
		t.Fatal(err)
	}
	files, err := Sweep(dir)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, f := range files {
		info, err := os.Stat(f.Path)
		if err != nil || info.Mode().Perm() != 0o600 || info.Size() != f.Size {
			t.Errorf("%+v: info = %v, error %v; want no error, info.Mode().Perm() = 0o600 and info.Size() = %v",
				f, info, err, f.Size)
		}
		recs, _, err := ReadFile(f.Path)
		if err != nil || len(recs) != 1 || recs[0].ID != f.ID {
			t.Errorf("%+v: recs = %+v, error %v; want no error, len(recs) = 1 and recs[0].ID = %q", f, recs, err, f.ID)
		}
		ids = append(ids, f.ID)
	}
	if got := strings.Join(ids, " "); got != "id000001 id000002 id000003" {
		t.Errorf(`strings.Join(ids, " ") = %q, want "id000001 id000002 id000003"`, got)
	}
	if _, err := os.Stat(stale); !os.IsNotExist(err) {
		t.Error("what a dead writer left is still there")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("a file that is being written is gone")
	}
	for _, id := range []string{"", "../x", "a/b", ".tmp", "a.b", strings.Repeat("x", 200)} {
		if err := spoolrecord.Leave(dir, &Record{ID: id}); err == nil {
			t.Errorf("id %q names a file", id)
		}
	}
}

func BenchmarkLogAppend(b *testing.B) {
	l, err := OpenLog(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	rec := record(1)
	rec.Payload = make([]byte, 2000)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Append(rec); err != nil {
			b.Fatal(err)
		}
	}
}

// Somebody removed the folder: the next file is begun in a new one.
func TestLogOutlivesItsFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "intake")
	log, err := OpenLog(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	if _, err := log.Append(record(1)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
		t.Fatal(err)
	}
	if err := log.Rotate(); err != nil {
		t.Fatal(err)
	}
	if _, err := log.Append(record(2)); err != nil {
		t.Fatal(err)
	}
	segments, err := log.Segments()
	if err != nil || len(segments) != 1 {
		t.Fatalf("segments %v, %v; want the one in the new folder", segments, err)
	}
	if records, _, err := ReadFile(segments[0].Path); err != nil || len(records) != 1 || records[0].ID != record(2).ID {
		t.Errorf("the new file holds %v, %v; want record 2", records, err)
	}
}

// torn counts the bytes behind the last record, once Next has said false.
func torn(r *Reader) int64 { return r.offset + int64(len(r.buf)-r.at) - r.good }
