// Command ref is the plainest hook client one would write: stdin to a socket,
// the answer to stdout. The hook client's cost is measured against it.
//
//	ref SOCKET < payload
//
// The other end is the echo server of lab/bench/ref/echo: one line with the number
// of bytes, then the bytes; the same bytes come back and the connection ends.
package main

import (
	"errors"
	"io"
	"net"
	"os"
	"strconv"
)

func main() {
	if err := run(); err != nil {
		_, _ = os.Stderr.WriteString("ref: " + err.Error() + "\n")
		os.Exit(1)
	}
}

func run() error {
	if len(os.Args) != 2 {
		return errors.New("needs the path of the echo server's socket")
	}
	payload, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: os.Args[1], Net: "unix"})
	if err != nil {
		return err
	}
	message := strconv.AppendInt(nil, int64(len(payload)), 10)
	message = append(append(message, '\n'), payload...)
	if _, err := conn.Write(message); err != nil {
		return err
	}
	if err := conn.CloseWrite(); err != nil {
		return err
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(answer)
	return err
}
