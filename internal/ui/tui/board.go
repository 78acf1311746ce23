package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// board is what the hub said last.
type board struct {
	sessions map[string]*wire.Session
	requests []*wire.FeedItem // in the order in which they came
}

func newBoard() *board { return &board{sessions: map[string]*wire.Session{}} }

// setRequest adds a request, or replaces it where it stands.
func (b *board) setRequest(item *wire.FeedItem) {
	for i, known := range b.requests {
		if known.ID == item.ID {
			b.requests[i] = item
			return
		}
	}
	b.requests = append(b.requests, item)
}

func (b *board) removeRequest(id string) {
	b.requests = slices.DeleteFunc(b.requests, func(r *wire.FeedItem) bool { return r.ID == id })
}

func (b *board) findRequest(id string) *wire.FeedItem {
	for _, r := range b.requests {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (b *board) setSession(change *wire.SessionChange) {
	if change.Gone {
		delete(b.sessions, change.Session.ID)
		return
	}
	session := change.Session
	b.sessions[session.ID] = &session
}

// section is a group of rows: what its sessions need from the person.
type section int

const (
	sectionWaiting section = iota
	sectionFailed
	sectionRunning
	sectionDone
	sectionIdle
	sectionEnded
)

var sectionTitles = map[section]string{
	sectionWaiting: "needs you", sectionFailed: "failed", sectionRunning: "running", sectionDone: "done",
	sectionIdle: "idle", sectionEnded: "ended",
}

func sectionOf(s *wire.Session) section {
	if s.Ended != nil {
		return sectionEnded
	}
	switch s.Status {
	case "needsInput":
		return sectionWaiting
	case "failed":
		return sectionFailed
	case "running":
		return sectionRunning
	case "success":
		return sectionDone
	}
	return sectionIdle
}

// row is one line to select: a request with its session, or a session alone.
type row struct {
	section section
	request *wire.FeedItem
	session *wire.Session
}

// key names what the row is about, whatever its place is.
func (r *row) key() string {
	if r.request != nil {
		return "request " + r.request.ID
	}
	return "session " + r.session.ID
}

func (r *row) title() string {
	switch s := r.session; {
	case s != nil && s.Title != "":
		return s.Title
	case s != nil && s.Cwd != "":
		return lastFolder(s.Cwd)
	case r.request != nil && r.request.Cwd != "":
		return lastFolder(r.request.Cwd)
	}
	return "(no title)"
}

func lastFolder(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func (r *row) agentName() string {
	if r.request != nil {
		return r.request.Agent
	}
	return r.session.Agent
}

// since is when what the row shows began.
func (r *row) since() time.Time {
	switch {
	case r.request != nil:
		return r.request.CreatedAt
	case r.section == sectionRunning && r.session.Turn != nil:
		return r.session.Turn.Started
	case r.session.Ended != nil:
		return *r.session.Ended
	}
	return r.session.Since
}

// listRows are the rows in the order in which they are shown: requests oldest
// first, then sessions by section, the latest change first where nothing runs.
// Running sessions stay in the order in which they started, so that they do not
// jumpThere with every event.
func (b *board) listRows(filter string, withEnded bool) []row {
	var rows []row
	asked := map[string]bool{}
	for _, item := range b.requests {
		asked[item.Session] = true
		rows = append(rows, row{section: sectionWaiting, request: item, session: b.sessions[item.Session]})
	}
	var sessions []row
	for _, s := range b.sessions {
		place := sectionOf(s)
		if place == sectionWaiting && asked[s.ID] || place == sectionEnded && !withEnded {
			continue
		}
		sessions = append(sessions, row{section: place, session: s})
	}
	slices.SortFunc(sessions, func(x, y row) int {
		newest := y.session.Since.Compare(x.session.Since)
		if x.section == sectionRunning {
			newest = x.session.StartedAt.Compare(y.session.StartedAt)
		}
		return cmp.Or(cmp.Compare(x.section, y.section), newest, cmp.Compare(x.session.ID, y.session.ID))
	})
	rows = append(rows, sessions...)
	if filter == "" {
		return rows
	}
	return slices.DeleteFunc(rows, func(r row) bool { return !r.matches(filter) })
}

// maxSearched is how much of a request the filter looks at: it does so for every key.
const maxSearched = 64 << 10

// matches tells whether every word of the filter is in the row.
func (r *row) matches(filter string) bool {
	text := r.agentName() + " " + r.title() + " " + sectionTitles[r.section]
	if r.session != nil {
		text += " " + r.session.Cwd + " " + r.session.Tool + " " + r.session.ID + " " + r.session.Pane
	}
	if r.request != nil {
		text += " " + r.request.Shown[:min(len(r.request.Shown), maxSearched)] + " " + r.request.ID
	}
	text = strings.ToLower(text)
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// countEnded is how many sessions are folded away.
func (b *board) countEnded() int {
	n := 0
	for _, s := range b.sessions {
		if s.Ended != nil {
			n++
		}
	}
	return n
}

// isWindow tells whether a request stands in an agent's own window.
func isWindow(item *wire.FeedItem) bool { return item.Status == wire.FeedWindow }
