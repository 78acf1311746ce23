package selection

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// ForEvent gives the hooks meant for an event, in order, and its project.
func (r *Service) ForEvent(ev *event.Event, busy map[string]bool) ([]*hook.Entry, string, []string) {
	at := r.placesOf(ev)
	list := r.viewOf(at).entriesFor(ev)
	if ev.Nested || busy != nil {
		list = withoutBusy(list, ev, busy)
	}
	project := at.here
	if project == "" {
		project = at.start
	}
	return list, project, at.roots()
}

// roots returns the folders that paths in a match are relative to, in addition to the cwd.
func (at places) roots() []string {
	var roots []string
	for _, root := range []string{at.here, at.start} {
		if root != "" {
			roots = append(roots, root)
		}
	}
	return roots
}

// entriesFor returns the entries meant for events of one type, found once.
func (v *view) entriesFor(ev *event.Event) []*hook.Entry {
	key := typeKey{ev.Agent, ev.Native, ev.Kind}
	v.mu.Lock()
	defer v.mu.Unlock()
	list, ok := v.byType[key]
	if !ok {
		list = hook.Select(v.entries, &event.Event{Agent: ev.Agent, Native: ev.Native, Kind: ev.Kind}, nil)
		if len(v.byType) < 4096 { // native names come from outside
			v.byType[key] = list
		}
	}
	return list
}

func withoutBusy(list []*hook.Entry, ev *event.Event, busy map[string]bool) []*hook.Entry {
	if ev.Nested {
		// From below a handler of ours, by its ancestry: locked guards only,
		// and never the one that is running.
		// hookmux's own guards run nothing that could come back here, so the
		// variable does not keep them away.
		return hook.Select(list, ev, func(id string) bool { return busy[id] && !isBuiltinGuard(id) })
	}
	var out []*hook.Entry
	for _, e := range list {
		if e.RoleFor(ev.Kind) == hook.Guard || !busy[e.ID] {
			out = append(out, e)
		}
	}
	return out
}
