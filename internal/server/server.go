// Package server serves the daemon's socket: connections, hook frames, JSON-RPC and
// streams. It knows what a peer may ask and nothing of what the answers mean; the services
// that answer are passed in.
//
//   - server.go      accepts connections and detects which language a peer speaks
//   - peers.go       bounds them: which peer is disconnected to make room
//   - frames.go      one hook call
//   - containers.go  the socket for containers, on which there is nothing else
//   - rpc.go         JSON-RPC 2.0 and cmux's envelopes: one table of methods,
//     each with its authority
//   - reading.go     what agents may see of answers and streams
//   - notes.go, eventstream.go   who follows events
package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

const (
	// spareWorkers is how many idle workers wait for the next connection.
	spareWorkers = 16
	readBuffer   = 16 << 10
)

// Options configures a server.
type Options struct {
	Deps      services.Deps
	Evaluator Evaluator
	// ViewOf says what a peer may read. Nil: everybody reads everything.
	ViewOf func(peer proc.Cred) View
	// Refused is called for every call that was refused.
	Refused func(method string, peer proc.Cred, v authority.Verdict)
	Hooks   HookCalls
	// MetVersion is called with the version of a client that isn't this one's, once the
	// client has its answer.
	MetVersion func(version string)
	// HandleMux0 takes a line of one of mux0's clients, which expect no answer.
	HandleMux0 func(line []byte, peer proc.Cred)
	// AnswerCmux answers one line of cmux's protocol; nil without an error is
	// no answer.
	AnswerCmux func(line []byte, call CallFunc) ([]byte, error)
	Version    string
	// GiveUp is called if the server can't accept connections, and never will.
	GiveUp func(why string)
	// Given is the socket to listen on, where the keeper made it; nil: Listen makes one.
	Given *os.File

	// The methods. No name may be in two of them.
	Methods     map[string]services.Method
	LongMethods map[string]services.LongMethod
	Streams     map[string]StreamMethod
	// Checks come before the user is asked for a code at a trusted terminal.
	Checks map[string]services.Check
}

// Evaluator says who may call what.
type Evaluator interface {
	// May decides by the class of a method alone: for what may wait, and for
	// streams.
	May(class authority.Class, peer proc.Cred, env func() []string) authority.Verdict
	// EvaluateCall checks a call of a method that does not wait.
	EvaluateCall(name string, class authority.Class, params json.RawMessage, peer proc.Cred) (authority.Verdict,
		*wire.Error)
	// AskUser asks the user at the terminal, where a verdict needs a code or
	// a PIN. ctx ends when the peer hangs up.
	AskUser(ctx context.Context, name string, class authority.Class, params json.RawMessage, peer proc.Cred,
		v authority.Verdict) authority.Verdict
}

// Server is the service.
type Server struct {
	Options
	ctx   context.Context // ends when the daemon does
	peers *PeerRegistry
	// contained are those who came by the socket for containers.
	contained *PeerRegistry
	listener  *net.UnixListener
	socket    os.FileInfo // of the file that the listener made
	stopping  atomic.Bool
	// failing is since when connections couldn't be accepted, in nanoseconds; 0 while all is
	// well.
	failing atomic.Int64
}

// New makes a server. ctx ends what still runs when the daemon ends.
func New(ctx context.Context, o Options) *Server {
	return &Server{Options: o, ctx: ctx, peers: newPeers(Standard, nil), contained: newPeers(Contained, nil)}
}

// Listen opens the socket.
func (s *Server) Listen() error {
	socket := s.Deps.Dirs.Socket()
	if s.Given != nil {
		return s.listenOnGiven(socket)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return fmt.Errorf("%s: %w", socket, err)
	}
	s.listener = listener
	if err := os.Chmod(socket, 0o600); err != nil {
		return err
	}
	s.socket, err = os.Lstat(socket)
	return err
}

