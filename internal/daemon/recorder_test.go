package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
	"github.com/hookmux/hookmux/internal/wire"
)

// left makes a record as a hook or an earlier daemon would have written it.
func left(id string) *spool.Record {
	return &spool.Record{
		Type: spool.TypeEvent, ID: id, Time: time.Now(), Agent: "claude", Event: "Notification",
		Payload: []byte(`{"session_id":"s","hook_event_name":"Notification","message":"` + id + `"}`),
	}
}

func (w *daemonFixture) stored() map[string]int {
	w.T.Helper()
	seen := map[string]int{}
	for _, r := range w.Rows() {
		seen[r.ID]++
	}
	return seen
}

func (w *daemonFixture) mustStoreOnce(ids ...string) {
	w.T.Helper()
	seen := map[string]int{}
	w.Eventually(fmt.Sprintf("%d events are stored", len(ids)), func() bool {
		seen = w.stored()
		for _, id := range ids {
			if seen[id] == 0 {
				return false
			}
		}
		return true
	})
	for id, n := range seen {
		if n != 1 {
			w.T.Errorf("%s is stored %d times", id, n)
		}
	}
}

// A place that cannot be written never stops deciding; it is shown, and what
// came meanwhile is stored after the repair.
func TestABrokenDatabaseNeverStopsDeciding(t *testing.T) {
	for name, broken := range map[string]struct{ wreck, repair func(w *daemonFixture) }{
		"the journal is a folder": {
			func(w *daemonFixture) { w.Write(w.Dirs.State+"/journal.db/in-the-way", "") },
			func(w *daemonFixture) { must(w.T, os.RemoveAll(w.Dirs.State+"/journal.db")) },
		},
		"the state folder is a file": {
			func(w *daemonFixture) { w.Write(w.Dirs.State, "not a folder") },
			func(w *daemonFixture) { must(w.T, os.Remove(w.Dirs.State)) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			must(t, os.MkdirAll(filepath.Dir(w.Dirs.State), 0o700))
			broken.wreck(w)
			w.Up(daemontest.NoDeploys(t))
			ids := numbered("n", 20)
			for i, id := range ids {
				r := daemontest.ToolBefore("claude", "s", w.Base, fmt.Sprintf("make deploy %d", i))
				r.ID = id
				w.MustDeny(r, "no deploys")
			}
			p, shown := w.Problem("journal")
			if !shown || !strings.Contains(p.What, "events are not reaching the journal") || p.Fix == "" {
				t.Errorf(`shown as %+v; want shown, "events are not reaching the journal" in p.What and `+
					`p.Fix != ""`, p)
			}
			broken.repair(w)
			w.Eventually("the journal is opened", func() bool { return w.h.recorder.IsOpen() })
			w.mustStoreOnce(ids...)
			w.Eventually("nothing is wrong any more", func() bool {
				info, err := w.Client.Info(t.Context())
				return err == nil && len(info.Problems) == 0
			})
			// The next daemon finds nothing left over.
			w.Down()
			w.Up()
			w.mustStoreOnce(ids...)
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A daemon that ends while its journal is broken leaves everything in the intake,
// for however many daemons it takes.
func TestWhatABrokenJournalDidNotTakeWaitsForTheNextDaemon(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.State+"/journal.db/in-the-way", "")
	ids := numbered("n", 12)
	w.Up()
	w.report(ids...)
	for range 5 { // more often than a record may be suspected
		w.Down()
		w.Up()
	}
	undrained := func() int {
		var info wire.Info
		w.MustCall(wire.MethodInfo, nil, &info)
		return info.Counts.Undrained
	}
	if n := undrained(); n < len(ids) {
		t.Errorf("status counts %d records that are not in the journal; an earlier daemon left %d", n, len(ids))
	}
	w.Down()
	must(t, os.RemoveAll(w.Dirs.State+"/journal.db"))
	w.Up()
	w.mustStoreOnce(ids...)
	w.Eventually("nothing is left", func() bool { return undrained() == 0 })
	if _, shown := w.Problem("aside"); shown {
		t.Error("good records were set aside")
	}
	w.Eventually("the intake is empty", func() bool { return w.intakeFiles() == 0 })
}

// intakeFiles counts the files of the intake that hold something.
func (w *daemonFixture) intakeFiles() int {
	n := 0
	files, _ := filepath.Glob(w.Dirs.Intake() + "/*")
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() > 0 {
			n++
		}
	}
	return n
}

func TestIntakeThatCannotBeWritten(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Intake(), "in the way")
	w.Up(daemontest.NoDeploys(t))
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "make deploy"), "no deploys")
	w.report("through-memory")
	w.mustStoreOnce("through-memory")
	if _, shown := w.Problem("intake"); !shown {
		t.Error("not shown; want shown")
	}
	must(t, os.Remove(w.Dirs.Intake()))
	w.Eventually("it is mended", func() bool { _, shown := w.Problem("intake"); return !shown })
	w.report("written-down")
	w.mustStoreOnce("through-memory", "written-down")
}

