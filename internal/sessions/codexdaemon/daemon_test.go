package codexdaemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// fakeDaemon answers as the daemon of Codex 0.166.0 does: each answer behind
// something it tells every client. It gives its socket.
func fakeDaemon(t *testing.T, servers string) string {
	t.Helper()
	dir := sandbox.TempDir(t)
	path := filepath.Join(dir, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	t.Cleanup(func() { _ = listener.Close(); <-done })
	go func() {
		defer close(done)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		reader := bufio.NewReader(conn)
		request, err := http.ReadRequest(reader)
		if err != nil || request.Header.Get("Upgrade") != "websocket" {
			_, _ = conn.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			return
		}
		_, _ = conn.Write([]byte("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: " +
			"Upgrade\r\n\r\n"))
		for {
			method, id, ok := readRequest(reader)
			if !ok {
				return
			}
			_, _ = conn.Write(textFrame(`{"method":"thread/status/changed","params":{"threadId":"x","status":{"type":"idle"}}}`))
			switch method {
			case "initialize":
				_, _ = conn.Write(textFrame(fmt.Sprintf(`{"id":%d,"result":{"userAgent":"codex"}}`, id)))
			case "mcpServerStatus/list":
				_, _ = conn.Write([]byte{0x80 | opPing, 0})
				_, _ = conn.Write(textFrame(fmt.Sprintf(`{"id":%d,%s}`, id, servers)))
			}
		}
	}()
	return path
}

// readRequest reads a short masked frame.
func readRequest(reader *bufio.Reader) (method string, id int, ok bool) {
	for {
		s := &socket{reader: reader}
		var head [2]byte
		for i := range head {
			b, err := reader.ReadByte()
			if err != nil {
				return "", 0, false
			}
			head[i] = b
		}
		size := int(head[1] & 0x7f)
		if size == 126 {
			hi, _ := s.reader.ReadByte()
			lo, _ := s.reader.ReadByte()
			size = int(hi)<<8 | int(lo)
		}
		body := make([]byte, 4+size)
		for i := range body {
			b, err := reader.ReadByte()
			if err != nil {
				return "", 0, false
			}
			body[i] = b
		}
		text := make([]byte, size)
		for i := range text {
			text[i] = body[4+i] ^ body[i%4]
		}
		var message struct {
			ID     int    `json:"id"`
			Method string `json:"method"`
		}
		if head[0]&0x0f == opText && json.Unmarshal(text, &message) == nil {
			return message.Method, message.ID, true
		}
	}
}

func textFrame(text string) []byte {
	frame := []byte{0x80 | opText}
	if len(text) < 126 {
		frame = append(frame, byte(len(text)))
	} else {
		frame = append(frame, 126, byte(len(text)>>8), byte(len(text)))
	}
	return append(frame, text...)
}

func TestClientPort(t *testing.T) {
	for _, c := range []struct {
		what, servers string
		port          int
		wrong         string
	}{
		{"the terminal's", `"result":{"data":[{"name":"other","httpOrigin":null},{"name":"codex_tui","runtimeStatus":"connected","httpOrigin":"http://127.0.0.1:42245"}]}`, 42245, ""},
		{"no terminal", `"result":{"data":[]}`, 0, ErrNoClient.Error()},
		{"no port", `"result":{"data":[{"name":"codex_tui","httpOrigin":"nowhere"}]}`, 0, "names no port"},
		{"an unknown thread", `"error":{"code":-32600,"message":"thread not found"}`, 0, "thread not found"},
		{"something else", `"result":7`, 0, "cannot be read"},
	} {
		t.Run(c.what, func(t *testing.T) {
			path := fakeDaemon(t, c.servers)
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			port, err := ClientPort(ctx, path, "01a1e035-4b2f-77d0-bf79-e190a5665523")
			if port != c.port {
				t.Errorf("port %d, wanted %d", port, c.port)
			}
			if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("error %v, wanted %q", err, c.wrong)
			}
		})
	}
	if _, err := ClientPort(context.Background(), filepath.Join(t.TempDir(), "none"), "x"); !errors.Is(err,
		os.ErrNotExist) {
		t.Errorf("no daemon: %v; want err to be os.ErrNotExist", err)
	}
}
