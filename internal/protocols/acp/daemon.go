package acp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// FrameDaemon talks to the daemon as hooks do, by frames. It is used once.
type FrameDaemon struct {
	Socket string
	Agent  func() string
	Cwd    string
	Env    []string
	// Start makes sure that a daemon runs.
	Start func(ctx context.Context) error
	// Evaluate decides if no daemon can be asked.
	Evaluate func(ctx context.Context, id, agent string, r Report) Answer
	// Alive asks the daemon for a sign of life; an error means that there is none.
	Alive func(ctx context.Context) error
	// Check checks who listens on the socket; may be nil.
	Check func(conn net.Conn) error
	// PingEvery and PingTime are 0 for what is usual.
	PingEvery, PingTime time.Duration
	// Leave keeps an event that no daemon took for the next one; may be nil.
	Leave func(id, agent string, r Report)

	// OnOverload is called once, when more events wait than can: later ones are left for the
	// next daemon. May be nil.
	OnOverload func()

	dropped   atomic.Int64 // events that found no room
	restUntil atomic.Int64 // in nanoseconds: until then the daemon is not asked
	queue     chan queued
	done      chan struct{}
}

type queued struct {
	report Report
	then   func()
	decide func() // instead of the report
}

// Times that the daemon is given.
const (
	reportTime = 10 * time.Second
	decideTime = time.Hour
	maxQueued  = 4096
	maxSends   = 4
	// pingEvery is how often a daemon that hasn't answered yet is asked for a sign of life,
	// and pingTime how long it may take.
	pingEvery = 5 * time.Second
	pingTime  = 10 * time.Second
	// restTime is how long a daemon that shows no sign of life isn't asked again.
	restTime = 30 * time.Second
)

// Begin starts to pass events on, until End.
func (h *FrameDaemon) Begin() {
	h.queue, h.done = make(chan queued, maxQueued), make(chan struct{})
	go func() {
		defer close(h.done)
		for one := range h.queue {
			switch {
			case one.decide != nil:
				one.decide()
			default:
				h.sendNow(one.report)
			}
			if one.then != nil {
				one.then()
			}
		}
	}()
}

// End waits for what is under way, not longer than ctx. Nothing may be reported afterwards.
func (h *FrameDaemon) End(ctx context.Context) {
	close(h.queue)
	select {
	case <-h.done:
	case <-ctx.Done():
	}
}

// SendNow sends an event now and waits until the daemon has it.
func (h *FrameDaemon) SendNow(r Report) { h.sendNow(r) }

func (h *FrameDaemon) sendNow(r Report) {
	ctx, cancel := context.WithTimeout(context.Background(), reportTime)
	defer cancel()
	id, name := frame.NewID(), h.Agent()
	if _, err := h.ask(ctx, id, name, r, reportTime, nil); err != nil && h.Leave != nil {
		h.Leave(id, name, r)
	}
}

// Report queues an event. If too many wait it is counted and left for the next daemon: the
// conversation goes on.
func (h *FrameDaemon) Report(r Report, then func()) {
	select {
	case h.queue <- queued{report: r, then: then}:
	default:
		if h.dropped.Add(1) == 1 && h.OnOverload != nil {
			h.OnOverload()
		}
		if h.Leave != nil {
			h.Leave(frame.NewID(), h.Agent(), r)
		}
		if then != nil {
			then()
		}
	}
}

// LeftOut returns how many events found no room among those that wait for the daemon.
func (h *FrameDaemon) LeftOut() int64 { return h.dropped.Load() }

// Decide asks once everything that was reported before is sent.
func (h *FrameDaemon) Decide(ctx context.Context, r Report, waits func(), answer func(Answer)) {
	decide := func() {
		go func() {
			id, name := frame.NewID(), h.Agent()
			reply, err := h.ask(ctx, id, name, r, decideTime, waits)
			switch {
			case ctx.Err() != nil:
				return
			case err != nil:
				answer(h.Evaluate(ctx, id, name, r))
				return
			}
			answer(Answer{Result: json.RawMessage(reply.Stdout), Reason: string(reply.Stderr)})
		}()
	}
	select {
	case h.queue <- queued{decide: decide}:
	default:
		decide()
	}
}

