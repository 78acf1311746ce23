package fleet

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Options configures what Hosts passes on to others.
type Options struct {
	Background *services.Background
	// SessionChanged is called for every change of a session on another machine.
	SessionChanged func(change wire.SessionChange)
	// RequestChanged is called for every request of another machine that begins or ceases to wait;
	// note is one of the inbox's stream.
	RequestChanged func(note string, item wire.InboxRequest)
	// Attended reports whether someone who may answer looks at the requests here.
	Attended func() bool
}

// Hosts is all other machines together. Its zero list costs nothing: no goroutine runs.
type Hosts struct {
	Options
	any     atomic.Bool // there is a source
	mu      sync.Mutex
	sources map[string]*tracked
}

// tracked is a source, with what was reported about it.
type tracked struct {
	source   Source
	stop     context.CancelFunc
	sessions map[string]wire.Session      // by id here
	requests map[string]wire.InboxRequest // by id here
	answered map[string]wire.InboxRequest // as they ended by an answer from here, until that was reported
}

// attendPause is how often sources are notified whether someone looks.
const attendPause = 500 * time.Millisecond

// New makes an empty list.
func New(o Options) *Hosts { return &Hosts{Options: o, sources: map[string]*tracked{}} }

// Add begins to show a machine, until ctx ends or [Hosts.Remove]. A name that's taken is an
// error.
func (h *Hosts) Add(ctx context.Context, s Source) error {
	name := s.Name()
	if !wire.IsHostName(name) {
		return fmt.Errorf("%q can't be the name of a host: use small letters, digits, dots and dashes", name)
	}
	ctx, stop := context.WithCancel(ctx)
	t := &tracked{source: s, stop: stop, sessions: map[string]wire.Session{},
		requests: map[string]wire.InboxRequest{}, answered: map[string]wire.InboxRequest{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sources[name] != nil {
		stop()
		return fmt.Errorf("there is a host %s already", name)
	}
	h.sources[name] = t
	h.any.Store(true)
	h.Background.Go(func() { h.follow(ctx, t) })
	return nil
}

// Remove removes a machine and everything of it from the lists.
func (h *Hosts) Remove(name string) {
	h.mu.Lock()
	t := h.sources[name]
	delete(h.sources, name)
	h.any.Store(len(h.sources) > 0)
	h.mu.Unlock()
	if t != nil {
		t.stop()
		h.tell(t, nil, nil, wire.EndHostRemoved)
	}
}

// follow reports changes of one machine until ctx ends.
func (h *Hosts) follow(ctx context.Context, t *tracked) {
	attend := time.NewTicker(attendPause)
	defer attend.Stop()
	t.source.Attend(h.Attended())
	for h.refresh(t); ; {
		select {
		case <-ctx.Done():
			return
		case <-attend.C:
			t.source.Attend(h.Attended())
		case <-t.source.Changes():
			h.refresh(t)
		}
	}
}

// refresh reports what changed at one machine.
func (h *Hosts) refresh(t *tracked) {
	end := wire.EndHookGone
	if link := t.source.Link(); !link.Connected() {
		end = wire.EndHostLost
	}
	h.tell(t, t.listSessions(), t.listRequests(), end)
}

// tell reports the difference between what was reported before and what there is; end is why
// requests ended that are no longer there.
func (h *Hosts) tell(t *tracked, sessions []wire.Session, requests []wire.InboxRequest, end string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if current := h.sources[t.source.Name()]; current != nil && current != t || current == nil && sessions != nil {
		return // it was removed meanwhile
	}
	seen := map[string]bool{}
	for _, one := range sessions {
		seen[one.ID] = true
		before, known := t.sessions[one.ID]
		if known && reflect.DeepEqual(before, one) {
			continue
		}
		t.sessions[one.ID] = one
		h.SessionChanged(wire.SessionChange{Session: one, What: differences(known, &before, &one)})
	}
	for id, one := range t.sessions {
		if !seen[id] {
			delete(t.sessions, id)
			h.SessionChanged(wire.SessionChange{Session: one, Gone: true})
		}
	}
	clear(seen)
	for _, one := range requests {
		seen[one.ID] = true
		if before, known := t.requests[one.ID]; known && before.SHA256 == one.SHA256 && before.Status == one.Status {
			continue
		}
		t.requests[one.ID] = one
		h.RequestChanged(noteOf(&one), one)
	}
	for id, one := range t.requests {
		if seen[id] {
			continue
		}
		delete(t.requests, id)
		note := wire.NoteInboxWithdrawn
		if one.Status == wire.InboxPrompt {
			note = wire.NoteInboxPromptOver
		} else if ended, ok := t.answered[id]; ok {
			note, one = wire.NoteInboxResolved, ended
		} else {
			now := time.Now()
			one.Status, one.End, one.EndedAt = wire.InboxWithdrawn, end, &now
		}
		delete(t.answered, id)
		h.RequestChanged(note, one)
	}
}

func noteOf(item *wire.InboxRequest) string {
	if item.Status == wire.InboxPrompt {
		return wire.NoteInboxPrompt
	}
	return wire.NoteInboxReceived
}

// differences names what changed, in the terms of [wire.SessionChange].
func differences(known bool, before, now *wire.Session) []string {
	if !known {
		return []string{"created"}
	}
	var out []string
	for _, one := range []struct {
		is   bool
		what string
	}{
		{before.Status != now.Status, "status"}, {before.Title != now.Title, "title"}, {before.Tool != now.Tool, "tool"},
		{!slices.Equal(before.Waits, now.Waits), "waiting"}, {before.Turns != now.Turns, "turnStarted"},
		{before.Ended == nil && now.Ended != nil, "ended"},
	} {
		if one.is {
			out = append(out, one.what)
		}
	}
	return out
}

// listSessions returns a machine's sessions as they are shown here.
func (t *tracked) listSessions() []wire.Session {
	link, name := t.source.Link(), t.source.Name()
	list := slices.Clone(t.source.Sessions())
	for i := range list {
		list[i] = sessionHere(name, &link, list[i])
	}
	return list
}

// sessionHere returns a session of another machine as it is shown here.
func sessionHere(host string, link *Link, one wire.Session) wire.Session {
	one.ID, one.Host = wire.OnHost(host, one.ID), host
	// Numbers and files of that machine mean something else here.
	one.PID, one.Transcript, one.Resumable = 0, "", false
	one.HostReadOnly = link.Scope != wire.ScopeAnswer
	waits := make([]string, 0, len(one.Waits))
	for _, id := range one.Waits {
		waits = append(waits, wire.OnHost(host, id))
	}
	one.Waits = waits
	if !link.Connected() && one.Ended == nil {
		since := link.Since
		one.Status, one.HostLost = wire.StatusUnknown, &since
		one.WaitingSince, one.Asks, one.Waits, one.Tool = nil, nil, nil, ""
	}
	return one
}

func (t *tracked) listRequests() []wire.InboxRequest {
	link, name := t.source.Link(), t.source.Name()
	if !link.Connected() {
		return nil
	}
	list := slices.Clone(t.source.Requests())
	for i := range list {
		list[i] = requestHere(name, &link, list[i])
	}
	return list
}

// requestHere returns a request of another machine as it is shown here.
func requestHere(host string, link *Link, one wire.InboxRequest) wire.InboxRequest {
	one.ID, one.Session, one.Host = wire.OnHost(host, one.ID), wire.OnHost(host, one.Session), host
	one.Choices = slices.DeleteFunc(slices.Clone(one.Choices), func(choice string) bool { // its machine takes them at its own terminals only
		return choice == string(event.ChooseAll) || choice == string(event.ChooseBypass)
	})
	if link.Scope != wire.ScopeAnswer {
		one.Choices = nil
		one.Note = strings.TrimPrefix(one.Note+"; "+host+" is read-only from here: answer it there", "; ")
	}
	return one
}

// all returns the machines, by name.
func (h *Hosts) all() []*tracked {
	if !h.any.Load() {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]*tracked, 0, len(h.sources))
	for _, t := range h.sources {
		list = append(list, t)
	}
	slices.SortFunc(list, func(a, b *tracked) int { return cmp.Compare(a.source.Name(), b.source.Name()) })
	return list
}

// Any reports whether there is another machine.
func (h *Hosts) Any() bool { return h.any.Load() }

// Sessions returns the sessions of all other machines; with all, also those that ended.
func (h *Hosts) Sessions(all bool) []wire.Session {
	var list []wire.Session
	for _, t := range h.all() {
		for _, one := range t.listSessions() {
			if all || one.Ended == nil || one.CutOff {
				list = append(list, one)
			}
		}
	}
	return list
}

// Waiting returns the requests that wait on all other machines.
func (h *Hosts) Waiting() []wire.InboxRequest {
	var list []wire.InboxRequest
	for _, t := range h.all() {
		list = append(list, t.listRequests()...)
	}
	return list
}

// List returns the state of each machine.
func (h *Hosts) List() []wire.Host {
	list := []wire.Host{}
	for _, t := range h.all() {
		link := t.source.Link()
		one := wire.Host{Name: t.source.Name(), Kind: link.Kind, Target: link.Target, Scope: link.Scope, State: link.State,
			Since: link.Since, Why: link.Why, Version: link.Version, Waiting: len(t.listRequests())}
		for _, s := range t.source.Sessions() {
			if s.Ended == nil {
				one.Sessions++
			}
		}
		list = append(list, one)
	}
	return list
}

// source finds the machine that an id belongs to.
func (h *Hosts) source(id string) (t *tracked, there string, ok bool) {
	if !h.any.Load() {
		return nil, "", false
	}
	host, there := wire.SplitHost(id)
	h.mu.Lock()
	defer h.mu.Unlock()
	t = h.sources[host]
	return t, there, t != nil
}
