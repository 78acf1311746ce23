// Package polkit has polkit ask you for your password.
//
// Contract: only [Authority.Check] returning nil means that you proved who you are;
// everything that goes wrong is an error that says what to do. The bus is at a fixed
// place, never where a variable says, and both the bus and polkit must run as a system
// account.
package polkit

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/user"
	"slices"
	"strconv"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Action is the action that polkit is asked about; packaging/polkit says what it needs.
const Action = "org.hookmux.approve"

// Names on the system bus.
const (
	busSocket = "/run/dbus/system_bus_socket"
	busName   = "org.freedesktop.DBus"
	busPath   = dbus.ObjectPath("/org/freedesktop/DBus")

	authorityName  = "org.freedesktop.PolicyKit1"
	authorityPath  = dbus.ObjectPath("/org/freedesktop/PolicyKit1/Authority")
	authorityFace  = authorityName + ".Authority"
	notPermitted   = authorityName + ".Error.NotAuthorized"
	cancelled      = authorityName + ".Error.Cancelled"
	failed         = authorityName + ".Error.Failed"
	noOwner        = busName + ".Error.NameHasNoOwner"
	mayAsk         = uint32(1) // AllowUserInteraction
	wasDismissed   = "polkit.dismissed"
	messageDetail  = "polkit.message"
	instructionPIN = "or have approvals ask for your PIN: `hookmux config set approvals.proof pin`"
)

const (
	// connectTime bounds how long the bus may take before you're asked.
	connectTime = 5 * time.Second
	// personTime is how long you have for the password.
	personTime = 2 * time.Minute
	// cancelTime bounds how long it takes to close the dialog again.
	cancelTime = time.Second
)

// Process is the one that you answer with.
type Process struct {
	PID   int
	Start uint64 // clock ticks since boot
	UID   int
}

// Authority is polkit, as it is reached.
type Authority struct {
	socket  string
	busUIDs []int // who may listen there
	uids    []int // who may answer for polkit
	wait    time.Duration
}

// System returns the authority of this machine.
func System() *Authority {
	return &Authority{
		socket: busSocket, wait: personTime,
		busUIDs: accounts("messagebus", "dbus"), uids: accounts("polkitd"),
	}
}

// accounts are root's number and those of the named accounts of the system.
func accounts(names ...string) []int {
	list := []int{0}
	for _, name := range names {
		one, err := user.Lookup(name)
		if err != nil {
			continue
		}
		if uid, err := strconv.Atoi(one.Uid); err == nil {
			list = append(list, uid)
		}
	}
	return list
}

// Check asks the user for their password; nil only when polkit says that they
// gave it. text says what for. It ends when ctx does.
func (a *Authority) Check(ctx context.Context, who Process, text string) error {
	if who.UID == 0 {
		return errors.New("polkit asks root for no password, so that it proves nothing for root; " + instructionPIN)
	}
	if who.PID <= 0 || who.Start == 0 {
		return errors.New("who answers is not known, so polkit cannot be asked about them")
	}
	ctx, cancel := context.WithTimeout(ctx, a.wait)
	defer cancel()
	conn, err := a.connect(ctx)
	if err != nil {
		return fmt.Errorf("the system bus cannot be used: %w; start it, %s", err, instructionPIN)
	}
	defer func() { _ = conn.Close() }()
	owner, err := a.findOwner(ctx, conn)
	if err != nil {
		return fmt.Errorf("polkit cannot be asked: %w; install and start it, %s", err, instructionPIN)
	}
	return a.ask(ctx, conn.Object(owner, authorityPath), who, text)
}

// connect greets the bus, if it is the system's.
func (a *Authority) connect(ctx context.Context) (*dbus.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "unix", a.socket)
	if err != nil {
		return nil, err
	}
	refuse := func(err error) (*dbus.Conn, error) {
		_ = raw.Close()
		return nil, err
	}
	socket, ok := raw.(*net.UnixConn)
	if !ok {
		return refuse(errors.New("it is not a socket"))
	}
	peer, err := proc.Peer(socket)
	if err != nil {
		return refuse(err)
	}
	if !slices.Contains(a.busUIDs, peer.UID) {
		return refuse(fmt.Errorf("%s belongs to user %d and not to the system", a.socket, peer.UID))
	}
	conn, err := dbus.NewConn(raw)
	if err != nil {
		return refuse(err)
	}
	// The greeting knows no end of its own.
	stop := context.AfterFunc(ctx, func() { _ = raw.Close() })
	err = conn.Auth([]dbus.Auth{dbus.AuthExternal(strconv.Itoa(os.Geteuid()))})
	if err == nil {
		err = conn.Hello()
	}
	if !stop() && err == nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return refuse(err)
	}
	return conn, nil
}

