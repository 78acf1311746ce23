package shell

import (
	"strconv"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// special resolves one program that has its own rules. It reports whether the run was fully
// handled; false makes the caller record it as it is.
type special func(w *walker, name string, run Run, c inherited, hops int) bool

var (
	specialOnce sync.Once
	specials    map[string]special
)

// specialTable returns the ways of programs.yaml, by their names. It's made on first use: its
// entries lead back to resolve, which reads it, and Go rejects that cycle in a package variable.
func specialTable() map[string]special {
	return map[string]special{
		"account-or-text":   runUser,
		"another-account":   sudoShell,
		"behind-a-lock":     flockCommand,
		"bus-message":       busMessage,
		"database-commands": databaseText,
		"debugger-commands": debuggerText,
		"drops-words":       shiftPositional,
		"edit-script":       sedText,
		"enters-folder":     changeDir,
		"found-by-name":     fdExec,
		"found-files":       findExec,
		"git-settings":      gitNested,
		"group-text":        groupCommand,
		"in-parallel":       parallelText,
		"lisp":              emacsText,
		"listed-words":      runXargs,
		"looked-up-command": commandBuiltin,
		"make-rules":        makeText,
		"many-in-one":       namedTool,
		"on-a-signal":       trapText,
		"other-words":       aliasText,
		"pager-commands":    pagerText,
		"phrases":           phraseText,
		"recorded-text":     scriptText,
		"remote-copy":       remoteCopy,
		"remote-shell":      sshRemote,
		"schedule":          crontabText,
		"scheduled-text":    atText,
		"screen-windows":    screenText,
		"sets-variable":     setVariable,
		"sets-words":        setPositional,
		"socket-addresses":  socatText,
		"sourced-file":      sourceText,
		"split-option":      envSplit,
		"tcl-text":          tclText,
		"terminal-windows":  tmuxText,
		"text-option":       dashC,
		"typed-text":        typedCommands,
		"vi-commands":       vimText,
		"with-packages":     nixShell,
		"words-as-text":     evalText,
	}
}

func specialFor(name string) (special, bool) {
	way := programs.WayOf(name)
	if way == "" {
		return nil, false
	}
	specialOnce.Do(func() { specials = specialTable() })
	s, ok := specials[way]
	return s, ok
}

// commandBuiltin reads the command after `command`; `command -v x` only asks where x is.
func commandBuiltin(w *walker, name string, run Run, c inherited, hops int) bool {
	if len(run.Argv) > 1 && (run.Argv[1].Text == "-v" || run.Argv[1].Text == "-V") {
		return false
	}
	return w.stripPrefix(name, prefixOf(w, name), run, run.Argv[1:], c, hops)
}

func evalText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if text := joinTexts(args); strings.TrimSpace(text) != "" {
		w.walkText(text, c.withVia(name))
	}
	return true
}

// namedTool reads coreutils --coreutils-prog=rm, one program that is all of them.
func namedTool(w *walker, name string, run Run, c inherited, hops int) bool {
	for i, a := range run.Argv {
		if tool, ok := strings.CutPrefix(a.Text, "--coreutils-prog="); ok {
			rest := run
			rest.Argv = append([]Word{{Text: tool, Bare: tool}}, run.Argv[i+1:]...)
			w.resolveRun(rest, c.withVia(name), hops+1)
			return true
		}
	}
	return w.stripPrefix(name, programs.Prefix{}, run, run.Argv[1:], c, hops)
}

func setPositional(w *walker, _ string, run Run, _ inherited, _ int) bool {
	args := run.Argv[1:]
	if len(args) > 0 && args[0].Text == "--" {
		w.vars.setList("@", args[1:])
	}
	return false
}

// shiftPositional follows shift and shift 2.
func shiftPositional(w *walker, _ string, run Run, _ inherited, _ int) bool {
	n := 1
	if len(run.Argv) > 1 {
		var err error
		if n, err = strconv.Atoi(run.Argv[1].Text); err != nil {
			return false
		}
	}
	w.vars.shiftParameters(n)
	return false
}

