package accepted

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// home is a user's folders with one file of settings in them.
type home struct {
	t       *testing.T
	options Options
	file    string
}

func newHome(t *testing.T) *home {
	t.Helper()
	base := t.TempDir()
	h := &home{t: t, options: Options{Config: base + "/config", State: base + "/state", Data: base + "/data"}}
	h.file = filepath.Join(h.options.Config, "config.json")
	return h
}

func (h *home) write(path, text string) {
	h.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

// addLines returns the way of these tests to strengthen: every line that begins with
// "no " is added, and a lost state is one line.
func addLines(have, live []byte, basis State) []byte {
	force := string(have)
	if have == nil && basis == Lost {
		force = "no nothing\n"
	}
	for line := range strings.Lines(string(live)) {
		if strings.HasPrefix(line, "no ") && !strings.Contains(force, line) {
			force += line
		}
	}
	if force == "" && have == nil {
		return nil
	}
	return []byte(force)
}

func refuseBad(text []byte) error {
	if strings.Contains(string(text), "bad") {
		return errors.New("it is bad")
	}
	return nil
}

func (h *home) open() (*Store, *File) {
	s := Open(h.options)
	return s, s.File(h.file, 1<<20, addLines, refuseBad)
}

func (h *home) wantForce(f *File, want string) {
	h.t.Helper()
	view, _ := f.Read()
	if got := string(view.InForce); got != want {
		h.t.Errorf("in force is %q, want %q", got, want)
	}
}

func TestWhatIsInForce(t *testing.T) {
	h := newHome(t)
	h.write(h.file, "a\n")
	s, f := h.open()
	h.wantForce(f, "")
	if _, err := s.Accept(""); err != nil {
		t.Fatal(err)
	}
	h.wantForce(f, "a\n")
	h.write(h.file, "b\nno x\n")
	h.wantForce(f, "a\nno x\n")
	_, f = h.open() // another process
	h.wantForce(f, "a\nno x\n")
	h.write(h.file, "b\n")
	h.wantForce(f, "a\nno x\n")
	h.write(h.file, "a\n") // as it was accepted, and still something was taken out
	s, f = h.open()
	h.wantForce(f, "a\nno x\n")
	list, hash := s.Pending()
	if len(list) != 1 || list[0].Kind != Edited || string(list[0].Before) != "a\nno x\n" {
		t.Errorf("pending are %+v, want that the addition is taken out", list)
	}
	if _, err := s.Accept(hash); err != nil {
		t.Fatal(err)
	}
	h.wantForce(f, "a\n")
	if err := os.Remove(h.file); err != nil {
		t.Fatal(err)
	}
	h.wantForce(f, "a\n")
	if list, _ := s.Pending(); len(list) != 1 || list[0].Kind != Removed {
		t.Errorf("pending are %+v, want one removed file", list)
	}
	if _, err := s.Accept(""); err != nil {
		t.Fatal(err)
	}
	h.wantForce(f, "")
	if what, _ := s.Describe(); what != "" {
		t.Errorf("%q waits, want nothing", what)
	}
}

// However a file loses what was accepted, that stays in force and the change
// waits: emptied, removed, a link to nowhere or to another file, a folder in its
// place, renamed.
func TestLostFilesLoseNothing(t *testing.T) {
	for name, spoil := range map[string]func(h *home) error{
		"emptied": func(h *home) error { return os.Truncate(h.file, 0) },
		"removed": func(h *home) error { return os.Remove(h.file) },
		"dangling": func(h *home) error {
			return errors.Join(os.Remove(h.file), os.Symlink(h.file+".nowhere", h.file))
		},
		"linked": func(h *home) error {
			return errors.Join(os.WriteFile(h.file+".other", []byte("evil\n"), 0o600), os.Remove(h.file),
				os.Symlink(h.file+".other", h.file))
		},
		"a folder": func(h *home) error { return errors.Join(os.Remove(h.file), os.Mkdir(h.file, 0o700)) },
		"renamed":  func(h *home) error { return os.Rename(h.file, h.file+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.write(h.file, "a\nno x\n")
			s, _ := h.open()
			if _, err := s.Accept(""); err != nil {
				t.Fatal(err)
			}
			if err := spoil(h); err != nil {
				t.Fatal(err)
			}
			s, f := h.open()
			h.wantForce(f, "a\nno x\n")
			if list, _ := s.Pending(); len(list) != 1 {
				t.Errorf("pending are %+v, want the one file", list)
			}
		})
	}
}

// Whoever removes a file and the copy of what was accepted of it loosens nothing: everything counts as lost then, which
// switches all built-in guards on. A copy that is gone alone is made again from the file.
func TestLostCopies(t *testing.T) {
	for name, tt := range map[string]struct {
		remove func(h *home) error
		want   State
	}{
		"the copy": {func(h *home) error { return os.RemoveAll(filepath.Join(h.options.State, contentsDir)) }, Accepted},
		"the copy and the file": {func(h *home) error {
			return errors.Join(os.Remove(h.file), os.RemoveAll(filepath.Join(h.options.State, contentsDir)))
		}, Lost},
		"the copy, and the file says something else": {func(h *home) error {
			return errors.Join(os.WriteFile(h.file, []byte("b\n"), 0o600), os.RemoveAll(filepath.Join(h.options.State, contentsDir)))
		}, Lost},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHome(t)
			h.write(h.file, "a\nno x\n")
			s, _ := h.open()
			if _, err := s.Accept(""); err != nil {
				t.Fatal(err)
			}
			if err := tt.remove(h); err != nil {
				t.Fatal(err)
			}
			s, f := h.open()
			if got, _, problem := s.State(); got != tt.want || (problem == nil) != (tt.want == Accepted) {
				t.Errorf("the state is %q, problem %v; want %q", got, problem, tt.want)
			}
			if tt.want == Accepted {
				h.wantForce(f, "a\nno x\n")
				return
			}
			if what, _ := s.Describe(); !strings.Contains(what, "all built-in guards block") {
				t.Errorf("status says %q, want that all built-in guards block", what)
			}
			if _, err := s.Accept(""); err != nil {
				t.Fatal(err)
			}
			if got, _, problem := s.State(); got != Accepted || problem != nil {
				t.Errorf("once accepted again: %q, %v; want %q", got, problem, Accepted)
			}
		})
	}
}

