package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/godbus/dbus/v5"
)

// Names on the session bus.
const (
	busName   = "org.freedesktop.Notifications"
	busPath   = dbus.ObjectPath("/org/freedesktop/Notifications")
	busSelf   = "org.freedesktop.DBus"
	actionFor = busName + ".ActionInvoked"
	closedFor = busName + ".NotificationClosed"
	ownerFor  = busSelf + ".NameOwnerChanged"
)

// The buttons.
const (
	buttonShow = "show"
	buttonDeny = "deny"
)

// desktop shows notices on a Linux desktop, by the session bus. Each request has one
// bubble, which is replaced and taken back.
type desktop struct {
	address func() (string, error)
	sound   func(kind string) soundChoice
	// pressed is called with the button of a notice that was pressed. Any program may have done
	// that.
	pressed func(n Notice, button string)
	// running counts the goroutines that read the bus and that buttons started; both end by
	// themselves.
	running sync.WaitGroup

	mu      sync.Mutex
	conn    *dbus.Conn
	owner   string // who shows notices, by the name that the bus gave it
	markup  bool   // the body is read as markup
	actions bool   // there can be buttons
	bubbles map[uint32]Notice
	ids     map[string]uint32 // of bubbles, by notice
}

func (d *desktop) replaces() {}

// connect finds the notification server; the bus starts it if it knows how to.
func (d *desktop) connect(ctx context.Context) error {
	if d.conn != nil && d.conn.Connected() {
		return nil
	}
	address, err := d.address()
	if err != nil {
		return err
	}
	conn, err := openBus(ctx, address)
	if err != nil {
		return err
	}
	fail := func(err error) error {
		_ = conn.Close()
		return err
	}
	var abilities []string
	if err := conn.Object(busName, busPath).CallWithContext(ctx, busName+".GetCapabilities", 0).
		Store(&abilities); err != nil {
		return fail(absent("nothing on the session bus shows notifications: %v", err))
	}
	var owner string
	bus := conn.Object(busSelf, "/org/freedesktop/DBus")
	if err := bus.CallWithContext(ctx, busSelf+".GetNameOwner", 0, busName).Store(&owner); err != nil {
		return fail(fmt.Errorf("who shows notifications is not known: %w", err))
	}
	for _, match := range [][]dbus.MatchOption{
		{dbus.WithMatchInterface(busName), dbus.WithMatchObjectPath(busPath), dbus.WithMatchSender(busName)},
		{dbus.WithMatchInterface(busSelf), dbus.WithMatchMember("NameOwnerChanged"), dbus.WithMatchArg(0, busName)},
	} {
		if err := conn.AddMatchSignalContext(ctx, match...); err != nil {
			return fail(err)
		}
	}
	signals := make(chan *dbus.Signal, 64)
	conn.Signal(signals)
	d.conn, d.owner = conn, owner
	d.markup, d.actions = slices.Contains(abilities, "body-markup"), slices.Contains(abilities, "actions")
	d.bubbles, d.ids = map[uint32]Notice{}, map[string]uint32{}
	d.running.Go(func() {
		for signal := range signals { // closed with the connection
			d.takeSignal(conn, signal)
		}
	})
	return nil
}

// closeTime limits how long the end of a daemon waits for the bus.
const closeTime = time.Second

// close takes back what is shown, because nothing would do that later, and ends the
// connection.
func (d *desktop) close() {
	defer d.running.Wait() // without the lock, which they need
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	server := d.conn.Object(busName, busPath)
	for id := range d.bubbles {
		_ = server.CallWithContext(ctx, busName+".CloseNotification", 0, id).Err // it may be gone
	}
	_ = d.conn.Close()
	d.conn = nil
}

