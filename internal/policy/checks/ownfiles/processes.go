package ownfiles

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// attachByName are options of debuggers that are followed by a process's name.
var attachByName = []string{"-n", "--attach-name", "--name", "-e", "--exe"}

// daemonCommands are command lines of the daemon and the hook client.
var daemonCommands = []string{
	"hookmux daemon", "/home/user/.local/share/hookmux/bin/hookmux daemon", "/usr/local/bin/hookmux daemon",
	"/home/user/.local/share/hookmux/bin/hookmux-hook --agent claude PreToolUse",
}

// daemonNames are the names of those processes.
var daemonNames = []string{"hookmux", "hookmux-hook"}

// checkProcessTool denies pkill hookmux, kill $(pgrep hookmux), gdb -p 123 and prlimit --pid.
func (t *Checker) checkProcessTool(x *scope, r *shell.Run) {
	name := r.Name()
	say := func() { x.Report.Add("daemon", r.Head(), name+" stops, limits or takes over the daemon") }
	line := strings.ToLower(facts.JoinArgs(r.Args()))
	if takesOverAgent(x, r) {
		x.Report.Add("hooks-off", r.Head(), name+" takes over the agent's own process, which runs its hooks")
		return
	}
	switch {
	case name == "pkill":
		if strings.Contains(line, "hookmux") || patternFindsDaemon(r.Args()) {
			say()
		}
		return
	case name == "fuser":
		if strings.Contains(line, "hookmux") && (facts.HasShort(r.Args(), 'k') || strings.Contains(line, "--kill")) {
			say()
		}
		return
	case programs.Is(name, programs.NameTool) && namesProgram(name, r.Args()):
		say()
		return
	case programs.Is(name, programs.ProcessTool) &&
		slices.ContainsFunc(attachedNames(r.Args()), func(n string) bool { return slices.Contains(daemonNames, path.Base(n)) }):
		say()
		return
	}
	if !programs.Is(name, programs.ProcessTool) {
		return
	}
	if t.namesDaemon(r.Args()) || strings.HasSuffix(name, "kill") && strings.Contains(line, "hookmux") {
		say()
		return
	}
	for _, a := range r.Args() {
		if t.findsDaemon(x, a.From) {
			say()
			return
		}
	}
}

// takesOverAgent reports whether a tool attaches to the agent that runs the command, or
// to another one, limits it, or opens the debugger of Node.js in it (SIGUSR1).
func takesOverAgent(x *scope, r *shell.Run) bool {
	name := r.Name()
	if programs.IsInterpreter(name) {
		text, _ := r.Code()
		if strings.Contains(text, "_debugProcess") || namesParent.MatchString(text) && entersProcess.MatchString(text) ||
			facts.HasWord(r.Args(), "inspect", "debug", "debugpy", "pdb") && namesAgentProcess(x, r.Args()) {
			return true
		}
	}
	if !programs.Is(name, programs.ProcessTool) && !programs.Is(name, programs.NameTool) {
		name = strings.TrimRight(name, "-.0123456789") // lldb-15
	}
	kills := strings.Contains(name, "kill")
	if !kills && !programs.Is(name, programs.ProcessTool) && !programs.Is(name, programs.NameTool) {
		return false
	}
	if kills {
		line := strings.ToUpper(facts.JoinArgs(r.Args())) + " "
		if !opensDebugger.MatchString(line) {
			return false // it ends the agent
		}
	}
	if slices.ContainsFunc(attachedNames(r.Args()), func(name string) bool { return agentByProgram()[path.Base(name)] != nil }) {
		return true
	}
	byName := kills || programs.Is(name, programs.NameTool)
	return namesAgentProcess(x, r.Args()) ||
		byName && slices.ContainsFunc(r.Args(), func(a shell.Word) bool { return agentByProgram()[path.Base(a.Text)] != nil })
}

var (
	// opensDebugger matches the signal that opens the debugger of Node.js, in the words after
	// kill.
	opensDebugger = lazyregexp.New(`USR1\b|(?:-|-S |-N |--SIGNAL[= ]|-SIGNAL[= ])10 `)
	// namesParent matches program text that asks which process started it.
	namesParent = lazyregexp.New(`(?i)getppid|\bppid\b|parent_id|\bparent-pid`)
	// entersProcess matches program text that opens a debugger in another process, or changes its
	// memory.
	entersProcess = lazyregexp.New(`USR1|remote_exec|(?i:ptrace|pidfd_getfd|process_vm_writev|/mem\b|inject)|\bkill\w*\W[^;]*\b10\b`)
	// attaches matches a debugger's own command that attaches to a process by its name.
	attaches = lazyregexp.New(`\battach\b.*?(?:-n|--name|--waitfor|-w)[= ]+(\S+)`)
)

