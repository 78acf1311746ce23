package remote

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Requests is the part of approvals that the server needs.
type Requests interface {
	// WaitingRedacted lists what waits on this machine, without secrets.
	WaitingRedacted() []wire.InboxRequest
	// FollowChanges calls each after every change of what waits, until ctx ends.
	FollowChanges(ctx context.Context, each func())
	ReplySigned(p wire.InboxReplyParams, device string, signed ledger.Signature) (wire.InboxReplyResult, *wire.Error)
	// CheckText returns why another machine may not send a text to a session.
	CheckText(session, pin string) *wire.Error
	// Watch notes that someone who may answer looks at the requests.
	Watch() (left func())
}

// Daemon is the part of the daemon that it also needs.
type Daemon interface {
	// Call runs a method in the daemon's own name.
	Call(ctx context.Context, method string, params json.RawMessage) (any, *wire.Error)
	// OwnSessions returns the sessions of this machine.
	OwnSessions() []wire.Session
	// FollowSessions calls each after every change of a session, until ctx ends.
	FollowSessions(ctx context.Context, each func(line []byte) bool)
	// RecordDevice records what happened to a paired machine.
	RecordDevice(what string, device wire.WebDevice)
}

// ServerOptions configures a server.
type ServerOptions struct {
	services.Deps
	Version  string
	Devices  *devices.Registry
	Requests Requests
	Daemon   Daemon
	Journal  Journal
}

// Server shows this machine's sessions and requests to machines that were paired, and receives
// their answers.
type Server struct {
	ServerOptions
	instance string
	nonces   devices.Nonces

	mu    sync.Mutex
	links map[string]*openLink // by the nonce of their stream
}

// openLink is one stream to a paired machine.
type openLink struct {
	device string
	end    context.CancelFunc
	left   func()        // not nil while someone there looks
	expiry *time.Timer   // of looking, unless it is renewed
	stored chan struct{} // something was stored
}

const (
	// attendLasts is how long someone is assumed to keep looking: a link that was cut without
	// notice must not keep agents waiting.
	attendLasts = 30 * time.Second
	// beatPause is how often a link that has nothing to send says so.
	beatPause = 10 * time.Second
	// gather is how long changes are collected before they are sent.
	gather = 50 * time.Millisecond
	// leaveTime is how long a machine that asked to be forgotten may take to hang up.
	leaveTime = time.Second
	// maxLinks is how many streams a machine may have open.
	maxLinks = 8
)

// NewServer makes a server. Nothing runs until a paired machine comes.
func NewServer(o ServerOptions) *Server {
	return &Server{ServerOptions: o, instance: devices.RandomID(16), links: map[string]*openLink{}}
}

// Methods returns what another machine calls, and what pairs it.
func (s *Server) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodRemoteAccept: {Run: s.acceptMethod},
		wire.MethodRemoteHello:  {Run: s.helloMethod},
	}
}

// LongMethods returns those that may take a moment.
func (s *Server) LongMethods() map[string]services.LongMethod {
	return map[string]services.LongMethod{wire.MethodRemoteCall: s.callMethod, wire.MethodRemoteAnswer: s.answerMethod}
}

// Links returns how many streams a paired machine has open.
func (s *Server) Links(device string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, one := range s.links {
		if one.device == device {
			n++
		}
	}
	return n
}

func (s *Server) helloMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	if bad := services.ReadParams(params, &struct{}{}); bad != nil {
		return nil, bad
	}
	return wire.RemoteHello{Protocol: wire.RemoteProtocol, Oldest: wire.RemoteOldest, Version: s.Version,
		Instance: s.instance, Clock: time.Now().UnixMilli()}, nil
}

// acceptMethod pairs another machine. Authority asked you for a code before this runs.
func (s *Server) acceptMethod(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RemoteAcceptParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if p.Scope != wire.ScopeRead && p.Scope != wire.ScopeAnswer {
		return nil, wire.Errorf(wire.CodeParams, "%q isn't a scope; use %s or %s", p.Scope, wire.ScopeRead, wire.ScopeAnswer)
	}
	key, err := base64.RawURLEncoding.DecodeString(p.Key)
	fresh := devices.Device{Kind: devices.Host, Name: devices.CleanName(p.Name, "another machine"), Scope: p.Scope, Key: key,
		Paired: time.Now().UTC()}
	if err == nil {
		_, err = fresh.PublicKey()
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "that isn't the key of a machine; `hookmux remote add` on the other machine "+
			"runs this command")
	}
	fresh.ID = devices.HostID(key)
	if len(s.Devices.List()) >= devices.Max {
		return nil, wire.Errorf(wire.CodeConflict, "%d devices are paired already; `hookmux web devices remove` one first",
			devices.Max)
	}
	if err := s.Devices.Add(fresh); err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the machine isn't paired, because that couldn't be written down: %v", err)
	}
	s.Daemon.RecordDevice("paired", fresh.Info(0))
	return fresh.Info(0), nil
}

