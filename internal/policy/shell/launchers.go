package shell

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// walkLauncher follows the command that a terminal, a session or a service is
// started with.
func walkLauncher(w *walker, name string, l *programs.Launcher, run Run, c inherited, hops int) {
	w.recordRun(run, c)
	args := run.Argv[1:]
	if l.Backslashes {
		args = slices.Clone(args)
		for i := range args {
			args[i].Text = strings.ReplaceAll(args[i].Text, `\`, "/")
		}
	}
	in := c.startedBy(name)
	if in.remote = in.remote || l.Remote; l.Remote {
		dirs := w.dirs
		w.dirs = nil
		defer func() { w.dirs = dirs }()
	}
	for i, a := range args {
		for _, option := range l.Text {
			if text, ok := optionValue(args, i, option); ok {
				w.tryText(strings.TrimPrefix(text, "run "), in)
			}
		}
		for _, option := range l.Literals {
			if text, ok := optionValue(args, i, option); ok {
				tryLiterals(w, text, in)
			}
		}
		for _, call := range foreign.KakouneCalls(a.Text, maxLoop) {
			w.tryText(call, in)
		}
		for _, option := range l.Rest {
			if a.Text == option {
				rest := args[i+1:]
				if l.Divided && len(rest) > 1 && rest[1].Text == "--" {
					rest = append([]Word{rest[0]}, rest[2:]...)
				}
				walkWords(w, run, rest, in, hops)
				return
			}
		}
	}
	for _, verb := range l.Types {
		if rest, ok := behindVerb(args, verb, l); ok {
			walkTyped(w, rest, l, c, in)
			return
		}
	}
	if len(l.Verbs) > 0 {
		found := false
		for _, verb := range l.Verbs {
			if rest, ok := behindVerb(args, verb, l); ok {
				args, found = rest, true
				break
			}
		}
		if !found {
			return
		}
	}
	if !l.Operands {
		return
	}
	i := programs.OperandsFrom(textsOf(args), l, skipOptions(args, l.Values, l.Long))
	if i < len(args) {
		walkWords(w, run, args[i:], in, hops)
	}
}

// walkTyped follows what is typed into a terminal: the operands, standard input,
// or a file that this script wrote.
func walkTyped(w *walker, args []Word, l *programs.Launcher, c, in inherited) {
	for i := range args {
		if file, ok := optionValue(args, i, "--from-file"); ok {
			typeText(w, w.known.files[file]+"\n", in)
		}
	}
	if operands := args[min(skipOptions(args, l.Values, l.Long), len(args)):]; len(operands) > 0 {
		typeText(w, typedKeys(joinTexts(operands)), in)
	} else if text, ok := w.known.stdinOf(c.reader(), 0); ok {
		typeText(w, text, in)
	}
}

// typedKeys reads the ways in which such programs write the Enter key.
func typedKeys(text string) string {
	return strings.NewReplacer("\r", "\n", "^M", "\n", "^J", "\n").Replace(ANSIC(text))
}

// walkWords follows words that are a command: several are its arguments, a single one with
// blanks in it is given to a shell.
func walkWords(w *walker, run Run, words []Word, c inherited, hops int) {
	if len(words) > 0 && words[0].Text == "--" {
		words = words[1:]
	}
	if len(words) == 0 {
		return
	}
	if len(words) == 1 && strings.ContainsAny(words[0].Text, " \t\n;|&<>$`(") {
		w.tryText(strings.TrimPrefix(words[0].Text, "!"), c)
		return
	}
	nested := run
	nested.Argv = words
	w.resolveRun(nested, c, hops+1)
}

// behindVerb returns the words after a verb of one or two words, which comes after the
// options. The empty verb is always there.
func behindVerb(args []Word, verb string, l *programs.Launcher) ([]Word, bool) {
	rest := args
	for _, part := range strings.Fields(verb) {
		i := skipOptions(rest, l.Values, l.Long)
		if i >= len(rest) || rest[i].Text != part {
			return nil, false
		}
		rest = rest[i+1:]
	}
	return rest, true
}

// walkOptionCommands follows options whose value is a command line, behind a key if the option
// has one: -p ExecStartPre='text' for -p=ExecStartPre.
func walkOptionCommands(w *walker, name string, run Run, c inherited) {
	options := w.out.Programs.Of(name).RunsOptions
	if len(options) == 0 {
		return
	}
	in := c.startedBy(name)
	args := run.Argv[1:]
	for i := range args {
		for _, option := range options {
			text, ok := optionValue(args, i, option)
			if flag, key, keyed := strings.Cut(option, "="); keyed && !ok {
				text, ok = keyedValue(args, i, flag, key)
			}
			if ok && strings.ContainsAny(strings.TrimSpace(text), " \t\n;|&`$") {
				w.tryText(text, in)
			}
		}
	}
}

// typeText follows text that is typed into a terminal. What several calls type one after another
// becomes one line.
func typeText(w *walker, text string, c inherited) {
	if len(w.typed)+len(text) > maxValue {
		w.typed = ""
	}
	w.typed += text
	lines := strings.Split(w.typed, "\n")
	last := lines[len(lines)-1]
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			w.tryText(line, c)
		}
	}
	w.typed = last
}
