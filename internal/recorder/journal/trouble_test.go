package journal

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type driverValue = driver.Value

func TestNewerSchemaIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	write(t, j, samples(0, 3))
	if err := j.writer.execQuery(fmt.Sprintf("PRAGMA user_version = %d", len(migrations)+1)); err != nil {
		t.Fatal(err)
	}
	j.Close()
	_, err := Open(path, Options{})
	if !errors.Is(err, ErrNewer) || !strings.Contains(err.Error(), "upgrade hookmux") {
		t.Fatalf(`error %v, want error ErrNewer and "upgrade hookmux" in err.Error()`, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*broken*")); len(left) != 0 {
		t.Errorf("moved aside:: %v; want len(left) == 0", left)
	}
}

func TestMigrationsGoForwardAndKeepEvents(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := open(t, path)
	write(t, j, samples(0, 3))
	j.Close()
	before := migrations
	defer func() { migrations = before }()

	// A failing step leaves the file as it was.
	migrations = append(append([]string(nil), before...), "ALTER TABLE events ADD COLUMN mood TEXT", "nonsense")
	if _, err := Open(path, Options{}); err == nil {
		t.Fatal("nonsense went through")
	}
	migrations = migrations[:len(migrations)-1]
	j = open(t, path)
	if version, err := j.writer.queryNumber("PRAGMA user_version"); err != nil || version != int64(len(migrations)) {
		t.Fatalf("version = %v, error %v; want no error and version = %v", version, err, int64(len(migrations)))
	}
	if _, err := j.writer.queryNumber("SELECT count(mood) FROM events"); err != nil {
		t.Error(err)
	}
	if got := query(t, j, Filter{}); len(got) != 3 {
		t.Errorf("ids(got) = %q, want len(got) = 3", ids(got))
	}
	write(t, j, samples(3, 6))
}

// A file that lost pages may refuse an event as one that is there already, and not have
// it. The events go to a new file.
func TestContradictingFileIsMovedAside(t *testing.T) {
	dir := t.TempDir()
	j := open(t, filepath.Join(dir, "journal.db"))
	write(t, j, samples(0, 20))
	j.writer.next -= 3 // the next events get numbers that are taken, as after such a loss
	write(t, j, samples(20, 40))
	if got := query(t, j, Filter{After: 20}); len(got) != 20 {
		t.Errorf("the journal has %q, want the 20 new events", ids(got))
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "journal.broken-*.db")); len(aside) != 1 {
		t.Errorf("set aside are %q, want the old journal", aside)
	}
}

func TestBrokenFileIsMovedAside(t *testing.T) {
	for name, content := range map[string][]byte{
		"text":      []byte(strings.Repeat("this is no database\n", 500)),
		"cut":       nil, // a real one, its inside overwritten
		"other's":   nil, // a database of somebody else
		"truncated": nil, // a real one, its end cut off
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "journal.db")
			switch name {
			case "text":
				os.WriteFile(path, content, 0o600)
			default:
				j := open(t, path)
				write(t, j, samples(0, 500))
				if name == "other's" {
					for _, q := range []string{"DROP TABLE events", "PRAGMA user_version = 0"} {
						if err := j.writer.execQuery(q); err != nil {
							t.Fatal(err)
						}
					}
				}
				j.Close()
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if name == "cut" {
					copy(data[100:], bytes.Repeat([]byte{0xa5}, len(data)-100))
				}
				if name == "truncated" {
					data = data[:4096]
				}
				os.WriteFile(path, data, 0o600)
				content = data
			}
			j := open(t, path)
			problems := j.Problems()
			if len(problems) != 1 || !strings.Contains(problems[0].Text, path) {
				t.Fatalf("problems = %+v, want one that names %q", problems, path)
			}
			aside, _ := filepath.Glob(filepath.Join(dir, "journal.broken-*.db"))
			if len(aside) != 1 || !strings.Contains(problems[0].Text, aside[0]) {
				t.Fatalf("aside = %q, problems = %+v; want len(aside) = 1 and aside[0] in problems[0].Text",
					aside, problems)
			}
			if data, err := os.ReadFile(aside[0]); err != nil || !bytes.Equal(data, content) {
				t.Error("the old file changed", err)
			}
			// Whoever read the old one up to some cursor hears of the new events.
			cursors := write(t, j, samples(0, 20))
			if cursors[0] <= 500 {
				t.Errorf("cursors = %+v, want cursors[0] more than 500", cursors)
			}
			if got := query(t, j, Filter{After: 500}); len(got) != 20 {
				t.Errorf("ids(got) = %q, want len(got) = 20", ids(got))
			}
			if j.Health().Err != nil {
				t.Errorf("j.Health() = %+v, want no error", j.Health())
			}
		})
	}
}