// findOwner finds who answers for polkit, and starts it where it sleeps. Only an
// account of the system is believed.
func (a *Authority) findOwner(ctx context.Context, conn *dbus.Conn) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	bus := conn.Object(busName, busPath)
	var owner string
	err := bus.CallWithContext(ctx, busName+".GetNameOwner", 0, authorityName).Store(&owner)
	if isError(err, noOwner) {
		if err := bus.CallWithContext(ctx, busName+".StartServiceByName", 0, authorityName, uint32(0)).Err; err != nil {
			return "", err
		}
		err = bus.CallWithContext(ctx, busName+".GetNameOwner", 0, authorityName).Store(&owner)
	}
	if err != nil {
		return "", err
	}
	var uid uint32
	if err := bus.CallWithContext(ctx, busName+".GetConnectionUnixUser", 0, owner).Store(&uid); err != nil {
		return "", err
	}
	if !slices.Contains(a.uids, int(uid)) {
		return "", fmt.Errorf("a program of user %d answers in its place", uid)
	}
	return owner, nil
}

// subject is a process as polkit takes it.
type subject struct {
	Kind    string
	Details map[string]dbus.Variant
}

// answer is polkit's reply.
type answer struct {
	Authorized bool
	Challenge  bool
	Details    map[string]string
}

// ask has polkit ask the user.
func (a *Authority) ask(ctx context.Context, authority dbus.BusObject, who Process, text string) error {
	process := subject{"unix-process", map[string]dbus.Variant{
		"pid": dbus.MakeVariant(uint32(who.PID)), "start-time": dbus.MakeVariant(who.Start),
		"uid": dbus.MakeVariant(int32(who.UID)),
	}}
	details := map[string]string{messageDetail: "hookmux: approve $(request)", "request": text}
	said, err := check(ctx, authority, process, details)
	if isError(err, notPermitted) {
		// polkit takes no details of an ordinary user's daemon: it then says no more
		// than that something is approved.
		said, err = check(ctx, authority, process, map[string]string{})
	}
	switch {
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		return fmt.Errorf("polkit got no password within %s; nothing was approved", a.wait)
	case ctx.Err() != nil:
		return fmt.Errorf("polkit no longer asks: %w", context.Cause(ctx))
	case isError(err, cancelled):
		return errors.New("polkit's dialog was closed; nothing was approved")
	case isError(err, failed):
		return fmt.Errorf("polkit does not take the question: %w; where it does not know the action, copy "+
			"packaging/polkit/%s.policy to /usr/share/polkit-1/actions, %s", err, Action, instructionPIN)
	case err != nil:
		return fmt.Errorf("polkit gave no answer: %w; look whether polkit runs, %s", err, instructionPIN)
	case said.Authorized && !said.Challenge:
		return nil
	case said.Details[wasDismissed] != "":
		return errors.New("polkit's dialog was dismissed; nothing was approved")
	case said.Challenge:
		return errors.New("polkit found nobody to ask: this session has no authentication agent; " +
			"approve in a session of your desktop, " + instructionPIN)
	}
	return errors.New("polkit did not authorize it: the password was wrong, or a rule of this machine forbids it")
}

// check puts the question, and takes it back when ctx ends before the answer.
func check(ctx context.Context, authority dbus.BusObject, who subject, details map[string]string) (answer, error) {
	var said answer
	ticket := rand.Text()
	err := authority.CallWithContext(ctx, authorityFace+".CheckAuthorization", 0, who, Action, details, mayAsk, ticket).
		Store(&said)
	if ctx.Err() == nil {
		return said, err
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	_ = authority.CallWithContext(end, authorityFace+".CancelCheckAuthorization", 0, ticket).Err // it may be over
	return answer{}, ctx.Err()
}

func isError(err error, name string) bool {
	var said dbus.Error
	return errors.As(err, &said) && said.Name == name
}
