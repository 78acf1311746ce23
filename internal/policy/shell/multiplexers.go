package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// tmuxText follows everything that tmux is given to run.
func tmuxText(w *walker, name string, run Run, c inherited, hops int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	in := c.startedBy(name)
	for i, a := range args {
		if a.Text == "-c" && i+1 < len(args) {
			w.tryText(args[i+1].Text, in)
		}
		if a.Text == "-f" && i+1 < len(args) {
			walkTmuxFile(w, run, args[i+1].Text, in, hops)
		}
		if !strings.HasPrefix(a.Text, "-") && (i == 0 || !endsInValue(args[i-1].Text, programs.TmuxGlobalValues)) {
			break
		}
	}
	at := skipOptions(args, programs.TmuxGlobalValues, nil)
	walkTmuxWords(w, run, args[min(at, len(args)):], in, hops)
	// Control mode takes commands line by line.
	if text, ok := w.known.stdinOf(c.reader(), 0); ok {
		walkTmuxLines(w, run, text, in, hops)
		if indexOf(args, "-") >= 0 { // load-buffer -
			typeText(w, text, in)
		}
	}
	return true
}

// endsInValue reports whether an option takes the next word as its value.
func endsInValue(t, values string) bool {
	return len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.IndexByte(values, t[len(t)-1]) >= 0
}

