// Package authority tells a person at a terminal from an agent that would
// like to be one.
//
// The hub asks it before every method: reporting and reading are open to the
// hub's own user; deciding (replies, grants, trust, config, stop, install)
// only to a caller whose chain of parents reaches something that serves
// people, a terminal, a login, a multiplexer's pane or a desktop panel, and
// on the whole way passes no agent, no timer and not the hub itself.
//
// Contract: pure rules over a proc.Table and over marks that the caller takes
// from the catalogue; no agent is named here. Doubt is a refusal. A process
// may choose its own name, so a name alone can accuse a process but never
// vouch for it: what vouches is the file it runs, in a place the user's
// programs are installed to, or an owner the user cannot become. This keeps
// out an agent's ordinary ways around; it is no wall against a program of the
// same user that types into the user's own terminal.
package authority

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Class is what a method of the hub demands of its caller.
type Class int

const (
	// Decide is first, so that a method without a class gets the strictest.
	Decide Class = iota
	// Read shows events, state and requests.
	Read
	// Report brings events in: hooks and plugins.
	Report
)

func (c Class) String() string {
	switch c {
	case Decide:
		return "decide"
	case Read:
		return "read"
	case Report:
		return "report"
	}
	return "class " + strconv.Itoa(int(c))
}

// Judge holds what the rules need to know. It has no state; one value may
// serve all connections at once.
type Judge struct {
	Table  proc.Table
	Agents AgentMarks
	// UID is the user the hub serves, its own.
	UID int
	// HubPID is the hub's process: what runs below it (hooks, scripts) was
	// set off by an agent's event, even when the hub stands in a terminal.
	HubPID int
	// Terminals are paths of further programs the user has declared to be
	// terminals, for those that live in a home directory.
	Terminals []string
	// Sound tells whether a program may vouch, given its path. Nil: Sound.
	Sound func(hubUID int, p proc.Process, program string) bool
}

// Verdict is the answer to one question.
type Verdict struct {
	OK bool
	// Reason is one plain line: why not and what to do, or what vouched.
	Reason string
	// Chain is the caller and what is above it; empty where nobody looked.
	Chain []proc.Process
	// Agent is the catalogue name of the agent that was found, if any.
	Agent string
}

// maxChain bounds the walk for a decision. Nesting deeper than this to hide
// an agent also hides the terminal above it.
const maxChain = 128

const inYourTerminal = "run it in your own terminal"

// May judges one call. peerEnv, which may be nil, gives the environment the
// peer itself sent; it can only speak against the peer.
func (j *Judge) May(class Class, peer proc.Cred, peerEnv func() []string) Verdict {
	if peer.UID != j.UID {
		return refuse(nil, "the caller is user %d and this hub serves only user %d; run it as that user", peer.UID, j.UID)
	}
	if class == Read || class == Report {
		return Verdict{OK: true}
	}
	if peer.PID <= 0 {
		return refuse(nil, "the calling process lives outside of what the hub can see; run it in a terminal beside the hub")
	}
	chain := proc.Ancestry(j.Table, peer.PID, maxChain)
	if len(chain) == 0 || peer.At != 0 && chain[0].Start > peer.At {
		return refuse(nil, "the calling process is gone; %s and let it wait for the answer", inYourTerminal)
	}
	if len(chain) == maxChain {
		return refuse(chain, "the command runs below more than %d others; %s", maxChain, inYourTerminal)
	}
	if v, bad := j.accuse(chain); bad {
		return v
	}
	if peerEnv != nil {
		if v, bad := j.accuseEnviron(chain, chain[0], peerEnv()); bad {
			return v
		}
	}
	return j.vouch(chain)
}

// accuse looks for anything in the whole chain that is no person. It goes to
// the very top: a terminal that an agent opened is the agent's.
func (j *Judge) accuse(chain []proc.Process) (Verdict, bool) {
	for i, p := range chain {
		if p.PID == j.HubPID {
			return refuse(chain, "the command was started by the hub itself (pid %d), for a hook; %s", p.PID, inYourTerminal), true
		}
		if agent := j.Agents.match(j.Table, p, ""); agent != "" {
			v := refuse(chain, "this command runs below %s (pid %d); %s", agent, p.PID, inYourTerminal)
			if i == 0 {
				v = refuse(chain, "it is %s itself that asks (pid %d); %s", agent, p.PID, inYourTerminal)
			}
			v.Agent = agent
			return v, true
		}
		if isTimer(p.Name) {
			return refuse(chain, "this command was started by %s, a timer (pid %d); %s", shown(p.Name), p.PID, inYourTerminal), true
		}
	}
	return Verdict{}, false
}

// accuseEnviron looks for variables that only an agent sets. They betray what
// cut itself loose from its parents but kept its environment.
func (j *Judge) accuseEnviron(chain []proc.Process, p proc.Process, env []string) (Verdict, bool) {
	agent, variable := j.Agents.inEnviron(env)
	if agent == "" {
		return Verdict{}, false
	}
	v := refuse(chain, "%s (pid %d) carries %s, which %s sets for its own commands; run it in a terminal that %s did not open",
		shown(p.Name), p.PID, variable, agent, agent)
	v.Agent = agent
	return v, true
}

