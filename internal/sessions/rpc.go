package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/sessions/resumeargs"
	"github.com/hookmux/hookmux/internal/sessions/resumestore"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/ui/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// sessionMethods is what the hub can be asked about sessions. What changes
// what a person sees, or speaks in a person's place, is a person's to do.
func (h *Hub) sessionMethods() map[string]method {
	return map[string]method{
		wire.MethodSessions:      {authority.Read, h.doSessions},
		wire.MethodSession:       {authority.Read, h.doSession},
		wire.MethodSessionResume: {authority.Read, h.doSessionResume},
		wire.MethodSessionRename: {authority.Decide, h.doSessionRename},
		wire.MethodSessionForget: {authority.Decide, h.doSessionForget},
		wire.MethodSessionSend:   {authority.Decide, h.doSessionSend},
	}
}

// unknownPlace stands where nobody can know: a daemon that serves many
// terminals has the pane of whoever started it.
const unknownPlace = "unknown"

// show is a session as people see it, without secrets.
func (s *sessions) show(one *state.Session) wire.Session {
	w := wire.Session{
		ID: one.ID, Agent: one.Agent, Status: string(one.Status), Since: one.Since,
		Title: redact.Text(one.Title.Name()), Named: one.Title.Locked(), Tool: redact.Text(one.Tool), Cwd: one.Cwd,
		Pane: one.Place.Pane, Mux: one.Place.Mux, Server: one.Place.Server, TTY: one.Place.TTY, PID: one.Place.PID,
		StartedAt: one.StartedAt, LastEvent: one.LastEvent, WaitingSince: timeOf(one.WaitingSince),
		Ended: timeOf(one.Ended), EndReason: one.EndReason, Turns: one.TurnCount,
		Mode: one.Mode, Model: one.Model, Version: one.Version, Transcript: one.Transcript,
	}
	if one.Place.Shared {
		w.Pane, w.TTY, w.PID = unknownPlace, unknownPlace, 0
	}
	for i := range one.Asks {
		what := one.Asks[i].What
		if what == "" {
			what = one.Asks[i].Tool
		}
		w.Asks = append(w.Asks, redact.Text(what))
	}
	for i := range one.Subagents {
		if one.Subagents[i].Ended.IsZero() && one.Turn.Open() {
			w.Subagents++
		}
	}
	if one.Turn != nil {
		t := showTurn(one.Turn)
		w.Turn = &t
	}
	_, w.Resumable = s.records.Get(one.Agent, one.ID)
	return w
}

func showTurn(t *state.Turn) wire.Turn {
	return wire.Turn{
		ID: t.ID, N: t.N, Started: t.Started, Ended: timeOf(t.Ended), Seconds: t.Duration(time.Now()).Round(time.Millisecond).Seconds(),
		Result: string(t.Result), ExitCode: t.ExitCode, Summary: redact.Text(t.Summary), Tools: t.Tools, Errors: t.Errors, Error: redact.Text(t.Error),
	}
}

