//go:build unix

package server

import (
	"os"
	"syscall"
)

// startListening has this process listen on a socket: it's then the one that callers see.
func startListening(socket *os.File) error {
	return syscall.Listen(int(socket.Fd()), syscall.SOMAXCONN)
}
