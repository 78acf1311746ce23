package sessions

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/store"
	"github.com/hookmux/hookmux/internal/wire"
)

// view shows sessions as clients see them, without secrets.
type view struct {
	deps    services.Deps
	tracker *tracker
	resumer *resumer
	usage   func(agent, session string) *wire.SessionUsage // nil: nobody knows
}

// unknownPlace is shown if the place can't be known: a daemon that serves many terminals has
// the pane of whichever started it.
const unknownPlace = "unknown"

// sessionInfo returns a session as it's shown.
func (v *view) sessionInfo(one *state.Session) wire.Session {
	w := wire.Session{
		ID: one.ID, Agent: one.Agent, Status: string(one.Status), Since: one.Since,
		Title: v.deps.Redactor.Text(one.Title.Name()), Named: one.Title.Locked(),
		Tool: v.deps.Redactor.Text(one.Tool), Cwd: one.Cwd,
		Pane: one.Place.Pane, Mux: one.Place.Mux, Server: one.Place.Server, TTY: one.Place.TTY, PID: one.Place.PID,
		StartedAt: one.StartedAt, LastEvent: one.LastEvent, WaitingSince: timeOrNil(one.WaitingSince),
		Ended: timeOrNil(one.Ended), EndReason: one.EndReason, CutOff: one.CutOff, Turns: one.TurnCount,
		Mode: one.Mode, Model: one.Model, Version: one.Version, Transcript: one.Transcript,
		Reviewer: one.Reviewer,
	}
	if len(one.Requests) > 0 {
		w.Ended, w.EndReason = nil, "" // its process may be gone, but whoever asks still waits for an answer
	}
	if a, ok := v.deps.Catalogue.Agent(one.Agent); ok {
		w.Unasked = a.Status.Unasked[one.Mode]
	}
	if one.Status == state.NeverRan {
		w.Status = wire.StatusIdle
	}
	if one.Place.Shared {
		w.PID = 0
		if one.Place.Pane == "" && one.Place.TTY == "" {
			w.Pane, w.TTY = unknownPlace, unknownPlace
		}
	}
	for _, waits := range one.WaitingList() {
		w.Asks = append(w.Asks, v.deps.Redactor.Text(waits.What))
		w.Waits = append(w.Waits, waits.ID)
	}
	for i := range one.Subagents {
		if one.Subagents[i].Ended.IsZero() && one.Turn.Open() {
			w.Subagents++
		}
	}
	if one.Turn != nil {
		t := v.turnInfo(one.Turn)
		w.Turn = &t
	}
	if one.Turn.Open() && one.Turn.Summary == "" {
		for _, earlier := range slices.Backward(one.Turns) {
			if earlier.Summary != "" {
				w.LastWords = v.deps.Redactor.Text(earlier.Summary)
				break
			}
		}
	}
	_, w.Resumable = v.resumer.records.Get(one.Agent, one.ID)
	if v.usage != nil {
		w.Usage = v.usage(one.Agent, one.ID)
	}
	return w
}

func (v *view) turnInfo(t *state.Turn) wire.Turn {
	return wire.Turn{
		ID: t.ID, N: t.N, Started: t.Started, Ended: timeOrNil(t.Ended),
		Seconds: t.Duration(time.Now()).Round(time.Millisecond).Seconds(),
		Result:  string(t.Result), ExitCode: t.ExitCode, Summary: v.deps.Redactor.Text(t.Summary),
		Tools: t.Tools, Errors: t.Errors, CallsFailed: t.Errors, CallsDenied: t.Denied,
		Error: v.deps.Redactor.Text(t.Error),
	}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// changeInfo returns a change as streams send it.
func (v *view) changeInfo(c *state.Change) wire.SessionChange {
	out := wire.SessionChange{Gone: c.Gone}
	if c.Session != nil {
		out.Session = v.sessionInfo(c.Session)
	} else {
		out.Session = wire.Session{ID: c.Key.ID, Agent: c.Key.Agent}
	}
	for _, w := range []struct {
		is   bool
		what string
	}{
		{c.Created, "created"}, {c.Status(), "status"}, {c.Title, "title"}, {c.Tool, "tool"}, {c.Waiting, "waiting"},
		{c.Answered, "answered"}, {c.TurnStarted, "turnStarted"}, {c.TurnEnded, "turnEnded"},
		{c.Ended, "ended"}, {c.Revived, "revived"},
	} {
		if w.is {
			out.What = append(out.What, w.what)
		}
	}
	return out
}

// recordOnlyInfo shows a session of which only the resume record is left.
func recordOnlyInfo(r store.Record) wire.Session {
	at := r.At
	return wire.Session{
		ID: r.Session, Agent: r.Agent, Status: string(state.Idle), Since: at, Title: r.Title, Cwd: r.Dir,
		StartedAt: at, LastEvent: at, Ended: &at, EndReason: "it can be resumed", Resumable: true,
	}
}

// sortSessions sorts sessions: those that wait for you first, the longest waiting on top;
// those that ended last.
func sortSessions(list []wire.Session) {
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
		rank := state.Status(b.Status).Rank() - state.Status(a.Status).Rank()
		return cmp.Or(rank, b.Since.Compare(a.Since), cmp.Compare(a.ID, b.ID))
	})
}

