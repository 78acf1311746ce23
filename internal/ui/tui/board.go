package tui

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// board holds the daemon's last answers.
type board struct {
	sessions map[string]*wire.Session
	requests []*wire.InboxRequest // in the order in which they came
	decided  []*decided           // what was answered before, latest first
	changes  int                  // how often any of it changed
}

func newBoard() *board { return &board{sessions: map[string]*wire.Session{}} }

// setRequest adds a request, or replaces it where it is.
func (b *board) setRequest(item *wire.InboxRequest) {
	b.changes++
	for i, known := range b.requests {
		if known.ID == item.ID {
			b.requests[i] = item
			return
		}
	}
	b.requests = append(b.requests, item)
}

func (b *board) removeRequest(id string) {
	b.keepRequests(func(r *wire.InboxRequest) bool { return r.ID != id })
}

// keepRequests takes out all other requests.
func (b *board) keepRequests(keep func(*wire.InboxRequest) bool) {
	b.changes++
	b.requests = slices.DeleteFunc(b.requests, func(r *wire.InboxRequest) bool { return !keep(r) })
}

// setSessions replaces all sessions.
func (b *board) setSessions(list []wire.Session) {
	b.changes++
	b.sessions = make(map[string]*wire.Session, len(list))
	for i := range list {
		b.sessions[list[i].ID] = &list[i]
	}
}

func (b *board) setDecided(list []*decided) {
	b.changes++
	b.decided = list
}

func (b *board) findRequest(id string) *wire.InboxRequest {
	for _, r := range b.requests {
		if r.ID == id {
			return r
		}
	}
	return nil
}

func (b *board) setSession(change *wire.SessionChange) {
	b.changes++
	if change.Gone {
		delete(b.sessions, change.Session.ID)
		return
	}
	session := change.Session
	b.sessions[session.ID] = &session
}

// section is a group of rows: what its sessions need from you.
type section int

const (
	sectionWaiting section = iota
	sectionFailed
	sectionRunning
	sectionDone
	sectionUnknown
	sectionIdle
	sectionAnswered // history
	sectionEnded
	sectionCount

	noSection section = -1 // an empty line between sections
)

var sectionTitles = map[section]string{
	sectionWaiting: "Waiting for you", sectionFailed: "Failed", sectionRunning: "Running", sectionDone: "Done",
	sectionUnknown: "Unknown", sectionIdle: "Idle", sectionAnswered: "Answered", sectionEnded: "Ended",
}

// sectionWords are the words for the rows of a section.
var sectionWords = map[section]string{
	sectionWaiting: "waiting", sectionFailed: "failed", sectionRunning: "running", sectionDone: "done",
	sectionUnknown: "unknown", sectionIdle: "idle", sectionAnswered: "answered", sectionEnded: "ended",
}

func sectionOf(s *wire.Session) section {
	if s.Ended != nil && !s.CutOff {
		return sectionEnded
	}
	switch s.Status {
	case wire.StatusWaiting:
		return sectionWaiting
	case wire.StatusFailed:
		return sectionFailed
	case wire.StatusRunning:
		return sectionRunning
	case wire.StatusDone:
		return sectionDone
	case wire.StatusUnknown:
		return sectionUnknown
	}
	return sectionIdle
}

// row is one line to select: a request with its session, a session alone, or what
// was answered before.
type row struct {
	section section
	request *wire.InboxRequest
	session *wire.Session
	decided *decided
}

// key names what the row is about, whatever its place is.
func (r *row) key() string {
	switch {
	case r.request != nil:
		return "request " + r.request.ID
	case r.decided != nil:
		return "answer " + r.decided.ID
	}
	return "session " + r.session.ID
}

// sessionID returns the session that the row is about, "" for none.
func (r *row) sessionID() string {
	switch {
	case r.request != nil:
		return r.request.Session
	case r.decided != nil:
		return ""
	}
	return r.session.ID
}

