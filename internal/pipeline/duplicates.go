package pipeline

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/services"
)

// Some agents read other agents' files: with hookmux installed in both, one
// action runs two of our commands. So does an agent that `hookmux run` gave
// hooks, if hookmux was installed in its config meanwhile. The second call is a
// duplicate. Hooks and you see it once, and each command gets the answer in the
// format of its own event.
//
// Two calls are duplicates only if all of this holds:
//   - one process called both, and its agent is known to read the other's file, or
//     `hookmux run` started it. An editor is known by the variables of the hook;
//   - they came from different installed commands. Two calls of one command are
//     two questions, however alike;
//   - they say the same: kind, session, subagent, call, input, prompt;
//   - the second comes while the first is being decided, or soon after.
//
// Of several equal calls, the newest that its command hasn't asked about yet is
// meant: an older one was denied, and then the agent never ran the second
// command.

// SetDedupeClock replaces the clock by which duplicates are forgotten. It is
// called before the first call.
func (p *Pipeline) SetDedupeClock(now func() time.Time) { p.duplicates.now = now }

// findDuplicate finds out whether an earlier call reported the same. Most calls
// can't have a duplicate.
func (p *Pipeline) findDuplicate(c *call) {
	command := commandOf(p, c)
	if command == "" || c.Event.Malformed != "" {
		return
	}
	key := dedupeKeyOf(c)
	if key.pid <= 0 {
		return
	}
	entry, first := p.duplicates.findOrAdd(key, c.Frame.ID, command)
	c.dedupe = entry
	if !first {
		c.duplicate = entry.id
	}
}

// commandOf names the command by which a call came, where there may be another one
// for the same; else it is empty.
func commandOf(p *Pipeline, c *call) string {
	named := p.Deps.AgentName(c.Frame.Agent)
	switch {
	case p.readsFilesOf(c.speaker, named):
		return named
	case named != "" && named == c.caller.Agent && bytes.Contains(c.Frame.Env, launchedMark):
		// The hooks of a launch and installed ones run the client by different paths.
		if args, err := p.Deps.Processes.Args(c.Peer.PID); err == nil && len(args) > 0 {
			return args[0]
		}
	}
	return ""
}

// launchedMark is in the environment of what `hookmux run` started.
var launchedMark = []byte(launch.ActiveVariable + "=")

// readsFilesOf reports whether the agent reads others' files, and the command is in
// one of those or in its own.
func (p *Pipeline) readsFilesOf(caller, named string) bool {
	if caller == "" {
		return false
	}
	a, ok := p.Deps.Catalogue.Agent(caller)
	return ok && a.Install != nil && len(a.Install.Reads) > 0 &&
		(named == a.Name || slices.Contains(a.Install.Reads, named))
}

// dedupeKeyOf returns what both calls have in common. It leaves out names of events and
// tools: some agents translate those for a file in another agent's format.
func dedupeKeyOf(c *call) dedupeKey {
	ev := &c.Event
	k := dedupeKey{pid: c.caller.PID, start: c.caller.Start, kind: ev.Kind, session: ev.Session}
	if c.caller.Agent == "" {
		k.pid, k.start = c.caller.Starter, c.caller.StarterStart
	}
	if ev.Subagent != nil {
		k.sub = ev.Subagent.ID
	}
	sum := sha256.New()
	if ev.Tool != nil {
		k.call = ev.Tool.CallID
		sum.Write([]byte(ev.Tool.Kind))
		sum.Write([]byte{0})
		sum.Write(jsonx.Canonical(ev.Tool.Input))
	}
	sum.Write([]byte{0})
	sum.Write([]byte(ev.Prompt))
	sum.Sum(k.contentHash[:0])
	return k
}

// publishDecision gives duplicates the decision. If nothing was decided because the
// caller left, they are on their own.
func (c *call) publishDecision() { c.endDedupe(c.Skipped != services.CallerLeft) }

// releaseDuplicates is for a call that did not come as far as a decision.
func (c *call) releaseDuplicates() { c.endDedupe(false) }

func (c *call) endDedupe(decided bool) {
	o := c.dedupe
	if o == nil || c.isDuplicate() {
		return
	}
	t := o.list
	t.mu.Lock()
	defer t.mu.Unlock()
	if !o.until.IsZero() {
		return
	}
	o.decided = decided
	o.outcome = hook.Outcome{Decision: c.Outcome.Decision}
	o.skipped = c.Skipped
	switch {
	case !decided:
		o.until = t.now().Add(-1)
	case o.key.call != "":
		o.until = t.now().Add(keepWithID)
	default:
		o.until = t.now().Add(keepWithoutID)
	}
	close(o.ready)
}

// awaitFirstDecision gives a duplicate the outcome of the first, waiting while that
// is being decided. It is false when the first got none: then the call is
// decided on its own.
func (p *Pipeline) awaitFirstDecision(ctx context.Context, c *call) bool {
	if !c.isDuplicate() {
		return false
	}
	with := c.dedupe
	select {
	case <-with.ready:
	default:
		ctx, cancel := context.WithDeadline(ctx, c.Deadline)
		defer cancel()
		var left atomic.Bool
		if c.OnGone != nil {
			forget := c.OnGone(func() { left.Store(true); cancel() })
			defer forget()
		}
		select {
		case <-with.ready:
		case <-ctx.Done():
			// The first is still open, and the agent waits for it as well: what
			// is said there counts. Saying nothing here lets nothing through.
			c.Skipped = services.DuplicateUndecided
			if left.Load() {
				c.Skipped = services.CallerLeft
			}
			return true
		}
	}
	if !with.decided {
		return false
	}
	c.Outcome, c.Skipped = with.outcome, with.skipped
	return true
}
