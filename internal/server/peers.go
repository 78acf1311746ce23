package server

import (
	"container/list"
	"io"
	"sync"
	"time"
)

// This file keeps the daemon's connections within limits, so that silent, slow and greedy
// peers hold no one up. A peer that hasn't said yet what it wants can be disconnected at any
// time to make room, the oldest of the greediest process first; one that waits for an answer
// never is. Conversations, which may stay open for long, have a limit of their own, so that
// there is always room for hook calls; and the bodies of requests that are on their way have
// one budget.

// PeerLimits bounds what is allowed at once.
type PeerLimits struct {
	Connections int // of everybody
	PerProcess  int // of one process
	Talks       int // conversations of everybody
	TalksEach   int // conversations of one process
	// Arriving bounds the bytes of request bodies that have not arrived in full,
	// and Arrived those that wait for an answer. Where there are more, the oldest
	// of the process that holds most of them is hung up on: its client asks again.
	Arriving, Arrived int64
	// Silence is how long a peer may take to say what it wants.
	Silence time.Duration
}

// How many conversations the daemon allows at once, and one process of those.
const (
	MaxTalks     = 512
	MaxTalksEach = 320
)

// Standard holds the daemon's own limits. A hook sends everything at once; one that is silent
// for longer is broken or hostile.
var Standard = PeerLimits{
	Connections: 4096, PerProcess: 1024, Talks: MaxTalks, TalksEach: MaxTalksEach,
	Arriving: 80 << 20, Arrived: 128 << 20, Silence: 10 * time.Second,
}

// PeerRegistry has all connections. It is safe for concurrent use.
type PeerRegistry struct {
	limits PeerLimits
	now    func() time.Time

	mu        sync.Mutex
	all       *list.List // of *Peer, oldest first
	processes map[int]*process
	talks     int
	arriving  int64
	arrived   int64
}

// process counts what one process has open.
type process struct{ open, talks int }

// Peer is one connection.
type Peer struct {
	registry *PeerRegistry
	conn     io.Closer
	pid      int
	since    time.Time
	element  *list.Element

	identified bool  // it said what it wants
	talks      bool  // it holds a conversation
	busy       bool  // it is being answered and will be done soon
	bytes      int64 // of its body
	whole      bool  // the body has arrived
	gone       bool
}

// newPeers makes an empty registry. now is the clock; nil is the system's.
func newPeers(limits PeerLimits, now func() time.Time) *PeerRegistry {
	if now == nil {
		now = time.Now
	}
	return &PeerRegistry{limits: limits, now: now, all: list.New(), processes: map[int]*process{}}
}

// Admit admits a connection of a process, or returns nil if there is no room and no peer that
// could be disconnected.
func (b *PeerRegistry) Admit(conn io.Closer, pid int) *Peer {
	b.mu.Lock()
	defer b.mu.Unlock()
	own := b.processes[pid]
	if own != nil && own.open >= b.limits.PerProcess && !b.evictSilent(pid) {
		return nil
	}
	if b.all.Len() >= b.limits.Connections && !b.evictSilent(b.busiestProcess(isSilent)) {
		return nil
	}
	p := &Peer{registry: b, conn: conn, pid: pid, since: b.now()}
	p.element = b.all.PushBack(p)
	if own = b.processes[pid]; own == nil {
		own = &process{}
		b.processes[pid] = own
	}
	own.open++
	return p
}

func isSilent(p *Peer) bool  { return !p.identified }
func isTalking(p *Peer) bool { return p.talks }

// busiestProcess returns the process with most peers of a sort; 0 when there is none.
// Of several the one whose newest peer came last: viewers that have been there
// for long stay.
func (b *PeerRegistry) busiestProcess(sort func(*Peer) bool) int {
	counts := map[int]int{}
	most, pid := 0, 0
	for e := b.all.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*Peer); sort(p) {
			counts[p.pid]++
			if counts[p.pid] >= most {
				most, pid = counts[p.pid], p.pid
			}
		}
	}
	return pid
}

// evictSilent hangs up on the oldest peer of a process that has not said yet
// what it wants.
func (b *PeerRegistry) evictSilent(pid int) bool { return b.evictOldest(pid, isSilent) }

func (b *PeerRegistry) evictOldest(pid int, sort func(*Peer) bool) bool {
	for e := b.all.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*Peer); p.pid == pid && sort(p) {
			b.drop(p)
			p.conn.Close()
			return true
		}
	}
	return false
}

// drop takes a peer out of all counts. Its own goroutine notices that the
// connection is closed, and calls Leave.
func (b *PeerRegistry) drop(p *Peer) {
	if p.gone {
		return
	}
	p.gone = true
	b.all.Remove(p.element)
	own := b.processes[p.pid]
	own.open--
	if p.talks {
		own.talks--
		b.talks--
	}
	if own.open == 0 {
		delete(b.processes, p.pid)
	}
	if p.whole {
		b.arrived -= p.bytes
	} else {
		b.arriving -= p.bytes
	}
}

