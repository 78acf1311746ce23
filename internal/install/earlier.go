package install

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// This file finds what builds before the first release left on a machine, when the daemon
// was called the hub and permissions were called grants. Nothing of it is read; it's
// replaced or removed.

// Leftover is one file of an earlier build.
type Leftover struct {
	Path string
	// Replacement is the new content of the file; nil means that it's removed.
	Replacement []byte
	// Lost describes what is removed with the file and may have to be set up again, "" for nothing.
	Lost string
}

// stateFiles are the state files that have another name now, with what was in them.
var stateFiles = map[string]string{
	"grants.json": "saved permissions", "seats.json": "terminals you had trusted by hand", "naps.json": "",
}

// FindLeftovers returns what an earlier build left.
func FindLeftovers(d paths.Dirs) []Leftover {
	var found []Leftover
	for _, name := range slices.Sorted(maps.Keys(stateFiles)) {
		lost := stateFiles[name]
		if path := filepath.Join(d.State, name); isFile(path) {
			found = append(found, Leftover{Path: path, Lost: lost})
		}
	}
	// What you had accepted isn't read, so all guards block until you accept your settings again. accepted.once keeps
	// it that way once these are gone.
	var accepted []Leftover
	for _, path := range []string{filepath.Join(d.State, "confirmed.json"), filepath.Join(d.State, "confirmed.once"),
		filepath.Join(d.Data, "confirmed.once"), filepath.Join(d.State, "confirmed"),
		filepath.Join(d.State, "confirmed-programs")} {
		if _, err := os.Lstat(path); err == nil && filepath.IsAbs(path) {
			accepted = append(accepted, Leftover{Path: path, Lost: "which settings you had accepted"})
		}
	}
	if len(accepted) > 0 {
		found = append(found, Leftover{Path: filepath.Join(d.State, "accepted.once"), Replacement: []byte("once\n")})
		found = append(found, accepted...)
	}
	// Copies of programs, which hooks ran through a link: once they run another, these can go.
	copies := filepath.Join(d.Data, "programs")
	if to, err := os.Readlink(filepath.Join(d.Data, "bin", "hookmux-hook")); isFolder(copies) &&
		(err != nil || filepath.Dir(to) != copies) {
		found = append(found, Leftover{Path: copies})
	}
	logs, _ := filepath.Glob(filepath.Join(d.Runtime, "hub.*")) // the pattern is well-formed
	for _, path := range logs {
		if filepath.Base(path) != "hub.lock" { // a daemon holds it
			found = append(found, Leftover{Path: path})
		}
	}
	unit := filepath.Join(d.Home, ".config/systemd/user/hookmux.service")
	if text, err := os.ReadFile(unit); err == nil && bytes.Contains(text, []byte("hookmux hub")) {
		found = append(found, Leftover{Path: unit, Replacement: append([]byte("# "+takenOver+"\n"),
			bytes.ReplaceAll(text, []byte("hookmux hub"), []byte("hookmux daemon"))...)})
	}
	agents := filepath.Join(d.Home, "Library/LaunchAgents")
	if text, err := os.ReadFile(filepath.Join(agents, "io.github.hookmux.hub.plist")); err == nil {
		found = append(found, Leftover{Path: filepath.Join(agents, "io.github.hookmux.hub.plist")},
			Leftover{Path: filepath.Join(agents, "io.github.hookmux.daemon.plist"),
				Replacement: append(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("hookmux.hub"), []byte("hookmux.daemon")),
					[]byte("<string>hub</string>"), []byte("<string>daemon</string>")), "<!-- "+takenOver+" -->\n"...)})
	}
	return found
}

// takenOver marks a service file that replaced an earlier build's, which uninstall removes as well.
const takenOver = "Came with a build before the first release; `hookmux uninstall` removes it."

// FindTakenOver returns the service files that replaced an earlier build's.
func FindTakenOver(d paths.Dirs) []Leftover {
	var found []Leftover
	for _, name := range []string{".config/systemd/user/hookmux.service", "Library/LaunchAgents/io.github.hookmux.daemon.plist"} {
		path := filepath.Join(d.Home, name)
		if text, err := os.ReadFile(path); err == nil && bytes.Contains(text, []byte(takenOver)) {
			found = append(found, Leftover{Path: path})
		}
	}
	return found
}

// CleanLeftovers replaces or removes leftovers. With all, what would be replaced is removed as well.
func CleanLeftovers(list []Leftover, all bool) error {
	var errs []error
	for _, one := range list {
		if one.Replacement == nil || all {
			errs = append(errs, os.RemoveAll(one.Path))
			continue
		}
		temporary := one.Path + ".hookmux-new"
		if err := os.WriteFile(temporary, one.Replacement, 0o644); err != nil {
			errs = append(errs, err)
			continue
		}
		errs = append(errs, os.Rename(temporary, one.Path))
	}
	return errors.Join(errs...)
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