func TestFileThatBreaksWhileOpen(t *testing.T) {
	j := fresh(t)
	write(t, j, samples(0, 3000))
	// Carried over and dropped from memory, so that the next write reads it.
	for _, q := range []string{"PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA shrink_memory"} {
		if err := j.writer.execQuery(q); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(j.Path())
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(j.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt(bytes.Repeat([]byte{0xa5}, int(info.Size())-4096), 4096)
	f.Close()

	cursors, _, err := j.Write(samples(3000, 3040))
	if err != nil {
		t.Fatal(err)
	}
	if cursors[0] != 3001 {
		t.Errorf("cursors begin again at %d", cursors[0])
	}
	if len(j.Problems()) != 1 {
		t.Errorf("j.Problems() = %+v, want 1 of them", j.Problems())
	}
	if got := query(t, j, Filter{After: 3000}); len(got) != 40 {
		t.Errorf("%d events, want 40", len(got))
	}
}

func TestFullDisk(t *testing.T) {
	j := fresh(t)
	write(t, j, samples(0, 50))
	if err := j.writer.execQuery("PRAGMA max_page_count = 30"); err != nil {
		t.Fatal(err)
	}
	var batch []Item
	for n := 100; n < 300; n++ {
		r := sample(n)
		r.Session = fmt.Sprint("new", n%3) // words the failed batch must not leave in memory
		r.Body = bytes.Repeat([]byte("y"), 2000)
		batch = append(batch, Item{Row: r, Outcome: &Outcome{ID: r.ID, Verdict: "deny"}})
	}
	for range 3 {
		if _, _, err := j.Write(batch); !isFull(err) || !strings.HasPrefix(err.Error(), j.Path()) ||
			!strings.Contains(err.Error(), "free some disk space") {
			t.Fatalf(`error %v, want isFull(err), err.Error() that begins with j.Path() and "free some disk space" `+
				`in err.Error()`, err)
		}
	}
	if h := j.Health(); !h.DiskFull || h.Err == nil || h.Since.IsZero() || h.Newest != 50 || h.Bytes == 0 {
		t.Errorf("h = %+v, want h.DiskFull, an error, not h.Since.IsZero(), h.Newest = 50 and h.Bytes other than 0", h)
	}
	if len(j.Problems()) != 1 {
		t.Errorf("j.Problems() = %+v, want 1 of them", j.Problems())
	}
	if got := query(t, j, Filter{}); len(got) != 50 {
		t.Fatalf("%d events after a failed batch, want 50", len(got))
	}
	if n, err := j.writer.queryNumber("SELECT count(*) FROM outcomes"); err != nil || n != 0 {
		t.Errorf("n = %v, error %v; want no error and n = 0", n, err)
	}

	if err := j.writer.execQuery("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	cursors, dups, err := j.Write(batch)
	if err != nil || dups != 0 || cursors[0] != 51 {
		t.Fatalf("cursors = %+v, dups = %v, error %v; want no error, dups = 0 and cursors[0] = 51", cursors, dups, err)
	}
	if h := j.Health(); h.Err != nil || h.DiskFull || len(j.Problems()) != 0 {
		t.Errorf("h = %+v, want no error, not h.DiskFull and len(j.Problems()) = 0", h)
	}
	if got := query(t, j, Filter{Session: "new1", Verdict: "deny"}); len(got) != 67 {
		t.Errorf("%d events of the session", len(got))
	}
}

func TestPlacesThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	os.WriteFile(file, nil, 0o600)
	for _, path := range []string{filepath.Join(file, "journal.db"), dir} {
		if _, err := Open(path, Options{}); err == nil || !strings.HasPrefix(err.Error(), path) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf(`%s: error %v, want an error, err.Error() that begins with %q and no "\n" in err.Error()`,
				path, err, path)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error("the directory was moved:", err)
	}
}

func TestRetention(t *testing.T) {
	j := fresh(t)
	const n = 3000
	for from := 0; from < n; from += 500 {
		items := samples(from, from+500)
		for i := range items {
			items[i].Row.Session = fmt.Sprint("session-", from/500)
			items[i].Outcome = &Outcome{ID: items[i].Row.ID, Time: items[i].Row.Time, Verdict: "allow"}
		}
		write(t, j, items)
	}
	write(t, j, []Item{{Outcome: &Outcome{ID: "of nothing", Time: start}}})
	now := start.Add(n * time.Second)

	// codex is kept for less, grok for ever.
	deleted, err := j.Retain(now, 1000*time.Second, map[string]time.Duration{"codex": 100 * time.Second, "grok": 0}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	for i := range n {
		age := n - i
		if i%3 == 0 && age > 1000 || i%3 == 1 && age > 100 {
			want++
		}
	}
	if deleted != want {
		t.Errorf("deleted %d, want %d", deleted, want)
	}
	for _, s := range query(t, j, Filter{}) {
		age := now.Sub(s.Time)
		if s.Agent == "claude" && age > 1000*time.Second || s.Agent == "codex" && age > 100*time.Second {
			t.Fatalf("%s of %s is still there", s.ID, s.Agent)
		}
		if s.Outcome == nil || s.Session == "" {
			t.Fatalf("%s lost its outcome or its words", s.ID)
		}
	}
	count := func(table string) int64 {
		c, err := j.writer.queryNumber("SELECT count(*) FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if got := count("outcomes"); got != int64(n-want)+1 {
		t.Errorf("%d outcomes; want got == int64(n-want)+1", got)
	}

	// Then all of it goes: cursors still never come twice, nothing is left over.
	if _, err := j.Retain(now, time.Second/2, nil, 0); err != nil {
		t.Fatal(err)
	}
	if got := query(t, j, Filter{}); len(got) != 0 {
		t.Errorf("%d events left, want 0", len(got))
	}
	for _, table := range []string{"events", "outcomes", "blocks"} {
		if c := count(table); c != 0 {
			t.Errorf("%d %s left, want 0", c, table)
		}
	}
	path := j.Path()
	j.Close()
	if info, err := os.Stat(path); err != nil || info.Size() > 200<<10 {
		t.Errorf("%d bytes left, %v; want no error and info.Size() <= 200<<10", info.Size(), err)
	}
	j = open(t, path)
	if cursors := write(t, j, samples(0, 1)); cursors[0] != n+1 {
		t.Errorf("cursor %d came again", cursors[0])
	}
}

func TestRetentionBySize(t *testing.T) {
	j := fresh(t)
	body := bytes.Repeat([]byte("z"), 3000)
	for from := 0; from < 1500; from += 500 {
		items := samples(from, from+500)
		for i := range items {
			items[i].Row.Body = body
		}
		write(t, j, items)
	}
	const limit = 2 << 20
	deleted, err := j.Retain(start, 0, nil, limit)
	if err != nil || deleted == 0 {
		t.Fatalf("deleted = %v, error %v; want no error and deleted other than 0", deleted, err)
	}
	got := query(t, j, Filter{})
	if len(got) == 0 || len(got) != 1500-deleted || got[len(got)-1].ID != sample(1499).ID || len(got) < 200 {
		t.Fatalf("%d left of 1500, %d deleted", len(got), deleted)
	}
	if used, err := j.writer.usedBytes(); err != nil || used > limit {
		t.Errorf("used = %v, error %v; want no error and used at most limit", used, err)
	}
	if again, err := j.Retain(start, 0, nil, limit); err != nil || again != 0 {
		t.Errorf("again = %v, error %v; want no error and again = 0", again, err)
	}
	// Origins of what is left are known still, forgotten ones come anew.
	write(t, j, samples(5000, 5100))
	for _, s := range query(t, j, Filter{}) {
		if s.Session == "" || s.Agent == "" {
			t.Fatalf("%s lost its words", s.ID)
		}
	}
	j.Close()
	if info, err := os.Stat(j.Path()); err != nil || info.Size() > limit+limit/4 {
		t.Errorf("%d bytes on disk, %v", info.Size(), err)
	}
}

// What another program puts into the file takes no events away: a trigger that deletes
// them, one that has them ignored, and a unique index that can't hold them.
func TestForeignSchemaLosesNothing(t *testing.T) {
	for name, statement := range map[string]string{
		"a trigger that deletes": "CREATE TRIGGER x AFTER INSERT ON events BEGIN DELETE FROM events WHERE cursor = new.cursor; END",
		"a trigger that ignores": "CREATE TRIGGER x BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
		"one of the outcomes":    "CREATE TRIGGER x AFTER INSERT ON outcomes BEGIN DELETE FROM outcomes; END",
		"a name with quotes":     `CREATE TRIGGER "x""y" BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END`,
		"a unique index":         "CREATE UNIQUE INDEX x ON events(flags)",
		"a table and a view":     "CREATE TABLE a(b UNIQUE); CREATE VIEW c AS SELECT * FROM a",
		"another column":         "ALTER TABLE events ADD COLUMN mood TEXT",
		"a table that is gone":   "DROP TABLE shapes",
	} {
		for _, closed := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "journal.db")
			j := open(t, path)
			write(t, j, samples(0, 1))
			if closed {
				j.Close()
			}
			other, err := sql.Open("sqlite", path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := other.Exec(statement); err != nil {
				t.Fatal(err)
			}
			other.Close()
			if closed {
				j = open(t, path)
			}
			write(t, j, samples(1, 30))
			write(t, j, samples(30, 40))
			if got := query(t, j, Filter{}); len(got) < 39 {
				t.Errorf("%s (closed: %v): %d events, want 39 at least", name, closed, len(got))
			}
			if len(j.Problems()) == 0 {
				t.Errorf("%s (closed: %v): no problem is told", name, closed)
			}
			j.Close()
		}
	}
}
