package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/selection"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tsmodule/host"
	"github.com/hookmux/hookmux/internal/wire"
)

// decide hears the hooks that may have a say. Pure built-in guards answer on
// the spot; everything else may take long, so the caller's hanging up and the
// deadline end it.
func (h *Hub) decide(ctx context.Context, in *arrival, p *passage, call hook.Call) hook.Outcome {
	if in.dry != nil {
		return h.dispatch.Decide(selection.DryRun(ctx), call, ownGuards(p.entries))
	}
	if onlyBuiltin(p.entries, p.ev.Kind) {
		return h.dispatch.Decide(ctx, call, p.entries)
	}
	h.recorder.Wake() // this may take long, and who watches wants to see what is being decided
	ctx, cancel := context.WithDeadline(ctx, p.deadline)
	defer cancel()
	if in.gone == nil {
		return h.dispatch.Decide(ctx, call, p.entries)
	}
	var left atomic.Bool
	stop := in.gone(func() { left.Store(true); cancel() })
	outcome := h.dispatch.Decide(ctx, call, p.entries)
	stop()
	if left.Load() {
		// Hooks that were cut off did not fail, and nothing was decided.
		p.neutral = callerLeft
		return hook.Outcome{}
	}
	return outcome
}

// ownGuards are hookmux's own among the entries: pure, so that asking them
// leaves no trace.
func ownGuards(entries []*hook.Entry) []*hook.Entry {
	var own []*hook.Entry
	for _, e := range entries {
		if e.BuiltinGuard {
			own = append(own, e)
		}
	}
	return own
}

// onlyGuards: nobody but hookmux's own guards is meant.
func onlyGuards(entries []*hook.Entry) bool {
	return !slices.ContainsFunc(entries, func(e *hook.Entry) bool { return !e.BuiltinGuard })
}

func onlyBuiltin(entries []*hook.Entry, kind event.Kind) bool {
	for _, e := range entries {
		if !e.BuiltinGuard && e.ModeFor(kind) != hook.Observe {
			return false
		}
	}
	return true
}

// maxTellers bounds observers under way, so that a slow one cannot pile up
// processes without end; what comes on top is reported, not run.
const maxTellers = 64

// tell lets observers know, once the agent has its answer.
func (h *Hub) tell(call hook.Call, entries []*hook.Entry) {
	var quick, slow []*hook.Entry
	for _, e := range entries {
		if e.Inline || e.BuiltinGuard {
			quick = append(quick, e)
		} else {
			slow = append(slow, e)
		}
	}
	// What cannot hang neither waits for a place nor for the slow ones.
	h.judgeSteps(call.Event, h.dispatch.Tell(h.ctx, call, quick))
	if !hook.Watched(slow, call.Event, call.Carries) {
		return
	}
	entries = slow
	select {
	case h.slots <- struct{}{}:
	default:
		h.deps.Problems.Raise("observers", "observing hooks are slower than events come in; some calls were left out",
			"`hookmux stats` shows the slow ones")
		return
	}
	ev := *call.Event // the corridor goes on with its own copy
	call.Event = &ev
	h.deps.Background.Add(1)
	go func() {
		defer h.deps.Background.Done()
		defer func() { <-h.slots }()
		steps := h.dispatch.Tell(h.ctx, call, entries)
		h.judgeSteps(&ev, steps)
	}()
}

