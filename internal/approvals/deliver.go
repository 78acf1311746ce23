package approvals

import (
	"fmt"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// deliver writes an answer down and hands it to those who wait.
func (s *Service) deliver(id string, said queue.Said, grant *policy.Grant) (wire.FeedReplyResult, *wire.Error) {
	var record *ledger.Record
	answer, err := s.queue.Reply(id, said, func(r *queue.Request, said *queue.Said) error {
		if grant != nil {
			grant.By, grant.Created = said.By, said.At
			saved, err := s.grants.Add(*grant)
			if err != nil {
				return err
			}
			*grant, said.Grant = saved, saved.ID
			s.Problems.Mend("grants")
		}
		record = newRecord(id, r, said)
		err := s.decisions.Commit(record)
		if err == nil {
			s.Problems.Mend("decisions")
			return nil
		}
		s.Problems.Raise("decisions", "decisions cannot be written down: "+err.Error(),
			"repair "+s.Dirs.State+"; until then nothing can be approved in the feed")
		if said.Verdict == event.Deny {
			return nil // a no needs no proof to be safe
		}
		if grant != nil {
			_, _, _ = s.grants.Revoke(grant.ID)
		}
		return fmt.Errorf("nothing was approved, because it could not be written down: %w", err)
	})
	if err != nil {
		return wire.FeedReplyResult{}, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	result := wire.FeedReplyResult{ID: id, Outcome: string(answer.Outcome), Item: &answer.Item,
		Decided: answer.Item.Decision}
	if answer.Outcome != queue.Delivered {
		if grant != nil && grant.ID != "" {
			_, _, _ = s.grants.Revoke(grant.ID) // nobody heard the yes it came with
		}
		late := tooLate(answer.Item)
		late.Outcome = string(answer.Outcome)
		result = late
	} else {
		result.By = said.By
		if grant != nil {
			info := grantInfo(*grant, 0)
			result.Grant = &info
		}
	}
	if record != nil {
		s.Recorder.RecordOwn("decision", record.ID, record.At, struct {
			*ledger.Record
			Outcome string `json:"outcome"`
		}{record, result.Outcome})
	}
	return result, nil
}

// tooLate is what a reply hears when the request had ended.
func tooLate(item wire.FeedItem) wire.FeedReplyResult {
	result := wire.FeedReplyResult{ID: item.ID, Outcome: string(queue.Gone), Why: item.End, Item: &item,
		Decided: item.Decision}
	if item.Status == string(queue.Resolved) {
		result.Outcome = string(queue.Already)
	}
	if item.Decision != nil {
		result.By = item.Decision.By
	}
	return result
}

// newRecord is a decision as it is kept, without secrets.
func newRecord(id string, r *queue.Request, said *queue.Said) *ledger.Record {
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
		By: said.By, Grant: said.Grant, SHA256: r.Hash, Shown: redact.Text(r.Shown),
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
			s.Recorder.RecordOwn("decision", r.ID, r.At, r)
		}
	}
}

const recallLast = 100

// grantInfo is a grant as programs see it.
func grantInfo(g policy.Grant, used uint64) wire.GrantInfo {
	info := wire.GrantInfo{
		ID: g.ID, Agent: g.Agent, Scope: string(g.Scope), Session: g.Session, Project: g.Project, Rule: g.Rule.Text(),
		Reach: g.Reach(), Asked: g.Asked, Created: g.Created, By: g.By, Used: used,
	}
	if !g.Expires.IsZero() {
		at := g.Expires
		info.Expires = &at
	}
	return info
}
