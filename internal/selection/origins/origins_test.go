package origins

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var one = Session{"claude", "one"}

// remember asks a new Log, as another program would.
func remember(t *testing.T, state string, s Session, folder string) string {
	t.Helper()
	l := New(state)
	defer l.Close()
	got, err := l.Remember(s, folder)
	if err != nil {
		t.Errorf("%v in %s: %v", s, folder, err)
	}
	return got
}

func TestTheFirstFolderCounts(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state") // which is made
	l := New(state)
	defer l.Close()
	if _, err := l.Read(one); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a session nobody heard of: %v, want that there is none", err)
	}
	for _, folder := range []string{"/home/app", "/tmp"} {
		if got := remember(t, state, one, folder); got != "/home/app" {
			t.Errorf("heard of in %s: started in %q, want /home/app", folder, got)
		}
	}
	if got, err := l.Read(one); got != "/home/app" || err != nil {
		t.Errorf("read by a program that was there before: %q, %v; want /home/app", got, err)
	}
	if got := remember(t, state, Session{"codex", "one"}, "/tmp"); got != "/tmp" {
		t.Errorf("another agent's session of the same id started in %q, want /tmp", got)
	}
}

// Several programs note the same session at once, each in another folder, while two of
// them shorten the file every now and then.
func TestSeveralAtOnceHearTheSame(t *testing.T) {
	state := t.TempDir()
	programs := []*Log{NewForDaemon(state), NewForDaemon(state), New(state), New(state)}
	for _, l := range programs {
		l.keep = 40
		t.Cleanup(l.Close)
	}
	deep := strings.Repeat("/sub", 200)
	for i := range 1000 {
		var all sync.WaitGroup
		got := make([]string, len(programs))
		for p, l := range programs {
			all.Go(func() {
				var err error
				if got[p], err = l.Remember(Session{"claude", fmt.Sprint(i)}, fmt.Sprint("/", p, deep)); err != nil {
					t.Errorf("session %d: %v", i, err)
				}
			})
		}
		all.Wait()
		for p := range got {
			if got[p] != got[0] || !strings.HasSuffix(got[p], deep) {
				t.Fatalf("session %d: programs 0 and %d heard %.2s and %.2s, want the same", i, p, got[0], got[p])
			}
		}
		if text, err := os.ReadFile(programs[0].path); err != nil || bytes.Count(text, []byte("\n")) > 500 {
			t.Fatalf("session %d: the file has %d lines, %v; want that it is shortened", i, bytes.Count(text, []byte("\n")), err)
		}
	}
}

func TestDamagedLinesAreNoNotes(t *testing.T) {
	state := t.TempDir()
	file := filepath.Join(state, fileName)
	remember(t, state, one, "/home/app")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"garbage":     "\x00\x00\n{\"agent\":1}\nzz L3g\n" + strings.Repeat("z", 24) + " L3g\n" + string(whole),
		"not encoded": strings.Split(string(whole), " ")[0] + " /x!\n" + string(whole),
		"torn before": string(whole[:20]) + "\n" + string(whole),
		"torn behind": string(whole) + strings.Repeat("a", 24) + ` L2Zv`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := remember(t, state, one, "/tmp"); got != "/home/app" {
			t.Errorf("%s: the session started in %q, want /home/app", name, got)
		}
		two := Session{"claude", "two"}
		if got := remember(t, state, two, "/two"); got != "/two" {
			t.Errorf("%s: the next session started in %q, want /two", name, got)
		}
		if got := remember(t, state, two, "/three"); got != "/two" {
			t.Errorf("%s: heard again, the next session started in %q, want /two", name, got)
		}
	}
}

// What cannot be written down counts in this program, and is written down later.
func TestNotesAreWrittenWhenTheyCanBe(t *testing.T) {
	state := t.TempDir()
	file := filepath.Join(state, fileName)
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	l := New(state)
	defer l.Close()
	if got, err := l.Remember(one, "/home/app"); got != "/home/app" || err == nil || l.AllSaved() {
		t.Errorf("got %q, %v, all saved %v; want the folder and an error", got, err, l.AllSaved())
	}
	if got, ok := l.Known(one); got != "/home/app" || !ok {
		t.Errorf("known is %q, %v; want /home/app", got, ok)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Remember(Session{"claude", "two"}, "/tmp"); err != nil || !l.AllSaved() {
		t.Errorf("after the repair: %v, all saved %v; want everything on disk", err, l.AllSaved())
	}
	if got := remember(t, state, one, "/elsewhere"); got != "/home/app" {
		t.Errorf("another program hears %q, want /home/app", got)
	}
}

// The file is removed, emptied or replaced while a daemon has it open.
func TestTheFileIsLostMeanwhile(t *testing.T) {
	for name, lose := range map[string]func(file string) error{
		"removed":  os.Remove,
		"emptied":  func(file string) error { return os.Truncate(file, 0) },
		"replaced": func(file string) error { return errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)) },
	} {
		state := t.TempDir()
		l := New(state)
		t.Cleanup(l.Close)
		if _, err := l.Remember(one, "/home/app"); err != nil {
			t.Fatal(err)
		}
		if err := lose(l.path); err != nil {
			t.Fatal(err)
		}
		if got, _ := l.Remember(one, "/tmp"); got != "/home/app" {
			t.Errorf("%s: the session started in %q, want /home/app", name, got)
		}
		two := Session{"claude", "two"}
		if got, err := l.Remember(two, "/two"); got != "/two" || err != nil {
			t.Errorf("%s: the next session started in %q, %v; want /two", name, got, err)
		}
		if got := remember(t, state, two, "/three"); got != "/two" {
			t.Errorf("%s: another program hears %q of the next session, want /two", name, got)
		}
	}
}