// judgeSteps counts what hooks cost and shows what failed.
func (h *Hub) judgeSteps(ev *event.Event, steps []hook.Step) {
	for i := range steps {
		s := &steps[i]
		h.stats.Add(s)
		if s.Err == nil {
			if h.deps.Problems.Any() {
				h.deps.Problems.Mend("hook:" + s.Hook) // it works again
			}
			continue
		}
		text := firstLine(s.Err.Error())
		if own := (*host.FileError)(nil); errors.As(s.Err, &own) {
			h.deps.Log.Warn("hook failed", "hook", s.Hook, "agent", ev.Agent, "event", ev.Native, "error", redact.Text(text))
			continue // the file's own report names the line, once
		}
		h.deps.Problems.Raise("hook:"+s.Hook, "hook "+s.Hook+" failed on "+ev.Agent+" "+ev.Native+": "+text,
			"`hookmux hooks '*' list` shows it; `hookmux log --json` has every call")
		h.deps.Log.Warn("hook failed", "hook", s.Hook, "agent", ev.Agent, "event", ev.Native, "error", redact.Text(s.Err.Error()))
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// conclude records what came of an event when somebody had a say in it.
func (h *Hub) conclude(in *arrival, p *passage, d event.Decision) {
	h.judgeSteps(&p.ev, p.outcome.Steps)
	if p.twin != "" { // counted when it was told first
		h.recordOutcome(in, p, d)
		return
	}
	if d.KeepGoing || d.Verdict == event.Deny && p.ev.Kind.TakesKeepGoing() {
		h.rounds.wentOn(&p.ev, d.Reason)
	}
	if d.Verdict != event.None {
		h.seen.decided.Add(1)
		if d.Verdict == event.Deny {
			h.seen.denied.Add(1)
		}
	}
	if d.Empty() && len(d.Degraded) == 0 && p.neutral == services.NotSkipped && p.asked == nil && quiet(p) {
		return
	}
	h.recordOutcome(in, p, d)
}

// quiet: nobody but built-ins was asked, and none had anything to say.
func quiet(p *passage) bool {
	for _, s := range p.outcome.Steps {
		if s.Err != nil || s.Verdict != event.None {
			return false
		}
	}
	for _, e := range p.entries {
		if e.Handler != "builtin" && e.ModeFor(p.ev.Kind) != hook.Observe {
			return false
		}
	}
	return true
}

func (h *Hub) recordOutcome(in *arrival, p *passage, d event.Decision) {
	o := outcomeOf(in, p, d)
	h.recorder.RecordOutcome(&o)
}

// outcomeOf is an outcome as it is stored and streamed.
func outcomeOf(in *arrival, p *passage, d event.Decision) wire.Outcome {
	o := wire.Outcome{ID: in.id, Agent: p.ev.Agent, Native: p.ev.Native, Time: in.at, TookUS: time.Since(in.at).Microseconds(), Neutral: p.neutral.String(), Twin: p.twin}
	if p.ev.Tool != nil {
		o.Tool = p.ev.Tool.Name
	}
	if p.asked != nil {
		o.Feed = &wire.FeedOutcome{Request: p.asked.Request, End: p.asked.End.String(), TookUS: p.asked.Took.Microseconds()}
	}
	o.Decision, _ = json.Marshal(d)
	for _, s := range p.outcome.Steps {
		step := wire.Step{Hook: s.Hook, Mode: string(s.Mode), TookUS: s.Took.Microseconds(), Verdict: string(s.Verdict), Again: s.Again}
		if s.Err != nil {
			step.Error = firstLine(s.Err.Error())
		}
		o.Steps = append(o.Steps, step)
	}
	return o
}

// lookupIn finds variables in a NUL-separated environment without taking it
// apart: most events look at two or three.
func lookupIn(env []byte) func(string) string {
	return func(name string) string {
		// Looked for as a whole, which is much quicker than variable by
		// variable: this is done several times at every hook call.
		var room [64]byte
		wanted := append(append(append(room[:0], 0), name...), '=')
		var value []byte
		if bytes.HasPrefix(env, wanted[1:]) {
			value = env[len(wanted)-1:]
		} else if at := bytes.Index(env, wanted); at >= 0 {
			value = env[at+len(wanted):]
		}
		if end := bytes.IndexByte(value, 0); end >= 0 {
			value = value[:end]
		}
		return string(value)
	}
}

func splitEnv(env []byte) []string {
	if len(env) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(env), "\x00"), "\x00")
}

// openCalls remembers decisions under way and lately made, by id: a client
// whose connection broke asks again with the same id and gets the same answer,
// not a second question.
type openCalls struct {
	mu    sync.Mutex
	calls map[string]*openCall
	done  []string // answered, oldest first
}

type openCall struct {
	ready    chan struct{} // made for whoever waits besides the first
	over     bool
	answer   neutral.Answer
	answered bool
	decision event.Decision
}

// keepAnswered bounds how many answers are remembered.
const keepAnswered = 1024

func newOpenCalls() *openCalls { return &openCalls{calls: map[string]*openCall{}} }

// saidNothing is every call that was answered and to which nobody had anything
// to say: most of those that are remembered.
var saidNothing = &openCall{over: true, answered: true}

// enter gives the call of that id and whether the caller is its first. Anybody
// else waits until ready, unless it is nil: then it is over.
func (o *openCalls) enter(id string) (c *openCall, ready <-chan struct{}, first bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c, ok := o.calls[id]; ok {
		if !c.over && c.ready == nil {
			c.ready = make(chan struct{})
		}
		return c, c.ready, false
	}
	c = &openCall{}
	o.calls[id] = c
	return c, nil, true
}

func (c *openCall) end() {
	c.over = true
	if c.ready != nil {
		close(c.ready)
	}
}

func (c *openCall) nothing() bool {
	d := &c.decision
	return c.answered && c.answer == neutral.Answer{} && d.Empty() && d.Reason == "" && d.By == "" && d.Answer == nil && len(d.Degraded) == 0 && !d.Allowed
}

func (o *openCalls) leave(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	c.end()
	if c.nothing() {
		o.calls[id] = saidNothing
	}
	o.done = append(o.done, id)
	if len(o.done) > keepAnswered {
		delete(o.calls, o.done[0])
		o.done = o.done[1:]
	}
}

// abandon forgets a call that was not answered: asking again is a new
// question.
func (o *openCalls) abandon(id string, c *openCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.calls, id)
	c.end()
}

func (o *openCalls) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.calls) - len(o.done)
}
