package codexdaemon

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// A WebSocket over a Unix socket, as much of it as a client needs that sends and
// receives whole text messages.

const (
	opContinue = 0x0
	opText     = 0x1
	opClose    = 0x8
	opPing     = 0x9
	opPong     = 0xa

	// maxMessage bounds what the daemon may send as one message.
	maxMessage = 4 << 20
)

type socket struct {
	conn   net.Conn
	reader *bufio.Reader
}

// dialSocket connects and upgrades. ctx bounds that, and what follows.
func dialSocket(ctx context.Context, path string) (*socket, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	} else {
		_ = conn.SetDeadline(time.Now().Add(time.Minute))
	}
	s := &socket{conn: conn, reader: bufio.NewReader(conn)}
	if err := s.upgrade(); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return s, nil
}

func (s *socket) upgrade() error {
	var key [16]byte
	_, _ = rand.Read(key[:])
	_, err := fmt.Fprintf(s.conn, "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %s\r\n\r\n", base64.StdEncoding.EncodeToString(key[:]))
	if err != nil {
		return err
	}
	response, err := http.ReadResponse(s.reader, nil)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusSwitchingProtocols {
		return fmt.Errorf("the daemon does not speak WebSocket: %s", response.Status)
	}
	return nil
}

// Send writes one text message. What a client sends is masked.
func (s *socket) Send(message []byte) error { return s.sendFrame(opText, message) }

func (s *socket) sendFrame(op byte, payload []byte) error {
	frame := []byte{0x80 | op}
	switch n := len(payload); {
	case n < 126:
		frame = append(frame, 0x80|byte(n))
	case n < 1<<16:
		frame = binary.BigEndian.AppendUint16(append(frame, 0x80|126), uint16(n))
	default:
		frame = binary.BigEndian.AppendUint64(append(frame, 0x80|127), uint64(n))
	}
	var mask [4]byte
	_, _ = rand.Read(mask[:])
	frame = append(frame, mask[:]...)
	for i, b := range payload {
		frame = append(frame, b^mask[i%4])
	}
	_, err := s.conn.Write(frame)
	return err
}

var errClosed = errors.New("the daemon closed the connection")

// Receive reads one whole message.
func (s *socket) Receive() ([]byte, error) {
	var message []byte
	for {
		op, last, payload, err := s.receiveFrame()
		if err != nil {
			return nil, err
		}
		switch op {
		case opClose:
			return nil, errClosed
		case opPing:
			if err := s.sendFrame(opPong, payload); err != nil {
				return nil, err
			}
		case opText, opContinue:
			if message = append(message, payload...); len(message) > maxMessage {
				return nil, fmt.Errorf("a message of the daemon is longer than %d bytes", maxMessage)
			}
			if last {
				return message, nil
			}
		}
	}
}

func (s *socket) receiveFrame() (op byte, last bool, payload []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(s.reader, head[:]); err != nil {
		return 0, false, nil, err
	}
	size := uint64(head[1] & 0x7f)
	switch size {
	case 126:
		var b [2]byte
		_, err = io.ReadFull(s.reader, b[:])
		size = uint64(binary.BigEndian.Uint16(b[:]))
	case 127:
		var b [8]byte
		_, err = io.ReadFull(s.reader, b[:])
		size = binary.BigEndian.Uint64(b[:])
	}
	if err != nil {
		return 0, false, nil, err
	}
	if size > maxMessage || head[1]&0x80 != 0 {
		return 0, false, nil, errors.New("a frame of the daemon cannot be read")
	}
	payload = make([]byte, size)
	_, err = io.ReadFull(s.reader, payload)
	return head[0] & 0x0f, head[0]&0x80 != 0, payload, err
}

func (s *socket) close() { _ = s.conn.Close() }
