package authority_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/authoritytest"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// Agents of the tests. The rules know none by name.
var marks = authority.AgentMarks{
	{Agent: "fork", Programs: []string{"acme-fork"}, Env: []string{"ACME_FORK=1"}},
	{Agent: "acme", Programs: []string{"acme", "acme-fork"}, Paths: []string{"/acme/versions/"},
		Env: []string{"ACMECODE", "ACME_PID"}},
	{Agent: "scripted", Programs: []string{"scripted"}, Paths: []string{"/@scripted/cli/"},
		Env: []string{"AGENT=scripted"}},
	{Agent: "wordy", Programs: []string{"wordy-agent-with-a-long-name", "wordy-bin-*"}},
}

const (
	user   = 1000
	me     = 77 // the pid of the command that asks, in every tree
	daemon = 50

	hidden = proctest.Hidden
	root   = proctest.Root
)

type (
	node    = proctest.Node
	machine = authoritytest.Machine
)

// mark is set by the daemon for an agent of the tests.
var markOfAcme = authority.MarkFor("acme", time.Unix(500, 0))

// init is pid 1 with what it started; of root are its own children.
func system(below ...node) node {
	return node{PID: 1, Name: "systemd", User: root, Session: true, Below: below}
}

// manager is the user's session manager, which adopts orphans.
func manager(below ...node) node {
	return node{PID: 20, Name: "systemd", Program: "/usr/lib/systemd/systemd", User: user, Session: true, Below: below}
}

// sshLogin returns a login over the network with a shell at pts/1.
func sshLogin(below ...node) node {
	return node{PID: 10, Name: "sshd", Session: true, Below: []node{{PID: 11, Name: "sshd-session", Session: true,
		Below: []node{
			{PID: 12, Name: "sshd-session", User: user, Program: hidden, Below: []node{
				{PID: 13, Name: "bash", Session: true, TTY: "/dev/pts/1", Below: below}}}}}}}
}

// sshShell returns the same with a shell that was started in some way.
func sshShell(args []string) node {
	n := sshLogin(ask(group))
	n.Below[0].Below[0].Below[0].Args = args
	return n
}

var fromAfar = []authority.Login{{TTY: "/dev/pts/1", PID: 12, Remote: "192.0.2.7"}}

// tmuxServer has one pane with a shell at pts/2.
func tmuxServer(below ...node) node {
	return node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{
		{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: below}}}
}

// window returns a desktop terminal with a shell at pts/1, on display server 25.
func window(below ...node) node {
	return node{PID: 30, Name: "gnome-terminal-", Program: "/usr/libexec/gnome-terminal-server", Session: true,
		Below: []node{
			{PID: 31, Name: "zsh", Session: true, TTY: "/dev/pts/1", Below: below}}}
}

var displayServer = node{PID: 25, Name: "gnome-shell", Session: true, TTY: proctest.None}

func ask(more ...func(*node)) node {
	n := node{PID: me, Name: "hookmux"}
	for _, change := range more {
		change(&n)
	}
	return n
}

func env(list ...string) func(*node) { return func(n *node) { n.Env = list } }
func tty(name string) func(*node)    { return func(n *node) { n.TTY = name } }
func session(n *node)                { n.Session = true }
func group(n *node)                  { n.Group = true }
func detached(n *node)               { n.Session, n.TTY = true, proctest.None }

func agent(pid int, below ...node) node {
	return node{PID: pid, Name: "acme", Program: "/home/u/.local/bin/acme", Group: true, Below: below}
}

// tool returns the shell tool of an agent.
func tool(below ...node) node {
	return node{PID: 61, Name: "sh", Session: true, TTY: proctest.None, Env: []string{"ACMECODE=1"}, Below: below}
}

// unknown returns an agent that nobody knows.
func unknown(below ...node) node {
	return node{PID: 60, Name: "frobnicate", Program: "/home/u/bin/frobnicate", Group: true, Below: below}
}

// rules believe install places by their names alone: the files do not exist.
func rules() authority.Rules {
	return authority.Rules{Agents: marks, UID: user, DaemonPID: daemon, Sound: func(_ int, _ proc.Process,
		program string) bool {
		return strings.HasPrefix(program, "/usr/")
	}, Hookmux: machine{}.Hookmux}
}

// question is one row: who asks, and what becomes of it.
type question struct {
	name string
	row  string // of the table of attempts, where several questions are one row
	tree node
	// with changes the machine; began is when the caller did.
	with    func(m *machine, began time.Time)
	rules   func(r *authority.Rules)
	action  authority.Action
	outcome authority.Outcome
	cause   authority.Cause
	agent   string
	// later is how long after the caller began it asks.
	later time.Duration
}

