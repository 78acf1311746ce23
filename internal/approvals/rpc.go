package hub

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

// feedMethods are the methods of the feed. feed.stream is not among them: it
// takes the connection over; and feed.push may take long.
func (h *Hub) feedMethods() map[string]method {
	return map[string]method{
		wire.MethodFeedItems:    {authority.Read, h.doFeedItems},
		wire.MethodFeedReply:    {authority.Decide, h.doFeedReply},
		wire.MethodFeedRelease:  {authority.Decide, h.doFeedRelease},
		wire.MethodGrants:       {authority.Read, h.doGrants},
		wire.MethodGrantRevoke:  {authority.Decide, h.doGrantRevoke},
		wire.MethodAway:         {authority.Decide, h.doAway},
		wire.MethodBack:         {authority.Decide, h.doBack},
		wire.MethodPIN:          {authority.Decide, h.doPIN},
		wire.MethodFeedList:     {authority.Read, h.doFeedList},
		wire.MethodFeedPermit:   {authority.Decide, h.doFeedPermit},
		wire.MethodFeedQuestion: {authority.Decide, h.doFeedQuestion},
		wire.MethodFeedPlan:     {authority.Decide, h.doFeedPlan},
		wire.MethodFeedJump:     {authority.Read, h.doFeedJump},
	}
}

func (h *Hub) doFeedItems(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.FeedListParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if p.ID == "" {
		return h.itemsFor(peer, p.All), nil
	}
	item, err := h.desk.table.Find(p.ID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeGone, "%v", err)
	}
	if !h.mayAnswer(peer) {
		item = withoutSecrets(item)
	}
	return []wire.FeedItem{item}, nil
}

// mayAnswer reports whether the peer is somebody who could answer: a person
// sees everything they decide about; anybody else gets what the journal gets.
func (h *Hub) mayAnswer(peer proc.Cred) bool { return h.judge.May(authority.Decide, peer, nil).OK }

func (h *Hub) itemsFor(peer proc.Cred, all bool) []wire.FeedItem {
	items := h.desk.table.Items(all)
	if !h.mayAnswer(peer) {
		for i := range items {
			items[i] = withoutSecrets(items[i])
		}
	}
	return items
}

// withoutSecrets is a request as those see it who cannot answer it.
func withoutSecrets(item wire.FeedItem) wire.FeedItem {
	item.Shown, item.Plan, item.Why, item.Rule = redact.Text(item.Shown), redact.Text(item.Plan), redact.Text(item.Why), redact.Text(item.Rule)
	if len(item.Input) > 0 {
		item.Input, _ = redact.AppendJSON(nil, item.Input, redact.Limits{})
	}
	suggestions := make([]json.RawMessage, 0, len(item.Suggestions))
	for _, s := range item.Suggestions {
		clean, _ := redact.AppendJSON(nil, s, redact.Limits{})
		suggestions = append(suggestions, clean)
	}
	item.Suggestions = suggestions
	item.NoRule, item.Note = redact.Text(item.NoRule), redact.Text(item.Note)
	item.Questions = slices.Clone(item.Questions)
	for i := range item.Questions {
		q := &item.Questions[i]
		q.Text, q.Header, q.Options = redact.Text(q.Text), redact.Text(q.Header), slices.Clone(q.Options)
		for n := range q.Options {
			o := &q.Options[n]
			o.Label, o.Description, o.Value = redact.Text(o.Label), redact.Text(o.Description), redact.Text(o.Value)
		}
	}
	if d := item.Decision; d != nil {
		clean := *d
		clean.Reason, clean.Note, clean.Feedback, clean.Answers = redact.Text(d.Reason), redact.Text(d.Note), redact.Text(d.Feedback), nil
		item.Decision = &clean
	}
	return item
}

