package model

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options of a Server; the zero value is good.
type Options struct {
	// Delay before every answer unless scenario or step say otherwise. Some
	// agents (Kimi) lose their last events when the model is instant: 300 ms.
	Delay time.Duration
}

// Server is the scripted model. Make one with Start, or New to mount Handler
// somewhere else.
type Server struct {
	opts Options
	mu   sync.Mutex
	runs map[string]*run
	turn int // numbers the model's turns; part of tool call ids

	base string
	srv  *http.Server
	done chan struct{}
}

// New returns a server that isn't listening yet.
func New(opts Options) *Server {
	return &Server{opts: opts, runs: map[string]*run{}}
}

// Start listens on a free loopback port.
func Start(opts Options) (*Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("scripted model: cannot listen on loopback: %w; check that the lo interface is up", err)
	}
	s := New(opts)
	s.base = "http://" + l.Addr().String()
	s.done = make(chan struct{})
	s.srv = &http.Server{Handler: s.Handler(), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.done)
		_ = s.srv.Serve(l) // always returns ErrServerClosed after Close
	}()
	return s, nil
}

// Close stops the server and ends answers that are still being streamed.
func (s *Server) Close() error {
	if s.srv == nil {
		return nil
	}
	err := s.srv.Close()
	<-s.done
	return err
}

// URL returns the base address to pass to the agent of a run, without /v1.
func (s *Server) URL(run string) string { return s.base + "/r/" + url.PathEscape(run) }

// SetScenario sets the scenario of a run. Steps already run are not repeated: the
// position is in the agent's conversation.
func (s *Server) SetScenario(run string, sc Scenario) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.findRun(run)
	r.scenario, r.set = sc, true
}

// findRun finds or makes a run. Callers hold mu.
func (s *Server) findRun(name string) *run {
	r := s.runs[name]
	if r == nil {
		r = newRun()
		s.runs[name] = r
	}
	return r
}

// Handler serves all APIs.
func (s *Server) Handler() http.Handler { return http.HandlerFunc(s.serve) }

const maxBody = 64 << 20

func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	name, path := splitRun(req.URL)
	q := Request{At: time.Now(), Method: req.Method, Path: path, Status: http.StatusOK, Header: req.Header.Clone()}
	body, err := readBody(req)
	if err != nil {
		q.Kind, q.Status = ReqUnknown, http.StatusBadRequest
		s.record(name, q)
		writeJSON(w, q.Status, errorBody("invalid_request_error", err.Error()))
		return
	}
	if json.Valid(body) {
		q.Body = body
	}
	if api := apiFor(req.Method, path); api != nil {
		s.answer(w, req, name, q, api)
		return
	}
	s.startup(w, name, q)
}

func (s *Server) record(name string, q Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.findRun(name).addRequest(q)
}

// splitRun cuts /r/<run> off the path; without it the run is "".
func splitRun(u *url.URL) (name, path string) {
	rest, ok := strings.CutPrefix(u.EscapedPath(), "/r/")
	if !ok {
		return "", u.Path
	}
	esc, after, _ := strings.Cut(rest, "/")
	name, err := url.PathUnescape(esc)
	if err != nil {
		name = esc
	}
	if p, err := url.PathUnescape(after); err == nil {
		after = p
	}
	return name, "/" + after
}

func readBody(req *http.Request) ([]byte, error) {
	var r io.Reader = req.Body
	switch enc := req.Header.Get("Content-Encoding"); enc {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, err
		}
		defer z.Close()
		r = z
	default:
		return nil, fmt.Errorf("content-encoding %s is not served; switch request compression off", enc)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err == nil && len(b) > maxBody {
		err = errors.New("request over 64 MiB")
	}
	return b, err
}

// api is one wire format: how to read a conversation and how to answer in it.
type api struct {
	name  string
	match func(method, path string) bool
	parse func(body []byte, path string) (conversation, error)
	reply func(out *output, r reply)
	fail  func(f Fail) any
}

func apiFor(method, path string) *api {
	if method != http.MethodPost {
		return nil
	}
	for _, a := range []*api{&messagesAPI, &responsesAPI, &chatAPI, &geminiAPI, &augmentAPI} {
		if a.match(method, path) {
			return a
		}
	}
	return nil
}

