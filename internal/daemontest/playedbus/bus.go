// Package playedbus plays a message bus: tests need none, and nobody on it.
package playedbus

import (
	"bufio"
	"encoding/binary"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Answer is returned by a call. A [dbus.Error] goes to the caller; any other
// error leaves the call without an answer.
type Answer func(member string, m *dbus.Message) ([]any, error)

// Bus is a played bus.
type Bus struct {
	Socket string

	t      *testing.T
	sender string
	answer Answer

	mu    sync.Mutex
	conns []net.Conn
}

// Start begins a bus that lasts as long as the test. Everything on it comes from
// one sender.
func Start(t *testing.T, sender string, answer Answer) *Bus {
	t.Helper()
	folder, err := os.MkdirTemp("", "bus") // a test's own folder may have too long a name for a socket
	if err != nil {
		t.Fatalf("no folder for the bus: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	b := &Bus{t: t, Socket: filepath.Join(folder, "bus"), sender: sender, answer: answer}
	listener, err := net.Listen("unix", b.Socket)
	if err != nil {
		t.Fatalf("no socket for the bus: %v", err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { _ = listener.Close(); b.HangUp(); serving.Wait() })
	serving.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			b.mu.Lock()
			b.conns = append(b.conns, conn)
			b.mu.Unlock()
			serving.Go(func() { b.serve(conn) })
		}
	})
	return b
}

// HangUp ends all connections.
func (b *Bus) HangUp() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.conns {
		_ = c.Close()
	}
	b.conns = nil
}

func (b *Bus) serve(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	_, _ = in.ReadByte() // the zero that begins everything
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		answer := ""
		switch words := strings.Fields(line); {
		case words[0] == "BEGIN":
		case words[0] == "AUTH" && len(words) == 1:
			answer = "REJECTED EXTERNAL"
		case words[0] == "AUTH":
			answer = "OK 0123456789abcdef0123456789abcdef"
		default:
			answer = "ERROR"
		}
		if answer == "" {
			break
		}
		_, _ = conn.Write([]byte(answer + "\r\n"))
	}
	var calls sync.WaitGroup
	defer calls.Wait()
	for {
		m, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		if m.Type == dbus.TypeMethodCall {
			calls.Go(func() { b.reply(conn, m) })
		}
	}
}

func (b *Bus) reply(conn net.Conn, to *dbus.Message) {
	member, _ := to.Headers[dbus.FieldMember].Value().(string)
	body, err := b.answer(member, to)
	m := &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(to.Serial()), dbus.FieldSender: dbus.MakeVariant(b.sender),
	}, Body: body}
	var said dbus.Error
	switch {
	case errors.As(err, &said):
		m.Type, m.Body = dbus.TypeError, said.Body
		m.Headers[dbus.FieldErrorName] = dbus.MakeVariant(said.Name)
	case err != nil:
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.send(conn, m)
}

// Signal sends a signal in somebody's name to everybody.
func (b *Bus) Signal(path dbus.ObjectPath, sender, signal string, body ...any) {
	dot := strings.LastIndexByte(signal, '.')
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, conn := range b.conns {
		b.send(conn, &dbus.Message{Type: dbus.TypeSignal, Headers: map[dbus.HeaderField]dbus.Variant{
			dbus.FieldPath: dbus.MakeVariant(path), dbus.FieldInterface: dbus.MakeVariant(signal[:dot]),
			dbus.FieldMember: dbus.MakeVariant(signal[dot+1:]), dbus.FieldSender: dbus.MakeVariant(sender),
		}, Body: body})
	}
}

func (b *Bus) send(conn net.Conn, m *dbus.Message) {
	if len(m.Body) > 0 {
		m.Headers[dbus.FieldSignature] = dbus.MakeVariant(dbus.SignatureOf(m.Body...))
	}
	if err := m.EncodeTo(conn, binary.LittleEndian); err != nil {
		b.t.Logf("the bus cannot send: %v", err) // a client that left
	}
}
