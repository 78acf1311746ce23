package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/shell/expansions"
	"github.com/hookmux/hookmux/internal/shell/programs"
)

// Programs that take arguments for another one from standard input, from a file
// or from their own command line: xargs and parallel.

// argumentSource is how the text that xargs reads becomes arguments.
type argumentSource struct {
	placeholder string // replaced by each item; "" when items are appended
	byLine      bool   // an item is a line, blanks included
	file        Word   // read instead of standard input
}

// readXargsOptions reads the options of xargs that say where items come from.
func readXargsOptions(args []Word) argumentSource {
	var s argumentSource
	for i := range args {
		t := args[i].Text
		switch {
		case t == "-i" || t == "--replace":
			s.placeholder, s.byLine = "{}", true
		case strings.HasPrefix(t, "--replace="):
			s.placeholder, s.byLine = t[len("--replace="):], true
		case strings.HasPrefix(t, "-0"), t == "--null", strings.HasPrefix(t, "-d"), strings.HasPrefix(t, "--delimiter"):
			s.byLine = true
		}
		for _, option := range [...]string{"-I", "-J"} {
			value, ok := optionValue(args, i, option)
			if glued, isGlued := strings.CutPrefix(t, option); isGlued && glued != "" {
				value, ok = glued, true
			}
			if ok {
				s.placeholder, s.byLine = value, true
			}
		}
		for _, option := range [...]string{"-a", "--arg-file"} {
			if _, ok := optionValue(args, i, option); ok && t == option {
				s.file = args[i+1]
			} else if glued, ok := strings.CutPrefix(t, option+"="); ok {
				s.file = cutWord(args[i], len(t)-len(glued))
			}
		}
	}
	return s
}

// textOfFile is what a file holds that this script wrote, or what a substituted
// process prints.
func textOfFile(w *walker, file Word) (string, bool) {
	if !file.From.Empty() && strings.HasPrefix(file.Text, "<(") {
		return w.known.outputOf(file.From.Hi-1, 0)
	}
	text, ok := w.known.files[file.Text]
	return text, ok
}

// readItems are the arguments that are read, or one unknown word.
func readItems(w *walker, s argumentSource, c inherited) []Word {
	unknown := []Word{{Text: "{}", Bare: "{}", Dynamic: true, From: c.from}}
	text, ok := w.known.stdinOf(c.reader(), 0)
	if s.file.Text != "" {
		text, ok = textOfFile(w, s.file)
	}
	if !ok || len(text) > maxValue {
		return unknown
	}
	items := splitItems(text, s.byLine)
	for k := range items {
		items[k].From = c.from
		items[k].Tilde = k == 0 && c.input.Tilde && strings.HasPrefix(items[k].Text, "~")
	}
	return items
}

// splitItems divides text at the ends of lines, or as xargs does at blanks outside
// of quotes.
func splitItems(text string, byLine bool) []Word {
	if !byLine && strings.ContainsAny(text, `'"\`) {
		var out []Word
		for _, line := range strings.Split(text, "\n") {
			out = append(out, quotedWords(line)...)
		}
		return out
	}
	if !byLine {
		return wordsOf(text)
	}
	var out []Word
	for _, line := range strings.FieldsFunc(text, func(r rune) bool { return r == 0 || r == '\n' }) {
		dynamic := strings.ContainsAny(line, "$`")
		word := Word{Text: line, Bare: line, Dynamic: dynamic}
		if dynamic {
			word.Bare = expansions.WithoutUnknown(line)
		}
		out = append(out, word)
	}
	return out
}

// runXargs runs the command with the items it reads: all behind it, or one after
// another in place of the placeholder.
func runXargs(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	source := readXargsOptions(args)
	i := skipOptions(args, "InPLdEsaJR", programs.XargsLong)
	items := readItems(w, source, c)
	if i >= len(args) {
		return false
	}
	rest := run
	if source.placeholder == "" {
		rest.Argv = append(append([]Word(nil), args[i:]...), items...)
		w.resolveRun(rest, c.withVia(name), hops+1)
		return true
	}
	for k, item := range items {
		if k >= maxLoop {
			break
		}
		rest.Argv = replaceAll(args[i:], source.placeholder, item)
		w.resolveRun(rest, c.withVia(name), hops+1)
	}
	return true
}

// replaceAll puts an item in the place of the placeholder in every word.
func replaceAll(words []Word, placeholder string, item Word) []Word {
	out := make([]Word, len(words))
	for i, a := range words {
		if strings.Contains(a.Text, placeholder) {
			a.Tilde = a.Text == placeholder && item.Tilde
			a.Text = strings.ReplaceAll(a.Text, placeholder, item.Text)
			a.Bare = strings.ReplaceAll(a.Bare, placeholder, item.Bare)
			a.Dynamic = a.Dynamic || item.Dynamic
			a.From = item.From
		}
		out[i] = a
	}
	return out
}

// parallelText: the command ends at ":::", behind which its arguments stand, or
// at "::::", behind which files of arguments stand. Without a command every
// argument is one.
func parallelText(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	i := min(skipOptions(args, "jPNnIdaLsS", programs.ParallelLong), len(args))
	end := i
	for end < len(args) && !strings.HasPrefix(args[end].Text, ":::") {
		end++
	}
	if indexOf(args[:i], "--pipe") >= 0 && end > i {
		run.Argv = args[i:end]
		w.resolveRun(run, c.withVia(name), hops+1)
		return true
	}
	in, command := c.startedBy(name), joinText(args[i:end])
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
		default:
			w.walkText(strings.TrimSpace(command+" "+item.Text), in)
		}
	}
	return true
}

// parallelItems are the arguments of parallel: behind ":::", in files, or on
// standard input.
func parallelItems(w *walker, args []Word, end int, c inherited) []Word {
	source := readXargsOptions(args[:end])
	source.byLine = true
	if end >= len(args) {
		return readItems(w, source, c)
	}
	if args[end].Text == ":::" || args[end].Text == ":::+" {
		return args[end+1:]
	}
	var out []Word
	for _, file := range args[end+1:] {
		out = append(out, readItems(w, argumentSource{file: file, byLine: true}, c)...)
	}
	return out
}