// What an agent sends as a session's id or folder, however odd or long, costs no other
// session its note.
func TestOddSessionsCostNobodyTheirNote(t *testing.T) {
	state := t.TempDir()
	l := NewForDaemon(state)
	defer l.Close()
	if _, err := l.Remember(one, "/home/app"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		s      Session
		folder string
		want   string
	}{
		"not UTF-8":         {Session{"claude", "x\xff"}, "/tmp/\xff", "/tmp/\xff"},
		"lines":             {Session{"claude", "x\n0 \"/y\"\n"}, "/tmp/\n", "/tmp/\n"},
		"NUL":               {Session{"claude", "\x00"}, "/tmp/\x00", "/tmp/\x00"},
		"an id of 3 MiB":    {Session{"claude", strings.Repeat("x", 3<<20)}, "/tmp", "/tmp"},
		"a folder of 3 MiB": {Session{"claude", "long"}, strings.Repeat("/x", 3<<19), ""},
		"nothing":           {Session{}, "", ""},
	} {
		if got, err := l.Remember(c.s, c.folder); got != c.want || err != nil || !l.AllSaved() {
			t.Errorf("%s: started in %.20q, %v, all saved %v; want %.20q on disk", name, got, err, l.AllSaved(), c.want)
		}
		if got := remember(t, state, c.s, "/elsewhere"); got != c.want {
			t.Errorf("%s: another program hears %.20q, want %.20q", name, got, c.want)
		}
		if got := remember(t, state, one, "/elsewhere"); got != "/home/app" {
			t.Errorf("after %s the first session started in %q, want /home/app", name, got)
		}
	}
}

// A file that can only be read still says where sessions started.
func TestNotesOfAFileThatCannotBeWritten(t *testing.T) {
	state := t.TempDir()
	remember(t, state, one, "/home/app")
	l := New(state)
	defer l.Close()
	l.open = func(path string, write bool) (*os.File, error) { // root may write every file
		if write {
			return nil, fs.ErrPermission
		}
		return openFile(path, write)
	}
	if got, err := l.Remember(one, "/tmp"); got != "/home/app" || err != nil {
		t.Errorf("started in %q, %v; want /home/app", got, err)
	}
	two := Session{"claude", "two"}
	if got, err := l.Remember(two, "/two"); got != "/two" || err == nil {
		t.Errorf("the next session: %q, %v; want its folder and an error", got, err)
	}
	l.open = openFile
	if err := l.Save(); err != nil || !l.AllSaved() {
		t.Errorf("once it can be written: %v, all saved %v; want everything on disk", err, l.AllSaved())
	}
	if got := remember(t, state, two, "/tmp"); got != "/two" {
		t.Errorf("another program hears %q, want /two", got)
	}
}

// Of very many sessions those that were asked about last are remembered.
func TestManySessions(t *testing.T) {
	state := t.TempDir()
	l := NewForDaemon(state)
	defer l.Close()
	const all = 20_000
	name := func(i int) Session { return Session{"claude", fmt.Sprint(i)} }
	worst := strings.Repeat("\xff", maxFolder)
	if _, err := l.Remember(one, "/home/app"); err != nil {
		t.Fatal(err)
	}
	for i := range all {
		if _, err := l.Remember(name(i), worst); err != nil {
			t.Fatal(err)
		}
		if got, ok := l.Known(one); got != "/home/app" || !ok {
			t.Fatalf("after %d others the session that is asked about started in %q, want /home/app", i+1, got)
		}
	}
	if n := len(l.sessions); n > 2*keepSessions {
		t.Errorf("%d sessions are in memory, want at most %d", n, 2*keepSessions)
	}
	next := New(state)
	defer next.Close()
	if got, err := next.Read(one); got != "/home/app" || err != nil {
		t.Errorf("the next daemon reads %q, %v; want /home/app", got, err)
	}
	for i := all - keepSessions + 1; i < all; i++ {
		if _, err := next.Read(name(i)); err != nil {
			t.Fatalf("session %d of %d: %v; want that it is remembered", i, all, err)
		}
	}
}