// listSessions returns every session, in order. Sessions without an event for an hour
// and without a process are left out; all adds those that can be resumed.
func (v *view) listSessions(all bool) []wire.Session {
	now := time.Now()
	list := []wire.Session{}
	seen := map[state.Key]bool{}
	for _, one := range v.tracker.sessions.Snapshot() {
		if !now.Before(one.LeavesAt()) && len(one.Requests) == 0 &&
			(!one.Live() || sessionLife(v.deps.Processes, one) != state.Alive) {
			continue // the next tick takes it out
		}
		seen[one.Key], seen[state.Key{Agent: one.Agent, ID: ownID(one)}] = true, true
		list = append(list, v.sessionInfo(one))
	}
	if all {
		for _, r := range v.resumer.offeredRecords() {
			if !seen[state.Key{Agent: r.Agent, ID: r.Session}] {
				list = append(list, recordOnlyInfo(r))
			}
		}
	}
	sortSessions(list)
	return list
}

// findSession finds a session by its id, the beginning of it, its pane, or part of its
// title.
func (v *view) findSession(name string) (state.Key, *wire.Error) {
	none := state.Key{}
	if strings.TrimSpace(name) == "" {
		return none, wire.Errorf(wire.CodeParams, "which session? `hookmux ps` lists them")
	}
	list := v.listSessions(true)
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
		func(w *wire.Session) bool {
			return len([]rune(name)) >= 3 && strings.Contains(strings.ToLower(w.Title), strings.ToLower(name))
		},
	} {
		var found []wire.Session
		for i := range list {
			if fits(&list[i]) {
				found = append(found, list[i])
			}
		}
		if len(found) > 1 { // one that lives is meant rather than one that ended
			ended := func(w wire.Session) bool { return w.Ended != nil }
			if live := slices.DeleteFunc(slices.Clone(found), ended); len(live) == 1 {
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
			names = append(names, strings.TrimSpace(fmt.Sprintf("%s (%s) %s", wire.ShortID(w.ID), w.Agent, termsafe.Line(w.Title, 40))))
		}
		if more := len(found) - len(names); more > 0 {
			names = append(names, fmt.Sprintf("and %d more", more))
		}
		return none, wire.Errorf(wire.CodeParams, "%q matches %d sessions; name one by its ID: %s", name, len(found),
			strings.Join(names, ", "))
	}
	return none, wire.Errorf(wire.CodeGone, "there's no session %q; `hookmux ps --all` lists them", name)
}

// sessionDetail returns everything clients see of a session.
func (v *view) sessionDetail(key state.Key) wire.SessionDetail {
	var d wire.SessionDetail
	r, resumable := v.resumer.offeredRecord(key)
	if resumable {
		w := v.resumer.recordInfo(r)
		d.Resume = &w
	} else {
		d.NoResume = v.resumer.whyNotResumable(key)
	}
	one, ok := v.tracker.sessions.Get(key)
	if !ok {
		d.Session = recordOnlyInfo(r)
		return d
	}
	d.Session = v.sessionInfo(one)
	for i := range one.Turns {
		d.Earlier = append(d.Earlier, v.turnInfo(&one.Turns[i]))
	}
	d.Files = slices.Clone(one.Files)
	for _, f := range one.Errors {
		d.Errors = append(d.Errors, wire.SessionError{
			Time: f.At, Turn: f.Turn, Tool: v.deps.Redactor.Text(f.Tool), Text: v.deps.Redactor.Text(f.Text),
			Exit: f.Exit,
		})
	}
	for _, sub := range one.Subagents {
		d.Helpers = append(d.Helpers, wire.SessionSubagent{
			ID: sub.ID, Type: sub.Type, Started: sub.Started, Ended: timeOrNil(sub.Ended),
			Tools: sub.Tools, Errors: sub.Errors, Summary: v.deps.Redactor.Text(sub.Summary),
		})
	}
	return d
}