// listenOnGiven listens on the socket that the keeper made.
func (s *Server) listenOnGiven(socket string) error {
	if err := startListening(s.Given); err != nil {
		return fmt.Errorf("%s: %w", socket, err)
	}
	listener, err := net.FileListener(s.Given) // a copy, which closes at the next exec
	if err != nil {
		return fmt.Errorf("%s: %w", socket, err)
	}
	_ = s.Given.Close() // the copy listens
	var ok bool
	if s.listener, ok = listener.(*net.UnixListener); !ok {
		return fmt.Errorf("%s: isn't a socket that the keeper made", socket)
	}
	s.socket, err = os.Lstat(socket)
	return err
}

// InPlace reports whether callers still find the socket of this server.
func (s *Server) InPlace() bool {
	there, err := os.Lstat(s.Deps.Dirs.Socket())
	if err != nil {
		return !errors.Is(err, os.ErrNotExist)
	}
	return os.SameFile(there, s.socket)
}

// Close closes the socket.
func (s *Server) Close() {
	if s.listener != nil {
		s.listener.Close()
	}
}

// Stopping reports whether the server no longer accepts connections.
func (s *Server) Stopping() bool { return s.stopping.Load() }

// StopAccepting stops accepting connections. replaced says that the socket's file isn't this
// server's any more.
func (s *Server) StopAccepting(replaced bool) {
	s.stopping.Store(true)
	if replaced {
		s.listener.SetUnlinkOnClose(false)
		s.listener.Close()
		return
	}
	s.listener.Close()
	_ = os.Remove(s.Deps.Dirs.Socket())
}

// FinishCalls waits until every call being answered is done, but not longer than limit. It
// doesn't wait for calls that wait for hooks or for you.
func (s *Server) FinishCalls(limit time.Duration) {
	for end := time.Now().Add(limit); s.peers.Busy() && time.Now().Before(end); {
		time.Sleep(5 * time.Millisecond)
	}
}

// HangUp closes every connection.
func (s *Server) HangUp() { s.peers.CloseAll() }

// Serve accepts connections until StopAccepting, and returns when the last one is served. A
// worker handles one connection at a time and then waits for the next: their stacks stay
// warm. A worker that takes a connection makes sure that another one is waiting.
func (s *Server) Serve() {
	var (
		workers sync.WaitGroup
		idle    atomic.Int32
		work    func()
	)
	start := func() {
		idle.Add(1)
		workers.Go(work)
	}
	work = func() {
		reader := bufio.NewReaderSize(nil, readBuffer)
		for {
			conn, err := s.listener.AcceptUnix()
			if err != nil {
				if errors.Is(err, net.ErrClosed) {
					idle.Add(-1)
					return
				}
				// Out of descriptors, most likely: a silent peer makes room, or else the others get
				// time to end.
				s.Deps.Problems.Raise("accept", "connections cannot be accepted: "+err.Error(),
					"close programs that hold many files open")
				if !s.peers.MakeRoom() {
					s.noteFailing()
					time.Sleep(50 * time.Millisecond)
				}
				continue
			}
			s.failing.Store(0)
			if idle.Add(-1) == 0 && !s.stopping.Load() {
				start()
			}
			s.serveConnection(conn, reader)
			if s.stopping.Load() || idle.Add(1) > spareWorkers {
				if !s.stopping.Load() {
					idle.Add(-1)
				}
				return
			}
		}
	}
	sweepEnds, stopSweep := context.WithCancel(s.ctx)
	var sweeper sync.WaitGroup
	sweeper.Go(func() { s.sweepSilent(sweepEnds) })
	start()
	workers.Wait()
	stopSweep()
	sweeper.Wait()
}

// failTime is how long a server that can't accept connections keeps trying.
const failTime = 2 * time.Second

// noteFailing gives up if connections couldn't be accepted for a while, though no peer takes
// the room: the process itself has too few descriptors, and another daemon has its own.
func (s *Server) noteFailing() {
	now := time.Now().UnixNano()
	if s.failing.CompareAndSwap(0, now) || time.Duration(now-s.failing.Load()) < failTime {
		return
	}
	s.GiveUp("no connection can be accepted any more")
}

