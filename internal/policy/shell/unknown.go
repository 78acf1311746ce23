package shell

import (
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// maxBefore is how many words a program that isn't known may have before a command that it
// runs.
const maxBefore = 12

// followUnknown looks for a command among the words of an unknown program: after its own
// words, or as the text of an option.
func followUnknown(w *walker, name string, run Run, c inherited, hops int) {
	if !w.out.Programs.MayRunWords(name) || run.Argv[0].Glob || len(run.Argv) < 2 {
		return
	}
	args := run.Argv[1:]
	in := c.withVia(name)
	for i := range args {
		for _, option := range programs.TextOptions() {
			if text, ok := optionValue(args, i, option); ok && startsFollowed(text) {
				w.tryText(text, c.startedBy(name))
			}
		}
		if i >= maxBefore {
			return
		}
		if !isFollowed(args, i) {
			continue
		}
		rest := run
		rest.Argv = args[i:]
		w.resolveRun(rest, in, hops+1)
		return
	}
}
