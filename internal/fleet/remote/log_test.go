package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/wire"
)

// journalOf is a journal as the server reads it.
type journalOf struct{ *journal.Journal }

func (j journalOf) Stored(ctx context.Context, f journal.Filter) iter.Seq2[journal.Stored, error] {
	return j.Query(ctx, f)
}

func openJournal(t *testing.T, dir string) *journal.Journal {
	t.Helper()
	j, err := journal.Open(filepath.Join(dir, "journal.db"), journal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// stores journals events on the other machine.
func (f *far) stores(t *testing.T, from, to int) {
	t.Helper()
	var items []journal.Item
	for i := from; i <= to; i++ {
		items = append(items, journal.Item{Row: &journal.Row{ID: fmt.Sprintf("e%04d", i), Time: time.Now().Add(-2 * time.Hour).Truncate(time.Microsecond),
			Agent: "claude", Kind: string(event.ToolBefore), Native: "PreToolUse", Tool: "Bash", Session: "s-1", Cwd: "/",
			Body: fmt.Appendf(nil, `{"n":%d}`, i)}})
	}
	f.writes(t, items...)
}

func (f *far) writes(t *testing.T, items ...journal.Item) {
	t.Helper()
	if _, _, err := f.journal.Write(items); err != nil {
		t.Fatal(err)
	}
	f.server.EventsStored()
}

// copied returns the ids of the events of a host that are here, with what was decided.
func (n *near) copied(t *testing.T, host string) (ids []string) {
	t.Helper()
	for f := (journal.Filter{Limit: 100}); ; {
		rows, more, bad := n.ReadCopies(t.Context(), host, f)
		if bad != nil {
			t.Fatal(bad)
		}
		for i := range rows {
			id := rows[i].ID
			if rows[i].Host != "build" {
				t.Fatalf("%s is of the host %q, want build", id, rows[i].Host)
			}
			if rows[i].Outcome != nil {
				id += " " + rows[i].Outcome.Verdict
			}
			ids = append(ids, id)
			f.After = rows[i].Cursor
		}
		if !more {
			return ids
		}
	}
}

func numbered(from, to int) (ids []string) {
	for i := from; i <= to; i++ {
		ids = append(ids, fmt.Sprintf("e%04d", i))
	}
	return ids
}

func (n *near) awaitCopied(t *testing.T, want []string) {
	t.Helper()
	var got []string
	await.Until(t, fmt.Sprintf("%d events are here", len(want)), func() bool {
		got = n.copied(t, "build")
		return len(got) >= len(want)
	})
	if !slices.Equal(got, want) {
		t.Fatalf("the events here are\n%v\nwant\n%v", got, want)
	}
}

// The log of another machine arrives here once and in order, also what it journalled while the
// link was lost and this machine restarted; so do outcomes that came later. Removing the machine
// leaves nothing.
func TestLogOfAnotherMachine(t *testing.T) {
	f := newFar(t)
	f.stores(t, 1, 300)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	want := numbered(101, 300) // the newest ones
	n.awaitCopied(t, want)
	f.stores(t, 301, 301)
	want = append(want, "e0301")
	n.awaitCopied(t, want)

	refuse := func(_ context.Context, conn net.Conn) { _ = conn.Close() }
	n.mu.Lock()
	n.serve = refuse
	n.mu.Unlock()
	n.cut()
	await.Until(t, "the link is lost", func() bool { return n.host().State == wire.HostLost })
	f.stores(t, 302, 400)
	n.stop()
	await.Until(t, "the daemon here ends", func() bool { return n.Background.Wait(t.Context()) })
	f.stores(t, 401, 501)
	n = newNearIn(t, n.Deps, f.serve)
	n.Run(n.ctx)
	want = append(want, numbered(302, 501)...)
	n.awaitCopied(t, want)

	f.writes(t, journal.Item{Outcome: &journal.Outcome{ID: "e0400", Time: time.Now(), Verdict: "deny", Decision: []byte(`{}`)}})
	want[slices.Index(want, "e0400")] += " deny"
	await.Until(t, "the outcome is here", func() bool { return slices.Equal(n.copied(t, "build"), want) })
	if all := n.copied(t, ""); !slices.Equal(all, want) {
		t.Errorf("the log of all hosts is %v, want the one host's", all)
	}

	// What was copied before is copied again: its place was lost.
	n.stop()
	await.Until(t, "the daemon here ends", func() bool { return n.Background.Wait(t.Context()) })
	places := filepath.Join(n.Dirs.State, placesFile)
	if err := os.Remove(places); err != nil {
		t.Fatal(err)
	}
	n = newNearIn(t, n.Deps, f.serve)
	n.Run(n.ctx)
	await.Until(t, "the place is kept again", func() bool { _, err := os.Stat(places); return err == nil })
	n.awaitCopied(t, want)

	if _, bad := n.removeMethod(mustJSON(wire.RemoteNameParams{Name: "build"}), proc.Cred{}); bad != nil {
		t.Fatal(bad)
	}
	if left, _ := filepath.Glob(filepath.Join(n.Dirs.State, "remote-log*")); len(left) > 0 || n.Copies("build") || n.Copies("") {
		t.Errorf("removing the machine leaves %v", left)
	}
}

// What an agent there calls its folder, tool or session, and how long its texts get on the way,
// doesn't end the link, nor keep later events there.
func TestEventsThatGrowOnTheWay(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	row := func(id string, change func(*journal.Row)) journal.Item {
		r := &journal.Row{ID: id, Time: time.Now(), Agent: "claude", Kind: string(event.ToolBefore), Native: "PreToolUse", Tool: "Bash",
			Session: "s-1", Cwd: "/", Body: []byte(`{}`)}
		change(r)
		return journal.Item{Row: r}
	}
	controls := []byte(`"` + strings.Repeat("\u009b", 900<<10) + `"`) // three times as long when they are written out
	f.writes(t,
		row("cwd", func(r *journal.Row) { r.Cwd = strings.Repeat("d", 4096) + "…" }), // as the journal cuts it
		row("controls", func(r *journal.Row) { r.Cwd = strings.Repeat("\x1b", 4096) }),
		row("null", func(r *journal.Row) { r.Tool, r.Session = "a\x00b", "\x00" }),
		row("no-text", func(r *journal.Row) { r.Cwd = strings.Repeat("\xff", 4096) }),
		row("body", func(r *journal.Row) { r.Body = controls }),
		journal.Item{Outcome: &journal.Outcome{ID: "body", Time: time.Now(), Verdict: "deny", Decision: []byte(`{}`)}},
		row("markup", func(r *journal.Row) { r.Body = []byte(`"` + strings.Repeat("<", 1<<20) + `"`) }),
		row("last", func(*journal.Row) {}))
	n.awaitCopied(t, []string{"cwd", "controls", "null", "no-text", "body deny", "markup", "last"})
	if state := n.host().State; state != wire.HostConnected {
		t.Errorf("the link is %s, want it connected", state)
	}
}

// What agents there used is asked over the link, by day; also of a machine that may only be
// looked at.
func TestUsageOfAnotherMachine(t *testing.T) {
	f := newFar(t)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	row := func(day, model string, tokens int64) wire.UsageRow {
		return wire.UsageRow{UsageGroup: wire.UsageGroup{Day: day, Agent: "claude", Model: model, Project: "/a\x1b[2J"},
			UsageTokens: wire.UsageTokens{Input: tokens}}
	}
	ask := func(host string, report wire.UsageReport) ([]journal.Stored, *wire.Error) {
		f.change(func() { f.used = report })
		rows, more, bad := n.ReadCopies(t.Context(), host, journal.Filter{Natives: []string{wire.OwnUsage}, Limit: 100})
		if more {
			t.Error("there's more than all")
		}
		return rows, bad
	}
	report := wire.UsageReport{Rows: []wire.UsageRow{row("2026-11-02", "a", 1), row("2026-11-01", "a", 2), row("2026-11-02", "b", 4)}}
	for _, host := range []string{"build", ""} {
		rows, bad := ask(host, report)
		if bad != nil || len(rows) != 2 {
			t.Fatalf("of the host %q come %+v, %v; want two days", host, rows, bad)
		}
		var outcome wire.Outcome
		var used []wire.UsageRow
		if err := json.Unmarshal(rows[1].Outcome.Decision, &outcome); err != nil || json.Unmarshal(outcome.Decision, &used) != nil {
			t.Fatal(err)
		}
		if rows[1].Host != "build" || rows[1].Native != wire.OwnUsage || len(used) != 2 || used[0].Input+used[1].Input != 5 ||
			strings.ContainsRune(used[0].Project, 0x1b) {
			t.Errorf("the second day is %+v with %+v, want build's, safe to show", rows[1], used)
		}
	}
	for name, report := range map[string]wire.UsageReport{
		"still reads":   {Reading: &wire.UsageReading{Files: 1, Of: 2}},
		"a broken disk": {Problem: "a broken disk"},
		"names":         {Rows: []wire.UsageRow{row("yesterday", "a", 1)}},
	} {
		if rows, bad := ask("build", report); bad == nil || !strings.Contains(bad.Message, name) {
			t.Errorf("%s: come %+v, %v; want why nothing is known", name, rows, bad)
		}
	}
	n.mu.Lock()
	n.serve = func(_ context.Context, conn net.Conn) { _ = conn.Close() }
	n.mu.Unlock()
	n.cut()
	await.Until(t, "the link is lost", func() bool { return n.host().State == wire.HostLost })
	if rows, bad := ask("", report); bad == nil || !strings.Contains(bad.Message, "build") {
		t.Errorf("over a lost link come %+v, %v; want which machine is missing", rows, bad)
	}
}

// Of two hosts, removing one leaves the other's events.
func TestForgetOneOfTwoHosts(t *testing.T) {
	deps := newDeps(t)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	c := &copies{deps: deps, over: ctx}
	for _, host := range []string{"a", "a.b"} {
		page := &logPage{Journal: 7, Next: 1, Events: []protocol.Event{{ID: "e1", Cursor: 1, Agent: "claude", Time: time.Now()}}}
		if _, err := c.take(host, place{}, page); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.forget("a", false); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for one, err := range c.journal.Query(ctx, journal.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, one.ID)
	}
	if at, err := c.place("a"); !slices.Equal(ids, []string{"a.b/e1"}) || at.After != 0 || err != nil {
		t.Errorf("after a was removed there are %v, and a's place is %+v (%v); want a.b's event alone", ids, at, err)
	}
	var stored map[string]place
	if b, err := os.ReadFile(c.path(placesFile)); err != nil || json.Unmarshal(b, &stored) != nil || len(stored) != 1 {
		t.Errorf("the places on disk are %v (%v), want a.b's alone", stored, err)
	}
}

// What a daemon that was killed during a removal left is deleted by the next one.
func TestRemovalThatWasCutShort(t *testing.T) {
	f := newFar(t)
	f.stores(t, 1, 2)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	n.awaitCopied(t, numbered(1, 2))
	c := n.copies
	page := &logPage{Journal: 7, Next: 1, Events: []protocol.Event{{ID: "e1", Cursor: 1, Agent: "claude", Time: time.Now()}}}
	if _, err := c.take("removed", place{}, page); err != nil {
		t.Fatal(err)
	}
	restart := func(left ...string) {
		n.stop()
		await.Until(t, "the daemon here ends", func() bool { return n.Background.Wait(t.Context()) })
		for _, end := range left {
			if err := os.WriteFile(n.copies.path(copiesFile)+end, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		n = newNearIn(t, n.Deps, f.serve)
		n.Run(n.ctx)
	}
	restart()
	if all := n.copied(t, ""); !slices.Equal(all, numbered(1, 2)) {
		t.Errorf("the copies are %v, want those of the host that's left", all)
	}
	if at, err := n.copies.place("removed"); err != nil || at.Journal != 0 {
		t.Errorf("the place of the removed host is %+v (%v), want none", at, err)
	}
	n.mu.Lock()
	n.serve = func(_ context.Context, conn net.Conn) { _ = conn.Close() }
	n.mu.Unlock()
	if err := n.store(nil); err != nil {
		t.Fatal(err)
	}
	restart("-wal", "-shm") // as SQLite leaves them when it's killed
	if left, _ := filepath.Glob(filepath.Join(n.Dirs.State, "remote-log*")); len(left) > 0 {
		t.Errorf("without a host there are %v", left)
	}
}

// A machine whose journal went back stays connected, and its new events come, although their
// cursors were used before.
func TestJournalThatWentBack(t *testing.T) {
	f := newFar(t)
	f.stores(t, 1, 10)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	n.awaitCopied(t, numbered(1, 10))
	n.stop()
	await.Until(t, "the daemon here ends", func() bool { return n.Background.Wait(t.Context()) })
	at, err := readPlace(n.Dirs.State)
	if err != nil {
		t.Fatal(err)
	}
	at.After, at.Open = at.After+5, append(at.Open, at.After+3) // it had five more, which are gone there
	if err := os.WriteFile(filepath.Join(n.Dirs.State, placesFile), mustJSON(map[string]place{"build": at}), 0o600); err != nil {
		t.Fatal(err)
	}
	n = newNearIn(t, n.Deps, f.serve)
	n.Run(n.ctx)
	await.Until(t, "a line says what happened", func() bool {
		ids := n.copied(t, "build")
		return strings.HasPrefix(ids[len(ids)-1], "missing-")
	})
	f.stores(t, 11, 12)
	await.Until(t, "the new events are here", func() bool { return slices.Contains(n.copied(t, "build"), "e0012") })
	got := n.copied(t, "build")
	if want := append(numbered(1, 10), numbered(11, 12)...); len(got) != 13 || !slices.Equal(slices.Delete(slices.Clone(got), 10, 11), want) {
		t.Errorf("the log is %v, want e1 to e10, one line for what was lost, e11 and e12", got)
	}
	if state := n.host().State; state != wire.HostConnected {
		t.Errorf("the link is %s, want it connected", state)
	}
}

// A machine whose journal went back is noticed also when it has grown past the old place by then:
// what is new comes from where the two ways part, once, and only that.
func TestJournalThatWentBackAndGrew(t *testing.T) {
	f := newFar(t)
	file := filepath.Join(f.server.Dirs.State, "journal.db")
	reopen := func(from, to string) {
		t.Helper()
		if err := f.journal.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(from)
		if err == nil {
			err = os.WriteFile(to, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		f.journal = openJournal(t, f.server.Dirs.State)
		f.server.Journal = journalOf{f.journal}
	}
	n := newNear(t, f.serve)
	restart := func(there func()) {
		t.Helper()
		n.stop()
		await.Until(t, "the daemon here ends", func() bool { return n.Background.Wait(t.Context()) })
		there()
		n = newNearIn(t, n.Deps, f.serve)
		n.Run(n.ctx)
	}
	f.stores(t, 1, 10)
	n.add(t, f, wire.ScopeRead)
	n.awaitCopied(t, numbered(1, 10))
	restart(func() { reopen(file, file+".snapshot"); f.stores(t, 11, 15) })
	n.awaitCopied(t, numbered(1, 15))
	restart(func() { reopen(file+".snapshot", file); f.stores(t, 21, 40) }) // the cursors of 11 to 15 are used again
	await.Until(t, "the new events are here", func() bool { return slices.Contains(n.copied(t, "build"), "e0040") })
	got := n.copied(t, "build")
	if want := slices.Concat(numbered(1, 15), numbered(21, 40)); len(got) != 36 || !strings.HasPrefix(got[15], "missing-") ||
		!slices.Equal(slices.Delete(slices.Clone(got), 15, 16), want) {
		t.Errorf("the log is %v, want e1 to e15, one line for what was lost, e21 to e40", got)
	}
	restart(func() { f.stores(t, 41, 41) })
	await.Until(t, "the next event is here", func() bool { return slices.Contains(n.copied(t, "build"), "e0041") })
	if again := n.copied(t, "build"); len(again) != len(got)+1 {
		t.Errorf("once more the log is %v, want one event more", again)
	}
}

// Marks are as many as they may be, and reach as far back as the log does.
func TestMarksGrowSparse(t *testing.T) {
	var p place
	for c := int64(1); c <= 5000; c++ {
		p.pass(mark{Cursor: c, Event: fmt.Sprint(c)})
	}
	cursors := make([]int64, len(p.Marks))
	for i, m := range p.Marks {
		cursors[i] = m.Cursor
	}
	if n := len(cursors); n > maxMarks || cursors[0] != 1 || cursors[n-1] != 5000 || cursors[n-2] != 4999 || !slices.IsSorted(cursors) {
		t.Errorf("the marks are %v", cursors)
	}
	if p.backTo(4999); p.Marks[len(p.Marks)-1].Cursor != 4999 {
		t.Errorf("back at 4999 the marks are %v", p.Marks)
	}
}

func readPlace(state string) (place, error) {
	places := map[string]place{}
	b, err := os.ReadFile(filepath.Join(state, placesFile))
	if err == nil {
		err = json.Unmarshal(b, &places)
	}
	return places["build"], err
}

// Events that the other machine deleted before they were copied are missed in one line of its log,
// and so is a journal that was replaced.
func TestMissingEventsAreNamed(t *testing.T) {
	f := newFar(t)
	f.stores(t, 1, 2)
	n := newNear(t, f.serve)
	n.add(t, f, wire.ScopeRead)
	n.awaitCopied(t, numbered(1, 2))
	n.mu.Lock()
	n.serve = func(_ context.Context, conn net.Conn) { _ = conn.Close() }
	n.mu.Unlock()
	n.cut()
	await.Until(t, "the link is lost", func() bool { return n.host().State == wire.HostLost })
	f.stores(t, 3, 5)
	if _, err := f.journal.Retain(time.Now(), time.Hour, nil, 0); err != nil { // they are old
		t.Fatal(err)
	}
	f.stores(t, 6, 7)
	n.mu.Lock()
	n.serve = f.serve
	n.mu.Unlock()
	n.awaitState(t, wire.HostConnected)
	await.Until(t, "the newest event is here", func() bool { return slices.Contains(n.copied(t, "build"), "e0007") })
	n.cut()
	n.awaitState(t, wire.HostConnected)
	f.stores(t, 8, 8)
	await.Until(t, "the newest event is here", func() bool { return slices.Contains(n.copied(t, "build"), "e0008") })
	got := n.copied(t, "build")
	if want := append(numbered(1, 2), append([]string{"missing"}, numbered(6, 8)...)...); len(got) != len(want) ||
		!strings.HasPrefix(got[2], "missing-") || !slices.Equal(slices.Delete(slices.Clone(got), 2, 3), slices.Delete(want, 2, 3)) {
		t.Errorf("the log is %v, want e1 and e2, one line for what is missing, then e6 to e8", got)
	}
}

// A part of a log that no honest machine sends.
func TestLogsThatAreNotBelieved(t *testing.T) {
	at := place{Journal: 7, After: 10, Open: []int64{4}, Marks: []mark{{Cursor: 6}, {Cursor: 10}}}
	good := func(cursor int64) protocol.Event {
		return protocol.Event{ID: "e", Cursor: cursor, Agent: "claude", Time: time.Now()}
	}
	unnamed := good(11)
	unnamed.ID = "a b"
	for name, page := range map[string]logPage{
		"backwards, and more":    {Journal: 7, Next: 9, More: true},
		"backwards with events":  {Journal: 7, Next: 9, Events: []protocol.Event{good(9)}},
		"before the beginning":   {Journal: 7, Next: -1},
		"more, but nothing":      {Journal: 7, Next: 10, More: true},
		"from where nobody was":  {Journal: 7, From: 5, Next: 12, Events: []protocol.Event{good(11)}},
		"a mark elsewhere":       {Journal: 8, From: 6, Next: 12, Events: []protocol.Event{good(11)}},
		"no journal":             {Next: 11},
		"before the place":       {Journal: 7, Next: 12, Events: []protocol.Event{good(10)}},
		"twice the same cursor":  {Journal: 7, Next: 12, Events: []protocol.Event{good(11), good(11)}},
		"behind its end":         {Journal: 7, Next: 12, Events: []protocol.Event{good(13)}},
		"an improper id":         {Journal: 7, Next: 12, Events: []protocol.Event{unnamed}},
		"nobody asked for it":    {Journal: 7, Next: 12, Late: []protocol.Event{good(5)}},
		"more than a page takes": {Journal: 7, Next: 1000, Events: make([]protocol.Event, pageEvents+1)},
	} {
		if page.From == 0 && page.Journal == 7 {
			page.From = 10
		}
		if page.check(at) == nil {
			t.Errorf("%s: the page is taken", name)
		}
	}
	for _, page := range []logPage{
		{Journal: 7, From: 10, Next: 12, Events: []protocol.Event{good(11), good(12)}, Late: []protocol.Event{good(4)}},
		{Journal: 7, From: 6, Next: 9, Events: []protocol.Event{good(9)}}, {Journal: 8, Next: 3, Events: []protocol.Event{good(2)}},
	} {
		if err := page.check(at); err != nil {
			t.Errorf("the proper page %+v is refused: %v", page, err)
		}
	}
}
