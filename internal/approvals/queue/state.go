package queue

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/bounded"
)

// Table holds the requests of all agents.
type Table struct {
	mu       sync.Mutex
	closed   bool
	pending  map[string]*entry
	byKey    map[string]*entry
	sessions map[session]int
	pushed   int
	ended    bounded.Map[*entry, struct{}]
	byID     map[string]*entry
	kept     keptIDs
	log      changes
	signs    signs
	listener Listener
	// busy counts what needs to see events: requests that wait, and answers whose effect
	// hasn't been seen yet. At zero, no event is looked at.
	busy atomic.Int64
	// delivering counts callers that were woken with an answer and have not passed
	// it on yet.
	delivering atomic.Int64
}

type session struct {
	agent, id string
	pushed    bool
}

func (r *Request) session() session {
	return session{r.Event.Agent, r.Event.Session, r.Pushed}
}

// entry is one request with those who wait for it.
type entry struct {
	id      string
	request Request
	keys    []policy.Key
	worker  policy.Worker

	// Guarded by the table.
	waiters int
	claim   chan struct{} // a reply is being written down; closed when that is over
	end     End
	ended   time.Time
	said    UserAnswer
	outcome Outcome
	timer   *time.Timer
	over    chan struct{} // closed when it ended
}

// joinKey is equal for requests that ask for exactly the same thing; only these share an
// entry. The asker chooses the keys, and an answer must not reach anyone who asked for
// something else.
func (r *Request) joinKey() string {
	return r.Event.Agent + "\x00" + r.Event.Session + "\x00" + r.Key + "\x00" + r.Hash
}

// changes lists recent events, in order.
type changes struct {
	first  int64 // number of the oldest kept
	kept   []*Change
	wake   chan struct{} // closed and replaced soon after a change
	waking bool
}

// signs finds the requests an event is a sign for: those that wait, which it
// may show to be answered in the agent's own terminal, and those answered here,
// of which it may show what came of it.
type signs struct {
	byKey    map[policy.Key][]*entry
	byNumber map[string]*entry
	byWorker map[policy.Worker][]*entry
	expected bounded.Map[*entry, struct{}] // answered, effect not seen yet
}

// Listener receives every request that starts or stops waiting, in order and before any
// watcher. It must not use the table.
type Listener interface {
	RequestOpened(id string, r *Request)
	RequestEnded(id string, r *Request, why End)
}
