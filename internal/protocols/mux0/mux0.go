// Package mux0 takes the lines of mux0's clients: reports about a terminal, to
// which no answer is expected.
package mux0

import (
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/wire"
)

// eventPrefix begins the native name of what came as a mux0 line: it is a
// report about a terminal, not one of the agent's own events.
const eventPrefix = "mux0."

// Event is a line as an event of an agent.
type Event struct {
	Agent   string
	Name    string // the native name
	Payload []byte
}

// ReadLine reads one line. It is false for a line that is left out, as mux0's
// own app does; the problem list says why.
func ReadLine(line []byte, agents *agent.Catalogue, list *services.Problems) (Event, bool) {
	m, err := wire.ParseMux0(line)
	if err != nil {
		list.Raise("mux0", "a mux0 client sent a line that was not taken: "+err.Error(), "")
		return Event{}, false
	}
	if _, known := agents.Agent(m.Agent); !known { // older scripts report every shell command as an agent
		name := termsafe.Line(m.Agent, 40)
		list.Raise("mux0", "a mux0 client spoke for "+name+", which is not an agent hookmux knows", "")
		return Event{}, false
	}
	return Event{Agent: m.Agent, Name: eventPrefix + m.Event, Payload: append([]byte(nil), line...)}, true
}

// aheadAtMost is how far in the future a line's time may be when it arrives: both clocks are
// this machine's. A line from further ahead would make all that follow look old.
const aheadAtMost = 5 * time.Second

// ReportReader reads a mux0 line out of an event that came as one; it returns nil for other
// events.
func ReportReader(agents *agent.Catalogue) func(*event.Event) (*state.TerminalReport, error) {
	return func(ev *event.Event) (*state.TerminalReport, error) { return terminalReport(ev, agents) }
}

func terminalReport(ev *event.Event, agents *agent.Catalogue) (*state.TerminalReport, error) {
	if !strings.HasPrefix(ev.Native, eventPrefix) {
		return nil, nil
	}
	m, err := wire.ParseMux0(ev.Raw)
	if err != nil {
		return nil, err
	}
	at := m.Time()
	if at.IsZero() || !ev.Time.IsZero() && at.After(ev.Time.Add(aheadAtMost)) {
		at = ev.Time
	}
	session := ""
	if a, ok := agents.Agent(m.Agent); ok {
		session = a.Resume.SessionIn(m.ResumeCommand)
	}
	return &state.TerminalReport{
		Terminal: m.TerminalID, Agent: m.Agent, State: m.Event, At: at, Title: m.SessionTitle, Source: "mux0",
		Activity: m.ToolDetail, Summary: m.Summary, ExitCode: m.ExitCode,
		Session: session,
	}, nil
}
