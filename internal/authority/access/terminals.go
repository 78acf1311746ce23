// Package access decides whether a method may be called from where its caller sits: it
// joins the rules of authority with the PIN and the requests of approvals.
package access

import (
	"context"
	"encoding/json"

	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/actions"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// terminalsFile keeps the terminals that you trusted.
const terminalsFile = "trusted-terminals.json"

// Approvals is the part of approvals that trusted terminals need.
type Approvals interface {
	PIN() *ledger.PIN
	CheckPIN(id, pin string, peer proc.Cred) error
	// FindWaiting returns a request that waits, with a channel that is closed when it no longer
	// does; nil if that isn't known.
	FindWaiting(id string) (item wire.InboxRequest, over <-chan struct{}, ok bool)
}

// Service decides who may call which method, and asks the user at the terminal
// where that is needed. By its Evaluator it also evaluates by class alone.
type Service struct {
	*authority.Evaluator
	approvals Approvals
	keeper    *terminal.Keeper
	trusted   *terminal.TrustedTerminals
	// Weaker says what becomes weaker when changes of settings are accepted; nil: not
	// known.
	Weaker func() []string
	// GuardState is how a guard is switched, by its setting; nil: not known.
	GuardState func(key string) string
	// LogOnlyTSHooks are the TypeScript hooks that only logs; nil: not known.
	LogOnlyTSHooks func() []string
}

// New reads the trusted terminals. asker is nil on a real machine.
func New(deps services.Deps, evaluator *authority.Evaluator, asker terminal.Asker, approvals Approvals) *Service {
	var kept []terminal.TrustedTerminal
	if err := sealed.Load(deps.Dirs.State, terminalsFile, &kept); err != nil {
		deps.Problems.Raise("terminals", "the list of trusted terminals was changed by something else: "+err.Error(),
			"trust them again with `hookmux whoami add`")
		kept = nil
	}
	s := &Service{Evaluator: evaluator, approvals: approvals}
	s.trusted = terminal.NewTrustedTerminals(deps.Processes, kept, func(list []terminal.TrustedTerminal) error {
		return sealed.Store(deps.Dirs.State, terminalsFile, list)
	})
	evaluator.Trusts = s.trusted.Trusts
	if source, ok := evaluator.Source.(*terminal.Source); ok && asker == nil {
		asker = terminal.NewAsker(source)
	}
	s.keeper = &terminal.Keeper{Evaluator: evaluator, Asker: asker, PIN: approvals.PIN()}
	return s
}

// IsRealMachine reports whether the facts are this machine's, not a test's.
func (s *Service) IsRealMachine() bool {
	_, ok := s.Source.(*terminal.Source)
	return ok
}

// RunsAsRoot reports whether agents of this user can do anything to the daemon.
func (s *Service) RunsAsRoot() bool { return s.IsRealMachine() && s.UID == 0 }

// Decide evaluates an action, and asks the user if needed.
func (s *Service) Decide(ctx context.Context, peer proc.Cred, a authority.Action) authority.Verdict {
	return s.keeper.Decide(ctx, peer, a)
}

// EvaluateCall checks a call of a method that does not wait.
func (s *Service) EvaluateCall(name string, class authority.Class, params json.RawMessage,
	peer proc.Cred) (authority.Verdict, *wire.Error) {
	verdict := s.keeper.EvaluateSilently(peer, s.describeCall(name, class, params))
	if verdict.Outcome != authority.NeedPIN || !s.approvals.PIN().Set() {
		return verdict, nil
	}
	given, bad := s.checkGivenPIN(name, params, peer)
	if given {
		verdict.OK, verdict.Outcome = true, authority.Allowed
	}
	return verdict, bad
}

// AskUser asks the user at the terminal for a code or the PIN.
func (s *Service) AskUser(ctx context.Context, name string, class authority.Class, params json.RawMessage,
	peer proc.Cred, v authority.Verdict) authority.Verdict {
	if _, over, waits := s.approvals.FindWaiting(actions.RequestOf(name, params)); waits {
		asking, end := context.WithCancelCause(ctx)
		defer end(nil)
		go func() { // a question about what was answered elsewhere goes away
			select {
			case <-over:
				end(terminal.ErrAnswered)
			case <-asking.Done():
			}
		}()
		ctx = asking
	}
	return s.keeper.Ask(ctx, peer, s.describeCall(name, class, params), v)
}

// checkGivenPIN takes a PIN that came with the call, as answers in the inbox do:
// their programs ask for it themselves.
func (s *Service) checkGivenPIN(name string, params json.RawMessage, peer proc.Cred) (given bool, bad *wire.Error) {
	if name != wire.MethodInboxReply {
		return false, nil
	}
	var p wire.InboxReplyParams
	_ = json.Unmarshal(params, &p) // the method says what is wrong with it
	if err := s.approvals.CheckPIN(p.ID, p.PIN, peer); err != nil {
		return false, wire.Errorf(wire.CodePIN, "%v", err)
	}
	return true, nil
}

// describeCall describes a call, with when the request came up that it answers.
func (s *Service) describeCall(name string, class authority.Class, params json.RawMessage) authority.Action {
	action := actions.Describe(name, class, params)
	if name == wire.MethodConfigSet && s.GuardState != nil && actions.OnlyLogs(params, s.GuardState) {
		action.Weakens = false
	}
	if name == wire.MethodConfigSet && s.LogOnlyTSHooks != nil {
		action, _ = actions.DescribeSwitchedTSHooks(action, params, s.LogOnlyTSHooks())
	}
	if name == wire.MethodAccept && s.Weaker != nil {
		action.Why = actions.WhyAccepted(s.Weaker())
	}
	if item, _, waits := s.approvals.FindWaiting(actions.RequestOf(name, params)); waits {
		action.Since = item.CreatedAt
		action.Text = actions.DescribeAnswer(name, params, &item)
	}
	return action
}

// Methods are about who sits where.
func (s *Service) Methods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodWhoami:         {Run: s.showTerminal},
		wire.MethodTerminals:      {Run: s.listTerminals},
		wire.MethodTerminalAdd:    {Run: s.addTerminal},
		wire.MethodTerminalRemove: {Run: s.removeTerminal},
	}
}

