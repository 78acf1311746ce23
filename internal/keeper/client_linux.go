package keeper

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// Connection is a connection to the keeper. A process that serves keeps it open.
type Connection struct {
	Conn   int
	Folder int // the user's outer folder
	Inner  int // and the one in it, see [OpenFolder]
	Socket int // for Serve
}

// answerWait limits how long the keeper may take.
const answerWait = 5 * time.Second

// ErrUnreachable says that the keeper isn't there.
var ErrUnreachable = errors.New("hookmux's system service doesn't answer")

// Send asks the keeper. Descriptors come with CLOEXEC.
func Send(socket string, request Request) (Connection, Reply, error) {
	none := Connection{-1, -1, -1, -1}
	conn, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return none, Reply{}, err
	}
	c := Connection{Conn: conn, Folder: -1, Inner: -1, Socket: -1}
	wait := unix.NsecToTimeval(answerWait.Nanoseconds())
	_ = unix.SetsockoptTimeval(conn, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	_ = unix.SetsockoptTimeval(conn, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait)
	if err := uninterrupted(func() error { return unix.Connect(conn, &unix.SockaddrUnix{Name: socket}) }); err != nil {
		c.Close()
		return none, Reply{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	// A keeper with too many connections of this user hangs up at once, and has said so.
	err = uninterrupted(func() error { return unix.Sendmsg(conn, []byte{byte(request)}, nil, nil, unix.MSG_NOSIGNAL) })
	if err != nil && !errors.Is(err, unix.EPIPE) {
		c.Close()
		return none, Reply{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	r, err := c.receive(request)
	if err != nil || r.Status != Granted {
		c.Close()
		return none, r, err
	}
	return c, r, nil
}

func (c *Connection) receive(request Request) (Reply, error) {
	var b [replySize + 1]byte
	var rights [64]byte
	var n, m int
	err := uninterrupted(func() (err error) {
		n, m, _, _, err = unix.Recvmsg(c.Conn, b[:], rights[:], unix.MSG_CMSG_CLOEXEC)
		return err
	})
	if err != nil {
		return Reply{}, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	r, err := parseReply(b[:n])
	if err != nil || r.Status != Granted {
		return r, err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:m])
	if err != nil || len(messages) != 1 {
		return Reply{}, errReply
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	switch {
	case err == nil && request == Use && len(fds) == 2:
		c.Folder, c.Inner = fds[0], fds[1]
	case err == nil && request == Serve && len(fds) == 3:
		c.Folder, c.Inner, c.Socket = fds[0], fds[1], fds[2]
	default:
		return Reply{}, errReply
	}
	return r, nil
}

// uninterrupted makes a system call again that a signal interrupted. The kernel doesn't do
// that itself on a socket with a time limit.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Close closes what there is.
func (c *Connection) Close() {
	for _, fd := range []int{c.Conn, c.Folder, c.Inner, c.Socket} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}
