package pipeline

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// dryRun goes along with a call that is only looked at: nothing is written
// down, used up or put to anybody for it. hookmux's own guards are pure and do
// run; what other hooks would say is not known before they do. Its methods may
// be called on nil, which is a real call.
type dryRun struct {
	suppose  *event.Decision // instead of asking hooks
	runHooks bool            // command and script hooks too
	notes    []string
}

// addNote notes what a step would have done.
func (r *dryRun) addNote(what string) {
	if r != nil {
		r.notes = append(r.notes, what)
	}
}

// Pipeline is the service.
type Pipeline struct {
	Options
	ctx        context.Context // ends when the daemon does
	dispatch   *hook.Dispatcher
	duplicates *duplicates
	open       *openCalls
	keepGoing  *keepGoingLimiter
	// callerVariables are the variables that tell who calls, by agent.
	callerVariables map[string][]callerVariable
	stats           agentStats
	hooked          hookedSessions
	nesting         atomic.Int32 // nested events being decided
	later           *laterHooks
}

// HookCall is one hook call as it came in, through whichever protocol.
type HookCall struct {
	ID        string
	Agent     string // as named by the caller
	Event     string
	Seq       uint64 // of a caller that numbers its calls
	Cwd       string
	Payload   []byte
	Env       []byte // NUL-separated; memory only
	Truncated bool
	Pushed    bool          // by a program, not by a hook
	Limit     time.Duration // how long the caller still waits; 0 is the catalogue's
	At        time.Time
	Peer      proc.Cred
	// OnGone calls cancel when the caller hangs up, until stop; may be nil.
	OnGone func(cancel func()) (stop func())
	// OnHeld tells a caller that shows a dialog of its own that a person is
	// asked; may be nil.
	OnHeld func(request, why string, input []byte)

	after  func()  // what is left to do once the caller has its answer
	dryRun *dryRun // nothing of this happens; nil for what does
}

// addAfter adds to what is done once the caller has its answer: what was added last is
// done first.
func (c *HookCall) addAfter(do func()) {
	before := c.after
	c.after = func() {
		do()
		if before != nil {
			before()
		}
	}
}

// pipelineState is what the steps learn about a call.
type pipelineState struct {
	ev        event.Event
	caller    callers.Caller
	speaker   string          // the agent that called, by its process or else by its variables
	busy      map[string]bool // hooks below which the caller says it runs
	carries   event.Carries
	entries   []*hook.Entry // hooks meant for this event, in order
	project   string
	deadline  time.Time
	outcome   hook.Outcome
	recorded  *wire.Outcome    // what was recorded of it
	asked     *approvals.Asked // the request that was put to a person
	skipped   services.Skip    // why nobody was asked
	dedupe    *dedupeEntry
	duplicate string // the id of the call that told of the same before
}

func (s *pipelineState) isDuplicate() bool { return s.duplicate != "" }
