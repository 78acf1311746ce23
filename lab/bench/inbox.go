//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

const (
	// One process may have 1,024 connections to the daemon (server.Standard), and all
	// of these are this one's.
	inboxPending = 950
	inboxStreams = 50
	inboxReplies = 1500
	// feedRest lets the news of the round before pass: neither side is measured
	// while fifty streams still read.
	feedRest = 6 * time.Millisecond
)

// inbox measures how long an answer takes from the user's program to the waiting hook, with many
// requests waiting and many watching, against a bare round trip over a socket. The answer is on
// disk before the hook receives it.
func (b *bench) inbox(ctx context.Context) error {
	echo, err := b.startEcho("inbox-echo")
	if err != nil {
		return err
	}
	defer echo.stop()
	if err := b.build(ctx, "inboxdaemon", "./lab/bench/inboxdaemon"); err != nil {
		return err
	}
	p, err := b.startDaemonProgram(ctx, "inbox", b.tools+"/inboxdaemon", nil)
	if err != nil {
		return err
	}
	defer p.stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ids := make(chan received, inboxPending)
	if err := p.watchAll(ctx, ids); err != nil {
		return err
	}
	f := &inboxLoad{p: p, ids: ids, open: map[string]*waitingHook{}}
	for range inboxPending {
		if err := f.ask(); err != nil {
			return err
		}
	}
	if err := f.registered(ctx, inboxPending); err != nil {
		return err
	}
	var replies, trips []float64
	for i := range inboxReplies {
		if err := ctx.Err(); err != nil {
			return err
		}
		time.Sleep(feedRest)
		trip, err := roundTrip(echo.socket)
		if err != nil {
			return err
		}
		took, err := f.measure(ctx, f.overSocket)
		if err != nil {
			return err
		}
		if i >= inboxReplies/20 { // the first ones warm up
			trips, replies = append(trips, micros(trip)), append(replies, micros(took))
		}
		if err := f.ask(); err != nil {
			return err
		}
		if err := f.registered(ctx, inboxPending); err != nil {
			return err
		}
	}
	b.table.note("inbox: bare round trip, p50", percentile(trips, 50), "µs")
	b.table.note("inbox: reply → waiting hook, p50", percentile(replies, 50), "µs")
	b.table.note("inbox: bare round trip, p99", percentile(trips, 99), "µs")
	b.table.note("inbox: reply → waiting hook, p99", percentile(replies, 99), "µs")
	b.table.note("inbox: reply ÷ round trip, p50", percentile(replies, 50)/percentile(trips, 50), "×")
	b.table.atMost("inbox: reply ÷ round trip, p99", percentile(replies, 99)/percentile(trips, 99), 10, "×")
	return nil
}

func percentile(values []float64, p int) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(len(sorted)*p/100, len(sorted)-1)]
}

// roundTrip returns one call of the plainest server: dial, send, read.
func roundTrip(socket string) (time.Duration, error) {
	began := time.Now()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	const message = "a message of some length, like a short answer"
	if _, err := conn.Write([]byte(strconv.Itoa(len(message)) + "\n" + message)); err != nil {
		return 0, err
	}
	var back [len(message)]byte
	for n := 0; n < len(back); {
		more, err := conn.Read(back[n:])
		if err != nil {
			return 0, err
		}
		n += more
	}
	return time.Since(began), nil
}

// received is a request of the inbox with the call it is about.
type received struct{ event, request, sha256 string }

// watchAll attaches the streams; the first reports which request is whose.
func (p *place) watchAll(ctx context.Context, ids chan<- received) error {
	for i := range inboxStreams {
		ready := make(chan error, 1)
		go func() {
			c := &client.Client{Socket: p.dirs.Socket()}
			ready <- c.Inbox(ctx, func(n client.InboxNote) error {
				if n.Method == wire.NoteInboxReady {
					ready <- nil
				}
				if i == 0 && n.Method == wire.NoteInboxReceived {
					ids <- received{n.Item.EventID, n.Item.ID, n.Item.SHA256}
				}
				return nil
			})
		}()
		select {
		case err := <-ready:
			if err != nil {
				return err
			}
		case <-time.After(10 * time.Second):
			return fmt.Errorf("a stream of the inbox does not come up")
		}
	}
	return nil
}

// inboxLoad keeps hooks waiting.
type inboxLoad struct {
	p     *place
	ids   <-chan received
	open  map[string]*waitingHook // by event
	ready []*waitingHook          // registered, oldest first
	asked int
}

type waitingHook struct {
	conn            net.Conn
	request, sha256 string
}

// ask has one more hook ask for permission and wait.
func (f *inboxLoad) ask() error {
	conn, err := net.Dial("unix", f.p.dirs.Socket())
	if err != nil {
		return err
	}
	payload, _ := json.Marshal(map[string]any{
		"session_id": fmt.Sprint("s", f.asked%40), "cwd": f.p.dir, "hook_event_name": "PermissionRequest",
		"permission_mode": "default",
		"tool_name":       "Bash",
		"tool_input":      map[string]string{"command": fmt.Sprint("make target-", f.asked), "description": "Build it"},
	})
	f.asked++
	r := frame.Request{ID: frame.NewID(), Agent: "claude", Event: "PermissionRequest", Cwd: f.p.dir,
		Deadline: time.Hour, Payload: payload}
	f.open[r.ID] = &waitingHook{conn: conn}
	_, err = conn.Write(frame.AppendRequest(nil, &r))
	return err
}

// registered waits until so many requests wait.
func (f *inboxLoad) registered(ctx context.Context, n int) error {
	for len(f.ready) < n {
		select {
		case r := <-f.ids:
			if h := f.open[r.event]; h != nil {
				h.request, h.sha256 = r.request, r.sha256
				delete(f.open, r.event)
				f.ready = append(f.ready, h)
			}
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(30 * time.Second):
			return fmt.Errorf("only %d requests wait, not %d", len(f.ready), n)
		}
	}
	return nil
}

// overSocket says yes as a command does.
func (f *inboxLoad) overSocket(ctx context.Context, h *waitingHook) (string, error) {
	c := &client.Client{Socket: f.p.dirs.Socket()}
	result, err := c.Reply(ctx, client.InboxReply{ID: h.request, Choice: "once"})
	return string(result.Outcome), err
}

// measure has the oldest answered and measures until its hook receives the answer.
func (f *inboxLoad) measure(ctx context.Context, answer func(context.Context, *waitingHook) (string, error)) (time.Duration, error) {
	h := f.ready[0]
	f.ready = f.ready[1:]
	defer h.conn.Close()
	heard := make(chan error, 1)
	var at time.Time
	go func() {
		_, err := frame.ReadReply(bufio.NewReader(h.conn), frame.Standard)
		at = time.Now()
		heard <- err
	}()
	began := time.Now()
	outcome, err := answer(ctx, h)
	if err != nil {
		return 0, err
	}
	if outcome != "delivered" {
		return 0, fmt.Errorf("request %s: %s", h.request, outcome)
	}
	if err := <-heard; err != nil {
		return 0, err
	}
	return at.Sub(began), nil
}
