package hub

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

const (
	// defaultSilence is how long a peer may take to say what it wants. A hook sends
	// everything at once; whoever is still silent then is broken or hostile.
	defaultSilence = 10 * time.Second
	// maxConnections bounds open connections; beyond it new ones are hung up
	// on, which a hook client answers with its neutral answer.
	maxConnections = 4096
	// spareWorkers is how many idle workers wait for the next connection.
	spareWorkers = 16
	readBuffer   = 16 << 10
)

// serve accepts connections until the listener closes. A worker handles one
// connection at a time and then waits for the next: their stacks stay warm.
// Whoever takes a connection sees to it that another worker is waiting.
func (h *Hub) serve() {
	var (
		workers sync.WaitGroup
		idle    atomic.Int32
		work    func()
	)
	start := func() {
		idle.Add(1)
		workers.Add(1)
		go work()
	}
	work = func() {
		defer workers.Done()
		reader := bufio.NewReaderSize(nil, readBuffer)
		for {
			conn, err := h.listener.AcceptUnix()
			if err != nil {
				if errors.Is(err, net.ErrClosed) {
					idle.Add(-1)
					return
				}
				// Out of descriptors, most likely: give the others time to end.
				h.deps.Problems.Raise("accept", "connections cannot be accepted: "+err.Error(), "close programs that hold many files open")
				time.Sleep(50 * time.Millisecond)
				continue
			}
			if idle.Add(-1) == 0 && !h.stopping.Load() {
				start()
			}
			h.handle(conn, reader)
			if h.stopping.Load() || idle.Add(1) > spareWorkers {
				if !h.stopping.Load() {
					idle.Add(-1)
				}
				return
			}
		}
	}
	start()
	workers.Wait()
}

// handle serves one connection in whichever language it speaks.
func (h *Hub) handle(conn *net.UnixConn, reader *bufio.Reader) {
	entry := h.conns.add(conn)
	if entry == nil {
		conn.Close()
		return
	}
	defer func() {
		if p := recover(); p != nil {
			h.deps.Problems.Raise("panic", "a connection made the hub stumble; it went on", "please report it with "+h.deps.Dirs.Log())
			h.deps.Log.Error("panic while serving", "panic", p, "stack", stack())
		}
		h.conns.remove(entry)
		conn.Close()
	}()
	peer, err := proc.Peer(conn)
	if err != nil || !h.sameUser(peer) {
		return
	}
	reader.Reset(conn)
	line, err := reader.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		if len(bytes.TrimSpace(line)) == 0 || !errors.Is(err, io.EOF) {
			return
		}
		// mux0's clients may close without a final newline.
	}
	full := errors.Is(err, bufio.ErrBufferFull)
	if !full && bytes.HasPrefix(line, framePrefix) {
		h.serveFrame(conn, reader, line, peer, entry)
		return
	}
	if full {
		rest, err := readLine(reader, line)
		if err != nil {
			return
		}
		line = rest
	}
	switch wire.Tell(line) {
	case wire.Frame:
		h.serveFrame(conn, reader, line, peer, entry)
	case wire.RPC:
		if h.conns.talk(entry) {
			h.serveRPC(conn, reader, line, peer, entry)
		}
	case wire.Mux0:
		if h.conns.talk(entry) {
			h.serveMux0(conn, reader, line, peer, entry)
		}
	case wire.Cmux:
		if h.conns.talk(entry) {
			h.serveCmux(conn, reader, line, peer, entry)
		}
	default:
		reply, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: []byte("null"),
			Error: wire.Errorf(wire.CodeParse, "this line is no hook frame, no JSON-RPC 2.0, no mux0 and no cmux message; see docs/protocol.md")})
		h.write(conn, reply)
	}
}

// framePrefix begins every header our own client writes: the one case worth
// not parsing twice.
var framePrefix = []byte(`{"v":1,`)

