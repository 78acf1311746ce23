package shell

import (
	"path"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
)

// rememberProgram notes that a run gives another name to a program: cp /bin/rm x,
// ln -s "$(command -v rm)" x, hash -p /bin/rm x.
func rememberProgram(w *walker, name string, run Run) {
	args := run.Argv[1:]
	operands := args[min(skipOptions(args, "tS", nil), len(args)):]
	var source, target Word
	switch {
	case name == "hash":
		at := indexOf(args, "-p")
		if at < 0 || at+2 >= len(args) {
			return
		}
		source, target = args[at+1], args[at+2]
	case len(operands) == 2:
		source, target = operands[0], operands[1]
	default:
		return
	}
	program := baseName(source.Text)
	inPlace := strings.Contains(source.Text, "bin/") || source.Text == program || !source.From.Empty()
	if !inPlace || source.Dynamic && source.From.Empty() || target.Dynamic || !programs.IsFollowed(program) {
		return
	}
	if strings.HasSuffix(target.Text, "/") {
		target.Text += program
	}
	if w.aliases == nil {
		w.aliases = map[string][]Word{}
	}
	if len(w.aliases) >= maxVia || target.Text == source.Text {
		return
	}
	word := []Word{{Text: program, Bare: program}}
	w.aliases[target.Text] = word
	if !strings.Contains(target.Text, "/") {
		w.aliases["./"+target.Text] = word
	} else {
		w.aliases[path.Clean(target.Text)] = word
	}
}

// walkPackageScript reads npm pkg set scripts.x='text', which puts a command line into
// a file that npm run x reads.
func walkPackageScript(w *walker, name string, run Run, c inherited) {
	if name != "npm" && name != "pnpm" && name != "yarn" || len(run.Argv) < 4 {
		return
	}
	for _, a := range run.Argv[2:] {
		if key, text, ok := strings.Cut(a.Text, "="); ok && strings.HasPrefix(key, "scripts.") {
			w.tryText(text, c.startedBy(name))
		}
	}
}

// withKnownInput adds to a run's input what is piped into it, and the files of substituted
// processes that it is given.
func withKnownInput(w *walker, run Run, c inherited) inherited {
	if c.hasInput {
		return c
	}
	text, ok := "", false
	if !c.from.Empty() {
		text, ok = w.known.outputOf(c.from.Hi-1, 0)
	}
	for _, a := range run.Argv[1:] {
		if printed, known := textOfFile(w, a); known && strings.HasPrefix(a.Text, "<(") {
			text, ok = text+"\n"+printed, true
		}
	}
	if ok && len(text) <= maxValue {
		c.input, c.hasInput = Word{Text: text, Bare: text, From: c.from}, true
	}
	return c
}
