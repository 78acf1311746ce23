package authority

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Rules decide who is at a trusted terminal. They have no state: everything comes from
// [Facts].
type Rules struct {
	Agents AgentMarks
	// UID is the user the daemon serves, its own.
	UID int
	// DaemonPID is the daemon's process: what runs below it (hooks, scripts) was triggered
	// by an agent's event, even if the daemon runs in a terminal.
	DaemonPID int
	// Terminals are paths of further programs the user has declared to be
	// terminals, for those that live in a home directory.
	Terminals []string
	// Sound reports whether a program may trust, given its path. Nil: Sound.
	Sound func(daemonUID int, p proc.Process, program string) bool
	// Trusts reports whether you trusted the holder of a terminal.
	Trusts func(pid int, start uint64) bool
	// OwnLink reports whether a process is the daemon's own connection to another machine,
	// which never opens a terminal there. Nil: there are none.
	OwnLink func(pid int) bool
	// Hookmux reports whether a process runs hookmux's own program, given its
	// path. Nil: RunsHookmux.
	Hookmux func(p proc.Process, program string) bool
}

// Action describes something that a caller wants to do.
type Action struct {
	Class Class
	// Weakens says that it takes protection away.
	Weakens bool
	// Tightens says that it can only make hookmux stricter: then it doesn't matter whether a
	// key was just pressed.
	Tightens bool
	// Why says in what way it does; "": it takes protection away.
	Why string
	// Since is when the request came up that it answers; zero for none.
	Since time.Time
	// Text says in one line what is asked, for the user who types the code.
	Text string
}

// Evaluate applies the rules in order. peerEnv, which may be nil, gives the
// environment the peer itself sent; it can only speak against the peer.
func (r *Rules) Evaluate(f *Facts, peer proc.Cred, a Action, peerEnv func() []string) Verdict {
	if peer.UID != r.UID {
		return refuseCall(OtherUser, "the caller is user %d and this daemon serves only user %d; run it as that user",
			peer.UID, r.UID)
	}
	if a.Class == Read || a.Class == Report {
		return Verdict{OK: true, Outcome: Allowed}
	}
	if peer.PID <= 0 {
		return refuseCall(Invisible, "the daemon can't see the calling process; run it in a "+
			"terminal outside the container")
	}
	chain := f.chain(peer.PID)
	if len(chain) == 0 || peer.At != 0 && chain[0].Start > peer.At {
		return Gone()
	}
	v := r.checkChain(f, chain, a, peerEnv)
	v.OK = v.Outcome == Allowed
	v.Chain = make([]proc.Process, len(chain))
	for i, p := range chain {
		v.Chain[i] = p.Process
	}
	v.TTY = chain[0].TTY
	return v
}

// Gone refuses a caller whose process has ended: its number may belong to
// another process by now.
func Gone() Verdict {
	return refuseCall(Invisible, "the calling process is gone; %s and let it wait for the answer", inYourTerminal)
}

// Elsewhere refuses a caller in a container.
func Elsewhere() Verdict {
	return refuseCall(Invisible, "a process in a container may only report hook calls; run it outside, in your own terminal")
}

func (r *Rules) checkChain(f *Facts, chain []Process, a Action, peerEnv func() []string) Verdict {
	if len(chain) == maxChain {
		return refuseCall(TooDeep, "the command runs below more than %d others; %s", maxChain, inYourTerminal)
	}
	if peerEnv != nil {
		if v, bad := r.accuseVariables(chain[0], peerEnv()); bad {
			return v
		}
	}
	ways, v := r.followTerminal(f, chain, 0)
	if len(ways) == 0 {
		return v
	}
	// Of several clients the one that shows this and was used last comes first:
	// a code is shown there.
	slices.SortStableFunc(ways, func(a, b way) int {
		if a.shows() != b.shows() {
			if a.shows() {
				return -1
			}
			return 1
		}
		return b.active().Compare(a.active())
	})
	best := Verdict{}
	for i := range ways {
		if v := r.checkIntent(f, &ways[i], a); v.Outcome > best.Outcome { // at least a code is asked for at a trusted terminal
			best = v
		}
	}
	return best
}

