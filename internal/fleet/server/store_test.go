//go:build unix

package server

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/postgrestest"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// stores returns all stores there are, new and empty.
func stores(t *testing.T) map[string]store {
	t.Helper()
	file, err := openSQLite(filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	db, err := openPostgres(t.Context(), postgrestest.Start(t).File, "hookmux_test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close(); _ = db.Close() })
	return map[string]store{"SQLite": file, "PostgreSQL": db}
}

// Both stores answer every question of the log, the audit and a replay alike.
func TestStoresAnswerAlike(t *testing.T) {
	at := time.Date(2026, 11, 19, 1, 0, 0, 0, time.UTC)
	var items []journal.Item
	for i := range 40 {
		id := fmt.Sprintf("m%d/e%02d", i%3, i)
		items = append(items, journal.Item{Row: &journal.Row{ID: id, Time: at.Add(time.Duration(i) * time.Second),
			Agent: []string{"claude", "codex"}[i%2], Kind: "tool.before", Native: "PreToolUse", Tool: []string{"Bash", "Edit", "Read"}[i%3],
			Session: "s-" + strconv.Itoa(i%5), Cwd: "/tmp", Host: "m" + strconv.Itoa(i%3), Body: []byte(`{"n":"\u00e9 \u0000"}`)}})
		if i%4 == 0 {
			decision := []string{`{"verdict":"deny","inbox":{"id":"r"}}`, `{"verdict":"deny","would":{"x":1}}`}[i/4%2]
			items = append(items, journal.Item{Outcome: &journal.Outcome{ID: id, Time: at, Took: time.Millisecond, Verdict: "deny",
				By: "guard.destructive", Decision: []byte(decision)}})
		}
	}
	filters := map[string]journal.Filter{
		"everything": {}, "the newest": {Newest: true, Limit: 7}, "a member": {ID: "m1/"}, "one event": {ID: "m1/e04"},
		"since": {Since: at.Add(20 * time.Second)}, "until": {Until: at.Add(20 * time.Second)}, "an agent": {Agents: []string{"codex"}},
		"tools": {Tools: []string{"Bash", "Read"}}, "a session": {Session: "s-3"}, "denied": {Verdict: "deny"}, "undecided": {Verdict: "none"},
		"asked": {Inbox: true}, "logged": {LogOnly: true}, "kinds": {Kinds: []string{"tool.before"}, Natives: []string{"PreToolUse"}, Limit: 3},
		"nothing": {Agents: []string{"pi"}},
	}
	answers := map[string]map[string][]string{}
	for name, s := range stores(t) {
		for _, part := range [][]journal.Item{items[:20], items[10:], items} { // what comes again is there already
			if err := s.Write(part); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		answers[name] = map[string][]string{}
		for what, f := range filters {
			list := []string{}
			for one, err := range s.Query(t.Context(), f) {
				if err != nil {
					t.Fatalf("%s, %s: %v", name, what, err)
				}
				line := fmt.Sprint(one.ID, one.Time.UnixMicro(), one.Agent, one.Kind, one.Native, one.Tool, one.Session, one.Cwd, one.Host,
					string(one.Body))
				if o := one.Outcome; o != nil {
					line += fmt.Sprint(o.Time.UnixMicro(), o.Took, o.Verdict, o.By, o.Degraded, string(o.Decision))
				}
				list = append(list, line)
			}
			answers[name][what] = list
		}
		if crowders, err := s.Retain(at.Add(30*time.Second), 20*time.Second, 0); err != nil || len(crowders) > 0 {
			t.Fatal(err, crowders)
		}
		left := 0
		for one := range s.Query(t.Context(), journal.Filter{}) {
			if left++; one.Time.Before(at.Add(10 * time.Second)) {
				t.Errorf("%s keeps %s, which is too old", name, one.ID)
			}
		}
		if left != 30 {
			t.Errorf("%s keeps %d events, want 30", name, left)
		}
	}
	for what := range filters {
		file, db := answers["SQLite"][what], answers["PostgreSQL"][what]
		if !slices.Equal(file, db) {
			t.Errorf("%s: SQLite answers\n%s\nPostgreSQL\n%s", what, strings.Join(file, "\n"), strings.Join(db, "\n"))
		}
		if (len(file) == 0) != (what == "nothing") {
			t.Errorf("%s: %d events", what, len(file))
		}
	}
}

// A member that sends a lot for long, each message within what it may, fills the journal:
// it loses its own oldest events, and nobody else loses any.
func TestCrowderLosesItsOwnEvents(t *testing.T) {
	at := time.Date(2026, 11, 19, 1, 0, 0, 0, time.UTC)
	body := []byte(`{"prompt":"` + strings.Repeat("x", 1000) + `"}`)
	for name, s := range stores(t) {
		n := 0
		write := func(member string, count int) {
			var items []journal.Item
			for range count {
				n++
				items = append(items, journal.Item{Row: &journal.Row{ID: fmt.Sprintf("%s/%06d", member, n), Time: at.Add(time.Duration(n) *
					time.Second), Agent: "claude", Kind: "turn.start", Native: "UserPromptSubmit", Body: body}})
			}
			if err := s.Write(items); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for range 20 {
			write("ma", 5)
			write("mb", 5)
			write("mc", 400)
		}
		counts := func() (of map[string]int, oldest, newest string) {
			of = map[string]int{}
			for one, err := range s.Query(t.Context(), journal.Filter{}) {
				if err != nil {
					t.Fatal(err)
				}
				member, id, _ := strings.Cut(one.ID, "/")
				if member == "mc" {
					if oldest == "" {
						oldest = id
					}
					newest = id
				}
				of[member]++
			}
			return of, oldest, newest
		}
		const limit = 6 << 20
		for i, named := range []string{"[mc]", "[]", "[]"} { // what was freed must not make the next run delete more
			if crowders, err := s.Retain(at, 0, limit); err != nil || fmt.Sprint(crowders) != named {
				t.Fatalf("%s: run %d names %v, error %v; want %s", name, i, crowders, err, named)
			}
		}
		of, oldest, newest := counts()
		if of["ma"] != 100 || of["mb"] != 100 {
			t.Errorf("%s: %v are left, want all 100 of each of the others", name, of)
		}
		if of["mc"] < 3000 || of["mc"] > 6000 || oldest == "000011" || newest != fmt.Sprintf("%06d", n) {
			t.Errorf("%s: %d events of 8000 are left of the one that sends most, %s to %s; want the newest ones, about as many as fit",
				name, of["mc"], oldest, newest)
		}
		// Where nobody takes up more than others, the oldest go.
		write("ma", 8000)
		write("mb", 8000)
		if crowders, err := s.Retain(at, 0, limit); err != nil || len(crowders) > 0 {
			t.Fatalf("%s: %v, %v", name, crowders, err)
		}
		if of, _, _ := counts(); of["ma"] == 8100 || of["mb"] < 1000 {
			t.Errorf("%s: %v are left, want the oldest of all deleted", name, of)
		}
	}
}

// Members' events arrive in PostgreSQL, once each, and nothing of them is left when the
// fleet ends.
func TestFleetInPostgres(t *testing.T) {
	o := Options{Postgres: postgrestest.Start(t).File}
	f := newFleetWith(t, o)
	one := f.member("one", protocol.RoleMember)
	for range 2 {
		if told := one.send("events", batchOf(anEvent("a"), anEvent("b"))); told.Error != "" {
			t.Fatal(told.Error)
		}
	}
	f.wantStored(one.id, "a", "b")
	o.Dir = f.server.o.Dir
	if kept, err := Erase(t.Context(), o); err != nil || len(kept) > 0 {
		t.Fatal(err, kept)
	}
	db, err := openPostgres(t.Context(), o.Postgres, "other")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var left int
	if err := db.pool.QueryRow(t.Context(), "SELECT count(*) FROM information_schema.schemata WHERE schema_name = $1",
		schemaOf(f.server.Fleet())).Scan(&left); err != nil || left != 0 {
		t.Errorf("the fleet's schema is left: %d, error %v", left, err)
	}
}
