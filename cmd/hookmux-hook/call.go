package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/spoolrecord"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// call is one hook call on its way to the daemon and back.
type call struct {
	opt       options
	env       []string
	getenv    func(string) string
	row       neutral.Row
	known     bool // the table has a row for it
	observes  bool // the agent does nothing with the answer
	contained bool // in a container, which may only report
	time      timing
	started   time.Time
	request   frame.Request

	read []byte // the part of the payload that was read in a hurry, before it took long
	cut  bool   // that is all there will be of it: the rest is only read away
	sent conn   // where the request is waiting for its reply already

	unsent atomic.Bool // the request is whole, and no daemon has it
}

func newCall(opt options, env []string, start time.Time) *call {
	c := &call{opt: opt, env: env, getenv: paths.GetenvFrom(env), started: start, sent: noConn}
	c.row, c.known = neutral.Lookup(opt.agent, opt.event)
	// What the table doesn't know may be a user's own agent that waits for a
	// decision: only what is known to observe is treated as observing.
	c.observes = c.known && !c.row.Decides
	c.contained = isContained()
	if !c.known && opt.deny {
		c.row.Deny = neutral.Answer{Exit: 2, Stderr: unreachable}
	}
	limit := opt.limit
	if limit == 0 {
		limit = c.row.Timeout
	}
	c.time = newTiming(start, limit)
	return c
}

const unreachable = "hookmux: the daemon can't be reached, and this hook was installed to refuse then; run hookmux " +
	"status\n"

// makeCall makes the call. It runs next to superviseCall, which reads nothing of what it
// writes except a complete request.
func (c *call) makeCall(stdin io.Reader, stderr io.Writer) neutral.Answer {
	if c.request.ID == "" {
		payload, truncated := c.read, c.cut
		if truncated {
			drainStream(stdin)
		} else {
			payload, truncated = readPayload(c.read, untilIdle(stdin))
			if _, ok := stdin.(fd); ok {
				go drainStream(stdin) // what an agent that never closes it may still write
			}
		}
		if c.opt.disabled {
			return c.row.Neutral
		}
		c.prepareRequest(payload, truncated)
	}
	if c.contained {
		return c.report(stderr)
	}
	reply, err := c.exchangeFrames()
	if err == nil {
		return answerOf(reply)
	}
	if c.opt.debug {
		writeText(stderr, frame.DebugStart+err.Error()+"\n")
	}
	return c.withoutDaemon(stderr)
}

func (c *call) prepareRequest(payload []byte, truncated bool) {
	c.request = frame.Request{
		ID:        c.callID(),
		Agent:     c.opt.agent,
		Event:     c.opt.event,
		Cwd:       workingDir(),
		Version:   version.String,
		Env:       joinEnv(c.env),
		Payload:   payload,
		Truncated: truncated,
	}
	c.unsent.Store(true)
}

// callID returns the key of this call: what a plugin sent the event under already, so that
// it is only recorded once, or else a new one.
func (c *call) callID() string {
	if c.opt.id == "" || len(c.opt.id) > 64 {
		return frame.NewID()
	}
	for _, r := range c.opt.id {
		if r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return frame.NewID()
		}
	}
	return c.opt.id
}

func answerOf(r frame.Reply) neutral.Answer {
	return neutral.Answer{Stdout: string(r.Stdout), Stderr: string(r.Stderr), Exit: r.Exit}
}

// maxSends limits how often one deciding call is repeated. A daemon that dies of
// it twice sets it aside; one that answers nonsense won't learn.
const maxSends = 4

// waitedLong is after how long a daemon that hangs up did so for another reason than the
// call: it waited for the user, whom the next daemon asks again, however many come and go.
const waitedLong = 250 * time.Millisecond

var (
	errSilent = errors.New("the daemon didn't answer in time")
	errStuck  = errors.New("the daemon shows no sign of life; it may have been stopped")
)

// exchangeFrames gets the daemon's reply, or makes sure that the event isn't lost.
func (c *call) exchangeFrames() (frame.Reply, error) {
	for sends := 1; ; sends++ {
		conn := c.sent
		if conn == noConn {
			c.unsent.Store(true)
			var err error
			if conn, err = c.reachDaemon(); err != nil {
				return frame.Reply{}, err
			}
			if conn, err = c.transmitRequest(conn); err != nil {
				conn.close()
				if c.isLost(sends, err) {
					return frame.Reply{}, errors.Join(err, c.leaveEvent())
				}
				continue
			}
		}
		c.sent = noConn
		sent := time.Now()
		reply, err := c.receiveReply(conn)
		conn.close()
		if err == nil {
			return reply, nil
		}
		if errors.Is(err, io.EOF) && time.Since(sent) > waitedLong {
			sends = 1
		}
		if errors.Is(err, errStuck) {
			sends = max(sends, maxSends-1) // once more on a new connection
		}
		if c.isLost(sends, err) {
			// It isn't known whether the daemon has the event. If it is left twice it is
			// still recorded once, because the id is the key.
			return frame.Reply{}, errors.Join(err, c.leaveEvent())
		}
	}
}

// isLost reports whether asking once more is of no use.
func (c *call) isLost(sends int, err error) bool {
	return c.observes || sends == maxSends || errors.Is(err, errSilent) || time.Now().After(c.time.giveUp)
}

