package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/shell/programs"
)

// Programs that run another one, on what they find or are given.

var xargsLong = []string{"--max-args", "--max-procs", "--delimiter", "--arg-file", "--max-chars", "--max-lines",
	"--process-slot-var"}

// runXargs appends what it reads: the known words, or one unknown word.
func runXargs(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	placeholder := ""
	for i, a := range args {
		if a.Text == "-I" && i+1 < len(args) {
			placeholder = args[i+1].Text
		} else if strings.HasPrefix(a.Text, "-I") && len(a.Text) > 2 {
			placeholder = a.Text[2:]
		} else if a.Text == "-i" || a.Text == "--replace" {
			placeholder = "{}"
		}
	}
	i := skipOptions(args, "InPLdEsaJR", xargsLong)
	if i >= len(args) {
		return false
	}
	items := []Word{{Text: "{}", Bare: "{}", Dynamic: true, From: c.from}}
	stdin := Run{From: c.from, Input: c.input, HasInput: c.hasInput}
	if text, ok := w.known.stdinOf(&stdin, 0); ok && len(text) <= maxValue {
		items = wordsOf(text)
		for k := range items {
			items[k].From = c.from
		}
	}
	rest := run
	rest.Argv = nil
	used := false
	for _, a := range args[i:] {
		if placeholder != "" && strings.Contains(a.Text, placeholder) && len(items) > 0 {
			a = replaceIn(a, placeholder, items[0])
			used = true
		}
		rest.Argv = append(rest.Argv, a)
	}
	if !used && placeholder == "" {
		rest.Argv = append(rest.Argv, items...)
	}
	w.resolveRun(rest, c.withVia(name), hops+1)
	return true
}

func replaceIn(a Word, placeholder string, item Word) Word {
	a.Text = strings.ReplaceAll(a.Text, placeholder, item.Text)
	a.Bare = strings.ReplaceAll(a.Bare, placeholder, item.Bare)
	a.Dynamic = a.Dynamic || item.Dynamic
	a.From = item.From
	return a
}

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
	args := run.Argv[1:]
	for i, a := range args {
		if (a.Text == "-x" || a.Text == "-X" || a.Text == "--exec" || a.Text == "--exec-batch") && i+1 < len(args) {
			nested := run
			nested.Argv = markFound(args[i+1:])
			w.resolveRun(nested, c.withVia(name+" "+a.Text), hops+1)
			break
		}
	}
	return true
}

// markFound marks the file name that find puts in as unknown.
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

func sshRemote(w *walker, name string, run Run, c inherited, hops int) bool {
	w.recordRun(run, c)
	self := len(w.out.Runs) - 1
	args := run.Argv[1:]
	for _, a := range args {
		for _, p := range [...]string{"ProxyCommand=", "LocalCommand="} {
			if i := strings.Index(a.Text, p); i >= 0 {
				w.walkText(a.Text[i+len(p):], c.withVia(name))
			}
		}
	}
	i := skipOptions(args, "BbcDEeFIiJLlmOopQRSWw", nil)
	if i >= len(args) {
		return true
	}
	i++ // the host
	for i < len(args) && strings.HasPrefix(args[i].Text, "-") {
		j := skipOptions(args[i:], "BbcDEeFIiJLlmOopQRSWw", nil)
		i += max(j, 1)
	}
	c = c.withVia(name)
	c.remote = true
	dirs := w.dirs
	w.dirs = nil
	if i < len(args) {
		w.walkText(joinText(args[i:]), c)
	} else if text, ok := w.known.stdinOf(&w.out.Runs[self], 0); ok {
		c.from, c.input, c.hasInput = Span{}, Word{}, false
		w.walkText(text, c)
	}
	w.dirs = dirs
	return true
}

func flockCommand(w *walker, name string, run Run, c inherited, hops int) bool {
	for i, a := range run.Argv {
		if (a.Text == "-c" || a.Text == "--command") && i+1 < len(run.Argv) {
			w.walkText(run.Argv[i+1].Text, c.withVia(name+" -c"))
			return true
		}
	}
	return w.stripPrefix(name, programs.Prefixes[name], run, run.Argv[1:], c, hops)
}

// scriptText: script -c 'text' file, and script file command on BSD and macOS.
func scriptText(w *walker, name string, run Run, c inherited, hops int) bool {
	args := run.Argv[1:]
	for _, a := range args {
		if a.Text == "-c" || a.Text == "-qc" || a.Text == "--command" || strings.HasPrefix(a.Text, "--command=") {
			return dashC(w, name, run, c, hops)
		}
	}
	w.recordRun(run, c)
	if at := skipOptions(args, "tTBEIOmo", nil) + 1; at < len(args) {
		in := c.startedBy(name)
		walkWords(w, run, args[at:], in, hops)
	}
	return true
}

// phraseText: every operand is a command line.
func phraseText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	tryPhrases(w, run.Argv[1:], c.withVia(name))
	return true
}

// socatText: socat x EXEC:'text', SYSTEM:'text'.
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
