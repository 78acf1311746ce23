package paths

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Installation is `hookmux install`'s record of an installation: its places, chosen by the
// user, and its programs. A program that is one of these takes its places from here and
// never from the environment, which is chosen by whatever starts an agent.
//
// The record is sealed by a command that you run. Any program of the user can write it:
// without an intact seal only the default places and the programs next to the running one
// are believed, whatever it says.
type Installation struct {
	Home    string
	Runtime string
	State   string
	Config  string
	Data    string
	// Hook is the path in agents' settings, and Program the one of hookmux. Both may be links
	// that a package manager keeps. Program is always the one next to the running program,
	// whatever is recorded.
	Hook    string
	Program string

	file, text string // the record
	seal       sealState
	environ    string // of the user, as it is written down; "" without a whole seal
}

type sealState int

const (
	sealUnread sealState = iota
	sealWhole
	sealBroken // or none
)

const (
	installationFirst = "hookmux installation 1"
	installationLast  = "end"
	installationName  = "installation"
	maxInstallation   = 64 << 10
	maxKey            = 64
)

// InstallationFile returns where an installation is recorded: below the home that the
// password database names, because any program may set HOME.
func InstallationFile(getenv func(string) string) (string, bool) {
	home, ok := realHome(getenv)
	if !ok {
		return "", false
	}
	return filepath.Join(defaultState(home), installationName), true
}

// InstallationKey returns the file of the key with which an installation is sealed. It is
// next to the record, wherever that says the state is.
func InstallationKey(getenv func(string) string) (string, bool) {
	file, ok := InstallationFile(getenv)
	return KeyBeside(file), ok
}

// KeyBeside returns the file of the key for what is sealed in the folder of a file.
func KeyBeside(file string) string { return filepath.Join(filepath.Dir(file), "consent.key") }

func defaultState(home string) string { return filepath.Join(home, ".local/state/hookmux") }

// realHome returns the home directory in the password database. Users that are not
// listed in /etc/passwd (macOS, directory services) have only HOME.
func realHome(getenv func(string) string) (string, bool) {
	if h, ok := passwdHome(passwdFile, UserID()); ok {
		return h, true
	}
	h := getenv("HOME")
	return filepath.Clean(h), filepath.IsAbs(h)
}

// ReadInstallation returns the installation of this user as far as it is believed. It is
// false if there is none, and also if its file is damaged or not the user's own.
func ReadInstallation(getenv func(string) string) (*Installation, bool) {
	home, ok := realHome(getenv)
	if !ok {
		return nil, false
	}
	file := filepath.Join(defaultState(home), installationName)
	text, err := files.Read(file, maxInstallation)
	if err != nil {
		return installedHere(home)
	}
	i, ok := parseInstallation(string(text))
	if !ok {
		return installedHere(home)
	}
	i.file, i.text = file, string(text)
	// Most records only say the default, and a hook client need not read the key.
	if !i.isDefault(home) && !i.IsSealed() {
		byDefault := defaultInstallation(home)
		byDefault.Hook, byDefault.Program, byDefault.seal = i.Hook, i.Program, i.seal
		byDefault.file = file
		i = byDefault
	}
	return i, true
}

// WasWrittenFor reports whether the record, believed or not, says the places of d.
func (i *Installation) WasWrittenFor(d Dirs) bool {
	text, err := files.Read(i.file, maxInstallation)
	if err != nil {
		return false
	}
	written, ok := parseInstallation(string(text))
	return ok && written.samePlaces(&Installation{
		Home: d.Home, Runtime: d.Runtime, State: d.State, Config: d.Config, Data: d.Data,
	})
}

// isDefault reports whether a record says only what applies without it.
func (i *Installation) isDefault(home string) bool {
	d := defaultInstallation(home)
	return i.Home == d.Home && i.State == d.State && i.Config == d.Config && i.Data == d.Data &&
		(i.Runtime == loginRuntime() || i.Runtime == homeRuntime(home))
}

// defaultInstallation returns the default places.
func defaultInstallation(home string) *Installation {
	runtime, ok := userRuntime()
	if !ok {
		runtime = homeRuntime(home)
	}
	return &Installation{
		Home: home, Runtime: runtime, State: defaultState(home),
		Config: filepath.Join(home, ".config/hookmux"), Data: filepath.Join(home, ".local/share/hookmux"),
	}
}

// installedHere returns an installation whose record is gone or damaged: agents still run the
// path that was installed in the default place, and the programs that it leads to are part of
// the installation.
func installedHere(home string) (*Installation, bool) {
	i := defaultInstallation(home)
	i.Hook, i.Program = i.shim(), beside("hookmux")
	if !leadsHere(i.Hook) {
		return nil, false
	}
	return i, true
}

// shim returns the path that agents run in the default place.
func (i *Installation) shim() string { return filepath.Join(i.Data, "bin/hookmux-hook") }

// leadsHere reports whether a path leads to the hook client next to the running program.
func leadsHere(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	own, err := os.Stat(beside("hookmux-hook"))
	return err == nil && os.SameFile(info, own)
}

// beside returns the path of a program in the folder of the running one.
func beside(name string) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Join(filepath.Dir(self), name)
}

// IsSealed reports whether a command you ran wrote the record.
func (i *Installation) IsSealed() bool {
	if i.seal == sealUnread {
		i.readSeal()
	}
	return i.seal == sealWhole
}

