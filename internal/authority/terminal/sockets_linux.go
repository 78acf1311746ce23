package terminal

import (
	"errors"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

var errNoSocket = errors.New("the server listens nowhere")

// listeningAt returns the address of a server's socket.
func listeningAt(pid int) (string, error) {
	numbers, err := proc.SocketNumbers(pid)
	if err != nil {
		return "", err
	}
	sockets, err := proc.UnixSockets()
	if err != nil {
		return "", err
	}
	for _, socket := range sockets {
		if socket.Listening && numbers[socket.Number] && strings.HasPrefix(socket.Path, "/") {
			return socket.Path, nil
		}
	}
	return "", errNoSocket
}
