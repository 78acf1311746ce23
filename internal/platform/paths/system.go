package paths

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The places of the system service (docs/system.md). They are fixed: what a user could
// choose, a program of that user could choose as well.
const (
	// SystemFolder holds the programs, which belong to root.
	SystemFolder = "/usr/libexec/hookmux"
	// SystemMarker says that the service is installed. If it is and the service isn't
	// running, guarded calls are asked about or denied.
	SystemMarker = "/etc/hookmux/system"
	// KeeperRun holds the keeper's socket, and a folder with the daemon's for each user.
	KeeperRun = "/run/hookmux-keeper"
	// KeeperState holds a folder for each user that only the keeper can reach.
	KeeperState = "/var/lib/hookmux-keeper"
	// KeeperName is the account of the service, a user and a group.
	KeeperName = "hookmux-keeper"
)

// KeeperSocket is where the keeper listens.
const KeeperSocket = KeeperRun + "/keeper.sock"

// Repair is the command that a message about a missing service suggests.
const Repair = "sudo systemctl restart hookmux-keeper"

// SystemProgram returns the path of one of the service's programs.
func SystemProgram(name string) string { return SystemFolder + "/" + name }

// UserSocketFolder returns the folder of a user's daemon socket, which only the keeper can
// write to.
func UserSocketFolder(uid int) string { return KeeperRun + "/" + strconv.Itoa(uid) }

// HasSystem reports whether the system service is installed.
func HasSystem() bool {
	_, err := os.Lstat(SystemMarker)
	return err == nil
}

// LeavesToSystem reports whether this program leaves its work to the system service's
// programs: the service is installed, and this isn't one of them. A build that doesn't belong
// to an installation and was given a runtime folder of its own keeps to itself.
func LeavesToSystem(getenv func(string) string) bool {
	if RunsFromSystem() || !HasSystem() {
		return false
	}
	if filepath.IsAbs(getenv(RuntimeVariable)) {
		_, ok := installed(getenv)
		return ok
	}
	return true
}

// kept is the folder that the keeper gave this process, as a path; "" for none.
var kept string

// UseKept makes this process keep its state in the folder that it got from the keeper. The
// path leads through an open descriptor and a name that no other process knows.
func UseKept(path string) { kept = path }

// IsAttested reports whether the keeper gave this process its user's folder.
func IsAttested() bool { return kept != "" }

// IsSystem reports whether these are the places of a program of the system service.
func (d Dirs) IsSystem() bool { return d.system }

// RunsFromSystem reports whether the running program is one of the service's.
func RunsFromSystem() bool {
	self, err := os.Executable()
	return err == nil && strings.HasPrefix(self, SystemFolder+"/")
}

// systemDirs returns the places in which the programs of the service work. The environment
// has no say.
func systemDirs(getenv func(string) string) (Dirs, bool) {
	if !RunsFromSystem() {
		return Dirs{}, false
	}
	home, ok := realHome(getenv)
	if !ok {
		return Dirs{}, false
	}
	i := defaultInstallation(home)
	i.Hook, i.Program = SystemProgram("hookmux-hook"), SystemProgram("hookmux")
	d := Dirs{
		Home: home, Runtime: i.Runtime, State: i.State, Config: i.Config, Data: i.Data, System: systemDir,
		installation: i, system: true,
	}
	i.seal = sealWhole // nothing was read from the user's files
	if IsAttested() {
		d.openState, d.openRuntime = d.State, d.Runtime
		d.State, d.Runtime = kept+"/state", kept+"/run"
		i.environ = keptEnviron(d.State)
	}
	return d, true
}

// keptEnviron returns the environment of the user who installed hookmux, as it was moved to the
// keeper.
func keptEnviron(state string) string {
	was := &Installation{file: filepath.Join(state, installationName)}
	text, err := os.ReadFile(was.file)
	if err != nil {
		return ""
	}
	was.text = string(text)
	was.readSeal()
	return was.environ
}

// OpenState has what other programs of the user read and write as well: for a process that
// got a folder from the keeper, the state folder in the home; otherwise State.
func (d Dirs) OpenState() string {
	if d.openState != "" {
		return d.openState
	}
	return d.State
}

// OpenRuntime is to Runtime what OpenState is to State.
func (d Dirs) OpenRuntime() string {
	if d.openRuntime != "" {
		return d.openRuntime
	}
	return d.Runtime
}
