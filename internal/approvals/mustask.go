package approvals

import (
	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/resumeargs"
)

// mustAsk is what a person must be asked about an event, with the event as
// hooks changed it. The last result is nil when nobody must be asked.
func (s *Service) mustAsk(c *Call) (*event.Event, policy.Need, *agent.Feed) {
	a, ok := s.Catalogue.EntryOf(c.Event.Agent, c.Event.Native)
	if !ok || a.Feed == nil {
		return nil, policy.Need{}, nil
	}
	spec, ok := a.Event(c.Event.Native)
	if !ok {
		return nil, policy.Need{}, nil
	}
	seen := c.Event
	if change := c.Decision.Input; change != nil && c.Event.Tool != nil {
		changed := *c.Event
		s.Catalogue.WithInput(&changed, event.MergeObjects(c.Event.Tool.Input, change))
		seen = &changed
	}
	level, chosen := s.Settings.ApprovalLevel(c.Event)
	need, ok := policy.Look(policy.Case{
		Event: seen, Spec: spec, Feed: a.Feed, Carries: c.Carries, Level: level, Chosen: chosen,
		Free: asksNobody(s.Processes, a, c.Event), So: *c.Decision,
	})
	if !ok {
		return nil, policy.Need{}, nil
	}
	return seen, need, a.Feed
}

// asksNobody reports whether an agent that puts a permission event was started
// so that it asks nobody: holding it would ask what the person has answered for
// good. What its process does not show stays a request.
func asksNobody(processes proc.Table, a *agent.Agent, ev *event.Event) bool {
	free := a.Feed.Free
	if free == nil || ev.Kind != event.PermissionRequest || ev.Where.PID <= 0 {
		return false
	}
	if free.Env != "" {
		environ, _ := processes.Environ(ev.Where.PID)
		if free.Said(paths.GetenvFrom(environ)(free.Env)) {
			return true
		}
	}
	shown, err := processes.Args(ev.Where.PID)
	if err != nil {
		return false
	}
	_, args, ok := resumeargs.FromProcess(a, shown)
	return ok && resumeargs.Has(a, args, free.Flags)
}
