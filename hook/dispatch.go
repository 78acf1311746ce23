package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"time"

	"github.com/hookmux/hookmux/event"
)

// DefaultTimeout bounds a handler whose registration names none.
const DefaultTimeout = 60 * time.Second

// Step records what one hook did with one event.
type Step struct {
	Hook    string
	Role    Role
	Took    time.Duration
	Verdict event.Verdict
	Err     error
	Again   bool // a guard's second look, at the changed input
	// Would holds the answer of a hook in log mode. Nil for others, and where
	// it had nothing to say.
	Would *event.Decision
}

// Outcome is the result of dispatching one event.
type Outcome struct {
	Decision event.Decision
	Steps    []Step
	// LogOnly are the hooks that only logs, to be heard with
	// [Dispatcher.LogOnly].
	LogOnly []LogOnly
}

// Dispatcher runs hooks. The zero value works; the fields are its ties to the
// outside.
type Dispatcher struct {
	// Change puts a changed input into an event; nil leaves commands and paths
	// as they were.
	Change ChangeInput
	// Timeout bounds handlers that name none; zero means [DefaultTimeout].
	Timeout time.Duration
}

// Sort puts entries in the order they run: by priority, equals as they came.
func Sort(entries []*Entry) {
	sort.SliceStable(entries, func(i, j int) bool { return entries[i].Order() < entries[j].Order() })
}

// Select returns the entries that match ev, in order. For a nested event, one from below a
// running handler, these are only locked hooks and hookmux's own guards, without those whose
// id is in busy.
func Select(entries []*Entry, ev *event.Event, busy func(id string) bool) []*Entry {
	var chosen []*Entry
	for _, e := range entries {
		if !e.ForType(ev) {
			continue
		}
		if ev.Nested && (!(e.Locked || e.BuiltinGuard) || e.RoleFor(ev.Kind) != Guard || busy != nil && busy(e.ID)) {
			continue
		}
		chosen = append(chosen, e)
	}
	return chosen
}

// AnyDecides reports whether any of the entries must run before the agent gets its
// answer.
func AnyDecides(entries []*Entry, kind event.Kind, carries event.Carries) bool {
	for _, e := range entries {
		if blocksResponse(e, kind, carries) {
			return true
		}
	}
	return false
}

// blocksResponse reports whether the agent's answer waits for an entry. It doesn't wait for
// an adviser whose advice the agent can't take.
func blocksResponse(e *Entry, kind event.Kind, carries event.Carries) bool {
	switch e.RoleFor(kind) {
	case Guard:
		return true
	case Advise:
		return carries.Context || carries.Output || carries.Keep || carries.Notice
	}
	return false
}

// Decide runs the entries that may decide, in order, and merges their decisions.
// Deny is final and stops the rest. ctx carries the deadline of the whole event: a
// guard that isn't done by then has failed. Entries in log mode aren't run; the
// outcome lists them.
func (d *Dispatcher) Decide(ctx context.Context, call Call, entries []*Entry) Outcome {
	var out Outcome
	own := *call.Event // a handler that was left behind may still look at it
	ev := &own
	lastChange := -1
	for i, e := range entries {
		if !blocksResponse(e, ev.Kind, call.Carries) || !e.match.holdsFor(ev) {
			continue
		}
		if e.LogOnly {
			out.LogOnly = append(out.LogOnly, LogOnly{Entry: e, Event: ev, Extra: out.Decision.Extra})
			continue
		}
		opinion := d.runAndRecord(ctx, &call, ev, e, &out, false)
		if opinion.Input != nil && ev.Tool != nil {
			lastChange = i
			ev = d.withChangedInput(ev, opinion.Input)
		}
		if opinion.Output != nil && ev.Tool != nil {
			ev = withOutput(ev, opinion.Output)
		}
		out.Decision.Merge(opinion)
		if out.Decision.Verdict == event.Deny {
			return out
		}
	}
	// The input is final now. hookmux's own guards that saw an earlier one
	// look once more, because a hook behind them may have put in what they are
	// there to stop.
	for i, e := range entries {
		if i >= lastChange {
			break
		}
		if !e.BuiltinGuard || e.RoleFor(ev.Kind) != Guard || !e.match.holdsFor(ev) {
			continue
		}
		if e.LogOnly {
			out.LogOnly = append(out.LogOnly, LogOnly{Entry: e, Event: ev, Extra: out.Decision.Extra,
				Again: true})
			continue
		}
		opinion := d.runAndRecord(ctx, &call, ev, e, &out, true)
		// A second look decides; what else the guard says was said at the first.
		out.Decision.Merge(event.Decision{Verdict: opinion.Verdict, Reason: opinion.Reason, By: opinion.By})
		if out.Decision.Verdict == event.Deny {
			return out
		}
	}
	return out
}

