package hub

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// serveMux0 takes the lines of one of mux0's clients, which expect no answer.
// Most send one and leave; a line that cannot be read is left out, as mux0's
// own app does, and what follows counts.
func (h *Hub) serveMux0(conn *net.UnixConn, reader *bufio.Reader, line []byte, peer proc.Cred, entry *connection) {
	for {
		if len(bytes.TrimSpace(line)) > 0 {
			h.takeMux0(line, peer)
		}
		entry.heard()
		var err error
		if line, err = h.nextLine(conn, reader); err != nil && len(line) == 0 {
			return
		}
	}
}

// takeMux0 takes one line in.
func (h *Hub) takeMux0(line []byte, peer proc.Cred) {
	m, err := wire.ParseMux0(line)
	if err != nil {
		h.deps.Problems.Raise("mux0", "a mux0 client sent a line that was not taken: "+err.Error(), "")
		return
	}
	if _, known := h.deps.Catalogue.Agent(m.Agent); !known { // older scripts report every shell command as an agent
		h.deps.Problems.Raise("mux0", "a mux0 client spoke for "+termsafe.Line(m.Agent, 40)+", which is no agent hookmux knows", "")
		return
	}
	at := time.Now()
	in := arrival{id: frame.NewID(), agent: m.Agent, event: mux0Event + m.Event, payload: append([]byte(nil), line...), at: at, peer: peer}
	h.walk(h.ctx, &in)
	h.finish(&in)
}

// mux0Event begins the native name of what came as a mux0 line: it is a
// report about a terminal, not one of the agent's own events.
const mux0Event = "mux0."

// terminalReport reads a mux0 line out of an event that came as one; nil for
// other events.
func terminalReport(ev *event.Event) (*state.TerminalReport, error) {
	if !strings.HasPrefix(ev.Native, mux0Event) {
		return nil, nil
	}
	m, err := wire.ParseMux0(ev.Raw)
	if err != nil {
		return nil, err
	}
	at := m.Time()
	if at.IsZero() {
		at = ev.Time
	}
	return &state.TerminalReport{
		Terminal: m.TerminalID, Agent: m.Agent, State: m.Event, At: at, Title: m.SessionTitle, Source: "mux0",
		Activity: m.ToolDetail, Summary: m.Summary, ExitCode: m.ExitCode,
	}, nil
}

// serveCmux answers cmux's envelopes: the hub's own methods under their names,
// one request after the other.
func (h *Hub) serveCmux(conn *net.UnixConn, reader *bufio.Reader, line []byte, peer proc.Cred, entry *connection) {
	entry.heard()
	for {
		var request wire.CmuxRequest
		reply := wire.CmuxReply{}
		if err := json.Unmarshal(line, &request); err != nil {
			reply.Error = &wire.CmuxError{Code: "invalid_request", Message: "this line is no JSON object: " + err.Error()}
		} else {
			reply.ID = request.ID
			entry.short.Store(true)
			if request.Method == "system.ping" || request.Method == "ping" {
				reply.OK, reply.Result = true, json.RawMessage(`{"pong":true}`)
			} else if result, err := h.callOn(conn, reader, entry, request.Method, oneWay(&request), peer); err != nil {
				reply.Error = &wire.CmuxError{Code: wire.CmuxCode(err.Code), Message: err.Message}
			} else {
				reply.OK, reply.Result = true, result
			}
		}
		var err error
		if request.ID != nil || request.Method == "" { // cmux answers nothing that has no id
			var out []byte
			out, err = wire.Line(nil, reply)
			_ = conn.SetWriteDeadline(time.Now().Add(streamWrite)) // many answers fill a socket that nobody reads
			if err != nil || !h.write(conn, out) {
				return
			}
		}
		entry.short.Store(false)
		if line, err = h.nextLine(conn, reader); err != nil {
			return
		}
	}
}

// oneWay are the parameters of a request. One without an id is told and not
// asked: it must not wait for a person, whose answer nobody would hear.
func oneWay(request *wire.CmuxRequest) json.RawMessage {
	if request.ID != nil || request.Method != wire.MethodFeedPush {
		return request.Params
	}
	return event.MergeObjects(request.Params, []byte(`{"wait_timeout_seconds":0}`))
}
