package notify

import (
	"context"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/godbus/dbus/v5"

	"github.com/hookmux/hookmux/internal/selection/config"
)

// busAddress returns where the user's session bus is: as set, as the environment says, or at
// its usual place. XDG_RUNTIME_DIR comes last: a daemon has it from whatever started it.
func busAddress(setting string, getenv func(string) string) (string, error) {
	if setting != "" {
		return setting, nil
	}
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" {
		return address, nil
	}
	for _, folder := range []string{fmt.Sprintf("/run/user/%d", os.Getuid()), getenv("XDG_RUNTIME_DIR")} {
		if folder == "" {
			continue
		}
		if info, err := os.Stat(folder + "/bus"); err == nil && info.Mode()&os.ModeSocket != 0 {
			return "unix:path=" + folder + "/bus", nil
		}
	}
	return "", absent("there is no session bus; `hookmux config set notify.bus ADDRESS` names one elsewhere")
}

// openTime limits how long a bus may take to let us in.
const openTime = 5 * time.Second

// openBus connects to a session bus. Neither a bus that doesn't answer nor one that doesn't
// read blocks it.
func openBus(ctx context.Context, address string) (*dbus.Conn, error) {
	socket, err := config.BusSocket(address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	var dialer net.Dialer
	raw, err := dialer.DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, absent("no session bus answers: %v", err)
	}
	fail := func(err error) (*dbus.Conn, error) {
		_ = raw.Close()
		return nil, absent("no session bus answers: %v", err)
	}
	if limit, ok := ctx.Deadline(); ok {
		if err := raw.SetReadDeadline(limit); err != nil {
			return fail(err)
		}
	}
	conn, err := dbus.NewConn(boundedWrites{raw})
	if err != nil {
		return fail(err)
	}
	if err := conn.Auth(nil); err != nil {
		return fail(err)
	}
	if err := conn.Hello(); err != nil {
		return fail(err)
	}
	if err := raw.SetReadDeadline(time.Time{}); err != nil {
		return fail(err)
	}
	return conn, nil
}

// boundedWrites is a connection on which no write lasts long.
type boundedWrites struct{ net.Conn }

func (c boundedWrites) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(closeTime)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}
