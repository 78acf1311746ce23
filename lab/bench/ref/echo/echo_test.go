package echo

import (
	"io"
	"net"
	"path/filepath"
	"testing"
)

func TestEcho(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- Serve(l) }()
	for message, want := range map[string]string{
		"5\nhello": "hello", "0\n": "", "x\nhello": "", "-1\n": "", "99999999999\n": "", "5\nhel": "",
	} {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, message); err != nil {
			t.Fatal(err)
		}
		_ = conn.(*net.UnixConn).CloseWrite() // the server may have hung up already
		// A server that hangs up with our bytes unread resets the connection.
		if got, _ := io.ReadAll(conn); string(got) != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
		_ = conn.Close()
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
