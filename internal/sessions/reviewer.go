package sessions

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/environ"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/transcript"
)

// ReviewerOf is who decides about a permission request in its agent. The payload
// does not say it, the session's record does, and the record is ahead of the
// event: so its end is read now, a bounded part of it. Where it names nobody,
// what the session is known for counts. variables are the hook's environment.
func (s *Service) ReviewerOf(ev *event.Event, variables []byte) event.Reviewer {
	if ev.Kind != event.PermissionRequest || ev.Malformed != "" {
		return event.ReviewerUnknown
	}
	rules := s.tracker.rulesFor(ev.Agent)
	if rules.Spec == nil || !transcript.NamesReviewer(&rules.Spec.Transcript) {
		return event.ReviewerUnknown
	}
	env := transcript.Env{Home: s.deps.Dirs.Home, Getenv: s.lookupBoth(ev, variables)}
	reviewer, err := transcript.NewestReviewer(&rules.Spec.Transcript, ev.Session, ev.Transcript, env)
	if reviewer != event.ReviewerUnknown {
		return reviewer
	}
	if err != nil {
		s.deps.Log.Debug("who decides could not be read", "session", ev.Session, "error", err)
	}
	if known, ok := s.tracker.book.Get(state.Key{Agent: ev.Agent, ID: ev.Session}); ok {
		return known.Reviewer
	}
	return event.ReviewerUnknown
}

// lookupBoth looks variables up that say where an agent's store is: in the
// hook's environment, else in that of the agent's process.
func (s *Service) lookupBoth(ev *event.Event, variables []byte) func(string) string {
	ofHook := environ.Lookup(variables)
	return func(name string) string {
		if value := ofHook(name); value != "" || ev.Where.PID <= 0 {
			return value
		}
		list, _ := s.deps.Processes.Environ(ev.Where.PID)
		return lookupVariable(list)(name)
	}
}