func TestRecordsOfADeadDaemonAreStoredOnce(t *testing.T) {
	w := newFixture(t)
	log, err := spool.OpenLog(w.Dirs.Intake())
	must(t, err)
	ids := numbered("acknowledged", 1200) // several batches
	for _, id := range ids {
		if _, err := log.Append(left(id)); err != nil {
			t.Fatal(err)
		}
	}
	must(t, log.Rotate())
	if _, err := log.Append(left(ids[0])); err != nil { // the same again
		t.Fatal(err)
	}
	must(t, log.Close())
	// A torn tail, and garbage between records.
	torn := spool.Append(nil, left("torn"))
	f := w.Dirs.Intake() + "/intake-9000.log"
	good := spool.Append([]byte("garbage"), left("behind-garbage"))
	w.Write(f, string(append(good, torn[:len(torn)-3]...)))
	spooled := numbered("spooled", 30)
	for _, id := range append(spooled, ids[1]) {
		must(t, spoolrecord.Leave(w.Dirs.Spool(), left(id)))
	}
	w.Up()
	w.mustStoreOnce(append(append(ids, spooled...), "behind-garbage")...)
	if n := w.stored()["torn"]; n != 0 {
		t.Error("half a record was stored")
	}
	if _, shown := w.Problem("intake-garbage"); !shown {
		t.Error("garbage is not shown")
	}
	w.Eventually("all files are gone", func() bool {
		files, _ := spool.Sweep(w.Dirs.Spool())
		return w.intakeFiles() == 0 && len(files) == 0
	})
	// What hooks leave later is found as well.
	must(t, spoolrecord.Leave(w.Dirs.Spool(), left("later")))
	w.mustStoreOnce("later")
}

// What is no file of records is set aside, never thrown away, and named; a file
// of records that stands there later is stored.
func TestWhatIsNoFileOfRecordsIsSetAside(t *testing.T) {
	w := newFixture(t)
	folders := []string{w.Dirs.Intake() + "/intake-1.log", w.Dirs.Spool() + "/x.10.rec"}
	for _, folder := range folders {
		w.Write(folder+"/a-file", "")
	}
	w.Up()
	w.report("meanwhile")
	w.mustStoreOnce("meanwhile")
	for _, folder := range folders {
		w.Eventually(folder+" is named", func() bool { _, shown := w.Problem("unfit:" + folder); return shown })
		if kept, err := filepath.Glob(folder + ".bad-*/a-file"); err != nil || len(kept) != 1 {
			t.Errorf("%s was kept as %v, %v; want it once", folder, kept, err)
		}
	}
	w.Write(folders[0], string(spool.Append(nil, left("at-last"))))
	w.mustStoreOnce("meanwhile", "at-last")
}