// setVariable follows printf -v x text and read x <<< text.
func setVariable(w *walker, name string, run Run, c inherited, _ int) bool {
	args := run.Argv[1:]
	for i := range args {
		if value, ok := optionValue(args, i, "-u"); ok && len(w.streams) > 0 { // read -u 3
			if s, ok := w.streamAt(value); ok {
				c = s.readStream(c)
			}
		}
	}
	w.recordRun(run, c)
	if len(args) == 0 || len(w.out.Runs) == 0 {
		return true
	}
	self := &w.out.Runs[len(w.out.Runs)-1]
	if name == "printf" {
		if args[0].Text == "-v" && len(args) > 2 {
			if text, ok := printfText(args[2:]); ok {
				w.vars.setValue(args[1].Text, Word{Text: text, Bare: text, Dynamic: strings.Contains(text, "$HOME")})
			}
		}
		return true
	}
	readVariable(w, args, self, c)
	return true
}

// readVariable follows read x <<< text and read -a list <<< text.
func readVariable(w *walker, args []Word, self *Run, c inherited) {
	last := args[len(args)-1].Text
	if strings.HasPrefix(last, "-") {
		return
	}
	text, ok := w.known.stdinOf(self, 0)
	if !ok {
		w.vars.forget(last)
		from := c.from
		for _, rd := range self.Redirects {
			if rd.Reads() && from.Empty() {
				from = rd.Target.From // read x < <(find …)
			}
		}
		if !from.Empty() {
			w.vars.setOrigin(last, from)
		}
		return
	}
	if name := self.Name(); name == "mapfile" || name == "readarray" {
		w.vars.setList(last, splitItems(text, true))
		return
	}
	text, _, _ = strings.Cut(text, "\n")
	dynamic := self.Input.Dynamic || self.Input.Tilde
	seps := w.vars.separators()
	for _, a := range self.Assigns {
		if a.Name == "IFS" {
			seps = a.Value.Text
		}
	}
	for _, a := range args {
		if len(a.Text) > 1 && a.Text[0] == '-' && strings.ContainsAny(a.Text, "aA") {
			w.vars.setList(last, splitAt(text, seps))
			return
		}
	}
	names := args[skipOptions(args, "pdnNtui", nil):]
	for len(names) > 1 {
		text = strings.TrimLeft(text, seps)
		end := FieldEnd(text, seps, dynamic)
		w.vars.setValue(names[0].Text, Word{Text: text[:end], Bare: WithoutUnknown(text[:end]),
			Dynamic: dynamic && strings.ContainsAny(text[:end], "$`")})
		names, text = names[1:], strings.TrimLeft(text[end:], seps)
	}
	w.vars.setValue(last, Word{Text: text, Bare: WithoutUnknown(text), Dynamic: dynamic})
}

// sourceText reads source <(text) and source /dev/stdin.
func sourceText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	if len(run.Argv) < 2 {
		return true
	}
	walkKnownFile(w, run.Argv[1], c, name)
	return true
}

// envSplit reads env -S 'text', which splits the text into a command.
func envSplit(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	dirs := w.dirs
	defer func() { w.dirs = dirs }()
	for i, a := range args {
		dir, ok := strings.CutPrefix(a.Text, "--chdir=")
		if !ok && (a.Text == "-C" || a.Text == "--chdir") && i+1 < len(args) {
			dir, ok = args[i+1].Text, true
		}
		if ok {
			w.dirs = append(w.dirs[:len(w.dirs):len(w.dirs)],
				Word{Text: dir, Bare: dir, Tilde: strings.HasPrefix(dir, "~")})
			break
		}
		if !strings.HasPrefix(a.Text, "-") && !foreign.IsAssignment(a.Text) {
			break
		}
	}
	for i, a := range args {
		var text string
		switch {
		case a.Text == "--split-string" && i+1 < len(args):
			text = joinTexts(args[i+1:])
		case foreign.SplitsString(a.Text):
			_, glued, _ := strings.Cut(a.Text, "S")
			text = strings.TrimSpace(glued + " " + joinTexts(args[i+1:]))
			if given := args[i+1:]; glued == "" && len(given) > 1 { // the first of them is divided, the others stay
				rest := run
				rest.Argv = append(quotedWords(given[0].Text), given[1:]...)
				w.resolveRun(rest, c.withVia("env -S"), hops+1)
				return true
			}
		case strings.HasPrefix(a.Text, "--split-string="):
			text = a.Text[len("--split-string="):] + " " + joinTexts(args[i+1:])
		case !strings.HasPrefix(a.Text, "-") && !foreign.IsAssignment(a.Text):
			return w.stripPrefix(name, prefixOf(w, name), run, args, c, hops)
		default:
			continue
		}
		w.walkText(text, c.withVia("env -S"))
		return true
	}
	return w.stripPrefix(name, prefixOf(w, name), run, args, c, hops)
}

