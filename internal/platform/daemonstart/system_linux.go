package daemonstart

import (
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// systemDaemon asks the keeper which process is this user's daemon; 0 if there is none. The
// question and the answer are those of package keeper, which the hook client needn't link.
func systemDaemon() int {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0
	}
	defer func() { _ = syscall.Close(fd) }()
	wait := syscall.NsecToTimeval(time.Second.Nanoseconds())
	_ = syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &wait)
	if syscall.Connect(fd, &syscall.SockaddrUnix{Name: paths.KeeperSocket}) != nil {
		return 0
	}
	if _, err := syscall.Write(fd, []byte{'a'}); err != nil {
		return 0
	}
	var b [5]byte
	n, err := syscall.Read(fd, b[:])
	for err == syscall.EINTR { // the kernel doesn't read again where there is a time limit
		n, err = syscall.Read(fd, b[:])
	}
	if err != nil || n != len(b) || b[0] != 'b' {
		return 0
	}
	return int(b[1]) | int(b[2])<<8 | int(b[3])<<16 | int(b[4])<<24
}