func timeOf(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// changeOf is a change as streams tell it.
func (s *sessions) changeOf(c *state.Change) wire.SessionChange {
	out := wire.SessionChange{Gone: c.Gone}
	if c.Session != nil {
		out.Session = s.show(c.Session)
	} else {
		out.Session = wire.Session{ID: c.Key.ID, Agent: c.Key.Agent}
	}
	for _, w := range []struct {
		is   bool
		what string
	}{
		{c.Created, "created"}, {c.Status(), "status"}, {c.Title, "title"}, {c.Tool, "tool"}, {c.Waiting, "waiting"},
		{c.Answered, "answered"}, {c.TurnStarted, "turnStarted"}, {c.TurnEnded, "turnEnded"}, {c.Ended, "ended"}, {c.Revived, "revived"},
	} {
		if w.is {
			out.What = append(out.What, w.what)
		}
	}
	return out
}

// asleepRecord shows a session of which only the way back is left.
func asleepRecord(r resumestore.Record) wire.Session {
	at := r.At
	return wire.Session{
		ID: r.Session, Agent: r.Agent, Status: string(state.Idle), Since: at, Title: r.Title, Cwd: r.Dir,
		StartedAt: at, LastEvent: at, Ended: &at, EndReason: "it can be taken up again", Resumable: true,
	}
}

// order puts sessions as a person wants them: who waits for them first, the
// longest waiting on top; what is over last.
func order(list []wire.Session) {
	slices.SortStableFunc(list, func(a, b wire.Session) int {
		if (a.Ended == nil) != (b.Ended == nil) {
			if a.Ended == nil {
				return -1
			}
			return 1
		}
		if a.Ended != nil {
			return b.Ended.Compare(*a.Ended)
		}
		if a.WaitingSince != nil && b.WaitingSince != nil {
			return a.WaitingSince.Compare(*b.WaitingSince)
		}
		return cmp.Or(state.Status(b.Status).Rank()-state.Status(a.Status).Rank(), b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
	})
}

func (h *Hub) doSessions(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionsParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	list := h.sessions.list(p.All)
	if len(p.Agents) > 0 {
		var wanted []string
		for _, name := range p.Agents {
			wanted = append(wanted, h.deps.AgentName(name))
		}
		list = slices.DeleteFunc(list, func(s wire.Session) bool { return !slices.Contains(wanted, s.Agent) })
	}
	return list, nil
}

// list is every session, in order. What nobody heard of for an hour and has no
// process left is not in it; all brings those back that can be taken up again.
func (s *sessions) list(all bool) []wire.Session {
	now := time.Now()
	list := []wire.Session{}
	seen := map[state.Key]bool{}
	for _, one := range s.book.Snapshot() {
		if now.Sub(one.LastEvent) >= state.LeaveAfter && (!one.Live() || s.alive(one) != state.Alive) {
			continue // the next tick takes it out
		}
		seen[one.Key] = true
		list = append(list, s.show(one))
	}
	if all {
		for _, r := range s.kept() {
			if !seen[state.Key{Agent: r.Agent, ID: r.Session}] {
				list = append(list, asleepRecord(r))
			}
		}
	}
	order(list)
	return list
}

// kept is the records that count: those of agents whose switches are on.
func (s *sessions) kept() []resumestore.Record {
	on := s.switches.Load().resume
	return slices.DeleteFunc(s.records.List(), func(r resumestore.Record) bool { return !on[r.Agent] })
}

// find is the session a person means: by its id, the beginning of it, its
// title or its pane. One of which only the record is left comes without state.
func (s *sessions) find(name string) (state.Key, *wire.Error) {
	none := state.Key{}
	if strings.TrimSpace(name) == "" {
		return none, wire.Errorf(wire.CodeParams, "which session? `hookmux ps` lists them")
	}
	list := s.list(true)
	for _, fits := range []func(*wire.Session) bool{
		func(w *wire.Session) bool { return w.ID == name || w.Agent+":"+w.ID == name },
		func(w *wire.Session) bool { return w.Pane == name && w.Ended == nil && name != unknownPlace },
		func(w *wire.Session) bool { return strings.EqualFold(w.Title, name) },
		func(w *wire.Session) bool {
			return strings.HasPrefix(w.ID, name) || strings.HasPrefix(w.Agent+":"+w.ID, name)
		},
		func(w *wire.Session) bool {
			return len([]rune(name)) >= 3 && strings.HasPrefix(strings.ToLower(w.Title), strings.ToLower(name))
		},
	} {
		var found []wire.Session
		for i := range list {
			if fits(&list[i]) {
				found = append(found, list[i])
			}
		}
		if len(found) > 1 { // one that lives is meant rather than one that ended
			if live := slices.DeleteFunc(slices.Clone(found), func(w wire.Session) bool { return w.Ended != nil }); len(live) == 1 {
				found = live
			}
		}
		switch len(found) {
		case 0:
			continue
		case 1:
			return state.Key{Agent: found[0].Agent, ID: found[0].ID}, nil
		}
		var names []string
		for _, w := range found[:min(4, len(found))] {
			names = append(names, w.Agent+" "+w.ID)
		}
		return none, wire.Errorf(wire.CodeConflict, "%q could be %d sessions (%s, …); write more of the id", name, len(found), strings.Join(names, ", "))
	}
	return none, wire.Errorf(wire.CodeGone, "there is no session %q; `hookmux ps --all` lists them", name)
}

func (h *Hub) doSession(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	key, bad := h.sessions.find(p.Session)
	if bad != nil {
		return nil, bad
	}
	return h.sessions.detail(key), nil
}

func (s *sessions) detail(key state.Key) wire.SessionDetail {
	var d wire.SessionDetail
	r, resumable := s.records.Get(key.Agent, key.ID)
	resumable = resumable && s.switches.Load().resume[key.Agent]
	if resumable {
		w := s.record(r)
		d.Resume = &w
	} else {
		d.NoResume = s.whyNot(key)
	}
	one, ok := s.book.Get(key)
	if !ok {
		d.Session = asleepRecord(r)
		return d
	}
	d.Session = s.show(one)
	for i := range one.Turns {
		d.Earlier = append(d.Earlier, showTurn(&one.Turns[i]))
	}
	d.Files = slices.Clone(one.Files)
	for _, f := range one.Errors {
		d.Errors = append(d.Errors, wire.SessionError{Time: f.At, Turn: f.Turn, Tool: redact.Text(f.Tool), Text: redact.Text(f.Text), Exit: f.Exit})
	}
	for _, sub := range one.Subagents {
		d.Helpers = append(d.Helpers, wire.SessionSubagent{
			ID: sub.ID, Type: sub.Type, Started: sub.Started, Ended: timeOf(sub.Ended), Tools: sub.Tools, Errors: sub.Errors, Summary: redact.Text(sub.Summary),
		})
	}
	return d
}

// whyNot says why a session has no record.
func (s *sessions) whyNot(key state.Key) string {
	a, known := s.deps.Catalogue.Agent(key.Agent)
	settings := s.hub.rules.config.Settings()
	switch {
	case !known || a.Resume == nil:
		return key.Agent + " has no way to take a session up again that hookmux knows"
	case !settings.On("status", key.Agent):
		return fmt.Sprintf("its status is off; `hookmux config set status.%s on`", key.Agent)
	case !settings.On("resume", key.Agent):
		return fmt.Sprintf("it is not remembered; `hookmux config set resume.%s on`, then give it a prompt", key.Agent)
	case !resumeargs.ValidID(key.ID):
		return "its id did not come from the agent"
	}
	return "nothing was recorded: it had no prompt since resume was switched on, or it is a run of one prompt"
}

func (h *Hub) doSessionRename(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionRenameParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	title := state.Line(p.Title)
	if (title == "") != p.Auto {
		return nil, wire.Errorf(wire.CodeParams, "a title is needed, or auto for the agent's own")
	}
	key, bad := h.sessions.find(p.Session)
	if bad != nil {
		return nil, bad
	}
	if _, ok := h.sessions.book.Get(key); !ok {
		return nil, wire.Errorf(wire.CodeGone, "%s has ended; take it up again first (`hookmux resume`)", key.ID)
	}
	if p.Auto {
		h.sessions.note(h.sessions.book.AutoTitle(key))
	} else {
		h.sessions.note(h.sessions.book.Rename(key, title))
	}
	one, ok := h.sessions.book.Get(key)
	if !ok {
		return nil, wire.Errorf(wire.CodeGone, "%s left meanwhile", key.ID)
	}
	return h.sessions.show(one), nil
}

func (h *Hub) doSessionForget(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	key, bad := h.sessions.find(p.Session)
	if bad != nil {
		return nil, bad
	}
	d := h.sessions.detail(key)
	h.sessions.forget(key)
	return d.Session, nil
}

func (h *Hub) doSessionResume(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.SessionResumeParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	h.sessions.readSwitches() // a switch that was turned a moment ago counts
	var list []resumestore.Record
	if p.Session == "" {
		list = h.sessions.kept()
	} else {
		key, bad := h.sessions.find(p.Session)
		if bad != nil {
			return nil, bad
		}
		r, ok := h.sessions.records.Get(key.Agent, key.ID)
		if !ok {
			return nil, wire.Errorf(wire.CodeConflict, "%s %s cannot be taken up again: %s", key.Agent, key.ID, h.sessions.whyNot(key))
		}
		list = []resumestore.Record{r}
	}
	by := processKey{pid: peer.PID}
	if caller, err := h.deps.Processes.Lookup(peer.PID); err == nil {
		by.start = caller.Start
	}
	out := []wire.ResumeRecord{}
	for _, r := range list {
		w := h.sessions.record(r)
		if p.Claim && w.Live == "" {
			if h.sessions.claims.hold(state.Key{Agent: r.Agent, ID: r.Session}, by, h.deps.Processes) {
				h.sessions.takenUp(r, by)
			} else {
				w.Live = "it was taken up a moment ago"
			}
		}
		out = append(out, w)
	}
	return out, nil
}

// doSessionSend gives a session a text: through its agent's plugin where one
// listens, else typed into its pane, if the person says so.
func (h *Hub) doSessionSend(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SessionSendParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if strings.TrimSpace(p.Text) == "" {
		return nil, wire.Errorf(wire.CodeParams, "there is nothing to send")
	}
	key, bad := h.sessions.find(p.Session)
	if bad != nil {
		return nil, bad
	}
	one, ok := h.sessions.book.Get(key)
	if !ok || !one.Live() {
		return nil, wire.Errorf(wire.CodeGone, "%s has ended; `hookmux resume` takes it up again", key.ID)
	}
	if delivered, err := h.sendTo(key.Agent, key.ID, p.Text); err != nil {
		return nil, wire.Errorf(wire.CodeConflict, "%s: %v", key.ID, err)
	} else if delivered {
		return wire.SessionSent{Session: h.sessions.show(one), Via: "plugin"}, nil
	}
	if !p.Type {
		return nil, wire.Errorf(wire.CodeConflict, "%s takes no messages from outside its terminal; --type types the text into its pane", key.Agent)
	}
	if one.Waits() {
		return nil, wire.Errorf(wire.CodeConflict, "%s waits for an answer, and what is typed now would be taken for it; answer first (`hookmux jump %s`)", key.ID, key.ID)
	}
	if one.Place.Shared || one.Place.Mux != "tmux" || one.Place.Pane == "" {
		return nil, wire.Errorf(wire.CodeConflict, "%s sits in no tmux pane hookmux knows of, so nothing can be typed into it", key.ID)
	}
	ctx, cancel := context.WithTimeout(h.ctx, 10*time.Second)
	defer cancel()
	server := &tmux.Server{Socket: one.Place.Server}
	pane, sits, err := server.PaneOf(ctx, h.deps.Processes, tmux.Hint{PID: one.Place.PID, TTY: one.Place.TTY, Pane: one.Place.Pane})
	if err == nil && !sits {
		err = errors.New("it is not in its pane any more")
	}
	if err == nil {
		err = server.Type(ctx, pane.ID, p.Text, true)
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%s: %v", key.ID, err)
	}
	return wire.SessionSent{Session: h.sessions.show(one), Via: "pane"}, nil
}
