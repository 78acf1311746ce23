package approvals

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Methods returns the methods of approvals. inbox.stream is not among them: it takes
// the connection over (see [Service.Stream]).
func (s *Service) Methods() map[string]services.Method {
	m := methods{s}
	permissions := permissionMethods{s.permissions, s.mayAnswer}
	away := &absence{Options: s.Options, flag: s.attendance.away, queue: s.queue, permissions: s.permissions,
		decisions: s.decisions}
	return map[string]services.Method{
		wire.MethodInboxItems:       {Run: m.listItems},
		wire.MethodInboxReply:       {RunAsking: m.replyMethod},
		wire.MethodInboxSkip:        {Run: m.skipRequest},
		wire.MethodPermissions:      {Run: permissions.list},
		wire.MethodPermissionRemove: {Run: permissions.revoke},
		wire.MethodAway:             {Run: away.goAway},
		wire.MethodBack:             {Run: away.comeBack},
		wire.MethodPIN:              {Run: s.proofs.changePIN},
	}
}

// Checks says what's wrong with an answer.
func (s *Service) Checks() map[string]services.Check {
	return map[string]services.Check{wire.MethodInboxReply: s.checkReply}
}

// checkReply returns what's wrong with an answer to a request of this machine that is still waiting.
func (s *Service) checkReply(params json.RawMessage) *wire.Error {
	var p wire.InboxReplyParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return bad
	}
	item, err := s.queue.Find(p.ID)
	if err != nil {
		return nil
	}
	r, waits := s.queue.Request(item.ID)
	if !waits {
		return nil
	}
	p.ID = item.ID
	_, _, bad := s.readReply(&r, &p)
	return bad
}

func (s methods) listItems(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.InboxListParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if p.ID == "" && p.Prompts {
		list := s.WaitingFor(peer)
		if p.All {
			isPending := func(item wire.InboxRequest) bool { return item.Status == wire.InboxPending }
			list = append(slices.DeleteFunc(itemsFor(s.Service, peer, true), isPending), list...)
		}
		return list, nil
	}
	if p.ID == "" {
		return itemsFor(s.Service, peer, p.All), nil
	}
	item, ok, bad := s.findElsewhere(p.ID)
	if bad != nil {
		return nil, bad
	}
	if !ok {
		item, ok = s.findPrompt(p.ID)
	}
	if !ok {
		var err error
		if item, err = s.queue.Find(p.ID); err != nil {
			return nil, wire.Errorf(wire.CodeGone, "%v", err)
		}
	}
	if !s.mayAnswer(peer) {
		item = withoutSecrets(item)
	}
	return []wire.InboxRequest{item}, nil
}

func (s methods) replyMethod(ask services.Asking, params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.InboxReplyParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	return s.Reply(ask, p, peer)
}

// skipRequest leaves a request to the agent's own prompt.
func (s methods) skipRequest(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.InboxIDParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if item, ok, bad := s.findElsewhere(p.ID); bad != nil {
		return nil, bad
	} else if ok {
		ctx, done := s.askElsewhere(nil)
		defer done()
		return answerOf(s.Elsewhere.Skip(ctx, item.ID, terminalName(s.Processes, peer)))
	}
	item, err := s.queue.Find(p.ID)
	var none *queue.NotFoundError
	switch {
	case errors.As(err, &none) && len(none.Like) > 0:
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	case err != nil:
		return wire.InboxReplyResult{ID: p.ID, Outcome: string(queue.Unknown), Why: err.Error()}, nil
	}
	end := queue.Skipped
	if r, ok := s.Request(item.ID); ok && r.ByHook { // the agent asks nothing there
		end = queue.LeftToHook
	}
	ended := s.queue.End(item.ID, end)
	item, _ = s.queue.Find(item.ID)
	if !ended {
		return tooLate(item), nil
	}
	return wire.InboxReplyResult{ID: item.ID, Outcome: string(queue.Delivered), By: terminalName(s.Processes, peer),
		Why: item.End, Item: &item}, nil
}

// answerOf returns what a method answers.
func answerOf[T any](result T, bad *wire.Error) (any, *wire.Error) {
	if bad != nil {
		return nil, bad
	}
	return result, nil
}

// permissionMethods show and revoke permissions.
type permissionMethods struct {
	permissions *ledger.Permissions
	mayAnswer   func(peer proc.Cred) bool
}

func (m permissionMethods) list(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	if err := services.ReadParams(params, &struct{}{}); err != nil {
		return nil, err
	}
	list, used := m.permissions.List(time.Now())
	out := []wire.PermissionInfo{}
	for _, g := range list {
		out = append(out, permissionInfo(g, used[g.ID]))
	}
	if !m.mayAnswer(peer) { // a rule may repeat a token
		for i := range out {
			out[i].Rule = redact.Text(out[i].Rule)
		}
	}
	return out, nil
}

func (m permissionMethods) revoke(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.InboxIDParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	gone, ok, err := m.permissions.Revoke(p.ID)
	if !ok {
		return nil, wire.Errorf(wire.CodeGone, "there's no permission %q; `hookmux permissions` lists them", p.ID)
	}
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"the permission is removed, but it may come back when the daemon restarts: %v", err)
	}
	return permissionInfo(gone, 0), nil
}
