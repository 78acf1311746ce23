package keeper

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// perUser and inAll bound connections, those of peers with the group and the others
	// apart: in a user namespace, which has no group, a user can connect as many others, and
	// that keeps no daemon waiting. A daemon needs one, and each evaluation one for a moment.
	perUser = 32
	inAll   = 1024
	// requestWait is how long a peer may take for its byte.
	requestWait = 2 * time.Second
	// freeDeaths daemons may die within deathsWithin; then the next one waits.
	freeDeaths   = 8
	deathsWithin = 30 * time.Second
)

// Server keeps folders and sockets of users.
type Server struct {
	Run   string // the folder of sockets
	State string // the folder of users' folders
	Group int    // the group that proves a peer
	Log   io.Writer

	mu    sync.Mutex
	users map[int]*user
	all   [2]int // connections without and with the group
}

// user holds what the keeper knows about one user.
type user struct {
	connections [2]int // without and with the group
	daemon      int32  // the process that serves, 0 for none
	deaths      []time.Time
}

// Serve answers until the listener fails. It accepts on a socket that listens.
func (s *Server) Serve(listener int) error {
	s.users = map[int]*user{}
	for {
		conn, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.ECONNABORTED):
			continue
		case errors.Is(err, unix.EMFILE), errors.Is(err, unix.ENFILE), errors.Is(err, unix.ENOMEM), errors.Is(err, unix.ENOBUFS):
			s.logf("can't accept: %v", err)
			time.Sleep(100 * time.Millisecond)
			continue
		case err != nil:
			return err
		}
		peer, err := unix.GetsockoptUcred(conn, unix.SOL_SOCKET, unix.SO_PEERCRED)
		if err != nil || !s.enter(peer) {
			reply(conn, Reply{Status: Overload})
			_ = unix.Close(conn)
			continue
		}
		go func() {
			defer s.leave(peer)
			defer func() { _ = unix.Close(conn) }()
			s.answer(conn, peer)
		}()
	}
}

// enter counts a connection; it is false when there are too many.
func (s *Server) enter(peer *unix.Ucred) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	uid, kind := int(peer.Uid), s.kind(peer)
	u := s.users[uid]
	if u == nil {
		u = &user{}
	}
	if u.connections[kind] >= perUser || s.all[kind] >= inAll {
		return false
	}
	s.users[uid] = u
	u.connections[kind]++
	s.all[kind]++
	return true
}

func (s *Server) leave(peer *unix.Ucred) {
	s.mu.Lock()
	defer s.mu.Unlock()
	uid, kind := int(peer.Uid), s.kind(peer)
	u := s.users[uid]
	u.connections[kind]--
	s.all[kind]--
	if u.connections == [2]int{} && len(u.deaths) == 0 {
		delete(s.users, uid)
	}
}

// kind is 1 for a peer that the group proves, and 0 for any other.
func (s *Server) kind(peer *unix.Ucred) int {
	if int(peer.Gid) == s.Group {
		return 1
	}
	return 0
}

// answer reads one request and answers it. It returns when the connection is no longer
// needed.
func (s *Server) answer(conn int, peer *unix.Ucred) {
	wait := unix.NsecToTimeval(requestWait.Nanoseconds())
	_ = unix.SetsockoptTimeval(conn, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &wait)
	_ = unix.SetsockoptTimeval(conn, unix.SOL_SOCKET, unix.SO_SNDTIMEO, &wait)
	var b [2]byte
	var n int
	err := uninterrupted(func() (err error) {
		n, err = unix.Read(conn, b[:]) // the kernel drops descriptors that a peer sends along
		return err
	})
	if err != nil {
		return
	}
	request, ok := readRequest(b[:n])
	switch {
	case !ok:
	case request == Ask:
		reply(conn, s.who(int(peer.Uid)))
	case s.kind(peer) == 0:
		reply(conn, Reply{Status: Refused})
	case request == Use:
		s.give(conn, int(peer.Uid))
	default:
		s.serveDaemon(conn, peer)
	}
}

func (s *Server) who(uid int) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.users[uid]; u != nil && u.daemon != 0 {
		return Reply{Busy, u.daemon}
	}
	return Reply{Status: Free}
}

