package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Journal is the journal that a stream reads.
type Journal interface {
	// Position reads a cursor; an empty one is the end of what is stored.
	Position(text string) (recorder.Cursor, error)
	// Page reads stored events after a cursor and says where the next page
	// begins.
	Page(ctx context.Context, at recorder.Cursor, f wire.Filter, limit int) ([]wire.Entry, recorder.Cursor, error)
}

// pageEvents is how many events a stream reads at once, so that notes and a
// hang-up are noticed in between.
const pageEvents = 200

// EventStream returns the method events.stream: it sends events as they are stored
// until the peer hangs up.
func EventStream(notes *Notes, journal Journal) StreamMethod {
	return func(params json.RawMessage, _ proc.Cred) (Stream, *wire.Error) {
		e := &eventStream{daemon: notes, journal: journal}
		if bad := services.ReadParams(params, &e.params); bad != nil {
			return nil, bad
		}
		return e.runStream, nil
	}
}

type eventStream struct {
	daemon  *Notes
	journal Journal
	params  wire.StreamParams
	send    func([]byte) bool
	at      recorder.Cursor
	// verdict must match the outcomes' verdict. What is decided later than its event
	// is stored could not be found by its verdict: that is looked at here.
	verdict string
	owed    idSet  // events sent without an outcome: of these one is welcome
	sent    idSet  // events sent: of these an amended outcome is welcome
	early   []note // outcomes that came before their events were read
}

func (e *eventStream) runStream(ctx context.Context, id json.RawMessage, send func([]byte) bool) {
	e.send = send
	notes, leave := e.daemon.addFollower()
	defer leave()
	response := wire.Response{Version: "2.0", ID: id, Result: json.RawMessage(`{"ok":true}`)}
	var err error
	if e.at, err = e.journal.Position(e.params.After); err != nil {
		response.Result, response.Error = nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	if line, _ := wire.Line(nil, response); !send(line) || err != nil {
		return
	}
	if e.params.Verdict != event.None.Word() {
		e.verdict, e.params.Verdict = e.params.Verdict, ""
	}
	ready := false
	for {
		stored := e.daemon.nextStored()
		if e.params.Sessions != wire.SessionsOnly && !e.sendStored(ctx) {
			return
		}
		if !ready {
			ready = true
			if !e.sendNote(wire.NoteReady, wire.Ready{Cursor: e.at.String()}) {
				return
			}
		}
		if !e.sendEarly() || !e.awaitStored(ctx, stored, notes) {
			return
		}
	}
}

func (e *eventStream) sendNote(method string, params any) bool {
	line, err := wire.Line(nil, struct {
		Version string `json:"jsonrpc"`
		Method  string `json:"method"`
		Params  any    `json:"params"`
	}{"2.0", method, params})
	return err == nil && e.send(line)
}

// sendStored sends what is in the journal, page by page.
func (e *eventStream) sendStored(ctx context.Context) bool {
	for {
		page, next, err := e.journal.Page(ctx, e.at, e.params.Filter, pageEvents)
		if err != nil {
			if ctx.Err() == nil {
				e.sendNote(wire.NoteProblem, wire.Problem{Key: "journal",
					What: "the journal cannot be read: " + err.Error(), Since: time.Now()})
			}
			return true
		}
		for i := range page {
			one := &page[i]
			if one.Outcome == nil {
				e.owed.addID(entryID(one))
			}
			if e.verdict != "" && (one.Outcome == nil || verdictOf(one.Outcome) != e.verdict) {
				continue
			}
			if !e.sendNote(wire.NoteEvent, *one) {
				return false
			}
			if one.Outcome != nil && !one.Outcome.Amends {
				e.sent.addID(entryID(one))
			}
		}
		if next == e.at {
			return true
		}
		e.at = next
	}
}

// sendEarly sends outcomes whose events were sent before. Those that are not
// owed were filtered out, or went together with their event.
func (e *eventStream) sendEarly() bool {
	for _, n := range e.early {
		o, ok := n.params.(wire.Outcome)
		if !ok || !e.owed.removeID(o.ID) && !(o.Amends && e.sent.removeID(o.ID)) {
			continue
		}
		if !o.Amends {
			e.sent.addID(o.ID)
		}
		if (e.verdict == "" || verdictOf(&o) == e.verdict) && !e.sendNote(n.method, o) {
			return false
		}
	}
	e.early = e.early[:0]
	return true
}

// awaitStored sends notes until something new is stored. It is false when the
// stream ends.
func (e *eventStream) awaitStored(ctx context.Context, stored <-chan struct{}, notes <-chan note) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-stored:
			return true
		case n := <-notes:
			if !wantsNote(e.params.Sessions, n.method) {
				continue
			}
			if n.method == wire.NoteOutcome {
				e.early = append(e.early, n) // its event is stored: that one first
				return true
			}
			if !e.sendNote(n.method, n.params) {
				return false
			}
		}
	}
}

// wantsNote reports whether a note is sent. Who asked for sessions alone gets nothing
// else but problems.
func wantsNote(sessions, note string) bool {
	switch note {
	case wire.NoteSession:
		return sessions != ""
	case wire.NoteOutcome, wire.NoteTrace:
		return sessions != wire.SessionsOnly
	}
	return true
}

// idSet remembers the latest ids that were put in.
type idSet struct {
	ids bounded.Map[string, struct{}]
}

const keepIDs = 4096

func (s *idSet) addID(id string) { s.ids.Put(id, struct{}{}, keepIDs) }

func (s *idSet) removeID(id string) bool {
	ok := s.ids.Has(id)
	s.ids.Delete(id)
	return ok
}

func entryID(e *wire.Entry) string {
	id, _ := jsontext.String(jsontext.Get(e.Event, "id"))
	return id
}

func verdictOf(o *wire.Outcome) string {
	var d event.Decision
	_ = d.UnmarshalJSON(o.Decision)
	return d.Verdict.Word()
}
