package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

const (
	// idleTime is how long a conversation may stay open between two requests.
	idleTime = 5 * time.Minute
	// writeTime is how long a reader may leave its socket full.
	writeTime = 30 * time.Second
)

// StreamMethod is a method that takes the connection over. It reads the parameters
// and gives the stream.
type StreamMethod func(params json.RawMessage, peer proc.Cred) (Stream, *wire.Error)

// Stream sends the response to the request of this id first, then lines until ctx
// ends, which it does when the peer hangs up, or send is false.
type Stream func(ctx context.Context, id json.RawMessage, send func(line []byte) bool)

// CallFunc calls a method.
type CallFunc func(method string, params json.RawMessage) (json.RawMessage, *wire.Error)

// hasMethod reports whether a method exists.
func (s *Server) hasMethod(name string) bool {
	_, short := s.Methods[name]
	_, long := s.LongMethods[name]
	return short || long
}

// Call runs a method for the program that runs this daemon. It needs no trust: it isn't a
// peer on the socket, and could do as it likes anyway.
func (s *Server) Call(ctx context.Context, name string, params json.RawMessage) (any, *wire.Error) {
	peer := proc.Cred{UID: ownUID, PID: os.Getpid()}
	if m, ok := s.Methods[name]; ok {
		return m.Call(func() (context.Context, func()) { return ctx, func() {} }, params, peer)
	}
	if m, ok := s.LongMethods[name]; ok {
		return m(ctx, params, peer)
	}
	return nil, wire.Errorf(wire.CodeNoMethod, "there is no method %q", name)
}

// runChecked runs a method for a peer that was checked.
func (s *Server) runChecked(name string, verdict authority.Verdict, peer proc.Cred,
	run func() (any, *wire.Error)) (json.RawMessage, *wire.Error) {
	if !verdict.OK {
		s.Refused(name, peer, verdict)
		return nil, wire.Errorf(wire.CodeRefused, "%s", verdict.Reason())
	}
	result, err := run()
	if err != nil {
		return nil, err
	}
	b, marshalErr := json.Marshal(result)
	if marshalErr != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", marshalErr)
	}
	return b, nil
}

// conversation is a connection that asks one thing after the other.
type conversation struct {
	server *Server
	conn   *net.UnixConn
	reader *bufio.Reader
	peer   proc.Cred
	entry  *Peer
}

// callMethod runs a method of either table.
func (c *conversation) callMethod(name string, params json.RawMessage) (json.RawMessage, *wire.Error) {
	s := c.server
	long, isLong := s.LongMethods[name]
	// A stopping daemon waits for this answer, as it may be the one to its own
	// stop; who called what may take long asks again.
	c.entry.SetBusy(!isLong)
	class, known := wire.Methods[name], s.hasMethod(name)
	if known && class == authority.Decide && !proc.PeerLives(c.conn) {
		gone := authority.Gone()
		s.Refused(name, c.peer, gone)
		return nil, wire.Errorf(wire.CodeRefused, "%s", gone.Reason())
	}
	var run func() (any, *wire.Error)
	switch m, isMethod := s.Methods[name]; {
	case isLong:
		run = func() (any, *wire.Error) {
			c.entry.SetBusy(false)
			ctx, done := c.untilHangUp()
			defer done()
			return long(ctx, params, c.peer)
		}
	case isMethod:
		run = func() (any, *wire.Error) { return m.Call(c.waitForAnswer, params, c.peer) }
	default:
		return nil, wire.Errorf(wire.CodeNoMethod, "there is no method %q; docs/contributing/protocol.md lists them", name)
	}
	if class == authority.Read {
		return c.readMethod(name, params)
	}
	verdict, bad := s.Evaluator.EvaluateCall(name, class, params, c.peer)
	if bad != nil {
		return nil, bad
	}
	if verdict.Outcome == authority.NeedPIN || verdict.Outcome == authority.NeedCode {
		// A caller that isn't at a trusted terminal learns nothing but that.
		if check := s.Checks[name]; check != nil && verdict.Outcome == authority.NeedCode {
			if bad := check(params); bad != nil {
				return nil, bad
			}
		}
		verdict = c.askUser(name, class, params, verdict)
	}
	return s.runChecked(name, verdict, c.peer, run)
}

// readMethod runs a method that only shows something, and leaves out what the
// peer may not see.
func (c *conversation) readMethod(name string, params json.RawMessage) (json.RawMessage, *wire.Error) {
	s, view := c.server, c.viewOfPeer()
	if bad := view.mayRead(name); bad != nil {
		return nil, bad
	}
	if readings[name].widens {
		view = view.widened()
	}
	verdict := s.Evaluator.May(authority.Read, c.peer, nil)
	return s.runChecked(name, verdict, c.peer, func() (any, *wire.Error) {
		method := s.Methods[name]
		var answer any
		var failure *wire.Error
		if long, isLong := s.LongMethods[name]; isLong {
			ctx, done := c.untilHangUp()
			defer done()
			answer, failure = long(ctx, params, c.peer)
		} else if view.Limited && method.RunOwn != nil {
			answer, failure = method.RunOwn(params, view.owns)
		} else {
			answer, failure = method.Run(params, c.peer)
		}
		if view.hidesRequest(name, params, answer) {
			// Who asks for one request by its id is about to answer it.
			refusal := s.Evaluator.May(authority.Decide, c.peer, nil)
			s.Refused(name, c.peer, refusal)
			return nil, wire.Errorf(wire.CodeRefused, "%s", refusal.Reason())
		}
		return view.limitAnswer(name, answer, failure)
	})
}

