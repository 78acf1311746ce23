package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/hookmux/hookmux/internal/fleet/protocol"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// handleJoin lets a machine in that has a code. It handles one at a time.
func (h *exchange) handleJoin(msg *nats.Msg) {
	var in protocol.JoinRequest
	reply := func(a protocol.JoinAnswer) {
		if strings.HasPrefix(msg.Reply, protocol.Inbox("join_")) {
			b, _ := json.Marshal(a) // strings
			_ = h.conn.Publish(msg.Reply, b)
		}
	}
	if json.Unmarshal(msg.Data, &in) != nil {
		reply(protocol.JoinAnswer{Error: "the question can't be read"})
		return
	}
	if err := in.Check("this machine"); err != nil {
		reply(protocol.JoinAnswer{Error: "the fleet's server says: " + err.Error()})
		return
	}
	now := h.server.o.Now()
	one, ok := h.server.roster.invited(in.Secret, true, now)
	if !ok {
		reply(protocol.JoinAnswer{Error: "the code was used already, or is too old; ask for another: `hookmux fleet invite`"})
		return
	}
	m, err := h.server.roster.add(in.Key, in.Name, one.role, one.by, now)
	if err == nil {
		err = h.admit(m)
	}
	if err != nil {
		reply(protocol.JoinAnswer{Error: err.Error()})
		return
	}
	h.server.log.Info("joined", "member", m.ID, "name", m.Name, "role", m.Role, "by", m.By)
	reply(protocol.JoinAnswer{Record: m.Signed, Fleet: h.server.roster.fleet})
}

// mistakeError is why a member can't have what it may ask for: unlike everything else that is
// rejected, it isn't blamed on the member.
type mistakeError struct{ error }

func mistake(format string, args ...any) error { return &mistakeError{fmt.Errorf(format, args...)} }

var errOperatorsOnly = errors.New("only operators of the fleet can do that; `hookmux fleet list` shows them")

// handleAsk answers a member's request.
func (h *exchange) handleAsk(m *heard, msg *nats.Msg) {
	now := h.server.o.Now()
	h.mu.Lock()
	allowed := m.asked.take(1, asksLimit, now)
	h.mu.Unlock()
	var ask protocol.Ask
	switch {
	case !allowed:
		h.refuse(m, msg, errFlood)
		return
	case json.Unmarshal(msg.Data, &ask) != nil:
		h.refuse(m, msg, errors.New("a question that can't be read"))
		return
	}
	if err := ask.Check(m.name); err != nil {
		h.refuse(m, msg, fmt.Errorf("the fleet's server says: %w", err))
		return
	}
	record := h.server.roster.get(m.id)
	if record == nil {
		return // it was removed just now
	}
	told, err := h.tellAsked(m, record, &ask)
	if mistake := (*mistakeError)(nil); errors.As(err, &mistake) {
		h.answer(m.id, msg, protocol.Told{Error: err.Error()})
		return
	}
	if err != nil {
		h.refuse(m, msg, err)
		return
	}
	told.Fleet = h.server.roster.fleet
	h.answer(m.id, msg, told)
	if ask.What == protocol.AskRemove { // after the answer, which may be for the one who goes
		if gone, err := h.server.roster.find(ask.Member); err == nil {
			if err := h.server.roster.remove(gone.ID); err != nil {
				h.server.log.Error("the roster can't be written", "error", err)
			}
			_ = h.conn.Flush() // the answer goes out first
			h.dismiss(gone.ID)
			h.server.log.Info("removed", "member", gone.ID, "name", gone.Name, "by", m.name)
		}
	}
}

