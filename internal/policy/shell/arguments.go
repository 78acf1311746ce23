package shell

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"

	"mvdan.cc/sh/v3/syntax"
)

// Programs that read arguments for another one from standard input, from a file or from their own
// command line: xargs and parallel.

// textOfFile returns the content of a file that this script wrote, or what a substituted process
// prints.
func textOfFile(w *walker, file Word) (string, bool) {
	if !file.From.Empty() && strings.HasPrefix(file.Text, "<(") {
		return w.known.outputOf(file.From.Hi-1, 0)
	}
	text, ok := w.known.files[file.Text]
	return text, ok
}

// readItems returns the arguments that are read, or one unknown word.
func readItems(w *walker, s ArgumentSource, c inherited) []Word {
	unknown := []Word{{Text: "{}", Bare: "{}", Dynamic: true, From: c.from}}
	text, ok := w.known.stdinOf(c.reader(), 0)
	if s.File.Text != "" && !programs.IsStdin(s.File.Text) {
		text, ok = textOfFile(w, s.File)
	}
	if !ok || len(text) > maxValue {
		return unknown
	}
	items := splitItems(text, s.ByLine)
	for k := range items {
		items[k].From = c.from
		items[k].Tilde = k == 0 && c.input.Tilde && strings.HasPrefix(items[k].Text, "~")
	}
	return items
}

// runXargs runs the command with the items it reads: all after it, or one after another in place
// of the placeholder.
func runXargs(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	source := readXargsOptions(args)
	i := skipOptions(args, "InPLdEsaJR", programs.Of("xargs").LongValues)
	items := readItems(w, source, c)
	if source.File.Text != "" && i < len(args) {
		w.recordRun(run, c) // so that a rule sees which file it reads
	}
	if i >= len(args) {
		return false
	}
	rest := run
	if source.Placeholder == "" {
		rest.Argv = append(append([]Word(nil), args[i:]...), items...)
		w.resolveRun(rest, c.withVia(name), hops+1)
		return true
	}
	for k, item := range items {
		if k >= maxLoop {
			break
		}
		rest.Argv = replaceAll(args[i:], source.Placeholder, item)
		w.resolveRun(rest, c.withVia(name), hops+1)
	}
	return true
}

// parallelText reads the command of parallel. It ends at ":::", which is followed by its
// arguments, or at "::::", which is followed by files of arguments. Without a command every
// argument is one.
func parallelText(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	i := min(skipOptions(args, "jPNnIdaLsS", programs.Of("parallel").LongValues), len(args))
	end := i
	for end < len(args) && !strings.HasPrefix(args[end].Text, ":::") {
		end++
	}
	if indexOf(args[:i], "--pipe") >= 0 && end > i {
		run.Argv = args[i:end]
		w.resolveRun(run, c.withVia(name), hops+1)
		return true
	}
	in, command := c.startedBy(name), joinTexts(args[i:end])
	quoted := slices.ContainsFunc(args[i:end], func(a Word) bool { return strings.ContainsAny(a.Text, " \t\n") })
	for k, item := range parallelItems(w, args, end, c) {
		if k >= maxLoop {
			break
		}
		switch {
		case command == "" && item.Text == "{}":
			return false // nothing is known
		case strings.Contains(command, "{}"):
			w.walkText(strings.ReplaceAll(command, "{}", item.Text), in)
		case item.Text == "{}":
			w.walkText(command+" \"$parallel_argument\"", in)
		case command == "":
			w.walkText(item.Text, in)
		default:
			w.walkText(command+" "+asOneWord(item), in)
		}
		if quoted && strings.Contains(command, "{}") {
			run.Argv = replaceAll(args[i:end], "{}", item)
			w.resolveRun(run, in, hops+1)
		}
	}
	return true
}

// asOneWord writes an argument so that a shell reads it as one word.
func asOneWord(item Word) string {
	quoted, err := syntax.Quote(item.Text, syntax.LangBash)
	if item.Dynamic || item.Tilde || item.Glob || err != nil {
		return item.Text
	}
	return quoted
}

// parallelItems returns the arguments of parallel: after ":::", in files, or on standard input.
func parallelItems(w *walker, args []Word, end int, c inherited) []Word {
	source := readXargsOptions(args[:end])
	source.ByLine = true
	if end >= len(args) {
		return readItems(w, source, c)
	}
	if args[end].Text == ":::" || args[end].Text == ":::+" {
		return args[end+1:]
	}
	var out []Word
	for _, file := range args[end+1:] {
		out = append(out, readItems(w, ArgumentSource{File: file, ByLine: true}, c)...)
	}
	return out
}
