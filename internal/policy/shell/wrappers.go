package shell

import (
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// resolveRun removes wrappers from run until a program that does the work remains, and records
// it. hops limits `sudo sudo sudo …`.
func (w *walker) resolveRun(run Run, c inherited, hops int) {
	if len(run.Argv) == 0 || hops > maxDepth || !w.takeStep() {
		w.out.Truncated = w.out.Truncated || hops > maxDepth
		w.recordRun(run, c)
		return
	}
	if isOwnShell(run.Argv[0].Text) {
		run.Argv = append([]Word{{Text: "sh", Bare: "sh"}}, run.Argv[1:]...)
	}
	name := baseName(run.Argv[0].Text)
	if programs.TakesStatements(name) || programs.IsInterpreter(name) {
		c = withKnownInput(w, run, c)
	}
	if fn, ok := w.funcs[run.Argv[0].Text]; ok && !skipsFunctions(c) {
		run.Local = true
		w.recordRun(run, c)
		w.callFunction(fn, run.Argv, c)
		return
	}
	if _, ok := w.known.files[run.Argv[0].Text]; ok {
		w.recordRun(run, c)
		walkKnownFile(w, run.Argv[0], c, run.Argv[0].Text)
		return
	}
	if words := w.aliases[run.Argv[0].Text]; len(words) > 0 && words[0].Text != run.Argv[0].Text {
		rest := run
		rest.Argv = append(append([]Word(nil), words...), run.Argv[1:]...)
		w.resolveRun(rest, c.withVia("alias"), hops+1)
		return
	}
	walkOptionCommands(w, name, run, c)
	walkPackageScript(w, name, run, c)
	walkWritten(w, name, c, hops)
	if programs.Renames(name) {
		rememberProgram(w, name, run)
	}
	known := w.out.Programs.Of(name)
	if known.OptionsFrom != "" {
		run.Argv = withOptions(w, run, known.OptionsFrom)
	}
	if known.Own() { // whatever the description says
		followUnknown(w, name, run, c, hops)
	}
	if special, ok := specialFor(name); ok {
		if special(w, name, run, c, hops) {
			return
		}
	} else if programs.IsLoader(name) {
		if w.stripPrefix(name, programs.Loader(), run, run.Argv[1:], c, hops) {
			return
		}
	} else if known.Runs != nil {
		if w.stripPrefix(name, *known.Runs, run, run.Argv[1:], c, hops) {
			return
		}
	} else if len(known.Verbs) > 0 {
		if stripVerb(w, name, known.Verbs, run, c, hops) {
			return
		}
		if programs.IsInterpreter(name) { // bun -e
			w.findFile(&run)
			w.recordRun(run, c)
			w.walkCode(name, run, c)
			return
		}
	} else if known.Starts != nil {
		walkLauncher(w, name, known.Starts, run, c, hops)
		return
	} else if programs.IsShell(name) {
		w.walkShell(name, run, c)
		return
	} else if programs.IsInterpreter(name) {
		w.findFile(&run)
		w.recordRun(run, c)
		w.walkCode(name, run, c)
		return
	}
	w.recordRun(run, c)
	followUnknown(w, name, run, c, hops)
	if programs.StartsShell(name) {
		w.walkShellInput(name, c)
	}
	if first := run.Argv[0]; first.Dynamic && first.Bare == "" && len(run.Argv) > 1 &&
		!strings.HasPrefix(run.Argv[1].Text, "-") {
		// $SUDO rm x: an unset variable makes no word, and the next word is the program.
		rest := run
		rest.Argv = run.Argv[1:]
		w.resolveRun(rest, c, hops+1)
	}
}

// skipsFunctions reports whether what follows is a program even if a function has its name:
// after command, and after any other program.
func skipsFunctions(c inherited) bool {
	if len(c.via) == 0 {
		return false
	}
	last := c.via[len(c.via)-1]
	return last == "command" || last == "builtin" || last == "sudo"
}

// withOptions returns the words of a run with those that a variable adds: TAR_OPTIONS.
func withOptions(w *walker, run Run, variable string) []Word {
	value, ok := w.vars.lookupVariable(variable)
	for _, a := range run.Assigns {
		if a.Name == variable {
			value, ok = a.Value, true
		}
	}
	if !ok || value.Dynamic || len(value.Text) > maxValue {
		return run.Argv
	}
	return slices.Concat(run.Argv[:1], quotedWords(value.Text), run.Argv[1:])
}

// prefixOf returns how a program finds the command after its own options.
func prefixOf(w *walker, name string) programs.Prefix {
	if p := w.out.Programs.Of(name).Runs; p != nil {
		return *p
	}
	return programs.Prefix{}
}

// walkShellInput follows the commands that a shell reads from standard input,
// started by a program that got no command.
func (w *walker) walkShellInput(name string, c inherited) {
	if text, ok := w.known.stdinOf(c.reader(), 0); ok {
		w.tryText(text, c.startedBy(name))
	}
}

// stripPrefix resolves what comes after a prefix command. It reports false if nothing does, so
// that the wrapper itself is recorded.
func (w *walker) stripPrefix(name string, p programs.Prefix, run Run, args []Word, c inherited, hops int) bool {
	var i int
	skip := p.Skip
	switch at := indexOfAny(args, p.Need); {
	case p.Need != "" && at >= 0:
		i, skip = at+1, 0
	case p.Need != "" && p.Skip == 0:
		i = len(args)
	default:
		i = skipOptions(args, p.Values, p.Long)
		if p.Unskipped && i > 0 {
			skip = 0
		}
	}
	for p.Assigns && i < len(args) && foreign.IsAssignment(args[i].Text) {
		n, v, _ := strings.Cut(args[i].Text, "=")
		run.Assigns = append(run.Assigns, Assign{Name: n, Value: Word{Text: v, Bare: v, Dynamic: args[i].Dynamic,
			Vars: args[i].Vars}})
		i++
		if i < len(args) && args[i].Text == "--" {
			i++
		}
	}
	if p.Assigns {
		walkCommandVariables(w, run.Assigns, c)
		defer w.vars.assignFor(run.Assigns)()
	}
	i += skip
	if i < len(args) && args[i].Text == "--" && skip > 0 {
		i++
	}
	if p.Keep {
		w.recordRun(run, c)
	}
	if i >= len(args) {
		return p.Keep
	}
	c = c.withVia(name)
	c.contained = c.contained || p.Contain
	if name == "chroot" && skip > 0 && i > 0 && args[i-1].Text == "/" {
		c.contained = len(c.mounts) > 0 // the machine itself
	}
	if name == "nsenter" && entersFirstProcess(args) {
		c.contained, c.mounts = false, nil // the machine itself
	}
	if p.Contain {
		mounts, workdir := mountsOf(args, i)
		if hasPrefixed(args[:min(i, len(args))], "--volumes-from") {
			c = c.withVia(name + " --volumes-from exec") // the data of a running container
		}
		if name == "kubectl debug" { // of a node
			mounts = append(mounts, Mount{Host: Word{Text: "/", Bare: "/"}, Inside: "/host"})
		}
		if name == "chroot" && skip > 0 && i > 0 {
			mounts = append(mounts, rootMount(args[i-1], c))
		}
		c.mounts = append(c.mounts[:len(c.mounts):len(c.mounts)], mounts...)
		if workdir != "" && len(mounts) > 0 {
			dirs := w.dirs
			w.dirs = append(w.dirs[:len(w.dirs):len(w.dirs)], Word{Text: workdir, Bare: workdir,
				Dynamic: strings.Contains(workdir, "$")})
			defer func() { w.dirs = dirs }()
		}
	}
	if p.Joins {
		w.walkText(joinTexts(args[i:]), c)
		return true
	}
	rest := run
	rest.Argv = args[i:]
	if p.Keep && strings.Contains(rest.Argv[0].Text, "@") && !p.Contain {
		rest.Argv = append([]Word{withoutVersion(rest.Argv[0])}, args[i+1:]...)
	}
	if p.Contain && i > 0 {
		rest.Argv = withEntrypoint(args[i-1].Text, rest.Argv)
	}
	w.resolveRun(rest, c, hops+1)
	return true
}

// hasPrefixed reports whether a word begins with prefix.
func hasPrefixed(args []Word, prefix string) bool {
	return slices.ContainsFunc(args, func(a Word) bool { return strings.HasPrefix(a.Text, prefix) })
}

func stripVerb(w *walker, name string, verbs map[string]programs.Prefix, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	for i, a := range args {
		if (name == "docker" || name == "podman" || name == "nerdctl") && a.Text == "compose" {
			verbs = programs.Of("docker-compose").Verbs
			continue
		}
		if p, ok := verbs[a.Text]; ok {
			return w.stripPrefix(name+" "+a.Text, p, run, args[i+1:], c, hops)
		}
		if i > 8 {
			break
		}
	}
	return false
}

// walkShell handles a shell program: -c text, text on stdin, or a script file.
func (w *walker) walkShell(name string, run Run, c inherited) {
	args := run.Argv[1:]
	if run.Via = c.via; run.OnlyChecks() {
		w.recordRun(run, c)
		return
	}
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		if len(t) < 2 || (t[0] != '-' && t[0] != '+') {
			break
		}
		if (t == "--rcfile" || t == "--init-file") && i+1 < len(args) {
			walkKnownFile(w, args[i+1], c, name)
		}
		if t == "-O" || t == "--rcfile" || t == "--init-file" || strings.HasSuffix(t, "o") && t[1] != '-' &&
			!strings.ContainsRune(t, 'c') {
			i++ // -o pipefail, -euo pipefail
			continue
		}
		long := strings.HasPrefix(t, "--") && t != "--command"
		if long || (!strings.ContainsRune(t, 'c') && t != "--command") {
			continue
		}
		// The text is the first word after the options.
		j := i + 1
		for j < len(args) && len(args[j].Text) > 1 && (args[j].Text[0] == '-' || args[j].Text[0] == '+') {
			if args[j].Text == "-o" {
				j++
			}
			j++
		}
		if j >= len(args) {
			break
		}
		if args[j].Dynamic || startsWithFile(run) {
			w.recordRun(run, c) // so that a rule sees where the text came from
		}
		w.withPositional(args[j+1:], func() { w.walkText(args[j].Text, c.withVia(name+" -c")) })
		return
	}
	w.recordRun(run, c)
	if len(w.out.Runs) == 0 {
		return
	}
	operands := args[min(skipOptions(args, "oO", nil), len(args)):]
	if reads := indexOf(args, "-s") >= 0; !reads && len(operands) > 0 && !programs.IsStdin(operands[0].Text) {
		walkKnownFile(w, operands[0], c, name)
		return
	} else if reads {
		operands = append([]Word{{Text: name, Bare: name}}, operands...)
	}
	if text, ok := w.known.stdinOf(&w.out.Runs[len(w.out.Runs)-1], 0); ok {
		c.from, c.input, c.hasInput = Span{}, Word{}, false
		w.withPositional(operands, func() { w.walkText(text, c.withVia(name)) })
	}
}

