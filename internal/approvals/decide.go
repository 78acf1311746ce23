package approvals

import (
	"context"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/launch/resumeargs"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
)

// CanAsk reports whether you may be asked about an event of this kind at all.
func CanAsk(k event.Kind) bool {
	return k == event.ToolBefore || k == event.PermissionRequest || k == event.UserQuestion || k == event.UserPlan
}

// answeredBefore reuses your answer to the same call at an earlier event.
func (s *Service) answeredBefore(c *services.Call, seen *event.Event, spec *agent.Inbox) bool {
	served, repeated := s.answered.TakeOut, s.repeats.Remember
	if c.DryRun != nil {
		served, repeated = s.answered.Peek, s.repeats.Knows
	}
	if said, ok := served(seen); ok {
		c.Outcome.Decision = carryOver(c.Outcome.Decision, said)
		c.DryRun.Note("you were asked about this call before, and your answer still applies")
		return true
	}
	if spec.Repeats && repeated(seen) {
		c.DryRun.Note("you were asked about this call before; hookmux doesn't ask again")
		return true
	}
	return false
}

// choiceWords lists the possible answers.
func choiceWords(need policy.Need) string {
	r := queue.Request{Need: need}
	return strings.Join(append(r.Words(), "skip"), ", ")
}

// askAtPrompt asks at the agent's terminal about a call that no one could answer
// elsewhere, if the agent has no prompt of its own and you want to be asked: no opinion
// would let the call run.
func askAtPrompt(c *services.Call, spec *agent.Inbox) {
	d := &c.Outcome.Decision
	if spec.Promptless && c.Carries.Ask && c.Event.Attended == event.AttendedYes && d.Verdict != event.Ask {
		d.Verdict, d.By = event.Ask, event.ByApprovalPolicy
		d.Reason = "you chose to be asked about calls with side effects"
	}
}

// askForFull answers a call that is too much for the inbox: the agent asks, or refuses
// where it cannot. No opinion would let it run where no prompt of the agent's own
// follows: before a call, in a mode without prompts, or in an agent that has none.
func askForFull(c *services.Call, spec *agent.Inbox) {
	d := &c.Outcome.Decision
	if d.Verdict == event.Deny || c.Event.Kind != event.ToolBefore && !spec.Promptless {
		return
	}
	d.Verdict, d.By = event.Ask, event.ByApprovalPolicy
	d.Reason = "you are to be asked about this call, and more requests wait than you can read: `hookmux inbox`"
}

// mayWait reports whether a question may wait for you: because waiting costs nothing while
// the agent's own dialog stays usable, so that you can still answer in a view you open
// later; or because someone could answer; or because the agent's entry says how long it
// may wait for someone to come.
func mayWait(ctx context.Context, s *Service, c *services.Call, kind policy.Kind, limit time.Duration) bool {
	if !c.Pushed && dialogStays(s.Catalogue, c) || s.attendance.expectAnyone(ctx, limit) {
		return true
	}
	if c.Pushed {
		return s.reachesUser(c.Event.Agent, kind)
	}
	a, ok := s.Catalogue.Agent(c.Event.Agent)
	return ok && asksItself(&c.Event) && a.Inbox.WaitAt(c.Event.Native) == agent.WaitBrief
}

// reachesUser reports whether you're notified of such a request.
func (s *Service) reachesUser(agent string, kind policy.Kind) bool {
	return s.ReachesUser != nil && s.ReachesUser(agent, string(kind))
}

// dialogStays reports whether the agent's own dialog can be used while it waits: it asks
// by itself, or the hook that called shows a dialog meanwhile.
func dialogStays(catalogue *agent.Catalogue, c *services.Call) bool {
	ev := &c.Event
	a, ok := catalogue.Agent(ev.Agent)
	return ok && a.Inbox != nil && (asksItself(ev) || a.Inbox.Promptless && c.OnWait != nil && ev.Attended == event.AttendedYes) &&
		a.Inbox.WaitAt(ev.Native) == agent.WaitDeadline && a.Inbox.PromptAt(ev.Native) != agent.PromptHidden
}

// asksItself reports whether the agent asks you at its own prompt if nothing answers here.
func asksItself(ev *event.Event) bool {
	return ev.Attended != event.AttendedNo && ev.Kind != event.ToolBefore
}

