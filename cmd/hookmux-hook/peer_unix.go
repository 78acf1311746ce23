//go:build unix

package main

import (
	"errors"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

var errOtherUser = errors.New("the process that listens on the daemon's socket belongs to another user")

// checkUser rejects another user on the daemon's socket.
func checkUser(c conn) error {
	if _, uid, err := c.peerOf(); err == nil && uid != paths.UserID() {
		return errOtherUser
	}
	return nil // also if the system doesn't report it
}

// checkProgram rejects a process on the daemon's socket that doesn't run the installed
// hookmux.
func checkProgram(c conn, d paths.Dirs) error {
	i := d.Installation()
	if i == nil || d.IsSystem() { // only the daemon that the keeper knows listens there
		return nil
	}
	pid, _, err := c.peerOf()
	if err != nil {
		return nil // the system does not say
	}
	return daemonstart.CheckPeer(pid, i.Program)
}

const (
	// lookEvery is how often a daemon that hasn't answered yet is checked: it may be waiting
	// for the user, and it may have been stopped.
	lookEvery = 250 * time.Millisecond
	// pingEvery is how often it is asked for a sign of life, and pingWait how long that may
	// take.
	pingEvery = 5 * time.Second
	pingWait  = 10 * time.Second
)

// awaitReply waits until the reply begins, the time is over or the daemon shows no sign
// of life.
func (c *call) awaitReply(conn conn, d paths.Dirs) error {
	if conn.fd >= maxSelect {
		return nil // the read itself waits
	}
	nextPing := time.Now().Add(pingEvery)
	stopped := 0
	for !waitReadable(conn.fd, min(lookEvery, max(time.Millisecond, time.Until(conn.until)))) {
		switch {
		case conn.isOver():
			return errSilent
		case c.observes:
		case conn.peerStopped():
			if stopped++; stopped == 2 {
				return errStuck
			}
		case time.Now().After(nextPing):
			stopped = 0
			if !pingDaemon(d.Socket(), earlierOf(time.Now().Add(pingWait), conn.until)) {
				return errStuck
			}
			nextPing = time.Now().Add(pingEvery)
		default:
			stopped = 0
		}
	}
	return nil
}

// pingLine is a question that every daemon answers at once.
const pingLine = `{"id":1,"method":"system.ping"}` + "\n"

// pingDaemon reports whether a daemon says anything on a new connection; hanging up is a
// sign of life, too.
func pingDaemon(socket string, until time.Time) bool {
	c, err := dialDaemon(socket, until)
	if err != nil {
		return !isTimeout(err)
	}
	defer c.close()
	if _, err := c.Write([]byte(pingLine)); err != nil {
		return !isTimeout(err)
	}
	return c.fd >= maxSelect || waitReadable(c.fd, time.Until(until))
}

// maxSelect is the first descriptor that select(2) has no place for.
const maxSelect = 8 * int(unsafeSetSize)

const unsafeSetSize = uintptr(len(syscall.FdSet{}.Bits)) * setWord