// readLine goes on with a line that did not fit the reader's buffer.
func readLine(reader *bufio.Reader, begun []byte) ([]byte, error) {
	line := append([]byte(nil), begun...)
	for {
		more, err := reader.ReadSlice('\n')
		line = append(line, more...)
		if err == nil {
			return line, nil
		}
		if errors.Is(err, io.EOF) {
			return line, nil // mux0's clients may close without a final newline
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
		if len(line) > wire.MaxLine {
			return nil, errors.New("line too long")
		}
	}
}

// write sends a reply; a peer that does not read it in time loses it.
func (h *Hub) write(conn *net.UnixConn, b []byte) bool {
	// Nearly every reply fits the socket's buffer and is gone at once; the
	// deadline is for those that don't.
	if len(b) > 32<<10 {
		_ = conn.SetWriteDeadline(time.Now().Add(h.conns.silence))
	}
	_, err := conn.Write(b)
	return err == nil
}

var envBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

var replyBuffers = sync.Pool{New: func() any { b := make([]byte, 0, 4096); return &b }}

// serveFrame answers one hook call.
func (h *Hub) serveFrame(conn *net.UnixConn, reader *bufio.Reader, line []byte, peer proc.Cred, entry *connection) {
	request, payloadLen, envLen, err := frame.ParseHeader(line)
	if err != nil {
		h.deps.Log.Warn("a hook frame could not be read", "error", err)
		return
	}
	// The caller's environment is nobody's once it is answered.
	spare := envBuffers.Get().(*[]byte)
	payload, env, err := frame.ReadBodiesInto(*spare, reader, payloadLen, envLen, frame.Standard)
	if err != nil {
		h.deps.Log.Warn("a hook frame could not be read", "error", err)
		return
	}
	defer func() {
		if cap(env) <= 64<<10 {
			clear(env)
			*spare = env[:0]
			envBuffers.Put(spare)
		}
	}()
	entry.heard()
	entry.short.Store(true)
	in := arrival{
		id: request.ID, agent: request.Agent, event: request.Event, seq: request.Seq, cwd: request.Cwd,
		payload: payload, env: env, truncated: request.Truncated,
		inner: request.Inner, limit: request.Deadline, at: time.Now(), peer: peer,
		gone: func(cancel func()) func() {
			entry.short.Store(false) // this will take longer: a stopping hub does not wait for it
			return watchGone(conn, cancel)
		},
	}
	if in.id == "" {
		in.id = frame.NewID()
	}
	if request.Holds {
		in.held = func(request, why string, input []byte) {
			h.write(conn, frame.AppendHeld(nil, in.id, request, why, input))
		}
	}
	if request.Version != "" && request.Version != h.version {
		defer h.metNewer(request.Version) // its own call waits no more then
	}
	if in.inner {
		h.serveInner(conn, &in)
		return
	}
	answer, _, ok := h.answer(h.ctx, &in)
	defer h.finish(&in)
	if !ok {
		return
	}
	buf := replyBuffers.Get().(*[]byte)
	out := frame.AppendReply((*buf)[:0], &frame.Reply{ID: in.id, Exit: answer.Exit, Stdout: []byte(answer.Stdout), Stderr: []byte(answer.Stderr)})
	h.write(conn, out)
	if cap(out) <= 64<<10 {
		*buf = out
		replyBuffers.Put(buf)
	}
}

// answer walks the corridor once per id, however often the id comes.
func (h *Hub) answer(ctx context.Context, in *arrival) (neutral.Answer, event.Decision, bool) {
	if row, known := neutral.Lookup(in.agent, in.event); known && !row.Decides {
		return h.walk(ctx, in)
	}
	call, ready, first := h.open.enter(in.id)
	if !first {
		if ready != nil {
			select {
			case <-ready:
			case <-ctx.Done():
				return neutral.Answer{}, event.Decision{}, false
			}
		}
		return call.answer, call.decision, call.answered
	}
	answered := false
	defer func() {
		if !answered {
			h.open.abandon(in.id, call)
		}
	}()
	call.answer, call.decision, call.answered = h.walk(ctx, in)
	if call.answered {
		answered = true
		h.open.leave(in.id, call)
	}
	return call.answer, call.decision, call.answered
}

// watchGone calls cancel when the peer hangs up. A hook client keeps its side
// open until it has its answer and sends nothing more.
func watchGone(conn *net.UnixConn, cancel func()) (stop func()) {
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

// sameUser: the socket's folder is closed to others already; this holds also
// where a mistake opened it.
func (h *Hub) sameUser(peer proc.Cred) bool { return peer.UID == selfUID() }

// connections are all open ones, so that silent ones can be swept and all be
// closed at the end.
type connections struct {
	silence time.Duration
	mu      sync.Mutex
	talks   int // conversations under way
	open    map[*connection]struct{}
}

type connection struct {
	conn  *net.UnixConn
	talks bool        // it holds a conversation: JSON-RPC, cmux
	since int64       // unix nano
	spoke atomic.Bool // it said what it wants
	short atomic.Bool // it is being answered and will be done soon
}

func (c *connection) heard() { c.spoke.Store(true) }

// maxTalks bounds conversations, which may stay open for long, so that there
// is always room for hooks.
const maxTalks = 512

// talk lets a conversation begin, or refuses when there are too many.
func (c *connections) talk(entry *connection) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.talks >= maxTalks {
		return false
	}
	c.talks++
	entry.talks = true
	return true
}

func newConnections() *connections {
	return &connections{silence: defaultSilence, open: make(map[*connection]struct{})}
}

func (c *connections) add(conn *net.UnixConn) *connection {
	entry := &connection{conn: conn, since: time.Now().UnixNano()}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.open) >= maxConnections {
		return nil
	}
	c.open[entry] = struct{}{}
	return entry
}

func (c *connections) remove(entry *connection) {
	c.mu.Lock()
	if entry.talks {
		c.talks--
	}
	delete(c.open, entry)
	c.mu.Unlock()
}

// sweep hangs up on peers that never said what they want. One look a second
// for all is cheaper than a timer for each.
func (c *connections) sweep(ctx context.Context) {
	tick := time.NewTicker(c.silence / 10)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			limit := now.Add(-c.silence).UnixNano()
			c.mu.Lock()
			for entry := range c.open {
				if !entry.spoke.Load() && entry.since < limit {
					entry.conn.Close()
				}
			}
			c.mu.Unlock()
		}
	}
}

// finish waits until everybody who is being answered has been, but not longer
// than patience.
func (c *connections) finish(patience time.Duration) {
	end := time.Now().Add(patience)
	for time.Now().Before(end) {
		c.mu.Lock()
		busy := false
		for entry := range c.open {
			if entry.short.Load() {
				busy = true
				break
			}
		}
		c.mu.Unlock()
		if !busy {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (c *connections) closeAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for entry := range c.open {
		entry.conn.Close()
	}
}
