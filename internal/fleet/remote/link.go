package remote

import (
	"bufio"
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/authority/devices"
	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// What a link to a host may carry. A machine that sends more, or what no honest one sends, is
// disconnected and reported.
const (
	maxLine    = 4 << 20
	lineRate   = 400  // a second, over time
	lineBurst  = 5000 // at once, as when a link begins
	silentTime = 45 * time.Second
	callTime   = 20 * time.Second
	attendTime = 10 * time.Second // how often looking is renewed
)

// Pauses between attempts to connect.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	refusedPause = 10 * time.Minute // after a rejection: only you can change that
	newHostTime  = 10 * time.Minute // a host that was just added is being paired
)

// conn is the connection to the daemon of a host, with why it ended.
type conn interface {
	io.ReadWriteCloser
	Why() string
	PID() int
}

// brokenRules says that a machine sent what no honest one sends.
type brokenRules struct{ what string }

func (e *brokenRules) Error() string {
	return "it broke the rules of the link: it sent " + termsafe.Line(e.what, 160)
}

// refusedHere says that the machine doesn't accept this one.
type refusedHere struct{ why string }

func (e *refusedHere) Error() string { return e.why }

// link is one host, as a source of sessions and requests.
type link struct {
	host     host
	identity *identity
	dial     func(ctx context.Context, h *host) (conn, error)
	deps     services.Deps
	copies   *copies

	stored  chan struct{} // its journal has something new
	changes chan struct{}
	retry   chan struct{} // connect now
	process atomic.Int64  // of ssh, while it runs
	attends atomic.Bool
	attend  chan struct{} // attends changed

	mu     sync.Mutex
	state  fleet.Link
	offset time.Duration // this machine's clock ahead of that one's
	known  *snapshot
	talk   *talk // nil while the link is lost
}

func newLink(h host, id *identity, dial func(context.Context, *host) (conn, error), deps services.Deps,
	kept *copies) *link {
	return &link{host: h, identity: id, dial: dial, deps: deps, copies: kept, known: newSnapshot(), stored: make(chan struct{}, 1), changes: make(chan struct{}, 1),
		retry: make(chan struct{}, 1), attend: make(chan struct{}, 1),
		state: fleet.Link{Kind: wire.HostRemote, Target: h.Target, Scope: h.Scope, State: wire.HostConnecting, Since: time.Now()},
	}
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Name returns the host's name.
func (l *link) Name() string { return l.host.Name }

// Link returns its current state.
func (l *link) Link() fleet.Link {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state
}

// Changes receives changes.
func (l *link) Changes() <-chan struct{} { return l.changes }

// Sessions returns those known last.
func (l *link) Sessions() []wire.Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.known.sessions), func(a, b wire.Session) int { return cmp.Compare(a.ID, b.ID) })
}

// Requests returns those that wait there.
func (l *link) Requests() []wire.InboxRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.SortedFunc(maps.Values(l.known.requests), func(a, b wire.InboxRequest) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
}

// Attend says whether someone looks here.
func (l *link) Attend(on bool) {
	if l.attends.Swap(on) != on {
		poke(l.attend)
	}
}

// run keeps the link until ctx ends.
func (l *link) run(ctx context.Context) {
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := l.connect(ctx)
		if ctx.Err() != nil {
			return
		}
		wait := l.noteLost(err)
		if wait == 0 {
			if time.Since(began) > longestPause {
				pause = firstPause
			}
			wait, pause = pause, min(2*pause, longestPause)
			if time.Since(l.host.Added) < newHostTime {
				wait = min(wait, 2*time.Second)
			}
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
		case <-l.retry:
			pause = firstPause
		case <-timer.C:
		}
		timer.Stop()
	}
}