// ask sends an event until a daemon answers it. A daemon that hangs up is replaced by
// another, which knows the event by its id.
func (h *FrameDaemon) ask(ctx context.Context, id, name string, r Report, limit time.Duration,
	waits func()) (frame.Reply, error) {
	request := frame.Request{
		ID: id, Agent: name, Event: r.Event, Deadline: limit, Cwd: h.Cwd, Version: version.String,
		Waits: waits != nil, Payload: r.Payload, Env: proc.JoinEnv(h.Env),
	}
	switch {
	case len(r.Payload) > frame.Standard.Payload:
		return frame.Reply{}, errTooLarge
	case time.Now().UnixNano() < h.restUntil.Load():
		return frame.Reply{}, errStuck
	}
	var err error
	for sends := 0; sends < maxSends && ctx.Err() == nil; sends++ {
		var conn net.Conn
		if conn, err = h.connect(ctx); err != nil {
			return frame.Reply{}, err
		}
		began := time.Now()
		stop := h.watch(conn)
		var reply frame.Reply
		reply, err = exchangeFrames(ctx, conn, &request, waits)
		stuck := stop()
		if err == nil {
			return reply, nil
		}
		if stuck || errors.Is(ctx.Err(), context.DeadlineExceeded) {
			h.restUntil.Store(time.Now().Add(restTime).UnixNano())
			return frame.Reply{}, errStuck
		}
		if time.Since(began) > time.Second {
			sends = 0 // it waited for the user, whom the next daemon asks again
		}
	}
	return frame.Reply{}, errors.Join(err, ctx.Err())
}

var (
	errTooLarge = errors.New("the event is larger than a daemon takes")
	errStuck    = errors.New("the daemon shows no sign of life")
)

// connect connects to the running daemon, or starts one.
func (h *FrameDaemon) connect(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", h.Socket)
	if err != nil {
		if err := h.Start(ctx); err != nil {
			return nil, err
		}
		if conn, err = d.DialContext(ctx, "unix", h.Socket); err != nil {
			return nil, err
		}
	}
	if h.Check != nil {
		if err := h.Check(conn); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return conn, nil
}

// watch hangs up on a daemon that shows no sign of life while a reply is awaited, until stop
// is called, which returns whether it did.
func (h *FrameDaemon) watch(conn net.Conn) (stop func() (stuck bool)) {
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan bool, 1)
	go func() {
		tick := time.NewTicker(h.pingEvery())
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				result <- false
				return
			case <-tick.C:
			}
			asked, end := context.WithTimeout(ctx, h.pingTime())
			err := h.Alive(asked)
			end()
			if err != nil && ctx.Err() == nil {
				conn.Close()
				result <- true
				return
			}
		}
	}()
	return func() bool { cancel(); return <-result }
}

func (h *FrameDaemon) pingEvery() time.Duration { return cmp.Or(h.PingEvery, pingEvery) }
func (h *FrameDaemon) pingTime() time.Duration  { return cmp.Or(h.PingTime, pingTime) }

// exchangeFrames sends one request and waits for its reply.
func exchangeFrames(ctx context.Context, conn net.Conn, request *frame.Request, waits func()) (frame.Reply, error) {
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if _, err := conn.Write(frame.AppendRequest(nil, request)); err != nil {
		return frame.Reply{}, err
	}
	reader := bufio.NewReaderSize(conn, 64<<10)
	for {
		line, err := frame.ReadLine(reader)
		if err != nil {
			return frame.Reply{}, err
		}
		var waiting struct {
			Request string `json:"request"`
		}
		if waits != nil && json.Unmarshal(line, &waiting) == nil && waiting.Request != "" {
			waits()
			continue
		}
		reply, stdout, stderr, err := frame.ParseReply(line)
		if err != nil {
			return frame.Reply{}, err
		}
		reply.Stdout, reply.Stderr, err = frame.ReadBodies(reader, stdout, stderr, frame.Standard)
		return reply, err
	}
}