// way is one way from the caller to a trusted terminal.
type way struct {
	place TrustedTerminal
	// hops are the terminals in between, the caller's first: from the process at the
	// terminal up to the session's leader.
	hops []hop
	// clients are those of multiplexers on the way, the innermost first.
	clients []*TerminalClient
}

// shows says that every client on the way shows the caller's terminal.
func (w *way) shows() bool {
	return !slices.ContainsFunc(w.clients, func(c *TerminalClient) bool { return !c.Shows })
}

// active returns when the client at the trusted terminal last got a key.
func (w *way) active() time.Time {
	if len(w.clients) == 0 {
		return time.Time{}
	}
	return w.clients[len(w.clients)-1].Active
}

type hop struct {
	// stands is the process at the terminal and what is above it, leader last.
	stands []Process
	// trusted says that only a person can open such a terminal (a login, a console).
	trusted bool
	popup   bool
}

func (h *hop) leader() Process { return h.stands[len(h.stands)-1] }

// accuseChain is rule 1: anything on the whole way up that is no person. It
// goes to the very top: a terminal that an agent opened is the agent's.
func (r *Rules) accuseChain(f *Facts, chain []Process) (Verdict, bool) {
	base := f.lockLimit()
	for i, p := range chain {
		if p.PID == r.DaemonPID {
			return refuseCall(BelowDaemon, "the command was started by the daemon itself (pid %d), for a hook; %s", p.PID,
				inYourTerminal), true
		}
		if agent := r.Agents.matchProcess(p, ""); agent != "" {
			v := refuseCall(BelowAgent, "this command runs below %s (pid %d%s); %s", agent, p.PID,
				sinceText(p.StartTime), inYourTerminal)
			if i == 0 {
				v = refuseCall(BelowAgent, "%s itself (pid %d) asked for this; %s", agent, p.PID, inYourTerminal)
			}
			v.Agent, v.AgentPID, v.Since = agent, p.PID, p.StartTime
			return v, true
		}
		if isTimer(p.Name) {
			return refuseCall(Timer, "this command was started by %s, a timer (pid %d); %s", printableName(p.Name),
				p.PID, inYourTerminal), true
		}
	}
	for _, p := range chain {
		if v, bad := r.accuseVariables(p, p.Env); bad {
			return v, true
		}
	}
	// The outermost marked process is the first that the agent started.
	for i := len(chain) - 1; i >= 0; i-- {
		if p := chain[i]; p.FileLocks < base {
			return r.accuseMarked(p), true
		}
	}
	return Verdict{}, false
}

// accuseVariables looks for variables that only an agent sets. They betray what
// cut itself loose from its parents but kept its environment.
func (r *Rules) accuseVariables(p Process, env []string) (Verdict, bool) {
	agent, variable := r.Agents.inEnviron(env)
	if agent == "" {
		return Verdict{}, false
	}
	v := refuseCall(Variable, "%s (pid %d) has %s set, as %s does for its own commands; run it in a terminal "+
		"that %s didn't open",
		printableName(p.Name), p.PID, variable, agent, agent)
	v.Agent = agent
	return v, true
}

func (r *Rules) accuseMarked(p Process) Verdict {
	agent, at, ours := r.Agents.readMark(p.FileLocks)
	if !ours {
		return refuseCall(Marked, "%s (pid %d) runs under a limit on file locks, as hookmux sets it for what agents "+
			"start; "+
			"run it in a terminal without one (`ulimit -x` prints unlimited)", printableName(p.Name), p.PID)
	}
	who := agent
	if who == "" {
		who = "an agent"
	}
	v := refuseCall(Marked, "%s (pid %d) was started by %s, running since %s; run it in a terminal that no agent "+
		"opened",
		printableName(p.Name), p.PID, who, at.Format("Jan 2 15:04"))
	v.Agent, v.Since = agent, at
	return v
}

// lockLimit returns the limit on file locks that every process of this machine has.
func (f *Facts) lockLimit() uint64 {
	if first, ok := f.process(1); ok {
		return first.FileLocks
	}
	return Unlimited
}