func (q *question) evaluate(t *testing.T) authority.Verdict {
	t.Helper()
	table := proctest.New(q.tree)
	m := machine{Table: table, LoggedIn: fromAfar, Displays: map[int]authority.Display{30: {PID: 25, Input: true}}}
	began := time.Unix(4000, 0)
	if p, err := table.Lookup(me); err == nil {
		began = p.StartTime
	}
	m.Typed = began
	if q.with != nil {
		q.with(&m, began)
	}
	j := authority.Evaluator{Rules: rules(), Table: table, Source: m,
		Now: func() time.Time { return began.Add(q.later + 20*time.Millisecond) }}
	if q.rules != nil {
		q.rules(&j.Rules)
	}
	v, facts := j.Explain(proc.Cred{UID: user, PID: me}, q.action, nil)
	// The same facts without a machine behind them give the same verdict.
	recorded := *facts
	again := j.Rules.Evaluate(authority.Recorded(recorded), proc.Cred{UID: user, PID: me}, q.action, nil)
	if again.Outcome != v.Outcome || again.Cause != v.Cause || again.Reason() != v.Reason() {
		t.Errorf("from the machine %v (%v), from its recorded facts %v (%v): %s", v.Outcome, v.Cause, again.Outcome,
			again.Cause, again.Reason())
	}
	return v
}

func askAll(t *testing.T, rows []question) {
	t.Helper()
	for _, q := range rows {
		t.Run(q.name, func(t *testing.T) {
			v := q.evaluate(t)
			if v.Outcome != q.outcome || v.Cause != q.cause || v.Agent != q.agent {
				t.Errorf("got %v because of %q, agent %q; want %v because of %q, agent %q\n%s",
					v.Outcome, v.Cause, v.Agent, q.outcome, q.cause, q.agent, v.Reason())
			}
			if v.OK != (v.Outcome == authority.Allowed) || v.Reason() == "" || strings.ContainsAny(v.Reason(),
				"\n\x1b\u202e") {
				t.Errorf("OK %v, reason %q; want v.OK == (v.Outcome == authority.Allowed), v.Reason() != "+
					"\"\" and !strings.ContainsAny(v.Reason(), \"\\n\\x1b\\u202e\")", v.OK, v.Reason())
			}
			if v.Outcome == authority.Refused && !strings.HasPrefix(v.Reason(), "refused: ") {
				t.Errorf("a refusal reads %q", v.Reason())
			}
			if v.Trusted() != (v.Terminal.Kind != authority.NoTrustedTerminal) {
				t.Errorf("trusted %v at %+v; want v.Trusted() == (v.Terminal.Kind != authority.NoTrustedTerminal)", v.Trusted(), v.Terminal)
			}
		})
	}
}

const (
	passes  = authority.Allowed
	code    = authority.NeedCode
	pin     = authority.NeedPIN
	refused = authority.Refused
)

// attached returns a tmux whose one client sits at the ssh login.
func attached(below ...node) node {
	return system(sshLogin(node{PID: 14, Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}),
		manager(tmuxServer(below...)))
}

// shows lets the client of attached show a pane, active at a time.
func shows(pane string, ago time.Duration) func(*machine, time.Time) {
	return func(m *machine, began time.Time) {
		m.Servers = map[int]authority.Tmux{40: {
			Panes: []authority.TmuxPane{{ID: "%1", TTY: "/dev/pts/2"}, {ID: "%2", TTY: "/dev/pts/3"}},
			Clients: []authority.TmuxClient{{PID: 14, Name: "/dev/pts/1", Pane: pane,
				Active: began.Add(-ago).Truncate(time.Second)}},
		}}
	}
}

// watched returns a view that waits for a key, and one that was read at the ssh login
// after a time.
func watched(pressed time.Duration) func(*machine, time.Time) {
	return func(m *machine, began time.Time) {
		p, _ := m.Lookup(me) // it is in every tree
		armed := began.Add(time.Second)
		m.TTYs = map[string]authority.Terminal{"/dev/pts/1": {Access: began.Add(pressed), Change: armed, Noted: armed,
			For: authority.Identity{PID: me, Start: p.Start}}}
	}
}

// fromHere is a login that came over the machine's own network.
var fromHere = []authority.Login{{TTY: "/dev/pts/1", PID: 12, Remote: "127.0.0.1", Local: true}}

func both(changes ...func(*machine, time.Time)) func(*machine, time.Time) {
	return func(m *machine, began time.Time) {
		for _, change := range changes {
			change(m, began)
		}
	}
}

func limited(pids ...int) func(*machine, time.Time) {
	return func(m *machine, _ time.Time) {
		m.Limits = map[int]uint64{}
		for _, pid := range pids {
			m.Limits[pid] = markOfAcme
		}
	}
}

// typedAgo moves the last key at the ssh login.
func typedAgo(ago time.Duration) func(*machine, time.Time) {
	return func(m *machine, began time.Time) { m.Typed = began.Add(-ago) }
}

func touched(m *machine, began time.Time) {
	m.TTYs = map[string]authority.Terminal{"/dev/pts/1": {Access: began, Change: began.Add(-time.Second)}}
}

// TestTerminalCases are the measured cases, by their number.
func TestTerminalCases(t *testing.T) { askAll(t, terminalQuestions()) }

