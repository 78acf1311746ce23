package acp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/hookmux/hookmux/event"
)

// Answer is the daemon's reply to a request for permission. Without a Result the
// editor is asked.
type Answer struct {
	Result json.RawMessage
	Reason string // of a refusal, for the user at the editor
}

// Daemon takes events in the order in which they are given.
type Daemon interface {
	// Report reports an event and returns at once; then, if not nil, is called when
	// the daemon has it, or can't be reached.
	Report(r Report, then func())
	// Decide asks about an event and returns at once. waits is called when the user
	// is being asked, and answer with the result, unless ctx ended.
	Decide(ctx context.Context, r Report, waits func(), answer func(Answer))
}

// openRequests holds the requests for permission that are open. The first answer, hookmux's
// or the editor's, is used; a later one from the other is dropped.
type openRequests struct {
	daemon   Daemon
	toAgent  func(line []byte)
	toEditor func(line []byte)
	given    func(p *Permission) // called when hookmux says yes

	mu   sync.Mutex
	open map[string]*openRequest // by number
}

type openRequest struct {
	*Permission
	line    []byte // as the agent wrote it
	shown   bool   // the editor has it
	decided bool   // hookmux answered it; the editor's answer is still to come
	cancel  context.CancelFunc
}

// askDaemon has the daemon decide about a request.
func (d *openRequests) askDaemon(ctx context.Context, p *Permission, line []byte) {
	ctx, cancel := context.WithCancel(ctx)
	r := &openRequest{Permission: p, line: line, cancel: cancel}
	d.mu.Lock()
	if d.open == nil {
		d.open = map[string]*openRequest{}
	}
	if d.open[p.Key] != nil {
		// It would be unclear which of the two an answer is for.
		d.mu.Unlock()
		cancel()
		d.toAgent(errorLine(p.ID, codeInvalid, "hookmux: a request with this number is open already"))
		return
	}
	d.open[p.Key] = r
	d.mu.Unlock()
	waits := func() { d.askEditor(r) }
	if p.Unattended {
		waits = func() {} // the editor would not ask, but do it
	}
	d.daemon.Decide(ctx, p.Report, waits, func(a Answer) { d.deliverDaemonAnswer(r, a) })
}

// askEditor has the editor ask.
func (d *openRequests) askEditor(r *openRequest) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[r.Key] == r && !r.shown && !r.decided {
		r.shown = true
		if r.Unattended {
			delete(d.open, r.Key) // the editor's answer goes to the agent as it comes
			r.cancel()
		}
		d.toEditor(r.line)
	}
}

// deliverDaemonAnswer sends the daemon's answer to the agent, and to an editor that asks.
func (d *openRequests) deliverDaemonAnswer(r *openRequest, a Answer) {
	if len(a.Result) == 0 {
		d.askEditor(r)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[r.Key] != r || r.decided {
		return
	}
	r.decided = true
	r.cancel()
	if r.shown {
		d.toEditor(notificationLine("$/cancel_request", map[string]any{"requestId": r.ID}))
	} else {
		delete(d.open, r.Key)
	}
	if r.Unattended {
		d.toAgent(errorLine(r.ID, codeRefused, event.FromHookmux(a.Reason)))
		return
	}
	if r.isYes(a.Result) {
		d.given(r.Permission)
	}
	if a.Reason != "" {
		d.toEditor(refusalLine(r.Permission, a.Reason))
	}
	d.toAgent(resultLine(r.ID, a.Result))
}

// refusalLine shows in the editor why a call was denied: the protocol has no place for a
// reason in the answer.
func refusalLine(p *Permission, reason string) []byte {
	text := map[string]any{"type": "text", "text": event.FromHookmux(reason)}
	return notificationLine("session/update", map[string]any{"sessionId": p.Session, "update": map[string]any{
		"sessionUpdate": "tool_call_update", "toolCallId": p.Call,
		"content": []any{map[string]any{"type": "content", "content": text}},
	}})
}

// answeredByEditor records that the editor answered a request. pass is false if hookmux
// answered before. The request is returned if the editor's answer is used.
func (d *openRequests) answeredByEditor(key string) (p *Permission, withdraw func(), pass bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.open[key]
	if r == nil {
		return nil, nil, true
	}
	delete(d.open, key)
	if r.decided {
		return nil, nil, false
	}
	return r.Permission, r.cancel, true
}

// cancelSession answers requests of a session whose turn the editor stops, if the editor
// hasn't seen them; those it has seen it answers itself.
func (d *openRequests) cancelSession(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for key, r := range d.open {
		if r.Session == session && !r.shown && !r.decided {
			delete(d.open, key)
			r.cancel()
			if r.Unattended {
				d.toAgent(errorLine(r.ID, codeCancelled, "Request cancelled"))
				continue
			}
			d.toAgent(resultLine(r.ID, json.RawMessage(`{"outcome":{"outcome":"cancelled"}}`)))
		}
	}
}

// Errors that answer requests: the protocol's for a request that was withdrawn and for an
// invalid one; hookmux's own for what guards or hooks deny.
const (
	codeCancelled = -32800
	codeInvalid   = -32600
	codeRefused   = -32001
)

// withdraw ends a request that the agent takes back. pass says that the editor has to know.
func (d *openRequests) withdraw(key string) (pass bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.open[key]
	if r == nil {
		return true
	}
	r.cancel()
	if r.shown {
		return true // it answers the agent
	}
	delete(d.open, key)
	d.toAgent(errorLine(r.ID, codeCancelled, "Request cancelled"))
	return false
}

// isOpen reports whether a request waits for an answer.
func (d *openRequests) isOpen(key string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open[key] != nil
}

// closeAll ends every request: nothing waits for them any more.
func (d *openRequests) closeAll() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.open {
		r.cancel()
	}
	clear(d.open)
}
