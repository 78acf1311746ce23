package selection

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

func (r *edits) budgetMethods() map[string]services.Method {
	return map[string]services.Method{
		wire.MethodBudgets:      {Run: r.listBudgets},
		wire.MethodBudgetAdd:    {Run: r.addBudget},
		wire.MethodBudgetRemove: {Run: r.removeBudget},
		wire.MethodBudgetLift:   {Run: r.liftBudget},
	}
}

// budgets returns those in force.
func (r *edits) budgets() []*budget.Budget {
	return budget.ParseAll(r.Config.Settings().Strings(config.UsageBudgets))
}

func (r *edits) listBudgets(json.RawMessage, proc.Cred) (any, *wire.Error) {
	list := []wire.Budget{}
	for _, b := range r.budgets() {
		list = append(list, r.budgetInfo(b))
	}
	return list, nil
}

func (r *edits) budgetInfo(b *budget.Budget) wire.Budget {
	info := wire.Budget{ID: b.ID(), Text: b.Text(), Project: b.Project, Problem: b.Broken, Lifted: r.lifts.IsLifted(b, time.Now())}
	if b.Broken != "" || b.Period == budget.Session || r.Spent == nil {
		return info
	}
	fill(&info, b, b.StateFor(context.Background(), b.Agent, "", r.Spent))
	return info
}

// fill says how far a budget is used up, where that's known.
func fill(info *wire.Budget, b *budget.Budget, state budget.State) {
	if info.Doubt = state.Spend.Doubt; !state.Known {
		return
	}
	percent := math.Round(state.Percent*100) / 100
	info.Percent = &percent
	if b.Dollars > 0 && state.Spend.Unpriced > 0 && info.Doubt == "" {
		info.Doubt = b.NoPriceWords(state)
	}
	if b.Period != budget.Window {
		dollars := wire.RoundUSD(state.Spend.Dollars)
		info.CostUSD, info.Tokens = &dollars, &state.Spend.Tokens
	}
}

// BudgetsFor returns the budgets that a session in a folder is checked by, and how far each is
// used up.
func (s *Service) BudgetsFor(agent, session, folder string) []wire.Budget {
	r := s.edits
	var list []wire.Budget
	for _, b := range r.budgets() {
		if !b.Covers(&event.Event{Agent: agent, Session: session, Cwd: folder}) {
			continue
		}
		info := wire.Budget{ID: b.ID(), Text: b.Text(), Project: b.Project, Problem: b.Broken, Lifted: r.lifts.IsLifted(b, time.Now())}
		if b.Period == budget.Session {
			info.Session = session
		}
		if b.Broken == "" && r.Spent != nil {
			fill(&info, b, b.StateFor(context.Background(), agent, session, r.Spent))
		}
		list = append(list, info)
	}
	return list
}

// NoteBudgets calls notify for each budget that has reached a level and wasn't notified
// before, for the sessions that are at work. What wasn't used up is unknown, not reached.
func (s *Service) NoteBudgets(sessions []wire.Session, notify func(b *budget.Budget, level budget.Level, words string) bool) {
	note := func(b *budget.Budget, agent, session string) {
		state := b.StateFor(context.Background(), agent, session, s.Spent)
		if !state.Known {
			return
		}
		s.warnings.Note(b, agent, session, state.Percent, func(level budget.Level) bool {
			return level == budget.Blocks && s.lifts.IsLifted(b, time.Now()) || notify(b, level, b.Words(state))
		})
	}
	for _, b := range s.edits.budgets() {
		switch {
		case b.Broken != "":
		case b.Period == budget.Day || b.Period == budget.Window && b.Agent != "":
			note(b, b.Agent, "")
		default: // for each session, or for each agent's plan
			for i := range sessions {
				one := &sessions[i]
				if !b.Covers(&event.Event{Agent: one.Agent, Session: one.ID, Cwd: one.Cwd}) {
					continue
				}
				if b.Period == budget.Session {
					note(b, one.Agent, one.ID)
				} else {
					note(b, one.Agent, "")
				}
			}
		}
	}
}

func (r *edits) addBudget(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.BudgetParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	b, err := budget.Parse(p.Budget)
	if err != nil {
		return nil, wire.Errorf(wire.CodeParams, "%v", err)
	}
	if b.Agent != "" {
		if b.Agent = r.AgentName(b.Agent); b.Agent == "" {
			return nil, wire.Errorf(wire.CodeParams, "there's no agent like that; `hookmux agents list` lists them")
		}
	}
	all := r.Config.Settings().Strings(config.UsageBudgets)
	if slices.ContainsFunc(r.budgets(), func(other *budget.Budget) bool { return other.ID() == b.ID() }) {
		return nil, wire.Errorf(wire.CodeConflict, "there's already a budget %s; remove it first", b.ID())
	}
	if bad := r.setBudgets(append(slices.Clone(all), b.String())); bad != nil {
		return nil, bad
	}
	b, _ = budget.Parse(b.String())
	return r.budgetInfo(b), nil
}

func (r *edits) setBudgets(list []string) *wire.Error {
	value, _ := json.Marshal(list)
	if len(list) == 0 {
		value = nil
	}
	if err := r.setConfig(config.User, "", config.UsageBudgets, value); err != nil {
		return wire.Errorf(wire.CodeInternal, "%v", err)
	}
	r.SettingsChanged()
	return nil
}

// findBudget returns the budget that params name.
func (r *edits) findBudget(params json.RawMessage) (*budget.Budget, *wire.Error) {
	var p wire.BudgetParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	for _, b := range r.budgets() {
		if b.ID() == p.Budget || b.Text() == p.Budget {
			return b, nil
		}
	}
	return nil, wire.Errorf(wire.CodeGone, "there's no budget %q; `hookmux usage budget list` lists them", p.Budget)
}

func (r *edits) removeBudget(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	b, bad := r.findBudget(params)
	if bad != nil {
		return nil, bad
	}
	all := r.Config.Settings().Strings(config.UsageBudgets)
	if bad := r.setBudgets(slices.DeleteFunc(slices.Clone(all), func(one string) bool { return one == b.Text() })); bad != nil {
		return nil, bad
	}
	return wire.Budget{ID: b.ID(), Text: b.Text()}, nil
}

func (r *edits) liftBudget(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	b, bad := r.findBudget(params)
	if bad != nil {
		return nil, bad
	}
	r.lifts.Lift(b, time.Now())
	return r.budgetInfo(b), nil
}
