package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// names are the names of what JetStream stores for a fleet; a cluster may serve several. Members
// reach none of it.
type names struct {
	events, hosts, policy string // stream, bucket, object store
	stored                string // subjects of the stream, before the member's id
}

func namesOf(fleet string) names {
	tag := fleet[1:13]
	return names{events: "HOOKMUX_EVENTS_" + tag, hosts: "HOOKMUX_HOSTS_" + tag, policy: "HOOKMUX_POLICY_" + tag,
		stored: "hookmux." + tag + ".stored."}
}

// exchange receives what members send. Each member has a subscription of its own with a short
// queue, so that one that floods fills only its own.
type exchange struct {
	server  *Server
	central central
	names   names
	conn    *nats.Conn // to members
	storing *nats.Conn // to what stores: the same, or your own cluster
	js      jetstream.JetStream
	hosts   jetstream.KeyValue
	stream  jetstream.Stream
	policy  policy
	// attended says whether an operator looks at requests.
	attended atomic.Bool

	mu      sync.Mutex
	members map[string]*heard // by id
}

// heard is a member as the exchange knows it. The exchange's mu guards it.
type heard struct {
	id, name string
	sub      *nats.Subscription
	instance string // of the daemon that speaks for it
	revision uint64 // of its state in the bucket
	host     protocol.Host
	raw      []byte // the state as it was reported last
	seen     time.Time
	asked    allowance
	stated   allowance
	told     allowance // bytes of states
	sent     allowance // bytes of events
	events   int64
	refused  int64
	why      string
}

// limit is how much of something a member may send: rate per second, with bursts.
type limit struct{ rate, burst float64 }

// What a member may send. Its events may have waited for a long time; beyond that it would push
// those of others out of the journal.
var (
	asksLimit       = limit{20, 100}
	statesLimit     = limit{20, 60}
	stateBytesLimit = limit{256 << 10, 8 << 20} // operators get each of them
	eventBytesLimit = limit{256 << 10, 1536 << 20}
)

// allowance tracks how much of a limit remains.
type allowance struct {
	left float64
	at   time.Time
}

func (a *allowance) take(n int, of limit, now time.Time) bool {
	if a.at.IsZero() {
		a.left = of.burst
	} else {
		a.left = min(of.burst, a.left+now.Sub(a.at).Seconds()*of.rate)
	}
	a.at = now
	if a.left < float64(n) {
		return false
	}
	a.left -= float64(n)
	return true
}

// The queue of one member's messages.
const (
	queueMessages = 64
	queueBytes    = 8 << 20
)

func openExchange(s *Server, c central) (_ *exchange, err error) {
	h := &exchange{server: s, central: c, members: map[string]*heard{}, names: namesOf(s.roster.fleet)}
	defer func() {
		if err != nil && h.conn != nil {
			h.conn.Close()
		}
		if err != nil && h.storing != nil {
			h.storing.Close()
		}
	}()
	if h.conn, err = s.connectExchange(); err != nil {
		return nil, err
	}
	if h.storing, h.js, err = s.connectStore(h.conn); err != nil {
		return nil, err
	}
	for end := time.Now().Add(startWithin); ; {
		trying, cancel := context.WithTimeout(context.Background(), startWithin/12)
		err = h.openStores(trying)
		late := trying.Err() != nil // a cluster that elects a leader doesn't answer
		cancel()
		if err == nil {
			break
		}
		if !late && !errors.Is(err, nats.ErrNoResponders) || time.Now().After(end) {
			return nil, err
		}
	}
	for _, m := range s.roster.all() {
		if err := h.admit(m); err != nil {
			return nil, err
		}
	}
	if _, err = h.conn.Subscribe(protocol.JoinSubject, h.handleJoin); err != nil {
		return nil, err
	}
	return h, h.conn.Flush() // from now on everybody is heard
}

// openStores creates what JetStream stores, or finds it.
func (h *exchange) openStores(ctx context.Context) (err error) {
	replicas := h.server.replicas()
	if h.stream, err = h.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: h.names.events, Subjects: []string{h.names.stored + "*"}, Replicas: replicas, Storage: jetstream.FileStorage,
		Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: protocol.MaxUnread, MaxBytes: 8 << 30,
	}); err != nil {
		return err
	}
	if h.hosts, err = h.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: h.names.hosts, History: 1, Replicas: replicas, LimitMarkerTTL: time.Minute, MaxBytes: 4 << 30,
	}); err != nil {
		return err
	}
	return h.openPolicy(ctx)
}

