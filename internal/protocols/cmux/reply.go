package cmux

import (
	"encoding/json"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

type replyParams struct {
	RequestID  string            `json:"request_id"`
	Mode       string            `json:"mode"`
	Feedback   string            `json:"feedback"`
	Selections []string          `json:"selections"`
	Answers    map[string]string `json:"answers"` // keyed by question: an addition
	Reason     string            `json:"reason"`
	PIN        string            `json:"pin"`
}

// replyWords returns what a reply came to: cmux's word, and the honest one.
func replyWords(r wire.InboxReplyResult, err *wire.Error) (any, *wire.Error) {
	if err != nil {
		return nil, err
	}
	if r.Outcome == string(queue.Unknown) {
		return nil, wire.Errorf(wire.CodeGone, "%s", r.Why)
	}
	out := map[string]any{"delivered": r.Outcome == string(queue.Delivered), "outcome": r.Outcome}
	if r.By != "" {
		out["by"] = r.By
	}
	if r.Why != "" {
		out["why"] = r.Why
	}
	return out, nil
}

func (s *Server) readReply(params json.RawMessage) (replyParams, *wire.Error) {
	var p replyParams
	if err := services.ReadParams(params, &p); err != nil {
		return p, err
	}
	if p.RequestID == "" {
		return p, wire.Errorf(wire.CodeParams, "request_id is missing")
	}
	if id, ok := s.Approvals.RequestByKey(p.RequestID); ok {
		p.RequestID = id
	}
	return p, nil
}

func (s *Server) replyPermission(ask services.Asking, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	p, bad := s.readReply(params)
	if bad != nil {
		return nil, bad
	}
	reply := wire.InboxReplyParams{ID: p.RequestID, Choice: p.Mode, Reason: p.Reason, PIN: p.PIN}
	if p.Mode == string(event.ChooseAlways) {
		// cmux's always is the agent's own rule; if it offers none, hookmux's, for the
		// session, as the item shows it.
		if r, ok := s.Approvals.Request(p.RequestID); ok {
			if len(r.Suggestions) > 0 {
				reply.Suggestion = 1
			} else if r.Rule != nil {
				reply.Rule, reply.Scope = r.Rule.Text(), string(policy.InSession)
			}
		}
	}
	return replyWords(s.Approvals.Reply(ask, reply, peer))
}

func (s *Server) replyQuestion(ask services.Asking, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	p, bad := s.readReply(params)
	if bad != nil {
		return nil, bad
	}
	reply := wire.InboxReplyParams{ID: p.RequestID, Choice: string(event.ChooseAnswer), PIN: p.PIN}
	r, ok := s.Approvals.Request(p.RequestID)
	if ok {
		answers, err := placeSelections(r.Event.Questions, p.Selections, p.Answers)
		if err != nil {
			return nil, err
		}
		reply.Answers = answers
	}
	return replyWords(s.Approvals.Reply(ask, reply, peer))
}

// placeSelections assigns cmux's selections to the questions. They come without a key, so
// their number must fit: a missing one would shift the rest to questions they don't answer.
func placeSelections(questions []event.Inquiry, selections []string,
	keyed map[string]string) ([]event.QuestionAnswer, *wire.Error) {
	var out []event.QuestionAnswer
	if len(keyed) > 0 {
		for i := range questions {
			q := &questions[i]
			for _, key := range []string{q.ID, q.Text} {
				if words, ok := keyed[key]; ok && key != "" {
					out = append(out, event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: splitOptions(q, words)})
					break
				}
			}
		}
		return out, nil
	}
	if len(questions) == 1 {
		q := &questions[0]
		one := event.QuestionAnswer{ID: q.ID, Question: q.Text}
		for _, s := range selections {
			one.Options = append(one.Options, splitOptions(q, s)...)
		}
		return []event.QuestionAnswer{one}, nil
	}
	if len(selections) != len(questions) {
		return nil, wire.Errorf(wire.CodeParams,
			"%d selections do not fit %d questions; send answers, keyed by question", len(selections), len(questions))
	}
	for i, s := range selections {
		q := &questions[i]
		out = append(out, event.QuestionAnswer{ID: q.ID, Question: q.Text, Options: splitOptions(q, s)})
	}
	return out, nil
}

// splitOptions splits several labels, which are joined by commas if several may be chosen.
func splitOptions(q *event.Inquiry, words string) []string {
	if _, ok := approvals.FindOption(q, words); ok || !q.Multi {
		return []string{words}
	}
	return strings.Split(words, ", ")
}

func (s *Server) replyPlan(ask services.Asking, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	p, bad := s.readReply(params)
	if bad != nil {
		return nil, bad
	}
	mode, ok := map[string]event.PlanMode{
		"autoAccept": event.PlanAuto, "manual": event.PlanManual, "deny": event.PlanReject,
		"ultraplan": event.PlanReject,
	}[p.Mode]
	switch {
	case p.Mode == "bypassPermissions":
		return nil, wire.Errorf(wire.CodeParams, "a plan is not accepted with %s, after which the agent would ask "+
			"nobody any more: that is switched on in the agent itself; autoAccept and manual can be said here", p.Mode)
	case !ok:
		return nil, wire.Errorf(wire.CodeParams, "mode %q is none of autoAccept, manual, ultraplan, deny", p.Mode)
	}
	if p.Feedback != "" {
		mode = event.PlanReject // a text about a plan asks for another one
	}
	if p.Mode == "ultraplan" && p.Feedback == "" {
		p.Feedback = "make the plan more thorough first"
	}
	return replyWords(s.Approvals.Reply(ask, wire.InboxReplyParams{ID: p.RequestID, Choice: string(event.ChoosePlan),
		Plan: string(mode), Feedback: p.Feedback, PIN: p.PIN}, peer))
}