// Leave gives a peer's place back.
func (p *Peer) Leave() {
	p.registry.mu.Lock()
	p.registry.drop(p)
	p.registry.mu.Unlock()
}

// MarkIdentified notes that the peer said what it wants: it stays until it is answered.
func (p *Peer) MarkIdentified() {
	p.registry.mu.Lock()
	p.identified = true
	p.registry.mu.Unlock()
}

// SetBusy notes whether the peer is being answered and will be done soon.
func (p *Peer) SetBusy(soon bool) {
	p.registry.mu.Lock()
	p.busy = soon
	p.registry.mu.Unlock()
}

// BeginConversation lets a conversation begin. Where there are too many, one of the
// greediest process ends; it is false when the process itself has too many.
func (p *Peer) BeginConversation() bool {
	b := p.registry
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.gone {
		return false
	}
	own := b.processes[p.pid]
	if own.talks >= b.limits.TalksEach {
		return false
	}
	if b.talks >= b.limits.Talks && !b.evictTalk() {
		return false
	}
	p.talks = true
	own.talks++
	b.talks++
	return true
}

// evictTalk ends one conversation: the oldest of the process with most of them.
func (b *PeerRegistry) evictTalk() bool { return b.evictOldest(b.busiestProcess(isTalking), isTalking) }

// ReserveBytes reserves room for a body of so many bytes before it is read. Where
// there is none, others whose bodies have not arrived in full are hung up on,
// oldest first. It is false when that does not help.
func (p *Peer) ReserveBytes(bytes int64) bool {
	b := p.registry
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.gone || p.whole || bytes > min(b.limits.Arriving, b.limits.Arrived) {
		return false
	}
	for b.arrived+bytes > b.limits.Arrived {
		if !b.evictHolder() {
			return false
		}
	}
	for e := b.all.Front(); e != nil && b.arriving+bytes > b.limits.Arriving; {
		other := e.Value.(*Peer)
		e = e.Next()
		if other != p && !other.whole && other.bytes > 0 {
			b.drop(other)
			other.conn.Close()
		}
	}
	p.bytes += bytes
	b.arriving += bytes
	return true
}

// evictHolder disconnects the oldest peer, of the process that holds most bytes, whose body
// waits for an answer. It returns false if there is none.
func (b *PeerRegistry) evictHolder() bool {
	held := map[int]int64{}
	most, pid := int64(0), 0
	for e := b.all.Front(); e != nil; e = e.Next() {
		if p := e.Value.(*Peer); isHolding(p) {
			held[p.pid] += p.bytes
			if held[p.pid] > most {
				most, pid = held[p.pid], p.pid
			}
		}
	}
	return most > 0 && b.evictOldest(pid, isHolding)
}

func isHolding(p *Peer) bool { return p.whole && p.bytes > 0 }

// Arrived notes that the body is there.
func (p *Peer) Arrived() {
	b := p.registry
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.gone || p.whole {
		return
	}
	p.whole = true
	b.arriving -= p.bytes
	b.arrived += p.bytes
}

// Release frees the room of a message that was dealt with: the next one of the same
// conversation starts from zero.
func (p *Peer) Release() {
	b := p.registry
	b.mu.Lock()
	defer b.mu.Unlock()
	if p.gone {
		return
	}
	if p.whole {
		b.arrived -= p.bytes
	} else {
		b.arriving -= p.bytes
	}
	p.bytes, p.whole = 0, false
}

// Sweep hangs up on peers that took too long to say what they want.
func (b *PeerRegistry) Sweep() {
	limit := b.now().Add(-b.limits.Silence)
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.all.Front(); e != nil; {
		p := e.Value.(*Peer)
		if e = e.Next(); !p.since.Before(limit) {
			return // all others came later
		}
		if !p.identified {
			b.drop(p)
			p.conn.Close()
		}
	}
}

// MakeRoom hangs up on one silent peer: when the system has no descriptors left.
func (b *PeerRegistry) MakeRoom() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.evictSilent(b.busiestProcess(isSilent)) || b.evictTalk()
}

// Busy reports whether a call is being answered that will be done soon.
func (b *PeerRegistry) Busy() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.all.Front(); e != nil; e = e.Next() {
		if e.Value.(*Peer).busy {
			return true
		}
	}
	return false
}

// CloseAll hangs up on everybody.
func (b *PeerRegistry) CloseAll() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := b.all.Front(); e != nil; {
		p := e.Value.(*Peer)
		e = e.Next()
		b.drop(p)
		p.conn.Close()
	}
}

// Count returns how many are connected, and how many of them hold a conversation.
func (b *PeerRegistry) Count() (open, talks int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Len(), b.talks
}

// Bytes returns how much room bodies have: those that are arriving, and those that
// wait for an answer.
func (b *PeerRegistry) Bytes() (arriving, arrived int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.arriving, b.arrived
}
