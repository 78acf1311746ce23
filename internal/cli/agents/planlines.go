package agents

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/plugins"
)

// sayPlan says in a line per agent what a plan changes. The lines of the files
// themselves are shown by --full and --dry-run.
func sayPlan(app *cmdutil.App, home string, plan *install.Plan) {
	width := 0
	for _, a := range plan.Agents {
		width = max(width, len(a.Name))
	}
	for _, a := range plan.Agents {
		if line := describeChange(home, &a, plan.Steps); line != "" {
			app.Say("%-*s  %s", width, a.Name, termsafe.Text(line))
		}
	}
	if plan.Files() > 0 {
		app.Say("Nothing else in these files changes; --full shows every line.")
	}
}

// describeChange returns what becomes of one agent's files; empty when nothing does.
func describeChange(home string, a *install.AgentPlan, all []install.Step) string {
	var parts []string
	for _, s := range all {
		if s.Agent != a.Name {
			continue
		}
		file := paths.Shorten(home, s.Path)
		switch {
		case s.Op == install.OpTrust:
			parts = append(parts, "marks them trusted in "+file)
		case s.Op == install.OpDelete:
			parts = append(parts, "deletes "+file)
		case s.Op != install.OpWrite:
		case s.Path != a.Path && s.Old == nil:
			parts = append(parts, file+" (a new file)")
		case s.Path != a.Path:
			parts = append(parts, "changes "+file)
		case len(a.Events) == 0:
			parts = append(parts, "removes the hooks from "+file)
		default:
			parts = append(parts, describeHooks(len(a.Events), s, file))
		}
	}
	if len(parts) == 0 && len(a.Events) > 0 {
		return fmt.Sprintf("is hooked already, in %s", paths.Shorten(home, a.Path))
	}
	return strings.Join(parts, ", ")
}

// describeHooks says what is written into an agent's own file.
func describeHooks(events int, s install.Step, file string) string {
	what := fmt.Sprintf("%d hooks → %s", events, file)
	if events == 1 {
		what = "1 hook → " + file
	}
	if _, _, plugin := plugins.Recognise(s.New); plugin {
		what = "a plugin at " + file
	}
	if s.Old == nil {
		what += " (a new file)"
	}
	return what
}
