package hub

import (
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/resumeargs"
)

// free reports whether an agent that puts a permission event was started so
// that it asks nobody: holding it would ask what the person has answered for
// good. What its process does not show stays a request.
func (h *Hub) free(a *agent.Agent, ev *event.Event) bool {
	free := a.Feed.Free
	if free == nil || ev.Kind != event.PermissionRequest || ev.Where.PID <= 0 {
		return false
	}
	if free.Env != "" {
		environ, _ := h.deps.Processes.Environ(ev.Where.PID)
		if free.Said(lookupList(environ)(free.Env)) {
			return true
		}
	}
	shown, err := h.deps.Processes.Args(ev.Where.PID)
	if err != nil {
		return false
	}
	_, args, ok := resumeargs.FromProcess(a, shown)
	return ok && resumeargs.Has(a, args, free.Flags)
}

func lookupList(environ []string) func(string) string {
	return func(name string) string {
		for _, one := range environ {
			if key, value, ok := strings.Cut(one, "="); ok && key == name {
				return value
			}
		}
		return ""
	}
}
