package shell

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// walkWritten follows the files that this very command wrote and that a program runs
// because of their names: conftest.py for pytest, package.json for npm.
func walkWritten(w *walker, name string, c inherited, hops int) {
	patterns := w.out.Programs.Of(name).RunsWritten
	if len(patterns) == 0 || len(w.known.files) == 0 || w.inWritten {
		return
	}
	w.inWritten = true
	defer func() { w.inWritten = false }()
	in := c.startedBy(name)
	for _, file := range slices.Sorted(maps.Keys(w.known.files)) {
		base := strings.ToLower(path.Base(file))
		fits := func(pattern string) bool {
			ok, err := path.Match(pattern, base)
			return ok && err == nil
		}
		if strings.HasPrefix(file, "./") || !slices.ContainsFunc(patterns, fits) || !w.takeStep() {
			continue // ./x is x, which is there as well
		}
		text := w.known.files[file]
		if len(text) > MaxSource {
			w.out.Truncated = true
			continue
		}
		if language := programs.LanguageOf(base); language != "" {
			in.input, in.hasInput = Word{Text: text, Bare: text}, true
			w.resolveRun(Run{Argv: []Word{{Text: language, Bare: language}, {Text: "-", Bare: "-"}}}, in, hops+1)
			in.input, in.hasInput = Word{}, false
			continue
		}
		for _, command := range foreign.CommandsIn(text, maxLoop) {
			w.tryText(command, in)
		}
	}
}