// readSeal checks whether the seal is intact, and reads what is only believed if it is.
func (i *Installation) readSeal() {
	i.seal = sealBroken
	body, seal, ok := strings.Cut(i.text, "\n"+sealKey+"=")
	if !ok {
		return
	}
	key, err := files.Read(KeyBeside(i.file), maxKey)
	if err != nil || len(key) == 0 {
		return
	}
	if EqualMAC(strings.TrimSuffix(seal, "\n"+installationLast+"\n"), sealOf(key, body)) {
		i.seal = sealWhole
		_, i.environ, _ = strings.Cut(body, "\n"+environKey+"=")
	}
}

// sealOf returns the seal of a record's lines, in the way of all sealed files.
func sealOf(key []byte, body string) string { return PlainMAC(key, installationName+"\x00"+body) }

// The keys of a record that aren't places or programs. The environment comes last before the
// seal: it has one line per variable.
const (
	environKey = "environ"
	sealKey    = "seal"
)

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
		if key == environKey || key == sealKey {
			break
		}
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

// WriteInstallation records where things are and which programs belong to the installation,
// and with a key seals the record, together with the user's environment. If the home
// directory isn't the one in the password database it does nothing and says so: such an
// installation is temporary or a test's, and goes on taking its places from the environment.
func (d Dirs) WriteInstallation(getenv func(string) string, hook, program string, key []byte,
	environ []string) (written bool, err error) {
	home, ok := realHome(getenv)
	if !ok || !sameFolder(home, d.Home) {
		return false, nil
	}
	file, _ := InstallationFile(getenv)
	i := &Installation{
		Home: d.Home, Runtime: d.Runtime, State: d.State, Config: d.Config, Data: d.Data, Hook: hook, Program: program,
	}
	text := installationFirst
	for _, name := range []string{"home", "runtime", "state", "config", "data", "hook", "program"} {
		value := *i.fields()[name]
		if !filepath.IsAbs(value) || strings.ContainsAny(value, "\n\x00") {
			return false, errors.New(file + ": " + name + " " + value + " cannot be written down; it must be " +
				"absolute and have no line break")
		}
		text += "\n" + name + "=" + value
	}
	if len(key) > 0 {
		text += "\n" + environKey + "=" + recordedEnviron(environ)
		text += "\n" + sealKey + "=" + sealOf(key, text)
	}
	return true, replaceFile(file, text+"\n"+installationLast+"\n")
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

// installed returns the places of the installation that the running program belongs to.
func installed(getenv func(string) string) (Dirs, bool) {
	if d, ok := systemDirs(getenv); ok {
		return d, true
	}
	i, ok := ReadInstallation(getenv)
	if !ok || !i.includesSelf() {
		return Dirs{}, false
	}
	i.useProgramBeside()
	return Dirs{
		Home: i.Home, Runtime: i.Runtime, State: i.State, Config: i.Config, Data: i.Data, System: systemDir,
		installation: i,
	}, true
}

// useProgramBeside replaces the recorded program if it isn't the one next to the running
// program: who may be believed on the socket isn't left to a file that any program of the
// user can write.
func (i *Installation) useProgramBeside() {
	own := beside("hookmux")
	if i.Program == own || own == "" {
		return
	}
	if written, err := os.Stat(i.Program); err == nil {
		if there, err := os.Stat(own); err == nil && os.SameFile(written, there) {
			return // a link that a package manager keeps
		}
	}
	i.Program = own
}

// includesSelf reports whether the running program is one of the installation's. A build in
// a source tree isn't, and neither are the programs of a test. An installation whose
// programs are gone was moved: it includes every program that asks.
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
	// If the record was changed, it may name other programs.
	return gone || !i.IsSealed() && leadsHere(i.shim())
}

// Installation returns what the places were taken from; nil when the environment
// chose them.
func (d Dirs) Installation() *Installation { return d.installation }

// CheckServing denies the socket of an installation to a daemon that isn't part of it or
// that has other places: such a daemon would answer with settings that the user didn't
// choose.
func (d Dirs) CheckServing(getenv func(string) string) error {
	i, ok := ReadInstallation(getenv)
	if !ok || d.installation != nil && d.installation.samePlaces(i) || !sameFolder(d.Runtime, i.Runtime) {
		return nil
	}
	return errors.New(d.Runtime + " belongs to the installed hookmux, " + i.Program +
		"; start that one, or choose another folder with " + RuntimeVariable)
}

func (i *Installation) samePlaces(as *Installation) bool {
	return i.Home == as.Home && i.Runtime == as.Runtime && i.State == as.State && i.Config == as.Config &&
		i.Data == as.Data
}

// IsDefaultRuntime reports whether a folder is the one in which this user's daemon serves if
// no other was chosen.
func IsDefaultRuntime(dir string, getenv func(string) string) bool {
	if own, ok := userRuntime(); ok && sameFolder(dir, own) {
		return true
	}
	home, ok := realHome(getenv)
	return ok && sameFolder(dir, homeRuntime(home))
}

// sameFolder compares two paths by name, and by what they lead to if both exist.
func sameFolder(a, b string) bool { return filepath.Clean(a) == filepath.Clean(b) || SameFile(a, b) }