// mustAsk returns what you must be asked about an event, with the event as hooks changed
// it. The last result is nil if you needn't be asked.
func (s *Service) mustAsk(c *services.Call) (*event.Event, policy.Need, *agent.Inbox) {
	a, ok := s.Catalogue.EntryOf(c.Event.Agent, c.Event.Native)
	if !ok || a.Inbox == nil {
		return nil, policy.Need{}, nil
	}
	spec, ok := a.Event(c.Event.Native)
	if !ok {
		return nil, policy.Need{}, nil
	}
	seen := &c.Event
	if change := c.Outcome.Decision.Input; change != nil && c.Event.Tool != nil {
		changed := c.Event
		s.Catalogue.WithInput(&changed, event.MergeObjects(c.Event.Tool.Input, change))
		seen = &changed
	}
	level, chosen := s.Settings.ApprovalLevel(&c.Event)
	need, ok := policy.NeedFor(policy.Case{
		Event: seen, Spec: spec, Inbox: a.Inbox, Carries: c.Carries, Level: policy.Level(level), Chosen: chosen,
		Free: asksNobody(s.Processes, a, &c.Event), Decision: c.Outcome.Decision,
	})
	if !ok {
		return nil, policy.Need{}, nil
	}
	return seen, need, a.Inbox
}

// asksNobody reports whether an agent that raises a permission event was started so that it
// never asks: making it wait would ask what you've already answered for good. If its
// process doesn't show that, the request stays.
func asksNobody(processes proc.Table, a *agent.Agent, ev *event.Event) bool {
	free := a.Inbox.Free
	if free == nil || ev.Kind != event.PermissionRequest || ev.Where.PID <= 0 {
		return false
	}
	if free.Env != "" {
		environ, _ := processes.Environ(ev.Where.PID)
		if free.IsYes(paths.GetenvFrom(environ)(free.Env)) {
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

// newRequest turns a need into the request that you see.
func (s *Service) newRequest(c *services.Call, seen *event.Event, need policy.Need, project string,
	waitFor time.Duration) queue.Request {
	ev := *seen // the pipeline goes on with its own
	now := time.Now()
	r := queue.Request{
		Need: need, Event: &ev, Project: project, Pushed: c.Pushed, Suggestions: ev.Suggestions,
		Opened: now, Until: now.Add(waitFor), Latest: c.Deadline,
	}
	title := s.AgentTitle(ev.Agent)
	if a, ok := s.Catalogue.EntryOf(ev.Agent, ev.Native); ok {
		r.Number = a.Inbox.NumberOf(&ev)
	}
	if need.Kind == policy.Permission && need.Offers(event.ChooseAlways) {
		if rule, err := policy.RuleFor(&ev); err != nil {
			r.NoRule = err.Error()
		} else {
			r.Rule = &rule
		}
	}
	if need.BlockOnly {
		r.Note = title + " can only be refused here; otherwise its own rules apply"
	}
	sent := &c.Event
	if seen == sent {
		sent = nil
	}
	if need.Kind == policy.Permission && s.Effect != nil {
		r.Effect, r.Risk = s.Effect(&ev)
		r.Line = queue.EditedLine(&ev)
	}
	queue.Show(&r, title, sent)
	return r
}

// An agent with hooks sends a request to them and, at the same time, to the editor that it
// runs in, which `hookmux acp` reports. You're asked once, by whichever comes first, and
// your answer is used for both. Without an answer, the second leaves it to the agent, which
// waits for the first.

// reuseProxyAnswer takes over what came of a request that came the other way before. Else it
// remembers this one, and recordAnswer keeps what comes of it.
func reuseProxyAnswer(asks *SeenRequests, agents *agent.Catalogue, c *services.Call,
) (out Outcome, before bool, recordAnswer func()) {
	if c.DryRun != nil || c.Event.Kind != event.PermissionRequest || c.Outcome.Decision.Verdict == event.Deny {
		return Outcome{}, false, func() {}
	}
	_, proxied := agents.Protocol(c.Event.Native)
	if said, ok := asks.TakeOut(&c.Event, proxied); ok {
		switch {
		case said.Verdict == event.Allow || said.Verdict == event.Modify || said.Verdict == event.Deny:
			c.Outcome.Decision = carryOver(c.Outcome.Decision, said)
		case c.Outcome.Decision.Verdict == event.Ask && !proxied:
			c.Outcome.Decision.Verdict = event.None // it is being asked about already
		}
		return Outcome{Skipped: services.HooksAsked}, true, func() {}
	}
	keep := asks.Remember(&c.Event, proxied)
	return Outcome{}, false, func() { keep(c.Outcome.Decision) }
}
