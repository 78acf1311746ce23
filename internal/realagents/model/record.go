package model

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Roles and kinds of a Message, the same for all APIs.
const (
	RoleSystem    = "system"
	RoleDeveloper = "developer"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"

	KindText       = "text"
	KindReminder   = "reminder" // text the agent, not the user, put into a user message
	KindToolCall   = "tool_call"
	KindToolResult = "tool_result"
)

// Message is one thing said in a conversation as the model received it.
type Message struct {
	Role, Kind string
	Text       string // for a tool call: its input as JSON
	ToolCallID string
	ToolName   string // of a call; of a result where the API says it
	IsError    bool   // a tool result marked as failed (Anthropic only)
	Request    int    // index into Requests of the request that brought it first
	// Standing says that it is part of the instructions before the
	// conversation. What an agent sends under the same role later is new.
	Standing bool
}

// Request kinds.
const (
	ReqScripted = "played"  // answered by a step of the scenario
	ReqOver     = "over"    // marked, but the script has no such step any more
	ReqPlain    = "plain"   // a conversation with tools but without a marker
	ReqSide     = "side"    // title, summary, probe: not part of the script
	ReqStartup  = "startup" // model lists, token counts
	ReqUnknown  = "unknown" // nothing we serve; answered 404
)

// Request is one HTTP request of an agent and how it was answered.
type Request struct {
	At           time.Time
	API          string // messages, responses, chat, gemini, augment, or "" for the rest
	Method, Path string
	Kind         string
	Script       string // name of the script and
	Step         int    // index of the step, for ReqScripted and ReqOver
	Status       int
	Stream       bool
	Model        string
	Tools        []string // offered by the agent
	NotOffered   []string // called by the step although not offered: the call will fail
	Messages     []Message
	Body         json.RawMessage // as sent; nil if it wasn't JSON
	Header       http.Header
}

// run holds the server's knowledge of one run. Guarded by Server.mu.
type run struct {
	scenario Scenario
	set      bool
	requests []Request
	told     []Message
	counts   map[string]int // how often each message is already in told
	failed   map[string]int // served failures per script and step
	changed  chan struct{}  // closed and replaced at every new request
}

func newRun() *run {
	return &run{counts: map[string]int{}, failed: map[string]int{}, changed: make(chan struct{})}
}

// addRequest records a request. Agents send the whole history every time, so a message is new
// only if this request holds it more often than all before: something really sent twice is still
// seen twice.
func (r *run) addRequest(q Request) {
	n := len(r.requests)
	standing := true
	for i := range q.Messages {
		m := &q.Messages[i]
		standing = standing && m.Role == RoleSystem
		m.Request, m.Standing = n, standing
	}
	r.requests = append(r.requests, q)
	if q.Kind != ReqSide {
		here := map[string]int{}
		for _, m := range q.Messages {
			k := strings.Join([]string{m.Role, m.Kind, m.ToolCallID, m.ToolName, m.Text}, "\x00")
			here[k]++
			if here[k] > r.counts[k] {
				r.counts[k] = here[k]
				r.told = append(r.told, m)
			}
		}
	}
	close(r.changed)
	r.changed = make(chan struct{})
}

// Told returns everything the model was sent in a run, each thing once, in the order it first
// arrived; side requests are left out. The model's own turns are included as the agent sent them
// back, which shows rewritten calls.
func (s *Server) Told(run string) []Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Message(nil), s.findRun(run).told...)
}

// Requests returns all requests of a run in the order they arrived.
func (s *Server) Requests(run string) []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.findRun(run).requests...)
}

// Saw reports whether the model was sent a text containing substring. Its own turns are ignored,
// otherwise every scripted call would be its own proof.
func (s *Server) Saw(run, substring string) bool { return s.SawTimes(run, substring) > 0 }

// SawTimes returns how many of the messages sent contain substring.
func (s *Server) SawTimes(run, substring string) int {
	n := 0
	for _, m := range s.Told(run) {
		if m.Role != RoleAssistant && strings.Contains(m.Text, substring) {
			n++
		}
	}
	return n
}

// Results returns the tool results sent in a run.
func (s *Server) Results(run string) []Message {
	var out []Message
	for _, m := range s.Told(run) {
		if m.Kind == KindToolResult {
			out = append(out, m)
		}
	}
	return out
}

// Reached reports whether a step of a script was asked for.
func (s *Server) Reached(run, script string, step int) bool {
	for _, q := range s.Requests(run) {
		if (q.Kind == ReqScripted || q.Kind == ReqOver) && q.Script == script && q.Step >= step {
			return true
		}
	}
	return false
}

// Wait blocks until ok accepts the requests of a run so far.
func (s *Server) Wait(ctx context.Context, run string, ok func([]Request) bool) error {
	for {
		s.mu.Lock()
		r := s.findRun(run)
		seen, changed := append([]Request(nil), r.requests...), r.changed
		s.mu.Unlock()
		if ok(seen) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("run %s: %w after %d requests; look at Requests to see what the agent asked for", run,
				ctx.Err(), len(seen))
		}
	}
}
