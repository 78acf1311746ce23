// Package bustest plays a session bus with somebody on it who shows notifications, as
// far as hookmux speaks to them: tests need no bus and no desktop.
package bustest

import (
	"bufio"
	"encoding/binary"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"
)

// Owner is the one who shows notifications.
const Owner = ":1.7"

// Names of signals.
const (
	Action = name + ".ActionInvoked"
	Closed = name + ".NotificationClosed"
	// OwnerChanged is the bus's own.
	OwnerChanged = TheBus + ".NameOwnerChanged"

	// TheBus is the name of the bus itself.
	TheBus = "org.freedesktop.DBus"

	name = "org.freedesktop.Notifications"
)

// Bubble is a notification as it was asked for.
type Bubble struct {
	ID       uint32
	Replaces uint32
	Title    string
	Body     string
	Actions  []string
	Hints    map[string]dbus.Variant
	Stays    int32
}

// Bus is a played bus.
type Bus struct {
	Address string

	t         *testing.T
	abilities []string

	mu     sync.Mutex
	conns  []net.Conn
	next   uint32
	shown  map[uint32]Bubble
	closed int
}

// Start begins a bus that lasts as long as the test.
func Start(t *testing.T) *Bus {
	t.Helper()
	folder, err := os.MkdirTemp("", "bus") // a test's own folder may have too long a name for a socket
	if err != nil {
		t.Fatalf("no folder for the bus: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	socket := filepath.Join(folder, "bus")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatalf("no socket for the bus: %v", err)
	}
	b := &Bus{t: t, Address: "unix:path=" + socket, abilities: []string{"actions", "body", "body-markup"},
		shown: map[uint32]Bubble{}}
	t.Cleanup(func() { _ = listener.Close(); b.HangUp() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go b.serve(conn)
		}
	}()
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
	b.mu.Lock()
	b.conns = append(b.conns, conn)
	b.mu.Unlock()
	for {
		m, err := dbus.DecodeMessage(in)
		if err != nil {
			return
		}
		if m.Type == dbus.TypeMethodCall {
			b.reply(conn, m, b.answer(m))
		}
	}
}

// answer is what a call gives back.
func (b *Bus) answer(m *dbus.Message) []any {
	b.mu.Lock()
	defer b.mu.Unlock()
	member, _ := m.Headers[dbus.FieldMember].Value().(string)
	switch member {
	case "Hello":
		return []any{":1.42"}
	case "GetNameOwner":
		return []any{Owner}
	case "GetCapabilities":
		return []any{b.abilities}
	case "Notify":
		id, _ := m.Body[1].(uint32)
		if _, there := b.shown[id]; !there {
			b.next++
			id = b.next
		}
		one := Bubble{ID: id}
		one.Replaces, _ = m.Body[1].(uint32)
		one.Title, _ = m.Body[3].(string)
		one.Body, _ = m.Body[4].(string)
		one.Actions, _ = m.Body[5].([]string)
		one.Hints, _ = m.Body[6].(map[string]dbus.Variant)
		one.Stays, _ = m.Body[7].(int32)
		b.shown[id] = one
		return []any{id}
	case "CloseNotification":
		id, _ := m.Body[0].(uint32)
		delete(b.shown, id)
		b.closed++
	}
	return nil
}

func (b *Bus) reply(conn net.Conn, to *dbus.Message, body []any) {
	b.send(conn, &dbus.Message{Type: dbus.TypeMethodReply, Headers: map[dbus.HeaderField]dbus.Variant{
		dbus.FieldReplySerial: dbus.MakeVariant(to.Serial()), dbus.FieldSender: dbus.MakeVariant(Owner),
	}, Body: body})
}

// Signal sends a signal in somebody's name to everybody.
func (b *Bus) Signal(sender, signal string, body ...any) {
	dot := strings.LastIndexByte(signal, '.')
	path := dbus.ObjectPath("/org/freedesktop/Notifications")
	if strings.HasPrefix(signal, TheBus+".") {
		path = "/org/freedesktop/DBus"
	}
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

// Shown are the notifications that are on the screen.
func (b *Bus) Shown() []Bubble {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Bubble
	for _, one := range b.shown {
		list = append(list, one)
	}
	return list
}

// Withdrawn is how often a notification was taken back.
func (b *Bus) Withdrawn() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
