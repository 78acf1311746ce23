package hub

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// method is one thing the hub can be asked, with who may.
type method struct {
	class authority.Class
	run   func(params json.RawMessage, peer proc.Cred) (any, *wire.Error)
}

// call runs a method if the peer may.
func (h *Hub) call(name string, params json.RawMessage, peer proc.Cred) (json.RawMessage, *wire.Error) {
	m, ok := h.rpc[name]
	if !ok {
		return nil, wire.Errorf(wire.CodeNoMethod, "there is no method %q; docs/protocol.md lists them", name)
	}
	if verdict := h.judge.May(m.class, peer, nil); !verdict.OK {
		h.refused(name, peer, verdict)
		return nil, wire.Errorf(wire.CodeRefused, "%s", verdict.Reason)
	}
	result, err := m.run(params, peer)
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
			if request.Method == wire.MethodStream {
				var params wire.StreamParams
				if bad := read(request.Params, &params); bad != nil {
					response.Error = bad
				} else if verdict := h.judge.May(authority.Read, peer, nil); !verdict.OK {
					response.Error = wire.Errorf(wire.CodeRefused, "%s", verdict.Reason)
				} else {
					_ = conn.SetReadDeadline(time.Time{})
					h.serveStream(conn, response.ID, params)
					return
				}
			} else if request.Method == wire.MethodOutbox {
				response.Result, response.Error = h.serveOutbox(conn, request.Params, peer)
			} else {
				// A stopping hub waits for this answer, as it may be the one to
				// its own stop; a pushed event may take long and asks again.
				entry.short.Store(request.Method != wire.MethodPush)
				result, err := h.call(request.Method, request.Params, peer)
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

// read takes params apart; unknown keys are errors, so that a typing error is
// not silently ignored.
func read(params json.RawMessage, into any) *wire.Error {
	if len(params) == 0 {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(params))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return wire.Errorf(wire.CodeParams, "the parameters cannot be read: %v", err)
	}
	return nil
}