// withOutput returns a copy of ev with the result as a handler changed it: the next
// handler must start from there, or it would restore what an earlier hook had
// removed.
func withOutput(ev *event.Event, output json.RawMessage) *event.Event {
	next, tool := *ev, *ev.Tool
	next.Tool, tool.Output = &tool, output
	return &next
}

// withChangedInput returns a copy of ev with the input as a handler changed it. A copy,
// because handlers before may still be looking at ev, and the caller keeps
// what came.
func (d *Dispatcher) withChangedInput(ev *event.Event, input json.RawMessage) *event.Event {
	next, tool := *ev, *ev.Tool
	next.Tool = &tool
	merged := event.MergeObjects(tool.CurrentInput(), input)
	if d.Change != nil {
		d.Change(&next, merged)
	}
	next.Tool.Changed = merged
	return &next
}

// runAndRecord runs one hook that the agent waits for and adds the step to out.
func (d *Dispatcher) runAndRecord(ctx context.Context, call *Call, ev *event.Event, e *Entry, out *Outcome,
	again bool) event.Decision {
	opinion, step := d.runHook(ctx, call, ev, e, out.Decision.Extra)
	step.Again = again
	out.Steps = append(out.Steps, step)
	return opinion
}

// runHook runs one hook and returns its opinion and what it cost. A failure becomes what the
// registration says a failure means.
func (d *Dispatcher) runHook(ctx context.Context, call *Call, ev *event.Event, e *Entry,
	extra json.RawMessage) (event.Decision, Step) {
	mode := e.RoleFor(ev.Kind)
	one := *call
	one.Event, one.Hook, one.Extra = ev, &e.Registration, extra
	started := time.Now()
	opinion, err := d.runHandler(ctx, &one, e)
	switch {
	case err != nil && mode == Guard:
		opinion = failureVerdict(e, err)
	case err != nil:
		opinion = event.Decision{} // unfinished advice is discarded
	case mode == Guard:
		opinion = opinion.Normalized()
	default:
		opinion, err = adviceOnly(opinion)
	}
	opinion.By = e.ID
	return opinion, Step{Hook: e.ID, Role: mode, Took: time.Since(started), Verdict: opinion.Verdict, Err: err}
}

// failureVerdict returns what a guard's failure means. An unknown value means deny: a
// guard fails closed.
func failureVerdict(e *Entry, err error) event.Decision {
	why := fmt.Sprintf("hook %s failed: %v", e.ID, err)
	switch e.FailureMeans() {
	case FailIgnore:
		return event.Decision{}
	case FailAsk:
		return event.Decision{Verdict: event.Ask, Reason: why}
	}
	return event.Decision{Verdict: event.Deny, Reason: why}
}

// ErrMayNotDecide is the failure of a hook that gave a verdict without being
// a guard.
var ErrMayNotDecide = errors.New("gave a verdict, but is not a guard; add it with --role guard if it may decide")

// adviceOnly takes from an adviser's opinion what only a guard may say.
func adviceOnly(opinion event.Decision) (event.Decision, error) {
	var err error
	if hasVerdict(opinion) {
		err = ErrMayNotDecide
	}
	opinion.Verdict, opinion.Input, opinion.Allowed, opinion.ExitCode = event.None, nil, false, 0
	return opinion, err
}