// startsWithFile reports whether a shell is given a custom start file, or one that another
// command prints: BASH_ENV=/tmp/x, BASH_ENV=<(…), --rcfile <(…).
func startsWithFile(run Run) bool {
	for _, a := range run.Assigns {
		if programs.NamesStartFile(a.Name) && (!a.Value.From.Empty() || strings.HasPrefix(a.Value.Text, "/")) {
			return true
		}
	}
	for _, a := range run.Argv {
		if !a.From.Empty() && strings.HasPrefix(a.Text, "<(") {
			return true
		}
	}
	return false
}

// withPositional sets $0, $1 … for the text of sh -c 'text' a b.
func (w *walker) withPositional(args []Word, f func()) {
	var list []Word
	if len(args) > 0 {
		list = args[1:]
	}
	saved := w.vars.replaceParameters(list, true)
	dirs := w.dirs
	if len(args) > 0 {
		w.vars.setValue("0", args[0])
	}
	f()
	w.dirs = dirs
	w.vars.restoreParameters(saved)
}

// matchesProgram reports whether a glob as program word can mean name.
func matchesProgram(pattern Word, name string) bool {
	if !pattern.Glob {
		return false
	}
	ok, err := path.Match(baseName(pattern.Text), name)
	return err == nil && ok
}

// MayBe reports whether the program word can be name: equal, or a pattern such
// as /bin/r? that matches it.
func (r *Run) MayBe(name string) bool {
	if len(r.Argv) == 0 {
		return false
	}
	return r.Name() == name || matchesProgram(r.Argv[0], name)
}