// admit begins to receive from a member.
func (h *exchange) admit(m *member) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := &heard{id: m.ID, name: m.Name, host: protocol.Host{Member: m.ID, Name: m.Name, Lost: true}}
	sub, err := h.conn.Subscribe(protocol.UpSubject(m.ID, "*"), func(msg *nats.Msg) { h.handle(one, msg) })
	if err != nil {
		return err
	}
	one.sub = sub
	h.members[m.ID] = one
	return sub.SetPendingLimits(queueMessages, queueBytes)
}

// dismiss ends everything that a member had.
func (h *exchange) dismiss(id string) {
	h.mu.Lock()
	one := h.members[id]
	delete(h.members, id)
	h.mu.Unlock()
	if one == nil {
		return
	}
	_ = one.sub.Unsubscribe()
	h.server.auth.end(id)
	_ = h.hosts.Purge(context.Background(), id, jetstream.PurgeTTL(time.Minute)) // it expires anyway
	h.tell(protocol.Host{Member: id, Name: one.name, Gone: true})
}

// blame counts what a member did wrong, and reports it in the list and the log.
func (h *exchange) blame(id string, err error) {
	h.mu.Lock()
	m := h.members[id]
	if m == nil {
		h.mu.Unlock()
		return
	}
	m.refused++
	m.why = err.Error()
	first := m.refused&(m.refused-1) == 0 // 1, 2, 4, …
	count := m.refused
	h.mu.Unlock()
	if first {
		h.server.log.Warn("refused", "member", m.id, "name", m.name, "why", err, "count", count)
	}
}

// refuse counts what a member did wrong, and reports it to the member.
func (h *exchange) refuse(m *heard, msg *nats.Msg, err error) {
	h.blame(m.id, err)
	h.answer(m.id, msg, protocol.Told{Error: err.Error()})
}

// answer answers a member, and only on the member's own subjects: the reply subject in a
// message can be anything its sender likes.
func (h *exchange) answer(member string, msg *nats.Msg, told protocol.Told) {
	if !strings.HasPrefix(msg.Reply, protocol.Inbox(member)+".") {
		return
	}
	told.Versions = protocol.Spoken
	b, err := json.Marshal(told)
	if err == nil {
		_ = h.conn.Publish(msg.Reply, b) // who asked asks again
	}
}

func (h *exchange) handle(m *heard, msg *nats.Msg) {
	h.mu.Lock()
	m.seen = h.server.o.Now()
	h.mu.Unlock()
	switch msg.Subject[strings.LastIndexByte(msg.Subject, '.')+1:] {
	case protocol.UpEvents:
		h.takeEvents(m, msg)
	case protocol.UpState:
		h.takeState(m, msg)
	default:
		h.handleAsk(m, msg)
	}
}

var errFlood = errors.New("too many messages")

// takeEvents stores a message of events, and answers once it's on disk.
func (h *exchange) takeEvents(m *heard, msg *nats.Msg) {
	var b protocol.Batch
	if err := json.Unmarshal(msg.Data, &b); err != nil {
		h.refuse(m, msg, errors.New("events that can't be read"))
		return
	}
	if err := checkBatch(&b); err != nil {
		h.refuse(m, msg, err)
		return
	}
	h.mu.Lock()
	allowed := m.sent.take(len(msg.Data), eventBytesLimit, h.server.o.Now())
	h.mu.Unlock()
	if !allowed {
		h.refuse(m, msg, errFlood)
		return
	}
	future, err := h.js.PublishMsgAsync(&nats.Msg{Subject: h.names.stored + m.id, Data: msg.Data})
	if err != nil {
		h.answer(m.id, msg, protocol.Told{Error: "the fleet's server is busy"})
		return
	}
	// The order of a member's messages is that of the stream; the member waits for the answers, so
	// there are few at a time.
	go func() {
		select {
		case <-future.Ok():
			h.answer(m.id, msg, protocol.Told{})
		case err := <-future.Err():
			if full := (*jetstream.APIError)(nil); errors.As(err, &full) {
				err = errors.New("its events come faster than they are stored")
			}
			h.answer(m.id, msg, protocol.Told{Error: err.Error()})
		}
	}()
}

