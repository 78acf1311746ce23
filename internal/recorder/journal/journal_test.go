package journal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func open(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

func fresh(t testing.TB) *Journal {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "state", "journal.db"))
}

// sample returns the n-th event: agents, kinds and sessions take turns.
func sample(n int) *Row {
	agents := []string{"claude", "codex", "grok"}
	kinds := []string{"tool.before", "tool.after"}
	return &Row{
		ID: fmt.Sprintf("%08d", n), Time: start.Add(time.Duration(n) * time.Second),
		Agent: agents[n%3], Kind: kinds[n%2], Native: "Native" + kinds[n%2], Tool: "Bash",
		Session: fmt.Sprintf("session-%d", n%5), Cwd: "/home/u/project", AgentVersion: "1.2.3",
		Pane: "%1", TTY: "/dev/pts/1", Caller: "other", Host: "box", PID: 100 + n%5, Start: 1<<63 + 7,
		Nested: n%4 == 0, Truncated: n%7 == 0,
		Body: []byte(fmt.Sprintf(`{"n":%d}`, n)),
	}
}

func samples(from, to int) []Item {
	var items []Item
	for n := from; n < to; n++ {
		items = append(items, Item{Row: sample(n)})
	}
	return items
}

func write(t testing.TB, j *Journal, items []Item) []int64 {
	t.Helper()
	cursors, _, err := j.Write(items)
	if err != nil {
		t.Fatal(err)
	}
	return cursors
}