// viewOfPeer returns what the peer may read. One that is gone may be anybody.
func (c *conversation) viewOfPeer() *View {
	if c.server.ViewOf == nil {
		return &View{}
	}
	if !proc.PeerLives(c.conn) {
		return &View{Limited: true}
	}
	view := c.server.ViewOf(c.peer)
	return &view
}

// askUser asks the user at the terminal while the caller waits.
func (c *conversation) askUser(name string, class authority.Class, params json.RawMessage,
	v authority.Verdict) authority.Verdict {
	ctx, done := c.waitForAnswer()
	defer done()
	return c.server.Evaluator.AskUser(ctx, name, class, params, c.peer, v)
}

// waitForAnswer starts waiting for you, until the caller hangs up.
func (c *conversation) waitForAnswer() (ctx context.Context, done func()) {
	c.entry.SetBusy(false) // a stopping daemon does not wait for a person
	ctx, stop := c.untilHangUp()
	return ctx, func() {
		stop()
		c.entry.SetBusy(true)
	}
}

// untilHangUp returns a context that ends when the caller hangs up.
func (c *conversation) untilHangUp() (ctx context.Context, done func()) {
	ctx, cancel := context.WithCancel(c.server.ctx)
	stop := peekHangUp(c.conn, c.reader, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// peekHangUp calls cancel when the peer hangs up. Unlike watchHangUp it leaves
// what the peer sends in the reader: the next request may come before the
// answer to this one.
func peekHangUp(conn *net.UnixConn, reader *bufio.Reader, cancel func()) (stop func()) {
	_ = conn.SetReadDeadline(time.Time{})
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		if _, err := reader.Peek(1); err != nil && !over.Load() {
			cancel()
		}
	}()
	return func() {
		over.Store(true)
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = conn.SetReadDeadline(time.Time{})
	}
}

func (c *conversation) nextLine() ([]byte, error) {
	c.entry.Release() // the room of the line before
	_ = c.conn.SetReadDeadline(time.Now().Add(idleTime))
	line, err := c.reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return readLongLine(c.reader, line, c.entry)
	}
	return line, err
}

func (c *conversation) sendLine(line []byte) bool {
	_ = c.conn.SetWriteDeadline(time.Now().Add(writeTime)) // many answers fill a socket that nobody reads
	_, err := c.conn.Write(line)
	return err == nil
}

// serveRPC answers JSON-RPC 2.0, one message per line, in order. A stream takes
// the connection over.
func (c *conversation) serveRPC(line []byte) {
	c.entry.MarkIdentified()
	for {
		var request wire.Request
		response := wire.Response{Version: "2.0", ID: json.RawMessage("null")}
		err := json.Unmarshal(line, &request)
		if err == nil && request.ID != nil {
			response.ID = request.ID
		}
		switch {
		case err != nil:
			response.Error = wire.Errorf(wire.CodeParse, "this line is no JSON-RPC request: %v", err)
		case request.Version != "2.0" || request.Method == "":
			response.Error = wire.Errorf(wire.CodeInvalid, `a request needs "jsonrpc":"2.0" and a method`)
		default:
			open, isStream := c.server.Streams[request.Method]
			if !isStream {
				response.Result, response.Error = c.callMethod(request.Method, request.Params)
				break
			}
			stream, bad := c.openStream(request.Method, open, request.Params)
			if bad == nil {
				c.runStream(request.Method, stream, response.ID)
				return
			}
			response.Error = bad
		}
		if request.ID != nil || response.Error != nil && request.Method == "" {
			out, err := wire.Line(nil, response)
			if err != nil || !c.sendLine(out) {
				return
			}
		}
		c.entry.SetBusy(false)
		if line, err = c.nextLine(); err != nil {
			return
		}
	}
}

func (c *conversation) openStream(name string, open StreamMethod,
	params json.RawMessage) (Stream, *wire.Error) {
	stream, bad := open(params, c.peer)
	if bad != nil {
		return nil, bad
	}
	if verdict := c.server.Evaluator.May(wire.Methods[name], c.peer, nil); !verdict.OK {
		return nil, wire.Errorf(wire.CodeRefused, "%s", verdict.Reason())
	}
	return stream, nil
}

func (c *conversation) runStream(name string, stream Stream, id json.RawMessage) {
	_ = c.conn.SetReadDeadline(time.Time{})
	ctx, cancel := context.WithCancel(c.server.ctx)
	defer cancel()
	stop := watchHangUp(c.conn, cancel)
	defer stop()
	stream(ctx, id, c.viewOfPeer().limitStream(name, c.sendLine))
}

// serveMux0 takes the lines of one of mux0's clients, which expect no answer.
// Most send one and leave.
func (c *conversation) serveMux0(line []byte) {
	for {
		if len(bytes.TrimSpace(line)) > 0 {
			c.server.HandleMux0(line, c.peer)
		}
		c.entry.MarkIdentified()
		var err error
		if line, err = c.nextLine(); err != nil && len(line) == 0 {
			return
		}
	}
}
