package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// Programs with their own language that has a way to run shell commands.

// makeText reads the rules that make -f - takes from stdin, and those in a file that
// this very command wrote; the recipes are shell.
func makeText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	if len(w.out.Runs) == 0 {
		return true
	}
	self := len(w.out.Runs) - 1
	in := c.startedBy(name)
	args := run.Argv[1:]
	dirs := w.dirs
	defer func() { w.dirs = dirs }()
	for i := range args {
		for _, option := range [...]string{"-C", "--directory"} {
			if dir, ok := optionValue(args, i, option); ok && len(w.dirs) < maxDirs {
				w.dirs = append(w.dirs[:len(w.dirs):len(w.dirs)], Word{Text: dir, Bare: dir, Tilde: strings.HasPrefix(dir, "~")})
			}
		}
	}
	walkMakeArguments(w, args, in)
	named := false
	for i, a := range args {
		file, ok := strings.CutPrefix(a.Text, "--file=")
		if !ok {
			file, ok = strings.CutPrefix(a.Text, "--makefile=")
		}
		switch {
		case (a.Text == "-f" || a.Text == "--file" || a.Text == "--makefile") && i+1 < len(args):
			file, ok = args[i+1].Text, true
		case strings.HasPrefix(a.Text, "-f") && len(a.Text) > 2:
			file, ok = a.Text[2:], true
		}
		if !ok {
			continue
		}
		named = true
		text, known := w.known.files[file]
		if i+1 < len(args) && strings.HasPrefix(file, "<(") {
			text, known = textOfFile(w, args[i+1])
		}
		if file == "-" || file == "/dev/stdin" {
			text, known = w.known.stdinOf(&w.out.Runs[self], 0)
		}
		if known {
			walkMakefile(w, text, in)
		}
	}
	if named {
		return true
	}
	for _, file := range [...]string{"GNUmakefile", "makefile", "Makefile"} {
		if text, known := w.known.files[file]; known {
			walkMakefile(w, text, in)
			break
		}
	}
	return true
}

// walkMakeArguments follows what arguments make make run: SHELL=program with .SHELLFLAGS=given,
// --eval=text, values of variables, $(shell text).
func walkMakeArguments(w *walker, args []Word, c inherited) {
	program, flags := "", ""
	for i, a := range args {
		if !strings.HasPrefix(a.Text, "--eval") {
			walkMakeCalls(w, a.Text, c)
		}
		for _, option := range [...]string{"--eval", "-E"} {
			if text, ok := optionValue(args, i, option); ok {
				walkMakefile(w, text, c)
			}
		}
		variable, value, ok := strings.Cut(a.Text, "=")
		switch variable = strings.TrimRight(variable, ":?+"); {
		case !ok || strings.HasPrefix(a.Text, "-"):
		case variable == "SHELL":
			program = value
		case variable == ".SHELLFLAGS":
			flags = value
		case strings.ContainsAny(strings.TrimSpace(value), " \t\n"):
			w.tryText(value, c)
		}
	}
	if program != "" && (flags != "" || !programs.IsShell(baseName(program))) {
		w.tryText(program+" "+flags, c)
	}
}

// walkMakeCalls reads $(shell text), which runs while make reads.
func walkMakeCalls(w *walker, text string, c inherited) {
	for _, call := range foreign.MakeCalls(text, maxLoop) {
		w.tryText(call, c)
	}
}

// walkMakefile reads the recipes of a makefile.
func walkMakefile(w *walker, text string, c inherited) {
	if len(text) > MaxSource {
		w.out.Truncated = true
		return
	}
	walkMakeCalls(w, text, c)
	recipes, whole := foreign.MakeRecipes(text, maxLoop*8)
	w.out.Truncated = w.out.Truncated || !whole
	for _, recipe := range recipes {
		w.tryText(recipe, c)
	}
}

// debuggerText reads gdb -ex 'shell text' and lldb -o 'platform shell text'.
func debuggerText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	in := c.startedBy(name)
	for i, a := range args {
		text := ""
		flag, value, glued := strings.Cut(a.Text, "=")
		switch strings.TrimLeft(flag, "-") {
		case "ex", "iex", "eval-command", "init-eval-command", "o", "O", "one-line", "one-line-before-file":
			if glued {
				text = value
			} else if i+1 < len(args) {
				text = args[i+1].Text
			}
		}
		text = strings.TrimSpace(text)
		for _, p := range [...]string{"platform shell ", "shell ", "!", "make "} {
			if rest, ok := strings.CutPrefix(text, p); ok {
				w.tryText(rest, in)
				break
			}
		}
		if strings.HasPrefix(text, "python") || strings.HasPrefix(text, "script") || strings.Contains(text, "system(") {
			for _, s := range foreign.StringLiterals(text) {
				w.tryText(s, in)
			}
		}
	}
	return true
}

// sedText reads the e command and the e flag of s, which run text, and the files that w writes.
func sedText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	for _, script := range foreign.SedScripts(textsOf(run.Argv[1:])) {
		if len(script) > maxValue {
			continue
		}
		if strings.ContainsAny(script, "wWrR") {
			for _, command := range foreign.SedFiles(script, maxLoop) {
				w.tryText(command, in)
			}
		}
		if !strings.ContainsRune(script, 'e') {
			continue
		}
		for _, text := range foreign.SedCommands(script, maxLoop) {
			w.tryText(text, in)
		}
	}
	return true
}

// typedCommands reads the actions that dotool takes from standard input; "type text"
// types.
func typedCommands(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	text, _ := w.known.stdinOf(c.reader(), 0)
	for _, line := range strings.Split(text, "\n") {
		switch verb, rest, _ := strings.Cut(strings.TrimSpace(line), " "); verb {
		case "type":
			typeText(w, rest, c.startedBy(name))
		case "key":
			typeText(w, "\n", c.startedBy(name))
		}
	}
	return true
}

// tclText reads what expect and tclsh run with spawn and exec, and the strings that send types.
func tclText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	text, ok := withInput(run, c).Code()
	if !ok {
		text, ok = w.known.stdinOf(c.reader(), 0)
	}
	if !ok || len(text) > MaxSource {
		return true
	}
	text = strings.NewReplacer("$env(HOME)", "$HOME", "$::env(HOME)", "$HOME").Replace(text)
	in := c.startedBy(name)
	to := foreign.TclFolder(text)
	for _, command := range foreign.TclFiles(text, maxLoop) {
		w.tryText(to+command, in)
	}
	for _, command := range foreign.TclCommands(text, maxLoop) {
		given := splitBlanks(command)
		w.tryText(joinTexts(given[min(skipOptions(given, "", nil), len(given)):]), in)
	}
	for _, s := range foreign.StringLiterals(text) {
		typeText(w, typedKeys(s), in)
	}
	return true
}
