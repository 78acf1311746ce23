package programs

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Launcher describes a program that opens a terminal, a session or a service
// with a command in it.
type Launcher struct {
	// Rest are options behind which every word belongs to the command.
	Rest []string
	// Text are options whose value is a command line.
	Text []string
	// Verbs must stand first among the operands, when there are any; what
	// follows is then looked at.
	Verbs []string
	// Types are verbs behind which the operands are typed into a terminal, or
	// what stands on standard input.
	Types []string
	// Operands says that the first operand starts the command; Skip counts
	// operands before it. Values and Long list options that take a value.
	Operands bool
	Skip     int
	Values   string
	Long     []string
	// Pairs are options that take two values.
	Pairs []string
	// Literals are options in whose value string literals are command lines.
	Literals []string
	// Divided says that -- may stand between the command and its own words.
	Divided bool
	// Remote says that the command runs on another machine.
	Remote bool
}

// OperandsFrom is where the command starts: behind the options, of which the
// first so many words are known to be, and behind l.Skip operands.
func OperandsFrom(args []string, l Launcher, known int) int {
	if len(l.Pairs) == 0 {
		return known + l.Skip
	}
	for i := 0; i < len(args); i++ {
		switch {
		case slices.Contains(l.Pairs, args[i]):
			i += 2
		case slices.Contains(l.Long, args[i]):
			i++
		case !strings.HasPrefix(args[i], "-"):
			return i + l.Skip
		}
	}
	return len(args)
}

var (
	dashE    = Launcher{Rest: []string{"-e", "--"}}
	xterm    = Launcher{Rest: []string{"-e", "--", "-x"}, Text: []string{"--command", "--execute"}}
	gtkTerm  = Launcher{Rest: []string{"--", "-x", "--execute"}, Text: []string{"-e", "--command"}}
	operands = Launcher{Operands: true}
	// lxc exec name -- command
	machineExec = Launcher{Rest: []string{"--"}, Verbs: []string{"exec"}, Operands: true, Skip: 1, Values: "T",
		Long: []string{"--env", "--cwd", "--user", "--group"}, Remote: true}
	// pssh -h hosts command
	manyHosts = Launcher{Rest: []string{"--"}, Operands: true, Values: "hHlpoetxOAwgNRuf", Remote: true}
	footArgs  = []string{"--app-id", "--title", "--font", "--config", "--term", "--working-directory", "--log-level",
		"--override"}
	kittyArgs = []string{"--title", "--config", "--directory", "--working-directory", "--class", "--name", "--override",
		"--listen-on",
		"--instance-group", "--session", "--start-as", "--type", "--tab-title", "--window-title", "--cwd", "--env",
		"--location", "--match", "--match-tab", "--to", "--password", "--from-file"}
)

