package pipeline

import (
	"context"
	"sync/atomic"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/authority/callers"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Pipeline is the service.
type Pipeline struct {
	Options
	ctx        context.Context // ends when the daemon does
	dispatch   *hook.Dispatcher
	duplicates *duplicates
	open       *openCalls
	keepGoing  *keepGoingLimiter
	// callerVariables are the variables that show which agent calls, by agent.
	callerVariables map[string][]callerVariable
	stats           agentStats
	hooked          hookedSessions
	nesting         atomic.Int32 // nested events being decided
	later           *laterHooks
}

// call is a call on its way through the pipeline: what every service may know about it, and
// what only the steps of process need.
type call struct {
	*services.Call
	caller    callers.Caller
	speaker   string          // the agent that called, by its process or else by its variables
	busy      map[string]bool // hooks below which the caller says it runs
	entries   []*hook.Entry   // hooks meant for this event, in order
	recorded  *wire.Outcome   // what was recorded of it
	asked     *approvals.Asked
	dedupe    *dedupeEntry
	duplicate string // the id of the call that reported the same before

	// For finish.
	hookCall  hook.Call
	observed  bool           // hooks only observe it
	logOnly   []hook.LogOnly // hooks in log mode that may take long
	telemetry *Answered
}

func (c *call) isDuplicate() bool { return c.duplicate != "" }