// sudoShell reads sudo -s and -i, which join the words and give them to a shell.
func sudoShell(w *walker, name string, run Run, c inherited, hops int) bool {
	p := prefixOf(w, name)
	args := run.Argv[1:]
	n := skipOptions(args, p.Values, p.Long)
	for _, a := range args[:min(n, len(args))] {
		if a.Text == "-i" || a.Text == "-s" || a.Text == "--login" || a.Text == "--shell" {
			if n == len(args)-1 && strings.ContainsAny(args[n].Text, " \t\n;|&") {
				w.walkText(args[n].Text, c.withVia(name+" "+a.Text))
				return true
			}
			if n < len(args) {
				rest := run
				rest.Argv = args[n:]
				w.resolveRun(rest, c.withVia(name+" "+a.Text), hops+1)
				return true
			}
			// A root shell that reads its commands from stdin.
			rest := run
			rest.Argv = []Word{{Text: "sh", Bare: "sh"}}
			w.resolveRun(rest, c.withVia(name+" "+a.Text), hops+1)
			return true
		}
	}
	return w.stripPrefix(name, p, run, args, c, hops)
}

// commandOption returns the value of -c, -qec, --command=text.
func commandOption(args []Word, i int) (string, bool) {
	for _, option := range [...]string{"-c", "--command", "--session-command"} {
		if text, ok := optionValue(args, i, option); ok {
			return text, true
		}
	}
	return "", false
}

// dashC reads su user -c 'text', script -c 'text' and vagrant ssh -c 'text'.
func dashC(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	for i := range args {
		if text, ok := commandOption(args, i); ok {
			w.walkText(text, c.withVia(name+" -c"))
			return true
		}
	}
	if name == "su" || name == "runuser" {
		w.walkShellInput(name, c)
	}
	return true
}

func nixShell(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	for i, a := range run.Argv {
		if (a.Text == "--run" || a.Text == "--command") && i+1 < len(run.Argv) {
			w.walkText(run.Argv[i+1].Text, c.withVia(name+" "+a.Text))
		}
	}
	return true
}

func trapText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) > 1 && args[0].Text != "-" && !strings.HasPrefix(args[0].Text, "-") {
		w.walkText(args[0].Text, c.withVia(name))
	}
	return true
}

func aliasText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	for _, a := range run.Argv[1:] {
		alias, v, ok := strings.Cut(a.Text, "=")
		if !ok || v == "" {
			continue
		}
		w.walkText(v, c.withVia(name))
		if w.aliases == nil {
			w.aliases = map[string][]Word{}
		}
		if len(w.aliases) < maxVia {
			w.aliases[alias] = quotedWords(v)
		}
	}
	return true
}

func changeDir(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	to := Word{Text: "~", Bare: "~", Tilde: true}
	if name == "popd" {
		to = Word{Text: "-", Bare: "-", Dynamic: true}
	}
	for _, a := range run.Argv[1:] {
		if a.Text == "--" || (len(a.Text) > 1 && a.Text[0] == '-') {
			continue
		}
		to = a
		break
	}
	if path, ok := w.vars.lookupVariable("CDPATH"); ok && !strings.HasPrefix(to.Text, "/") && !strings.HasPrefix(to.Text, ".") &&
		!to.Tilde && !strings.Contains(path.Text, ":") {
		to.Text, to.Bare, to.Tilde = path.Text+"/"+to.Text, path.Bare+"/"+to.Bare, path.Tilde
		to.Dynamic = to.Dynamic || path.Dynamic
	}
	switch {
	case strings.HasPrefix(to.Text, "/") || to.Tilde || to.Dynamic && strings.HasPrefix(to.Text, "$"):
		w.dirs = []Word{to}
	case len(w.dirs) >= maxDirs:
		w.out.Truncated = true
	default:
		w.dirs = append(w.dirs[:len(w.dirs):len(w.dirs)], to)
	}
	return true
}
