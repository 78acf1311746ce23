package server

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// line is a connection that notes whether it was closed.
type line struct{ closed bool }

func (l *line) Close() error { l.closed = true; return nil }

// clock is a time that only tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

var small = PeerLimits{Connections: 8, PerProcess: 6, Talks: 4, TalksEach: 2, Arriving: 100, Arrived: 300,
	Silence: 10 * time.Second}

func newRegistry() (*PeerRegistry, *clock) {
	c := &clock{time.Unix(1_790_000_000, 0)}
	return newPeers(small, c.now), c
}

// admit admits a connection that must find room.
func admit(t *testing.T, b *PeerRegistry, pid int) (*Peer, *line) {
	t.Helper()
	l := &line{}
	p := b.Admit(l, pid)
	if p == nil {
		t.Fatalf("process %d finds no room", pid)
	}
	return p, l
}

func TestPeersIdleConnectionsStarveNobody(t *testing.T) {
	b, _ := newRegistry()
	var idle []*line
	for range 100 { // of one process, as many as it likes
		_, l := admit(t, b, 1)
		idle = append(idle, l)
	}
	if open, _ := b.Count(); open != small.PerProcess {
		t.Errorf("%d are open, want %d", open, small.PerProcess)
	}
	for i, l := range idle {
		if old := i < len(idle)-small.PerProcess; l.closed != old {
			t.Errorf("idle connection %d of %d: closed %v, want %v", i, len(idle), l.closed, old)
		}
	}
	// Calls of others find room and stay, whatever comes after them.
	var calls []*line
	for pid := 2; pid < 7; pid++ {
		p, l := admit(t, b, pid)
		p.MarkIdentified()
		calls = append(calls, l)
	}
	for pid := 100; pid < 200; pid++ { // now from many processes
		admit(t, b, pid)
		admit(t, b, 1)
	}
	for i, l := range calls {
		if l.closed {
			t.Errorf("call %d was hung up on to make room for idle connections", i)
		}
	}
	if open, _ := b.Count(); open != small.Connections {
		t.Errorf("%d are open, want %d", open, small.Connections)
	}
}

func TestBusiestProcessMakesRoom(t *testing.T) {
	b, _ := newRegistry()
	_, modest := admit(t, b, 1) // the oldest of all
	var greedy []*line
	for range 7 - 2 {
		_, l := admit(t, b, 2)
		greedy = append(greedy, l)
	}
	admit(t, b, 3)
	admit(t, b, 4)
	admit(t, b, 5) // one too many
	if modest.closed || !greedy[0].closed || greedy[1].closed {
		t.Errorf("closed: modest %v, greedy %v %v; want the oldest of the greedy process alone", modest.closed,
			greedy[0].closed, greedy[1].closed)
	}
}

func TestThoseWhoWaitForAnAnswerStay(t *testing.T) {
	b, c := newRegistry()
	var lines []*line
	for i := range small.Connections {
		p, l := admit(t, b, i)
		p.MarkIdentified()
		lines = append(lines, l)
	}
	if b.Admit(&line{}, 99) != nil {
		t.Error("one more was let in, though nobody could go")
	}
	if b.MakeRoom() {
		t.Error("somebody who waits was hung up on")
	}
	c.at = c.at.Add(time.Hour)
	b.Sweep()
	for i, l := range lines {
		if l.closed {
			t.Errorf("peer %d was hung up on while it waited", i)
		}
	}
}

func TestSilentAreSwept(t *testing.T) {
	b, c := newRegistry()
	_, first := admit(t, b, 1)
	heard, stays := admit(t, b, 1)
	heard.MarkIdentified()
	c.at = c.at.Add(small.Silence)
	_, later := admit(t, b, 1)
	b.Sweep()
	if first.closed {
		t.Error("hung up before the time was over")
	}
	c.at = c.at.Add(time.Nanosecond)
	b.Sweep()
	if !first.closed || stays.closed || later.closed {
		t.Errorf("closed: silent %v, heard %v, new %v; want the silent one alone", first.closed, stays.closed,
			later.closed)
	}
}

func TestConversations(t *testing.T) {
	b, _ := newRegistry()
	talk := func(pid int) (bool, *line) {
		p, l := admit(t, b, pid)
		p.MarkIdentified()
		return p.BeginConversation(), l
	}
	_, old := talk(1)
	for range 2 {
		if ok, _ := talk(2); !ok {
			t.Fatal("no room for a conversation")
		}
	}
	if ok, _ := talk(2); ok {
		t.Error("one process holds more conversations than it may")
	}
	if ok, _ := talk(3); !ok {
		t.Fatal("no room for a conversation")
	}
	ok, _ := talk(4) // one more than there may be
	if _, talks := b.Count(); !ok || talks != small.Talks {
		t.Errorf("let in %v, %d conversations; want %d", ok, talks, small.Talks)
	}
	if old.closed {
		t.Error("the only conversation of a process ended before one of the greedy process")
	}
	// With one conversation each, those that have been there for long stay.
	for pid := 10; pid < 13; pid++ {
		if ok, _ := talk(pid); !ok {
			t.Errorf("process %d finds no room for its only conversation", pid)
		}
	}
	if old.closed {
		t.Error("a viewer that has been there for long was hung up on")
	}
}