// noteLost notes that the link ended, and returns the time until the next attempt if that
// doesn't depend on how many attempts there were.
func (l *link) noteLost(err error) time.Duration {
	var broken *brokenRules
	var refused *refusedHere
	state, wait := wire.HostLost, time.Duration(0)
	problem := "remote:" + l.host.Name
	switch {
	case errors.As(err, &broken):
		state, wait = wire.HostRefused, refusedPause
		l.deps.Problems.Raise(problem, "the host "+l.host.Name+" ("+l.host.Target+") was hung up on: "+err.Error(),
			"look at that machine; `hookmux remote doctor "+l.host.Name+"` tries again")
	case errors.As(err, &refused):
		state = wire.HostRefused
		if time.Since(l.host.Added) > newHostTime {
			wait = refusedPause
		}
	}
	why := termsafe.Line(err.Error(), 200)
	l.deps.Log.Info("the link to a host ended", "host", l.host.Name, "why", why)
	l.mu.Lock()
	if l.state.State == wire.HostConnecting && state == wire.HostLost {
		state = wire.HostConnecting
	}
	if l.state.State != state {
		l.state.State, l.state.Since = state, time.Now()
	}
	l.state.Why, l.talk, l.known.requests = why, nil, nil
	l.mu.Unlock()
	poke(l.changes)
	return wait
}

// connect connects once, and returns why the link ended.
func (l *link) connect(ctx context.Context) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	c, err := l.dial(ctx, &l.host)
	if err != nil {
		return err
	}
	defer c.Close()
	l.process.Store(int64(c.PID()))
	defer l.process.Store(0)
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	defer stop()
	t := &talk{conn: c, over: ctx, waiting: map[string]chan wire.Response{}, end: end}
	var reading sync.WaitGroup
	defer reading.Wait()
	defer c.Close()
	reading.Go(func() { end(l.read(t)) })
	err = l.follow(ctx, t)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if errors.Is(err, io.EOF) {
		_ = c.Close() // waits for its output
		if why := c.Why(); why != "" {
			return errors.New(why)
		}
		return errors.New("the connection was closed")
	}
	return err
}

// follow begins the stream, and reports who looks until ctx ends.
func (l *link) follow(ctx context.Context, t *talk) error {
	var hello wire.RemoteHello
	asked := time.Now()
	if err := t.call(ctx, wire.MethodRemoteHello, struct{}{}, &hello); err != nil {
		return err
	}
	if hello.Oldest > wire.RemoteProtocol || hello.Protocol < wire.RemoteOldest {
		return &refusedHere{fmt.Sprintf("hookmux there speaks version %d to %d of the link, and here %d to %d; upgrade the "+
			"older one", hello.Oldest, hello.Protocol, wire.RemoteOldest, wire.RemoteProtocol)}
	}
	if len(hello.Instance) != 32 || fleet.CheckTexts(&hello) != nil || len(hello.Version) > 40 {
		return &brokenRules{"a greeting that isn't one"}
	}
	offset := asked.Add(time.Since(asked) / 2).Sub(time.UnixMilli(hello.Clock))
	t.instance, t.offset, t.protocol = hello.Instance, offset, min(hello.Protocol, wire.RemoteProtocol)
	if offset.Abs() < 2*time.Second {
		offset = 0
	}
	l.mu.Lock()
	l.offset = offset
	l.mu.Unlock()
	by, err := l.identity.sign(purposeFollow, t.instance, "", t.protocol, t.there())
	if err != nil {
		return err
	}
	l.mu.Lock()
	t.fresh = newSnapshot()
	l.mu.Unlock()
	if err := t.call(ctx, wire.MethodRemoteFollow, by, nil); err != nil {
		return err
	}
	l.mu.Lock()
	l.state.Version = hello.Version
	l.mu.Unlock()
	var copying sync.WaitGroup
	defer copying.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	copying.Go(func() { l.copyLog(ctx, t) })
	renew := time.NewTicker(attendTime)
	defer renew.Stop()
	said := false
	for {
		if on := l.attends.Load() && l.host.Scope == wire.ScopeAnswer; on || said {
			params, _ := json.Marshal(wire.RemoteAttendParams{Link: by.Nonce, On: on})
			if err := l.callThere(ctx, t, wire.RemoteRequest{Method: wire.RemoteAttend, Params: params}, nil); err != nil {
				return err
			}
			said = on
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-l.attend:
		case <-renew.C:
		}
		if silent := time.Since(t.heard()); silent > silentTime {
			return fmt.Errorf("nothing came for %s", silent.Round(time.Second))
		}
	}
}