func TestAPoisonedRecordIsSetAside(t *testing.T) {
	w := newFixture(t)
	file := w.Dirs.Intake() + "/intake-1.log"
	w.Write(file, string(spool.Append(spool.Append(spool.Append(nil, left("good-1")), left("poison")), left("good-2"))))
	must(t, os.MkdirAll(w.Dirs.Runtime, 0o700))
	// As a daemon leaves it that died over this record a second time.
	w.Write(filepath.Join(w.Dirs.Runtime, "attempt"), file+"\npoison\n2\n")
	w.Up()
	w.mustStoreOnce("good-1", "good-2")
	if n := w.stored()["poison"]; n != 0 {
		t.Error("it was tried again")
	}
	if p, shown := w.Problem("aside:poison"); !shown || p.Fix == "" {
		t.Errorf(`shown as %+v; want shown and p.Fix != ""`, p)
	}
	kept, err := spool.Sweep(w.Dirs.State + "/aside")
	if err != nil || len(kept) != 1 || kept[0].ID != "poison" {
		t.Errorf(`kept: %v %v; want no error, len(kept) == 1 and kept[0].ID == "poison"`, kept, err)
	}
	w.Eventually("the file is gone", func() bool { _, err := os.Stat(file); return os.IsNotExist(err) })
	if _, err := os.Stat(filepath.Join(w.Dirs.Runtime, "attempt")); err == nil {
		t.Error("the note stays")
	}
}

func TestASuspectedRecordGetsItsTries(t *testing.T) {
	w := newFixture(t)
	file := w.Dirs.Intake() + "/intake-1.log"
	w.Write(file, string(spool.Append(spool.Append(nil, left("one")), left("two"))))
	must(t, os.MkdirAll(w.Dirs.Runtime, 0o700))
	w.Write(filepath.Join(w.Dirs.Runtime, "attempt"), file+"\ntwo\n1\n")
	w.Up()
	w.mustStoreOnce("one", "two")
}

func TestOldEventsAreForgotten(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/config.json", `{"journal.keep": "1h", "journal.keep.codex": "100d"}`)
	for id, age := range map[string]time.Duration{"new": time.Minute, "old": 2 * time.Hour} {
		rec := left(id)
		rec.Time = time.Now().Add(-age)
		must(t, spoolrecord.Leave(w.Dirs.Spool(), rec))
	}
	codex := left("old-codex")
	codex.Agent, codex.Event, codex.Time = "codex", "Stop", time.Now().Add(-2*time.Hour)
	must(t, spoolrecord.Leave(w.Dirs.Spool(), codex))
	w.Up()
	w.Eventually("the old one is gone", func() bool {
		seen := w.stored()
		return seen["new"] == 1 && seen["old-codex"] == 1 && seen["old"] == 0
	})
}

func TestSecretsStayOutOfTheJournal(t *testing.T) {
	w := open(t, daemontest.NoDeploys(t))
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	r := daemontest.ToolBefore("claude", "s", w.Base, "make deploy TOKEN="+secret)
	r.ID = "with-a-secret"
	r.Env = []byte("MY_TOKEN=" + secret + "\x00")
	f := w.follow(wire.StreamParams{})
	f.ready()
	w.MustDeny(r, "no deploys")
	row := w.Row(r.ID, true)
	streamed := f.next()
	for where, text := range map[string]string{"journal": string(row.Raw), "outcome": string(row.Outcome.Decision),
		"stream": string(streamed.Entry.Event)} {
		if strings.Contains(text, secret) {
			t.Errorf("the secret is in the %s: %s", where, text)
		}
	}
	w.Down()
	must(t, filepath.WalkDir(w.Dirs.State, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), secret) {
			t.Errorf("the secret is in %s", path)
		}
		if info, err := d.Info(); err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is %v; want an error or info.Mode().Perm()&0o077 == 0", path, info.Mode())
		}
		return nil
	}))
}

func TestEventsKeepTheirOrder(t *testing.T) {
	w := open(t)
	ids := numbered("n", 400)
	w.report(ids...)
	w.mustStoreOnce(ids...)
	for i, r := range w.Rows() {
		if r.ID != ids[i] {
			t.Fatalf("number %d is %s, want %s", i, r.ID, ids[i])
		}
	}
}
