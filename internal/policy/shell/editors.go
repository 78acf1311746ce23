package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"

	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// Editors and database clients can run shell commands.

// vimText reads vim -c '!text', vim -c 'call system("text")' and vim +'w !text'.
func vimText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	args := run.Argv[1:]
	folder := "" // a shell command that goes where the editor went
	walk := func(line string) {
		walkVimCommand(w, folder, line, in)
		if to := foreign.VimFolder(line); to != "" && len(folder) < maxValue {
			folder += to
		}
	}
	for i, a := range args {
		text, ok := strings.CutPrefix(a.Text, "+")
		for _, option := range [...]string{"-c", "--cmd"} {
			if value, given := optionValue(args, i, option); given {
				text, ok = value, true
			}
		}
		if glued, isGlued := strings.CutPrefix(a.Text, "-c"); isGlued && glued != "" {
			text, ok = glued, true
		}
		if ok {
			walk(text)
		}
		if a.Text == "-l" && i+1 < len(args) && name == "nvim" {
			if code, known := textOfFile(w, args[i+1]); known {
				w.resolveRun(Run{Argv: literalWords([]string{"lua", "-e", code})}, in, 0)
			}
		}
		if a.Text == "-S" && i+1 < len(args) {
			script, _ := textOfFile(w, args[i+1])
			for _, line := range strings.Split(script, "\n") {
				walk(line)
			}
		}
	}
	if text, ok := w.known.stdinOf(c.reader(), 0); ok {
		for _, line := range strings.Split(text, "\n") {
			if w.takeStep() {
				walk(line)
			}
		}
	}
	return true
}

// walkVimCommand follows one command line of vim or ed, in the folder that a command before it
// goes to.
func walkVimCommand(w *walker, folder, text string, c inherited) {
	text = strings.TrimLeft(text, ": ")
	if program, code := foreign.VimCode(text); program != "" {
		w.resolveRun(Run{Argv: literalWords([]string{program, "-c", code})}, c, 0)
	}
	for _, command := range foreign.VimFiles(text, maxLoop) {
		w.tryText(folder+command, c)
	}
	for _, call := range programs.VimCalls {
		if strings.Contains(text, call) {
			tryLiterals(w, text, c)
			break
		}
	}
	for _, verb := range [...]string{"term ", "terminal "} {
		if rest, ok := strings.CutPrefix(text, verb); ok {
			w.tryText(rest, c)
		}
	}
	if _, rest, ok := strings.Cut(text, "!"); ok && strings.TrimSpace(rest) != "" {
		w.tryText(strings.TrimLeft(rest, " !"), c) // silent! !text
	}
}

// tryLiterals reads every string literal of program text as shell text.
func tryLiterals(w *walker, text string, c inherited) {
	for _, s := range foreign.StringLiterals(text) {
		w.tryText(strings.TrimLeft(s, ":!"), c)
	}
}

// emacsText reads emacs --eval '(shell-command "text")'.
func emacsText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	for _, a := range run.Argv[1:] {
		for _, command := range foreign.LispFiles(a.Text, maxLoop) {
			w.tryText(command, in)
		}
		for _, call := range programs.LispCalls {
			if strings.Contains(a.Text, call) {
				tryLiterals(w, a.Text, in)
				// (call-process "rm" nil nil nil "-rf" "/")
				list := foreign.StringLiterals(a.Text)
				for i := range list[:min(len(list), 4)] {
					w.tryText(strings.Join(list[i:], " "), in)
				}
				break
			}
		}
	}
	return true
}

// pagerText reads less '+!text'.
func pagerText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	for _, a := range run.Argv[1:] {
		if text, ok := strings.CutPrefix(a.Text, "+"); ok {
			if _, rest, found := strings.Cut(text, "!"); found {
				w.tryText(rest, c.withVia(name))
			}
		}
	}
	return true
}

// databaseText reads psql -c '\! text', sqlite3 x '.shell text' and mysql -e 'system
// text'.
func databaseText(w *walker, name string, run Run, c inherited, _ int) bool {
	w.recordRun(run, c)
	in := c.startedBy(name)
	texts := []string{}
	for _, a := range run.Argv[1:] {
		texts = append(texts, a.Text)
	}
	if text, ok := w.known.stdinOf(c.reader(), 0); ok {
		texts = append(texts, text)
	}
	for _, text := range texts {
		for _, line := range strings.Split(text, "\n") {
			if !w.takeStep() {
				return true
			}
			line = strings.TrimSpace(line)
			for _, escape := range [...]string{`\!`, ".shell ", ".system ", "system ", "! "} {
				if i := strings.Index(line, escape); i == 0 || i > 0 && escape == `\!` {
					w.tryText(line[i+len(escape):], in)
				}
			}
			if i := strings.Index(strings.ToLower(line), "program '"); i >= 0 { // copy … to program 'text'
				tryLiterals(w, line[i:], in)
			}
		}
	}
	return true
}