// Launchers are keyed by the program's name.
var Launchers = sync.OnceValue(func() map[string]Launcher {
	table := map[string]Launcher{
		"xterm": xterm, "uxterm": xterm, "lxterm": xterm, "urxvt": xterm, "urxvtc": xterm, "rxvt": xterm,
		"rxvt-unicode": xterm,
		"st":           {Rest: []string{"-e", "--"}, Operands: true, Values: "Aacfgionwt"}, "aterm": xterm,
		"eterm":  xterm,
		"mlterm": xterm,
		"sakura": xterm, "terminology": {Rest: []string{"--"}, Text: []string{"-e", "--exec"}}, "qterminal": xterm,
		"lxterminal":      xterm,
		"cool-retro-term": xterm, "konsole": xterm, "yakuake": xterm, "contour": xterm, "x-terminal-emulator": xterm,
		"rio":       dashE,
		"alacritty": {Rest: []string{"-e", "--command", "--"}}, "ghostty": {Rest: []string{"-e", "--"},
			Text: []string{"--command", "--initial-command"}},
		"gnome-terminal": gtkTerm, "mate-terminal": gtkTerm, "xfce4-terminal": gtkTerm, "terminator": gtkTerm,
		"tilix":           gtkTerm,
		"deepin-terminal": gtkTerm, "pantheon-terminal": gtkTerm, "io.elementary.terminal": gtkTerm, "guake": gtkTerm,
		"tilda": gtkTerm,
		"kgx":   gtkTerm, "gnome-console": gtkTerm, "ptyxis": gtkTerm,
		"foot":       {Rest: []string{"-e", "--"}, Operands: true, Values: "acdfoTwWLDp", Long: footArgs},
		"footclient": {Rest: []string{"-e", "--"}, Operands: true, Values: "adosTwWD", Long: footArgs},
		"kitty": {Rest: []string{"-e", "--"}, Verbs: []string{"@ launch", "@ new-window", ""},
			Types: []string{"@ send-text", "+kitten @ send-text", "+ @ send-text"}, Operands: true, Values: "TcdoPm",
			Long: kittyArgs},
		"kitten": {Verbs: []string{"@ launch", "@ new-window", "run-shell"}, Types: []string{"@ send-text"},
			Operands: true, Values: "m", Long: kittyArgs},
		"wezterm": {Rest: []string{"-e", "--"}, Verbs: []string{"start", "cli spawn", "cli split-pane", "connect"},
			Types: []string{"cli send-text"}, Operands: true,
			Long: []string{"--cwd", "--class", "--workspace", "--position", "--pane-id", "--window-id", "--domain-name",
				"--percent", "--cells"}},
		"zellij": {Rest: []string{"--"},
			Verbs:    []string{"run", "action new-pane", "action new-tab", "r", "ac new-pane"},
			Types:    []string{"action write-chars", "ac write-chars"},
			Operands: true, Values: "dnxys", Long: []string{"--direction", "--name", "--cwd", "--height", "--width",
				"--session"}},
		"dtach": {Operands: true, Skip: 1, Values: "eErR"}, "abduco": {Operands: true, Skip: 1, Values: "e"},
		"ttyd": {Operands: true, Values: "piucgstTmaHPx"}, "gotty": {Operands: true, Values: "pac"},
		"asciinema": {Text: []string{"-c", "--command"}}, "termtosvg": {Text: []string{"-c", "--command"}},
		"xvfb-run": {Operands: true, Values: "efnps", Long: []string{"--auth-file", "--error-file", "--server-num",
			"--server-args"}},
		"dbus-launch": operands, "daemonize": {Operands: true, Values: "ceopluaE"}, "cage": operands,
		"gamescope": {Rest: []string{"--"}},
		"daemon": {Operands: true, Values: "numUODFPEol", Long: []string{"--name", "--user", "--chdir",
			"--output"}},
		"start-stop-daemon": {Rest: []string{"--exec", "-x", "-a", "--startas"}, Divided: true},
		"machinectl":        {Verbs: []string{"shell"}, Operands: true, Skip: 1},
		"run0": {Operands: true, Values: "ugD", Long: []string{"--user", "--group", "--chdir", "--unit",
			"--property", "--slice"}},
		"capsh": {Text: []string{"-c"}},
		"watchexec": {Rest: []string{"--"}, Operands: true, Values: "wefidsEo", Long: []string{"--watch", "--exts",
			"--filter", "--ignore", "--debounce", "--signal", "--env", "--workdir"}},
		"nodemon": {Text: []string{"-x", "--exec"}}, "launchctl": {Verbs: []string{"submit", "asuser"},
			Rest: []string{"--"}},
		"cmd": {
			Rest: []string{"/c", "/C", "/k"},
		}, "cmd.exe": {Rest: []string{"/c", "/C", "/k"}}, "wt": {Rest: []string{"--"},
			Operands: true, Values: "dp"},
		"wt.exe": {Rest: []string{"--"}, Operands: true, Values: "dp"}, "winpty": operands,
		"tcpserver": {Operands: true,
			Skip: 2, Values: "xugblcBtT"},
		"faketty": operands, "pwsh": {Text: []string{"-shell-command"}}, "devbox": {Verbs: []string{"run"},
			Rest: []string{"--"}, Operands: true, Values: "ce"},
		"gdbserver": {Operands: true, Skip: 1}, "valgrind": operands,
		"perf": {Verbs: []string{"stat", "record", "trace"},
			Rest: []string{"--"}, Operands: true, Values: "eogFcp"},
		"heaptrack": operands, "gnome-session-inhibit": operands, "systemd-inhibit": {Operands: true},
		"systemd-cat": {Operands: true, Values: "tp"},
		"kde-inhibit": operands, "uwsm": {Verbs: []string{"app"}, Rest: []string{"--"}, Operands: true},
		"bwrap": {Rest: []string{"--"}, Operands: true,
			Pairs: []string{"--bind", "--ro-bind", "--dev-bind", "--bind-try",
				"--ro-bind-try", "--dev-bind-try", "--symlink", "--setenv", "--file", "--bind-data", "--ro-bind-data",
				"--chmod"}, Long: []string{"--tmpfs", "--proc", "--dev", "--dir", "--chdir", "--unsetenv", "--uid", "--gid",
				"--hostname", "--size", "--perms", "--cap-add", "--cap-drop", "--seccomp", "--lock-file", "--mqueue"}},
		"proot": {Rest: []string{"--"}, Operands: true, Values: "rbwqkS"},
		"systemd-nspawn": {Rest: []string{"--"}, Operands: true, Values: "DMuSip", Long: []string{"--directory",
			"--machine", "--image", "--user", "--bind", "--setenv", "--chdir"}}, "distrobox": {Verbs: []string{"enter"},
			Rest: []string{"--", "-e"}},
		"toolbox": {Verbs: []string{"run"}, Operands: true, Values: "cdr"}, "flatpak-spawn": {Operands: true,
			Long: []string{"--env", "--directory"}},
		// Commands for other machines, for many machines, and for virtual ones.
		"lxc": machineExec, "incus": machineExec, "multipass": machineExec, "limactl": {Verbs: []string{"shell"},
			Operands: true, Skip: 1, Remote: true}, "lima": {Operands: true, Remote: true},
		"colima":   {Verbs: []string{"ssh"}, Rest: []string{"--"}, Remote: true},
		"orb":      {Operands: true, Values: "mu", Remote: true},
		"vagrant":  {Text: []string{"-c", "--command"}, Remote: true},
		"minikube": {Verbs: []string{"ssh"}, Rest: []string{"--"}, Operands: true, Remote: true},
		"fly":      {Text: []string{"-C", "--command"}, Remote: true},
		"flyctl":   {Text: []string{"-C", "--command"}, Remote: true},
		"heroku":   {Rest: []string{"--"}, Verbs: []string{"run", "run:detached"}, Operands: true, Values: "a", Remote: true},
		"gcloud":   {Text: []string{"--command"}, Rest: []string{"--"}, Remote: true},
		"az":       {Text: []string{"--scripts", "--command"}, Remote: true},
		"aws":      {Literals: []string{"--parameters"}, Text: []string{"--command"}, Remote: true},
		"doctl":    {Text: []string{"--ssh-command"}, Remote: true},
		"tsh":      {Verbs: []string{"ssh"}, Operands: true, Skip: 1, Values: "lp", Remote: true},
		"pssh":     manyHosts, "parallel-ssh": manyHosts, "pdsh": manyHosts, "clush": manyHosts, "dsh": manyHosts,
		"rsh":       {Operands: true, Skip: 1, Values: "l", Remote: true},
		"ansible":   {Text: []string{"-a", "--args"}, Remote: true},
		"salt":      {Operands: true, Skip: 2, Values: "LGENCIStb", Remote: true},
		"salt-ssh":  {Operands: true, Skip: 2, Values: "LGENCIStb", Remote: true},
		"salt-call": {Operands: true, Skip: 1, Values: "lc"},
		"knife":     {Verbs: []string{"ssh"}, Operands: true, Skip: 1, Values: "xPi", Remote: true},
		"bolt":      {Verbs: []string{"command run"}, Operands: true, Values: "tnu", Remote: true},
		"fab":       {Rest: []string{"--"}, Remote: true},
		"nu":        {Text: []string{"-c", "--commands"}}, "xonsh": {Text: []string{"-c"}},
		"elvish": {Text: []string{"-c"}}, "osh": {Text: []string{"-c"}}, "ysh": {Text: []string{"-c"}},
		"kak": {Text: []string{"-e", "-E"}}, "micro": {Text: []string{"-command"}},
		"ranger": {Text: []string{"--cmd"}}, "entr": {Text: []string{"-s"}, Operands: true},
		"hyprctl": {Verbs: []string{"dispatch exec"}, Operands: true},
		"swaymsg": {Verbs: []string{"exec"}, Operands: true},
		"i3-msg":  {Verbs: []string{"exec"}, Operands: true},
		"xdotool": {Verbs: []string{"exec"}, Types: []string{"type"}, Operands: true,
			Long: []string{"--delay", "--window",
				"--clearmodifiers"}},
		"ydotool": {Types: []string{"type"}}, "wtype": {Types: []string{""}},
	}
	maps.Copy(table, moreLaunchers)
	return table
})

