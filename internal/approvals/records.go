package approvals

import (
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// newRecord returns a decision as it is kept, without secrets.
func newRecord(id string, r *queue.Request, said *queue.UserAnswer) *ledger.Record {
	ev := r.Event
	answer := said.Answer
	answer.Note, answer.Feedback = redact.Text(answer.Note), redact.Text(answer.Feedback)
	answer.Answers = slices.Clone(answer.Answers)
	for i := range answer.Answers {
		answer.Answers[i].Text = redact.Text(answer.Answers[i].Text)
	}
	record := &ledger.Record{
		ID: frame.NewID(), At: said.At, Request: id, EventID: ev.ID, Agent: ev.Agent, Session: ev.Session, Cwd: ev.Cwd,
		Kind: string(r.Need.Kind), Verdict: said.Verdict.Word(), Answer: answer, Reason: redact.Text(said.Reason),
		By: said.By, Permission: said.Permission, SHA256: r.Hash, Shown: redact.Text(r.Shown), Signed: said.Signed,
	}
	if ev.Tool != nil {
		record.Tool = ev.Tool.Name
	}
	return record
}

// RecallDecisions journals decisions that a power cut may have taken from the journal:
// it keeps each id once.
func (s *Service) RecallDecisions() {
	last, err := s.decisions.Last(recallLast)
	if err != nil {
		s.Log.Warn("the record of decisions cannot be read", "error", err)
		return
	}
	keep := s.Settings.KeepOwnEvents()
	for _, r := range last {
		if time.Since(r.At) < keep {
			s.Recorder.RecordOwn(wire.OwnDecision, r.ID, r.At, r)
		}
	}
}

const recallLast = 100

// permissionInfo returns a permission as programs see it.
func permissionInfo(g policy.SavedPermission, used uint64) wire.PermissionInfo {
	info := wire.PermissionInfo{
		ID: g.ID, Agent: g.Agent, Scope: string(g.Scope), Session: g.Session, Project: g.Project, Rule: g.Rule.Text(),
		Reach: g.Reach(), Asked: g.Asked, Created: g.Created, By: g.By, Used: used,
	}
	if !g.Expires.IsZero() {
		at := g.Expires
		info.Expires = &at
	}
	return info
}
