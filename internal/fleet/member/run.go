package member

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// run exists while this machine is in a fleet.
type run struct {
	service    *Service
	membership *membership
	record     protocol.Record
	instance   string // random: of this run

	stored  chan struct{} // something was stored
	changed chan struct{} // a request or a setting is different: others should see it at once
	moved   chan struct{} // a session is different
	greeted chan struct{} // the server took the hello
	hello   chan struct{} // there is a new connection
	newer   chan struct{} // the fleet may have a newer policy

	stop    context.CancelFunc
	over    chan struct{}
	settled chan struct{} // closed once it's known whether the server can be reached
	settle  func()

	conn   atomic.Pointer[nats.Conn]
	ready  atomic.Bool // connected, and the server took the hello
	others others
	// operators reads who answers.
	operators protocol.RecordReader
	sent      atomic.Int64
	lost      atomic.Int64 // events that never get to the fleet

	mu           sync.Mutex
	since        time.Time
	why          string
	watchedUntil time.Time   // until when an operator looks at requests
	left         func()      // ends that here
	taken        []time.Time // when another daemon spoke for this member
	// policy is the active version, unfit why a newer one isn't active: it was rejected. highest is
	// the newest that ever was active, also when its file is gone.
	policy      int64
	highest     int64
	refused     int64
	policySince time.Time
	unfit       string
}

func newRun(s *Service, m *membership) *run {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	r := &run{service: s, membership: m, instance: hex.EncodeToString(b[:]), stored: make(chan struct{}, 1),
		changed: make(chan struct{}, 1), moved: make(chan struct{}, 1), greeted: make(chan struct{}, 1), hello: make(chan struct{}, 1), newer: make(chan struct{}, 1),
		over: make(chan struct{}), since: time.Now(), why: "connecting", highest: m.Policy}
	r.settled = make(chan struct{})
	r.settle = sync.OnceFunc(func() { close(r.settled) })
	r.record, _ = m.Record.ReadRecord(m.Fleet) // it was checked when it was stored
	r.others.run = r
	return r
}

// end stops it and waits.
func (r *run) end() {
	r.stop()
	<-r.over
}

// run takes part in the fleet until ctx ends.
func (r *run) run(ctx context.Context) {
	defer close(r.over)
	defer r.settle()
	guess := time.AfterFunc(dialWithin, func() {
		if !r.ready.Load() {
			r.attended(false)
		}
	})
	defer r.attended(false)
	defer guess.Stop()
	var parts services.Background
	if r.membership.serves() {
		parts.Go(func() { r.keepServing(ctx) })
	}
	conn, err := connect(r.membership,
		nats.ConnectHandler(func(*nats.Conn) { poke(r.hello) }),
		nats.ReconnectHandler(func(*nats.Conn) { poke(r.hello) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) { r.noteLost(err) }),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { r.noteLost(err) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			if errors.Is(err, nats.ErrAuthorization) { // nothing else says that this machine was removed
				r.noteLost(err)
			}
			r.service.Log.Warn("fleet", "error", err)
		}))
	if err != nil {
		r.noteLost(err)
		<-ctx.Done()
		parts.Wait(context.Background())
		return
	}
	r.conn.Store(conn)
	defer conn.Close()
	for _, part := range []func(context.Context){r.greet, r.sendEvents, r.keepState, r.hearAnswers, r.keepPolicy, r.keepUsage,
		r.others.follow} {
		parts.Go(func() { part(ctx) })
	}
	parts.Go(func() {
		for ctx.Err() == nil { // it ends when it lags behind
			r.service.Requests.FollowChanges(ctx, func() { poke(r.changed) })
			services.Pause(time.Second, ctx.Done())
		}
	})
	<-ctx.Done()
	parts.Wait(context.Background())
	r.others.clear()
}

// waitSettled waits until it's known whether the server can be reached, for a while.
func (r *run) waitSettled(ctx context.Context) {
	select {
	case <-r.settled:
	case <-ctx.Done():
	case <-time.After(dialWithin):
	}
}

