package queue

import (
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire"
)

// asItem returns the request as programs see it, and the one place where an entry becomes
// that: streams, lists and notes need a copy that no longer changes, and a type of the
// queue's own for it would repeat every member. The caller holds the table.
func (e *entry) asItem() wire.InboxRequest {
	r, ev := &e.request, e.request.Event
	out := wire.InboxRequest{
		ID: e.id, EventID: ev.ID, Status: string(e.end.Status()), End: e.end.Code(), Kind: string(r.Need.Kind),
		Agent: ev.Agent, Session: ev.Session, Cwd: ev.Cwd, Project: r.Project, Event: ev.Native, Pane: ev.Where.Pane,
		Choices: r.Words(), Questions: ev.Questions, Plan: ev.Plan, Suggestions: r.Suggestions, NoRule: r.NoRule,
		Effect: r.Effect, Risk: r.Risk, Line: r.Line, AskedBy: r.Need.Asked, Why: r.Need.Why, Note: r.Note, Shown: r.Shown, SHA256: r.Hash,
		CreatedAt: r.Opened, Deadline: r.Until,
	}
	if ev.Subagent != nil {
		out.AgentID = ev.Subagent.ID
	}
	if t := ev.Tool; t != nil {
		out.Tool, out.ToolKind, out.Input, out.Call = t.Name, string(t.Kind), event.RawJSON(t.CurrentInput()), t.CallID
	}
	if r.Rule != nil {
		out.Rule = r.Rule.Text()
	}
	if e.end != Waiting {
		at := e.ended
		out.EndedAt = &at
	}
	if e.end == Answered {
		out.Decision = e.said.asDecision(e.outcome)
	}
	return out
}

func (s *UserAnswer) asDecision(outcome Outcome) *wire.InboxDecision {
	return &wire.InboxDecision{
		Choice: string(s.Answer.Choice), Plan: string(s.Answer.Plan), Answers: s.Answer.Answers, Reason: s.Reason,
		Note: s.Answer.Note, Feedback: s.Answer.Feedback, Permission: s.Permission, By: s.By, At: s.At, Outcome: string(outcome),
	}
}

func (t *Table) waitingItems() []wire.InboxRequest {
	list := make([]wire.InboxRequest, 0, len(t.pending))
	for _, e := range t.pending {
		list = append(list, e.asItem())
	}
	sortItems(list)
	return list
}

func sortItems(list []wire.InboxRequest) {
	slices.SortFunc(list, func(a, b wire.InboxRequest) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
}
