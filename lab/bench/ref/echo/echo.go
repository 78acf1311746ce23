// Package echo is the plainest server a hook client could talk to: one
// goroutine per connection, which reads a length line and that many bytes and
// sends the bytes back. The daemon's rate is measured against it.
package echo

import (
	"bufio"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
)

// limit bounds a message, as the daemon does.
const limit = 16 << 20

// Serve answers on l until it is closed.
func Serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go answer(conn)
	}
}

func answer(conn net.Conn) {
	defer func() { _ = conn.Close() }() // the peer sees the end either way
	in := bufio.NewReader(conn)
	line, err := in.ReadString('\n')
	if err != nil {
		return
	}
	n, err := strconv.Atoi(strings.TrimSuffix(line, "\n"))
	if err != nil || n < 0 || n > limit {
		return
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(in, body); err != nil {
		return
	}
	_, _ = conn.Write(body) // a peer that went away needs no answer
}