// snapshot holds what a machine sent since the link began, until it said that this is all.
type snapshot struct {
	sessions map[string]wire.Session
	requests map[string]wire.InboxRequest
	sizes    map[string]int // of each of them, as it was sent
	size     int
}

func newSnapshot() *snapshot {
	return &snapshot{sessions: map[string]wire.Session{}, requests: map[string]wire.InboxRequest{}, sizes: map[string]int{}}
}

// weigh notes how large something is now, and reports whether that's still within limits: twice
// the usual ones, because what is new arrives before what is gone is removed.
func (s *snapshot) weigh(kind, id string, size int) bool {
	key := kind + " " + id
	s.size += size - s.sizes[key]
	if s.sizes[key] = size; size == 0 {
		delete(s.sizes, key)
	}
	return s.size <= 2*fleet.MaxBytes
}

// read receives what comes until the link ends.
func (l *link) read(t *talk) error {
	reader := bufio.NewReaderSize(t.conn, 64<<10)
	room, at := float64(lineBurst), time.Now()
	for {
		line, err := readLine(reader)
		if err != nil {
			return err
		}
		now := time.Now()
		t.lastHeard.Store(now.UnixNano())
		room = min(lineBurst, room+now.Sub(at).Seconds()*lineRate) - 1
		if at = now; room < 0 {
			return &brokenRules{"a flood of messages"}
		}
		var message struct {
			wire.Response
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(line, &message) != nil {
			return &brokenRules{"a line that isn't a message"}
		}
		if message.Method == "" {
			t.deliver(message.Response)
			continue
		}
		if err := l.take(t, message.Method, message.Params); err != nil {
			return err
		}
	}
}

// readLine reads a line of limited length.
func readLine(reader *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, &brokenRules{"a line of more than 4 MB"}
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// take handles a notification.
func (l *link) take(t *talk, method string, params json.RawMessage) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t.fresh == nil && l.talk != t {
		return &brokenRules{"something before it was asked"}
	}
	into := t.fresh
	if into == nil {
		into = l.known
	}
	switch method {
	case wire.NoteRemoteSession:
		var one wire.Session
		if err := json.Unmarshal(params, &one); err != nil {
			return &brokenRules{"a session that can't be read"}
		}
		if err := fleet.CheckSession(&one); err != nil {
			return &brokenRules{err.Error()}
		}
		fleet.ShiftTimes(&one, l.offset)
		if into.sessions[one.ID] = one; len(into.sessions) > fleet.MaxSessions || !into.weigh("session", one.ID, len(params)) {
			return &brokenRules{"more sessions than it may"}
		}
	case wire.NoteRemoteRequest:
		var one wire.InboxRequest
		if err := json.Unmarshal(params, &one); err != nil {
			return &brokenRules{"a request that can't be read"}
		}
		if err := fleet.CheckRequest(&one); err != nil {
			return &brokenRules{err.Error()}
		}
		fleet.ShiftTimes(&one, l.offset)
		if into.requests[one.ID] = one; len(into.requests) > fleet.MaxRequests || !into.weigh("request", one.ID, len(params)) {
			return &brokenRules{"more requests than it may"}
		}
	case wire.NoteRemoteSessionGone, wire.NoteRemoteRequestGone:
		var one wire.RemoteGone
		if json.Unmarshal(params, &one) != nil {
			return &brokenRules{"something gone that can't be read"}
		}
		if method == wire.NoteRemoteSessionGone {
			delete(into.sessions, one.ID)
			into.weigh("session", one.ID, 0)
		} else {
			delete(into.requests, one.ID)
			into.weigh("request", one.ID, 0)
		}
	case wire.NoteRemoteReady:
		if t.fresh == nil {
			return nil
		}
		l.known, t.fresh, l.talk = t.fresh, nil, t
		l.state.State, l.state.Since, l.state.Why = wire.HostConnected, time.Now(), ""
		l.deps.Problems.Clear("remote:" + l.host.Name)
	case wire.NoteRemoteStored:
		poke(l.stored)
		return nil
	default: // a beat, or something from a newer version
		return nil
	}
	if t.fresh == nil {
		poke(l.changes)
	}
	return nil
}

// talk is one connection to a machine.
type talk struct {
	conn      conn
	over      context.Context // ends with the connection
	instance  string
	protocol  int // the version that both speak
	offset    time.Duration
	fresh     *snapshot // until the machine said that this is all; the link's lock guards it
	end       context.CancelCauseFunc
	lastHeard atomic.Int64

	writing sync.Mutex
	mu      sync.Mutex
	number  int
	waiting map[string]chan wire.Response
}

func (t *talk) heard() time.Time { return time.Unix(0, t.lastHeard.Load()) }

// there returns the time on the other machine.
func (t *talk) there() time.Time { return time.Now().Add(-t.offset) }

// call calls a method of the daemon there.
func (t *talk) call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	b, err := json.Marshal(params)
	if err != nil {
		return err
	}
	t.mu.Lock()
	t.number++
	id := strconv.Itoa(t.number)
	answer := make(chan wire.Response, 1)
	t.waiting[id] = answer
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.waiting, id)
	}()
	line, err := wire.Line(nil, wire.Request{Version: "2.0", ID: json.RawMessage(id), Method: method, Params: b})
	if err != nil {
		return err
	}
	stuck := context.AfterFunc(ctx, func() { t.end(errors.New("it doesn't read what is sent")) })
	t.writing.Lock()
	_, err = t.conn.Write(line)
	t.writing.Unlock()
	stuck()
	if err != nil {
		<-ctx.Done() // who reads finds out why, or the time is over
		return cmp.Or(context.Cause(ctx), err)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.over.Done():
		return fmt.Errorf("the link ended: %w", context.Cause(t.over))
	case response := <-answer:
		if e := response.Error; e != nil {
			e.Message = termsafe.Line(e.Message, 300)
			if e.Code == wire.CodeRefused {
				return &refusedHere{e.Message}
			}
			return e
		}
		if result == nil {
			return nil
		}
		if json.Unmarshal(response.Result, result) != nil {
			err := &brokenRules{"an answer that can't be read"}
			t.end(err)
			return err
		}
		return nil
	}
}

