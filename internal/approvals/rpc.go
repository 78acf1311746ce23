package approvals

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods are the methods of approvals. feed.stream is not among them: it takes
// the connection over (see [Service.Stream]).
func (s *Service) Methods() map[string]services.Method {
	m := methods{s}
	grants := grantMethods{s.grants, s.mayAnswer}
	away := &absence{Options: s.Options, flag: s.attendance.away, queue: s.queue, grants: s.grants,
		decisions: s.decisions}
	return map[string]services.Method{
		wire.MethodFeedItems:   {Run: m.listItems},
		wire.MethodFeedReply:   {RunAsking: m.replyMethod},
		wire.MethodFeedRelease: {Run: m.releaseRequest},
		wire.MethodGrants:      {Run: grants.list},
		wire.MethodGrantRevoke: {Run: grants.revoke},
		wire.MethodAway:        {Run: away.goAway},
		wire.MethodBack:        {Run: away.comeBack},
		wire.MethodPIN:         {Run: s.proofs.changePIN},
	}
}

func (s methods) listItems(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.FeedListParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if p.ID == "" && p.Windows {
		list := s.WaitingFor(peer)
		if p.All {
			isPending := func(item wire.FeedItem) bool { return item.Status == wire.FeedPending }
			list = append(slices.DeleteFunc(itemsFor(s.Service, peer, true), isPending), list...)
		}
		return list, nil
	}
	if p.ID == "" {
		return itemsFor(s.Service, peer, p.All), nil
	}
	item, err := s.queue.Find(p.ID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeGone, "%v", err)
	}
	if !s.mayAnswer(peer) {
		item = withoutSecrets(item)
	}
	return []wire.FeedItem{item}, nil
}

func (s methods) replyMethod(ask services.Asking, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.FeedReplyParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	return s.Reply(ask, p, peer)
}

// releaseRequest leaves a request to the agent's own prompt.
func (s methods) releaseRequest(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.FeedIDParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	item, err := s.queue.Find(p.ID)
	var none *queue.NotFoundError
	switch {
	case errors.As(err, &none) && len(none.Like) > 0:
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	case err != nil:
		return wire.FeedReplyResult{ID: p.ID, Outcome: string(queue.Unknown), Why: err.Error()}, nil
	}
	end := queue.Released
	if r, ok := s.Request(item.ID); ok && r.ByHook { // the agent asks nothing there
		end = queue.LeftToHook
	}
	ended := s.queue.End(item.ID, end)
	item, _ = s.queue.Find(item.ID)
	if !ended {
		return tooLate(item), nil
	}
	return wire.FeedReplyResult{ID: item.ID, Outcome: string(queue.Delivered), By: seatName(s.Processes, peer),
		Why: item.End, Item: &item}, nil
}

// grantMethods show and revoke grants.
type grantMethods struct {
	grants    *ledger.Grants
	mayAnswer func(peer proc.Cred) bool
}

func (m grantMethods) list(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	if err := services.ReadParams(params, &struct{}{}); err != nil {
		return nil, err
	}
	list, used := m.grants.List(time.Now())
	out := []wire.GrantInfo{}
	for _, g := range list {
		out = append(out, grantInfo(g, used[g.ID]))
	}
	if !m.mayAnswer(peer) { // a rule may repeat a token
		for i := range out {
			out[i].Rule = redact.Text(out[i].Rule)
		}
	}
	return out, nil
}

func (m grantMethods) revoke(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.FeedIDParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	gone, ok, err := m.grants.Revoke(p.ID)
	if !ok {
		return nil, wire.Errorf(wire.CodeGone, "there is no grant %q; `hookmux allow list` shows them", p.ID)
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"the grant no longer counts, but it may come back when the hub restarts: %v", err)
	}
	return grantInfo(gone, 0), nil
}
