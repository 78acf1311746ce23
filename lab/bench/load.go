//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/wire/frame"
)

// workers is how many calls are under way at once.
const workers = 8

// target is a server that takes calls.
type target struct {
	socket string
	// wrap appends what is sent for a frame.
	wrap func(dst, frame []byte) []byte
	// complete reports whether the answer has arrived whole.
	complete func(answer []byte, sent *call) (bool, error)
}

// call is one request on its way.
type call struct {
	id    string
	frame []byte
}

func toEcho(e *echoServer) *target {
	return &target{
		socket: e.socket,
		wrap: func(dst, frame []byte) []byte {
			dst = append(strconv.AppendInt(dst, int64(len(frame)), 10), '\n')
			return append(dst, frame...)
		},
		complete: func(answer []byte, sent *call) (bool, error) {
			if len(answer) > len(sent.frame) || len(answer) == len(sent.frame) && !bytes.Equal(answer, sent.frame) {
				return false, errors.New("the echo is not what was sent")
			}
			return len(answer) == len(sent.frame), nil
		},
	}
}

func toDaemon(p *place) *target {
	return &target{
		socket: p.dirs.Socket(),
		wrap:   func(dst, frame []byte) []byte { return append(dst, frame...) },
		complete: func(answer []byte, sent *call) (bool, error) {
			end := bytes.IndexByte(answer, '\n')
			if end < 0 {
				return false, nil
			}
			reply, stdout, stderr, err := frame.ParseReply(answer[:end])
			if err != nil {
				return false, fmt.Errorf("the reply to %q: %w", sent.id, err)
			}
			if reply.ID != sent.id {
				return false, fmt.Errorf("the reply is to %q, not to %q", reply.ID, sent.id)
			}
			return len(answer) == end+1+stdout+stderr, nil
		},
	}
}

// load makes calls.
type load struct {
	mix  *mix
	next atomic.Uint64
}

// until says when to stop: at a moment, or after a number of calls.
type until struct {
	moment time.Time
	calls  int64
}

// run makes calls and returns the ids that were answered. Everything that is done for one target is
// done for the other, so that the load costs the same.
func (l *load) run(t *target, stop until) ([]string, error) {
	var (
		left   atomic.Int64
		group  sync.WaitGroup
		mu     sync.Mutex
		ids    []string
		errs   []error
		failed atomic.Bool
	)
	left.Store(stop.calls)
	for range workers {
		group.Go(func() {
			var own []string
			w := worker{target: t, answer: make([]byte, 64<<10)}
			for !failed.Load() {
				if stop.calls > 0 && left.Add(-1) < 0 || stop.calls == 0 && time.Now().After(stop.moment) {
					break
				}
				request := l.mix.request(l.next.Add(1) - 1)
				if err := w.call(&request); err != nil {
					failed.Store(true)
					mu.Lock()
					errs = append(errs, err)
					mu.Unlock()
					break
				}
				own = append(own, request.ID)
			}
			mu.Lock()
			ids = append(ids, own...)
			mu.Unlock()
		})
	}
	group.Wait()
	return ids, errors.Join(errs...)
}

type worker struct {
	target         *target
	frame, message []byte
	answer         []byte
}

func (w *worker) call(request *frame.Request) error {
	w.frame = frame.AppendRequest(w.frame[:0], request)
	w.message = w.target.wrap(w.message[:0], w.frame)
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: w.target.socket, Net: "unix"})
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.Write(w.message); err != nil {
		return err
	}
	sent := call{id: request.ID, frame: w.frame}
	for got := 0; ; {
		n, err := conn.Read(w.answer[got:])
		got += n
		done, wrong := w.target.complete(w.answer[:got], &sent)
		switch {
		case wrong != nil:
			return wrong
		case done:
			return nil
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
	}
}

// ownCPU returns what this process has used so far.
func ownCPU() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
