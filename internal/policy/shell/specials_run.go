package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// Programs that run another one, on what they find or are given.

// findExec records find itself (for -delete) and every command it executes.
func findExec(w *walker, name string, run Run, c inherited, hops int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	for i := 0; i < len(args); i++ {
		switch args[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		end := i + 1
		for end < len(args) && args[end].Text != ";" && !(args[end].Text == "+" && args[end-1].Text == "{}") {
			end++
		}
		if end > i+1 {
			nested := run
			nested.Argv = markFound(args[i+1 : end])
			w.resolveRun(nested, c.withVia(name+" "+args[i].Text), hops+1)
		}
		i = end
	}
	return true
}

func fdExec(w *walker, name string, run Run, c inherited, hops int) bool {
	w.recordRun(run, c)
	if _, command := SplitCommand(w.out.Programs.Of(name), run.Argv[1:]); len(command) > 0 {
		nested := run
		nested.Argv = markFound(command)
		w.resolveRun(nested, c.withVia(name), hops+1)
	}
	return true
}

// SplitCommand divides a program's words at the option behind which all of them are a command's:
// fd x -x rm, fd x -Hx rm, fd x --exec=rm. Without one, all are its own.
func SplitCommand(p *programs.Program, args []Word) (own, command []Word) {
	if p.Starts == nil {
		return args, nil
	}
	for i, a := range args {
		for _, option := range p.Starts.Rest {
			if a.Text == option {
				return args[:i], args[i+1:]
			}
			value, joined := strings.CutPrefix(a.Text, option+"=")
			if short := len(option) == 2 && len(a.Text) > 2 && a.Text[0] == '-' && a.Text[1] != '-'; short && !joined {
				at := strings.IndexByte(a.Text, option[1])
				if at < 0 || strings.ContainsAny(a.Text[1:at], p.Starts.Values) {
					continue
				}
				if value, joined = a.Text[at+1:], true; value == "" {
					return args[:i], args[i+1:]
				}
			}
			if joined {
				return args[:i], append([]Word{{Text: value, Bare: value}}, args[i+1:]...)
			}
		}
	}
	return args, nil
}

// markFound marks the file name that find inserts as unknown.
func markFound(args []Word) []Word {
	out := make([]Word, len(args))
	for i, a := range args {
		if strings.Contains(a.Text, "{}") {
			a.Dynamic = true
		}
		out[i] = a
	}
	return out
}

func sshRemote(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	self := len(w.out.Runs) - 1
	args := run.Argv[1:]
	walkRemoteOptions(w, args, c.withVia(name))
	i := skipOptions(args, programs.RemoteValues(name), nil)
	if i >= len(args) {
		return true
	}
	i++ // the host
	for i < len(args) && strings.HasPrefix(args[i].Text, "-") {
		j := skipOptions(args[i:], programs.RemoteValues(name), nil)
		i += max(j, 1)
	}
	c = c.withVia(name)
	c.remote = true
	dirs := w.dirs
	w.dirs = nil
	if i < len(args) && name == "mosh" {
		walkWords(w, run, args[i:], c, 0)
	} else if i < len(args) {
		w.walkText(joinTexts(args[i:]), c)
	} else if text, ok := w.known.stdinOf(&w.out.Runs[self], 0); ok {
		c.from, c.input, c.hasInput = Span{}, Word{}, false
		w.walkText(text, c)
	}
	w.dirs = dirs
	return true
}

// walkRemoteOptions follows the settings of ssh whose value it runs here:
// -o ProxyCommand=text, -o "LocalCommand text".
func walkRemoteOptions(w *walker, args []Word, c inherited) {
	for _, a := range args {
		lower := strings.ToLower(a.Text)
		for _, setting := range [...]string{"proxycommand", "localcommand", "remotecommand", "knownhostscommand"} {
			if i := strings.Index(lower, setting); i >= 0 {
				w.walkText(strings.TrimLeft(a.Text[i+len(setting):], "= \t"), c)
			}
		}
	}
}

// remoteCopy reads the settings of ssh that scp and sftp take.
func remoteCopy(w *walker, name string, run Run, c inherited, _ int) bool {
	walkRemoteOptions(w, run.Argv[1:], c.withVia(name))
	return false
}

// runUser reads runuser -u user command and runuser user -c text.
func runUser(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	if indexOf(args, "-u") < 0 && indexOf(args, "--user") < 0 {
		return dashC(w, name, run, c, hops)
	}
	return w.stripPrefix(name, programs.Prefix{Values: "ugGswT", Long: []string{"--user", "--group", "--supp-group",
		"--shell"}}, run, args, c, hops)
}

// groupCommand reads sg group text and sg group -c text.
func groupCommand(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0].Text, "-") {
		args = args[1:]
	}
	args = args[min(1, len(args)):]
	if len(args) > 0 && args[0].Text == "-c" {
		args = args[1:]
	}
	if len(args) == 0 {
		w.walkShellInput(name, c)
		return true
	}
	w.walkText(joinTexts(args), c.withVia(name))
	return true
}

// busMessage reads a call over D-Bus, which can have a terminal or the service manager run
// something. Which words are the command is up to the receiver: every word is read as a
// command line, and as the first of one.
func busMessage(w *walker, name string, run Run, c inherited, hops int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	args := run.Argv[1:]
	for i, a := range args {
		if i >= maxVia {
			w.out.Truncated = true
			break
		}
		_, value, typed := strings.Cut(a.Text, ":") // dbus-send writes string:text
		if !typed {
			value = a.Text
		}
		switch {
		case strings.ContainsAny(strings.TrimSpace(value), " \n"):
			w.tryText(value, in)
		case !typed && i > 2 && !strings.HasPrefix(value, "-"):
			nested := run
			nested.Argv = args[i:]
			w.resolveRun(nested, in, hops+1)
		}
	}
	return true
}

func flockCommand(w *walker, name string, run Run, c inherited, hops int) bool {
	for i, a := range run.Argv {
		if (a.Text == "-c" || a.Text == "--command") && i+1 < len(run.Argv) {
			w.recordRun(run, c)
			w.walkText(run.Argv[i+1].Text, c.withVia(name+" -c"))
			return true
		}
	}
	return w.stripPrefix(name, prefixOf(w, name), run, run.Argv[1:], c, hops)
}

// scriptText reads script -c 'text' file, and script file command on BSD and macOS.
func scriptText(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	for i := range args {
		if _, ok := commandOption(args, i); ok {
			return dashC(w, name, run, c, hops)
		}
	}
	w.recordRun(run, c)
	if at := skipOptions(args, "tTBEIOmo", nil) + 1; at < len(args) {
		in := c.startedBy(name)
		walkWords(w, run, args[at:], in, hops)
	} else {
		w.walkShellInput(name, c)
	}
	return true
}

// phraseText reads every operand as a command line.
func phraseText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	tryPhrases(w, run.Argv[1:], c.withVia(name))
	return true
}

// socatText reads socat x EXEC:'text' and SYSTEM:'text'.
func socatText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	for _, a := range run.Argv[1:] {
		kind, text, ok := strings.Cut(a.Text, ":")
		switch strings.ToUpper(kind) {
		case "EXEC", "SYSTEM", "SHELL":
			if ok {
				w.tryText(strings.Trim(text, `'"`), c.withVia(name))
			}
		}
	}
	return true
}
