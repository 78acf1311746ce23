package handler

import (
	"io"
	"unicode/utf8"
)

// What is kept of a process's output.
const (
	maxStdout = 1 << 20
	maxStderr = 64 << 10
	tailKept  = 2 << 10
)

// capture keeps the beginning of a stream, and its very end if it was too long: the last line of
// stderr mostly says what went wrong. What is in between is read and thrown away, so that the
// writer is never blocked.
type capture struct {
	limit int
	head  []byte
	tail  []byte
	over  bool // there was more than head
	whole bool // the stream was read to its end
}

// readFrom reads r until it ends, breaks or runs into its deadline.
func (c *capture) readFrom(r io.Reader, room int) {
	c.head = make([]byte, 0, room)
	for {
		if len(c.head) == cap(c.head) {
			if len(c.head) >= c.limit {
				break
			}
			grown := make([]byte, len(c.head), min(max(4<<10, 4*cap(c.head)), c.limit))
			copy(grown, c.head)
			c.head = grown
		}
		n, err := r.Read(c.head[len(c.head):cap(c.head)])
		c.head = c.head[:len(c.head)+n]
		if err != nil {
			c.whole = err == io.EOF
			return
		}
	}
	buffer := make([]byte, 64<<10)
	for {
		n, err := r.Read(buffer)
		if n > 0 {
			c.over = true
			c.tail = append(c.tail, buffer[max(0, n-tailKept):n]...)
			c.tail = c.tail[max(0, len(c.tail)-tailKept):]
		}
		if err != nil {
			c.whole = err == io.EOF
			return
		}
	}
}

// lastPart returns the last part of the stream that was kept.
func (c *capture) lastPart() []byte {
	tail := c.head[max(0, len(c.head)-tailKept):]
	if len(c.tail) > 0 {
		tail = append(append([]byte(nil), tail...), c.tail...)
		tail = tail[max(0, len(tail)-tailKept):]
	}
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	return tail
}