func TestHalfSentBodiesStayWithinTheBudget(t *testing.T) {
	b, _ := newRegistry()
	var sending []*line
	for i := range 30 {
		p, l := admit(t, b, i%3)
		if !p.ReserveBytes(40) {
			t.Fatalf("body %d finds no room", i)
		}
		sending = append(sending, l)
		if arriving, _ := b.Bytes(); arriving > small.Arriving {
			t.Errorf("%d bytes are arriving, want at most %d", arriving, small.Arriving)
		}
	}
	closed := 0
	for _, l := range sending {
		if l.closed {
			closed++
		}
	}
	if closed != 28 || sending[28].closed || sending[29].closed {
		t.Errorf("%d were hung up on, want the 28 oldest", closed)
	}
	p, l := admit(t, b, 9)
	if p.ReserveBytes(small.Arriving + 1) {
		t.Error("a body larger than the budget was let in")
	}
	if !p.ReserveBytes(small.Arriving) || l.closed {
		t.Error("a body that fits found no room")
	}
	p.Arrived()
	p.MarkIdentified()
	if arriving, arrived := b.Bytes(); arriving != 0 || arrived != small.Arriving {
		t.Errorf("%d arriving, %d arrived; want 0 and %d", arriving, arrived, small.Arriving)
	}
	p.Leave()
	if _, arrived := b.Bytes(); arrived != 0 {
		t.Errorf("%d bytes after the only one left, want 0", arrived)
	}
}

// Bodies that wait for an answer have a budget, too: whoever holds most of it
// makes room, oldest first, and small ones stay.
func TestWaitingBodiesMakeRoom(t *testing.T) {
	b, _ := newRegistry()
	wait := func(pid int, bytes int64) *line {
		t.Helper()
		p, l := admit(t, b, pid)
		if !p.ReserveBytes(bytes) {
			t.Fatalf("process %d finds no room for %d bytes", pid, bytes)
		}
		p.Arrived()
		p.MarkIdentified()
		if _, arrived := b.Bytes(); arrived > small.Arrived {
			t.Errorf("%d bytes wait, want at most %d", arrived, small.Arrived)
		}
		return l
	}
	modest := wait(1, 10)
	first, second := wait(2, 100), wait(2, 100)
	other := wait(3, 90)
	last := wait(4, 20) // 320 is too much
	if !first.closed || second.closed || modest.closed || other.closed || last.closed {
		t.Errorf("hung up on: the first of the greediest %v, its second %v, a modest one %v, another %v, the last %v; "+
			"want the first alone", first.closed, second.closed, modest.closed, other.closed, last.closed)
	}
	wait(4, 100)
	wait(4, 100)
	if modest.closed {
		t.Error("a small body was hung up on while large ones wait")
	}
}

func TestBusyAndClosing(t *testing.T) {
	b, _ := newRegistry()
	p, first := admit(t, b, 1)
	_, second := admit(t, b, 2)
	if b.Busy() {
		t.Error("busy with nothing")
	}
	p.SetBusy(true)
	if !b.Busy() {
		t.Error("not busy while an answer is on its way")
	}
	p.SetBusy(false)
	b.CloseAll()
	if b.Busy() || !first.closed || !second.closed {
		t.Error("somebody is left")
	}
	p.Leave() // its goroutine comes behind
	if open, talks := b.Count(); open != 0 || talks != 0 {
		t.Errorf("%d open, %d talking; want nobody", open, talks)
	}
}

// Whatever happens in whichever order, the counts are those of who is there.
func TestCountsHold(t *testing.T) {
	b, c := newRegistry()
	random := rand.New(rand.NewPCG(1, 2))
	var peers []*Peer
	for range 20_000 {
		if p := b.Admit(&line{}, random.IntN(4)); p != nil {
			peers = append(peers, p)
		}
		p := peers[random.IntN(len(peers))]
		switch random.IntN(10) {
		case 9:
			p.Release()
		case 0:
			p.MarkIdentified()
		case 1:
			p.BeginConversation()
		case 2:
			p.ReserveBytes(int64(random.IntN(60)))
		case 3:
			p.Arrived()
		case 4, 5:
			p.Leave()
		case 6:
			b.MakeRoom()
		case 7:
			c.at = c.at.Add(time.Second)
			b.Sweep()
		}
		open, talks := b.Count()
		arriving, arrived := b.Bytes()
		if open > small.Connections || talks > small.Talks || arriving > small.Arriving || arriving < 0 ||
			arrived < 0 || talks < 0 {
			t.Fatalf("%d open, %d talking, %d arriving, %d arrived", open, talks, arriving, arrived)
		}
	}
	b.CloseAll()
	open, talks := b.Count()
	arriving, arrived := b.Bytes()
	if open != 0 || talks != 0 || arriving != 0 || arrived != 0 || len(b.processes) != 0 {
		t.Errorf("left behind: %d open, %d talking, %d arriving, %d arrived, %d processes", open, talks, arriving,
			arrived, len(b.processes))
	}
}

func TestManyAtOnce(t *testing.T) {
	b := newPeers(small, nil)
	var wg sync.WaitGroup
	for pid := range 8 {
		wg.Go(func() {
			for range 200 {
				if p := b.Admit(&line{}, pid); p != nil {
					p.ReserveBytes(10)
					p.Arrived()
					p.MarkIdentified()
					p.BeginConversation()
					p.Leave()
				}
			}
		})
	}
	wg.Wait()
	if open, _ := b.Count(); open != 0 {
		t.Errorf("%d are left, want 0", open)
	}
}