// takeState renews what a member says about itself. The bucket forgets it by its TTL unless it's
// renewed; the revision makes sure that only one daemon speaks for a member.
func (h *exchange) takeState(m *heard, msg *nats.Msg) {
	var s protocol.State
	now := h.server.o.Now()
	h.mu.Lock()
	instance, revision := m.instance, m.revision
	allowed := m.stated.take(1, statesLimit, now) && m.told.take(len(msg.Data), stateBytesLimit, now)
	h.mu.Unlock()
	switch err := json.Unmarshal(msg.Data, &s); {
	case err != nil:
		h.refuse(m, msg, errors.New("a state that can't be read"))
		return
	case !allowed:
		h.refuse(m, msg, errFlood)
		return
	case s.Instance == "" || s.Instance != instance:
		h.answer(m.id, msg, protocol.Told{Error: "another daemon speaks for this member", Again: true})
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	store := func(revision uint64) (*jetstream.PubAck, error) {
		return h.js.PublishMsg(ctx, &nats.Msg{Subject: "$KV." + h.names.hosts + "." + m.id, Data: msg.Data},
			jetstream.WithMsgTTL(h.server.o.StateTTL), jetstream.WithExpectLastSequencePerSubject(revision))
	}
	ack, err := store(revision)
	if err != nil { // what's stored is another revision: read it
		if fresh, errFresh := h.revisionOf(ctx, m.id); errFresh == nil && fresh != revision {
			ack, err = store(fresh)
		}
	}
	if err != nil {
		h.answer(m.id, msg, protocol.Told{Error: err.Error()})
		return
	}
	h.mu.Lock()
	m.revision = ack.Sequence
	h.mu.Unlock()
	h.answer(m.id, msg, protocol.Told{Newest: h.policy.newest()})
}

// revisionOf returns the newest revision of a key, or of the marker in its place.
func (h *exchange) revisionOf(ctx context.Context, key string) (uint64, error) {
	stream, err := h.js.Stream(ctx, "KV_"+h.names.hosts)
	if err != nil {
		return 0, err
	}
	last, err := stream.GetLastMsgForSubject(ctx, "$KV."+h.names.hosts+"."+key)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return last.Sequence, nil
}

// run watches states, stores events and retains, until ctx ends.
func (h *exchange) run(ctx context.Context) {
	var running sync.WaitGroup
	running.Go(func() { h.watchHosts(ctx) })
	running.Go(func() { h.storeEvents(ctx) })
	running.Go(func() { h.attend(ctx) })
	running.Go(func() { h.retain(ctx) })
	running.Go(func() { h.followViolations(ctx) })
	<-ctx.Done()
	running.Wait()
}

func (h *exchange) close() {
	h.conn.Close()
	h.storing.Close()
	_ = h.central.Close()
}

// watchHosts watches the bucket: what members renewed, and what expired.
func (h *exchange) watchHosts(ctx context.Context) {
	for ctx.Err() == nil {
		watch, err := h.hosts.WatchAll(ctx)
		if err != nil {
			h.server.log.Error("states can't be followed", "error", err)
			pause(ctx, time.Second)
			continue
		}
		for more := true; more; {
			select {
			case <-ctx.Done():
				more = false
			case entry, ok := <-watch.Updates():
				if more = ok; ok && entry != nil {
					h.noteState(entry)
				}
			}
		}
		_ = watch.Stop()
	}
}

func pause(ctx context.Context, span time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(span):
	}
}

func (h *exchange) noteState(entry jetstream.KeyValueEntry) {
	h.mu.Lock()
	m := h.members[entry.Key()]
	if m == nil {
		h.mu.Unlock()
		return
	}
	m.revision = max(m.revision, entry.Revision())
	host := protocol.Host{Member: m.id, Name: m.name}
	if entry.Operation() == jetstream.KeyValuePut {
		host.State = new(protocol.State)
		if json.Unmarshal(entry.Value(), host.State) != nil {
			host.State, host.Lost = nil, true
		}
	} else {
		host.Lost = true
	}
	changed := host.Lost != m.host.Lost || !bytes.Equal(entry.Value(), m.raw)
	m.host, m.raw = host, entry.Value()
	h.mu.Unlock()
	if changed {
		if host.Lost {
			h.server.log.Info("lost", "member", host.Member, "name", host.Name)
		}
		h.tell(host)
	}
}

// tell notifies readers and operators about a machine.
func (h *exchange) tell(host protocol.Host) {
	if b, err := json.Marshal(host); err == nil {
		_ = h.conn.Publish(protocol.LiveSubject(host.Member), b) // they ask for all of it when they come back
	}
}

// attend notifies members whether an operator looks at requests.
func (h *exchange) attend(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	was, told := false, time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			on := false
			h.mu.Lock()
			for _, m := range h.members {
				if m.host.State != nil && m.host.State.Attends {
					r := h.server.roster.get(m.id)
					on = on || r != nil && r.Role == protocol.RoleOperator
				}
			}
			h.mu.Unlock()
			if on == was && (!on || now.Sub(told) < protocol.RenewEvery) {
				continue
			}
			was, told = on, now
			h.attended.Store(on)
			h.sayAttended(on, h.policy.newest())
		}
	}
}