// signedBy finds out which machine signed a text. It must be paired now.
func (s *Server) signedBy(purpose, text string, by *wire.RemoteSigned) (devices.Device, *wire.Error) {
	d, ok := s.Devices.Get(by.Device)
	if !ok || d.Kind != devices.Host {
		return d, wire.Errorf(wire.CodeRefused, "this machine isn't paired with yours any more; `hookmux remote add` on your "+
			"machine pairs them")
	}
	if by.Protocol < wire.RemoteOldest || by.Protocol > wire.RemoteProtocol {
		return d, wire.Errorf(wire.CodeRefused, "hookmux here speaks version %d to %d of the link, and yours %d; upgrade the "+
			"older one", wire.RemoteOldest, wire.RemoteProtocol, by.Protocol)
	}
	signature, err := base64.RawURLEncoding.DecodeString(by.Signature)
	if err != nil || !d.Verify(message(purpose, s.instance, text, by), signature) {
		s.Log.Warn("a wrong signature on a link", "device", d.ID, "name", d.Name, "for", purpose)
		return d, wire.Errorf(wire.CodeRefused, "the signature is wrong")
	}
	if !devices.Fresh(&d, purpose, by.Time, by.Nonce, &s.nonces, time.Now()) {
		return d, wire.Errorf(wire.CodeRefused, "this was sent before, or too long ago")
	}
	return d, nil
}

// calls are the methods of the daemon that a machine may call, by the scope they need.
var calls = map[string]string{
	wire.MethodSession:     wire.ScopeRead,
	wire.MethodUsage:       wire.ScopeRead,
	wire.MethodInboxSkip:   wire.ScopeAnswer,
	wire.MethodSessionSend: wire.ScopeAnswer,
}

func (s *Server) callMethod(ctx context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RemoteCallParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	d, bad := s.signedBy(purposeCall, p.Call, &p.RemoteSigned)
	if bad != nil {
		return nil, bad
	}
	var request wire.RemoteRequest
	if bad := services.ReadParams(json.RawMessage(p.Call), &request); bad != nil {
		return nil, bad
	}
	switch request.Method {
	case wire.RemoteAttend:
		return s.attend(&d, request.Params)
	case wire.RemoteLeave:
		return s.leave(&d)
	case wire.RemoteLog:
		return s.log(ctx, request.Params)
	}
	scope, known := calls[request.Method]
	switch {
	case !known:
		return nil, wire.Errorf(wire.CodeNoMethod, "%q can't be called over a link", request.Method)
	case scope == wire.ScopeAnswer && d.Scope != wire.ScopeAnswer:
		return nil, wire.Errorf(wire.CodeRefused, "your machine may only read here; `hookmux web devices scope %s answer` here "+
			"changes that", d.ID)
	}
	if !s.isOwn(request.Method, request.Params) {
		return nil, wire.Errorf(wire.CodeGone, "there's no such session or request on this machine")
	}
	if request.Method == wire.MethodSessionSend {
		var text wire.SessionSendParams
		if bad := services.ReadParams(request.Params, &text); bad != nil {
			return nil, bad
		}
		if bad := s.Requests.CheckText(text.Session, text.PIN); bad != nil {
			return nil, bad
		}
	}
	result, bad := s.Daemon.Call(ctx, request.Method, request.Params)
	if bad != nil {
		return nil, bad
	}
	if calls[request.Method] == wire.ScopeAnswer {
		s.Daemon.RecordDevice(request.Method, d.Info(0))
	}
	return cleanResult(result), nil
}

// isOwn reports whether the parameters name a session, or a request, of this machine by its
// full id. Those of a third machine are none of the caller's business.
func (s *Server) isOwn(method string, params json.RawMessage) bool {
	switch method {
	case wire.MethodUsage: // of its own agents
		return true
	case wire.MethodInboxSkip:
		var p wire.InboxIDParams
		return services.ReadParams(params, &p) == nil && !isElsewhere(p.ID)
	}
	var p wire.SessionParams
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	return slices.ContainsFunc(s.Daemon.OwnSessions(), func(one wire.Session) bool { return one.ID == p.Session })
}

// isElsewhere reports whether a request's id is one of another machine: those of this one
// are letters and digits.
func isElsewhere(id string) bool { return strings.Contains(id, "/") }

// cleanResult returns a result as it may leave this machine: sessions are redacted already.
func cleanResult(result any) any {
	switch one := result.(type) {
	case wire.SessionDetail:
		one.Resume = nil
		return cleaned(one)
	case wire.UsageReport:
		return cleaned(one)
	case wire.SessionSent:
		return cleaned(one)
	case wire.InboxReplyResult:
		return cleanReply(one)
	}
	return result
}

