package web

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// call answers with what a method of the daemon says.
func (v *server) call(w http.ResponseWriter, r *http.Request, method string, params any) (any, bool) {
	b, err := json.Marshal(params)
	if err != nil {
		fail(w, http.StatusBadRequest, "body", err.Error())
		return nil, false
	}
	result, bad := v.service.Daemon.Call(r.Context(), method, b)
	if bad != nil {
		failWith(w, bad)
		return nil, false
	}
	return result, true
}

func (v *server) sessionsHandler(w http.ResponseWriter, r *http.Request) {
	if list, ok := v.call(w, r, wire.MethodSessions, wire.SessionsParams{All: r.URL.Query().Has("all")}); ok {
		answer(w, list)
	}
}

func (v *server) sessionHandler(w http.ResponseWriter, r *http.Request) {
	if one, ok := v.call(w, r, wire.MethodSession, wire.SessionParams{Session: r.URL.Query().Get("id")}); ok {
		answer(w, one)
	}
}

// moment is an event as the timeline shows it.
type moment struct {
	Cursor string    `json:"cursor"`
	Time   time.Time `json:"time"`
	Agent  string    `json:"agent"`
	Kind   string    `json:"kind"`
	Tool   string    `json:"tool,omitempty"`
	// ToolKind and Call are empty for what isn't a call; Call also if the agent reports none.
	ToolKind string `json:"toolKind,omitempty"`
	Call     string `json:"call,omitempty"`
	Failed   bool   `json:"failed,omitempty"`
	Text     string `json:"text,omitempty"`
	Verdict  string `json:"verdict,omitempty"`
	Why      string `json:"why,omitempty"`
}

// timelinePage is how many events the timeline reads at once.
const timelinePage = 100

// eventsHandler returns a session's events: the newest, those before a cursor, or those after
// one; of those only the ones with a text, if one is named.
func (v *server) eventsHandler(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	p := wire.QueryParams{Filter: wire.Filter{Session: q.Get("session"), Text: q.Get("text")}, Limit: timelinePage}
	if p.Session == "" {
		fail(w, http.StatusBadRequest, "body", "which session?")
		return
	}
	if p.After = q.Get("after"); p.After == "" {
		p.Newest, p.Before = true, q.Get("before")
	}
	result, ok := v.call(w, r, wire.MethodQuery, p)
	if !ok {
		return
	}
	page, ok := result.(wire.QueryResult)
	if !ok {
		fail(w, http.StatusInternalServerError, "failed", "the journal can't be read")
		return
	}
	moments := make([]moment, 0, len(page.Entries))
	for i := range page.Entries {
		moments = append(moments, readMoment(&page.Entries[i]))
	}
	answer(w, map[string]any{"events": moments, "next": page.Next})
}

func readMoment(entry *wire.Entry) moment {
	m := moment{Cursor: entry.Cursor}
	var ev event.Event
	if json.Unmarshal(entry.Event, &ev) != nil {
		m.Text = "unreadable event"
		return m
	}
	m.Time, m.Agent, m.Kind, m.Text = ev.Time, ev.Agent, string(ev.Kind), text.Label(&ev)
	if ev.Tool != nil {
		m.Tool, m.ToolKind, m.Call, m.Failed = ev.Tool.Name, string(ev.Tool.Kind), ev.Tool.CallID, ev.Tool.Failed
	}
	if entry.Outcome != nil {
		var d event.Decision
		_ = d.UnmarshalJSON(entry.Outcome.Decision)
		if d.Verdict != event.None {
			m.Verdict, m.Why = d.Verdict.Word(), d.Reason
		}
	}
	return m
}

