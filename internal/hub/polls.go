package hub

import (
	"context"
	"encoding/json"
	"net"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// servePoll answers a plugin that waits for something to happen. One that hung
// up is not waited for, and is not counted as listening.
func (h *Hub) servePoll(conn *net.UnixConn, params json.RawMessage, peer proc.Cred, poll func(context.Context, json.RawMessage, proc.Cred) (any, *wire.Error)) (json.RawMessage, *wire.Error) {
	if verdict := h.judge.May(authority.Report, peer, nil); !verdict.OK {
		return nil, wire.Errorf(wire.CodeRefused, "%s", verdict.Reason)
	}
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	_ = conn.SetReadDeadline(time.Time{})
	stop := watchGone(conn, cancel)
	result, err := poll(ctx, params, peer)
	stop()
	if err != nil {
		return nil, err
	}
	b, _ := json.Marshal(result)
	return b, nil
}
