package proc

import (
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
	var cred *unix.Xucred
	var pid int
	var sockErr error
	if err := raw.Control(func(fd uintptr) {
		if cred, sockErr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED); sockErr != nil {
			return
		}
		pid, sockErr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID)
	}); err != nil {
		return Cred{}, fmt.Errorf("socket peer: %w", err)
	}
	if sockErr != nil {
		return Cred{}, fmt.Errorf("socket peer: %w", sockErr)
	}
	return Cred{UID: int(cred.Uid), PID: pid, At: Now()}, nil
}
