package accepted

import (
	"context"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// RefusalsOnly reduces hooks that you haven't accepted to their denials: guards stay, but
// may only deny or ask. Hooks that decide nothing wait, unless nothing was ever accepted:
// an upgrade keeps them.
func (s *Store) RefusalsOnly(entries []*hook.Entry) []*hook.Entry {
	basis, _, _ := s.State()
	var list []*hook.Entry
	for _, e := range entries {
		guards := e.RoleFor(event.ToolBefore) == hook.Guard || e.RoleFor(event.PermissionRequest) == hook.Guard
		if !guards {
			if basis == New {
				list = append(list, e)
			}
			continue
		}
		limited := *e
		limited.Run = limitRun(e.Run)
		list = append(list, &limited)
	}
	return list
}

// limitRun keeps a handler's promise to come back in time, if it makes one.
func limitRun(run hook.Handler) hook.Handler {
	limited := refusing{run}
	if prompt, ok := run.(interface{ Prompt() }); ok {
		return promptRefusing{limited, prompt}
	}
	return limited
}

type refusing struct{ run hook.Handler }

// Handle passes a refusal or a question on, and nothing else.
func (r refusing) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	d, err := r.run.Handle(ctx, call)
	if err != nil {
		return d, err
	}
	if d.Verdict != event.Deny && d.Verdict != event.Ask {
		return event.Decision{}, nil
	}
	return event.Decision{Verdict: d.Verdict, Reason: d.Reason}, nil
}

type promptRefusing struct {
	refusing
	prompt interface{ Prompt() }
}

// Prompt says that the handler comes back at the end of its time.
func (p promptRefusing) Prompt() { p.prompt.Prompt() }