// doFeedRelease leaves a request to the agent's own prompt.
func (h *Hub) doFeedRelease(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.FeedIDParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	item, err := h.desk.table.Find(p.ID)
	var none *queue.NotFoundError
	switch {
	case errors.As(err, &none) && len(none.Like) > 0:
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	case err != nil:
		return wire.FeedReplyResult{ID: p.ID, Outcome: string(queue.Unknown), Why: err.Error()}, nil
	}
	ended := h.desk.table.End(item.ID, queue.Released)
	item, _ = h.desk.table.Find(item.ID)
	if !ended {
		return tooLate(item), nil
	}
	return wire.FeedReplyResult{ID: item.ID, Outcome: string(queue.Delivered), By: h.who(peer), Why: item.End, Item: &item}, nil
}

func (h *Hub) doGrants(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	if err := read(params, &struct{}{}); err != nil {
		return nil, err
	}
	list, used := h.desk.grants.List(time.Now())
	out := []wire.GrantInfo{}
	for _, g := range list {
		out = append(out, grantInfo(g, used[g.ID]))
	}
	if !h.mayAnswer(peer) { // a rule may repeat a token
		for i := range out {
			out[i].Rule = redact.Text(out[i].Rule)
		}
	}
	return out, nil
}

func (h *Hub) doGrantRevoke(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FeedIDParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	gone, ok, err := h.desk.grants.Revoke(p.ID)
	if !ok {
		return nil, wire.Errorf(wire.CodeGone, "there is no grant %q; `hookmux allow list` shows them", p.ID)
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "the grant counts no more, but it may come back when the hub restarts: %v", err)
	}
	return grantInfo(gone, 0), nil
}

// pinSetting says whether approvals ask for a PIN.
func (h *Hub) pinSetting(s wire.Setting) wire.Setting {
	word := "off"
	if h.desk.pin.Set() {
		word = "on"
		s.Default, s.Origin = false, "user"
	}
	s.Value, _ = json.Marshal(word)
	return s
}

func (h *Hub) doPIN(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.PINParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	if err := h.desk.pin.Change(p.PIN, p.New); err != nil {
		var pin *ledger.PINError
		if errors.As(err, &pin) {
			if p.PIN != "" {
				h.noteWrongPIN("a change of the PIN", peer, err)
			}
			return nil, wire.Errorf(wire.CodePIN, "%v", err)
		}
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	return map[string]bool{"set": h.desk.pin.Set()}, nil
}

// serveFeedStream sends what waits, then every change, until the peer hangs
// up. While somebody who may answer listens, requests are held for them.
func (h *Hub) serveFeedStream(conn *net.UnixConn, id json.RawMessage, peer proc.Cred) {
	ctx, cancel := context.WithCancel(h.ctx)
	defer cancel()
	stop := watchGone(conn, cancel)
	defer stop()
	send := func(b []byte) bool {
		_ = conn.SetWriteDeadline(time.Now().Add(streamWrite))
		_, err := conn.Write(b)
		return err == nil
	}
	verdict := h.judge.May(authority.Decide, peer, nil)
	attached, lags := verdict.OK, false
	ready := wire.FeedReady{Away: h.desk.away.Load() != nil, Attached: attached}
	if !attached {
		ready.Why = verdict.Reason
	} else {
		h.desk.surfaces.Add(1)
		defer h.desk.left()
		end := h.desk.watchers.begin(peer)
		defer func() { end(lags) }()
	}
	items, next := h.desk.table.Watch()
	result, _ := json.Marshal(map[string]bool{"ok": true, "attached": attached})
	out, _ := wire.Line(nil, wire.Response{Version: "2.0", ID: id, Result: result})
	for i := range items {
		if !attached {
			items[i] = withoutSecrets(items[i])
		}
		out = append(out, queue.NoteLine(wire.NoteFeedReceived, items[i])...)
	}
	out = append(out, queue.NoteLine(wire.NoteFeedReady, ready)...)
	for send(out) {
		changes, after, wake, ok := h.desk.table.Next(next)
		if lags = !ok; lags {
			return // it lags too far behind; it comes back and begins anew
		}
		next = after
		if len(changes) > 0 {
			out = out[:0]
			for _, c := range changes {
				if attached {
					out = append(out, c.Line()...)
				} else {
					out = append(out, queue.NoteLine(c.Note, withoutSecrets(c.Item))...)
				}
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		out = out[:0]
	}
}
