// Package queue holds the requests that wait for a person: ask, wait, reply,
// close.
//
// Contract: a request is registered before anybody is told of it; any number
// of callers may wait for one; it ends once, for one reason, and everybody who
// waits hears that. A reply is first claimed, then written down by the caller's
// commit, and only then handed to those who wait: an answer the agent hears is
// always on record, and of two replies one wins and the other is told so.
// Nothing here survives the process: a hub that comes back shows nothing stale.
package queue

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/wire"
)

// Status is where a request stands.
type Status string

// The statuses.
const (
	Pending   Status = "pending"
	Resolved  Status = "resolved"
	Expired   Status = "expired"
	Withdrawn Status = "withdrawn"
)

// Outcome is what became of a reply.
type Outcome string

// The outcomes of a reply, and what is known of a delivered one later.
const (
	Delivered Outcome = "delivered"
	Already   Outcome = "already"
	Gone      Outcome = "expired"
	Unknown   Outcome = "unknown"

	Confirmed Outcome = "confirmed" // the agent did what was said
	Overtaken Outcome = "overtaken" // it did something else
)

// Request is what is put to a person. Nothing of it changes once it is open but
// the end of its time, which may come sooner.
type Request struct {
	Need    policy.Need
	Event   *event.Event // with the input as hooks changed it
	Project string
	Pushed  bool   // by a program, not by an agent's hook
	Number  string // the agent's own number of the request
	Key     string // who asks again under the same key joins the request; "" never does
	Rule    *policy.Rule
	NoRule  string // why there is no rule

	Suggestions []json.RawMessage

	Shown  string // exactly what the person sees
	Hash   string // SHA-256 of Shown
	Note   string // what the person should know about answering
	Opened time.Time
	Until  time.Time
}

// Said is a person's answer with everything that belongs to it.
type Said struct {
	Verdict event.Verdict
	Answer  event.Answer
	Reason  string
	By      string
	At      time.Time
	Grant   string
}

// Result is what somebody who waited hears.
type Result struct {
	ID   string
	End  End
	Said Said // when it was answered
}

// item is the request as programs see it. The caller holds the table.
func (e *entry) item() wire.FeedItem {
	r, ev := &e.request, e.request.Event
	out := wire.FeedItem{
		ID: e.id, EventID: ev.ID, Status: string(e.end.Status()), End: e.end.String(), Kind: string(r.Need.Kind),
		Agent: ev.Agent, Session: ev.Session, Cwd: ev.Cwd, Project: r.Project, Event: ev.Native, Pane: ev.Where.Pane,
		Choices: r.Words(), Questions: ev.Questions, Plan: ev.Plan, Suggestions: r.Suggestions, NoRule: r.NoRule,
		AskedBy: r.Need.Asked, Why: r.Need.Why, Note: r.Note, Shown: r.Shown, SHA256: r.Hash,
		CreatedAt: r.Opened, Deadline: r.Until,
	}
	if ev.Subagent != nil {
		out.AgentID = ev.Subagent.ID
	}
	if t := ev.Tool; t != nil {
		out.Tool, out.ToolKind, out.Input = t.Name, string(t.Kind), event.RawJSON(t.CurrentInput())
	}
	if r.Rule != nil {
		out.Rule = r.Rule.Text()
	}
	if e.end != Waiting {
		at := e.ended
		out.EndedAt = &at
	}
	if e.end == Answered {
		out.Decision = e.said.decision(e.outcome)
	}
	return out
}

func (s *Said) decision(outcome Outcome) *wire.FeedDecision {
	return &wire.FeedDecision{
		Choice: string(s.Answer.Choice), Plan: string(s.Answer.Plan), Answers: s.Answer.Answers, Reason: s.Reason,
		Note: s.Answer.Note, Feedback: s.Answer.Feedback, Grant: s.Grant, By: s.By, At: s.At, Outcome: string(outcome),
	}
}

// Words are the choices as a person types them.
func (r *Request) Words() []string {
	words := []string{}
	for _, c := range r.Need.Choices {
		words = append(words, string(c))
	}
	for _, m := range r.Need.Plans {
		words = append(words, string(m))
	}
	return words
}

// alphabet has no letters that look or sound like others.
const alphabet = "abcdefghjkmnpqrstuvwxyz23456789"

// letters begin an id, so that it is never taken for a number or a flag.
const letters = "abcdefghjkmnpqrstuvwxyz"

const idLength = 4

// newID makes an id from random bytes.
func newID(random []byte) string {
	b := make([]byte, idLength)
	for i := range b {
		set := alphabet
		if i == 0 {
			set = letters
		}
		b[i] = set[int(random[i])%len(set)]
	}
	return string(b)
}

// pick finds the one id that a person means by its beginning.
func pick(ids []string, beginning string) (string, []string) {
	beginning = strings.ToLower(beginning)
	var found []string
	for _, id := range ids {
		if id == beginning {
			return id, nil
		}
		if strings.HasPrefix(id, beginning) {
			found = append(found, id)
		}
	}
	slices.Sort(found)
	if len(found) == 1 {
		return found[0], nil
	}
	return "", found
}