// show shows a notice, replacing an earlier one of the same request.
func (d *desktop) show(ctx context.Context, n *Notice) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.connect(ctx); err != nil {
		return err
	}
	body := n.lines()
	if d.markup {
		body = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(body)
	}
	actions := []string{}
	if d.actions {
		// A click must never be a no: if Deny were the only button, it would be.
		actions = append(actions, "default", "Dismiss")
		if n.CanShow { // some have no default action: the button has a name
			actions = []string{"default", "Show", buttonShow, "Show"}
		}
		if n.CanDeny {
			actions = append(actions, buttonDeny, "Deny")
		}
	}
	hints := map[string]dbus.Variant{
		"urgency": dbus.MakeVariant(byte(1)), "desktop-entry": dbus.MakeVariant("hookmux"),
		// What a killed daemon left is replaced, too, by servers that know this.
		"x-dunst-stack-tag": dbus.MakeVariant("hookmux " + n.ID),
	}
	stays := int32(0) // until it is answered
	if n.Passing {
		hints["transient"], stays = dbus.MakeVariant(true), -1
	}
	switch sound := d.sound(n.Kind); {
	case sound.name != "":
		hints["sound-name"] = dbus.MakeVariant(sound.name)
	case sound.file != "":
		hints["sound-file"] = dbus.MakeVariant(sound.file)
	}
	// A daemon that ends waits for the number of what is being shown, which is needed to take
	// it back.
	showing, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(closeTime, end) })()
	var id uint32
	err := d.conn.Object(busName, busPath).CallWithContext(showing, busName+".Notify", 0, "hookmux", d.ids[n.ID], "",
		n.Title, body, actions, hints, stays).Store(&id)
	if err != nil {
		return d.dropBroken(err)
	}
	delete(d.bubbles, d.ids[n.ID])
	d.bubbles[id], d.ids[n.ID] = *n, id
	return nil
}

// withdraw takes a bubble back.
func (d *desktop) withdraw(ctx context.Context, n *Notice) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	id, ok := d.ids[n.ID]
	if !ok || d.conn == nil {
		return nil
	}
	d.forget(id)
	err := d.conn.Object(busName, busPath).CallWithContext(ctx, busName+".CloseNotification", 0, id).Err
	var said dbus.Error
	if errors.As(err, &said) {
		return nil // it is gone already
	}
	if err != nil {
		return d.dropBroken(err)
	}
	return nil
}

// dropBroken drops a connection that failed, so that the next notice makes another.
func (d *desktop) dropBroken(err error) error {
	var said dbus.Error
	if !errors.As(err, &said) {
		_ = d.conn.Close()
		d.conn = nil
	}
	return err
}

func (d *desktop) forget(id uint32) {
	if n, ok := d.bubbles[id]; ok {
		delete(d.ids, n.ID)
		delete(d.bubbles, id)
	}
}

// takeSignal applies signals of the notification server and ignores all others: every
// program on the bus can send signals of these names.
func (d *desktop) takeSignal(conn *dbus.Conn, signal *dbus.Signal) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if conn != d.conn {
		return
	}
	if signal.Name == ownerFor {
		if name, owner, ok := newOwner(signal); ok && signal.Sender == busSelf && name == busName {
			d.owner, d.bubbles, d.ids = owner, map[uint32]Notice{}, map[string]uint32{} // its bubbles went with it
		}
		return
	}
	if signal.Sender != d.owner || signal.Path != busPath || len(signal.Body) != 2 {
		return
	}
	id, ok := signal.Body[0].(uint32)
	n, ours := d.bubbles[id]
	if !ok || !ours {
		return
	}
	switch signal.Name {
	case closedFor:
		d.forget(id)
	case actionFor:
		button, _ := signal.Body[1].(string)
		switch button {
		case "default", buttonShow:
			if n.CanShow {
				d.running.Go(func() { d.pressed(n, buttonShow) })
			}
		case buttonDeny:
			if n.CanDeny {
				d.running.Go(func() { d.pressed(n, buttonDeny) })
			}
		}
	}
}

func newOwner(signal *dbus.Signal) (name, owner string, ok bool) {
	if len(signal.Body) != 3 {
		return "", "", false
	}
	name, ok = signal.Body[0].(string)
	owner, isText := signal.Body[2].(string)
	return name, owner, ok && isText
}

// scriptNotice shows notices on a Mac. It cannot take them back, and has no buttons.
type scriptNotice struct {
	program string
	sound   func(kind string) soundChoice
}

// macScript is the program that shows notices on a Mac, whatever PATH says.
const macScript = "/usr/bin/osascript"

func (s scriptNotice) show(ctx context.Context, n *Notice) error {
	command := "display notification (item 2 of argv) with title (item 1 of argv)"
	args := []string{n.Title, n.lines()}
	if sound := s.sound(n.Kind); sound.name != "" {
		command, args = command+" sound name (item 3 of argv)", append(args, sound.name)
	}
	// The texts are arguments, never part of the script.
	return runQuietly(ctx, s.program, append([]string{"-e", "on run argv", "-e", command, "-e", "end run", "--"},
		args...)...)
}