// vouch climbs to the first process that could stand for a person and lets
// it decide; without one, the outermost process may do, at a console or at
// the edge of a container.
func (j *Judge) vouch(chain []proc.Process) Verdict {
	var doubt string
	for i, p := range chain {
		env, _ := j.Table.Environ(p.PID)
		if v, bad := j.accuseEnviron(chain, p, env); bad {
			return v
		}
		if i == 0 {
			continue // a peer cannot vouch for itself
		}
		kind, program := j.kindOf(p)
		if kind == terminal || kind == loginDaemon {
			if stray, ok := outOfSession(chain, i); ok {
				return refuse(chain, "%s (pid %d) has lost the session it was started in; %s", shown(stray.Name), stray.PID, inYourTerminal)
			}
		}
		switch kind {
		case terminal:
			return vouchByWindow(chain, i)
		case loginDaemon:
			return vouchByLogin(chain, i)
		case panel:
			return accept(chain, p)
		case doubtful:
			if doubt == "" {
				doubt = fmt.Sprintf("%s (pid %d) runs from %s, where any program may have put it", shown(p.Name), p.PID, shown(program))
			}
		}
	}
	v := vouchByEdge(chain)
	if !v.OK && doubt != "" {
		return refuse(chain, "%s; run it in an installed terminal", doubt)
	}
	return v
}

// outOfSession finds a process below the host whose session was opened by
// nobody in the chain. Orphans are adopted by the nearest process that cares
// for them, which may sit inside a genuine window; their session stays behind.
func outOfSession(chain []proc.Process, host int) (proc.Process, bool) {
	for _, p := range chain[:host] {
		led := p.SID == 0 // not visible in this namespace
		for _, leader := range chain {
			led = led || leader.PID == p.SID
		}
		if !led {
			return p, true
		}
	}
	return proc.Process{}, false
}

// vouchByWindow accepts what a terminal started on a tty it made for it.
// Multiplexers and editors also start things in the background, on anybody's
// request (tmux run-shell); a pty that was made further down, or a tty the
// terminal itself was started from, does not change that.
func vouchByWindow(chain []proc.Process, at int) Verdict {
	host, seat := chain[at], chain[at-1]
	leads := seat.SID == seat.PID || seat.SID == 0 // 0: not visible in this namespace
	if seat.TTY == "" || seat.TTY == host.TTY || !leads {
		return notInAWindow(chain, host)
	}
	return accept(chain, host)
}

// vouchByLogin accepts what a login put on a tty; "ssh host command" has none.
func vouchByLogin(chain []proc.Process, at int) Verdict {
	host, seat := chain[at], chain[at-1]
	// Between root's sshd and the shell stands one more sshd, which has become
	// the user and has no tty of its own.
	if seat.TTY == "" && at >= 2 && byName(seat.Name, kernelNameLimit) == loginDaemon {
		seat = chain[at-2]
	}
	if seat.TTY == "" {
		return notInAWindow(chain, host)
	}
	return accept(chain, host)
}

func notInAWindow(chain []proc.Process, host proc.Process) Verdict {
	return refuse(chain, "%s (pid %d) started this in the background, not in a window or pane; %s", shown(host.Name), host.PID, inYourTerminal)
}

// vouchByEdge handles chains that end without any known terminal. Orphans end
// this way as well, adopted by pid 1 or by a session manager, and can make a
// pty for themselves. So only three ends are accepted:
//
//   - a process whose parent is outside of this pid namespace, on a tty:
//     somebody came in through docker exec -it. Orphans are never adopted
//     by an outside process.
//   - pid 1 itself on a tty (docker run -it), and the command in the job in
//     the foreground of that very tty.
//   - a session started by pid 1 on a hardware console, which is no pty.
func vouchByEdge(chain []proc.Process) Verdict {
	peer, top := chain[0], chain[len(chain)-1]
	if top.PID != 1 && top.PPID == 0 && top.TTY != "" {
		return accept(chain, top)
	}
	if top.PID == 1 && len(chain) > 1 {
		below := chain[len(chain)-2]
		if top.TTY != "" && below.TTY == top.TTY && below.SID == top.SID && inForeground(chain) {
			return accept(chain, top)
		}
		if below.SID == below.PID && isConsole(below.TTY) {
			return accept(chain, below)
		}
	}
	if peer.TTY == "" {
		return refuse(chain, "no terminal, login or desktop is above this command (%s) and it has no tty; %s", trail(chain), inYourTerminal)
	}
	return refuse(chain, "no known terminal stands behind %s (%s); %s", peer.TTY, trail(chain), inYourTerminal)
}

// inForeground tells whether one of the processes below pid 1 leads the job
// that pid 1's terminal listens to. The leader itself has to be in the chain:
// an orphan keeps the group of the job it left, but not its parents.
func inForeground(chain []proc.Process) bool {
	last := len(chain) - 1
	top := chain[last]
	for _, p := range chain[:last] {
		if p.TTY == top.TTY && p.SID == top.SID && p.PGID == p.PID && p.PGID == p.Foreground {
			return true
		}
	}
	return false
}

func accept(chain []proc.Process, by proc.Process) Verdict {
	return Verdict{OK: true, Chain: chain, Reason: fmt.Sprintf("comes from %s (pid %d)", shown(by.Name), by.PID)}
}

func refuse(chain []proc.Process, format string, args ...any) Verdict {
	return Verdict{Chain: chain, Reason: "refused: " + fmt.Sprintf(format, args...)}
}

// trail shows the chain, shortened in the middle.
func trail(chain []proc.Process) string {
	const ends = 3
	var names []string
	for i, p := range chain {
		if len(chain) > 2*ends && i >= ends && i < len(chain)-ends {
			if i == ends {
				names = append(names, "…")
			}
			continue
		}
		names = append(names, shown(p.Name))
	}
	return strings.Join(names, " < ")
}

// shown makes a name that a process chose for itself safe to print.
func shown(name string) string {
	if name == "" {
		return "a process without a name"
	}
	quoted := strconv.Quote(name)
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}