// attachedNames returns the names of programs whose processes a debugger is to attach to.
func attachedNames(args []shell.Word) []string {
	var out []string
	for _, w := range facts.OptionValues(args, attachByName...) {
		out = append(out, w.Text)
	}
	for _, a := range args {
		if m := attaches.FindStringSubmatch(a.Text); m != nil {
			out = append(out, strings.Trim(m[1], `"'`))
		}
	}
	return out
}

// namesAgentProcess reports whether words are the number of the command's parent process, or
// come from what looks for an agent's.
func namesAgentProcess(x *scope, args []shell.Word) bool {
	for _, a := range args {
		if strings.Contains(a.Text, "$PPID") || strings.Contains(a.Text, "${PPID}") {
			return true
		}
		for _, from := range x.Sources(a.From) { // ps -o ppid= -p $$
			if strings.Contains(strings.ToLower(facts.JoinArgs(from.Args())), "ppid") {
				return true
			}
		}
		if known, _ := listedAgent(x, a); known != nil {
			return true
		}
	}
	return false
}

// namesProgram reports whether a tool names our program: killall hookmux, killall -r
// 'hookm.*', cpulimit -e hookmux.
func namesProgram(tool string, args []shell.Word) bool {
	flags, rest := facts.SplitFlags(args)
	regular := tool == "killall" && (facts.HasShort(flags, 'r') || facts.HasLong(flags, "--regexp"))
	for _, w := range rest {
		if regular && matchesAny(w.Text, daemonNames, false) {
			return true
		}
		name := strings.ToLower(path.Base(w.Text))
		if strings.Contains(name, "hookmux") && !strings.Contains(w.Text, "=") {
			return true
		}
	}
	return false
}

// patternFindsDaemon reports whether the pattern of pkill or pgrep matches the daemon or
// its client.
func patternFindsDaemon(args []shell.Word) bool {
	flags, rest := patternOperands(args)
	candidates := daemonNames
	if facts.HasShort(flags, 'f') || facts.HasLong(flags, "--full") {
		candidates = append(append([]string(nil), daemonNames...), daemonCommands...)
	}
	for _, w := range rest {
		found := matchesAny(w.Text, candidates, facts.HasShort(flags, 'x') || facts.HasLong(flags, "--exact"))
		if inverted := facts.HasShort(flags, 'v') || facts.HasLong(flags, "--inverse"); found != inverted {
			return true
		}
	}
	return false
}

