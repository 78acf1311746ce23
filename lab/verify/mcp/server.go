// Package mcp implements an MCP server whose one tool asks the user something: the tool `ask` shows
// a form to the user of the agent (elicitation/create) and returns the result.
//
// Contract: it listens on loopback only, speaks the streamable HTTP transport as far as one tool
// needs it, and receives nothing but what the agent sends. The model is sent "heard TAG: ACTION
// CONTENT", so that the model's side shows what the server received.
package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Tool is the name of the tool, and Argument that of its one argument, a tag.
const (
	Tool     = "ask"
	Argument = "tag"
)

// Link begins the tags of those that ask the user to open [Address] instead
// of filling in a form, Bare those of forms without fields.
const (
	Bare    = "bare-"
	Link    = "link-"
	Address = "https://scripted.invalid/sign-in"
)

// Message returns what a form with a tag is headed by.
func Message(tag string) string { return "Fill in " + tag }

// AnswerPrefix returns the beginning of what the model is sent about a form with a tag.
func AnswerPrefix(tag string) string { return "heard " + tag + ": " }

// Form is the schema of the form: a field of every type that MCP knows.
const Form = `{"type":"object","properties":{` +
	`"colour":{"type":"string","title":"Colour","description":"Which colour?","enum":["red","blue"]},` +
	`"count":{"type":"integer","title":"Count","description":"How many?"},` +
	`"sure":{"type":"boolean","title":"Sure","description":"Are you sure?"},` +
	`"words":{"type":"string","title":"Words","description":"Anything else?"}},` +
	`"required":["colour","count","sure"]}`

// Server is the server; make one with Start.
type Server struct {
	URL string

	http *http.Server
	done chan struct{}

	mu      sync.Mutex
	last    int
	waiting map[string]chan json.RawMessage // answers to our questions, by id
}

// Start listens on a free loopback port.
func Start() (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted MCP server: cannot listen on loopback: %w; check that the lo interface is up",
			err)
	}
	s := &Server{URL: "http://" + l.Addr().String() + "/mcp", done: make(chan struct{}),
		waiting: map[string]chan json.RawMessage{}}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.http.Serve(l) // always returns ErrServerClosed after Close
	}()
	return s, nil
}

// Close stops the server and lets go of questions that still wait.
func (s *Server) Close() error {
	err := s.http.Close()
	<-s.done
	return err
}

type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProtocolVersion string
		Name            string
		Arguments       map[string]any
	}
	Result, Error json.RawMessage
}

// ServeHTTP answers one message of the agent.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "only POST", http.StatusMethodNotAllowed) // no stream of our own, no sessions to end
		return
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	var m message
	if err != nil || json.Unmarshal(body, &m) != nil {
		http.Error(w, "no message", http.StatusBadRequest)
		return
	}
	switch {
	case m.Method == "" && m.ID != nil:
		s.hear(&m)
		w.WriteHeader(http.StatusAccepted)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/call":
		s.call(w, r, &m)
	default:
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(answer(m.ID, s.plain(&m)))
	}
}

// plain returns the answer to everything but the call.
func (s *Server) plain(m *message) any {
	switch m.Method {
	case "initialize":
		return map[string]any{
			"protocolVersion": m.Params.ProtocolVersion, "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "scripted", "version": "1"},
		}
	case "tools/list":
		return map[string]any{"tools": []any{map[string]any{
			"name": Tool, "description": "Asks the user", "inputSchema": map[string]any{
				"type": "object", "properties": map[string]any{Argument: map[string]any{"type": "string"}},
				"required": []string{Argument}},
		}}}
	}
	return map[string]any{}
}

// call shows the form to the user, on the stream that answers the call, and
// waits for the result.
func (s *Server) call(w http.ResponseWriter, r *http.Request, m *message) {
	tag, _ := m.Params.Arguments[Argument].(string)
	s.mu.Lock()
	s.last++
	id := "ask-" + strconv.Itoa(s.last)
	heard := make(chan json.RawMessage, 1)
	s.waiting[id] = heard
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.waiting, id)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(line []byte) {
		fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
		_ = http.NewResponseController(w).Flush()
	}
	params := map[string]any{"mode": "form", "message": Message(tag), "requestedSchema": json.RawMessage(Form)}
	switch {
	case strings.HasPrefix(tag, Bare):
		params["requestedSchema"] = map[string]any{"type": "object", "properties": map[string]any{}}
	case strings.HasPrefix(tag, Link):
		params = map[string]any{"mode": "url", "message": Message(tag), "url": Address, "elicitationId": id}
	}
	ask, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})
	send(ask)
	select {
	case said := <-heard:
		send(answer(m.ID, map[string]any{"content": []any{map[string]any{"type": "text",
			"text": AnswerPrefix(tag) + inWords(said)}}}))
	case <-r.Context().Done():
	}
}

// hear receives an answer to a question of ours.
func (s *Server) hear(m *message) {
	var id string
	_ = json.Unmarshal(m.ID, &id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if heard := s.waiting[id]; heard != nil {
		said := m.Result
		if said == nil {
			said = m.Error
		}
		select {
		case heard <- said:
		default: // answered before
		}
	}
}

// inWords returns the result of a form: the action, and the fields in one spelling.
func inWords(said json.RawMessage) string {
	var result struct {
		Action  string
		Content map[string]any
	}
	if json.Unmarshal(said, &result) != nil || result.Action == "" {
		return "error " + string(said)
	}
	if result.Content == nil {
		return result.Action
	}
	content, _ := json.Marshal(result.Content) // keys in order
	return result.Action + " " + string(content)
}

func answer(id json.RawMessage, result any) []byte {
	b, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "result": result})
	return b
}
