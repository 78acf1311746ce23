package guard

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/shell"
)

// reportUnreadable adds the finding for a command of which only text is known.
func (g *Guard) reportUnreadable(f *inspect.Report, cmd string, s *shell.Script) {
	text := strings.NewReplacer(`\`, "", `'`, "", `"`, "").Replace(cmd)
	why := "is not valid shell"
	switch {
	case s.TooLong:
		why = fmt.Sprintf("is longer than %d KiB", shell.MaxSource>>10)
	case s.Truncated:
		why = "does too much to be read in full"
	}
	if hit := g.checker.NamedIn(text); hit != "" {
		f.Add("unreadable", hit, fmt.Sprintf("the command %s, and its text names %s", why, hit))
	}
}
