package shell

import (
	"strings"

	"github.com/hookmux/hookmux/internal/shell/programs"
	"github.com/hookmux/hookmux/internal/shell/words"
)

// maxBefore is how many words a program that is not known may have in front of a
// command that it runs.
const maxBefore = 12

// followUnknown looks for a command among the words of a program that nobody knows:
// behind its own words, or as the text of an option.
func followUnknown(w *walker, name string, run Run, c inherited, hops int) {
	if !programs.MayRunWords(name) || run.Argv[0].Glob || len(run.Argv) < 2 {
		return
	}
	args := run.Argv[1:]
	in := c.withVia(name)
	for i := range args {
		for _, option := range programs.TextOptions {
			if text, ok := words.OptionValue(args, i, option); ok && startsFollowed(text) {
				w.tryText(text, c.startedBy(name))
			}
		}
		if i >= maxBefore {
			return
		}
		if !isFollowedWord(args, i) {
			continue
		}
		rest := run
		rest.Argv = args[i:]
		w.resolveRun(rest, in, hops+1)
		return
	}
}

// isFollowedWord reports whether the word at i may be the program of a command: one
// that is worth a look, with words of its own behind it, and no value of an option
// that says so itself.
func isFollowedWord(args []Word, i int) bool {
	if i+1 >= len(args) || args[i].Dynamic || !programs.IsFollowed(baseName(args[i].Text)) {
		return false
	}
	if i == 0 || args[i-1].Text == "--" {
		return true
	}
	before := args[i-1].Text
	return !strings.HasPrefix(before, "--") || strings.Contains(before, "=")
}

// startsFollowed reports whether a text begins with a program that is worth a look.
func startsFollowed(text string) bool {
	first, rest, more := strings.Cut(strings.TrimSpace(text), " ")
	return more && rest != "" && programs.IsFollowed(baseName(first))
}