// isSession reports whether the row is about a session alone.
func (r *row) isSession() bool { return r.request == nil && r.decided == nil }

func (r *row) title() string {
	switch s := r.session; {
	case s != nil && s.Title != "":
		return s.Title
	case s != nil && s.Cwd != "":
		return lastFolder(s.Cwd)
	case r.request != nil && r.request.Cwd != "":
		return lastFolder(r.request.Cwd)
	case r.decided != nil && r.decided.Cwd != "":
		return lastFolder(r.decided.Cwd)
	}
	return "(no title)"
}

func lastFolder(path string) string {
	path = strings.TrimRight(path, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}

func (r *row) agentName() string {
	switch {
	case r.request != nil:
		return r.request.Agent
	case r.decided != nil:
		return r.decided.Agent
	}
	return r.session.Agent
}

// host returns the other machine that the row is about; "" for this one.
func (r *row) host() string {
	switch {
	case r.request != nil:
		return r.request.Host
	case r.session != nil:
		return r.session.Host
	}
	return ""
}

// folder returns the last part of the folder that the row is about.
func (r *row) folder() string {
	switch {
	case r.session != nil && r.session.Cwd != "":
		return lastFolder(r.session.Cwd)
	case r.request != nil:
		return lastFolder(r.request.Cwd)
	case r.decided != nil:
		return lastFolder(r.decided.Cwd)
	}
	return ""
}

// project returns the folder, if the title doesn't say it already.
func (r *row) project() string {
	if r.session == nil || r.session.Title == "" {
		return ""
	}
	return r.folder()
}

// since returns when what the row shows began.
func (r *row) since() time.Time {
	switch {
	case r.request != nil:
		return r.request.CreatedAt
	case r.decided != nil:
		return r.decided.At
	case r.section == sectionRunning && r.session.Turn != nil:
		return r.session.Turn.Started
	case r.session.Ended != nil:
		return *r.session.Ended
	}
	return r.session.Since
}

// listRows returns all rows in the order in which they are shown: requests oldest first, then
// sessions by section, the latest change first unless they run. Running sessions stay in the
// order in which they started, so that they don't jump with every event. What was answered
// before comes with the ended ones.
func (b *board) listRows() []row {
	rows := make([]row, 0, len(b.requests)+len(b.sessions)+len(b.decided))
	asked := map[string]bool{}
	for _, item := range b.requests {
		asked[item.Session] = true
		rows = append(rows, row{section: sectionWaiting, request: item, session: b.sessions[item.Session]})
	}
	first := len(rows)
	for _, s := range b.sessions {
		place := sectionOf(s)
		if place == sectionWaiting && asked[s.ID] {
			continue
		}
		rows = append(rows, row{section: place, session: s})
	}
	for _, d := range b.decided {
		rows = append(rows, row{section: sectionAnswered, decided: d, session: b.sessions[d.Session]})
	}
	slices.SortFunc(rows[first:], func(x, y row) int {
		if x.section != y.section {
			return cmp.Compare(x.section, y.section)
		}
		return cmp.Or(x.compareTime(&y), cmp.Compare(x.key(), y.key()))
	})
	return rows
}

// compareTime orders rows of one section.
func (r *row) compareTime(other *row) int {
	switch r.section {
	case sectionRunning:
		return r.session.StartedAt.Compare(other.session.StartedAt)
	case sectionAnswered:
		return other.decided.At.Compare(r.decided.At)
	}
	return other.session.Since.Compare(r.session.Since)
}

// matches reports whether every word of the filter is in what the list shows of the row.
func (r *row) matches(filter string) bool {
	text := strings.ToLower(strings.Join([]string{r.agentName(), r.host(), r.title(), r.project(), doingText(r),
		sectionTitles[r.section]}, " "))
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// isWindow reports whether an agent asks in its own terminal.
func isWindow(item *wire.InboxRequest) bool { return item.Status == wire.InboxPrompt }
