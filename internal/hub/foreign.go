package hub

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"time"

	"github.com/hookmux/hookmux/internal/compat/cmux"
	"github.com/hookmux/hookmux/internal/compat/mux0"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// serveMux0 takes the lines of one of mux0's clients, which expect no answer.
// Most send one and leave.
func (h *Hub) serveMux0(conn *net.UnixConn, reader *bufio.Reader, line []byte, peer proc.Cred, entry *connection) {
	for {
		if len(bytes.TrimSpace(line)) > 0 {
			if m, ok := mux0.ReadLine(line, h.deps.Catalogue, h.deps.Problems); ok {
				in := arrival{id: frame.NewID(), agent: m.Agent, event: m.Name, payload: m.Payload, at: time.Now(), peer: peer}
				h.walk(h.ctx, &in)
				h.finish(&in)
			}
		}
		entry.heard()
		var err error
		if line, err = h.nextLine(conn, reader); err != nil && len(line) == 0 {
			return
		}
	}
}

// serveCmux answers cmux's envelopes, one request after the other.
func (h *Hub) serveCmux(conn *net.UnixConn, reader *bufio.Reader, line []byte, peer proc.Cred, entry *connection) {
	entry.heard()
	for {
		entry.short.Store(true)
		out, err := cmux.Answer(line, func(method string, params json.RawMessage) (json.RawMessage, *wire.Error) {
			return h.callOn(conn, reader, entry, method, params, peer)
		})
		if err != nil {
			return
		}
		if out != nil {
			_ = conn.SetWriteDeadline(time.Now().Add(streamWrite)) // many answers fill a socket that nobody reads
			if !h.write(conn, out) {
				return
			}
		}
		entry.short.Store(false)
		if line, err = h.nextLine(conn, reader); err != nil {
			return
		}
	}
}