func TestOnlyWhatWasSeenIsTaken(t *testing.T) {
	h := newHome(t)
	s, f := h.open()
	if err := s.AcceptInitial(false); err != nil {
		t.Fatal(err)
	}
	h.write(h.file, "a\n")
	_, hash := s.Pending()
	h.write(h.file, "other\n")
	if _, err := s.Accept(hash); !errors.Is(err, ErrChanged) {
		t.Errorf("taking what nobody saw: %v", err)
	}
	h.write(h.file, "bad\n")
	if _, err := s.Accept(""); err == nil || !strings.Contains(err.Error(), "it is bad") {
		t.Errorf("taking a file that cannot be read: %v", err)
	}
	h.wantForce(f, "")
}

// A command changes its own setting and lets nothing else pass.
func TestCommandsAcceptTheirOwnChange(t *testing.T) {
	h := newHome(t)
	h.write(h.file, "a\n")
	s, f := h.open()
	if err := s.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	addC := func(old []byte) ([]byte, error) { return append(old, "c\n"...), nil }
	h.write(h.file, "a\nc\n")
	if waits, err := f.FollowWrite([]byte("a\n"), []byte("a\nc\n"), addC); waits || err != nil {
		t.Errorf("the command's change waits: %v, %v", waits, err)
	}
	h.wantForce(f, "a\nc\n")
	h.write(h.file, "evil\nno x\n")
	h.wantForce(f, "a\nc\nno x\n")
	addD := func(old []byte) ([]byte, error) { return append(old, "d\n"...), nil }
	h.write(h.file, "evil\nno x\nd\n")
	if waits, err := f.FollowWrite([]byte("evil\nno x\n"), []byte("evil\nno x\nd\n"), addD); !waits || err != nil {
		t.Errorf("the other change does not wait: %v, %v", waits, err)
	}
	h.wantForce(f, "a\nc\nno x\nd\n")
}

// The first state is taken from a person only, and only once.
func TestFirstState(t *testing.T) {
	h := newHome(t)
	h.write(h.file, "a\nno x\n")
	s, f := h.open()
	if err := s.AcceptInitial(false); err != nil {
		t.Fatal(err)
	}
	h.wantForce(f, "no x\n")
	if err := s.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	h.wantForce(f, "a\nno x\n")
	if err := os.Remove(filepath.Join(h.options.State, recordFile)); err != nil {
		t.Fatal(err)
	}
	h.write(h.file, "evil\n")
	s, f = h.open()
	if err := s.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	h.wantForce(f, "no nothing\n")
	if basis, _, _ := s.State(); basis != Lost {
		t.Errorf("the basis is %s, want a lost one", basis)
	}
}

func TestFollowedFilesAreTaken(t *testing.T) {
	h := newHome(t)
	h.write(h.file, "a\n")
	s, f := h.open()
	if err := s.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	stop := s.Follow([]string{h.file})
	h.write(h.file, "b\n")
	h.wantForce(f, "b\n")
	h.write(h.file, "bad\n")
	h.wantForce(f, "b\n")
	h.write(h.file, "c\n")
	// The first change was taken when the file was read, the other one now.
	if list := s.AcceptFollowed(); len(list) != 2 || list[0].Path != h.file || list[1].Path != h.file {
		t.Errorf("taken were %+v, want %s twice", list, h.file)
	}
	stop()
	h.write(h.file, "d\n")
	h.wantForce(f, "c\n")
}

