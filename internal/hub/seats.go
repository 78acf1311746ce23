package hub

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/actions"
	"github.com/hookmux/hookmux/internal/authority/seat"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
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
		h.callers.SetMarker(seat.NewMarker(h.deps.Processes))
	}
}

// callJudge judges who may call which method, and asks the person at the
// terminal where that is needed.
type callJudge struct {
	*authority.Judge
	h *Hub
}

// JudgeCall judges a call of a method that does not wait.
func (j callJudge) JudgeCall(name string, class authority.Class, params json.RawMessage, peer proc.Cred) (authority.Verdict, *wire.Error) {
	verdict := j.h.keeper.Look(peer, j.h.actionOf(name, class, params))
	if verdict.Outcome != authority.NeedPIN || !j.h.approvals.PIN().Set() {
		return verdict, nil
	}
	given, bad := j.h.checkGivenPIN(name, params, peer)
	if given {
		verdict.OK, verdict.Outcome = true, authority.Allowed
	}
	return verdict, bad
}

// AskPerson asks the person at the terminal for a code or the PIN.
func (j callJudge) AskPerson(ctx context.Context, name string, class authority.Class, params json.RawMessage, peer proc.Cred, v authority.Verdict) authority.Verdict {
	return j.h.keeper.Ask(ctx, peer, j.h.actionOf(name, class, params), v)
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
func (h *Hub) seatMethods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodSeat:       services.Read(h.doSeat),
		wire.MethodSeats:      services.Read(h.doSeats),
		wire.MethodSeatAdd:    services.Decide(h.doSeatAdd),
		wire.MethodSeatRemove: services.Decide(h.doSeatRemove),
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
	if err := services.ReadParams(params, &p); err != nil {
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
	if err := services.ReadParams(params, &p); err != nil {
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

// runsAsRoot says that agents of this user can do anything to the hub.
func (h *Hub) runsAsRoot() bool {
	_, real := h.judge.Source.(*seat.Source)
	return real && h.judge.UID == 0
}