// sayAttended notifies every member whether an operator looks, and which policy is the newest.
func (h *exchange) sayAttended(on bool, policy int64) {
	b, _ := json.Marshal(protocol.Attended{On: on, Policy: policy})
	_ = h.conn.Publish(protocol.AttendedSubject, b) // said again soon
}

// storeEvents moves events from the stream to the central journal. What it read is purged
// only once it's stored; after a crash the rest comes again, and the ids make it arrive
// once.
func (h *exchange) storeEvents(ctx context.Context) {
	for ctx.Err() == nil {
		if err := h.storeFrom(ctx); err != nil && ctx.Err() == nil {
			h.server.log.Error("events don't reach the central journal", "error", err)
			pause(ctx, 500*time.Millisecond)
		}
	}
}

// pulled is how many messages are read ahead, maxStore about how many events are stored at
// once.
const (
	pulled   = 128
	maxStore = 4000
)

func (h *exchange) storeFrom(ctx context.Context) error {
	consumer, err := h.stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(pulled))
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, messages.Stop)
	defer stop()
	defer messages.Stop()
	next := make(chan jetstream.Msg, pulled)
	failed := make(chan error, 1)
	go func() {
		defer close(next)
		for {
			msg, err := messages.Next()
			if err != nil {
				failed <- err
				return
			}
			select {
			case next <- msg:
			case <-ctx.Done():
				failed <- ctx.Err()
				return
			}
		}
	}()
	var items []journal.Item
	counts := map[string]int64{}
	for msg := range next {
		var last uint64
		items = items[:0]
		clear(counts)
		for {
			if last, items, err = h.read(msg, items, counts); err != nil {
				return err
			}
			if len(items) >= maxStore {
				break
			}
			var more bool
			select {
			case msg, more = <-next:
			default:
			}
			if !more {
				break
			}
		}
		for { // until it's stored, or the server ends
			if err = h.central.Write(items); err == nil {
				break
			}
			h.server.log.Error("the central journal can't be written", "error", err)
			if pause(ctx, time.Second); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		clear(items)
		h.noteStored(ctx, last, counts)
	}
	return <-failed
}

// read reads one stored message.
func (h *exchange) read(msg jetstream.Msg, items []journal.Item, counts map[string]int64) (uint64, []journal.Item, error) {
	meta, err := msg.Metadata()
	if err != nil {
		return 0, items, err
	}
	id := strings.TrimPrefix(msg.Subject(), h.names.stored)
	name := id
	h.mu.Lock()
	if m := h.members[id]; m != nil {
		name = m.name
	}
	h.mu.Unlock()
	var b protocol.Batch
	if json.Unmarshal(msg.Data(), &b) == nil { // it was checked before it was stored
		for i := range b.Events {
			items = b.Events[i].Items(id, name, items)
		}
		counts[id] += int64(len(b.Events))
	}
	return meta.Sequence.Stream, items, nil
}

// noteStored counts what was stored, and purges it from the stream.
func (h *exchange) noteStored(ctx context.Context, last uint64, counts map[string]int64) {
	h.mu.Lock()
	for id, n := range counts {
		if m := h.members[id]; m != nil {
			m.events += n
		}
	}
	h.mu.Unlock()
	if err := h.stream.Purge(ctx, jetstream.WithPurgeSequence(last+1)); err != nil && ctx.Err() == nil {
		h.server.log.Warn("what is stored can't be purged", "error", err)
	}
}

// retainOnce deletes old events, and reports members that fill the journal.
func (h *exchange) retainOnce() {
	crowders, err := h.central.Retain(h.server.o.Now(), h.server.o.Keep, h.server.o.MaxBytes)
	if err != nil {
		h.server.log.Error("old events can't be deleted", "error", err)
	}
	for _, id := range crowders {
		h.blame(id, errors.New("it fills more than its part of the fleet's journal, so its oldest events were deleted"))
	}
}

// followViolations blames members for what their connections did wrong.
func (h *exchange) followViolations(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case v := <-h.server.violations:
			id := v.member
			if id == "" {
				id = h.server.auth.memberOf(v.client)
			}
			h.blame(id, errors.New(v.what))
		}
	}
}

// retain deletes old events of the central journal.
func (h *exchange) retain(ctx context.Context) {
	tick := time.NewTicker(time.Hour)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			h.retainOnce()
		}
	}
}