func (t *talk) deliver(response wire.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if answer := t.waiting[string(response.ID)]; answer != nil {
		delete(t.waiting, string(response.ID))
		answer <- response
	}
}

// callThere calls a method that a paired machine may call.
func (l *link) callThere(ctx context.Context, t *talk, request wire.RemoteRequest, result any) error {
	text, err := json.Marshal(request)
	if err != nil {
		return err
	}
	by, err := l.identity.sign(purposeCall, t.instance, string(text), t.protocol, t.there())
	if err != nil {
		return err
	}
	return t.call(ctx, wire.MethodRemoteCall, wire.RemoteCallParams{RemoteSigned: by, Call: string(text)}, result)
}

// current returns the connection, if there is one.
func (l *link) current() (*talk, *wire.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.talk == nil {
		return nil, wire.Errorf(wire.CodeGone, "the link to %s is lost", l.host.Name)
	}
	return l.talk, nil
}

// ask calls a method there, and checks that what comes is safe to show.
func (l *link) ask(ctx context.Context, method string, params, result any) *wire.Error {
	t, bad := l.current()
	if bad != nil {
		return bad
	}
	b, err := json.Marshal(params)
	if err != nil {
		return wire.Errorf(wire.CodeInternal, "%v", err)
	}
	return l.checked(t, l.callThere(ctx, t, wire.RemoteRequest{Method: method, Params: b}, result), result)
}

