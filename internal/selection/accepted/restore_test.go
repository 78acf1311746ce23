package accepted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// restoreAll restores what waits.
func restoreAll(t *testing.T, s *Store) (done []Change, left []error) {
	t.Helper()
	_, hash := s.Pending()
	done, left, err := s.Restore(hash)
	if err != nil {
		t.Fatalf("restoring: %v", err)
	}
	return done, left
}

// A program that a hook runs can be run whatever was done to its file, before it is
// restored and afterwards.
func TestProgramsRunAfterRestore(t *testing.T) {
	for _, c := range []struct {
		name, content string
		harm          func(path string) error
	}{
		{"edited, and the permission taken", "#!/bin/sh\nexit 2\n", func(path string) error {
			if err := os.WriteFile(path, []byte("#!/bin/sh\nexit 0\n"), 0o600); err != nil {
				return err
			}
			return os.Chmod(path, 0o600)
		}},
		{"a binary that was deleted", "\x7fELF...", os.Remove},
		{"only the permission taken", "#!/bin/sh\nexit 2\n", func(path string) error { return os.Chmod(path, 0o600) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t)
			h.write(h.file, "a\n")
			program := filepath.Join(t.TempDir(), "guard")
			h.write(program, c.content)
			if err := os.Chmod(program, 0o755); err != nil {
				t.Fatal(err)
			}
			s, _ := h.open()
			if _, err := s.Accept(""); err != nil {
				t.Fatal(err)
			}
			if run, err := s.Program(program, true); run != program || err != nil {
				t.Fatalf("an unchanged program is run as %s, %v; want %s", run, err, program)
			}
			if err := c.harm(program); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"before", "after"} {
				if when == "after" {
					restoreAll(t, s)
				}
				run, err := s.Program(program, true)
				if err != nil || !canRun(run) {
					t.Errorf("%s restoring, %s is run, %v, which cannot be run", when, run, err)
				}
				if text, _ := os.ReadFile(run); string(text) != c.content {
					t.Errorf("%s restoring, %q is run, want %q", when, text, c.content)
				}
			}
		})
	}
}

// A script that an interpreter runs needs no permission, and stays where it is.
func TestScriptsOfInterpretersStay(t *testing.T) {
	h := newHome(t)
	h.write(h.file, "a\n")
	script := filepath.Join(t.TempDir(), "guard.py")
	h.write(script, "import helper")
	s, _ := h.open()
	if _, err := s.Accept(""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if run, err := s.Program(script, true); run != script || err != nil {
			t.Errorf("the script is run as %s, %v; want %s", run, err, script)
		}
	}
}

func TestRestoreKeepsWhatStoodThere(t *testing.T) {
	h := newHome(t)
	h.write(h.file, "a\n")
	s, _ := h.open()
	if _, err := s.Accept(""); err != nil {
		t.Fatal(err)
	}
	h.write(h.file, "an evening's work\n")
	if done, left := restoreAll(t, s); len(done) != 1 || len(left) != 0 {
		t.Fatalf("restored %d, left %v; want 1 and none", len(done), left)
	}
	kept, _ := filepath.Glob(filepath.Join(h.options.State, replacedDir, "*", "config.json"))
	if len(kept) != 1 {
		t.Fatalf("%v is kept, want one copy", kept)
	}
	if text, err := os.ReadFile(kept[0]); string(text) != "an evening's work\n" || err != nil {
		t.Errorf("the copy holds %q, %v", text, err)
	}
}

// What was added to refuse more stays in force; restoring says how it ends, and says
// "restored" once.
func TestRestoreEnds(t *testing.T) {
	h := newHome(t)
	h.write(h.file, "a\n")
	s, f := h.open()
	if _, err := s.Accept(""); err != nil {
		t.Fatal(err)
	}
	h.write(h.file, "a\nno rm\n")
	h.wantForce(f, "a\nno rm\n")
	if done, _ := restoreAll(t, s); len(done) != 1 {
		t.Errorf("restored %d, want 1", len(done))
	}
	h.wantForce(f, "a\nno rm\n")
	done, left := restoreAll(t, s)
	if len(done) != 0 || len(left) != 1 || !strings.Contains(left[0].Error(), "`hookmux config accept` ends that") {
		t.Errorf("again: restored %d, left %v; want none, and how it ends", len(done), left)
	}
}