func hasVerdict(opinion event.Decision) bool {
	return opinion.Normalized().Verdict != event.None
}

// PanicError is the failure of a handler that panicked.
type PanicError struct {
	Value any
	Stack []byte // for a log; an agent gets only the value to read
}

func (e *PanicError) Error() string { return fmt.Sprintf("panicked: %v", e.Value) }

var (
	// grace is how long a handler may take to notice that its own time is over.
	grace = 1500 * time.Millisecond
	// lastGrace is the same if the event's time is over as well: the agent must
	// still get the answer.
	lastGrace = 100 * time.Millisecond
)

// runHandler calls the handler with its time limit and survives its panic. The limit
// holds even for a handler that does not look at its context: it is left
// behind. What comes after the limit is a failure, unless it is a deny: a
// handler that gave up may look as if it had no opinion.
func (d *Dispatcher) runHandler(ctx context.Context, call *Call, e *Entry) (event.Decision, error) {
	if e.BuiltinGuard || e.Inline { // bounded: not worth a goroutine
		return handleSafely(ctx, call, e)
	}
	if ctx.Err() != nil {
		return event.Decision{}, errTooLate
	}
	limit := time.Duration(e.Timeout)
	if limit <= 0 {
		limit = d.Timeout
	}
	if limit <= 0 {
		limit = DefaultTimeout
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	type answer struct {
		opinion event.Decision
		err     error
	}
	late := func() error {
		if ctx.Err() != nil {
			return errTooLate
		}
		return fmt.Errorf("no answer within %s", limit.Round(time.Millisecond))
	}
	settle := func(a answer) (event.Decision, error) {
		if a.err == nil && bounded.Err() != nil && a.opinion.Verdict != event.Deny {
			return event.Decision{}, late()
		}
		return a.opinion, a.err
	}
	if _, ok := e.Run.(Prompt); ok {
		opinion, err := handleSafely(bounded, call, e)
		return settle(answer{opinion, err})
	}
	done := make(chan answer, 1)
	go func() {
		opinion, err := handleSafely(bounded, call, e)
		done <- answer{opinion, err}
	}()
	select {
	case a := <-done:
		return settle(a)
	case <-bounded.Done():
	}
	// A well-behaved handler comes back at once now, having tidied up.
	select {
	case a := <-done:
		return settle(a)
	case <-time.After(grace):
		return event.Decision{}, late()
	case <-ctx.Done():
	}
	select {
	case a := <-done:
		return settle(a)
	case <-time.After(lastGrace):
		return event.Decision{}, late()
	}
}

var errTooLate = errors.New("no answer before the agent's time for this event was over")

func handleSafely(ctx context.Context, call *Call, e *Entry) (opinion event.Decision, err error) {
	defer func() {
		if p := recover(); p != nil {
			opinion, err = event.Decision{}, &PanicError{Value: p, Stack: debug.Stack()}
		}
	}()
	return e.Run.Handle(ctx, call)
}

// RunObservers runs the entries that don't hold up the agent: observers, and advisers
// whose advice the agent can't take. It returns when all are done.
func (d *Dispatcher) RunObservers(ctx context.Context, call Call, entries []*Entry) []Step {
	var steps []Step
	for _, e := range entries {
		if blocksResponse(e, call.Event.Kind, call.Carries) || !e.match.holdsFor(call.Event) {
			continue
		}
		one := call
		one.Hook = &e.Registration
		started := time.Now()
		opinion, err := d.runHandler(ctx, &one, e)
		if err == nil && hasVerdict(opinion) {
			err = ErrMayNotDecide
		}
		steps = append(steps, Step{Hook: e.ID, Role: e.RoleFor(call.Event.Kind), Took: time.Since(started), Err: err})
	}
	return steps
}

// HasObservers reports whether [Dispatcher.RunObservers] would run anything.
func HasObservers(entries []*Entry, ev *event.Event, carries event.Carries) bool {
	for _, e := range entries {
		if !blocksResponse(e, ev.Kind, carries) && e.match.holdsFor(ev) {
			return true
		}
	}
	return false
}
