package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"
	"github.com/hookmux/hookmux/internal/shell/programs"
)

// Programs that have a language of their own with a way out to the shell.

// makeText: make -f - reads rules from stdin, and the recipes are shell.
func makeText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	if len(w.out.Runs) == 0 {
		return true
	}
	self := len(w.out.Runs) - 1
	in := c.startedBy(name)
	args := run.Argv[1:]
	walkMakeArguments(w, args, in)
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
		text, known := w.known.files[file]
		if file == "-" || file == "/dev/stdin" {
			text, known = w.known.stdinOf(&w.out.Runs[self], 0)
		}
		if known {
			walkMakefile(w, text, in)
		}
	}
	return true
}

// walkMakeArguments follows what arguments have make run: SHELL=program with
// .SHELLFLAGS=words, --eval=text, values of variables, $(shell text).
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

// walkMakeCalls: $(shell text) runs while make reads.
func walkMakeCalls(w *walker, text string, c inherited) {
	for n := 0; n < maxLoop; n++ {
		i := strings.Index(text, "$(shell ")
		if i < 0 {
			return
		}
		text = text[i+len("$(shell "):]
		depth, end := 1, len(text)
		for j := 0; j < len(text); j++ {
			if text[j] == '(' {
				depth++
			} else if text[j] == ')' {
				if depth--; depth == 0 {
					end = j
					break
				}
			}
		}
		w.tryText(text[:end], c)
		text = text[end:]
	}
}

var makeAssign = lazyregexp.New(`^([A-Za-z_][A-Za-z0-9_]*)\s*[:?]?:?=\s*(.*)$`)

// walkMakefile reads the recipes of a makefile. Variables the text itself sets are
// put in; others stay as shell variables, unknown.
func walkMakefile(w *walker, text string, c inherited) {
	if len(text) > MaxSource {
		w.out.Truncated = true
		return
	}
	walkMakeCalls(w, text, c)
	pairs := []string{"$$", "$"}
	var recipes []string
	for _, line := range strings.Split(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if len(recipes) >= maxLoop*8 {
			w.out.Truncated = true
			break
		}
		if rest, ok := strings.CutPrefix(line, "\t"); ok {
			recipes = append(recipes, rest)
			continue
		}
		if m := makeAssign.FindStringSubmatch(line); m != nil {
			if len(pairs) < 64 {
				pairs = append(pairs, "$("+m[1]+")", m[2], "${"+m[1]+"}", m[2])
			}
			continue
		}
		if head, recipe, ok := strings.Cut(line, ";"); ok && strings.Contains(head, ":") {
			recipes = append(recipes, recipe)
		}
	}
	known := strings.NewReplacer(pairs...)
	for _, r := range recipes {
		r = strings.TrimLeft(strings.TrimSpace(r), "@-+ ")
		r = makeVariable.ReplaceAllString(known.Replace(r), "$${$1}")
		w.tryText(r, c)
	}
}

// $(NAME) is make's variable, not a command.
var makeVariable = lazyregexp.New(`\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// debuggerText: gdb -ex 'shell text', lldb -o 'platform shell text'.
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
			for _, s := range stringLiterals(text) {
				w.tryText(s, in)
			}
		}
	}
	return true
}

const sedAddress = `(?:\d+(?:~\d+)?|\$|/(?:[^/\\]|\\.)*/I?)`

var (
	// e text: GNU sed runs the rest of the line.
	sedRun = lazyregexp.New(`(?m)(?:^|[;{}])\s*` + sedAddress + `?(?:\s*,\s*[+~]?` + sedAddress + `)?\s*!?\s*e\s+(\S.*)$`)
	// where an s command can start.
	sedSubst = lazyregexp.New(`(?m)(?:^|[;{}!\d$/])\s*s([^\sA-Za-z0-9\\])`)
)

// sedText: the e command and the e flag of s run text.
func sedText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	for _, script := range sedScripts(run.Argv[1:]) {
		if !strings.ContainsRune(script, 'e') || len(script) > maxValue {
			continue
		}
		for _, m := range sedRun.FindAllStringSubmatch(script, maxLoop) {
			w.tryText(m[1], in)
		}
		for _, at := range sedSubst.Compiled().FindAllStringSubmatchIndex(script, maxLoop) {
			if text, ok := sedReplacement(script[at[2]:]); ok {
				w.tryText(text, in)
			}
		}
	}
	return true
}

// sedScripts are the program texts on sed's command line.
func sedScripts(args []Word) []string {
	var out []string
	operand := ""
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case t == "-e" || t == "--expression" || len(t) > 2 && t[0] == '-' && t[1] != '-' && t[len(t)-1] == 'e' &&
			strings.Trim(t[1:], "nErsuze") == "":
			if i+1 < len(args) {
				i++
				out = append(out, args[i].Text)
			}
		case strings.HasPrefix(t, "--expression="):
			out = append(out, t[len("--expression="):])
		case t == "-f" || t == "--file":
			i++
		case t != "" && t[0] == '-':
		case operand == "":
			operand = t
		}
	}
	if len(out) == 0 && operand != "" {
		out = append(out, operand)
	}
	return out
}

// sedReplacement returns the replacement of "/pattern/replacement/flags" when
// the flags say that the result is run.
func sedReplacement(s string) (string, bool) {
	d := s[0]
	var parts []string
	var b strings.Builder
	i := 1
	for ; i < len(s) && len(parts) < 2; i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			if s[i] != d {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
		case s[i] == d:
			parts = append(parts, b.String())
			b.Reset()
		default:
			b.WriteByte(s[i])
		}
	}
	if len(parts) < 2 {
		return "", false
	}
	flags := s[i:]
	if end := strings.IndexAny(flags, ";}\n "); end >= 0 {
		flags = flags[:end]
	}
	return parts[1], strings.ContainsRune(flags, 'e') && strings.Trim(flags, "0123456789gpIiMme") == ""
}

// typedCommands: dotool reads actions from standard input; "type text" types.
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

var tclRuns = lazyregexp.New(`(?:^|[\s;\[{"])(?:spawn|exec|system|overlay)((?:\s+-\w+)*\s+[^\n;\]}]+)`)

// tclText: expect and tclsh run what stands behind spawn and exec, and send types
// a string.
func tclText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	text, ok := withInput(run, c).Code()
	if !ok {
		text, ok = w.known.stdinOf(c.reader(), 0)
	}
	if !ok || len(text) > MaxSource {
		return true
	}
	in := c.startedBy(name)
	for _, m := range tclRuns.FindAllStringSubmatch(text, maxLoop) {
		words := wordsOf(m[1])
		w.tryText(joinText(words[min(skipOptions(words, "", nil), len(words)):]), in)
	}
	for _, s := range stringLiterals(text) {
		typeText(w, typedKeys(s), in)
	}
	return true
}