// showTerminal returns what the daemon knows about the caller's terminal.
func (s *Service) showTerminal(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.TerminalLookParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	if p.Watch {
		s.keeper.WatchKeys(peer, p.Again)
		return wire.TerminalView{}, nil
	}
	v := s.keeper.EvaluateSilently(peer, authority.Action{})
	return wire.TerminalView{
		Outcome: v.Outcome.String(), Cause: v.Cause.String(), Reason: v.Reason(), Terminal: v.Terminal.Kind.String(),
		TTY: v.TTY, Agent: v.Agent, Holder: v.Holder.PID,
	}, nil
}

func (s *Service) listTerminals(json.RawMessage, proc.Cred) (any, *wire.Error) {
	list := []wire.TerminalInfo{}
	for _, one := range s.trusted.List() {
		list = append(list, terminalInfo(one))
	}
	return list, nil
}

func terminalInfo(one terminal.TrustedTerminal) wire.TerminalInfo {
	return wire.TerminalInfo{PID: one.PID, Name: one.Name, Added: one.Added, From: one.From}
}

func (s *Service) addTerminal(params json.RawMessage, peer proc.Cred) (any, *wire.Error) {
	var p wire.TerminalParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	from := s.keeper.EvaluateSilently(peer, authority.Action{})
	one, err := s.trusted.Add(p.PID, from.TTY)
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	return terminalInfo(one), nil
}

func (s *Service) removeTerminal(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.TerminalParams
	if err := services.ReadParams(params, &p); err != nil {
		return nil, err
	}
	found, err := s.trusted.Remove(p.PID)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal,
			"the terminal is no longer trusted, but it may be again when the daemon restarts: %v", err)
	}
	if !found {
		return nil, wire.Errorf(wire.CodeParams,
			"process %d is not trusted; `hookmux whoami list` shows which are", p.PID)
	}
	return map[string]bool{"removed": true}, nil
}
