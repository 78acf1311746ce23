package approvals

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// The way of one request, in order: Observe sees every event, Decide is asked about a call,
// permissionOrAsk tries permissions and then asks you, waitForAnswer waits. Your answer
// arrives in Reply, and deliver passes it through the queue to the waiting call.

// Observe lets requests that wait or were answered see an event. It is called
// for every event, and nearly always nothing changes.
func (s *Service) Observe(ev *event.Event) {
	s.answered.Observe(ev)
	s.laterContext.Observe(ev)
	a, _ := s.Catalogue.EntryOf(ev.Agent, ev.Native)
	answered := ""
	if a != nil {
		answered = a.Inbox.AnsweredBy(ev)
	}
	s.queue.ObserveEvent(ev, answered)
	if ev.Kind == event.SessionEnd {
		if err := s.permissions.EndSession(ev.Agent, ev.Session); err != nil {
			s.Log.Warn("permissions of an ended session could not be taken off the disk", "error", err)
		}
	}
}

// Decide lets a permission or you decide about a call that needs it. It comes after
// guards and hooks, and makes the agent wait only while someone could answer.
func (s *Service) Decide(ctx context.Context, c *services.Call) Outcome {
	if c.Event.Kind == event.ToolAfter {
		addNote(&s.laterContext, c)
	}
	if !CanAsk(c.Event.Kind) || c.Skipped != services.NotSkipped {
		return Outcome{Skipped: c.Skipped}
	}
	out, before, recordAnswer := reuseProxyAnswer(&s.seenRequests, s.Catalogue, c)
	if before {
		return out
	}
	defer recordAnswer()
	seen, need, spec := s.mustAsk(c)
	if spec == nil || s.answeredBefore(c, seen, spec) {
		return Outcome{}
	}
	waitFor := func() time.Duration {
		longest, chosen := s.Settings.WaitTime(&c.Event)
		wait := agent.Wait{Setting: longest, Chosen: chosen, Away: s.attendance.isAway(),
			Watched: s.attendance.anyoneThere() || s.reachesUser(c.Event.Agent, need.Kind)}
		return spec.WaitFor(c.Event.Native, time.Until(c.Deadline), wait)
	}
	var handled bool
	out, handled = s.permissionOrAsk(ctx, c, question{seen: seen, need: need, waitFor: waitFor})
	switch {
	case out.Skipped == services.TooManyOfSession || out.Skipped == services.TooManyPushed:
		askForFull(c, spec)
	case !handled:
		askAtPrompt(c, spec)
	}
	return out
}

// question is one request for permissions and for you, however it came in.
type question struct {
	seen    *event.Event // as hooks changed it
	need    policy.Need
	waitFor func() time.Duration // how long it may wait from now
	key     string               // by which a program that pushed it knows it
	// relayed says that the program that pushed it gets the answer.
	relayed bool
}

// permissionOrAsk lets a permission answer, or else you. It returns false if no permission
// matches and no one can answer, or the queue is full.
func (s *Service) permissionOrAsk(ctx context.Context, c *services.Call, q question) (Outcome, bool) {
	project := c.Project
	if project == "" {
		project = s.Settings.RepositoryOf(c.Event.Cwd)
	}
	permitted := s.permissions.Match
	if c.DryRun != nil {
		permitted = s.permissions.Find
	}
	if permission, ok := permitted(q.seen, project, q.need, time.Now()); ok {
		approveCall(&c.Outcome.Decision, queue.UserAnswer{Answer: event.Answer{Choice: event.ChooseAlways}},
			event.ByPermission(permission.ID))
		c.DryRun.Note("permission " + permission.ID + " lets it pass; `hookmux permissions list` shows it")
		return Outcome{}, true
	}
	if q.need.Decider == policy.AgentDecides {
		c.DryRun.Note(s.AgentTitle(c.Event.Agent) + "'s own reviewer decides; no person is asked")
		return Outcome{Skipped: services.AgentReviews}, true
	}
	if c.DryRun != nil {
		if q.waitFor() > 0 {
			c.DryRun.Note("you would be asked in the inbox, if you're there: " + choiceWords(q.need))
		}
		return Outcome{}, mayWait(ctx, s, c, q.need.Kind, 0)
	}
	if !mayWait(ctx, s, c, q.need.Kind, time.Until(c.Deadline)/2) {
		return Outcome{}, false
	}
	waitFor := q.waitFor()
	if waitFor <= 0 {
		return Outcome{}, true
	}
	r := s.newRequest(c, q.seen, q.need, project, waitFor)
	r.Key, r.Relayed = q.key, q.relayed
	out := s.waitForAnswer(ctx, c, r, q.seen)
	return out, out.Asked != nil // else too many wait already
}

