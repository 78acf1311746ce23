package approvals

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// keysTime is how long answering by keys may take.
const keysTime = 15 * time.Second

// findPrompt returns the request at an agent's own prompt with an id, if keys can answer it.
func (s *Service) findPrompt(id string) (wire.InboxRequest, bool) {
	for _, item := range s.Sessions.Waiting() {
		if item.ID == id && item.Status == wire.InboxPrompt && len(item.Choices) > 0 {
			return item, true
		}
	}
	return wire.InboxRequest{}, false
}

// replyAtPrompt answers an agent at its own prompt, by the keys of its dialog. Where its
// screen does not show exactly that dialog, nothing is typed and you are taken there.
func (s *Service) replyAtPrompt(ask services.Asking, item wire.InboxRequest, p wire.InboxReplyParams,
	peer proc.Cred) (wire.InboxReplyResult, *wire.Error) {
	if p.SHA256 != "" && p.SHA256 != item.SHA256 {
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeConflict,
			"what you saw is not what request %s asks for; look at it again", item.ID)
	}
	choice := event.Choice(p.Choice)
	if !slices.Contains(item.Choices, p.Choice) {
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeParams, "%q isn't possible here: it is asked in the "+
			"agent's own prompt, where hookmux answers once or deny; `hookmux jump` takes you there", p.Choice)
	}
	r := queue.Request{
		Need: policy.Need{Kind: policy.Permission},
		Event: &event.Event{Agent: item.Agent, Session: item.Session, Cwd: item.Cwd,
			Tool: &event.Tool{Name: item.Tool, Kind: event.Shell}},
		Shown: item.Shown, Hash: item.SHA256,
	}
	said := queue.UserAnswer{Verdict: event.Allow, Answer: event.Answer{Choice: choice},
		By: terminalName(s.Processes, peer), At: time.Now()}
	if choice == event.ChooseDeny {
		said.Verdict = event.Deny
	}
	if bad := s.proofs.prove(ask, &item, &r, &said, p.PIN, peer); bad != nil {
		return wire.InboxReplyResult{}, bad
	}
	record := newRecord(item.ID, &r, &said)
	if err := s.decisions.Commit(record); err != nil && said.Verdict != event.Deny {
		return wire.InboxReplyResult{}, wire.Errorf(wire.CodeInternal,
			"nothing was approved, because it could not be written down: %v", err)
	}
	ctx, cancel := context.WithTimeout(s.Context, keysTime)
	defer cancel()
	result := wire.InboxReplyResult{ID: item.ID, Outcome: wire.ReplyDelivered, By: said.By, Item: &item,
		Decided: &wire.InboxDecision{Choice: p.Choice, By: said.By, At: said.At, Outcome: wire.ReplyDelivered}}
	refused, err := s.Sessions.AnswerAtPrompt(ctx, item.ID, choice)
	if err != nil {
		refused = err.Error()
	}
	if refused != "" {
		result.Outcome, result.Decided = wire.ReplyThere, nil
		result.Why = "not answered from here: " + refused + "; " + s.takeThere(&item, peer)
	}
	if p.Reason != "" || p.Note != "" {
		result.Degraded = []string{"its own dialog takes no words from here"}
	}
	s.Recorder.RecordOwn(wire.OwnDecision, record.ID, record.At, decisionRecord{record, result.Outcome})
	return result, nil
}

// takeThere brings the window in which an agent asks forward, and says where it is.
func (s *Service) takeThere(item *wire.InboxRequest, peer proc.Cred) string {
	why := "its session is gone"
	for _, one := range s.Sessions.List(false) {
		if one.Agent == item.Agent && one.ID == item.Session {
			if why = s.bringForward(&one, peer); why == "" {
				return "its window is in front now"
			}
		}
	}
	return cmp.Or(why, "answer it there") + " (`hookmux jump " + wire.ShortID(item.Session) + "`)"
}