// maxHops bounds how many terminals may be between a command and you.
const maxHops = 6

// followTerminal applies rules 1 to 3 to the process at a terminal: the first of chain. It
// returns every way to a trusted terminal, or why there is none.
func (r *Rules) followTerminal(f *Facts, chain []Process, depth int) ([]way, Verdict) {
	if v, bad := r.accuseChain(f, chain); bad {
		return nil, v
	}
	if depth >= maxHops {
		return nil, refuseCall(TooDeep, "more than %d terminals are nested here; %s", maxHops, inYourTerminal)
	}
	p := chain[0]
	if p.TTY == "" {
		return nil, refuseCall(NoTerminal, "only you can do this, and %s (pid %d) has no terminal; %s", printableName(p.Name),
			p.PID, inYourTerminal)
	}
	top := chain[len(chain)-1]
	if p.SID == 0 && top.PPID == 0 && top.PID != 1 { // session and parent are outside of this pid namespace
		return []way{{place: TrustedTerminal{Kind: Edge, TTY: p.TTY, Leader: top.Process}, hops: []hop{{stands: chain,
			trusted: true}}}}, Verdict{}
	}
	at := slices.IndexFunc(chain, func(q Process) bool { return q.PID == p.SID })
	if at < 0 {
		return nil, refuseCall(LostSession, "%s (pid %d) has lost the session it was started in; %s",
			printableName(p.Name), p.PID, inYourTerminal)
	}
	if p.Foreground <= 0 || p.PGID != p.Foreground {
		return nil, refuseCall(Background, "%s (pid %d) runs in the background of %s; %s", printableName(p.Name),
			p.PID, p.TTY, inYourTerminal)
	}
	here := hop{stands: chain[:at+1]}
	leader := chain[at]
	if leader.TTY != p.TTY {
		return nil, refuseCall(LostSession, "%s (pid %d) is on %s, which its session has left; %s",
			printableName(p.Name), p.PID, p.TTY, inYourTerminal)
	}
	place := TrustedTerminal{TTY: p.TTY, Leader: leader.Process}
	switch {
	case leader.PID == 1:
		// docker run -it: orphans are adopted by the leader and look like its
		// children, so the job's first process must be on the way.
		if at > 0 && !leadsJob(chain[:at]) {
			return nil, refuseCall(LostSession, "%s (pid %d) has lost the job it was started in; %s",
				printableName(p.Name), p.PID, inYourTerminal)
		}
		place.Kind = Edge
	case leader.PPID == 0:
		place.Kind = Edge
	case at+1 == len(chain):
		return nil, refuseCall(LostSession, "what opened %s is gone (%s); %s", p.TTY, describeChain(chain),
			inYourTerminal)
	case isConsole(p.TTY) && chain[at+1].isRoot():
		place.Kind, place.Holder = Console, chain[at+1].Process
	}
	if place.Kind != NoTrustedTerminal {
		here.trusted = true
		return []way{{place: place, hops: []hop{here}}}, Verdict{}
	}
	return r.followHolder(f, chain[at+1:], here, place, depth)
}

// leadsJob reports whether one of these processes leads the job in the
// foreground.
func leadsJob(chain []Process) bool {
	return slices.ContainsFunc(chain, func(p Process) bool { return p.PID == p.PGID && p.Foreground == p.PGID })
}

func (p *Process) isRoot() bool { return p.UID == 0 && p.EUID == 0 }

// base returns the name of the file a process runs, "" when that is not known.
func (p *Process) base() string {
	if p.Program == "" {
		return ""
	}
	return path.Base(strings.TrimSuffix(p.Program, deletedSuffix))
}

// isSound reports whether the program is what its path says, and installed.
func (r *Rules) isSound(p Process) bool {
	if p.Program == "" {
		return false
	}
	if p.isRoot() && r.UID != 0 {
		return true
	}
	sound := r.Sound
	if sound == nil {
		sound = Sound
	}
	return sound(r.UID, p.Process, strings.TrimSuffix(p.Program, deletedSuffix))
}
