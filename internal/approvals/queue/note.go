package queue

import (
	"sync"

	"github.com/hookmux/hookmux/internal/wire"
)

// Change is one thing that happened to a request. Its line is written once,
// however many watch.
type Change struct {
	Note string
	Item wire.InboxRequest

	once sync.Once
	line []byte
}

// Line returns the change as a line for a stream.
func (c *Change) Line() []byte {
	c.once.Do(func() { c.line = NoteLine(c.Note, c.Item) })
	return c.line
}

// NoteLine returns a notification of a stream.
func NoteLine(note string, params any) []byte {
	line, _ := wire.Line(nil, struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", note, params})
	return line
}
