package member

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/fleet"
	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// How long changes are collected before they are sent: what an operator waits for, and the rest,
// which must not compete with agents' calls for the processor.
const (
	soon  = 150 * time.Millisecond
	later = time.Second
	// resendAfter is how soon a state that the server refused is sent again.
	resendAfter = 2 * time.Second
)

// keepState renews what the fleet knows about this machine: when something changed, and often
// enough that it doesn't expire.
func (r *run) keepState(ctx context.Context) {
	tick := time.NewTicker(protocol.RenewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-r.changed:
			services.Pause(soon, ctx.Done())
		case <-r.moved:
			select {
			case <-ctx.Done():
			case <-r.changed:
				services.Pause(soon, ctx.Done())
			case <-time.After(later):
			}
		}
		r.unattend(time.Now())
		if !r.ready.Load() {
			continue
		}
		sending, cancel := context.WithTimeout(ctx, askWithin)
		told, err := r.requestBytes(sending, protocol.UpState, r.state(ctx))
		cancel()
		r.noteNewest(told.Newest)
		if refused := (*refusedError)(nil); errors.As(err, &refused) && refused.again {
			r.takeBack()
		} else if err != nil && ctx.Err() == nil {
			r.service.Log.Warn("the fleet doesn't take this machine's state", "error", err)
			services.Pause(resendAfter, ctx.Done())
			poke(r.changed) // a request in it may be new
		}
	}
}

// takeBack says hello again: another daemon spoke for this member. If that happens once, it's
// the previous daemon; if it happens repeatedly, it's a copy of this machine.
func (r *run) takeBack() {
	now := time.Now()
	r.mu.Lock()
	r.taken = slices.DeleteFunc(append(r.taken, now), func(at time.Time) bool { return now.Sub(at) > 2*time.Minute })
	copies := len(r.taken) > 2
	r.mu.Unlock()
	if copies {
		r.service.Problems.Set("fleet-copy", "another machine speaks for this one in the fleet: one is a copy of the other",
			"on one of them: `hookmux fleet leave`, and join with a code of its own")
	}
	poke(r.hello)
}

// maxState is how large a state gets; a message has a little more.
const maxState = protocol.MaxMessage - 4096

// state returns what the fleet sees of this machine.
func (r *run) state(ctx context.Context) []byte {
	s := protocol.State{Instance: r.instance, Version: r.service.Version, User: r.service.User(), Content: r.service.Content(),
		Sessions: []wire.Session{}, Requests: []wire.InboxRequest{}, Attends: r.others.attends(), Policy: r.memberPolicy()}
	s.Backlog, _, _ = r.service.Outbox.OutboxSize(ctx)
	for _, one := range r.service.Requests.WaitingRedacted() {
		if one.Host == "" {
			s.Requests = append(s.Requests, requestThere(one, s.Content))
		}
	}
	for _, one := range r.service.Sessions() {
		if one.Host == "" {
			s.Sessions = append(s.Sessions, sessionThere(one, s.Content))
		}
	}
	if over := len(s.Requests) - fleet.MaxRequests; over > 0 {
		s.Requests, s.Left = s.Requests[:fleet.MaxRequests], s.Left+over
	}
	if over := len(s.Sessions) - fleet.MaxSessions; over > 0 {
		s.Sessions, s.Left = s.Sessions[:fleet.MaxSessions], s.Left+over
	}
	fleet.Clean(&s)
	for {
		b, err := json.Marshal(s)
		switch {
		case err == nil && len(b) <= maxState:
			return b
		case err != nil:
			s.Sessions, s.Requests = nil, nil
		case len(s.Sessions) > 0:
			keep := len(s.Sessions) / 2
			s.Left, s.Sessions = s.Left+len(s.Sessions)-keep, s.Sessions[:keep]
		default:
			keep := len(s.Requests) / 2
			s.Left, s.Requests = s.Left+len(s.Requests)-keep, s.Requests[:keep]
		}
	}
}

// maxRequest is how large one request may be to be shown elsewhere in full.
const maxRequest = 64 << 10

// requestThere returns a request as it leaves this machine. Without content, or if it's too
// long, it can only be answered here.
func requestThere(one wire.InboxRequest, content bool) wire.InboxRequest {
	size := len(one.Shown) + len(one.Input) + len(one.Plan)
	for _, s := range one.Suggestions {
		size += len(s)
	}
	if content && size <= maxRequest {
		return one
	}
	why := "it's too long to be shown elsewhere: answer it there"
	if !content {
		why = "its machine doesn't send what is asked: answer it there"
	}
	return wire.InboxRequest{ID: one.ID, Status: one.Status, Kind: one.Kind, Agent: one.Agent, Session: one.Session,
		Event: one.Event, Tool: one.Tool, ToolKind: one.ToolKind, Input: json.RawMessage("null"), Choices: []string{}, Risk: one.Risk,
		Note: why, Shown: why, SHA256: one.SHA256, CreatedAt: one.CreatedAt, Deadline: one.Deadline}
}

// sessionThere returns a session as it leaves this machine.
func sessionThere(one wire.Session, content bool) wire.Session {
	if one.Transcript = ""; content {
		return one // redacted, as all that [Options.Sessions] returns
	}
	one.Title, one.LastWords = "", ""
	one.Asks = slices.Repeat([]string{"a request"}, len(one.Asks))
	if one.Turn != nil {
		turn := *one.Turn
		turn.Summary, turn.Error = "", ""
		one.Turn = &turn
	}
	return one
}