// answer runs one model turn.
func (s *Server) answer(w http.ResponseWriter, req *http.Request, name string, q Request, a *api) {
	q.API = a.name
	conv, err := a.parse(q.Body, q.Path)
	if err != nil {
		q.Kind, q.Status = ReqUnknown, http.StatusBadRequest
		s.record(name, q)
		writeJSON(w, q.Status, a.fail(Fail{Status: q.Status, Type: "invalid_request_error", Message: err.Error()}))
		return
	}
	q.Stream, q.Model, q.Messages = conv.stream, conv.model, conv.messages
	for _, t := range conv.tools {
		q.Tools = append(q.Tools, t.name)
	}

	s.mu.Lock()
	r := s.findRun(name)
	p := plan(&conv, r.scenario, r.failed, q.Body)
	s.turn++
	p.reply.number(s.turn)
	q.Kind, q.Script, q.Step, q.NotOffered = p.kind, p.script, p.step, p.notOffered
	if p.fail != nil {
		q.Status = p.fail.Status
	}
	r.addRequest(q)
	review := r.scenario.Review
	s.mu.Unlock()

	if review != nil {
		p.reply.addReview(&conv, review)
	}
	if p.delay == 0 && p.kind != ReqSide {
		p.delay = s.opts.Delay
	}
	if !sleep(req.Context(), p.delay) || p.until != nil && !p.until(req.Context()) {
		return
	}
	if p.fail != nil {
		for k, v := range p.fail.Header {
			w.Header().Set(k, v)
		}
		writeJSON(w, p.fail.Status, a.fail(*p.fail))
		return
	}
	p.reply.model = conv.model
	a.reply(newOutput(req.Context(), w, conv.stream, p.reply.chunkDelay), p.reply)
}

// startup answers what agents ask before and in addition to the conversation.
func (s *Server) startup(w http.ResponseWriter, name string, q Request) {
	q.Kind = ReqStartup
	var body any
	get := q.Method == http.MethodGet
	switch {
	case q.Method == http.MethodHead:
		body = nil
	case get && strings.HasSuffix(strings.TrimSuffix(q.Path, "/"), "/models"):
		body = modelList()
	case get && strings.Contains(q.Path, "/models/"):
		body = modelEntry(q.Path[strings.LastIndex(q.Path, "/")+1:])
	case strings.HasSuffix(q.Path, "/messages/count_tokens"):
		body = obj{"input_tokens": smallUsage}
	case strings.HasSuffix(q.Path, ":countTokens"):
		body = obj{"totalTokens": smallUsage}
	case strings.HasSuffix(q.Path, "/responses/compact"):
		body = obj{"output": []obj{{"type": "message", "role": "user",
			"content": []obj{{"type": "input_text", "text": sideSummary}}}}}
	default:
		if tenant, ok := augmentStartup(q.Path); ok && !get {
			body = tenant
			break
		}
		q.Kind, q.Status = ReqUnknown, http.StatusNotFound
		body = errorBody("not_found_error", "the scripted model does not serve this")
	}
	s.record(name, q)
	writeJSON(w, q.Status, body)
}

// modelNames are offered in lists; agents that insist on a known name find one.
var modelNames = []string{"scripted", "claude-sonnet-4-5", "gpt-5.5", "gemini-2.5-pro"}

func modelList() any {
	var list []obj
	for _, n := range modelNames {
		list = append(list, modelEntry(n))
	}
	return obj{"object": "list", "data": list, "models": list, "has_more": false}
}

// modelEntry carries the fields of every API's list at once; each client reads
// only its own.
func modelEntry(id string) obj {
	return obj{"id": id, "slug": id, "name": "models/" + id, "object": "model", "type": "model", "display_name": id,
		"displayName": id,
		"created":     1700000000, "created_at": "2025-01-01T00:00:00Z", "owned_by": "hookmux",
		"context_length": 200000, "max_model_len": 200000, "inputTokenLimit": 200000, "outputTokenLimit": 8192,
		"supportedGenerationMethods": []string{"generateContent", "countTokens"}}
}

func errorBody(kind, msg string) any {
	return obj{"type": "error", "error": obj{"type": kind, "message": msg}}
}

func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