// OptionCommands are options whose value is run as a command, of programs that
// otherwise do something else. The value may be glued on with "=".
var OptionCommands = map[string][]string{
	"man": {"-P", "--pager"}, "bat": {"--pager"}, "batcat": {"--pager"}, "delta": {"--pager"},
	"rsync": {"-e", "--rsh", "--rsync-path"}, "scp": {"-S"}, "sftp": {"-S"}, "cpio": {"--rsh-command"},
	"mosh": {"--ssh", "--server"}, "unison": {"-sshcmd", "-rshcmd"}, "borg": {"--rsh"},
	"split": {"--filter"}, "sort": {"--compress-program"}, "gsort": {"--compress-program"}, "rg": {"--pre"},
	"tcpdump": {"-z"}, "zip": {"-TT", "--unzip-command"}, "tar": tarOptions, "gtar": tarOptions, "bsdtar": tarOptions,
	"nc": {"-e", "-c"}, "netcat": {"-e", "-c"}, "ncat": {"-e", "-c", "--exec", "--sh-exec"}, "wget": {"--use-askpass"},
	"fzf": {
		"--preview",
		"--with-shell",
	}, "sk": {"--preview", "-c"}, "svn": {"--editor-cmd", "--diff-cmd", "--diff3-cmd"},
	"restic": {"--password-command"}, "go": {"-exec", "-toolexec"}, "npm": {"--call", "-c"}, "doppler": {"--command"},
	"cargo": {"-s", "--shell"}, "npx": {"-c", "--call"},
	"openvpn": {"--up", "--down", "--route-up"}, "git": gitOptions,
}

var tarOptions = []string{
	"-I", "-F", "--checkpoint-action=exec", "--to-command", "--use-compress-program", "--info-script",
	"--new-volume-script", "--rsh-command",
}

var gitOptions = []string{
	"--upload-pack", "--receive-pack", "--extcmd", "--tree-filter", "--index-filter", "--msg-filter", "--env-filter",
	"--commit-filter",
	"--parent-filter", "--tag-name-filter", "--setup", "-u",
}
