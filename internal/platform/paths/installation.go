package paths

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/smallfile"
)

// Installation is what `hookmux install` wrote down about an installation: its
// places, chosen by a person, and its programs. A program that is one of these
// takes its places from here and never from the environment, which whoever
// starts an agent may choose.
type Installation struct {
	Home    string
	Runtime string
	State   string
	Config  string
	Data    string
	// Hook is the path in agents' settings, and Program the one of hookmux.
	// Both may be links that a package manager keeps.
	Hook    string
	Program string
}

const (
	installationFirst = "hookmux installation 1"
	installationLast  = "end"
	maxInstallation   = 64 << 10
)

// InstallationFile is where an installation is written down: below the home
// that the password database names, because HOME may be set by anybody.
func InstallationFile(getenv func(string) string) (string, bool) {
	home, ok := realHome(getenv)
	if !ok {
		return "", false
	}
	return filepath.Join(home, ".local/state/hookmux/installation"), true
}

// realHome is the home directory in the password database. Users that are not
// listed in /etc/passwd (macOS, directory services) have only HOME.
func realHome(getenv func(string) string) (string, bool) {
	if h, ok := passwdHome(passwdFile, UserID()); ok {
		return h, true
	}
	h := getenv("HOME")
	return filepath.Clean(h), filepath.IsAbs(h)
}

// ReadInstallation gives the installation of this user. It is false when there
// is none, and also when its file is damaged or not the user's own.
func ReadInstallation(getenv func(string) string) (*Installation, bool) {
	file, ok := InstallationFile(getenv)
	if !ok {
		return nil, false
	}
	text, err := smallfile.Read(file, maxInstallation)
	if err != nil {
		return nil, false
	}
	return parseInstallation(string(text))
}

func parseInstallation(text string) (*Installation, bool) {
	body, ok := strings.CutPrefix(text, installationFirst+"\n")
	if !ok {
		return nil, false
	}
	if body, ok = strings.CutSuffix(body, installationLast+"\n"); !ok {
		return nil, false
	}
	i := &Installation{}
	fields := i.fields()
	for line := range strings.Lines(body) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		if field := fields[key]; field != nil && filepath.IsAbs(value) {
			*field = value
		}
	}
	for _, field := range fields {
		if *field == "" {
			return nil, false
		}
	}
	return i, true
}

func (i *Installation) fields() map[string]*string {
	return map[string]*string{
		"home": &i.Home, "runtime": &i.Runtime, "state": &i.State, "config": &i.Config, "data": &i.Data,
		"hook": &i.Hook, "program": &i.Program,
	}
}

// WriteInstallation writes down where things are and which programs belong to
// it. It does nothing, and says so, when the home directory is not the one in
// the password database: such an installation is a visitor's or a test's, and
// goes on taking its places from the environment.
func (d Dirs) WriteInstallation(getenv func(string) string, hook, program string) (written bool, err error) {
	home, ok := realHome(getenv)
	if !ok || !sameFolder(home, d.Home) {
		return false, nil
	}
	file, _ := InstallationFile(getenv)
	i := &Installation{
		Home: d.Home, Runtime: d.Runtime, State: d.State, Config: d.Config, Data: d.Data, Hook: hook, Program: program,
	}
	text := installationFirst + "\n"
	for _, key := range []string{"home", "runtime", "state", "config", "data", "hook", "program"} {
		value := *i.fields()[key]
		if !filepath.IsAbs(value) || strings.ContainsAny(value, "\n\x00") {
			return false, errors.New(file + ": " + key + " " + value + " cannot be written down; it must be " +
				"absolute and have no line break")
		}
		text += key + "=" + value + "\n"
	}
	return true, replaceFile(file, text+installationLast+"\n")
}

// RemoveInstallation forgets the installation, after everything was taken out.
func RemoveInstallation(getenv func(string) string) error {
	file, ok := InstallationFile(getenv)
	if !ok {
		return nil
	}
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// installed gives the places of the installation that the running program
// belongs to.
func installed(getenv func(string) string) (Dirs, bool) {
	i, ok := ReadInstallation(getenv)
	if !ok || !i.includesSelf() {
		return Dirs{}, false
	}
	return Dirs{
		Home: i.Home, Runtime: i.Runtime, State: i.State, Config: i.Config, Data: i.Data, System: systemDir,
		installation: i,
	}, true
}

// includesSelf reports whether the running program is one of the installation.
// A build in a source tree is not, and neither are the programs of a test. An
// installation whose programs are gone was moved: it includes whoever asks.
func (i *Installation) includesSelf() bool {
	self, err := ownProgram()
	if err != nil {
		return true
	}
	gone := true
	for _, file := range []string{i.Hook, i.Program} {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		if gone = false; os.SameFile(info, self) {
			return true
		}
	}
	return gone
}

// Installation is what the places were taken from; nil when the environment
// chose them.
func (d Dirs) Installation() *Installation { return d.installation }

// CheckServing refuses the socket of an installation to a daemon that is not one
// of it or that has other places: such a daemon would answer with settings that no
// person chose.
func (d Dirs) CheckServing(getenv func(string) string) error {
	i, ok := ReadInstallation(getenv)
	if !ok || d.installation != nil && *d.installation == *i || !sameFolder(d.Runtime, i.Runtime) {
		return nil
	}
	return errors.New(d.Runtime + " belongs to the installed hookmux, " + i.Program +
		"; start that one, or choose another folder with " + RuntimeVariable)
}

// IsDefaultRuntime reports whether a folder is the one in which this user's daemon
// serves when nobody chose another.
func IsDefaultRuntime(dir string, getenv func(string) string) bool {
	if own, ok := userRuntime(); ok && sameFolder(dir, own) {
		return true
	}
	home, ok := realHome(getenv)
	return ok && sameFolder(dir, homeRuntime(home))
}

// sameFolder compares two paths by name, and by what they lead to where both
// exist.
func sameFolder(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) || SameFile(a, b) }
