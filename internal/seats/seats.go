// Package seats decides about calls of methods by where the caller sits: it
// joins the rules of authority with the PIN and the requests of approvals.
package seats

import (
	"context"
	"encoding/json"
	"time"

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

// Approvals is what seats need of approvals.
type Approvals interface {
	PIN() *ledger.PIN
	CheckPIN(id, pin string, peer proc.Cred) error
	// RequestTime is when a request came up.
	RequestTime(id string) time.Time
}

// Service judges who may call which method, and asks the person at the terminal
// where that is needed. By its Judge it also judges by class alone.
type Service struct {
	*authority.Judge
	approvals Approvals
	keeper    *seat.Keeper
	enrolled  *seat.Enrolments
	// GuardState is how a guard is switched, by its setting; nil: not known.
	GuardState func(key string) string
}

// New reads the enrolled terminals. asker is nil on a real machine.
func New(deps services.Deps, judge *authority.Judge, asker seat.Asker, approvals Approvals) *Service {
	var kept []seat.Enrolment
	if err := ledger.LoadSealed(deps.Dirs.State, seatsFile, &kept); err != nil {
		deps.Problems.Raise("seats", "enrolled terminals are not believed: "+err.Error(),
			"enrol them again with `hookmux seat add`")
		kept = nil
	}
	s := &Service{Judge: judge, approvals: approvals}
	s.enrolled = seat.NewEnrolments(deps.Processes, kept, func(list []seat.Enrolment) error {
		return ledger.StoreSealed(deps.Dirs.State, seatsFile, list)
	})
	judge.Enrolled = s.enrolled.Enrolled
	if source, ok := judge.Source.(*seat.Source); ok && asker == nil {
		asker = seat.NewAsker(source)
	}
	s.keeper = &seat.Keeper{Judge: judge, Asker: asker, PIN: approvals.PIN()}
	return s
}

// IsRealMachine reports whether the facts are this machine's, not a test's.
func (s *Service) IsRealMachine() bool {
	_, ok := s.Source.(*seat.Source)
	return ok
}

// RunsAsRoot reports whether agents of this user can do anything to the hub.
func (s *Service) RunsAsRoot() bool { return s.IsRealMachine() && s.UID == 0 }

// Decide judges an action of a person, and asks where that is needed.
func (s *Service) Decide(ctx context.Context, peer proc.Cred, a authority.Action) authority.Verdict {
	return s.keeper.Decide(ctx, peer, a)
}

// JudgeCall judges a call of a method that does not wait.
func (s *Service) JudgeCall(name string, class authority.Class, params json.RawMessage,
	peer proc.Cred) (authority.Verdict, *wire.Error) {
	verdict := s.keeper.JudgeSilently(peer, s.describeCall(name, class, params))
	if verdict.Outcome != authority.NeedPIN || !s.approvals.PIN().Set() {
		return verdict, nil
	}
	given, bad := s.checkGivenPIN(name, params, peer)
	if given {
		verdict.OK, verdict.Outcome = true, authority.Allowed
	}
	return verdict, bad
}

// AskPerson asks the person at the terminal for a code or the PIN.
func (s *Service) AskPerson(ctx context.Context, name string, class authority.Class, params json.RawMessage,
	peer proc.Cred, v authority.Verdict) authority.Verdict {
	return s.keeper.Ask(ctx, peer, s.describeCall(name, class, params), v)
}

// checkGivenPIN takes a PIN that came with the call, as answers in the feed do:
// their programs ask for it themselves.
func (s *Service) checkGivenPIN(name string, params json.RawMessage, peer proc.Cred) (given bool, bad *wire.Error) {
	if name != wire.MethodFeedReply {
		return false, nil
	}
	var p wire.FeedReplyParams
	_ = json.Unmarshal(params, &p) // the method says what is wrong with it
	if err := s.approvals.CheckPIN(p.ID, p.PIN, peer); err != nil {
		return false, wire.Errorf(wire.CodePIN, "%v", err)
	}
	return true, nil
}

// describeCall describes a call, with when the request came up that it answers.
func (s *Service) describeCall(name string, class authority.Class, params json.RawMessage) authority.Action {
	action := actions.Describe(name, class, params)
	if name == wire.MethodConfigSet && s.GuardState != nil && actions.OnlyMonitors(params, s.GuardState) {
		action.Weakens = false
	}
	if id := actions.RequestOf(name, params); id != "" {
		action.Since = s.approvals.RequestTime(id)
	}
	return action
}

// Methods are about who sits where.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodSeat:       {Run: s.showSeat},
		wire.MethodSeats:      {Run: s.listSeats},
		wire.MethodSeatAdd:    {Run: s.addSeat},
		wire.MethodSeatRemove: {Run: s.removeSeat},
	}
}

// showSeat tells a caller what the hub makes of it.
func (s *Service) showSeat(_ json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	v := s.keeper.JudgeSilently(peer, authority.Action{})
	return wire.SeatView{
		Outcome: v.Outcome.String(), Cause: v.Cause.String(), Reason: v.Reason(), Seat: v.Seat.Kind.String(),
		TTY: v.TTY, Agent: v.Agent, Holder: v.Holder.PID,
	}, nil
}

func (s *Service) listSeats(json.RawMessage, proc.Cred) (any, *wire.Error) {
	list := []wire.SeatInfo{}
	for _, one := range s.enrolled.List() {
		list = append(list, seatInfo(one))
	}
	return list, nil
}

func seatInfo(one seat.Enrolment) wire.SeatInfo {
	return wire.SeatInfo{PID: one.PID, Name: one.Name, Added: one.Added, From: one.From}
}

func (s *Service) addSeat(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.SeatParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	from := s.keeper.JudgeSilently(peer, authority.Action{})
	one, err := s.enrolled.Add(p.PID, from.TTY)
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	return seatInfo(one), nil
}

func (s *Service) removeSeat(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.SeatParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	found, err := s.enrolled.Remove(p.PID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"it no longer counts, but may come back when the hub restarts: %v", err)
	}
	if !found {
		return nil, wire.Errorf(wire.CodeParams,
			"process %d is not enrolled; `hookmux seat list` shows which are", p.PID)
	}
	return map[string]bool{"removed": true}, nil
}
