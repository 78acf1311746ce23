package server

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/hookmux/hookmux/internal/wire"
)

// maxCmuxWaits is how many requests of one conversation may wait for you at once; the next
// one holds up what comes after it.
const maxCmuxWaits = 8

// serveCmux answers cmux's envelopes in order, but for those that wait for a
// person: cmux's plugins send everything over one connection, and what they report
// meanwhile, or ask next, must not wait for that answer. Answers carry the id of
// their request.
func (c *conversation) serveCmux(line []byte) {
	c.entry.MarkIdentified()
	ctx, cancel := context.WithCancel(c.server.ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel() // whoever hung up hears no answer
	var writing sync.Mutex
	send := func(out []byte) bool {
		writing.Lock()
		defer writing.Unlock()
		return c.sendLine(out)
	}
	free := make(chan struct{}, maxCmuxWaits)
	for {
		waits := cmuxWaits(line)
		if waits {
			select {
			case free <- struct{}{}:
			default:
				waits = false
			}
		}
		if waits {
			request := bytes.Clone(line) // the next line is read into the same place
			waiting.Go(func() {
				defer func() { <-free }()
				out, err := c.server.AnswerCmux(request, c.callWaiting(ctx))
				if err != nil || out != nil && !send(out) {
					_ = c.conn.CloseRead() // the conversation is over
				}
			})
		} else {
			c.entry.SetBusy(true)
			out, err := c.server.AnswerCmux(line, c.callMethod)
			if err != nil || out != nil && !send(out) {
				return
			}
			c.entry.SetBusy(false)
		}
		var err error
		if line, err = c.nextLine(); err != nil {
			return
		}
	}
}

// callWaiting runs a method that may wait for you until ctx ends.
func (c *conversation) callWaiting(ctx context.Context) CallFunc {
	return func(name string, params json.RawMessage) (json.RawMessage, *wire.Error) {
		method := c.server.LongMethods[name]
		verdict := c.server.Evaluator.May(wire.Methods[name], c.peer, nil)
		return c.server.runChecked(name, verdict, c.peer, func() (any, *wire.Error) {
			return method(ctx, params, c.peer)
		})
	}
}

// cmuxWaits reports whether a line asks for an answer that you may have to give.
func cmuxWaits(line []byte) bool {
	var request struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Wait float64 `json:"wait_timeout_seconds"`
		} `json:"params"`
	}
	return json.Unmarshal(line, &request) == nil && request.ID != nil && request.Method == wire.MethodCmuxPush &&
		request.Params.Wait > 0
}