func query(t testing.TB, j *Journal, f Filter) []Stored {
	t.Helper()
	var all []Stored
	for s, err := range j.Query(context.Background(), f) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

func ids(stored []Stored) []string {
	list := []string{}
	for _, s := range stored {
		list = append(list, s.ID)
	}
	return list
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	j := fresh(t)
	odd := &Row{ID: "odd", Time: start, Agent: "x\x00y", Session: "bro\xffken", Body: []byte("\"\\u0000\xf0\"")}
	bare := &Row{ID: "bare", Time: start}
	outcome := &Outcome{ID: sample(1).ID, Time: start.Add(time.Minute), Took: 1234567,
		Decision: []byte(`{"verdict":"deny","reason":"no","by":"guard","degraded":["a"]}`),
		Steps:    []byte(`[1]`), Answer: []byte(`{"exitCode":2}`)}
	cursors := write(t, j, []Item{{Row: sample(1), Outcome: outcome}, {Row: odd}, {Row: bare}})
	if diff := cmp.Diff([]int64{1, 2, 3}, cursors); diff != "" {
		t.Fatalf("cursors is not as wanted (-want +got):\n%s", diff)
	}
	want := *outcome
	want.Verdict, want.By, want.Degraded = "deny", "guard", true
	got := query(t, j, Filter{})
	if diff := cmp.Diff([]Stored{{1, *sample(1), &want}, {2, *odd, nil}, {3, *bare, nil}}, got); diff != "" {
		t.Fatalf("got is not as wanted (-want +got):\n%s", diff)
	}
	if one, ok, err := j.Get(context.Background(), "odd"); err != nil || !ok || one.Cursor != 2 {
		t.Fatalf("one = %+v, ok = %v, error %v; want no error, ok and one.Cursor = 2", one, ok, err)
	}
	if _, ok, err := j.Get(context.Background(), "nobody"); err != nil || ok {
		t.Fatalf("ok = %v, error %v; want no error and not ok", ok, err)
	}
}

func TestOutcomeMayComeBeforeAndAgain(t *testing.T) {
	j := fresh(t)
	write(t, j, []Item{{Outcome: &Outcome{ID: "a", Time: start, Verdict: "ask"}}})
	write(t, j, []Item{{Row: &Row{ID: "a", Time: start}}})
	cursors, dups, err := j.CommitDurable([]Item{{Outcome: &Outcome{ID: "a", Time: start, Verdict: "allow",
		By: "person"}}})
	if err != nil || dups != 0 || cursors[0] != 0 {
		t.Fatalf("cursors = %+v, dups = %v, error %v; want no error, dups = 0 and cursors[0] = 0", cursors, dups, err)
	}
	got := query(t, j, Filter{})
	if len(got) != 1 || got[0].Outcome == nil || got[0].Outcome.Verdict != "allow" || got[0].Outcome.By != "person" {
		t.Fatalf(`got %+v, want 1 of them, got[0].Outcome other than nil, got[0].Outcome.Verdict = "allow" and `+
			`got[0].Outcome.By = "person"`, got)
	}
	if level, err := j.writer.queryNumber("PRAGMA synchronous"); err != nil || level != 1 {
		t.Fatalf("synchronous is %d after a durable commit, %v", level, err)
	}
}

func TestEachIDOnce(t *testing.T) {
	j := fresh(t)
	write(t, j, samples(0, 40))
	// Old, new and twice the same new one, across full groups and single rows.
	batch := append(samples(20, 60), Item{Row: sample(59)}, Item{Row: sample(5)}, Item{Row: sample(60)})
	cursors, dups, err := j.Write(batch)
	if err != nil {
		t.Fatal(err)
	}
	if dups != 22 {
		t.Errorf("%d duplicates, want 22", dups)
	}
	last := int64(40)
	for i, c := range cursors {
		isNew := i >= 20 && i < 40 || i == 42
		if isNew != (c != 0) {
			t.Errorf("item %d has cursor %d", i, c)
		}
		if c != 0 {
			if c <= last {
				t.Errorf("item %d: cursor %d after %d", i, c, last)
			}
			last = c
			if s, ok, err := j.Get(context.Background(), batch[i].Row.ID); err != nil || !ok || s.Cursor != c {
				t.Errorf("item %d: told cursor %d, stored %d, %v", i, c, s.Cursor, err)
			}
		}
	}
	if got := query(t, j, Filter{}); len(got) != 61 {
		t.Errorf("%d events, want 61", len(got))
	}
	// A cursor nobody got is not told, for it is given out after a restart.
	write(t, j, []Item{{Row: sample(0)}})
	if j.Newest() != last {
		t.Errorf("newest is %d, want %d", j.Newest(), last)
	}
	write(t, j, []Item{{Row: &Row{}}, {Row: &Row{}}}) // without an id each is its own
	if got := query(t, j, Filter{}); len(got) != 63 {
		t.Errorf("%d events, want 63", len(got))
	}
}

func TestFilters(t *testing.T) {
	j := fresh(t)
	const n = 2*blockRows + 300
	for from := 0; from < n; from += 100 {
		write(t, j, samples(from, min(from+100, n)))
	}
	late := sample(50) // swept in late from a spool: its time is long before its neighbours'
	late.ID, late.Session = "late", "once"
	write(t, j, []Item{{Row: late}})
	write(t, j, []Item{{Outcome: &Outcome{ID: sample(7).ID, Time: start, Verdict: "deny"}},
		{Outcome: &Outcome{ID: sample(9).ID, Time: start}}})

	all := query(t, j, Filter{})
	if len(all) != n+1 {
		t.Fatalf("%d events, want %d", len(all), n+1)
	}
	for name, test := range map[string]struct {
		f   Filter
		fit func(Stored) bool
	}{
		"after":    {Filter{After: 1500}, func(s Stored) bool { return s.Cursor > 1500 }},
		"between":  {Filter{After: 1000, Before: 1100}, func(s Stored) bool { return s.Cursor > 1000 && s.Cursor < 1100 }},
		"since":    {Filter{Since: sample(2000).Time}, func(s Stored) bool { return !s.Time.Before(sample(2000).Time) }},
		"until":    {Filter{Until: sample(60).Time}, func(s Stored) bool { return !s.Time.After(sample(60).Time) }},
		"agent":    {Filter{Agents: []string{"codex", "nobody"}}, func(s Stored) bool { return s.Agent == "codex" }},
		"kind":     {Filter{Kinds: []string{"tool.after"}, Agents: []string{"grok", "claude"}}, func(s Stored) bool { return s.Kind == "tool.after" && s.Agent != "codex" }},
		"native":   {Filter{Natives: []string{"Nativetool.before"}}, func(s Stored) bool { return s.Kind == "tool.before" }},
		"tool":     {Filter{Tools: []string{"Write"}}, func(Stored) bool { return false }},
		"session":  {Filter{Session: "session-3"}, func(s Stored) bool { return s.Session == "session-3" }},
		"once":     {Filter{Session: "once"}, func(s Stored) bool { return s.ID == "late" }},
		"stranger": {Filter{Session: "stranger"}, func(Stored) bool { return false }},
		"deny":     {Filter{Verdict: "deny"}, func(s Stored) bool { return s.ID == sample(7).ID }},
		"none":     {Filter{Verdict: "none"}, func(s Stored) bool { return s.ID != sample(7).ID }},
		"beyond":   {Filter{After: 1 << 40}, func(Stored) bool { return false }},
	} {
		t.Run(name, func(t *testing.T) {
			want := []string{}
			for _, s := range all {
				if test.fit(s) {
					want = append(want, s.ID)
				}
			}
			if diff := cmp.Diff(want, ids(query(t, j, test.f))); diff != "" {
				t.Fatalf("ids(query(t, j, test.f)) is not as wanted (-want +got):\n%s", diff)
			}
			f := test.f
			f.Newest, f.Limit = true, 300
			backwards := []string{}
			for i := len(want) - 1; i >= 0 && len(backwards) < 300; i-- {
				backwards = append(backwards, want[i])
			}
			if diff := cmp.Diff(backwards, ids(query(t, j, f))); diff != "" {
				t.Fatalf(`newest first:: %v, want ""`, diff)
			}
		})
	}
}

func TestReadingGoesOnWhereItStopped(t *testing.T) {
	j := fresh(t)
	big := bytes.Repeat([]byte("x"), pageBytes/3) // pages end by size, too
	for n := 0; n < 20; n++ {
		r := sample(n)
		r.Body = big
		write(t, j, []Item{{Row: r}})
	}
	var got []string
	var after int64
	for {
		page := query(t, j, Filter{After: after, Limit: 3})
		if len(page) == 0 {
			break
		}
		got = append(got, ids(page)...)
		after = page[len(page)-1].Cursor
	}
	if len(got) != 20 {
		t.Fatalf("%d events, want 20: %v", len(got), got)
	}
	if got := query(t, j, Filter{}); len(got) != 20 {
		t.Fatalf("%d events in one go, want 20", len(got))
	}
	if got := query(t, j, Filter{Newest: true}); len(got) != 20 || got[0].ID != sample(19).ID {
		t.Fatalf("%v backwards; want len(got) == 20 and got[0].ID == sample(19).ID", ids(got))
	}
}

func TestSlowReaderHoldsNothingUp(t *testing.T) {
	j := fresh(t)
	write(t, j, samples(0, 1000))
	for s, err := range j.Query(context.Background(), Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if s.Cursor > 1 {
			break
		}
		// Within the loop no read transaction is open: the log can be reset.
		var busy, frames, carried int64
		err := j.writer.eachRow("PRAGMA wal_checkpoint(TRUNCATE)", func(v []driverValue) {
			busy, frames, carried = integerValue(v[0]), integerValue(v[1]), integerValue(v[2])
		})
		if err != nil || busy != 0 || frames != carried {
			t.Fatalf("busy = %v, frames = %v, carried = %v, error %v; want no error, busy = 0 and frames = %v",
				busy, frames, carried, err, carried)
		}
		write(t, j, samples(2000, 2001))
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range j.Query(canceled, Filter{}) {
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("error %v, want error context.Canceled", err)
		}
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a dir?with#odd%20name", "journal.db")
	j := open(t, path)
	write(t, j, samples(0, blockRows+50))
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("closing left the log behind:", err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("info.Mode() = %v, error %v; want no error and info.Mode().Perm() = 0o600", info.Mode(), err)
	}
	if _, _, err := j.Write(samples(0, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want error ErrClosed", err)
	}
	for _, err := range j.Query(context.Background(), Filter{}) {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("error %v, want error ErrClosed", err)
		}
	}
	if _, err := j.Retain(start, time.Hour, nil, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("error %v, want error ErrClosed", err)
	}

	j = open(t, path)
	if j.Newest() != blockRows+50 {
		t.Errorf("newest is %d; want j.Newest() == blockRows+50", j.Newest())
	}
	cursors := write(t, j, samples(blockRows, blockRows+100))
	if cursors[0] != 0 || cursors[99] <= blockRows+50 {
		t.Errorf("cursors = %+v, want cursors[0] = 0 and cursors[99] more than blockRows + 50", cursors)
	}
	if got := query(t, j, Filter{Session: "session-2"}); len(got) != (blockRows+100+2)/5 {
		t.Errorf("%d events of the session", len(got))
	}
}

// A copy of the files at any moment is what a killed daemon leaves behind.
// A journal of the first schema, as commit 0c35ccce wrote it, keeps its events and is brought up to date.
func TestAJournalOfTheFirstSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	old := open(t, path)
	write(t, old, samples(0, 3))
	for _, q := range []string{"DROP TABLE outbox", "PRAGMA user_version = 1"} {
		if err := old.writer.execQuery(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	j := open(t, path)
	write(t, j, samples(3, 4))
	if got := query(t, j, Filter{}); len(got) != 4 {
		t.Errorf("%d events, want the three of the old journal and one more", len(got))
	}
}

func TestCopyMadeWhileOpenHoldsEveryCommit(t *testing.T) {
	j := fresh(t)
	stored := 0
	for round := range 3 {
		write(t, j, samples(stored, stored+150))
		stored += 150
		copied := filepath.Join(t.TempDir(), fmt.Sprint(round), "journal.db")
		os.MkdirAll(filepath.Dir(copied), 0o700)
		for _, suffix := range []string{"", "-wal"} {
			data, err := os.ReadFile(j.Path() + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(copied+suffix, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		k := open(t, copied)
		if len(k.Problems()) != 0 {
			t.Fatalf("k.Problems() = %+v, want none", k.Problems())
		}
		// The batch is handed in again, as the drain does after a death.
		_, dups, err := k.Write(samples(stored-150, stored+10))
		if err != nil || dups != 150 {
			t.Fatalf("dups = %v, error %v; want no error and dups = 150", dups, err)
		}
		if got := query(t, k, Filter{}); len(got) != stored+10 {
			t.Fatalf("%d events, want %d", len(got), stored+10)
		}
		k.Close()
	}
}

func TestManyAtOnce(t *testing.T) {
	j := fresh(t)
	var wg sync.WaitGroup
	const writers, batches, size = 4, 8, 20
	for w := range writers {
		wg.Go(func() {
			for b := range batches {
				var items []Item
				for i := range size {
					r := sample(i)
					r.ID = fmt.Sprintf("%d-%d-%d", w, b, i)
					items = append(items, Item{Row: r, Outcome: &Outcome{ID: r.ID, Time: r.Time, Verdict: "allow"}})
				}
				if _, _, err := j.Write(items); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 10 {
			if _, err := j.Retain(start, time.Hour, nil, 1<<30); err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		wg.Go(func() {
			var last int64
			for last < writers*batches*size {
				for s, err := range j.Query(context.Background(), Filter{After: last, Limit: 70}) {
					if err != nil {
						t.Error(err)
						return
					}
					if s.Cursor != last+1 {
						t.Errorf("cursor %d after %d; want s.Cursor == last+1", s.Cursor, last)
						return
					}
					last = s.Cursor
				}
				j.Health()
				j.Problems()
			}
		})
	}
	wg.Wait()
}

func TestClosingUnderQueries(t *testing.T) {
	j := fresh(t)
	write(t, j, samples(0, 3*pageRows))
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				for _, err := range j.Query(context.Background(), Filter{}) {
					if err != nil {
						if !errors.Is(err, ErrClosed) {
							t.Errorf("error %v, want error ErrClosed", err)
						}
						return
					}
				}
			}
		})
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

func TestRepeatingThingsAreStoredOnce(t *testing.T) {
	j := fresh(t)
	write(t, j, samples(0, 300))
	for table, want := range map[string]int64{"shapes": 6, "origins": 5} {
		if n, err := j.writer.queryNumber("SELECT count(*) FROM " + table); err != nil || n != want {
			t.Errorf("%d %s, want %d, %v", n, table, want, err)
		}
	}
	// More of them than the writer knows by heart.
	for n := range internLimit - 100 {
		j.writer.shapes[shape{tool: fmt.Sprint("filler", n)}] = -1
		j.writer.origins[j.writer.fingerprint(origin{pid: -n - 1})] = -1
	}
	var items []Item
	for n := range 300 {
		r := sample(n)
		r.Session, r.Tool = fmt.Sprint("s", n), fmt.Sprint("t", n)
		r.ID = "many" + r.ID
		items = append(items, Item{Row: r})
	}
	write(t, j, items)
	if got := query(t, j, Filter{Session: "s250", Tools: []string{"t250"}}); len(got) != 1 {
		t.Errorf("ids(got) = %q, want len(got) = 1", ids(got))
	}
	if len(j.writer.shapes) > 300 || len(j.writer.origins) > 300 {
		t.Error("the writer forgot nothing")
	}
}

func TestViewForPeople(t *testing.T) {
	j := fresh(t)
	write(t, j, samples(0, 1))
	db, _ := j.readPool()
	var when, agent, body string
	if err := db.QueryRow("SELECT time, agent, body FROM log").Scan(&when, &agent, &body); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(when, "2026-03-01T12:00:00") || agent != "claude" || body != `{"n":0}` {
		t.Errorf(`when = %q, agent = %q, body = %q; want when that begins with "2026-03-01T12:00:00", agent = `+
			`"claude" and body = {"n":0}`, when, agent, body)
	}
}
