package starts

import (
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

// Several programs note the same session at once, each in another folder, while the
// file is shortened every now and then.
func TestSeveralAtOnceHearTheSame(t *testing.T) {
	state := t.TempDir()
	programs := make([]*Log, 4)
	for p := range programs {
		programs[p] = New(state)
		defer programs[p].Close()
	}
	deep := strings.Repeat("/sub", 4000)
	for i := range 150 {
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
			if got[p] != got[0] {
				t.Fatalf("session %d: programs 0 and %d heard %.2s and %.2s, want the same", i, p, got[0], got[p])
			}
		}
	}
	info, err := os.Stat(filepath.Join(state, fileName))
	if err != nil || info.Size() > 2*maxFile {
		t.Errorf("the file has %v bytes, %v; want at most about %d", info, err, maxFile)
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
		"garbage":     "\x00\x00\n{\"agent\":1}\n" + string(whole),
		"torn before": `{"agent":"claude","sess` + "\n" + string(whole),
		"torn behind": string(whole) + `{"agent":"claude","session":"two","fol`,
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

// The file is removed, emptied or replaced while a hub has it open.
func TestTheFileIsLostMeanwhile(t *testing.T) {
	for name, lose := range map[string]func(file string) error{
		"removed":  os.Remove,
		"emptied":  func(file string) error { return os.Truncate(file, 0) },
		"replaced": func(file string) error { return errors.Join(os.Remove(file), os.WriteFile(file, nil, 0o600)) },
	} {
		state := t.TempDir()
		l := New(state)
		defer l.Close()
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
