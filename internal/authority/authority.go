// Package authority distinguishes you at a trusted terminal from an agent that would like to
// be you.
//
// The daemon asks it before every method: reporting and reading are open to the daemon's own
// user; deciding (replies, permissions, trust, config, stop, install) only to someone who
// sits at a terminal. The rules, in order:
//
//  1. Nothing on the way is an agent, carries an agent's variables or mark,
//     was started by a timer or by the daemon itself.
//  2. The caller has a terminal and is in its foreground.
//  3. The terminal leads to a trusted terminal: a console, a login by a daemon of root's,
//     the edge of a container, a display with a keyboard; through script, sudo and attached
//     tmux clients. A terminal that nothing is known about needs a PIN, or your trust.
//  4. The caller is hookmux itself, run by the interactive shell of that terminal, which is
//     older than the request: no script, Makefile or other program is in between. Those may
//     only make hookmux stricter.
//  5. A key was pressed there when the caller began; in tmux, where any program can press
//     keys in a pane, after it began. No agent at that terminal could have typed it.
//  6. What takes protection away is asked for in any case.
//
// If 4, 5 or 6 doesn't hold, the daemon shows a code at that trusted terminal and you type
// it.
//
// Contract: pure rules over [Facts] and over marks that the caller takes from the catalogue;
// no agent is named here. Doubt is never a yes. A process may choose its own name, so a name
// alone can accuse a process but never make it trusted. docs/security.md says what a program
// of the same user can still do.
package authority

import (
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// Class says what a method of the daemon demands of its caller.
type Class = wire.Class

// The classes of [wire.Methods].
const (
	Decide = wire.Decide
	Read   = wire.Read
	Report = wire.Report
)

// Evaluator applies the rules to a machine. One value may serve all connections at
// once.
type Evaluator struct {
	Rules
	// Table is where processes are looked up.
	Table proc.Table
	// Source reads the other facts. Nil: only Table is known, so no caller is trusted.
	Source Source
	// Now is the clock; nil means time.Now.
	Now func() time.Time

	matches *rememberedMatches // nil: every process is compared anew
}

// maxChain bounds the walk for a decision. Nesting deeper than this to hide
// an agent also hides the terminal above it.
const maxChain = 128

// May evaluates a call of a class.
func (j *Evaluator) May(class Class, peer proc.Cred, peerEnv func() []string) Verdict {
	return j.Evaluate(peer, Action{Class: class}, peerEnv)
}

// Evaluate decides whether peer may do a.
func (j *Evaluator) Evaluate(peer proc.Cred, a Action, peerEnv func() []string) Verdict {
	v, _ := j.Explain(peer, a, peerEnv)
	return v
}

// Explain gives the facts that the evaluation rests on, too.
func (j *Evaluator) Explain(peer proc.Cred, a Action, peerEnv func() []string) (Verdict, *Facts) {
	f := j.newFacts()
	return j.Rules.Evaluate(f, peer, a, peerEnv), f
}

// newFacts returns the facts of this moment, of which none is looked up yet.
func (j *Evaluator) newFacts() *Facts {
	now := time.Now
	if j.Now != nil {
		now = j.Now
	}
	source := j.Source
	if source == nil {
		source = tableOnly{j.Table}
	}
	return NewFacts(source, now())
}

// Accused reports whether an agent is behind a caller: by a process above it, by variables
// or by the mark. What the daemon itself started, for a hook, is the user's own program, and
// so is what a timer starts without any of these. A caller that can't be seen is accused.
func (j *Evaluator) Accused(peer proc.Cred) (agent Caller, accused bool) {
	if peer.PID == j.DaemonPID { // the program that runs this daemon reads its own daemon
		return Caller{}, false
	}
	f := j.newFacts()
	chain := f.chain(peer.PID)
	if len(chain) == 0 || len(chain) == maxChain || peer.At != 0 && chain[0].Start > peer.At {
		return Caller{}, true
	}
	base := f.lockLimit()
	for _, p := range chain {
		if p.PID == j.DaemonPID {
			return Caller{}, false
		}
		if name := j.Agents.matchProcess(p, ""); name != "" {
			return Caller{Agent: name, PID: p.PID, Start: p.Start, Began: p.StartTime, TTY: p.TTY}, true
		}
		if name, _ := j.Agents.inEnviron(p.Env); name != "" || p.FileLocks < base {
			accused = true // which process it is may stand further up
		}
	}
	return Caller{}, accused
}

// tableOnly knows processes and nothing else.
type tableOnly struct{ proc.Table }

func (tableOnly) FileLocks(int) (uint64, error)         { return Unlimited, ErrUnknown }
func (tableOnly) HoldsMaster(int, string) (bool, error) { return false, ErrUnknown }
func (tableOnly) Terminal(string) (Terminal, error)     { return Terminal{}, ErrUnknown }
func (tableOnly) Tmux(proc.Process) (Tmux, error)       { return Tmux{}, ErrUnknown }
func (tableOnly) Connected(int, int) (bool, error)      { return false, ErrUnknown }
func (tableOnly) Clients(proc.Process) ([]int, error)   { return nil, ErrUnknown }
func (tableOnly) Display(int) (Display, error)          { return Display{}, ErrUnknown }
func (tableOnly) Logins() ([]Login, error)              { return nil, ErrUnknown }
func (tableOnly) LocalCallers() ([]int, error)          { return nil, ErrUnknown }
func (tableOnly) Relays(int) (bool, error)              { return false, ErrUnknown }
func (tableOnly) Stdin(int) (string, error)             { return "", ErrUnknown }
func (tableOnly) Typists(string) ([]int, error)         { return nil, ErrUnknown }
func (tableOnly) AgentSeen(string) (time.Time, error)   { return time.Time{}, ErrUnknown }
func (tableOnly) RanBefore(int) (bool, error)           { return true, ErrUnknown }

// printableName makes a name that a process chose for itself safe to print.
func printableName(name string) string {
	if name == "" {
		return "a process without a name"
	}
	quoted := strconv.Quote(name)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
