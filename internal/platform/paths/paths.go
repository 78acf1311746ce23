// Package paths knows where hookmux keeps its things, and finds the same places from a login
// shell, from a hook that an agent runs with an emptied environment, and from the daemon.
// Standard library only: the hook client links it.
//
// Contract: the places of an installation are those that `hookmux install` recorded (see
// [Installation]); only if none is recorded, and for programs that aren't part of it, the
// environment decides. Find reads the environment only through the function it is given, and
// creates nothing. Only absolute values of variables are used, as the XDG specification
// requires.
package paths

import (
	"errors"
	"hash/fnv"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// Dirs are the places of one user.
type Dirs struct {
	Home    string
	Runtime string // socket, locks, log: gone after a reboot if the system has such a place
	State   string // journal, intake, spool
	Config  string
	Data    string
	System  string // settings of the machine's owner

	// chosen says that HOOKMUX_RUNTIME_DIR named the runtime dir. Such a daemon keeps to itself
	// and leaves no note in the home directory.
	chosen bool
	// stripped means that the environment couldn't say where things are.
	stripped bool
	// installation is where the places were taken from, if not from the environment.
	installation *Installation
	// system means that these are the places of the system service. If the keeper gave this
	// process a folder, the open ones are those in the home.
	system                 bool
	openState, openRuntime string
}

const systemDir = "/etc/hookmux"

// RuntimeVariable names the runtime dir, above every other rule.
const RuntimeVariable = "HOOKMUX_RUNTIME_DIR"

// Find works out the places. It fails only if no home directory can be found at all.
func Find(getenv func(string) string) (Dirs, error) {
	if d, ok := installed(getenv); ok {
		return d, nil
	}
	return FindByEnvironment(getenv)
}

// FindByEnvironment works out the places of a program that isn't part of an installation,
// whichever program asks: a throw-away home has places of its own.
func FindByEnvironment(getenv func(string) string) (Dirs, error) {
	d := Dirs{System: systemDir}
	var err error
	if d.Home, err = home(getenv); err != nil {
		return Dirs{}, err
	}
	d.Runtime, d.chosen = runtimeDir(getenv, d.Home)
	d.State = underXDG(getenv, "XDG_STATE_HOME", d.Home, ".local/state")
	d.Config = underXDG(getenv, "XDG_CONFIG_HOME", d.Home, ".config")
	d.Data = underXDG(getenv, "XDG_DATA_HOME", d.Home, ".local/share")
	d.stripped = stripped(getenv)
	if d.stripped {
		from := d.Home
		if d.chosen {
			from = "" // the home's note is about the daemon of the login session
		}
		if was, ok := Remembered(from, d.Runtime); ok {
			d.State, d.Config, d.Data = was.State, was.Config, was.Data
		}
	}
	return d, nil
}

// RuntimeOnly finds just the runtime dir, with as few system calls as possible: it is all that
// a hook needs while the daemon answers. The other fields may stay empty.
func RuntimeOnly(getenv func(string) string) (Dirs, error) {
	if d, ok := installed(getenv); ok {
		return d, nil
	}
	if dir := getenv(RuntimeVariable); filepath.IsAbs(dir) {
		return Dirs{Runtime: filepath.Clean(dir), chosen: true}, nil
	}
	if dir, ok := userRuntime(); ok {
		return Dirs{Runtime: dir}, nil
	}
	h, err := home(getenv)
	if err != nil {
		return Dirs{}, err
	}
	return Dirs{Home: h, Runtime: homeRuntime(h)}, nil
}

func runtimeDir(getenv func(string) string, home string) (dir string, chosen bool) {
	if dir := getenv(RuntimeVariable); filepath.IsAbs(dir) {
		return filepath.Clean(dir), true
	}
	if dir, ok := userRuntime(); ok {
		return dir, false
	}
	return homeRuntime(home), false
}

// UserID returns the user this process runs as, looked up once: every system call matters in
// the hook client.
var UserID = sync.OnceValue(os.Getuid)

// runUser is where systemd and similar programs keep the runtime dirs of users.
var runUser = "/run/user"

// userRuntime uses the user id and not XDG_RUNTIME_DIR: hooks run with stripped environments
// and must still find the daemon of the login session.
func userRuntime() (string, bool) {
	dir := loginRuntime()
	if dir == "" {
		return "", false
	}
	if info, err := os.Stat(filepath.Dir(dir)); err != nil || !info.IsDir() {
		return "", false
	}
	return dir, true
}

// loginRuntime returns the runtime dir of a login session, whether or not there is one.
func loginRuntime() string {
	uid := UserID()
	if uid < 0 {
		return ""
	}
	return runUser + "/" + strconv.Itoa(uid) + "/hookmux"
}

func homeRuntime(home string) string { return filepath.Join(home, ".local/state/hookmux/run") }

func underXDG(getenv func(string) string, variable, home, otherwise string) string {
	if base := getenv(variable); filepath.IsAbs(base) {
		return filepath.Join(base, "hookmux")
	}
	return filepath.Join(home, otherwise, "hookmux")
}

// stripped reports whether the environment was emptied rather than merely lacks variables.
func stripped(getenv func(string) string) bool {
	for _, name := range []string{
		"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR",
		"XDG_SESSION_ID", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS", "XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE",
	} {
		if getenv(name) != "" {
			return false
		}
	}
	return true
}

// home is HOME, or what the password database says.
func home(getenv func(string) string) (string, error) {
	if h := getenv("HOME"); filepath.IsAbs(h) {
		return filepath.Clean(h), nil
	}
	if h, ok := passwdHome(passwdFile, UserID()); ok {
		return h, nil
	}
	return "", errors.New("home directory unknown: HOME is unset and the password file names none; set HOME")
}

// longestSocket leaves room in sockaddr_un (108 bytes on Linux, 104 on macOS) for
// the terminating NUL and a temporary name.
const longestSocket = 100

// shortBase is fixed, not TMPDIR: a hook without an environment must arrive
// at the same socket.
var shortBase = "/tmp"

// Socket returns where the daemon listens. A path too long for a socket address is replaced
// by a short one in a directory of the user's own under /tmp.
func (d Dirs) Socket() string {
	if d.system {
		return UserSocketFolder(UserID()) + "/daemon.sock"
	}
	if dir, ok := d.shortDir(); ok {
		return dir + "/daemon.sock"
	}
	return d.Runtime + "/daemon.sock"
}

func (d Dirs) shortDir() (string, bool) {
	if d.system || len(d.Runtime)+len("/daemon.sock") <= longestSocket {
		return "", false
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(d.Runtime)) // a hash never fails
	return shortBase + "/hookmux-" + strconv.Itoa(os.Getuid()) + "-" + strconv.FormatUint(h.Sum64(), 36), true
}

// CheckSocket rejects a socket that another user may have created: its folder must be this
// user's own and not writable by others. Call it before connecting.
func (d Dirs) CheckSocket() error {
	if d.system {
		return nil // its folder belongs to the keeper
	}
	dir, ok := d.shortDir()
	if !ok {
		dir = d.Runtime
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || !isOwnFile(info) || info.Mode().Perm()&0o022 != 0 {
		return errors.New(dir + ": is not a private folder of this user, so that the socket in it is not believed; " +
			"run: hookmux daemon restart")
	}
	return nil
}

// Containers is the folder that containers mount: the hook client, and a socket to report on.
func (d Dirs) Containers() string { return filepath.Join(d.Data, "container") }

// Intake holds what the daemon has acknowledged and not yet journalled.
func (d Dirs) Intake() string { return filepath.Join(d.State, "intake") }

// Spool holds what hooks left while no daemon answered.
func (d Dirs) Spool() string { return filepath.Join(d.OpenState(), "spool") }

// Spools returns all the places in which a hook may have left something: a hook with an
// emptied environment that never found a daemon only knows the default.
func (d Dirs) Spools() []string {
	all := []string{d.Spool()}
	if d.chosen {
		return all
	}
	if other := filepath.Join(d.Home, ".local/state/hookmux/spool"); d.Home != "" && other != all[0] {
		all = append(all, other)
	}
	return all
}

// Log returns the daemon's own log file.
func (d Dirs) Log() string { return filepath.Join(d.OpenRuntime(), "daemon.log") }

// StartLock is held by the process that starts a daemon, until the daemon listens.
func (d Dirs) StartLock() string { return filepath.Join(d.Runtime, "start.lock") }

// LifeLock is held by the daemon as long as it lives.
func (d Dirs) LifeLock() string { return filepath.Join(d.Runtime, "daemon.lock") }

// AliveFile exists from the start of a daemon to its clean stop; if it is found with a free
// LifeLock, the daemon died.
func (d Dirs) AliveFile() string { return filepath.Join(d.Runtime, "daemon.alive") }

// DeathsFile lists when daemons died.
func (d Dirs) DeathsFile() string { return filepath.Join(d.Runtime, "deaths") }

// MakeRuntime creates the runtime dir, and the short socket directory if one is needed. It
// rejects a directory that others own or can look into.
func (d Dirs) MakeRuntime() error {
	if d.Runtime == "" {
		return errors.New("runtime directory unknown; set HOME or " + RuntimeVariable)
	}
	if err := makePrivate(d.Runtime); err != nil {
		return err
	}
	if dir, ok := d.shortDir(); ok {
		return makePrivate(dir)
	}
	return nil
}

// makePrivate creates dir and its parents, all 0700, and checks the result.
func makePrivate(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return checkPrivate(dir)
}

// checkPrivate checks the last element without following it. A symlink is fine if it is the
// user's own and leads to a directory that passes as well: users move their state to other
// disks. A directory of the user that is merely too open gets closed.
func checkPrivate(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !isOwnFile(info) {
		return errors.New(dir + ": belongs to another user; remove it or set " + RuntimeVariable)
	}
	if info.Mode()&os.ModeSymlink != 0 {
		if info, err = os.Stat(dir); err != nil {
			return err
		}
		if !isOwnFile(info) {
			return errors.New(dir + ": leads to a directory of another user; remove it or set " + RuntimeVariable)
		}
	}
	if !info.IsDir() {
		return errors.New(dir + ": is not a directory; remove it or set " + RuntimeVariable)
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(dir, 0o700); err != nil {
			return errors.New(dir + ": others can look into it and chmod failed; run chmod 700 on it")
		}
	}
	return nil
}

// isOwnFile reports whether a file belongs to the user this process runs as.
func isOwnFile(info os.FileInfo) bool {
	uid, _, ok := files.Owner(info)
	return ok && uid == UserID()
}
