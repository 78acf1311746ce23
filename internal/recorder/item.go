package recorder

import (
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/wire"
)

// item is a record on its way to the journal, with what the pipeline read out
// of it.
type item struct {
	record  spool.Record
	kind    event.Kind
	session string
	tool    string
	segment uint64
	known   bool // kind, session and tool are filled in already
}

func (i *item) sizeInMemory() int64 { return int64(len(i.record.Payload)) + 256 }

func eventItem(id string, at time.Time, ev *event.Event, payload []byte) item {
	i := item{kind: ev.Kind, session: ev.Session, record: spool.Record{
		Type: spool.TypeEvent, ID: id, Time: at, Agent: ev.Agent, Event: ev.Native, Cwd: ev.Cwd,
		AgentVersion: ev.AgentVersion, PID: ev.Where.PID, Start: ev.Where.Start, TTY: ev.Where.TTY,
		Pane: ev.Where.Pane, Nested: ev.Nested, Truncated: ev.Truncated, Payload: payload,
	}}
	if ev.Tool != nil {
		i.tool = ev.Tool.Name
	}
	return i
}

func outcomeItem(o *wire.Outcome) (item, error) {
	body, err := json.Marshal(o)
	return item{record: spool.Record{
		Type: spool.TypeDecision, ID: o.ID, Time: o.Time, Agent: o.Agent, Event: o.Native, Payload: body,
	}}, err
}

// readOutcome reads back what outcomeItem wrote.
func readOutcome(payload []byte) (wire.Outcome, error) {
	var o wire.Outcome
	err := json.Unmarshal(payload, &o)
	return o, err
}
