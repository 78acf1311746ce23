package authority

import (
	"runtime"
	"slices"
	"strings"
)

// kind says whether a process can speak for you.
type kind int

const (
	// ordinary processes are walked past: shells, sudo, script, make.
	ordinary kind = iota
	// terminal emulators and multiplexers trust what they start on a tty.
	terminal
	// loginDaemon lets people in, after checking who they are.
	loginDaemon
)

// Terminal emulators and multiplexers by the base name of their program.
// Editors that are agents themselves are left out on purpose: their agent
// opens terminals of its own. Terminals written in a script language show
// only their interpreter, which proves nothing.
var terminals = []string{
	"alacritty", "black-box", "contour", "cool-retro-term", "cosmic-term", "deepin-terminal", "foot", "footserver",
	"ghostty", "gnome-terminal-server", "kgx", "kitty", "konsole", "lxterminal", "mate-terminal", "mlterm",
	"ptyxis", "ptyxis-agent", "qterminal", "rio", "rxvt", "st", "terminology", "tilda", "tilix", "urxvt", "urxvtd",
	"warp", "warp-terminal", "waveterm", "wezterm", "wezterm-gui", "wezterm-mux-server", "xfce4-terminal", "xterm",
	"yakuake",
	"code", "code-insiders", "codium", "tabby", "hyper",
	// macOS
	"Terminal", "iTerm2", "iTermServer*", "Ghostty", "Hyper", "Tabby", "WezTerm", "Code", "Code Helper*",
	"VSCodium", "cmux", "mux0",
	// multiplexers and what keeps a session over a lost line
	"tmux", "screen", "screen-*", "zellij", "mosh-server",
}

// Daemons that let people in. They run as root.
var logins = loginPrograms(runtime.GOOS)

// loginPrograms leaves login out on macOS, where login -f lets a user in as
// themselves without a question; there the terminal above login must trust.
func loginPrograms(system string) []string {
	list := []string{"sshd", "sshd-session", "dropbear", "tailscaled", "in.telnetd"}
	if system != "darwin" {
		list = append(list, "login")
	}
	return list
}

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

func byName(name string, limit int) kind {
	among := func(list []string) bool {
		return slices.ContainsFunc(list, func(want string) bool { return nameIs(name, want, limit) })
	}
	switch {
	case among(logins):
		return loginDaemon
	case among(terminals):
		return terminal
	}
	return ordinary
}

func isTimer(name string) bool {
	return slices.Contains(timers, strings.ToLower(name))
}

// isConsole distinguishes hardware and virtual consoles from pseudo terminals, which any
// program can make. It lists the former, so that the unknown is refused.
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