// walkTmuxWords splits words into tmux commands at ";".
func walkTmuxWords(w *walker, run Run, given []Word, c inherited, hops int) {
	lo := 0
	for i, word := range given {
		end, ends := strings.CutSuffix(word.Text, ";")
		if !ends || strings.HasSuffix(end, `\`) {
			continue
		}
		part := append([]Word(nil), given[lo:i]...)
		if end != "" {
			word.Text, word.Bare = end, strings.TrimSuffix(word.Bare, ";")
			part = append(part, word)
		}
		walkTmuxCommand(w, run, part, c, hops)
		lo = i + 1
	}
	walkTmuxCommand(w, run, given[min(lo, len(given)):], c, hops)
}

// walkTmuxLines reads text of tmux commands, one per line. Its quoting is close enough to a
// shell's.
func walkTmuxLines(w *walker, run Run, text string, c inherited, hops int) {
	if c.depth >= maxDepth || w.nested+len(text) > maxNested {
		w.out.Truncated = true
		return
	}
	w.nested += len(text)
	c.depth++
	for _, line := range strings.Split(text, "\n") {
		if !w.takeStep() {
			return
		}
		if given := quotedWords(line); len(given) > 0 {
			walkTmuxWords(w, run, given, c, hops)
		}
	}
}

// walkTmuxFile reads a file of tmux commands that this very script wrote.
func walkTmuxFile(w *walker, run Run, file string, c inherited, hops int) {
	if text, ok := w.known.files[file]; ok {
		walkTmuxLines(w, run, text, c, hops)
	}
}

// walkTmuxCommand follows one tmux command.
func walkTmuxCommand(w *walker, run Run, given []Word, c inherited, hops int) {
	if len(given) == 0 || hops > maxDepth || !w.takeStep() {
		return
	}
	for _, word := range given {
		walkTmuxFormat(w, word.Text, c)
	}
	command, ok := programs.TmuxCommandOf(given[0].Text)
	if !ok {
		tryPhrases(w, given[1:], c)
		return
	}
	c = c.withVia(command.Name)
	at := skipOptions(given[1:], command.Values, nil)
	options := given[1 : 1+min(at, len(given)-1)]
	operands := given[1+min(at, len(given)-1):]
	switch command.Runs {
	case programs.TmuxShell:
		if command.Name == "run-shell" && hasLetter(options, 'C') {
			walkTmuxLines(w, run, joinTexts(operands), c, hops+1)
			return
		}
		walkWords(w, run, operands, c, hops)
	case programs.TmuxIf:
		if len(operands) > 0 && !hasLetter(options, 'F') {
			w.tryText(operands[0].Text, c)
		}
		for _, o := range operands[min(1, len(operands)):] {
			walkTmuxLines(w, run, o.Text, c, hops+1)
		}
	case programs.TmuxCommands:
		walkTmuxPhrase(w, run, operands, c, hops)
	case programs.TmuxBinding:
		walkTmuxPhrase(w, run, operands[min(1, len(operands)):], c, hops)
	case programs.TmuxKeys:
		literal := hasLetter(options, 'l')
		var text strings.Builder
		for _, o := range operands {
			text.WriteString(programs.TmuxTyped(o.Text, literal))
		}
		typeText(w, text.String(), c)
	case programs.TmuxBuffer:
		if len(operands) == 1 && operands[0].Text != "-" && command.Name == "load-buffer" {
			typeText(w, w.known.files[operands[0].Text], c)
		} else if command.Name != "load-buffer" {
			typeText(w, joinTexts(operands)+"\n", c)
		}
	case programs.TmuxMenu:
		for i := 2; i < len(operands); i += 3 {
			walkTmuxLines(w, run, operands[i].Text, c, hops+1)
		}
	case programs.TmuxOption:
		if len(operands) > 1 && programs.TmuxRunsOption(operands[0].Text) {
			w.tryText(joinTexts(operands[1:]), c)
		}
		if len(operands) > 1 && programs.TmuxOptionTakesOver(operands[0].Text) {
			w.recordRun(Run{Argv: append(literalWords([]string{"tmux", "set-option"}), operands...)}, c)
		}
	case programs.TmuxFiles:
		for _, o := range operands {
			walkTmuxFile(w, run, o.Text, c, hops+1)
		}
	}
}

// walkTmuxPhrase follows a tmux command in one word or in several.
func walkTmuxPhrase(w *walker, run Run, given []Word, c inherited, hops int) {
	if len(given) == 1 {
		walkTmuxLines(w, run, given[0].Text, c, hops+1)
		return
	}
	walkTmuxWords(w, run, given, c, hops+1)
}

// walkTmuxFormat follows #(command) in a format.
func walkTmuxFormat(w *walker, text string, c inherited) {
	for _, command := range foreign.TmuxCalls(text, maxLoop) {
		w.tryText(command, c)
	}
}

// tryPhrases reads every word with a blank in it as shell text.
func tryPhrases(w *walker, given []Word, c inherited) {
	for _, a := range given {
		if strings.Contains(strings.TrimSpace(a.Text), " ") && !strings.Contains(a.Text, "#{") {
			w.tryText(a.Text, c)
		}
	}
}

func hasLetter(options []Word, letter byte) bool {
	for _, o := range options {
		if len(o.Text) > 1 && o.Text[0] == '-' && o.Text[1] != '-' && strings.IndexByte(o.Text, letter) > 0 {
			return true
		}
	}
	return false
}

// screenText reads screen command, screen -X stuff text and screen -X exec command.
func screenText(w *walker, name string, run Run, c inherited, hops int) bool {
	w.recordRun(run, c)
	args := run.Argv[1:]
	in := c.startedBy(name)
	for i, a := range args {
		if a.Text != "-X" || i+1 >= len(args) {
			continue
		}
		rest := args[i+2:]
		switch args[i+1].Text {
		case "stuff", "paste":
			typeText(w, typedKeys(joinTexts(rest)), in)
		case "screen", "exec":
			walkWords(w, run, rest[min(skipOptions(rest, programs.ScreenValues, nil), len(rest)):], in, hops)
		default: // eval, at, bind …
			for _, word := range rest {
				if given := quotedWords(ANSIC(word.Text)); len(given) > 1 {
					w.tryText(joinTexts(given[1:]), in)
				}
				w.tryText(ANSIC(word.Text), in)
			}
		}
		return true
	}
	if at := skipOptions(args, programs.ScreenValues, nil); at < len(args) {
		walkWords(w, run, args[at:], in, hops)
	}
	return true
}
