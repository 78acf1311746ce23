package fleet

import (
	"context"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/wire"
)

// Find returns the request that waits on another machine under an id, or under its beginning,
// with or without the host. several are the ids that it could be.
func (h *Hosts) Find(name string) (item wire.InboxRequest, several []string) {
	if !h.any.Load() || name == "" {
		return wire.InboxRequest{}, nil
	}
	name = strings.ToLower(name)
	var found []wire.InboxRequest
	for _, one := range h.Waiting() {
		_, there := wire.SplitHost(one.ID)
		if one.ID == name {
			return one, nil
		}
		if strings.HasPrefix(one.ID, name) || strings.HasPrefix(there, name) {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 0:
		return wire.InboxRequest{}, nil
	case 1:
		return found[0], nil
	}
	for _, one := range found {
		several = append(several, one.ID)
	}
	return wire.InboxRequest{}, several
}

// FindSession returns the session of another machine that you mean: by its id, with or without
// the host, the beginning of one, or its title. several are those it could be.
func (h *Hosts) FindSession(name string) (one wire.Session, several []string) {
	if !h.any.Load() || strings.TrimSpace(name) == "" {
		return wire.Session{}, nil
	}
	list := h.Sessions(true)
	for _, fits := range []func(*wire.Session) bool{
		func(w *wire.Session) bool { _, there := wire.SplitHost(w.ID); return w.ID == name || there == name },
		func(w *wire.Session) bool { return strings.EqualFold(w.Title, name) },
		func(w *wire.Session) bool {
			_, there := wire.SplitHost(w.ID)
			return strings.HasPrefix(w.ID, name) || strings.HasPrefix(there, name)
		},
	} {
		var found []wire.Session
		for i := range list {
			if fits(&list[i]) {
				found = append(found, list[i])
			}
		}
		if len(found) == 1 {
			return found[0], nil
		}
		for _, w := range found {
			several = append(several, w.ID)
		}
		if several != nil {
			return wire.Session{}, several
		}
	}
	return wire.Session{}, nil
}

// errNoHost returns the error for an id whose machine isn't there.
func errNoHost(id string) *wire.Error {
	host, _ := wire.SplitHost(id)
	return wire.Errorf(wire.CodeGone, "no machine here is called %q; `hookmux remote list` and `hookmux fleet list` show them", host)
}

// reach returns the machine of an id, if it can be reached and you may answer there.
func (h *Hosts) reach(id string, answers bool) (t *tracked, there string, bad *wire.Error) {
	t, there, ok := h.source(id)
	if !ok {
		return nil, "", errNoHost(id)
	}
	link := t.source.Link()
	switch name := t.source.Name(); {
	case !link.Connected():
		return nil, "", wire.Errorf(wire.CodeGone, "%s can't be reached (%s); `%s` says more", name, link.Why, link.doctor(name))
	case answers && link.Scope != wire.ScopeAnswer && link.Kind == wire.HostFleet:
		return nil, "", wire.Errorf(wire.CodeRefused, "%s is read-only from here: this machine is a reader of the fleet, and only "+
			"operators answer", name)
	case answers && link.Scope != wire.ScopeAnswer:
		return nil, "", wire.Errorf(wire.CodeRefused, "%s is read-only from here: answer it there, or remove it and add it again "+
			"without --read or --read-only", name)
	}
	return t, there, nil
}

// Session returns everything about a session of another machine, by its full id here.
func (h *Hosts) Session(ctx context.Context, id string) (wire.SessionDetail, *wire.Error) {
	t, there, bad := h.reach(id, false)
	if bad != nil {
		if t, there, ok := h.source(id); ok { // what was known last
			at := slices.IndexFunc(t.source.Sessions(), func(one wire.Session) bool { return one.ID == there })
			if list := t.listSessions(); at >= 0 && at < len(list) {
				return wire.SessionDetail{Session: list[at], NoResume: "it runs on " + list[at].Host}, nil
			}
		}
		return wire.SessionDetail{}, bad
	}
	d, bad := t.source.Session(ctx, there)
	if bad != nil {
		return wire.SessionDetail{}, bad
	}
	link, name := t.source.Link(), t.source.Name()
	d.Session = sessionHere(name, &link, d.Session)
	d.Resume, d.NoResume = nil, "it runs on "+name+"; resume it there"
	return d, nil
}

// Reply hands an answer to the machine that asks. The caller has checked that you may answer
// and that p.SHA256 is what you were shown.
func (h *Hosts) Reply(ctx context.Context, p wire.InboxReplyParams, by string) (wire.InboxReplyResult, *wire.Error) {
	id := p.ID
	t, there, bad := h.reach(id, true)
	if bad != nil {
		return wire.InboxReplyResult{}, bad
	}
	p.ID = there
	result, bad := t.source.Answer(ctx, p, by)
	if bad != nil {
		return result, bad
	}
	return h.resultHere(t, id, result), nil
}

// Skip leaves a request of another machine to the agent's own prompt.
func (h *Hosts) Skip(ctx context.Context, id, by string) (wire.InboxReplyResult, *wire.Error) {
	t, there, bad := h.reach(id, true)
	if bad != nil {
		return wire.InboxReplyResult{}, bad
	}
	result, bad := t.source.Skip(ctx, there, by)
	if bad != nil {
		return result, bad
	}
	return h.resultHere(t, id, result), nil
}

// resultHere returns what became of an answer, as it is shown here.
func (h *Hosts) resultHere(t *tracked, id string, result wire.InboxReplyResult) wire.InboxReplyResult {
	link, name := t.source.Link(), t.source.Name()
	result.ID = id
	if result.Item == nil {
		return result
	}
	item := requestHere(name, &link, *result.Item)
	item.ID, result.Item = id, &item
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, waits := t.requests[id]; waits && result.Outcome == wire.ReplyDelivered {
		t.answered[id] = item
	}
	return result
}

// Send sends a text to a session of another machine.
func (h *Hosts) Send(ctx context.Context, p wire.SessionSendParams, by string) (wire.SessionSent, *wire.Error) {
	t, there, bad := h.reach(p.Session, true)
	if bad != nil {
		return wire.SessionSent{}, bad
	}
	p.Session = there
	sent, bad := t.source.Send(ctx, p, by)
	if bad != nil {
		return sent, bad
	}
	link, name := t.source.Link(), t.source.Name()
	sent.Session = sessionHere(name, &link, sent.Session)
	return sent, nil
}
