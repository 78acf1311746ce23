package guards

import (
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/guardtest"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// Call is a tool call, in unified words.
type Call = facts.Call

// Guard asks some guards, wherever a call happens.
type Guard struct {
	Name    string
	options Options
	byHome  map[string]*Engine
}

// NewGuard switches one guard on, or all of them for "".
func NewGuard(name string, opt Options) *Guard {
	if opt.Modes = AllOn(); name != "" {
		opt.Modes = map[string]rules.Mode{name: rules.Block}
	}
	return &Guard{name, opt, map[string]*Engine{}}
}

// NewDestructive, NewSecrets and NewOwnFiles switch one guard on.
func NewDestructive(opt Options) *Guard { return NewGuard(names.Destructive, opt) }

// NewSecrets makes the secrets guard.
func NewSecrets(opt Options) *Guard { return NewGuard(names.Secrets, opt) }

// NewOwnFiles makes the own-files guard.
func NewOwnFiles(opt Options) *Guard { return NewGuard(names.OwnFiles, opt) }

func (g *Guard) engine(home string) *Engine {
	if e := g.byHome[home]; e != nil {
		return e
	}
	o := g.options
	o.Home = home
	e, err := New(o)
	if err != nil {
		panic(err)
	}
	g.byHome[home] = e
	return e
}

// Check returns what the guard says about a call.
func (g *Guard) Check(call Call) []Finding {
	return g.engine(call.Home).Check(guardtest.EventOf(&call), call.Project)
}

// CheckEvent returns what the guard says about an event of a home.
func (g *Guard) CheckEvent(ev *event.Event, project, home string) []Finding {
	return g.engine(home).Check(ev, project)
}