func TestCode(t *testing.T) {
	h := newHome(t)
	root, lib := filepath.Join(h.options.Config, "hooks/gate.ts"), filepath.Join(h.options.Config, "hooks/lib/x.ts")
	h.write(root, "root 1")
	h.write(lib, "lib 1")
	s, _ := h.open()
	if err := s.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	want := func(path, want string) {
		t.Helper()
		got, err := s.CodeReader(root)(path)
		if string(got) != want || (want == "") != (err != nil) {
			t.Errorf("%s is %q, %v; want %q", filepath.Base(path), got, err, want)
		}
	}
	want(root, "root 1")
	want(lib, "lib 1")
	s.MarkLoaded(root)
	h.write(root, "root 2")
	h.write(lib, "lib 2")
	want(root, "root 1")
	want(lib, "lib 1")
	fresh := filepath.Join(h.options.Config, "hooks/lib/new.ts")
	h.write(fresh, "new")
	want(fresh, "")
	s, _ = h.open()
	want(root, "root 1")
	want(lib, "lib 1")
	want(fresh, "")
	if list, _ := s.Pending(); len(list) != 2 {
		t.Errorf("pending are %+v, want both files", list)
	}
	if _, err := s.Accept(""); err != nil {
		t.Fatal(err)
	}
	want(root, "root 2")
	want(lib, "lib 2")
	other := filepath.Join(h.options.Config, "hooks/other.ts")
	h.write(other, "other")
	if got, err := s.CodeReader(other)(other); string(got) != "other" || err != nil || !s.IsNew(other) {
		t.Errorf("a new file is %q, %v, new: %v; want that it counts as new", got, err, s.IsNew(other))
	}
}

// A hook that nobody accepted keeps refusing when its file goes, with what it imports; one that never loaded has
// nothing to keep.
func TestHooksThatNobodyAcceptedGo(t *testing.T) {
	h := newHome(t)
	s, _ := h.open()
	if err := s.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(h.options.Config, "hooks")
	good, lib, bad := filepath.Join(folder, "good.ts"), filepath.Join(folder, "lib.ts"), filepath.Join(folder, "bad.ts")
	for _, path := range []string{good, lib, bad} {
		h.write(path, filepath.Base(path))
	}
	for path, root := range map[string]string{good: good, lib: good, bad: bad} {
		if _, err := s.CodeReader(root)(path); err != nil {
			t.Fatal(err)
		}
	}
	s.MarkLoaded(good) // lib.ts alone is no hook
	for _, path := range []string{good, lib, bad} {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []*Store{s, Open(h.options)} {
		if names := s.KnownIn(folder); !slices.Equal(names, []string{"good.ts", "lib.ts"}) {
			t.Errorf("in force are %v, want the hook that loaded and what it imports", names)
		}
		if got, err := s.CodeReader(good)(lib); string(got) != "lib.ts" || err != nil {
			t.Errorf("the hook imports %q, %v; want what it imported", got, err)
		}
		list, _ := s.Pending()
		for _, c := range list {
			if c.Kind != NotWanted {
				t.Errorf("%s is %s, want that it says nobody accepted it", c.Path, c.Kind)
			}
		}
		if len(list) != 2 {
			t.Errorf("pending are %+v, want the hook that loaded and what it imports", list)
		}
	}
}

func TestProgramsRunAsAccepted(t *testing.T) {
	h := newHome(t)
	program := filepath.Join(h.options.Config, "check.sh")
	h.write(program, "one")
	s, _ := h.open()
	if err := s.AcceptInitial(true); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Program(program, true); got != program || err != nil {
		t.Errorf("an unchanged program is run as %q, %v", got, err)
	}
	h.write(program, "two")
	got, err := s.Program(program, true)
	if err != nil || got == program {
		t.Fatalf("a changed program is run as %q, %v", got, err)
	}
	if text, err := os.ReadFile(got); string(text) != "one" || err != nil {
		t.Errorf("what is run holds %q, %v; want what was accepted", text, err)
	}
	if err := os.WriteFile(got, []byte("three"), 0o700); err != nil {
		t.Fatal(err)
	}
	if again, err := s.Program(program, true); err != nil || again != got {
		t.Errorf("again = %q, error %v; want no error and again = %q", again, err, got)
	}
	if text, err := os.ReadFile(got); string(text) != "one" || err != nil {
		t.Errorf("a changed copy holds %q, %v; want what was accepted", text, err)
	}
}