func terminalQuestions() []question {
	since := authority.Action{Since: time.Unix(1200, 0)}
	return []question{
		{name: "1 ssh, typed", tree: system(sshLogin(ask(group))), outcome: passes},
		{name: "1 ssh, nothing typed for long", tree: system(sshLogin(ask(group))),
			with: typedAgo(11 * time.Second), outcome: code, cause: authority.NotTyped},
		{name: "2 ssh and tmux, typed", row: "C4 keys sent right after you typed", tree: attached(ask(group)),
			with: shows("%1", 0), outcome: code, cause: authority.NotTyped},
		{name: "2 ssh and tmux, a key in a view", tree: attached(ask(group)), with: both(shows("%1", -time.Minute),
			watched(time.Minute)), later: time.Minute, outcome: passes},
		{name: "C4 keys sent into a view right after you typed", tree: attached(ask(group)),
			with: both(shows("%1", -time.Minute), watched(-time.Hour)), later: time.Minute, outcome: code,
			cause: authority.NotTyped},
		{name: "C4 a key in a view, noticed for another process", tree: attached(ask(group)),
			with: both(shows("%1", -time.Minute), watched(time.Minute), func(m *machine, _ time.Time) {
				t := m.TTYs["/dev/pts/1"]
				t.For.PID++
				m.TTYs["/dev/pts/1"] = t
			}), later: time.Minute, outcome: code, cause: authority.NotTyped},
		{name: "2 ssh and tmux, a script with make", tree: attached(node{PID: 42, Name: "make", Group: true,
			Below: []node{{PID: 43, Name: "sh", Below: []node{ask()}}}}), with: shows("%1", 40*time.Second),
			outcome: code, cause: authority.Between},
		{name: "2 ssh and tmux, a script with make, typed", row: "B8 a Makefile", tree: attached(node{PID: 42,
			Name: "make", Group: true, Below: []node{{PID: 43, Name: "sh", Below: []node{ask()}}}}),
			with: both(shows("%1", 0)), outcome: code, cause: authority.Between},
		{name: "3 detached tmux, env -i, double fork", tree: system(manager(tmuxServer(ask(group)))),
			with: shows("%1", 0), outcome: refused, cause: authority.NoClient},
		{name: "3 the same, marked", tree: system(manager(tmuxServer(ask(group)))), with: both(shows("%1", 0),
			limited(40, 41, me)), outcome: refused, cause: authority.Marked, agent: "acme"},
		{name: "4 an agent attaches by its own pty and types", tree: system(
			sshLogin(node{PID: 14, Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}),
			manager(tmuxServer(ask(group)), node{PID: 62, Name: "python3", Session: true, Below: []node{
				{PID: 63, Name: "tmux: client", Program: "/usr/bin/tmux", Session: true, TTY: "/dev/pts/9"}}})),
			with: func(m *machine, began time.Time) {
				shows("%1", time.Hour)(m, began)
				s := m.Servers[40]
				s.Clients = append(s.Clients, authority.TmuxClient{PID: 63, Pane: "%1", Active: began})
				m.Servers[40] = s
			}, outcome: code, cause: authority.NotTyped},
		{name: "5a unknown agent in the foreground, child in its group", tree: system(sshLogin(unknown(node{PID: 61,
			Name: "sh", Below: []node{ask()}}))), outcome: code, cause: authority.Between},
		{name: "5b the same, setsid", tree: system(sshLogin(unknown(node{PID: 61, Name: "sh",
			Below: []node{ask(detached)}}))), outcome: refused, cause: authority.NoTerminal},
		{name: "6 xterm -e hookmux", tree: system(manager(displayServer, node{PID: 30, Name: "xterm", Session: true,
			Below: []node{ask(session, tty("/dev/pts/1"))}})), with: typedAgo(time.Hour), outcome: code,
			cause: authority.NotShell},
		{name: "6 xterm -e sh -c, after the request", tree: system(manager(displayServer, node{PID: 30,
			Name: "xterm", Session: true, Below: []node{
				{PID: 31, Name: "sh", Session: true, TTY: "/dev/pts/1", Below: []node{ask()}}}})),
			action: authority.Action{Since: time.Unix(1000, 0)}, outcome: code, cause: authority.YoungShell},
		{name: "6 the same, no input", tree: system(manager(displayServer, window(ask(group)))),
			with: typedAgo(time.Hour), action: since, outcome: code, cause: authority.NotTyped},
		{name: "6 the same with touch", tree: system(manager(displayServer, window(ask(group)))), with: touched,
			action: since, outcome: code, cause: authority.NotTyped},
		{name: "6b on the agent's own X server", tree: system(manager(node{PID: 25, Name: "Xvfb", Session: true},
			window(ask(group)))), with: func(m *machine, _ time.Time) {
			m.Displays = map[int]authority.Display{30: {PID: 25}}
		}, outcome: pin, cause: authority.Unproven},
		{name: "7 terminal server in python, typed", tree: system(manager(node{PID: 62, Name: "python3",
			Session: true, Below: []node{
				{PID: 63, Name: "bash", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})), outcome: pin,
			cause: authority.Unproven},
		{name: "7 the same, trusted", tree: system(manager(node{PID: 62, Name: "python3", Session: true,
			Start: 1700, Below: []node{
				{PID: 63, Name: "bash", Session: true, TTY: "/dev/pts/9", Start: 1800, Below: []node{ask(group,
					func(n *node) { n.Start = 1900 })}}}})),
			rules: func(r *authority.Rules) {
				r.Trusts = func(pid int, start uint64) bool { return pid == 62 && start == 1700 }
			},
			outcome: passes},
		{name: "7 the same, trusted was another process", tree: system(manager(node{PID: 62, Name: "python3",
			Session: true, Start: 1700, Below: []node{
				{PID: 63, Name: "bash", Session: true, TTY: "/dev/pts/9", Start: 1800, Below: []node{ask(group,
					func(n *node) { n.Start = 1900 })}}}})),
			rules: func(r *authority.Rules) {
				r.Trusts = func(pid int, start uint64) bool { return pid == 62 && start == 1600 }
			},
			outcome: pin, cause: authority.Unproven},
		{name: "8 script at a terminal", tree: system(sshLogin(node{PID: 32, Name: "script", Group: true, Below: []node{
			{PID: 33, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})), outcome: code,
			cause: authority.Between},
		{name: "8 script, detached", tree: system(manager(node{PID: 32, Name: "script", Session: true, Below: []node{
			{PID: 33, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})),
			outcome: refused, cause: authority.NoTerminal},
		{name: "8 script in the background", tree: system(sshLogin(node{PID: 32, Name: "script", Group: true,
			Foreground: 13, Below: []node{
				{PID: 33, Name: "sh", Session: true, TTY: "/dev/pts/9", Foreground: me, Below: []node{ask(group)}}}})),
			outcome: refused, cause: authority.Background},
		{name: "9 Makefile, shell script", row: "B8 a Makefile", tree: system(sshLogin(node{PID: 32, Name: "make",
			Group: true, Below: []node{{PID: 33, Name: "sh", Below: []node{ask()}}}})), outcome: code,
			cause: authority.Between},
		{name: "9 the same, for what only refuses more", tree: system(sshLogin(node{PID: 32, Name: "make",
			Group: true, Below: []node{{PID: 33, Name: "sh", Below: []node{ask()}}}})),
			action: authority.Action{Tightens: true}, outcome: passes},
		{name: "10 sudo -u self", tree: system(sshLogin(node{PID: 32, Name: "sudo", User: root, Group: true,
			Below: []node{
				{PID: 33, Name: "sudo", Session: true, TTY: "/dev/pts/5",
					Below: []node{ask(func(n *node) { n.User = user }, group)}}}})), outcome: code,
			cause: authority.Between},
		{name: "10 su -c has no terminal", tree: system(sshLogin(node{PID: 32, Name: "su", User: root, Group: true,
			Below: []node{
				{PID: 33, Name: "sh", User: user, Session: true, TTY: proctest.None, Below: []node{ask()}}}})),
			outcome: refused, cause: authority.NoTerminal},
		{name: "12 master stolen, the user idle", tree: attached(ask(group)), with: shows("%1", time.Minute),
			outcome: code, cause: authority.NotTyped},
		{name: "13 send-keys into an idle pane", tree: attached(ask(group)), with: both(shows("%1", time.Hour),
			typedAgo(time.Hour)), outcome: code, cause: authority.NotTyped},
		{name: "13 send-keys -K moves the client, not the terminal", tree: attached(ask(group)), with: both(shows("%1",
			0), typedAgo(time.Hour)), outcome: code, cause: authority.NotTyped},
		{name: "13 send-keys into a program that waits for an answer", tree: attached(ask(group)),
			with: both(shows("%1", 0)), later: time.Hour, outcome: code, cause: authority.NotTyped},
		{name: "13b new-window -d while the user types elsewhere", tree: attached(ask(group)), with: shows("%2",
			0), outcome: code, cause: authority.OtherPane},
		{name: "13b new-window hookmux", tree: system(sshLogin(node{PID: 14, Name: "tmux: client",
			Program: "/usr/bin/tmux", Group: true}), manager(node{
			PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{ask(session,
				tty("/dev/pts/2"))}})), with: shows("%1", 0), outcome: code, cause: authority.NotShell},
		{name: "13c run-shell", tree: system(sshLogin(node{PID: 14, Name: "tmux: client", Program: "/usr/bin/tmux",
			Group: true}), manager(node{
			PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{{PID: 43,
				Name: "sh", Group: true, Below: []node{ask()}}}})), with: shows("%1", 0), outcome: refused,
			cause: authority.NoTerminal},
		{name: "14 screen", tree: system(manager(node{PID: 62, Name: "screen", Session: true, Below: []node{
			{PID: 63, Name: "bash", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})), outcome: pin,
			cause: authority.Unproven},
		{name: "15 fake sshd that hides its program", tree: system(manager(node{PID: 62, Name: "sshd",
			Program: hidden, Session: true, Below: []node{
				{PID: 63, Name: "bash", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})),
			with: func(m *machine, _ time.Time) { m.Hidden = map[int]bool{62: true} }, outcome: pin,
			cause: authority.Unproven},
		{name: "15 fake sshd with a utmp entry", tree: system(manager(node{PID: 62, Name: "sshd", Program: hidden,
			Session: true, Below: []node{
				{PID: 63, Name: "bash", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})),
			with: func(m *machine, _ time.Time) {
				m.LoggedIn = []authority.Login{{TTY: "/dev/pts/9", PID: 62, Remote: "192.0.2.7"}}
			}, outcome: pin, cause: authority.Unproven},
		{name: "16 preloaded tmux without a client", tree: system(manager(tmuxServer(ask(group)))),
			with: func(m *machine, _ time.Time) { m.Servers = map[int]authority.Tmux{40: {}} }, outcome: refused,
			cause: authority.NoClient},
		{name: "16 preloaded tmux that lies about the user's client", tree: attached(ask(group)),
			with:    both(shows("%1", 0), func(m *machine, _ time.Time) { m.Unconnected = map[int]bool{14: true} }),
			outcome: refused, cause: authority.NoClient},
		{name: "17 ssh -tt to its own machine", tree: system(sshLogin(ask(group)), manager(node{PID: 62,
			Name: "ssh", Session: true})), with: func(m *machine, _ time.Time) {
			m.LoggedIn, m.Callers = []authority.Login{{TTY: "/dev/pts/1", PID: 12, Remote: "127.0.0.1",
				Local: true}}, []int{62}
		}, outcome: refused, cause: authority.LocalLogin},
		{name: "17 the same where utmp is missing", tree: system(sshLogin(ask(group)), manager(node{PID: 62,
			Name: "ssh", Session: true})), with: func(m *machine, _ time.Time) {
			m.LoggedIn, m.Callers = nil, []int{62}
		}, outcome: refused, cause: authority.LocalLogin},
		{name: "17 the same below an agent", tree: system(sshLogin(ask(group)), manager(agent(60, node{PID: 62,
			Name: "ssh", Session: true}))), with: func(m *machine, _ time.Time) {
			m.LoggedIn, m.Callers = nil, []int{62}
		}, outcome: refused, cause: authority.LocalLogin, agent: "acme"},
		{name: "17 another user's client on this machine", tree: system(sshLogin(ask(group))),
			with: func(m *machine, _ time.Time) { m.LoggedIn, m.Callers = fromHere, []int{} }, outcome: passes},
		{name: "a login to its own machine whose client is gone", tree: system(sshLogin(ask(group))),
			with: func(m *machine, _ time.Time) {
				m.LoggedIn, m.Callers, m.HungUp = fromHere, []int{}, map[int]bool{12: true}
			}, outcome: refused, cause: authority.LocalLogin},
		{name: "17 the user's own ssh from a terminal", tree: system(sshLogin(ask(group)), manager(displayServer,
			node{PID: 30, Name: "xterm", Session: true, Below: []node{
				{PID: 31, Name: "zsh", Session: true, TTY: "/dev/pts/7", Below: []node{{PID: 62, Name: "ssh",
					Group: true}}}}})), with: func(m *machine, _ time.Time) {
			m.LoggedIn, m.Callers = fromHere, []int{62}
		}, outcome: passes},
		{name: "B2 ssh to its own machine by an id of its namespaces", tree: system(sshLogin(ask(group))),
			with: func(m *machine, _ time.Time) { m.LoggedIn, m.HiddenCallers = fromHere, true }, outcome: pin,
			cause: authority.Unproven},
		{name: "B3 ssh to its own machine over a socket file", tree: system(sshLogin(ask(group))),
			with: func(m *machine, _ time.Time) {
				m.LoggedIn = []authority.Login{{TTY: "/dev/pts/1", PID: 12, Remote: "UNKNOWN", Local: true}}
			}, outcome: pin, cause: authority.Unproven},
		{name: "B3 the same where nothing is recorded", row: "B3 ssh to its own machine over a socket file",
			tree: system(sshLogin(ask(group)).Below...), with: func(m *machine, _ time.Time) { m.LoggedIn = nil },
			outcome: pin, cause: authority.Unproven},
		{name: "a login that logind knows without its terminal", tree: system(sshLogin(ask(group))),
			with: func(m *machine, _ time.Time) {
				m.LoggedIn = []authority.Login{{PID: 11, Remote: "192.0.2.7"}}
			}, outcome: passes},
		{name: "B11 a display whose owner cannot be found", tree: system(manager(window(ask(group)))),
			with: func(m *machine, _ time.Time) { m.Displays = map[int]authority.Display{} }, outcome: pin,
			cause: authority.Unproven},
		{name: "C2 an agent at the same terminal that may type into it", tree: system(sshLogin(ask(group), node{
			PID: 60, Name: "acme", Group: true, Foreground: me})), with: func(m *machine, _ time.Time) {
			m.Sharing = map[string][]int{"/dev/pts/1": {13, 60, me}}
		}, outcome: code, cause: authority.Shared},
		{name: "C2 the same, marked and under another name", row: "C2 an agent at the same terminal that may type into it",
			tree: system(sshLogin(ask(group), node{PID: 60, Name: "sleep", Group: true, Foreground: me})),
			with: both(limited(60), func(m *machine, _ time.Time) {
				m.Sharing = map[string][]int{"/dev/pts/1": {13, 60, me}}
			}), outcome: code, cause: authority.Shared},
		{name: "D1 an agent that typed ahead and has ended", tree: system(sshLogin(ask(group))),
			with:    func(m *machine, now time.Time) { m.Visited = map[string]time.Time{"/dev/pts/1": now} },
			outcome: code, cause: authority.Shared},
		{name: "an agent at a terminal of that name, before this one was opened", tree: system(sshLogin(ask(group))),
			with: func(m *machine, _ time.Time) {
				m.Visited = map[string]time.Time{"/dev/pts/1": time.Unix(1, 0)}
			}, outcome: passes},
		{name: "D2 a script that becomes hookmux", tree: system(sshLogin(ask(group))),
			with: func(m *machine, _ time.Time) { m.Became = map[int]bool{me: true} }, outcome: code,
			cause: authority.Between},
		{name: "other programs at the same terminal", tree: system(sshLogin(ask(group), node{PID: 60, Name: "vim",
			Group: true, Foreground: me})), with: func(m *machine, _ time.Time) {
			m.Sharing = map[string][]int{"/dev/pts/1": {13, 60, me}}
		}, outcome: passes},
		{name: "B8 a shell script", tree: system(sshLogin(node{PID: 32, Name: "bash", Args: []string{"bash", "x.sh"},
			Group: true, Below: []node{ask()}})), outcome: code, cause: authority.Between},
		{name: "B8 a shell script with job control", tree: system(sshLogin(node{PID: 32, Name: "bash",
			Args: []string{"bash", "x.sh"}, Group: true, Below: []node{ask(group)}})), outcome: code,
			cause: authority.Between},
		{name: "B8 a prompt that runs it", tree: system(sshLogin(ask(func(n *node) { n.Foreground = 13 }))), outcome: code,
			cause: authority.Between},
		{name: "B8 a program of its own that the user starts", tree: system(sshLogin(node{PID: me, Name: "hookmux",
			Program: "/home/u/proj/test", Group: true})), outcome: code, cause: authority.OtherProgram},
		{name: "B8 a shell that was given its commands", tree: system(sshShell([]string{"bash", "-c", "hookmux"})),
			outcome: code, cause: authority.Between},
		{name: "B8 a shell with a start file of its own", tree: system(sshShell([]string{"bash", "--rcfile", "/tmp/x"})),
			outcome: code, cause: authority.Between},
		{name: "B8 a shell that reads commands from elsewhere", tree: system(sshShell([]string{"bash", "-i"})),
			with: func(m *machine, _ time.Time) { m.Stdins = map[int]string{13: ""} }, outcome: code,
			cause: authority.Between},
		{name: "a login shell with options", tree: system(sshShell([]string{"-bash", "-i", "--login"})), outcome: passes},
		{name: "18 sleep 11; hookmux", tree: system(sshLogin(ask(group))), with: typedAgo(11 * time.Second),
			outcome: code, cause: authority.NotTyped},
		{name: "sleep 11; hookmux guard on", tree: system(sshLogin(ask(group))), with: typedAgo(11 * time.Second),
			action: authority.Action{Tightens: true}, outcome: passes},
		{name: "rule 6 weakening is asked for", tree: system(sshLogin(ask(group))),
			action: authority.Action{Weakens: true}, outcome: code, cause: authority.Weakens},
	}
}

// TestAttacks are the two ways that once let an agent approve its own request.
func TestAttacks(t *testing.T) { askAll(t, attackQuestions()) }

func attackQuestions() []question {
	var rows []question
	for _, server := range []string{"tmux: server", "xterm", "kitty", "alacritty", "wezterm-gui", "zellij", "foot"} {
		base := server
		if base == "tmux: server" {
			base = "tmux"
		}
		tree := func() node {
			return system(manager(displayServer, node{PID: 40, Name: server, Program: "/usr/bin/" + base,
				Session: true, Below: []node{ask(session, tty("/dev/pts/2"))}}))
		}
		rows = append(rows, question{name: "1 an agent's " + base + ", marked",
			row: "1 a terminal that the agent started, marked", tree: tree(), with: limited(40, me),
			outcome: refused, cause: authority.Marked, agent: "acme"})
	}
	for _, name := range []string{"aider", "cursor-agent", "goose", "amp", "cline", "crush", "auggie", "kiro-cli",
		"junie"} {
		known := func(r *authority.Rules) {
			r.Agents = append(authority.AgentMarks{{Agent: name, Programs: []string{name}}}, r.Agents...)
		}
		tree := func(n node) node {
			return system(sshLogin(node{PID: 60, Name: name, Program: "/home/u/.local/bin/" + name, Group: true,
				Below: []node{n}}))
		}
		rows = append(rows,
			question{name: "2 " + name + " runs it plainly",
				row: "2 an agent outside the catalogue runs it plainly", tree: tree(node{PID: 61, Name: "sh",
					Below: []node{ask()}}), rules: known, outcome: refused, cause: authority.BelowAgent, agent: name},
			question{name: "2 " + name + " runs it in a session of its own",
				row: "2 an agent outside the catalogue runs it in a session of its own",
				tree: tree(node{PID: 61, Name: "sh",
					Session: true, TTY: proctest.None, Below: []node{ask()}}), rules: known, outcome: refused,
				cause: authority.BelowAgent, agent: name})
	}
	rows = append(rows,
		question{name: "2 an agent nobody knows, marked at its first hook", tree: system(sshLogin(unknown(ask()))),
			with: func(m *machine, _ time.Time) {
				m.Limits = map[int]uint64{60: authority.MarkFor("frobnicate", time.Unix(700, 0)),
					me: authority.MarkFor("frobnicate", time.Unix(700, 0))}
			}, outcome: refused, cause: authority.Marked},
		question{name: "2 an agent nobody knows, unmarked", tree: system(sshLogin(unknown(ask()))), outcome: code,
			cause: authority.Between})
	return rows
}

func TestPeople(t *testing.T) { askAll(t, peopleQuestions()) }

func peopleQuestions() []question {
	popup := func(below ...node) node {
		return system(sshLogin(node{PID: 14, Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}),
			manager(node{
				PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: below}))
	}
	inPopup := ask(session, tty("/dev/pts/8"))
	inner := func(m *machine, began time.Time) {
		m.Servers = maps.Clone(m.Servers)
		m.Servers[44] = authority.Tmux{Panes: []authority.TmuxPane{{ID: "%1", TTY: "/dev/pts/6"}},
			Clients: []authority.TmuxClient{{PID: 15, Pane: "%1", Active: began.Add(time.Minute)}}}
	}
	return []question{
		{name: "a desktop terminal", tree: system(manager(displayServer, window(ask(group)))), outcome: passes},
		{name: "a pipeline", tree: system(sshLogin(node{PID: 32, Name: "cat", Group: true}, node{PID: me,
			Name: "hookmux", Foreground: me, Group: true})), outcome: passes},
		{name: "login on a console", tree: system(node{PID: 10, Name: "login", Session: true, TTY: "/dev/tty2",
			Below: []node{
				{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/tty2", Below: []node{ask(group)}}}}),
			outcome: passes},
		{name: "a shell that init put on a serial line", tree: system(node{PID: 13, Name: "sh", User: user,
			Session: true, TTY: "/dev/ttyS0", Below: []node{ask(group)}}), outcome: passes},
		{name: "docker exec -it", tree: node{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0",
			Below: []node{ask(group)}}, outcome: passes},
		{name: "docker exec -it, session outside the namespace", tree: node{PID: 13, Name: "bash", User: user,
			TTY: "/dev/pts/0", Below: []node{ask(group)}}, outcome: passes},
		{name: "docker exec -it and sudo with a pty", tree: node{PID: 13, Name: "bash", User: user, Session: true,
			TTY: "/dev/pts/0", Below: []node{
				{PID: 14, Name: "sudo", User: root, Group: true, Below: []node{{PID: 15, Name: "sudo", Session: true,
					TTY: "/dev/pts/1", Below: []node{ask(func(n *node) { n.User = user }, group)}}}}}}, outcome: code,
			cause: authority.Between},
		{name: "docker run -it", tree: node{PID: 1, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0",
			Foreground: me, Below: []node{ask(group)}}, outcome: passes},
		{name: "docker run -it --init", tree: node{PID: 1, Name: "tini", User: user, Session: true,
			TTY: "/dev/pts/0", Foreground: me, Below: []node{
				{PID: 7, Name: "bash", Group: true, Below: []node{ask(group)}}}}, outcome: passes},
		{name: "a tmux inside a tmux", tree: system(sshLogin(node{PID: 14, Name: "tmux: client",
			Program: "/usr/bin/tmux", Group: true}), manager(
			tmuxServer(node{PID: 15, Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}),
			node{PID: 44, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{{PID: 45,
				Name: "zsh", Session: true, TTY: "/dev/pts/6", Below: []node{ask(group)}}}})),
			with: both(shows("%1", -time.Minute), inner, watched(time.Minute)), later: time.Minute, outcome: passes},
		{name: "a tmux inside a tmux, in a window that is not shown", tree: system(sshLogin(node{PID: 14,
			Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}), manager(
			tmuxServer(node{PID: 15, Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}),
			node{PID: 44, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{{PID: 45,
				Name: "zsh", Session: true, TTY: "/dev/pts/6", Below: []node{ask(group)}}}})),
			with: both(shows("%2", -time.Minute), inner, watched(time.Minute)), later: time.Minute, outcome: code,
			cause: authority.OtherPane},
		{name: "a popup, a key after it opened", tree: popup(inPopup), with: both(shows("", -2*time.Second),
			watched(2*time.Second)), later: 3 * time.Second, outcome: passes},
		{name: "a popup in which a shell ran hookmux later", tree: popup(inPopup), with: both(shows("",
			-2*time.Second)), later: 3 * time.Second, outcome: code, cause: authority.NotTyped},
		{name: "a popup, no key since it opened", tree: popup(inPopup), with: shows("", 0), outcome: code,
			cause: authority.NotTyped},
		{name: "a popup, keys by send-keys -K", tree: popup(inPopup), with: both(shows("", -2*time.Second),
			typedAgo(time.Hour)), later: 3 * time.Second, outcome: code, cause: authority.NotTyped},
		{name: "a program that waits for an answer, typed now", tree: system(sshLogin(ask(group))),
			with: typedAgo(-time.Hour), later: time.Hour, outcome: passes},
		{name: "an editor's terminal", tree: system(manager(displayServer, node{PID: 30, Name: "code",
			Program: "/usr/share/code/code", Session: true, Below: []node{
				{PID: 35, Name: "code", Program: "/usr/share/code/code", Below: []node{{PID: 36, Name: "bash",
					Session: true, TTY: "/dev/pts/1", Below: []node{ask(group)}}}}}})), outcome: passes},
		{name: "a shell opened after the request, over ssh", tree: system(sshLogin(ask(group))),
			action: authority.Action{Since: time.Unix(1, 0)}, outcome: passes},
		{name: "the terminal's access time was set back by the daemon, then typed", tree: system(sshLogin(ask(group))),
			with: func(m *machine, began time.Time) {
				m.TTYs = map[string]authority.Terminal{"/dev/pts/1": {Access: began, Change: began.Add(-time.Minute),
					Noted: began.Add(-time.Minute)}}
			}, outcome: passes},
		{name: "the terminal's access time was set back by the daemon, nothing typed", tree: system(sshLogin(ask(group))),
			with: func(m *machine, began time.Time) {
				m.TTYs = map[string]authority.Terminal{"/dev/pts/1": {Access: began.Add(-time.Hour),
					Change: began.Add(-time.Minute), Noted: began.Add(-time.Minute)}}
			}, outcome: code, cause: authority.NotTyped},
		{name: "in the first seconds of a terminal nothing is known", tree: system(sshLogin(ask(group))),
			with: func(m *machine, began time.Time) {
				m.TTYs = map[string]authority.Terminal{"/dev/pts/1": {Access: began.Add(-30 * time.Second),
					Change: began.Add(-30 * time.Second)}}
			}, outcome: code, cause: authority.NotTyped},
		{name: "zellij with a client at a terminal", tree: system(sshLogin(node{PID: 14, Name: "zellij", Group: true}),
			manager(node{PID: 40, Name: "zellij", Session: true, Below: []node{
				{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{ask(group)}}}})),
			with: func(m *machine, _ time.Time) { m.Attached = map[int][]int{40: {14}} }, outcome: code,
			cause: authority.OtherPane},
		{name: "zellij without a client", tree: system(manager(node{PID: 40, Name: "zellij", Session: true,
			Below: []node{
				{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{ask(group)}}}})),
			outcome: refused, cause: authority.NoClient},
		{name: "a copied shell in between", tree: system(sshLogin(node{PID: 32, Name: "bash",
			Program: "/home/u/bash", Below: []node{ask()}})), outcome: code, cause: authority.Between},
		{name: "a terminal from a home directory, declared", tree: system(manager(displayServer, node{PID: 30,
			Name: "kitty", Program: "/home/u/kitty", Session: true, Below: []node{
				{PID: 31, Name: "zsh", Session: true, TTY: "/dev/pts/1", Below: []node{ask(group)}}}})),
			rules: func(r *authority.Rules) { r.Terminals = []string{"/home/u/kitty"} }, outcome: passes},
		{name: "a terminal from a home directory", tree: system(manager(displayServer, node{PID: 30, Name: "kitty",
			Program: "/home/u/kitty", Session: true, Below: []node{
				{PID: 31, Name: "zsh", Session: true, TTY: "/dev/pts/1", Below: []node{ask(group)}}}})), outcome: pin,
			cause: authority.Unproven},
		{name: "a window whose display server the agent started", tree: system(manager(displayServer,
			window(ask(group)))), with: limited(25), outcome: refused, cause: authority.Marked, agent: "acme"},
		{name: "a window whose shell took another terminal", tree: system(manager(displayServer,
			window(ask(group)))), with: func(m *machine, _ time.Time) { m.Unheld = map[int]bool{30: true} },
			outcome: pin, cause: authority.Unproven},
	}
}
