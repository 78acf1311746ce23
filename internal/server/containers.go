package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Processes in containers report on a socket of their own, which takes hook calls and
// nothing else. A process from another namespace gets no more on the daemon's own socket.
// The pipeline reduces the answer to such a call.

// Contained holds the limits for all containers together: they take no room from callers of
// this machine.
var Contained = PeerLimits{
	Connections: 128, PerProcess: 32, Talks: 0, TalksEach: 0, Arriving: 32 << 20, Arrived: 32 << 20,
	Silence: Standard.Silence,
}

// containerOf names the container that a peer of the daemon's own socket runs in; "" for none.
func containerOf(peer proc.Cred) string {
	if !proc.InOtherNamespace(peer.PID) {
		return ""
	}
	return proc.Container(peer.PID)
}

// ContainerSocket listens for containers until Close.
type ContainerSocket struct {
	server   *Server
	listener *net.UnixListener
}

// ListenForContainers opens the socket for containers.
func (s *Server) ListenForContainers(socket string) (*ContainerSocket, error) {
	// Only one daemon runs, so the one that made this socket is gone.
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", socket, err)
	}
	if err := os.Chmod(socket, 0o600); err != nil {
		_ = listener.Close()
		return nil, err
	}
	return &ContainerSocket{s, listener}, nil
}

// Close closes the socket, and hangs up on who came by it.
func (c *ContainerSocket) Close() {
	_ = c.listener.Close()
	c.server.contained.CloseAll()
}

// Serve accepts connections until Close.
func (c *ContainerSocket) Serve() {
	for {
		conn, err := c.listener.AcceptUnix()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			c.server.contained.MakeRoom() // out of descriptors, most likely
			continue
		}
		go c.server.serveContained(conn)
	}
}

func (s *Server) serveContained(conn *net.UnixConn) {
	defer conn.Close()
	peer, err := proc.Peer(conn)
	if err != nil || peer.UID != ownUID {
		return
	}
	entry := s.contained.Admit(conn, peer.PID)
	if entry == nil {
		return
	}
	defer func() {
		s.reportPanic(recover())
		entry.Leave()
	}()
	reader := bufio.NewReaderSize(conn, readBuffer)
	line, err := reader.ReadSlice('\n')
	if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
		return
	}
	if errors.Is(err, bufio.ErrBufferFull) {
		if line, err = readLongLine(reader, line, entry); err != nil {
			return
		}
	}
	if !bytes.HasPrefix(line, framePrefix) && wire.DetectProtocol(line) != wire.Frame {
		s.refuseContainer(conn, peer)
		return
	}
	s.serveFrame(conn, reader, line, peer, entry, proc.Container(peer.PID))
}

// refuseContainer answers a caller in a container that it may only report, and reports the
// attempt to you.
func (s *Server) refuseContainer(conn *net.UnixConn, peer proc.Cred) {
	verdict := authority.Elsewhere()
	s.Refused("anything but hook calls", peer, verdict)
	reply, err := wire.Line(nil, wire.Response{Version: "2.0", ID: json.RawMessage("null"),
		Error: wire.Errorf(wire.CodeRefused, "%s", verdict.Reason())})
	if err == nil {
		s.writeReply(conn, reply)
	}
}