// checked turns the result of a call into what is reported here.
func (l *link) checked(t *talk, err error, result any) *wire.Error {
	var answered *wire.Error
	var refused *refusedHere
	switch {
	case errors.As(err, &answered):
		return answered
	case errors.As(err, &refused):
		return wire.Errorf(wire.CodeRefused, "%s: %s", l.host.Name, refused.why)
	case err != nil:
		return wire.Errorf(wire.CodeGone, "%s doesn't answer: %v", l.host.Name, err)
	}
	if err := fleet.CheckTexts(result); err != nil {
		t.end(&brokenRules{err.Error()})
		return wire.Errorf(wire.CodeRefused, "%s was hung up on: it sent %v", l.host.Name, err)
	}
	l.mu.Lock()
	offset := l.offset
	l.mu.Unlock()
	fleet.ShiftTimes(result, offset)
	return nil
}

// Session returns everything about a session there.
func (l *link) Session(ctx context.Context, id string) (d wire.SessionDetail, bad *wire.Error) {
	bad = l.ask(ctx, wire.MethodSession, wire.SessionParams{Session: id}, &d)
	if bad == nil && d.ID != id {
		return wire.SessionDetail{}, wire.Errorf(wire.CodeGone, "%s answered about another session", l.host.Name)
	}
	return d, bad
}

// Skip leaves a request to the agent's own prompt.
func (l *link) Skip(ctx context.Context, id, _ string) (result wire.InboxReplyResult, bad *wire.Error) {
	bad = l.ask(ctx, wire.MethodInboxSkip, wire.InboxIDParams{ID: id}, &result)
	return result, bad
}

// Send sends a text to a session there.
func (l *link) Send(ctx context.Context, p wire.SessionSendParams, _ string) (sent wire.SessionSent, bad *wire.Error) {
	bad = l.ask(ctx, wire.MethodSessionSend, p, &sent)
	return sent, bad
}

// Answer signs an answer and sends it. The PIN, if that machine wants one, isn't part of
// what is signed.
func (l *link) Answer(ctx context.Context, p wire.InboxReplyParams, _ string) (result wire.InboxReplyResult,
	bad *wire.Error) {
	t, bad := l.current()
	if bad != nil {
		return result, bad
	}
	l.mu.Lock()
	asked, waits := l.known.requests[p.ID]
	l.mu.Unlock()
	if !waits {
		return wire.InboxReplyResult{ID: p.ID, Outcome: wire.ReplyExpired, Why: wire.EndHookGone}, nil
	}
	if p.SHA256 == "" || p.SHA256 != asked.SHA256 {
		return result, wire.Errorf(wire.CodeConflict, "what you saw is not what request %s asks for; look at it again", p.ID)
	}
	in, err := signAnswer(l.identity, t.instance, t.there(), p)
	if err != nil {
		return result, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	b, err := json.Marshal(in)
	if err != nil {
		return result, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	err = t.call(ctx, wire.MethodRemoteAnswer, wire.RemoteAnswerParams{Device: l.identity.device, Answer: b}, &result)
	if bad = l.checked(t, err, &result); bad == nil && result.Item != nil {
		item := asked
		item.Status, item.End, item.EndedAt, item.Decision = result.Item.Status, result.Item.End, result.Item.EndedAt,
			result.Decided
		result.Item = &item // in full, as it was shown
	}
	return result, bad
}

// signAnswer signs an answer. at is the time on the other machine.
func signAnswer(id *identity, instance string, at time.Time, p wire.InboxReplyParams) (*devices.SignedAnswer, error) {
	in := &devices.SignedAnswer{Time: at.UnixMilli(), Nonce: devices.RandomID(16), PIN: p.PIN}
	p.PIN = ""
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	in.Answer = string(text)
	signature, err := devices.Sign(id.key, devices.AnswerMessage(instance, id.device, in, &p))
	in.Signature = base64.RawURLEncoding.EncodeToString(signature)
	return in, err
}

// leave makes the machine forget this one's key.
func (l *link) leave(ctx context.Context) *wire.Error {
	t, bad := l.current()
	if bad != nil {
		return bad
	}
	var result map[string]bool
	return l.checked(t, l.callThere(ctx, t, wire.RemoteRequest{Method: wire.RemoteLeave}, &result), &result)
}
