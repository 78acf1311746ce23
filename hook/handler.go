package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hookmux/hookmux/event"
)

// Handler does the work of a hook. It gets the event as handlers before it
// changed it and gives its opinion; the zero Decision is no opinion. An error
// is a failure: what that means is the registration's business, not the
// handler's. A handler must come back soon after ctx is done.
type Handler interface {
	Handle(ctx context.Context, call *Call) (event.Decision, error)
}

// Prompt marks a [Handler] that comes back at once when ctx is done, whatever
// it waits for. It is called without a goroutine of its own; its time limit
// holds all the same.
type Prompt interface {
	Handler
	Prompt()
}

// HandlerFunc makes a function a [Handler].
type HandlerFunc func(ctx context.Context, call *Call) (event.Decision, error)

// Handle calls f.
func (f HandlerFunc) Handle(ctx context.Context, call *Call) (event.Decision, error) {
	return f(ctx, call)
}

// Call is one question to one handler.
type Call struct {
	Event *event.Event // not to be changed by the handler
	Hook  *Registration

	// Env is the environment of the agent's hook process. It lives in memory
	// for this call only.
	Env []string
	// Project is the folder whose .hookmux the session belongs to, "" when none.
	Project string
	// Carries lists what the agent can take back at this event, so that a handler
	// need not work in vain.
	Carries event.Carries
	// DryRun asks what the handler would say: nothing may be used up.
	DryRun bool
	// Extra holds what earlier handlers sent the agent in its native form, see
	// [event.Decision].
	Extra json.RawMessage
}

// Entry is a registration made ready: compiled, with its handler.
type Entry struct {
	Registration
	Run Handler
	// Scope says where it came from: builtin, global or project.
	Scope string
	// BuiltinGuard marks hookmux's own guards: they run once more on an input
	// that a later hook changed, and they answer nested events.
	BuiltinGuard bool
	// Inline marks a handler that is quick and cannot hang: it runs without a
	// timer and a goroutine of its own.
	Inline bool

	match matcher
}

// NewEntry makes a registration ready. It refuses what could never run or
// would not run as meant: a guard that silently matches nothing is worse than
// an error.
func NewEntry(r Registration, run Handler, scope string) (*Entry, error) {
	m, err := compileMatch(r.Match)
	if err == nil {
		err = checkEntry(&r, run)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.ID, err)
	}
	return &Entry{Registration: r, Run: run, Scope: scope, match: m}, nil
}

// checkEntry says what a registration lacks that is to run.
func checkEntry(r *Registration, run Handler) error {
	if r.ID == "" {
		return errors.New("id is missing")
	}
	if r.Agent == "" || r.HookType == "" {
		return errors.New("agent or hookType is missing; write \"*\" for any")
	}
	if run == nil {
		return errors.New("handler is missing")
	}
	if r.Role != "" && !r.Role.known() {
		return errRole(r.Role)
	}
	if !r.OnFailure.known() {
		return errOnFailure(r.OnFailure)
	}
	return nil
}

// For reports whether the entry is meant for ev: agent, type and match.
func (e *Entry) For(ev *event.Event) bool {
	return e.ForType(ev) && e.match.holdsFor(ev)
}

// ForType reports whether agent and hook type fit, whatever the tool call is.
func (e *Entry) ForType(ev *event.Event) bool {
	if !e.IsEnabled() {
		return false
	}
	if e.Agent != Any && e.Agent != ev.Agent {
		return false
	}
	for _, skipped := range e.SkipAgents {
		if skipped == ev.Agent {
			return false
		}
	}
	return e.HookType == Any || e.HookType == string(ev.Kind) || e.HookType == ev.Native
}

// ChangeInput is how the dispatcher puts a changed input into an event: the
// agent's catalogue entry knows where commands and paths live.
type ChangeInput func(ev *event.Event, input json.RawMessage)
