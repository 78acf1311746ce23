package hub

import (
	"context"
	"encoding/json"
	"net"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/jsonscan"
	"github.com/hookmux/hookmux/internal/wire"
)

// streams wakes everybody who follows events. It holds no events: each stream
// reads the journal at its own pace, so a slow reader costs nobody anything
// and loses nothing.
type streams struct {
	mu    sync.Mutex
	wake  chan struct{} // closed and replaced when something new is stored
	notes map[chan message]struct{}
}

// message is what a stream is told besides events: problems, traces. These are
// not stored, so a stream that does not keep up misses some.
type message struct {
	method string
	params any
}

func newStreams() *streams {
	return &streams{wake: make(chan struct{}), notes: map[chan message]struct{}{}}
}

func (s *streams) stored() {
	s.mu.Lock()
	close(s.wake)
	s.wake = make(chan struct{})
	s.mu.Unlock()
}

func (s *streams) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.wake
}

func (s *streams) follow() (chan message, func()) {
	c := make(chan message, 256)
	s.mu.Lock()
	s.notes[c] = struct{}{}
	s.mu.Unlock()
	return c, func() {
		s.mu.Lock()
		delete(s.notes, c)
		s.mu.Unlock()
	}
}

func (s *streams) Publish(note string, params any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.notes {
		select {
		case c <- message{note, params}:
		default:
		}
	}
}

func (s *streams) Watched() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.notes) > 0
}

// idSet remembers the latest ids that were put in.
type idSet struct {
	ids  map[string]struct{}
	ring []string
	at   int
}

const keepIDs = 4096

func (s *idSet) add(id string) {
	if s.ids == nil {
		s.ids = map[string]struct{}{}
	}
	if len(s.ring) < keepIDs {
		s.ring = append(s.ring, id)
	} else {
		delete(s.ids, s.ring[s.at])
		s.ring[s.at] = id
		s.at = (s.at + 1) % keepIDs
	}
	s.ids[id] = struct{}{}
}

func (s *idSet) take(id string) bool {
	_, ok := s.ids[id]
	delete(s.ids, id)
	return ok
}

func idOf(e *wire.Entry) string {
	id, _ := jsonscan.String(jsonscan.Get(e.Event, "id"))
	return id
}

func verdictOf(o *wire.Outcome) string {
	var d event.Decision
	_ = d.UnmarshalJSON(o.Decision)
	return d.Verdict.Word()
}

// streamWrite is how long a reader may leave its socket full.
const streamWrite = 30 * time.Second

// serveStream sends events as they are stored until the peer hangs up.
func (h *Hub) serveStream(conn *net.UnixConn, id json.RawMessage, params wire.StreamParams) {
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	stop := watchGone(conn, cancel)
	defer stop()
	notes, leave := h.streams.follow()
	defer leave()

	send := func(line []byte) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := conn.Write(line)
		return err == nil
	}
	sendNote := func(method string, params any) bool {
		line, err := wire.Line(nil, struct {
			Version string `json:"jsonrpc"`
			Method  string `json:"method"`
			Params  any    `json:"params"`
		}{"2.0", method, params})
		return err == nil && send(line)
	}
	at, err := h.recorder.Position(params.After)
	if err != nil {
		line, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: id, Error: wire.Errorf(wire.CodeParams, "%v", err)})
		send(line)
		return
	}
	line, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: id, Result: json.RawMessage(`{"ok":true}`)})
	if !send(line) {
		return
	}
	// What is decided later than the event is stored could not be found by its
	// verdict: that is looked at here.
	verdict := params.Verdict
	if verdict == event.None.Word() {
		verdict = ""
	} else {
		params.Verdict = ""
	}
	ready := false
	var owed idSet     // events sent without an outcome: of these one is welcome
	var held []message // an outcome that came before its event was read
	for {
		wake := h.streams.next()
		// What is stored comes first; a page at a time, so that notes and a
		// hang-up are noticed in between.
		for {
			if params.Sessions == wire.SessionsOnly {
				break
			}
			page, next, err := h.recorder.Page(ctx, at, params.Filter, 200)
			if err != nil {
				if ctx.Err() == nil {
					sendNote(wire.NoteProblem, wire.Problem{Key: "journal", What: "the journal cannot be read: " + err.Error(), Since: time.Now()})
				}
				break
			}
			for i := range page {
				if page[i].Outcome == nil {
					owed.add(idOf(&page[i]))
				}
				if verdict != "" && (page[i].Outcome == nil || verdictOf(page[i].Outcome) != verdict) {
					continue
				}
				if !sendNote(wire.NoteEvent, page[i]) {
					return
				}
			}
			moved := next != at
			at = next
			if !moved {
				break
			}
		}
		if !ready {
			ready = true
			if !sendNote(wire.NoteReady, wire.Ready{Cursor: at.String()}) {
				return
			}
		}
		for _, n := range held {
			// Not owed: filtered out, or sent together with its event.
			if o, ok := n.params.(wire.Outcome); ok && owed.take(o.ID) && (verdict == "" || verdictOf(&o) == verdict) && !sendNote(n.method, o) {
				return
			}
		}
		held = held[:0]
	waiting:
		for {
			select {
			case <-ctx.Done():
				return
			case <-wake:
				break waiting
			case n := <-notes:
				if !wants(params.Sessions, n.method) {
					continue
				}
				if n.method == wire.NoteOutcome {
					held = append(held, n) // its event is stored: that one first
					break waiting
				}
				if !sendNote(n.method, n.params) {
					return
				}
			}
		}
	}
}

// wants: who asked for sessions alone hears of nothing else but problems.
func wants(sessions, note string) bool {
	switch note {
	case wire.NoteSession:
		return sessions != ""
	case wire.NoteOutcome, wire.NoteTrace:
		return sessions != wire.SessionsOnly
	}
	return true
}
