package approvals

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/memory"
)

// hearsAfterCall reports whether words can be told to an agent with the result of a
// call.
func hearsAfterCall(a *agent.Agent) bool {
	return a != nil && slices.ContainsFunc(a.Events, func(e *agent.EventSpec) bool {
		return e.Kind == event.ToolAfter && e.Install == agent.InstallDefault && e.Carries.Context != nil
	})
}

// addNote adds to the result of a call what a person said when they let it run.
func addNote(notes *memory.Notes, c *Call) {
	if c.dryRun() || !c.Carries.Context {
		return
	}
	if words := notes.Take(c.Event); words != "" {
		c.Decision.Context = strings.TrimSpace(c.Decision.Context + "\nThe person who approved this call adds: " +
			words)
	}
}