// cleanReply removes from the result of an answer what may hold secrets: the machine that
// answered has the request.
func cleanReply(result wire.InboxReplyResult) wire.InboxReplyResult {
	if item := result.Item; item != nil {
		result.Item = &wire.InboxRequest{ID: item.ID, Status: item.Status, End: item.End, Kind: item.Kind, Agent: item.Agent,
			Session: item.Session, Project: item.Project, Event: item.Event, Tool: item.Tool, SHA256: item.SHA256,
			CreatedAt: item.CreatedAt, EndedAt: item.EndedAt}
	}
	copied := clone(result)
	if p := copied.Permission; p != nil {
		p.Rule, p.Asked = redact.Text(p.Rule), redact.Text(p.Asked)
	}
	if d := copied.Decided; d != nil {
		d.Reason, d.Note, d.Feedback, d.Answers = redact.Text(d.Reason), redact.Text(d.Note), redact.Text(d.Feedback), nil
	}
	fleet.Clean(&copied)
	return copied
}

// cleaned returns a copy that is safe to show.
func cleaned[T any](value T) T {
	copied := clone(value)
	fleet.Clean(&copied)
	return copied
}

// clone copies a value of the protocol.
func clone[T any](value T) (copied T) {
	b, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(b, &copied)
	}
	if err != nil {
		var none T
		return none
	}
	return copied
}

func (s *Server) answerMethod(_ context.Context, params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.RemoteAnswerParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	var in devices.SignedAnswer
	if bad := services.ReadParams(p.Answer, &in); bad != nil {
		return nil, bad
	}
	d, ok := s.Devices.Get(p.Device)
	switch {
	case !ok || d.Kind != devices.Host:
		return nil, wire.Errorf(wire.CodeRefused, "this machine isn't paired with yours any more")
	case d.Scope != wire.ScopeAnswer:
		return nil, wire.Errorf(wire.CodeRefused, "your machine may only read here")
	}
	answer, signed, refused := devices.ReadAnswer(&d, s.instance, &in, &s.nonces, time.Now())
	if refused != nil {
		s.Log.Warn("an answer over a link was refused", "device", d.ID, "name", d.Name, "why", refused.Why)
		return nil, wire.Errorf(wire.CodeRefused, "%s", refused.Why)
	}
	if isElsewhere(answer.ID) {
		return nil, wire.Errorf(wire.CodeGone, "there's no request %q on this machine", answer.ID)
	}
	s.Devices.NoteUse(d.ID, "", "", time.Now())
	result, bad := s.Requests.ReplySigned(answer, d.By(), signed)
	if bad != nil {
		return nil, bad
	}
	return cleanReply(result), nil
}

// leave forgets the key of the machine that asks for it.
func (s *Server) leave(d *devices.Device) (any, *wire.Error) {
	err := s.Devices.Drop(d.ID)
	time.AfterFunc(leaveTime, func() { s.EndLinks(d.ID) }) // it gets the answer first, and hangs up
	s.Daemon.RecordDevice("removed itself", d.Info(0))
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"the machine is no longer paired, but may come back when the daemon restarts: %v", err)
	}
	return map[string]bool{"left": true}, nil
}

// EndLinks ends the streams of a machine that may no longer see this one, or may do something
// else now.
func (s *Server) EndLinks(device string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.links {
		if one.device == device {
			one.end()
		}
	}
}

// attend notes whether someone on the other machine looks at the requests.
func (s *Server) attend(d *devices.Device, params json.RawMessage) (any, *wire.Error) {
	var p wire.RemoteAttendParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	if d.Scope != wire.ScopeAnswer {
		return nil, wire.Errorf(wire.CodeRefused, "your machine may only read here")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	link := s.links[p.Link]
	if link == nil || link.device != d.ID {
		return nil, wire.Errorf(wire.CodeGone, "there's no such link")
	}
	if !p.On {
		link.look(nil)
	} else if link.left == nil {
		link.look(s.Requests.Watch())
		link.expiry = time.AfterFunc(attendLasts, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			link.look(nil)
		})
	} else {
		link.expiry.Reset(attendLasts)
	}
	return map[string]bool{"ok": true}, nil
}

// look sets how to end looking; nil ends it. The caller has the lock.
func (l *openLink) look(left func()) {
	if l.left != nil {
		l.expiry.Stop()
		go l.left() // it may wait for those who look
	}
	l.left = left
}

