// Package bustest plays a session bus with a notification server on it, as far as hookmux
// talks to them: tests need no bus and no desktop.
package bustest

import (
	"strings"
	"sync"
	"testing"

	"github.com/godbus/dbus/v5"

	"github.com/hookmux/hookmux/internal/daemontest/playedbus"
)

// Owner is the notification server.
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

// Bubble is a notification as it was requested.
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
	*playedbus.Bus
	Address string

	abilities []string

	mu     sync.Mutex
	next   uint32
	shown  map[uint32]Bubble
	closed int
}

// Start begins a bus that lasts as long as the test.
func Start(t *testing.T) *Bus {
	t.Helper()
	b := &Bus{abilities: []string{"actions", "body", "body-markup"}, shown: map[uint32]Bubble{}}
	b.Bus = playedbus.Start(t, Owner, b.answer)
	b.Address = "unix:path=" + b.Socket
	return b
}

// answer returns the result of a call.
func (b *Bus) answer(member string, m *dbus.Message) ([]any, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch member {
	case "Hello":
		return []any{":1.42"}, nil
	case "GetNameOwner":
		return []any{Owner}, nil
	case "GetCapabilities":
		return []any{b.abilities}, nil
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
		return []any{id}, nil
	case "CloseNotification":
		id, _ := m.Body[0].(uint32)
		delete(b.shown, id)
		b.closed++
	}
	return nil, nil
}

// Signal sends a signal from sender to every connection.
func (b *Bus) Signal(sender, signal string, body ...any) {
	path := dbus.ObjectPath("/org/freedesktop/Notifications")
	if strings.HasPrefix(signal, TheBus+".") {
		path = "/org/freedesktop/DBus"
	}
	b.Bus.Signal(path, sender, signal, body...)
}

// Shown returns the notifications that are on the screen.
func (b *Bus) Shown() []Bubble {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Bubble
	for _, one := range b.shown {
		list = append(list, one)
	}
	return list
}

// Withdrawn returns how often a notification was taken back.
func (b *Bus) Withdrawn() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.closed
}
