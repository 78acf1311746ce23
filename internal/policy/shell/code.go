package shell

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// Programs of other languages given on the command line are not parsed. But if such text calls
// out to a shell, its string literals are read as shell: python3 -c 'import os;
// os.system("…")' runs what is in the quotes.

// Code returns program text of another language that the run has on its command line or on stdin,
// e.g. of python3 -c. ok is false if there is none.
func (r *Run) Code() (text string, ok bool) {
	text, ok = r.writtenCode()
	if ok {
		text = foreign.JoinLiterals(text)
	}
	return text, ok
}

// writtenCode is Code as it is written.
func (r *Run) writtenCode() (text string, ok bool) {
	name := programs.TrimVersion(r.Name())
	flags, known := programs.CodeOptions(name)
	if !known {
		return "", false
	}
	args := r.Args()
	file, stdin := false, false
	for i, a := range args {
		t := a.Text
		switch {
		case t == "-m" && i+1 < len(args) && args[i+1].Text == "timeit":
			return joinTexts(args[i+2:]), true
		case t == "-":
			stdin = true
		case t == "--eval" || t == "--print" || t == "eval" || t == "-eval":
			if i+1 < len(args) {
				return args[i+1].Text, true
			}
		case len(t) > 2 && t[0] == '-' && strings.IndexByte("MmIr", t[1]) >= 0 && (name == "perl" || name == "ruby"):
		case len(t) > 1 && t[0] == '-' && t[1] != '-' && flags != "":
			switch {
			case strings.IndexByte(flags, t[len(t)-1]) >= 0: // -e code, -lne code
				if i+1 < len(args) {
					return args[i+1].Text, true
				}
			case strings.IndexByte(flags, t[1]) >= 0: // -ecode
				return t[2:], true
			}
		case strings.HasSuffix(name, "awk") && i > 0 && programs.TakesValue(args[i-1].Text):
		case strings.HasSuffix(name, "awk") && t != "" && t[0] != '-':
			return t, true
		case t != "" && t != "-" && t[0] != '-':
			file = true
		}
	}
	if file && r.HasFile {
		return r.File, true
	}
	if (!file || stdin) && r.HasInput {
		return r.Input.Text, true
	}
	return "", false
}

// findFile fills in the text of the program file that an interpreter is given.
func (w *walker) findFile(run *Run) {
	for _, a := range run.Args() {
		if strings.HasPrefix(a.Text, "<(") && !a.From.Empty() {
			run.File, run.HasFile = w.known.outputOf(a.From.Hi-1, 0)
			return
		}
		if text, ok := w.known.files[a.Text]; ok {
			run.File, run.HasFile = text, true
			return
		}
		if a.Text != "" && a.Text[0] != '-' && a.Text != "run" {
			return // what follows are arguments
		}
	}
}

// walkCode reads the string literals of program text that calls a shell.
func (w *walker) walkCode(name string, run Run, c inherited) {
	in := withInput(run, c)
	if !in.HasInput && !c.from.Empty() {
		if text, ok := w.known.outputOf(c.from.Hi-1, 0); ok {
			in.Input, in.HasInput = Word{Text: text}, true
		}
	}
	text, ok := in.Code()
	if !ok || len(text) > MaxSource {
		return
	}
	if strings.HasSuffix(name, "awk") {
		walkAwk(w, run.Argv[1:], text, c.withVia(name))
	}
	if file, written, ok := foreign.WrittenFile(text); ok {
		w.known.rememberFile(file, written)
	}
	piped := strings.HasSuffix(name, "awk") && foreign.PipesToName(text)
	if !foreign.HasAny(text, programs.CallsShell) && !piped {
		return
	}
	c.from, c.input, c.hasInput = Span{}, Word{}, false
	c = c.withVia(name)
	for _, s := range foreign.CallTexts(text, maxLoop) {
		w.tryText(s, c)
		if strings.Contains(text, "strrev") || strings.Contains(text, "reverse") || strings.Contains(text, "[::-1]") {
			letters := []rune(s)
			slices.Reverse(letters)
			w.tryText(string(letters), c)
		}
		if foreign.HasAny(s, programs.CallsShell) { // exec("import os; os.system('…')")
			for _, inner := range foreign.StringLiterals(s) {
				w.tryText(inner, c)
			}
		}
	}
}

// walkAwk reads what an awk program runs: print | "text" starts what is in the quotes;
// system($0) and print | "sh" run the lines that are read.
func walkAwk(w *walker, args []Word, code string, c inherited) {
	in := c.startedBy("")
	for i := range args {
		if value, ok := optionValue(args, i, "-v"); ok && strings.Contains(code, "system") {
			_, value, _ = strings.Cut(value, "=")
			w.tryText(value, in)
		}
	}
	runsLines := strings.Contains(code, "system($0)")
	calls := strings.Contains(code, "system(")
	for _, text := range foreign.AwkPipes(code, maxLoop) {
		w.tryText(text, in)
		runsLines = runsLines || programs.IsShell(baseName(strings.TrimSpace(text)))
	}
	if text, ok := w.known.stdinOf(c.reader(), 0); ok && (runsLines || calls) {
		if runsLines {
			w.tryText(text, in)
		}
		for _, s := range foreign.StringLiterals(code) { // print "rm " $1 | "sh"
			w.tryText(s+" "+text, in)
		}
	}
}

func withInput(run Run, c inherited) *Run {
	run.Input, run.HasInput = c.input, c.hasInput
	return &run
}

// tryText parses text that may or may not be shell: an error means nothing.
func (w *walker) tryText(text string, c inherited) {
	if c.depth >= maxDepth || w.nested+len(text) > maxNested {
		w.out.Truncated = true
		return
	}
	w.nested += len(text)
	c.depth++
	if f, _ := parseText(text); f != nil {
		dirs := w.dirs
		w.walkFile(f, text, c)
		w.dirs = dirs
	}
}