// waitForAnswer opens a request, waits until it ends and turns the answer into the
// decision. The answer comes from [Service.Reply], through the queue.
func (s *Service) waitForAnswer(ctx context.Context, c *services.Call, r queue.Request, seen *event.Event) Outcome {
	s.Recorder.WakeJournal() // who watches wants to see what is being asked
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ticket, err := s.queue.Open(r)
	if skip := limitSkip(err); skip != services.NotSkipped {
		s.overload.reportLimit(&r, skip)
		return Outcome{Skipped: skip}
	}
	if err != nil {
		return Outcome{Asked: &Asked{End: queue.DaemonStops}}
	}
	var left atomic.Bool
	if c.OnGone != nil {
		stop := c.OnGone(func() { left.Store(true); cancel() })
		defer stop()
	}
	if c.OnWait != nil {
		c.OnWait(ticket.ID(), r.Need.Why, changedInput(seen))
	}
	s.watchAgent(ctx, ticket, &c.Event)
	began := time.Now()
	result := ticket.Wait(ctx)
	s.overload.clearReportFor(&r)
	out := Outcome{Asked: &Asked{Request: result.ID, End: result.End, Took: time.Since(began)}}
	if result.End == queue.Answered {
		c.Delivered = ticket.ConfirmDelivered
		applyAnswer(&c.Outcome.Decision, result.UserAnswer)
		s.answered.Store(seen, c.Outcome.Decision)
		a, _ := s.Catalogue.EntryOf(c.Event.Agent, c.Event.Native)
		keepNote(&s.laterContext, a, c, seen, result.UserAnswer)
		return out
	}
	out.Skipped = endWithoutAnswer(&c.Outcome.Decision, result.End, left.Load())
	return out
}

// Reply answers a request for you. The answer is recorded in the ledger before the agent
// gets it.
//
// ask is how you're asked for a PIN or code in addition.
func (s *Service) Reply(ask services.Asking, p wire.InboxReplyParams, peer proc.Cred) (wire.InboxReplyResult,
	*wire.Error) {
	if item, ok, bad := s.findElsewhere(p.ID); ok || bad != nil {
		if bad != nil {
			return wire.InboxReplyResult{}, bad
		}
		return s.replyElsewhere(ask, item, p, answerer{peer: peer, name: terminalName(s.Processes, peer)})
	}
	if window, ok := s.findPrompt(p.ID); ok {
		return s.replyAtPrompt(ask, window, p, peer)
	}
	return s.reply(ask, p, answerer{peer: peer, name: terminalName(s.Processes, peer)})
}

// ReplySigned is Reply for a paired device. It answers exactly what it showed, and its
// signature is kept with the decision. Letting an agent do everything isn't possible
// from there.
func (s *Service) ReplySigned(p wire.InboxReplyParams, device string, signed ledger.Signature) (wire.InboxReplyResult,
	*wire.Error) {
	switch choice := event.Choice(p.Choice); {
	case p.SHA256 == "":
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeParams, "the answer doesn't say what was shown")
	case choice == event.ChooseAll || choice == event.ChooseBypass:
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeRefused,
			"an agent can be allowed everything only at a trusted terminal")
	}
	if item, ok, bad := s.findElsewhere(p.ID); bad == nil && ok && item.ID == p.ID {
		return s.replyElsewhere(nil, item, p, answerer{name: device, signed: &signed})
	}
	if item, err := s.queue.Find(p.ID); err == nil && item.ID != p.ID { // a beginning of an id isn't what was signed
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeParams, "there's no request %q", p.ID)
	}
	return s.reply(nil, p, answerer{name: device, signed: &signed})
}

// answerer identifies who answers.
type answerer struct {
	peer   proc.Cred
	name   string
	signed *ledger.Signature // of a paired device
}

