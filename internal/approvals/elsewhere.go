package approvals

import (
	"context"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Elsewhere lists what waits on other machines. Whether you may answer is found out here, as
// for a request of this machine; then the answer is handed over.
type Elsewhere interface {
	// Waiting are the requests that wait there, redacted. Their ids have a host in front.
	Waiting() []wire.InboxRequest
	// Find gives the one you mean; several are those it could be.
	Find(name string) (item wire.InboxRequest, several []string)
	Reply(ctx context.Context, p wire.InboxReplyParams, by string) (wire.InboxReplyResult, *wire.Error)
	Skip(ctx context.Context, id, by string) (wire.InboxReplyResult, *wire.Error)
}

// elsewhereTime is how long another machine may take for an answer.
const elsewhereTime = 20 * time.Second

// waitingElsewhere returns the requests of other machines; with windows, also those at
// agents' own prompts there.
func (s *Service) waitingElsewhere(windows bool) []wire.InboxRequest {
	if s.Elsewhere == nil {
		return nil
	}
	var list []wire.InboxRequest
	for _, item := range s.Elsewhere.Waiting() {
		if windows || item.Status != wire.InboxPrompt {
			list = append(list, item)
		}
	}
	return list
}

// findElsewhere finds a request of another machine by what you call it: where it has a
// host's name in front, or nothing here is called that.
func (s *Service) findElsewhere(name string) (item wire.InboxRequest, found bool, bad *wire.Error) {
	if s.Elsewhere == nil {
		return wire.InboxRequest{}, false, nil
	}
	if !strings.Contains(name, "/") {
		if _, err := s.queue.Find(name); err == nil {
			return wire.InboxRequest{}, false, nil
		}
	}
	item, several := s.Elsewhere.Find(name)
	if len(several) > 0 {
		return item, false, wire.Errorf(wire.CodeParams, "%q could be %s; type more of the ID", name,
			strings.Join(several, ", "))
	}
	return item, item.ID != "", nil
}

// WaitingRedacted returns what waits for you on this machine, without secrets.
func (s *Service) WaitingRedacted() []wire.InboxRequest {
	list := joinWaiting(s.Sessions.Waiting(), s.queue.Items(false))
	for i := range list {
		list[i] = withoutSecrets(list[i])
	}
	return list
}

// FollowChanges calls each after every change of what waits, until ctx ends.
func (s *Service) FollowChanges(ctx context.Context, each func()) {
	_, next := s.queue.Watch()
	for {
		changes, after, wake, ok := s.queue.Next(next)
		if next = after; !ok || len(changes) > 0 {
			each()
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
	}
}

// NoteElsewhere announces a request of another machine to everything that follows the inbox.
func (s *Service) NoteElsewhere(note string, item wire.InboxRequest) { s.queue.NotePrompt(note, item) }

// replyElsewhere sends an answer to the machine that asked. Whatever you must prove besides
// your terminal, a PIN or a password, you're asked for here first; that machine records the
// decision before its agent gets it.
func (s *Service) replyElsewhere(ask services.Asking, item wire.InboxRequest, p wire.InboxReplyParams,
	who answerer) (wire.InboxReplyResult, *wire.Error) {
	if p.SHA256 != "" && p.SHA256 != item.SHA256 {
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeConflict,
			"what you saw is not what request %s asks for; look at it again", item.ID)
	}
	if item.Status == wire.InboxPrompt {
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeParams,
			"it is asked at the agent's own prompt on %s; `hookmux jump` takes you there", item.Host)
	}
	p.ID, p.SHA256 = item.ID, item.SHA256
	r := queue.Request{
		Need:  policy.Need{Kind: policy.Kind(item.Kind)},
		Event: &event.Event{Agent: item.Agent, Session: item.Session, Cwd: item.Cwd},
		Shown: item.Shown, Hash: item.SHA256,
	}
	if item.Tool != "" {
		r.Event.Tool = &event.Tool{Name: item.Tool, Kind: event.ToolKind(item.ToolKind)}
	}
	said := queue.UserAnswer{Verdict: event.Allow, Reason: p.Reason, By: who.name, At: time.Now(), Signed: who.signed,
		Answer: event.Answer{Choice: event.Choice(p.Choice), Plan: event.PlanMode(p.Plan), Answers: p.Answers, Note: p.Note,
			Feedback: p.Feedback}}
	if said.Answer.Choice == event.ChooseDeny || said.Answer.Plan == event.PlanReject {
		said.Verdict = event.Deny
	}
	if bad := s.proofs.prove(ask, &item, &r, &said, p.PIN, who.peer); bad != nil {
		return wire.InboxReplyResult{}, bad
	}
	if s.proofs.pin.Set() {
		p.PIN = "" // it is this machine's, and no other one's business
	}
	ctx, done := s.askElsewhere(ask)
	defer done()
	result, bad := s.Elsewhere.Reply(ctx, p, who.name)
	if bad == nil && result.Outcome == wire.ReplyDelivered {
		record := newRecord(item.ID, &r, &said)
		if err := s.decisions.Commit(record); err != nil {
			s.Log.Warn("an answer that another machine took isn't written down here", "request", item.ID, "error", err)
		}
		s.Recorder.RecordOwn(wire.OwnDecision, record.ID, record.At, decisionRecord{record, result.Outcome})
	}
	return result, bad
}

// askElsewhere returns the time that another machine has, until the caller hangs up.
func (s *Service) askElsewhere(ask services.Asking) (context.Context, func()) {
	ctx, ended := s.Context, func() {}
	if ask != nil {
		ctx, ended = ask()
	}
	ctx, cancel := context.WithTimeout(ctx, elsewhereTime)
	return ctx, func() { cancel(); ended() }
}