// usageHandler returns what was used since a time, by day, agent, project and model, with what
// is known of plans and budgets.
func (v *server) usageHandler(w http.ResponseWriter, r *http.Request) {
	since, err := time.Parse(time.RFC3339, r.URL.Query().Get("since"))
	if err != nil {
		fail(w, http.StatusBadRequest, "body", "since when?")
		return
	}
	said := map[string]any{}
	for name, ask := range map[string]struct {
		method string
		params any
	}{
		"report": {wire.MethodUsage, wire.UsageParams{Since: since,
			By: []string{wire.ByDay, wire.ByAgent, wire.ByProject, wire.ByModel}}},
		"limits":  {wire.MethodUsageLimits, struct{}{}},
		"budgets": {wire.MethodBudgets, struct{}{}},
	} {
		result, ok := v.call(w, r, ask.method, ask.params)
		if !ok {
			return
		}
		said[name] = result
	}
	answer(w, said)
}

func (v *server) devicesHandler(w http.ResponseWriter, r *http.Request) {
	answer(w, map[string]any{"devices": v.service.deviceInfos(), "own": deviceOf(r).ID})
}

// unpairHandler removes the device that asks for it.
func (v *server) unpairHandler(w http.ResponseWriter, r *http.Request) {
	if err := v.service.removeDevice(deviceOf(r)); err != nil {
		fail(w, http.StatusInternalServerError, "failed", err.Error())
		return
	}
	answer(w, map[string]bool{"removed": true})
}

// skipHandler leaves a request to the agent's own prompt.
func (v *server) skipHandler(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ID     string `json:"id"`
		SHA256 string `json:"sha256"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	shown := func(one wire.InboxRequest) bool { return one.ID == in.ID && one.SHA256 == in.SHA256 }
	if !slices.ContainsFunc(v.service.Requests.WaitingInFull(), shown) {
		fail(w, http.StatusConflict, "changed", "the request ended, or is another one by now")
		return
	}
	if result, ok := v.call(w, r, wire.MethodInboxSkip, wire.InboxIDParams{ID: in.ID}); ok {
		answer(w, result)
	}
}

// sendHandler sends a session a text.
func (v *server) sendHandler(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Session string `json:"session"`
		Text    string `json:"text"`
		PIN     string `json:"pin"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	if hasCommand(in.Text) {
		fail(w, http.StatusForbidden, "command", "a line that begins with / or ! is a command to the agent itself; type it in its terminal")
		return
	}
	if bad := v.service.Requests.CheckText(in.Session, in.PIN); bad != nil {
		failWith(w, bad)
		return
	}
	if sent, ok := v.call(w, r, wire.MethodSessionSend,
		wire.SessionSendParams{Session: in.Session, Text: in.Text, Type: true}); ok {
		one, _ := v.service.browser(deviceOf(r).ID)
		v.service.record("sent a text to "+in.Session, one)
		answer(w, sent)
	}
}

// hasCommand reports whether a line of a text may be a command to the agent itself, which would
// go past hooks and guards, or change them. Invisible or untypable characters before it don't
// hide it.
func hasCommand(text string) bool {
	for line := range strings.Lines(text) {
		begin := strings.TrimLeftFunc(line, func(c rune) bool {
			return !unicode.IsGraphic(c) || unicode.IsSpace(c) || unicode.IsMark(c) || c == unicode.ReplacementChar ||
				unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c) || c == '\u2800'
		})
		if strings.HasPrefix(begin, "/") || strings.HasPrefix(begin, "!") {
			return true
		}
	}
	return false
}

// reportElsewhere reports that a device's key was used with another browser or from another
// network than before: the browser's profile may have been copied.
func (s *Service) reportElsewhere(before, now device) {
	s.record("used from "+now.Address+" ("+now.Browser+"), before from "+before.Address+" ("+before.Browser+")", now)
	s.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: "hookmux", Text: "the device " + now.Name + " is used from " +
		now.Address + " with " + now.Browser + "; if that isn't you: `hookmux web devices remove " + now.ID + "`"})
	s.Daemon.WarnElsewhere(now.Info(0))
	line, _ := json.Marshal(map[string]any{"method": "device.elsewhere", "params": now.Info(0)})
	s.audience.broadcast(line)
}
