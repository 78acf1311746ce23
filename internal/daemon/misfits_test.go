//go:build unix

package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
)

// stateFiles are the files that a daemon reads at its start.
var stateFiles = []string{
	"intake/intake-98.log", "spool/01.10.rec", "off.json", "journal.db", "sessions.log", "places", "guarded", "away.json", "marks.key",
}

// Whatever stands in the place of a file of ours, the daemon comes up, decides,
// stores, says what is wrong, and ends.
func TestMisfitsInTheStateFolderHurtNobody(t *testing.T) {
	huge := func(file string) error {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			return err
		}
		return os.Truncate(file, 1<<29) // a hole: it takes no room
	}
	for what, put := range map[string]func(string) error{
		"pipe":   func(file string) error { return syscall.Mkfifo(file, 0o600) },
		"device": func(file string) error { return os.Symlink("/dev/zero", file) },
		"folder": func(file string) error { return os.Mkdir(file, 0o700) },
		"huge":   huge,
	} {
		t.Run(what, func(t *testing.T) {
			w := newFixture(t)
			named := 0
			for _, name := range stateFiles {
				if name == "journal.db" && (what == "folder" || what == "huge") {
					continue // the database says itself what is wrong with it
				}
				file := filepath.Join(w.Dirs.State, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := put(file); err != nil {
					if what == "huge" {
						t.Skip("this file system has no holes: ", err)
					}
					t.Fatal(err)
				}
			}
			w.Make()
			w.Start()
			w.MustPass(daemontest.SessionEvent("claude", "Notification", nil))
			w.Eventually("the event is stored, and what was wrong is named", func() bool {
				named = 0
				for _, p := range w.h.selection.AllProblems() {
					if strings.Contains(p.What, "intake-98.log") {
						named++
					}
				}
				return named > 0
			})
			w.Down()
		})
	}
}
