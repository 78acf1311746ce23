package pipeline

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions"
	"github.com/hookmux/hookmux/internal/tshook/host"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options configures a pipeline.
type Options struct {
	Deps     services.Deps
	Callers  Callers
	Marks    *HandlerMarks
	Off      OffSwitch
	Recorder Recorder
	// Stop ends the daemon: another one may be able to do what this one cannot.
	Stop      func(why string)
	HookStats HookStats
	Sessions  Sessions
	Selection Selection
	TSHooks   TSHooks
	Approvals Approvals
	Telemetry Telemetry
	// StartedByAgent reports whether a process has an agent above it.
	StartedByAgent func(pid int) bool
}

// OffSwitch says whether the user wants no hooks for now.
type OffSwitch interface {
	IsOff() bool
}

// Callers finds out which agent a process belongs to.
type Callers interface {
	Of(pid int) callers.Caller
	// OfProxy is for a process that reports events in an agent's place.
	OfProxy(pid int, agent string) callers.Caller
	// OfProbe is for a command of hookmux that tries a hook out.
	OfProbe(pid int) callers.Caller
	// Above are a process and those above it, from below.
	Above(pid int) []proc.Process
}

// Recorder writes events down.
type Recorder interface {
	RecordEvent(id string, at time.Time, ev *event.Event, payload []byte) error
	RecordOutcome(o *wire.Outcome)
	// Wake has what was recorded stored soon.
	Wake()
	// Writable reports whether events are written down before they are answered.
	Writable() bool
}

// Telemetry receives calls once they are answered.
type Telemetry interface {
	// Wanted reports whether anything is heard.
	Wanted() bool
	NoteAnswer(a *Answered)
}

// Answered is a call that was answered.
type Answered struct {
	Event    *event.Event
	Took     time.Duration
	Decision event.Decision
	Steps    []hook.Step
	Asked    *approvals.Asked // the request that was put to a person; nil: none
	Env      []byte           // of the hook
}

// HookStats counts what hooks cost.
type HookStats interface {
	Add(step *hook.Step)
}

// Sessions knows what the agents are doing.
type Sessions interface {
	Apply(ev *event.Event, seq uint64)
	Deciding(ev *event.Event) (decided func())
	ApplyDecision(ev *event.Event, d event.Decision)
	// Locate is where a process runs.
	Locate(who sessions.Process, claimed event.Place, environ []byte) event.Place
	// ReviewerOf returns who decides about a permission request in its agent.
	ReviewerOf(ev *event.Event, environ []byte) event.Reviewer
}

// Selection knows which hooks apply where.
type Selection interface {
	// ForEvent are the hooks meant for an event, in order, with the project
	// whose hooks are among them and the projects that apply.
	ForEvent(ev *event.Event, busy map[string]bool) (entries []*hook.Entry, project string, projects []string)
	// NoteContact notes that a call was decided by what counts.
	NoteContact(ev *event.Event)
	// NoteSession remembers where a session started.
	NoteSession(ev *event.Event)
	// NoteDecision receives the decision about an event that hooks were asked about.
	NoteDecision(ev *event.Event, d event.Decision)
	// Examine says what every guard and rule thinks of an event.
	Examine(ev *event.Event) *examine.Examination
}

// TSHooks runs hooks in TypeScript.
type TSHooks interface {
	// WithLaunches adds the hooks that count for this event alone.
	WithLaunches(c hook.Call, agent host.Process, peer int, entries []*hook.Entry) []*hook.Entry
	// Listeners are the hooks for an inner event, one for each file.
	Listeners(ev *event.Event, entries []*hook.Entry) []*hook.Entry
	// PassInner shows an inner event to one after the other.
	PassInner(ctx context.Context, call hook.Call, listeners []*hook.Entry) (json.RawMessage, []hook.Step)
}

// Approvals lets a permission or you decide.
type Approvals interface {
	Decide(ctx context.Context, c *services.Call) approvals.Outcome
	DecidePushed(ctx context.Context, c *services.Call, need policy.Need, wait time.Duration,
		key string) approvals.Outcome
	// Observe takes an event as a sign for requests that wait.
	Observe(ev *event.Event)
}
