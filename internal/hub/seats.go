package hub

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/actions"
	"github.com/hookmux/hookmux/internal/authority/seat"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// seatsFile keeps the terminals that a person vouched for.
const seatsFile = "seats.json"

// openSeats prepares judging, asking and marking. It comes after the approvals,
// which know the PIN.
func (h *Hub) openSeats(o *Options) {
	var kept []seat.Enrolment
	if err := ledger.LoadSealed(h.deps.Dirs.State, seatsFile, &kept); err != nil {
		h.deps.Problems.Raise("seats", "enrolled terminals are not believed: "+err.Error(), "enrol them again with `hookmux seat add`")
		kept = nil
	}
	h.enrolled = seat.NewEnrolments(h.deps.Processes, kept, func(list []seat.Enrolment) error {
		return ledger.StoreSealed(h.deps.Dirs.State, seatsFile, list)
	})
	h.judge.Enrolled = h.enrolled.Enrolled
	h.keeper = &seat.Keeper{Judge: h.judge, Asker: o.Asker, PIN: h.approvals.PIN()}
	if source, ok := h.judge.Source.(*seat.Source); ok {
		if h.keeper.Asker == nil {
			h.keeper.Asker = seat.NewAsker(source)
		}
		h.callers.marker = seat.NewMarker(h.deps.Processes)
	}
}

// callJudged runs a method if the peer may, and asks the person at the terminal
// where that is needed.
func (h *Hub) callJudged(conn *net.UnixConn, reader *bufio.Reader, entry *connection, name string, params json.RawMessage, peer proc.Cred) (json.RawMessage, *wire.Error) {
	m, ok := h.rpc[name]
	if !ok {
		return nil, wire.Errorf(wire.CodeNoMethod, "there is no method %q; docs/protocol.md lists them", name)
	}
	action := h.actionOf(name, m.class, params)
	verdict := h.keeper.Look(peer, action)
	if verdict.Outcome == authority.NeedPIN && h.approvals.PIN().Set() {
		given, bad := h.checkGivenPIN(name, params, peer)
		if bad != nil {
			return nil, bad
		}
		if given {
			verdict.OK, verdict.Outcome = true, authority.Allowed
		}
	}
	if verdict.Outcome == authority.NeedPIN || verdict.Outcome == authority.NeedCode {
		entry.short.Store(false)
		ctx, cancel := context.WithCancel(h.ctx)
		stop := hangUp(conn, reader, cancel)
		verdict = h.keeper.Ask(ctx, peer, action, verdict)
		stop()
		cancel()
	}
	return h.runJudged(name, verdict, peer, func() (any, *wire.Error) { return m.run(params, peer) })
}

// checkGivenPIN takes a PIN that came with the call, as answers in the feed do:
// their programs ask for it themselves.
func (h *Hub) checkGivenPIN(name string, params json.RawMessage, peer proc.Cred) (given bool, bad *wire.Error) {
	if name != wire.MethodFeedReply {
		return false, nil
	}
	var p wire.FeedReplyParams
	_ = json.Unmarshal(params, &p) // the method says what is wrong with it
	if err := h.approvals.CheckPIN(p.ID, p.PIN, peer); err != nil {
		return false, wire.Errorf(wire.CodePIN, "%v", err)
	}
	return true, nil
}

// actionOf describes a call, with when the request came up that it answers.
func (h *Hub) actionOf(name string, class authority.Class, params json.RawMessage) authority.Action {
	action := actions.Describe(name, class, params)
	if id := actions.RequestOf(name, params); id != "" {
		action.Since = h.approvals.RequestTime(id)
	}
	return action
}

// seatMethods are about who sits where.
func (h *Hub) seatMethods() map[string]method {
	return map[string]method{
		wire.MethodSeat:       {authority.Read, h.doSeat},
		wire.MethodSeats:      {authority.Read, h.doSeats},
		wire.MethodSeatAdd:    {authority.Decide, h.doSeatAdd},
		wire.MethodSeatRemove: {authority.Decide, h.doSeatRemove},
	}
}

// doSeat tells a caller what the hub makes of it.
func (h *Hub) doSeat(_ json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	v := h.keeper.Look(peer, authority.Action{})
	return wire.SeatView{
		Outcome: v.Outcome.String(), Cause: v.Cause.String(), Reason: v.Reason, Seat: v.Seat.Kind.String(), TTY: v.TTY,
		Agent: v.Agent, Holder: v.Holder.PID,
	}, nil
}

func (h *Hub) doSeats(json.RawMessage, proc.Cred) (any, *wire.Error) {
	list := []wire.SeatInfo{}
	for _, one := range h.enrolled.List() {
		list = append(list, seatInfo(one))
	}
	return list, nil
}

func seatInfo(one seat.Enrolment) wire.SeatInfo {
	return wire.SeatInfo{PID: one.PID, Name: one.Name, Added: one.Added, From: one.From}
}

func (h *Hub) doSeatAdd(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.SeatParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	from := h.keeper.Look(peer, authority.Action{})
	one, err := h.enrolled.Add(p.PID, from.TTY)
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	return seatInfo(one), nil
}

func (h *Hub) doSeatRemove(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SeatParams
	if err := read(params, &p); err != nil {
		return nil, err
	}
	found, err := h.enrolled.Remove(p.PID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "it counts no more, but may come back when the hub restarts: %v", err)
	}
	if !found {
		return nil, wire.Errorf(wire.CodeParams, "process %d is not enrolled; `hookmux seat list` shows which are", p.PID)
	}
	return map[string]bool{"removed": true}, nil
}

// markCaller marks the agent behind a hook call, before the call is answered.
// viaHook says that our own client called: then even a program that nobody
// knows is marked.
func (c *callers) markCaller(found *authority.Caller, viaHook bool) {
	if c.marker == nil {
		return
	}
	if found.Agent != "" {
		c.marker.Mark(found.Agent, found.PID, found.Start)
		return
	}
	if p, ok := seat.UnknownCaller(&c.judge.Rules, c.judge.Table, found.Chain); ok && viaHook {
		c.marker.Mark("", p.PID, p.Start)
	}
}

// runsAsRoot says that agents of this user can do anything to the hub.
func runsAsRoot() bool { return os.Getuid() == 0 }