// serveDaemon gives a peer what a daemon needs and waits until it is gone.
func (s *Server) serveDaemon(conn int, peer *unix.Ucred) {
	uid := int(peer.Uid)
	if r := s.take(uid, peer.Pid); r.Status != Granted {
		reply(conn, r)
		return
	}
	defer s.release(uid)
	socket, err := s.makeSocket(uid)
	if err != nil {
		s.logf("user %d: %v", uid, err)
		reply(conn, Reply{Status: Failed})
		return
	}
	given := s.give(conn, uid, socket)
	_ = unix.Close(socket) // the daemon has its own: the socket closes with it
	if given {
		waitForEnd(conn)
	}
	_ = os.Remove(s.socketPath(uid))
}

// take makes a process the one that serves.
func (s *Server) take(uid int, pid int32) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	u, now := s.users[uid], time.Now()
	for len(u.deaths) > 0 && now.Sub(u.deaths[0]) > deathsWithin {
		u.deaths = u.deaths[1:]
	}
	switch {
	case u.daemon != 0:
		return Reply{Busy, u.daemon}
	case len(u.deaths) >= freeDeaths:
		return Reply{Status: Later}
	}
	u.daemon = pid
	return Reply{Status: Granted}
}

func (s *Server) release(uid int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.users[uid]
	u.daemon = 0
	u.deaths = append(u.deaths, time.Now())
}

// waitForEnd waits until the other end is closed. It says nothing more, and what it says is
// thrown away.
func waitForEnd(conn int) {
	_ = unix.SetsockoptTimeval(conn, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{})
	var b [64]byte
	for {
		n, err := unix.Read(conn, b[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n <= 0 || err != nil {
			return
		}
	}
}

// give sends the user's folder, and further descriptors.
func (s *Server) give(conn, uid int, more ...int) bool {
	outer, inner, err := OpenFolder(s.State, uid)
	if err != nil {
		s.logf("user %d: %v", uid, err)
		reply(conn, Reply{Status: Failed})
		return false
	}
	defer func() { _, _ = unix.Close(outer), unix.Close(inner) }()
	rights := unix.UnixRights(append([]int{outer, inner}, more...)...)
	return uninterrupted(func() error {
		return unix.Sendmsg(conn, appendReply(Reply{Status: Granted}), rights, nil, unix.MSG_NOSIGNAL)
	}) == nil
}

func reply(conn int, r Reply) {
	_ = unix.Sendmsg(conn, appendReply(r), nil, nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT) // who went away needs none
}

func (s *Server) socketPath(uid int) string {
	return filepath.Join(s.Run, strconv.Itoa(uid), "daemon.sock")
}

// makeSocket makes the socket of a user's daemon. No one can connect before the daemon
// listens.
func (s *Server) makeSocket(uid int) (int, error) {
	path := s.socketPath(uid)
	folder := filepath.Dir(path)
	if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return -1, err
	}
	if err := openFor(folder, uid); err != nil {
		return -1, fmt.Errorf("%s: %w", folder, err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return -1, err
	}
	socket, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(socket, &unix.SockaddrUnix{Name: path}); err != nil {
		_ = unix.Close(socket)
		return -1, err
	}
	if err := os.Chmod(path, 0o666); err != nil { // who may come to it, the folder says
		_ = unix.Close(socket)
		return -1, err
	}
	return socket, nil
}

// openFor lets one user reach what is in a folder, with an access control list: user::rwx,
// user:UID:--x, no one else. If the file system has none, everyone may reach it, and the
// daemon rejects other users itself.
func openFor(folder string, uid int) error {
	const (
		version                                     = 2
		ownerTag, userTag, groupTag, maskTag, other = 0x01, 0x02, 0x04, 0x10, 0x20
		nobody                                      = ^uint32(0)
	)
	acl := []byte{version, 0, 0, 0}
	add := func(tag, permissions uint16, id uint32) {
		acl = append(acl, byte(tag), byte(tag>>8), byte(permissions), byte(permissions>>8),
			byte(id), byte(id>>8), byte(id>>16), byte(id>>24))
	}
	add(ownerTag, 7, nobody)
	add(userTag, 1, uint32(uid))
	add(groupTag, 0, nobody)
	add(maskTag, 1, nobody)
	add(other, 0, nobody)
	err := unix.Setxattr(folder, "system.posix_acl_access", acl, 0)
	if errors.Is(err, unix.EOPNOTSUPP) {
		return os.Chmod(folder, 0o711)
	}
	return err
}

func (s *Server) logf(format string, values ...any) {
	_, _ = fmt.Fprintf(s.Log, format+"\n", values...)
}
