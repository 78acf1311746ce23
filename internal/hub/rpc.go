package hub

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// method is one thing the hub can be asked, with who may.
type method struct {
	class authority.Class
	run   func(params json.RawMessage, peer proc.Cred) (any, *wire.Error)
}

// longMethod is one that may wait for hooks or a person.
type longMethod struct {
	class authority.Class
	run   func(ctx context.Context, params json.RawMessage, peer proc.Cred) (any, *wire.Error)
}

// longMethods are those that may wait. Their ctx ends when the caller hangs up.
func (h *Hub) longMethods() map[string]longMethod {
	return map[string]longMethod{
		wire.MethodPush: {authority.Report, h.doPush},
	}
}

// goneWith calls cancel when ctx ends: a caller that hung up.
func goneWith(ctx context.Context, cancel func()) (stop func()) {
	off := context.AfterFunc(ctx, cancel)
	return func() { off() }
}

// hangUp ends a context when the peer hangs up. Unlike watchGone it leaves what
// the peer sends in the reader: the next request may come before the answer to
// this one.
func hangUp(conn *net.UnixConn, reader *bufio.Reader, cancel func()) (stop func()) {
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

// callOn runs a method for a connection.
func (h *Hub) callOn(conn *net.UnixConn, reader *bufio.Reader, entry *connection, name string, params json.RawMessage, peer proc.Cred) (json.RawMessage, *wire.Error) {
	m, long := h.long[name]
	// A stopping hub waits for this answer, as it may be the one to its own
	// stop; what may take long asks again.
	entry.short.Store(!long)
	if !long {
		return h.callJudged(conn, reader, entry, name, params, peer)
	}
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	stop := hangUp(conn, reader, cancel)
	defer stop()
	_ = conn.SetReadDeadline(time.Time{})
	return h.run(name, m.class, peer, func() (any, *wire.Error) { return m.run(ctx, params, peer) })
}

func (h *Hub) run(name string, class authority.Class, peer proc.Cred, do func() (any, *wire.Error)) (json.RawMessage, *wire.Error) {
	return h.runJudged(name, h.judge.May(class, peer, nil), peer, do)
}

// runJudged runs a method for a peer that was judged.
func (h *Hub) runJudged(name string, verdict authority.Verdict, peer proc.Cred, do func() (any, *wire.Error)) (json.RawMessage, *wire.Error) {
	if !verdict.OK {
		h.refused(name, peer, verdict)
		return nil, wire.Errorf(wire.CodeRefused, "%s", verdict.Reason)
	}
	result, err := do()
	if err != nil {
		return nil, err
	}
	b, marshalErr := json.Marshal(result)
	if marshalErr != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", marshalErr)
	}
	return b, nil
}

// idleRPC is how long a connection may stay open between two requests.
const idleRPC = 5 * time.Minute

func (h *Hub) nextLine(conn *net.UnixConn, reader *bufio.Reader) ([]byte, error) {
	_ = conn.SetReadDeadline(time.Now().Add(idleRPC))
	line, err := reader.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return readLine(reader, line)
	}
	return line, err
}

// serveRPC answers JSON-RPC 2.0, one message per line, in order. A stream
// takes the connection over.
func (h *Hub) serveRPC(conn *net.UnixConn, reader *bufio.Reader, line []byte, peer proc.Cred, entry *connection) {
	entry.heard()
	for {
		var request wire.Request
		response := wire.Response{Version: "2.0", ID: json.RawMessage("null")}
		if err := json.Unmarshal(line, &request); err != nil {
			response.Error = wire.Errorf(wire.CodeParse, "this line is no JSON-RPC request: %v", err)
		} else if request.Version != "2.0" || request.Method == "" {
			response.Error = wire.Errorf(wire.CodeInvalid, `a request needs "jsonrpc":"2.0" and a method`)
			if request.ID != nil {
				response.ID = request.ID
			}
		} else {
			if request.ID != nil {
				response.ID = request.ID
			}
			if request.Method == wire.MethodStream || request.Method == wire.MethodFeedStream {
				var params wire.StreamParams
				into := any(&params)
				if request.Method == wire.MethodFeedStream {
					into = &struct{}{}
				}
				if bad := read(request.Params, into); bad != nil {
					response.Error = bad
				} else if verdict := h.judge.May(authority.Read, peer, nil); !verdict.OK {
					response.Error = wire.Errorf(wire.CodeRefused, "%s", verdict.Reason)
				} else {
					_ = conn.SetReadDeadline(time.Time{})
					if request.Method == wire.MethodFeedStream {
						h.serveFeedStream(conn, response.ID, peer)
					} else {
						h.serveStream(conn, response.ID, params)
					}
					return
				}
			} else if request.Method == wire.MethodOutbox {
				response.Result, response.Error = h.servePoll(conn, request.Params, peer, h.pollOutbox)
			} else if request.Method == wire.MethodWanted {
				response.Result, response.Error = h.servePoll(conn, request.Params, peer, h.modules.AwaitWanted)
			} else {
				result, err := h.callOn(conn, reader, entry, request.Method, request.Params, peer)
				response.Result, response.Error = result, err
			}
		}
		if request.ID != nil || response.Error != nil && request.Method == "" {
			out, err := wire.Line(nil, response)
			if err != nil {
				return
			}
			_ = conn.SetWriteDeadline(time.Now().Add(streamWrite))
			if _, err := conn.Write(out); err != nil {
				return
			}
		}
		entry.short.Store(false)
		var err error
		if line, err = h.nextLine(conn, reader); err != nil {
			return
		}
	}
}

// read reads the parameters of a method.
func read(params json.RawMessage, into any) *wire.Error { return services.ReadParams(params, into) }

// addMethods puts the methods of a service into the table.
func addMethods(table map[string]method, own map[string]services.Method) {
	for name, m := range own {
		table[name] = method{m.Class, m.Run}
	}
}