// noteLost notes that the server can't be reached, and why.
func (r *run) noteLost(err error) {
	why := "the connection was lost"
	switch {
	case errors.Is(err, nats.ErrAuthorization):
		why = "the fleet's server refuses this machine: it was removed; `hookmux fleet leave` forgets the fleet here"
	case errors.Is(err, errOtherServer):
		why = errOtherServer.Error()
	case err != nil:
		why = "the fleet's server can't be reached: " + err.Error()
	}
	r.ready.Store(false)
	r.mu.Lock()
	if r.why == "" {
		r.since = time.Now()
	}
	r.why = why
	r.mu.Unlock()
	r.settle()
	r.others.disconnected()
	if errors.Is(err, nats.ErrAuthorization) {
		r.service.Problems.Set("fleet", why, "hookmux fleet leave")
	}
}

// ask asks the server.
func (r *run) ask(ctx context.Context, ask protocol.Ask) (protocol.Told, error) {
	ask.Versions = protocol.Spoken
	b, err := json.Marshal(ask)
	if err != nil {
		return protocol.Told{}, err
	}
	return r.requestBytes(ctx, protocol.UpAsk, b)
}

// refusedError is an error that the server reported.
type refusedError struct {
	why   string
	again bool
}

func (e *refusedError) Error() string { return e.why }

// requestBytes sends the server something and waits for its answer.
func (r *run) requestBytes(ctx context.Context, what string, b []byte) (told protocol.Told, err error) {
	conn := r.conn.Load()
	if conn == nil || !conn.IsConnected() {
		r.mu.Lock()
		defer r.mu.Unlock()
		return told, errors.New(r.why)
	}
	msg, err := conn.RequestWithContext(ctx, protocol.UpSubject(r.id(), what), b)
	if err != nil {
		return told, explain(err, r.membership.Servers)
	}
	if err := json.Unmarshal(msg.Data, &told); err != nil {
		return told, errors.New("the fleet's server gave an answer that can't be read")
	}
	if told.Error != "" {
		return told, &refusedError{told.Error, told.Again}
	}
	return told, told.Check("the fleet's server")
}

func (r *run) id() string { return r.record.ID }

// greet says hello on each new connection, until the server accepts it.
func (r *run) greet(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.hello:
		}
		for attempt := 0; !r.sayHello(ctx); attempt++ {
			if services.Pause(retryDelay(attempt), ctx.Done()) {
				return
			}
			if conn := r.conn.Load(); !conn.IsConnected() {
				break // the next connection does it
			}
		}
	}
}

func (r *run) sayHello(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	told, err := r.ask(ctx, protocol.Ask{What: protocol.AskHello, Instance: r.instance})
	if err == nil && (told.Record == nil || told.Fleet != r.membership.Fleet) {
		err = errors.New("the fleet's server is that of another fleet")
	}
	if err == nil {
		if record, bad := told.Record.ReadRecord(r.membership.Fleet); bad != nil || record.ID != r.id() {
			err = fmt.Errorf("the fleet's record of this machine is wrong: %w", protocol.ErrSignature)
		}
	}
	if err != nil {
		r.mu.Lock()
		r.why = err.Error()
		r.mu.Unlock()
		r.settle()
		if refused := (*refusedError)(nil); errors.As(err, &refused) {
			r.service.Problems.Set("fleet", "this machine isn't connected to its fleet: "+err.Error(), "hookmux fleet status")
		}
		return false
	}
	r.mu.Lock()
	r.why, r.since = "", time.Now()
	r.mu.Unlock()
	r.ready.Store(true)
	r.attended(told.Attended)
	r.settle()
	if r.service.Problems.Any() {
		r.service.Problems.Clear("fleet")
	}
	for _, c := range []chan struct{}{r.stored, r.changed, r.greeted, r.newer} {
		poke(c)
	}
	return true
}

func (r *run) status() wire.FleetStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	return wire.FleetStatus{Joined: true, Name: r.record.Name, ID: r.record.ID, Role: r.record.Role, Fleet: r.membership.Fleet,
		Servers: r.membership.Servers, Serves: r.membership.serves(), Listen: r.membership.Listen, Connected: r.ready.Load(), Since: r.since, Why: r.why,
		Sent: r.sent.Load(), Dropped: r.lost.Load(), Policy: r.policy}
}
