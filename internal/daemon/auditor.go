package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/audit"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/recorder/journal"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// auditor puts what is stored into the audit trail: decisions, and what hookmux itself recorded
// about users and agents.
type auditor struct{ trail *audit.Trail }

func newAuditor(deps services.Deps) auditor {
	problem := func(key string) func(what, fix string) {
		return func(what, fix string) {
			switch {
			case what != "":
				deps.Problems.Raise(key, what, fix)
			case deps.Problems.Any():
				deps.Problems.Clear(key)
			}
		}
	}
	return auditor{audit.New(deps.Dirs, time.Now, problem("audit"), problem("audit-changed"))}
}

// Stored adds a batch.
func (a auditor) Stored(batch []recorder.Observed) {
	var records []audit.Record
	for _, one := range batch {
		switch {
		case one.Outcome != nil:
			records = append(records, decisionRecord(one.Event, one.Outcome))
		case one.Event.Agent == wire.OwnAgent && one.Event.Native != wire.OwnHook:
			records = append(records, noteRecord(one.Event))
		}
	}
	a.trail.Append(records)
}

// Missed marks a gap.
func (a auditor) Missed(decisions int64, since time.Time) { a.trail.NoteMissed(decisions, since) }

// Retain removes days that are older than anything the journal keeps.
func (a auditor) Retain(keep recorder.Retention) {
	longest := keep.Age
	for _, age := range keep.AgentAge {
		if age <= 0 {
			return
		}
		longest = max(longest, age)
	}
	if keep.Age > 0 {
		a.trail.Retain(time.Now().Add(-longest))
	}
}

func decisionRecord(row *journal.Row, o *wire.Outcome) audit.Record {
	var d event.Decision
	_ = d.UnmarshalJSON(o.Decision) // what can't be read is in the record as it is
	r := audit.Record{
		Type: audit.TypeDecision, Time: o.Time.UTC(), Verdict: d.Verdict.Word(), By: d.By, Reason: d.Reason,
		Neutral: o.Neutral, TookUS: o.TookUS, Decision: o.Decision, Event: &audit.Event{ID: o.ID, Agent: o.Agent, Native: o.Native, Tool: o.Tool},
	}
	if o.Inbox != nil {
		r.Asked = o.Inbox.End
	}
	if row != nil {
		r.Event = eventOf(row)
	}
	return r
}

// maxNote is how long a note may be to be in the trail itself. Of a longer one, as every
// record, it has the hash.
const maxNote = 4 << 10

func noteRecord(row *journal.Row) audit.Record {
	r := audit.Record{Type: audit.TypeNote, Time: row.Time.UTC(), Event: eventOf(row)}
	if len(row.Body) <= maxNote && json.Valid(row.Body) {
		r.Note = json.RawMessage(row.Body)
	}
	return r
}

func eventOf(row *journal.Row) *audit.Event {
	hash := sha256.Sum256(row.Body)
	return &audit.Event{
		ID: row.ID, Time: row.Time.UTC().Truncate(time.Microsecond), Agent: row.Agent, Kind: row.Kind, Native: row.Native, Tool: row.Tool,
		Session: row.Session, Cwd: row.Cwd, SHA256: hex.EncodeToString(hash[:]),
	}
}