// serveConnection serves one connection in whichever language it speaks.
func (s *Server) serveConnection(conn *net.UnixConn, reader *bufio.Reader) {
	peer, err := proc.Peer(conn)
	if err != nil || peer.UID != ownUID {
		conn.Close() // the socket's folder is closed to others already; a mistake may have opened it
		return
	}
	entry := s.peers.Admit(conn, peer.PID)
	if entry == nil {
		conn.Close()
		return
	}
	defer func() {
		s.reportPanic(recover())
		entry.Leave()
		conn.Close()
	}()
	reader.Reset(conn)
	line, err := reader.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		if len(bytes.TrimSpace(line)) == 0 || !errors.Is(err, io.EOF) {
			return
		}
		// mux0's clients may close without a final newline.
	}
	full := errors.Is(err, bufio.ErrBufferFull)
	container := containerOf(peer)
	if !full && bytes.HasPrefix(line, framePrefix) {
		s.serveFrame(conn, reader, line, peer, entry, container)
		return
	}
	if full {
		if line, err = readLongLine(reader, line, entry); err != nil {
			return
		}
	}
	if container != "" && wire.DetectProtocol(line) != wire.Frame {
		s.refuseContainer(conn, peer)
		return
	}
	talk := conversation{server: s, conn: conn, reader: reader, peer: peer, entry: entry}
	switch wire.DetectProtocol(line) {
	case wire.Frame:
		s.serveFrame(conn, reader, line, peer, entry, container)
	case wire.RPC:
		if entry.BeginConversation() {
			talk.serveRPC(line)
		}
	case wire.Mux0:
		if entry.BeginConversation() {
			talk.serveMux0(line)
		}
	case wire.Cmux:
		if entry.BeginConversation() {
			talk.serveCmux(line)
		}
	default:
		reply, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: json.RawMessage("null"),
			Error: wire.Errorf(wire.CodeParse,
				"this line is no hook frame, no JSON-RPC 2.0, no mux0 and no cmux message; see docs/contributing/protocol.md")})
		s.writeReply(conn, reply)
	}
}

// reportPanic says that serving a connection failed, if it did.
func (s *Server) reportPanic(p any) {
	if p == nil {
		return
	}
	s.Deps.Problems.Raise("panic", "a connection made the daemon stumble; it went on",
		"please report it with "+s.Deps.Dirs.Log())
	s.Deps.Log.Error("panic while serving", "panic", p, "stack", string(debug.Stack()))
}

// sweepSilent hangs up on peers that never said what they want. One look a
// second for all is cheaper than a timer for each.
func (s *Server) sweepSilent(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.peers.Sweep()
			s.contained.Sweep()
		}
	}
}

// ownUID is our user id; that does not change.
var ownUID = os.Getuid()

// framePrefix begins every header our own client writes: the one case worth
// not parsing twice.
var framePrefix = []byte(`{"v":1,`)

var errNoRoom = errors.New("no room for a message of this size now")

// readLongLine goes on with a line that did not fit the reader's buffer. Room
// for it is asked for as it grows.
func readLongLine(reader *bufio.Reader, begun []byte, entry *Peer) ([]byte, error) {
	line := append([]byte(nil), begun...)
	for {
		more, err := reader.ReadSlice('\n')
		if !entry.ReserveBytes(int64(len(more))) {
			return nil, errNoRoom
		}
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

// writeReply sends a reply; a peer that does not read it in time loses it.
func (s *Server) writeReply(conn *net.UnixConn, b []byte) {
	// Nearly every reply fits the socket's buffer and is gone at once; the
	// deadline is for those that don't.
	if len(b) > 32<<10 {
		_ = conn.SetWriteDeadline(time.Now().Add(writeTime))
	}
	_, _ = conn.Write(b)
}