func (h *exchange) tellAsked(m *heard, record *member, ask *protocol.Ask) (told protocol.Told, err error) {
	switch ask.What {
	case protocol.AskHello:
		h.mu.Lock()
		m.instance = ask.Instance
		h.mu.Unlock()
		told.Record, told.Newest, told.Attended = &record.Signed, h.policy.newest(), h.attended.Load()
	case protocol.AskPolicy:
		told.Policy, told.Newest = h.policy.newerThan(ask.Have), h.policy.newest()
	case protocol.AskPush:
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		return told, h.pushPolicy(ctx, record, ask.Policy)
	case protocol.AskList:
		told.Members = h.list(record)
	case protocol.AskHosts:
		if !protocol.SeesOthers(record.Role) {
			return told, errors.New("only operators and readers see other machines")
		}
		told.Hosts, told.More = h.hostsAfter(ask.Member)
	case protocol.AskInvite:
		if record.Role != protocol.RoleOperator {
			return told, errOperatorsOnly
		}
		role := ask.Role
		if role == "" {
			role = protocol.RoleMember
		}
		if !slices.Contains(protocol.Roles, role) {
			return told, mistake("%q isn't a role; use %s", role, strings.Join(protocol.Roles, ", "))
		}
		secret, err := h.server.roster.invite(role, m.name, h.server.o.Now())
		if err != nil {
			return told, &mistakeError{err}
		}
		told.Code = protocol.Code{Servers: h.server.Servers(), Pin: h.server.pin, Secret: secret}.String()
	case protocol.AskRemove:
		gone, err := h.server.roster.find(ask.Member)
		switch {
		case err != nil:
			return told, err
		case gone.ID != record.ID && record.Role != protocol.RoleOperator:
			return told, errOperatorsOnly
		case gone.Role == protocol.RoleOperator && h.operators() == 1 && len(h.server.roster.all()) > 1:
			return told, mistake("%s is the fleet's only operator; invite another one first: `hookmux fleet invite --role operator`", gone.Name)
		}
	case protocol.AskLog:
		if !protocol.SeesOthers(record.Role) {
			return told, errors.New("only operators and readers see the fleet's log")
		}
		id := ""
		if ask.Member != "" {
			of, err := h.server.roster.find(ask.Member)
			if err != nil {
				return told, err
			}
			id = of.ID
		}
		var filter journal.Filter
		if ask.Filter != nil {
			filter = *ask.Filter
		}
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		told.Events, told.More, err = h.central.log(ctx, id, filter)
		return told, err
	default:
		return told, fmt.Errorf("%.40q isn't a question", ask.What)
	}
	return told, nil
}

func (h *exchange) operators() (n int) {
	for _, m := range h.server.roster.all() {
		if m.Role == protocol.RoleOperator {
			n++
		}
	}
	return n
}

// list lists the machines that a member may know about: all, or itself and the operators.
func (h *exchange) list(by *member) []protocol.Member {
	all := h.server.roster.all()
	h.mu.Lock()
	defer h.mu.Unlock()
	list := make([]protocol.Member, 0, len(all))
	for _, r := range all {
		if r.ID != by.ID && r.Role != protocol.RoleOperator && !protocol.SeesOthers(by.Role) {
			continue
		}
		one := protocol.Member{ID: r.ID, Name: r.Name, Role: r.Role, Joined: r.Joined, By: r.By}
		if m := h.members[r.ID]; m != nil {
			one.Seen, one.Online, one.Events, one.Refused, one.Why = m.seen, !m.host.Lost, m.events, m.refused, m.why
			if s := m.host.State; s != nil {
				one.Version, one.Backlog, one.Policy = s.Version, s.Backlog, s.Policy
			}
		}
		list = append(list, one)
	}
	return list
}

// hostsAfter returns the machines whose ids come after one, as many as fit in a message.
func (h *exchange) hostsAfter(id string) (list []protocol.Host, more bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	size := 0
	for _, one := range sortedKeys(h.members) {
		if one <= id {
			continue
		}
		m := h.members[one]
		if size += len(m.raw) + 256; size > protocol.MaxMessage/2 && len(list) > 0 {
			return list, true
		}
		list = append(list, m.host)
	}
	return list, false
}
