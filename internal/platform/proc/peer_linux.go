package proc

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// Peer tells who connected. The kernel noted it at connect time, so the
// process may have handed the socket on or be gone by now.
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
