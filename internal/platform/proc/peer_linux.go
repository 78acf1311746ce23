package proc

import (
	"errors"
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Peer returns who connected. The kernel recorded it when they connected, so the process may
// have handed the socket on or be gone by now.
func Peer(conn *net.UnixConn) (Cred, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return Cred{}, fmt.Errorf("socket peer: %w", err)
	}
	var ucred *unix.Ucred
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		ucred, sockErr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return Cred{}, fmt.Errorf("socket peer: %w", err)
	}
	if sockErr != nil {
		return Cred{}, fmt.Errorf("socket peer: %w", sockErr)
	}
	return Cred{UID: int(ucred.Uid), PID: int(ucred.Pid), At: Now()}, nil
}

// PeerLives reports whether the very process that connected still runs. A connection may
// wait to be accepted while its process ends and its pid is reused; the kernel tells them
// apart by a descriptor of the process (Linux 6.5). If it can't, this returns true.
func PeerLives(conn *net.UnixConn) bool {
	raw, err := conn.SyscallConn()
	if err != nil {
		return false
	}
	lives := true
	if err := raw.Control(func(fd uintptr) { lives = peerOfSocketLives(int(fd)) }); err != nil {
		return false
	}
	return lives
}

func peerOfSocketLives(socket int) bool {
	process, err := unix.GetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
	if errors.Is(err, unix.ENOPROTOOPT) {
		return true // an older kernel
	}
	if err != nil {
		return false // it has ended
	}
	defer func() { _ = unix.Close(process) }() // only asked
	// It can be read once the process has ended.
	set := []unix.PollFd{{Fd: int32(process), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(set, 0)
		if !errors.Is(err, unix.EINTR) {
			return err == nil && n == 0
		}
	}
}
