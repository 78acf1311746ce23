package server

import (
	"bufio"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// HookCalls answers hook calls.
type HookCalls interface {
	// AnswerHook answers one call. Without ok the caller is hung up on: it asks
	// the next daemon. after is done once the caller has its answer; it may be nil.
	AnswerHook(ctx context.Context, call *services.Call) (reply frame.Reply, after func(), ok bool)
}

var envBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

var replyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// serveFrame answers one hook call. container names the one that the caller runs in, if it does.
func (s *Server) serveFrame(conn *net.UnixConn, reader *bufio.Reader, line []byte, peer proc.Cred, entry *Peer,
	container string) {
	request, payloadLen, envLen, err := frame.ParseHeader(line)
	if err != nil {
		s.Deps.Log.Warn("a hook frame could not be read", "error", err)
		return
	}
	if !entry.ReserveBytes(int64(payloadLen) + int64(envLen)) {
		s.Deps.Log.Warn("a hook frame found no room", "payload", payloadLen)
		return
	}
	// The caller's environment isn't needed once the call is answered.
	spare := envBuffers.Get().(*[]byte)
	payload, env, err := frame.ReadBodiesInto(*spare, reader, payloadLen, envLen, frame.Standard)
	if err != nil {
		s.Deps.Log.Warn("a hook frame could not be read", "error", err)
		return
	}
	defer func() {
		if cap(env) <= 64<<10 {
			clear(env)
			*spare = env[:0]
			envBuffers.Put(spare)
		}
	}()
	entry.Arrived()
	entry.MarkIdentified()
	entry.SetBusy(true)
	if container != "" && request.Inner {
		return
	}
	call := services.Call{Frame: request, At: time.Now(), Peer: peer, Container: container}
	call.Frame.Payload, call.Frame.Env = payload, env
	if call.Frame.ID == "" {
		call.Frame.ID = frame.NewID()
	}
	call.OnGone = func(cancel func()) func() {
		entry.SetBusy(false) // this will take longer: a stopping daemon does not wait for it
		return watchHangUp(conn, cancel)
	}
	if request.Waits && container == "" {
		call.OnWait = func(request, why string, input []byte) {
			s.writeReply(conn, frame.AppendWaiting(nil, call.Frame.ID, request, why, input))
		}
	}
	if request.Version != "" && request.Version != s.Version && container == "" {
		defer s.MetVersion(request.Version) // its own call waits no more then
	}
	reply, after, ok := s.Hooks.AnswerHook(s.ctx, &call)
	if after != nil {
		defer after()
	}
	if !ok {
		return
	}
	buf := replyBuffers.Get().(*[]byte)
	out := frame.AppendReply((*buf)[:0], &reply)
	s.writeReply(conn, out)
	if cap(out) <= 64<<10 {
		*buf = out
		replyBuffers.Put(buf)
	}
}

// watchHangUp calls cancel when the peer hangs up. A hook client keeps its side
// open until it has its answer and sends nothing more.
func watchHangUp(conn *net.UnixConn, cancel func()) (stop func()) {
	var over atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		var one [1]byte
		for {
			n, err := conn.Read(one[:])
			if err != nil {
				if !over.Load() {
					cancel()
				}
				return
			}
			if n == 0 {
				return
			}
		}
	}()
	return func() {
		over.Store(true)
		_ = conn.SetReadDeadline(time.Unix(1, 0))
		<-done
		_ = conn.SetReadDeadline(time.Time{})
	}
}
