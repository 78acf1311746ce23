package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func record(agent, session, place string, at int64) Record {
	return Record{Agent: agent, Session: session, Argv: []string{agent, "--resume", session}, Dir: "/", Place: place,
		At: time.Unix(at, 0)}
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "resume")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	put := func(r Record) {
		t.Helper()
		if err := s.Put(r); err != nil {
			t.Fatal(err)
		}
	}
	put(record("claude", "a", "%1", 1))
	put(record("codex", "b", "%2", 2))
	put(record("claude", "c", "%1", 3)) // a newer one in the same place
	put(record("pi", "d", "", 4))
	put(record("pi", "e", "", 5)) // no place: they leave each other alone
	if _, ok := s.Get("claude", "a"); ok {
		t.Error("the older session of a pane is still there")
	}
	put(record("grok", "late", "%2", 1)) // an older report must not replace a newer one
	if _, ok := s.Get("codex", "b"); !ok {
		t.Error("an older session replaced a newer one")
	}
	again, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range again.List() {
		names = append(names, r.Session)
	}
	if got := strings.Join(names, " "); got != "e d c b late" {
		t.Errorf("after a restart: %s", got)
	}
	if info, err := os.Stat(filepath.Join(dir, "claude.c.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("info = %v, error %v; want no error and info.Mode().Perm() = 0o600", info, err)
	}
	if !again.Forget("codex", "b") || again.Forget("codex", "b") {
		t.Error("forget does not know what is there")
	}
	if n := again.Purge(func(r Record) bool { return r.Agent != "pi" }); n != 2 {
		t.Errorf("purged %d, want 2", n)
	}
	if last, _ := Open(dir); len(last.List()) != 2 {
		t.Errorf("left: %v; want len(last.List()) == 2", last.List())
	}
}

func TestHostileRecords(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir)
	for _, r := range []Record{
		record("claude", "../../x", "", 1), record("../claude", "x", "", 1), record("claude", "", "", 1),
		record("claude", "a;b", "", 1), {Agent: "claude", Session: "x"},
	} {
		if s.Put(r) == nil {
			t.Errorf("%+v was kept; want s.Put(r) != nil", r)
		}
	}
	for name, text := range map[string]string{
		"claude.bad.json": "{", "claude.other.json": `{"agent":"claude","session":"x","argv":["a","b"]}`, ".new-1": "{}", "notes.txt": "mine",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Open(dir)
	if err == nil || !strings.Contains(err.Error(), "claude.bad.json") ||
		!strings.Contains(err.Error(), "claude.other.json") {
		t.Errorf("%v does not name the files", err)
	}
	if len(s.List()) != 0 {
		t.Errorf("s.List() = %+v, want none", s.List())
	}
	for name, there := range map[string]bool{".new-1": false, "notes.txt": true, "claude.bad.json": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != there {
			t.Errorf("%s: there %v; want (err == nil) == there", name, err == nil)
		}
	}
}

func TestTwelveAtOnce(t *testing.T) {
	dir := t.TempDir()
	s, _ := Open(dir)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() {
			if err := s.Put(record("claude", fmt.Sprint("s", i), fmt.Sprint("%", i), 1)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if again, _ := Open(dir); len(again.List()) != 12 {
		t.Errorf("%d of 12 were kept", len(again.List()))
	}
}
