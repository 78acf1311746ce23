//go:build unix

package journal

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func cpuTime() time.Duration {
	var r syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

var payload = []byte(`{"session_id":"s","tool_name":"Bash","tool_input":{"command":"` +
	strings.Repeat("go test ./... ", 50) + `"}}`)

func benchRows(base, n int, outcomes bool) []Item {
	items := make([]Item, n)
	for i := range items {
		r := sample(i)
		// As the hook client makes them: growing with time.
		r.ID = fmt.Sprintf("%012x-%08x", base+i, uint32(base+i)*2654435761)
		r.Body = payload
		items[i].Row = r
		if outcomes {
			items[i].Outcome = &Outcome{ID: r.ID, Time: r.Time, Took: time.Millisecond, Verdict: "allow",
				By:       "user:check",
				Decision: []byte(`{"verdict":"allow","reason":"looks fine","by":"user:check"}`)}
		}
	}
	return items
}

// BenchmarkWrite tells the cpu time per event, everything included.
func BenchmarkWrite(b *testing.B) {
	for _, outcomes := range []bool{false, true} {
		for _, size := range []int{1, 8, 32, 128, 512} {
			b.Run(fmt.Sprintf("outcomes=%v/batch=%d", outcomes, size), func(b *testing.B) {
				j := fresh(b)
				var spent time.Duration
				for n := 0; n < b.N; n += size {
					b.StopTimer()
					items := benchRows(n, size, outcomes)
					b.StartTimer()
					before := cpuTime()
					write(b, j, items)
					spent += cpuTime() - before
				}
				b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "cpu-µs/event")
				reportSize(b, j.Path())
			})
		}
	}
}

// BenchmarkPlainTable writes the same events the simple way, for comparison with
// BenchmarkWrite: one table with a column for each thing, an index on id, session
// and time, row by row through database/sql.
func BenchmarkPlainTable(b *testing.B) {
	const batch = 128
	path := filepath.Join(b.TempDir(), "plain.db")
	db, err := sql.Open("sqlite", sourceName(path, "_pragma", "journal_mode(WAL)", "_pragma", "synchronous(NORMAL)",
		"_pragma", "wal_autocheckpoint(4000)", "_pragma", "cache_size(-4000)"))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(`CREATE TABLE events(cursor INTEGER PRIMARY KEY, id TEXT UNIQUE, time INTEGER, agent TEXT,
		kind TEXT, native TEXT, tool TEXT, session TEXT, cwd TEXT, version TEXT, caller TEXT, host TEXT, pane TEXT,
		tty TEXT, pid INTEGER, start INTEGER, flags INTEGER, body BLOB);
		CREATE INDEX bySession ON events(session); CREATE INDEX byTime ON events(time)`); err != nil {
		b.Fatal(err)
	}
	var spent time.Duration
	for n := 0; n < b.N; n += batch {
		b.StopTimer()
		items := benchRows(n, batch, false)
		b.StartTimer()
		before := cpuTime()
		if err := writePlain(db, items); err != nil {
			b.Fatal(err)
		}
		spent += cpuTime() - before
	}
	b.ReportMetric(float64(spent.Microseconds())/float64(b.N), "cpu-µs/event")
	reportSize(b, path)
}

func writePlain(db *sql.DB, items []Item) error {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	insert, err := tx.Prepare("INSERT INTO events VALUES(NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
	if err != nil {
		return err
	}
	for _, item := range items {
		r := item.Row
		if _, err := insert.Exec(r.ID, r.Time.UnixMicro(), r.Agent, r.Kind, r.Native, r.Tool, r.Session, r.Cwd,
			r.AgentVersion, r.Caller, r.Host, r.Pane, r.TTY, r.PID, int64(r.Start), 0, r.Body); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func reportSize(b *testing.B, path string) {
	b.Helper()
	var size int64
	for _, suffix := range []string{"", "-wal"} {
		if info, err := os.Stat(path + suffix); err == nil {
			size += info.Size()
		}
	}
	b.ReportMetric(float64(size)/float64(b.N), "bytes/event")
}

// BenchmarkQuery looks through many events for few.
func BenchmarkQuery(b *testing.B) {
	j := fresh(b)
	const n = 50000
	for from := 0; from < n; from += 500 {
		write(b, j, benchRows(from, 500, from%1000 == 0))
	}
	one := sample(0)
	one.ID, one.Session, one.Tool = "needle", "needle", "needle"
	write(b, j, []Item{{Row: one}})
	for name, f := range map[string]Filter{
		"tool":    {Tools: []string{"needle"}},
		"session": {Session: "needle"},
		"verdict": {Verdict: "deny"},
		"newest":  {Newest: true, Limit: 50},
		"all":     {},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				for _, err := range j.Query(context.Background(), f) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