func (s *Service) reply(ask services.Asking, p wire.InboxReplyParams, who answerer) (wire.InboxReplyResult,
	*wire.Error) {
	item, err := s.queue.Find(p.ID)
	if err != nil {
		var none *queue.NotFoundError
		if errors.As(err, &none) && len(none.Like) > 0 {
			return wire.InboxReplyResult{}, wire.Errorf(wire.CodeParams, "%v", err)
		}
		return wire.InboxReplyResult{ID: p.ID, Outcome: string(queue.Unknown), Why: err.Error()}, nil
	}
	p.ID = item.ID
	r, waits := s.queue.Request(item.ID)
	if !waits {
		item, _ = s.queue.Find(item.ID)
		return addPrompt(tooLate(item), s.Sessions.Waiting()), nil
	}
	said, permission, bad := s.readReply(&r, &p)
	if bad != nil {
		return wire.InboxReplyResult{}, bad
	}
	said.By, said.At, said.Signed = who.name, time.Now(), who.signed
	if bad := s.proofs.prove(ask, &item, &r, &said, p.PIN, who.peer); bad != nil {
		return wire.InboxReplyResult{}, bad
	}
	result, bad := s.deliver(item.ID, said, permission)
	if bad == nil && result.Outcome == string(queue.Delivered) {
		result.Degraded = degradationSentences(s.Catalogue, &r, said)
	}
	return result, bad
}

// readReply reads the answer to a request, or says what's wrong with it.
func (s *Service) readReply(r *queue.Request, p *wire.InboxReplyParams) (queue.UserAnswer, *policy.SavedPermission, *wire.Error) {
	if p.SHA256 != "" && p.SHA256 != r.Hash {
		return queue.UserAnswer{}, nil, wire.Errorf(wire.CodeConflict,
			"what you saw is not what request %s asks for; look at it again", p.ID)
	}
	said, permission, bad := readAnswer(r, p)
	if bad == nil {
		bad = rejectUncarriable(s.Catalogue, r, said)
	}
	return said, permission, bad
}

// decisionRecord is a decision as the journal gets it.
type decisionRecord struct {
	*ledger.Record
	Outcome string `json:"outcome"`
}

// deliver writes an answer down and hands it to those who wait.
func (s *Service) deliver(id string, said queue.UserAnswer, permission *policy.SavedPermission) (wire.InboxReplyResult, *wire.Error) {
	var record *ledger.Record
	answer, err := s.queue.Reply(id, said, func(r *queue.Request, said *queue.UserAnswer) error {
		if permission != nil {
			permission.By, permission.Created = said.By, said.At
			saved, err := s.permissions.Add(*permission)
			if err != nil {
				return err
			}
			*permission, said.Permission = saved, saved.ID
			s.Problems.Clear("permissions")
		}
		record = newRecord(id, r, said)
		err := s.decisions.Commit(record)
		if err == nil {
			s.Problems.Clear("decisions")
			return nil
		}
		s.Problems.Raise("decisions", "decisions cannot be written down: "+err.Error(),
			"repair "+s.Dirs.State+"; until then nothing can be approved in the inbox")
		if said.Verdict == event.Deny {
			return nil // a refusal is safe even if it is not recorded
		}
		if permission != nil {
			_, _, _ = s.permissions.Revoke(permission.ID)
		}
		return fmt.Errorf("nothing was approved, because it could not be written down: %w", err)
	})
	if err != nil {
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	result := wire.InboxReplyResult{ID: id, Outcome: string(answer.Outcome), Item: &answer.Item,
		Decided: answer.Item.Decision}
	if answer.Outcome != queue.Delivered {
		if permission != nil && permission.ID != "" {
			_, _, _ = s.permissions.Revoke(permission.ID) // nobody heard the yes it came with
		}
		late := tooLate(answer.Item)
		late.Outcome = string(answer.Outcome)
		result = late
	} else {
		runtime.Gosched() // the agent hears it before you hear that it did
		result.By = said.By
		if permission != nil {
			info := permissionInfo(*permission, 0)
			result.Permission = &info
		}
	}
	if record != nil {
		s.Recorder.RecordOwn(wire.OwnDecision, record.ID, record.At, decisionRecord{record, result.Outcome})
	}
	return result, nil
}
