// Command server runs the echo server on a socket:
//
//	server SOCKET
package main

import (
	"net"
	"os"

	"github.com/hookmux/hookmux/lab/bench/ref/echo"
)

func main() {
	if len(os.Args) != 2 {
		_, _ = os.Stderr.WriteString("usage: server SOCKET\n")
		os.Exit(64)
	}
	l, err := net.Listen("unix", os.Args[1])
	if err == nil {
		err = echo.Serve(l)
	}
	if err != nil {
		_, _ = os.Stderr.WriteString("echo server: " + err.Error() + "\n")
		os.Exit(1)
	}
}
