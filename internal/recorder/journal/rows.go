package journal

import (
	"encoding/json"
	"time"
)

// Row is one event as it is stored. Body is its payload: one JSON value,
// already redacted. What else the event says is decoded from it at reading.
type Row struct {
	ID   string
	Time time.Time // kept to the microsecond

	Agent, Kind, Native, Tool string
	Session, Cwd              string
	AgentVersion              string
	Caller                    string // who called the hook, when it was not Agent itself
	Host, Pane, TTY           string
	PID                       int
	Start                     uint64

	Nested, Truncated bool

	Body []byte
}

// Outcome is how an event was decided. Its JSON parts are redacted before they come here.
// Verdict, By and Degraded repeat parts of Decision so that they can be searched for; if
// they're empty, they are read from it.
type Outcome struct {
	ID       string // the event's
	Time     time.Time
	Took     time.Duration
	Verdict  string // allow, deny, ask, modify, none
	By       string
	Degraded bool
	Decision json.RawMessage
	Steps    json.RawMessage // what each handler said
	Answer   json.RawMessage // what the agent was told
}

// Item is written by [Journal.Write]: an event, an outcome, or both. The two
// may come in different batches and in any order.
type Item struct {
	Row     *Row
	Outcome *Outcome
}

// Stored is an event as it is read back.
type Stored struct {
	Cursor int64
	Row
	Outcome *Outcome // nil when nobody decided
}