// reachDaemon connects to the running daemon, or else to one it starts. If that fails, the
// event is in the spool.
func (c *call) reachDaemon() (conn, error) {
	dirs, err := paths.RuntimeOnly(c.getenv)
	if err != nil {
		return noConn, err
	}
	conn, err := c.connectDaemon(dirs, c.time.reachFrom(time.Now(), c.observes))
	if err != nil {
		return c.bringUp(err)
	}
	return conn, nil
}

// connectDaemon connects to the daemon and makes sure that it is the daemon.
func (c *call) connectDaemon(d paths.Dirs, until time.Time) (conn, error) {
	conn, err := c.connectUser(d, until)
	if err != nil {
		return noConn, err
	}
	if err := checkProgram(conn, d); err != nil {
		conn.close()
		return noConn, err
	}
	return conn, nil
}

// connectUser connects to a process of this user that listens on the daemon's socket. Call
// checkProgram before you believe its reply.
func (c *call) connectUser(d paths.Dirs, until time.Time) (conn, error) {
	if err := d.CheckSocket(); err != nil {
		return noConn, err
	}
	conn, err := dialDaemon(d.Socket(), until)
	if err != nil {
		return noConn, err
	}
	if err := checkUser(conn); err != nil {
		conn.close()
		return noConn, err
	}
	return conn, nil
}

// bringUp handles a daemon that can't be reached. An observing event is left in the spool for
// the daemon that is being started; a deciding one waits for that daemon for a while.
func (c *call) bringUp(why error) (conn, error) {
	dirs, err := paths.Find(c.getenv)
	if err != nil {
		return noConn, err
	}
	if c.observes {
		return noConn, errors.Join(why, c.leaveIn(dirs), c.startOnly(dirs))
	}
	program, err := daemonstart.FindProgram(c.getenv)
	if err != nil {
		return noConn, errors.Join(err, c.leaveIn(dirs))
	}
	var got conn
	until := c.time.reachFrom(time.Now(), c.observes)
	err = daemonstart.Ensure(dirs, program, daemonstart.Options{Env: c.env}, until, func() (err error) {
		got, err = c.connectDaemon(dirs, until)
		return err
	})
	if err != nil {
		return noConn, errors.Join(err, c.leaveIn(dirs))
	}
	return got, nil
}

func (c *call) startOnly(d paths.Dirs) error {
	program, err := daemonstart.FindProgram(c.getenv)
	if err != nil {
		return err
	}
	_, err = daemonstart.Start(d, program, daemonstart.Options{Env: c.env})
	return err
}

// transmitRequest sends the request and says until when its reply is waited for.
func (c *call) transmitRequest(conn conn) (conn, error) {
	now := time.Now()
	if !c.time.answerBy.IsZero() {
		// Not 0, which would mean that there is no deadline.
		c.request.Deadline = max(time.Millisecond, c.time.answerBy.Sub(now))
	}
	conn.until = c.time.waitFrom(now, c.observes)
	err := c.sendRequest(conn)
	c.unsent.Store(err != nil)
	return conn, err
}

// receiveReply waits for the reply and reads it.
func (c *call) receiveReply(conn conn) (frame.Reply, error) {
	dirs, err := paths.RuntimeOnly(c.getenv)
	if err != nil {
		return frame.Reply{}, err
	}
	if err := c.awaitReply(conn, dirs); err != nil {
		return frame.Reply{}, err
	}
	return c.readReply(replyReader{conn: conn})
}

// replyReader reads a reply and gives up in time. ready says that the first read doesn't
// have to wait: then it needs no limit, which is one system call less.
type replyReader struct {
	conn
	ready bool
}

func (r *replyReader) Read(p []byte) (int, error) {
	if !r.ready {
		r.startReading()
	}
	r.ready = false
	return r.conn.Read(p)
}

// readReply reads the reply.
func (c *call) readReply(from replyReader) (frame.Reply, error) {
	reply, err := frame.ReadReply(bufio.NewReader(&from), frame.Standard)
	switch {
	case isTimeout(err):
		return frame.Reply{}, errSilent
	case err != nil:
		return frame.Reply{}, err
	case reply.ID != c.request.ID:
		return frame.Reply{}, errors.New("the daemon answered another call")
	}
	return reply, nil
}

// copyBelow is the size up to which one write of a copy is cheaper than three writes.
const copyBelow = 256 << 10

func (c *call) sendRequest(conn conn) error {
	if len(c.request.Payload) < copyBelow {
		size := 512 + len(c.request.Cwd) + len(c.request.Payload) + len(c.request.Env)
		_, err := conn.Write(frame.AppendRequest(make([]byte, 0, size), &c.request))
		return err
	}
	for _, part := range [][]byte{frame.AppendRequestHeader(nil, &c.request), c.request.Payload, c.request.Env} {
		if _, err := conn.Write(part); err != nil {
			return err
		}
	}
	return nil
}

func (c *call) leaveEvent() error {
	dirs, err := paths.Find(c.getenv)
	if err != nil {
		return err
	}
	return c.leaveIn(dirs)
}

// leaveIn puts the event into the spool.
func (c *call) leaveIn(d paths.Dirs) error {
	return spoolrecord.Leave(d.Spool(), &spoolrecord.Record{
		Type:      spoolrecord.TypeEvent,
		ID:        c.request.ID,
		Time:      c.started,
		Agent:     c.request.Agent,
		Event:     c.request.Event,
		Cwd:       c.request.Cwd,
		PID:       os.Getppid(),
		Pane:      c.getenv("TMUX_PANE"),
		Truncated: c.request.Truncated,
		Payload:   c.request.Payload,
	})
}