// Open opens remote.follow: everything there is, then every change.
func (s *Server) Open(params json.RawMessage, _ proc.Cred) (func(ctx context.Context, id json.RawMessage,
	send func([]byte) bool), *wire.Error) {
	var p wire.RemoteSigned
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	d, bad := s.signedBy(purposeFollow, "", &p)
	if bad != nil {
		return nil, bad
	}
	return func(ctx context.Context, id json.RawMessage, send func([]byte) bool) {
		s.follow(ctx, id, &d, p.Nonce, send)
	}, nil
}

func (s *Server) follow(ctx context.Context, id json.RawMessage, d *devices.Device, nonce string, send func([]byte) bool) {
	ctx, end := context.WithCancel(ctx)
	defer end()
	link := &openLink{device: d.ID, end: end, stored: make(chan struct{}, 1)}
	s.mu.Lock()
	open := 0
	for _, one := range s.links {
		if one.device == d.ID {
			open++
		}
	}
	if open < maxLinks {
		s.links[nonce] = link
	}
	s.mu.Unlock()
	response := wire.Response{Version: "2.0", ID: id, Result: json.RawMessage(`{"ok":true}`)}
	if open >= maxLinks {
		response.Result, response.Error = nil, wire.Errorf(wire.CodeConflict, "this machine has %d links open already", open)
	}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.links, nonce)
		link.look(nil)
	}()
	if _, still := s.Devices.Get(d.ID); !still { // removed in this very moment
		return
	}
	if line, err := wire.Line(nil, response); err != nil || !send(line) || response.Error != nil {
		return
	}
	s.Devices.NoteUse(d.ID, "", "", time.Now())
	changed := make(chan struct{}, 1)
	var following sync.WaitGroup
	defer following.Wait()
	defer end()
	following.Go(func() { s.Requests.FollowChanges(ctx, func() { poke(changed) }) })
	following.Go(func() {
		s.Daemon.FollowSessions(ctx, func([]byte) bool { poke(changed); return ctx.Err() == nil })
	})
	beat := time.NewTicker(beatPause)
	defer beat.Stop()
	told := teller{send: send, sent: map[string][]byte{}}
	for ready := false; ; {
		if !told.tellAll(s.Daemon.OwnSessions(), s.Requests.WaitingRedacted()) {
			return
		}
		if !ready && !told.note(wire.NoteRemoteReady, struct{}{}) {
			return
		}
		ready = true
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-beat.C:
				if !told.note(wire.NoteRemoteBeat, struct{}{}) {
					return
				}
			case <-link.stored:
				if !told.note(wire.NoteRemoteStored, struct{}{}) || services.Pause(gather, ctx.Done()) {
					return
				}
			case <-changed:
				waiting = false
			}
		}
		if services.Pause(gather, ctx.Done()) {
			return
		}
	}
}

// teller sends what differs from what it sent before.
type teller struct {
	send func([]byte) bool
	sent map[string][]byte // by kind and id
	room int               // of [fleet.MaxBytes]
}

// tellAll sends what is new or different, and what is gone.
func (t *teller) tellAll(sessions []wire.Session, requests []wire.InboxRequest) bool {
	seen := map[string]bool{}
	t.room = fleet.MaxBytes
	for i := range sessions[:min(len(sessions), fleet.MaxSessions)] {
		one := cleaned(sessions[i])
		if !t.tell("session "+one.ID, wire.NoteRemoteSession, &one, seen) {
			return false
		}
	}
	for i := range requests[:min(len(requests), fleet.MaxRequests)] {
		one := clone(requests[i])
		if one.Status != wire.InboxPending && one.Status != wire.InboxPrompt {
			continue
		}
		if one.Status == wire.InboxPrompt {
			one.Choices = nil // keys are pressed on this machine
		}
		fleet.Clean(&one)
		if !t.tell("request "+one.ID, wire.NoteRemoteRequest, &one, seen) {
			return false
		}
	}
	for key := range t.sent {
		if seen[key] {
			continue
		}
		delete(t.sent, key)
		note := wire.NoteRemoteSessionGone
		id, is := bytes.CutPrefix([]byte(key), []byte("session "))
		if !is {
			note, id = wire.NoteRemoteRequestGone, bytes.TrimPrefix([]byte(key), []byte("request "))
		}
		if !t.note(note, wire.RemoteGone{ID: string(id)}) {
			return false
		}
	}
	return true
}

func (t *teller) tell(key, note string, value any, seen map[string]bool) bool {
	line, err := json.Marshal(value)
	if t.room -= len(line); err != nil || t.room < 0 {
		return true // it's shown on its own machine only
	}
	seen[key] = true
	if bytes.Equal(t.sent[key], line) {
		return true
	}
	t.sent[key] = line
	return t.note(note, json.RawMessage(line))
}

func (t *teller) note(method string, params any) bool {
	line, err := wire.Line(nil, struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	return err == nil && t.send(line)
}
