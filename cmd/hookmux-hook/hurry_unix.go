//go:build unix

package main

import (
	"errors"
	"io"
	"syscall"
	"time"
	"unsafe"

	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// fastPathBudget is how long a call may take without the threads and timers that watching
// a longer one costs.
const fastPathBudget = 30 * time.Millisecond

// nonBlockingReader reads from a descriptor until that would wait past until.
type nonBlockingReader struct {
	fd    fd
	until time.Time
	slow  bool
}

func (h *nonBlockingReader) Read(p []byte) (int, error) {
	if !waitReadable(int(h.fd), time.Until(h.until)) {
		h.slow = true
		return 0, errSlow
	}
	return h.fd.Read(p)
}

// idleWait is after how long without a byte a complete payload is considered to have ended.
const idleWait = 300 * time.Millisecond

// idle reads from a descriptor and says when nothing comes.
type idle struct{ fd fd }

func (i idle) Read(p []byte) (int, error) {
	if int(i.fd) < maxSelect && !waitReadable(int(i.fd), idleWait) {
		return 0, errIdle
	}
	return i.fd.Read(p)
}

// untilIdle makes reading a stream that may never be closed notice when nothing
// comes any more.
func untilIdle(stdin io.Reader) io.Reader {
	if in, ok := stdin.(fd); ok {
		return idle{in}
	}
	return stdin
}

// tryQuickly makes the whole call on this one thread, without a supervisor: the ordinary
// case, in which the agent has written its payload already and the daemon answers at once.
// False means that it takes longer; what was done so far is kept, and superviseCall goes on
// from there.
func (c *call) tryQuickly(stdin io.Reader) (neutral.Answer, bool) {
	in, ok := stdin.(fd)
	if !ok || c.contained {
		return neutral.Answer{}, false
	}
	from := &nonBlockingReader{fd: in, until: c.started.Add(fastPathBudget)}
	payload, truncated := readPayload(nil, from)
	if from.slow {
		c.read, c.cut = payload, truncated
		return neutral.Answer{}, false
	}
	if c.opt.disabled {
		return c.row.Neutral, true
	}
	c.prepareRequest(payload, truncated)
	dirs, err := paths.RuntimeOnly(c.getenv)
	if err != nil {
		return neutral.Answer{}, false
	}
	conn, err := c.connectUser(dirs, c.started.Add(fastPathBudget))
	if err != nil {
		return neutral.Answer{}, false // reachDaemon knows what to do about it
	}
	if conn, err = c.transmitRequest(conn); err != nil {
		conn.close()
		return neutral.Answer{}, false
	}
	// While the daemon works: it is not believed before.
	if err := checkProgram(conn, dirs); err != nil {
		conn.close()
		return neutral.Answer{}, false // reachDaemon finds the same, before it sends
	}
	if !waitReadable(conn.fd, fastPathBudget) {
		c.sent = conn
		return neutral.Answer{}, false
	}
	reply, err := c.readReply(replyReader{conn: conn, ready: true})
	conn.close()
	if err != nil {
		return neutral.Answer{}, false // asked again, under the same id
	}
	return answerOf(reply), true
}

// waitReadable waits until a descriptor can be read without waiting, or has ended.
func waitReadable(f int, wait time.Duration) bool {
	for end := time.Now().Add(wait); ; {
		left := time.Until(end)
		if left <= 0 {
			left = 0
		}
		ready, err := selectRead(f, left)
		if !errors.Is(err, syscall.EINTR) || left == 0 {
			return err == nil && ready
		}
	}
}

// setWord is the size of one word of a descriptor set.
const setWord = unsafe.Sizeof(syscall.FdSet{}.Bits[0])
