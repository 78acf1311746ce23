package main

import (
	"errors"
	"io"
	"os"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// containerFolder is where a container finds what the user of its host mounted for it: the
// socket on which it may report. Outside of containers only root can make it, so no agent
// can turn a client that asks the daemon into one that merely reports. That's also why no
// variable names it. Only the linker sets it, for tests.
var containerFolder = "/etc/hookmux/container"

// isContained reports whether this client was set up for a container.
func isContained() bool {
	_, err := os.Stat(containerFolder)
	return err == nil
}

var errOutside = errors.New("the daemon outside this container can't be reached")

// unheard is the text that an agent in a container gets if its call couldn't be checked.
const unheard = "hookmux could not check this call because its daemon outside this container is not responding; " +
	"run there: hookmux status"

// report reports a call to the daemon outside of this container. Nothing in here proves who
// is on that socket, so its answer is only used if it stops the agent or makes it ask. No
// daemon is started in here, and nothing is left for one.
func (c *call) report(stderr io.Writer) neutral.Answer {
	reply, err := c.exchangeOutside()
	if err == nil {
		if answer, ok := c.tightened(&reply); ok {
			return answer
		}
		err = errors.New("the answer on the container's socket has no verdict")
	}
	if c.opt.debug {
		writeText(stderr, frame.DebugStart+err.Error()+"\n")
	}
	return c.unheard()
}

// waitOutside limits how long a daemon may take: it doesn't ask the user about such a call.
const waitOutside = 15 * time.Second

// retryOutside is how often a daemon that isn't there is looked for: it may be starting.
const retryOutside = 100 * time.Millisecond

func (c *call) exchangeOutside() (frame.Reply, error) {
	until := c.time.reachFrom(time.Now(), c.observes)
	for {
		reply, err := c.askOutside(until)
		if err == nil || c.observes || errors.Is(err, errSilent) || time.Now().Add(retryOutside).After(until) {
			return reply, err
		}
		time.Sleep(retryOutside)
	}
}

func (c *call) askOutside(until time.Time) (frame.Reply, error) {
	conn, err := dialDaemon(containerFolder+"/daemon.sock", until)
	if err != nil {
		return frame.Reply{}, errors.Join(errOutside, err)
	}
	defer func() { conn.close() }()
	if err := checkUser(conn); err != nil {
		return frame.Reply{}, err
	}
	if conn, err = c.transmitRequest(conn); err != nil {
		return frame.Reply{}, err
	}
	conn.until = earlierOf(conn.until, time.Now().Add(multiplyWait(waitOutside)))
	return c.readReply(replyReader{conn: conn})
}

// tightened returns what the agent gets for a reply: silence, a question or a denial, each
// from the table that this client has of its agents. Of the reply itself only the reason
// passes.
func (c *call) tightened(reply *frame.Reply) (answer neutral.Answer, ok bool) {
	refuse, ask := c.row.Deny, c.row.Unchecked
	if !c.known {
		refuse = neutral.Answer{Exit: 2, Stderr: unchecked}
		ask = refuse
	}
	switch reply.Verdict {
	case frame.VerdictNone:
		return c.row.Neutral, true
	case frame.VerdictDeny:
		if refuse == c.row.Neutral {
			refuse = ask // the agent can't be denied here
		}
		return withReason(refuse, reply.Reason), true
	case frame.VerdictAsk:
		return withReason(ask, reply.Reason), true
	}
	return neutral.Answer{}, false
}

// unheard returns the answer if the daemon outside can't be asked: which guards are on isn't
// known in here, so hookmux's own are taken to be on.
func (c *call) unheard() neutral.Answer {
	switch {
	case c.observes:
		return c.row.Neutral
	case c.deniesUnavailable():
		return c.row.Deny
	case !c.known:
		return neutral.Answer{Exit: 2, Stderr: unheard + "\n"}
	case guardnote.Covers(guardnote.Builtin(), c.opt.agent, c.opt.event, c.row.Kind):
		return withReason(c.row.Unchecked, unheard)
	}
	return c.row.Neutral
}

// maxReason limits a reason in bytes.
const maxReason = 1 << 10

// withReason puts a reason into an answer of the table, in place of the table's own. The
// reason contains nothing that could end the text that it becomes part of.
func withReason(a neutral.Answer, reason string) neutral.Answer {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r == '"' || r == '`':
			return '\''
		case r == '\\':
			return '/'
		case r < ' ' || r >= 0x7f && r <= 0x9f || r == '\u2028' || r == '\u2029' || r == '\ufffd':
			return ' '
		}
		return r
	}, strings.ToValidUTF8(reason[:min(len(reason), maxReason)], ""))
	if strings.TrimSpace(plain) == "" {
		return a
	}
	for _, own := range []string{neutral.UnreachableReason, neutral.UncheckedReason, strings.TrimSuffix(unchecked, "\n")} {
		a.Stdout = strings.ReplaceAll(a.Stdout, own, plain)
		a.Stderr = strings.ReplaceAll(a.Stderr, own, plain)
	}
	return a
}
