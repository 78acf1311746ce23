package authority

import (
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// kind is what a process is, as far as speaking for a person goes.
type kind int

const (
	// ordinary processes are walked past: shells, sudo, script, make.
	ordinary kind = iota
	// terminal emulators and multiplexers vouch for what they start on a tty.
	terminal
	// loginDaemon lets people in, after asking who they are.
	loginDaemon
	// panel starts what a person clicked, without a tty.
	panel
	// doubtful bears a terminal's name and runs from where anybody can write.
	doubtful
)

// Terminal emulators and multiplexers by the base name of their program.
// Editors that are agents themselves are left out on purpose: their agent
// opens terminals of its own. Terminals written in a script language show
// only their interpreter, which proves nothing.
var terminals = []string{
	"alacritty", "black-box", "contour", "cool-retro-term", "cosmic-term", "deepin-terminal", "foot", "footserver",
	"ghostty", "gnome-terminal-server", "kgx", "kitty", "konsole", "lxterminal", "mate-terminal", "mlterm",
	"ptyxis", "ptyxis-agent", "qterminal", "rio", "rxvt", "st", "terminology", "tilda", "tilix", "urxvt", "urxvtd",
	"warp", "warp-terminal", "waveterm", "wezterm", "wezterm-gui", "wezterm-mux-server", "xfce4-terminal", "xterm", "yakuake",
	"code", "code-insiders", "codium", "tabby", "hyper",
	// macOS
	"Terminal", "iTerm2", "iTermServer*", "Ghostty", "Hyper", "Tabby", "WezTerm", "Code", "Code Helper*", "VSCodium", "cmux", "mux0",
	// multiplexers and what keeps a session over a lost line
	"tmux", "screen", "screen-*", "zellij", "mosh-server",
}

// Daemons that let a person in. They run as root.
var logins = []string{"sshd", "sshd-session", "dropbear", "tailscaled", "in.telnetd", "login"}

// Desktop panels that start what was clicked or typed into them. Window
// managers that run commands sent by other programs are not among them.
var panels = []string{"gnome-shell", "plasmashell", "cinnamon", "xfce4-panel", "mate-panel", "lxqt-panel", "budgie-panel"}

// Daemons that start commands at a time.
var timers = []string{"cron", "crond", "atd", "anacron", "fcron", "dcron", "atrun"}

// Where installed programs live. A user may own some of these (Homebrew), but
// nothing lands there by the way.
var installPlaces = []string{
	"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/store/", "/gnu/store/", "/snap/", "/run/current-system/",
	"/home/linuxbrew/.linuxbrew/", "/Applications/", "/System/",
}

// deletedSuffix is how Linux shows a program replaced by an upgrade.
const deletedSuffix = " (deleted)"

// loginAsks is false on macOS, where login -f lets a user in as themselves
// without a question; there the terminal above login must vouch.
const loginAsks = runtime.GOOS != "darwin"

// kindOf classifies by the file a process runs. Where that may not be read,
// the name counts, but only for owners that an agent of the hub's user cannot
// be: both user ids must be somebody else's, since a set-uid program keeps
// the real one of whoever started it.
func (j *Judge) kindOf(p proc.Process) (kind, string) {
	program, err := j.Table.Program(p.PID)
	foreign := p.UID != j.UID && p.EUID != j.UID
	if err != nil {
		if !foreign {
			return ordinary, ""
		}
		name, _, _ := strings.Cut(p.Name, ":") // "tmux: server"
		return byName(name, kernelNameLimit), ""
	}
	program = strings.TrimSuffix(program, deletedSuffix)
	if slices.Contains(j.Terminals, program) {
		return terminal, program
	}
	k := byName(path.Base(program), 0)
	if k == ordinary || foreign && p.UID == 0 && p.EUID == 0 {
		return k, program
	}
	sound := j.Sound
	if sound == nil {
		sound = Sound
	}
	if !sound(j.UID, p, program) {
		return doubtful, program
	}
	// A daemon that lets people in is root's; a copy the user started lets in nobody.
	if k == loginDaemon && j.UID != 0 && p.UID != 0 {
		return ordinary, program
	}
	return k, program
}

func byName(name string, limit int) kind {
	among := func(list []string) bool {
		return slices.ContainsFunc(list, func(want string) bool { return nameIs(name, want, limit) })
	}
	switch {
	case name == "login" && !loginAsks:
		return ordinary
	case among(logins):
		return loginDaemon
	case among(terminals):
		return terminal
	case among(panels):
		return panel
	}
	return ordinary
}

func isTimer(name string) bool {
	return slices.Contains(timers, strings.ToLower(name))
}

// isConsole tells hardware and virtual consoles from pseudo terminals, which
// any program can make. It lists the former, so that the unknown is refused.
func isConsole(tty string) bool {
	name, ok := strings.CutPrefix(tty, "/dev/")
	if !ok {
		return false
	}
	if name == "console" {
		return true
	}
	for _, prefix := range []string{"ttyS", "ttyAMA", "ttyUSB", "hvc", "tty"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return runtime.GOOS != "darwin" // where ttys000 and the like are pseudo terminals
		}
	}
	return false
}
