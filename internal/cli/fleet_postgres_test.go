//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/postgrestest"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// rowsInPostgres reads the events of a fleet's journal by id, with what was decided.
func rowsInPostgres(t *testing.T, file string) map[string]journal.Stored {
	t.Helper()
	url, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db, err := pgx.Connect(t.Context(), strings.TrimSpace(string(url)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(t.Context()) }()
	var schema string
	if err := db.QueryRow(t.Context(), `SELECT table_schema FROM information_schema.tables WHERE table_name = 'outcomes'`).Scan(
		&schema); err != nil {
		t.Fatal(err)
	}
	list, err := db.Query(t.Context(), fmt.Sprintf(`SELECT e.id, e.time, agent, kind, native, tool, session, body, verdict, decision
		FROM %[1]s.events e LEFT JOIN %[1]s.outcomes o ON o.id = e.id`, pgx.Identifier{schema}.Sanitize()))
	if err != nil {
		t.Fatal(err)
	}
	defer list.Close()
	rows := map[string]journal.Stored{}
	for list.Next() {
		var one journal.Stored
		var verdict *string
		var decision []byte
		if err := list.Scan(&one.ID, &one.Time, &one.Agent, &one.Kind, &one.Native, &one.Tool, &one.Session, &one.Body, &verdict,
			&decision); err != nil {
			t.Fatal(err)
		}
		if verdict != nil {
			one.Outcome = &journal.Outcome{Verdict: *verdict, Decision: decision}
		}
		rows[one.ID] = one
	}
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// A whole fleet whose journal is in a real PostgreSQL: it answers log, usage, audit and replay
// as the member's own SQLite does, has the same rows, and leaves nothing behind.
func TestFleetWithPostgres(t *testing.T) {
	t.Parallel()
	db := postgrestest.Start(t)
	desk, build, wall := newMachine(t), newMachine(t), newMachine(t)
	desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk", "--postgres", db.File)
	asked := time.Now()
	for _, m := range []*machine{desk, build} { // the same rules, so that replays say the same
		m.file(filepath.Join(m.home.Dirs.Config, "rules", "own.yaml"), containerRules)
	}
	build.file(filepath.Join(build.home.Dirs.Home, ".claude/projects/-tmp/s-0.jsonl"), fmt.Sprintf(`{"type":"assistant","sessionId":`+
		`"s-0","cwd":"/tmp","timestamp":%q,"requestId":"r1","message":{"id":"m1","model":"claude-opus-4-5","usage":{"input_tokens":1000,`+
		`"output_tokens":50}}}`+"\n", asked.UTC().Format(time.RFC3339)))
	build.run("fleet", "join", desk.invite("member"), "--name", "build")
	joined, id := time.Now(), build.status().ID
	wall.run("fleet", "join", desk.invite("reader"), "--name", "wall")
	for i := range 20 {
		build.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, i, i))
		command := []string{"deploy it", "ls", "ship it", "true"}[i%4]
		build.hook("claude", "PreToolUse", shellCall("PreToolUse", fmt.Sprintf("s-%d", i), "/tmp", command))
	}
	var wrong []string
	for end := time.Now().Add(daemontest.Patience); ; time.Sleep(200 * time.Millisecond) {
		if wrong = compareRows(rowsOf(t, journalOf(build.home.Dirs)), rowsInPostgres(t, db.File), id, joined); len(wrong) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the journals differ:\n%s", strings.Join(wrong[:min(len(wrong), 10)], "\n"))
		}
	}
	askCentral(t, desk, build, wall, asked)

	// The audit of the fleet has the decisions of the machine's own.
	decisions := func(m *machine, more ...string) map[string]string {
		found := map[string]string{}
		for line := range strings.Lines(m.run(append([]string{"audit", "export"}, more...)...)) {
			var r struct {
				Event               struct{ ID string }
				Verdict, By, Reason string
			}
			if json.Unmarshal([]byte(line), &r) == nil && r.Verdict != "" {
				found[r.Event.ID] = r.Verdict + " by " + r.By + ": " + r.Reason
			}
		}
		return found
	}
	eventuallyFleet(t, "the fleet's audit has what build's own has", func() bool {
		own, central := decisions(build), decisions(desk, "--host", "build")
		for id, said := range own {
			if central[id] != said {
				return false
			}
		}
		return len(own) > 0
	})

	if _, err := os.Stat(filepath.Join(desk.home.Dirs.State, "fleet-server", "journal.db")); err == nil {
		t.Error("there's a journal of SQLite besides")
	}
	build.run("fleet", "leave")
	wall.run("fleet", "leave")
	if out := desk.run("fleet", "leave", "--delete-fleet", "--yes"); strings.Contains(out, "left behind") {
		t.Errorf("leaving says %q", out)
	}
	wantNothingOfTheFleet(t, desk, build, wall)
}

// Stopping the daemon of the machine that serves leaves the fleet served, and says so;
// uninstalling reminds of it; ending the fleet leaves no process behind.
func TestDaemonStopAndUninstallWithAFleet(t *testing.T) {
	t.Parallel()
	desk, build := newMachine(t), newMachine(t)
	if out := desk.run("daemon", "start") + desk.run("daemon", "stop"); strings.Contains(out, "fleet") {
		t.Errorf("without a fleet, stopping says %q", out)
	}
	desk.run("fleet", "init", "--listen", "127.0.0.1:0", "--name", "desk")
	build.run("fleet", "join", desk.invite("member"), "--name", "build")
	server := desk.serverPID()
	if out := desk.run("uninstall", "--yes"); !strings.Contains(out, "still serves a fleet") {
		t.Errorf("uninstall says %q, want that it still serves a fleet", out)
	}
	if out := desk.run("daemon", "stop"); !strings.Contains(out, "hookmux-fleet goes on") {
		t.Errorf("daemon stop says %q, want that the fleet goes on", out)
	}
	build.hook("claude", "UserPromptSubmit", fmt.Sprintf(promptPayload, 1, 1))
	eventuallyFleet(t, "build's events reach the fleet without desk's daemon", func() bool {
		s := build.status()
		return s.Connected && s.Backlog == 0 && s.Sent > 0
	})
	if pid := desk.serverPID(); pid != server || !lives(pid) {
		t.Errorf("the server was process %d, now %d, alive: %v", server, pid, lives(pid))
	}
	if out := build.run("uninstall", "--yes"); !strings.Contains(out, "still in a fleet") {
		t.Errorf("uninstall says %q, want that it's still in a fleet", out)
	}
	if out := build.run("daemon", "stop"); !strings.Contains(out, "shows this machine as lost") {
		t.Errorf("daemon stop says %q, want that the machine is shown as lost", out)
	}
	build.run("fleet", "leave")
	desk.run("daemon", "start")
	if pid := desk.serverPID(); pid != server {
		t.Errorf("the next daemon started another server, process %d", pid)
	}
	desk.run("fleet", "leave", "--delete-fleet", "--yes")
	eventuallyFleet(t, "the server ends with its fleet", func() bool { return !lives(server) })
	wantNothingOfTheFleet(t, desk, build)
}

// lives reports whether a process runs, and isn't just waiting to be collected.
func lives(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && !strings.Contains(string(stat), ") Z ")
}
