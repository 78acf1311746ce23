package hookentry

import (
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// ClosingNote describes how far --on-unavailable deny reaches, with the commands that are written.
func ClosingNote(a *agent.Agent, spec *agent.InstallSpec, commands []Command) string {
	var open []string
	denies, guarded := 0, true
	for _, c := range commands {
		e, ok := a.Event(c.Event)
		switch {
		case c.Deny:
			denies++
			guarded = guarded && c.RefusesGone()
		case ok && e.Kind == event.ToolBefore:
			open = append(open, c.Event)
		}
	}
	switch {
	case denies == 0:
		return fmt.Sprintf("%s: nothing can be refused at these events, so everything goes on when hookmux cannot "+
			"be reached", a.Title)
	case len(open) > 0:
		return fmt.Sprintf("%s: cannot be refused at %s, so a call goes on there when hookmux is gone", a.Title,
			strings.Join(open, ", "))
	case spec.Way == agent.WayPlugin:
		return fmt.Sprintf("%s: calls are refused while hookmux cannot be reached; when the plugin file itself is "+
			"gone they go on", a.Title)
	case spec.Closed == nil && a.Install.Closed != nil:
		return fmt.Sprintf("%s: calls are refused while hookmux cannot be reached, also when its program is gone; a "+
			"hook that ends for its time limit lets them go on, because this version does not know %s (it came "+
			"with %s)", a.Title, a.Install.Closed.Key, a.Install.Closed.Since)
	case spec.Closed != nil:
		return fmt.Sprintf("%s: calls are refused while hookmux cannot be reached, also when its program is gone (%s)",
			a.Title, spec.Closed.Key)
	case spec.Missing == agent.MissingOpen && (spec.Handler.Form == "exec" || !guarded):
		return fmt.Sprintf("%s: calls are refused while the daemon cannot be reached; when hookmux-hook itself is gone "+
			"they still go on", a.Title)
	}
	return fmt.Sprintf("%s: calls are refused while hookmux cannot be reached, also when its program is gone; a "+
		"hook that %s itself ends for its time limit still lets them go on", a.Title, a.Title)
}
