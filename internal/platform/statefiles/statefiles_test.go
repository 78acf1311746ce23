package statefiles

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/golden"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

const docsFile = "../../../docs/contributing/state-files.md"

func TestDocs(t *testing.T) { golden.Match(t, docsFile, Docs()) }

// Every row is whole, its pattern means something, and its owner is a package that
// names the file.
func TestRows(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All {
		name := string(f.Place) + ":" + f.Pattern
		if seen[name] {
			t.Errorf("%s stands in the list twice", name)
		}
		seen[name] = true
		for field, text := range map[string]string{"Owner": f.Owner, "Format": f.Format, "Contents": f.Contents,
			"Lifetime": f.Lifetime, "Missing": f.Missing, "Damaged": f.Damaged} {
			if text == "" {
				t.Errorf(`%s: %s is empty; want text != ""`, name, field)
			}
		}
		if literal := longestLiteral(f.Pattern); !mentions(t, f.Owner, literal) {
			t.Errorf("%s: no file of %s mentions %q; name the package that writes it", name, f.Owner, literal)
		}
	}
}

// longestLiteral returns the longest part of a pattern that is the same in all names.
func longestLiteral(pattern string) string {
	parts := strings.FieldsFunc(pattern, func(r rune) bool { return r == '*' || r == '/' })
	return strings.Trim(slices.MaxFunc(parts, func(a, b string) int { return len(a) - len(b) }), "-.")
}

func mentions(t *testing.T, owner, literal string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("../../..", owner, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), literal) {
			return true
		}
	}
	return false
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		place Place
		file  string
		want  string // the pattern; "" for none
	}{
		{State, "journal.db", "journal.db"},
		{State, "journal.db-wal", "journal.db-*"},
		{State, "journal.db.bad-x1", "**/*.bad-*"},
		{State, "spool/a.12.rec", "spool/*.rec"},
		{State, "spool/a.12.rec.bad-9", "**/*.bad-*"},
		{State, "spool/deep/a.rec", ""},
		{State, "spool", ""},
		{State, "trust/ab/cd/file.sh", "trust/**"},
		{State, "trust/x", "trust/**"},
		{State, "trust", ""},
		{State, "daemon.sock", ""},
		{Runtime, "daemon.sock", "daemon.sock"},
		{State, "permissions.json.orig", ""},
		{State, ".permissions.json.123.tmp", "**/.*.tmp"},
		{Data, "bin/hookmux-hook", "bin/hookmux*"},
		{Data, "bin/other", ""},
	} {
		got := ""
		if f := Find(c.place, c.file); f != nil {
			got = f.Pattern
		}
		if got != c.want {
			t.Errorf("%s:%s is %q in the list, want %q", c.place, c.file, got, c.want)
		}
	}
}

func TestLook(t *testing.T) {
	base := t.TempDir()
	d := paths.Dirs{State: filepath.Join(base, "state"), Runtime: filepath.Join(base, "state", "run"),
		Data: filepath.Join(base, "data")}
	for file, mode := range map[string]os.FileMode{
		"state/permissions.json": 0o600, "state/off.json": 0o666, "state/notes.txt": 0o600, "state/run/daemon.log": 0o644,
		"state/resume/x": 0o600,
	} {
		path := filepath.Join(base, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range ListFiles(d) {
		rel, _ := filepath.Rel(base, f.Path)
		line := string(f.Place) + " " + filepath.ToSlash(rel)
		if f.File == nil {
			line += " unknown"
		}
		if f.Foreign != "" {
			line += " " + f.Foreign
		}
		got = append(got, line)
	}
	slices.Sort(got)
	want := []string{"runtime state/run/daemon.log", "state state/notes.txt unknown",
		"state state/off.json others may write it (mode 0666)", "state state/permissions.json", "state state/resume/x"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