// patternOperands splits the words of pkill and pgrep; -9 and -TERM aren't clusters of
// options.
func patternOperands(args []shell.Word) (flags, rest []shell.Word) {
	skip := false
	for _, a := range args {
		t := a.Text
		switch {
		case skip:
			skip = false
		case len(t) > 1 && t[0] == '-':
			if strings.Trim(t[1:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
				continue // a signal
			}
			flags = append(flags, a)
			skip = len(t) == 2 && strings.IndexByte("uUGPgstdF", t[1]) >= 0
		default:
			rest = append(rest, a)
		}
	}
	return flags, rest
}

// matchesAny matches a regular expression as pgrep does. One that cannot be read
// matches if it names us.
func matchesAny(pattern string, candidates []string, exact bool) bool {
	if pattern == "" || len(pattern) > 1024 {
		return pattern != ""
	}
	if exact {
		pattern = "^(?:" + pattern + ")$"
	}
	re, err := regexp.Compile("(?i)" + pattern)
	if err != nil {
		return strings.Contains(strings.ToLower(pattern), "hook")
	}
	for _, c := range candidates {
		if re.MatchString(c) {
			return true
		}
	}
	return false
}

// namesDaemon reports whether the daemon's process, or its group, is among the operands.
func (t *Checker) namesDaemon(args []shell.Word) bool {
	if t.daemon == "" {
		return false
	}
	for i, a := range args {
		n := a.Text
		if i > 0 {
			n = strings.TrimPrefix(n, "-") // a process group
		}
		option, value, _ := strings.Cut(n, "=")
		if n == t.daemon || n == "-p"+t.daemon || n == "p"+t.daemon || value == t.daemon && namesProcess(option) {
			return true
		}
	}
	return false
}

// namesProcess reports whether the value of an option is a process's number.
func namesProcess(option string) bool {
	return strings.Contains(option, "pid") || strings.Contains(option, "attach") || strings.Contains(option, "target")
}

// findsDaemon reports whether the words come from something that looks for the daemon's
// process, or reads one of our files, such as the one with the daemon's process number.
func (t *Checker) findsDaemon(x *scope, span shell.Span) bool {
	return slices.ContainsFunc(x.Sources(span), func(from *shell.Run) bool { return t.runFindsDaemon(x, from) })
}

var awkPattern = lazyregexp.New(`/((?:[^/\\]|\\.)+)/`)

func (t *Checker) runFindsDaemon(x *scope, from *shell.Run) bool {
	if strings.Contains(strings.ToLower(facts.JoinArgs(from.Args())), "hookmux") {
		return true
	}
	_, rest := facts.SplitFlags(from.Args())
	switch from.Name() {
	case "pgrep", "pidof", "pidwait":
		if patternFindsDaemon(from.Args()) {
			return true
		}
	case "grep", "egrep", "rg", "ag", "ack":
		if len(rest) > 0 && !facts.HasShort(from.Args(), 'v') && matchesAny(rest[0].Text, daemonCommands, false) {
			return true
		}
	case "awk", "gawk", "mawk", "nawk":
		for _, w := range rest[:min(len(rest), 1)] {
			for _, m := range awkPattern.FindAllStringSubmatch(w.Text, 8) {
				if matchesAny(m[1], daemonCommands, false) {
					return true
				}
			}
		}
	}
	for _, a := range from.Args() {
		if t.wordIsOwned(x, a, from, false) {
			return true
		}
	}
	for _, rd := range from.Redirects {
		if rd.Reads() && (strings.Contains(strings.ToLower(rd.Target.Text), "hookmux") ||
			t.wordIsOwned(x, rd.Target, from, false)) {
			return true
		}
	}
	return false
}

// checkTmuxOption denies options of tmux that act at your keyboard or in your panes.
func checkTmuxOption(x *scope, r *shell.Run) {
	args := r.Args()
	if r.Name() != "tmux" || len(args) < 3 || args[0].Text != "set-option" || !programs.TmuxOptionTakesOver(args[1].Text) ||
		args[2].Text == "off" || args[2].Text == "0" || r.Contained || r.Remote {
		return
	}
	x.Report.Add("launch", r.Head(), "sets "+args[1].Text+" in tmux, which changes what runs in your panes or answers for "+
		"your keyboard; only the user should do that")
}

// stoppingVerbs are verbs of service managers that stop or change a service.
var stoppingVerbs = []string{"stop", "disable", "mask", "kill", "unload", "bootout", "remove", "restart", "freeze",
	"edit", "set-property", "revert", "clean", "try-restart", "reload-or-restart", "isolate"}

// stoppingMethod finds the same among the methods of systemd on D-Bus: StopUnit, DisableUnitFiles.
var stoppingMethod = lazyregexp.New(`(?:^|[ .])(?:stop|kill|disable|mask|restart|tryrestart|reloador|freeze|revert|clean|` +
	`setunitprop|setprop|isolate)`)

// checkServices denies systemctl stop hookmux, and units that are read from a file.
func (t *Checker) checkServices(x *scope, r *shell.Run) {
	byMessage := programs.WayOf(r.Name()) == "bus-message"
	switch r.Name() {
	case "systemctl", "service", "launchctl", "sv", "rc-service":
	case "gsettings", "dconf":
		if line := facts.JoinArgs(r.Args()); strings.Contains(line, "keybinding") &&
			facts.HasWord(r.Args(), "set", "write", "load") && strings.Contains(line, "command") {
			x.Report.Add("launch", r.Head(), "has a desktop shortcut run a command as the user")
		}
		return
	default:
		if !byMessage {
			return
		}
	}
	line := strings.ToLower(facts.JoinArgs(r.Args()))
	stops := byMessage && stoppingMethod.MatchString(line) ||
		slices.ContainsFunc(stoppingVerbs, func(verb string) bool { return facts.HasPhrase(line, verb) })
	if stops && strings.Contains(line, "hookmux") {
		x.Report.Add("daemon", r.Head(), "stops or changes the daemon's service")
		return
	}
	_, rest := facts.SplitFlags(r.Args())
	if len(rest) < 2 || r.Contained || r.Remote {
		return
	}
	switch rest[0].Text {
	case "link", "enable", "reenable", "load", "bootstrap", "submit":
		for _, w := range rest[1:] {
			if strings.Contains(w.Text, "/") && !strings.HasPrefix(w.Text, "gui/") &&
				!strings.HasPrefix(w.Text, "user/") &&
				w.Text != "system/" {
				x.Report.Add("launch", r.Head(),
					fmt.Sprintf("has %s run what %s says, as the user", r.Name(), w.Text))
				return
			}
		}
	}
}
