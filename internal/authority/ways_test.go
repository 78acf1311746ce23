package authority_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// Which of several ways counts, and where a way ends.
func TestWays(t *testing.T) {
	askAll(t, clientQuestions("tmux"))
	askAll(t, clientQuestions("zellij"))
	askAll(t, loginQuestions())
	askAll(t, displayQuestions())
	askAll(t, typingQuestions())
}

// clientQuestions are clients of a multiplexer of which none sits at a trusted terminal: the
// refusal tells of an agent if one is among them, else of the first.
func clientQuestions(program string) []question {
	server := node{PID: 40, Name: program, Program: "/usr/bin/" + program, Session: true, Below: []node{
		{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{ask(group),
			{PID: 42, Name: program, Program: "/usr/bin/" + program}}}}}
	behindPython := node{PID: 62, Name: "python3", Session: true, Below: []node{
		{PID: 63, Name: program, Program: "/usr/bin/" + program, Session: true, TTY: "/dev/pts/9"}}}
	nowhere := node{PID: 64, Name: program, Program: "/usr/bin/" + program, Session: true, TTY: proctest.None}
	ofAgent := agent(66, node{PID: 67, Name: program, Program: "/usr/bin/" + program, Session: true, TTY: "/dev/pts/8"})
	with := func(clients ...int) func(m *machine, began time.Time) {
		return func(m *machine, began time.Time) {
			m.Attached = map[int][]int{40: clients}
			state := authority.Tmux{Panes: []authority.TmuxPane{{ID: "%1", TTY: "/dev/pts/2"}}}
			for _, pid := range clients {
				state.Clients = append(state.Clients, authority.TmuxClient{PID: pid, Pane: "%1", Active: began})
			}
			m.Servers = map[int]authority.Tmux{40: state}
		}
	}
	tree := system(manager(server, behindPython, nowhere, ofAgent))
	return []question{
		{name: program + ": a client behind python", tree: tree, with: with(63), outcome: pin, cause: authority.Unproven},
		{name: program + ": a client without a terminal", tree: tree, with: with(64), outcome: refused,
			cause: authority.NoTerminal},
		{name: program + ": the first of two counts", tree: tree, with: with(64, 63), outcome: refused,
			cause: authority.NoTerminal},
		{name: program + ": an agent is named", tree: tree, with: with(63, 67), outcome: refused,
			cause: authority.BelowAgent, agent: "acme"},
		{name: program + ": an agent stays named", tree: tree, with: with(67, 63), outcome: refused,
			cause: authority.BelowAgent, agent: "acme"},
		{name: program + ": a client inside of its own pane", tree: tree, with: with(42), outcome: refused,
			cause: authority.TooDeep},
	}
}

// loginQuestions are logins over the network while an agent is connected to this machine's own ssh service: only a login
// that is known to come from elsewhere is believed.
func loginQuestions() []question {
	tree := system(sshLogin(ask(group)), manager(agent(60, node{PID: 70, Name: "ssh", Session: true, TTY: proctest.None})))
	with := func(login authority.Login, callers ...int) func(m *machine, _ time.Time) {
		return func(m *machine, _ time.Time) {
			m.LoggedIn, m.Callers = []authority.Login{{TTY: "/dev/pts/7", PID: 5, Remote: "192.0.2.9"}, login}, callers
		}
	}
	local := func(name string, login authority.Login) question {
		return question{name: "a login " + name, tree: tree, with: with(login, 70), outcome: refused,
			cause: authority.LocalLogin, agent: "acme"}
	}
	here := "/dev/pts/1"
	return []question{
		{name: "a login from elsewhere", tree: tree, outcome: passes,
			with: with(authority.Login{TTY: here, PID: 12, Remote: "192.0.2.7"}, 70)},
		{name: "a login of which nothing is known, and nobody local", tree: tree, outcome: passes,
			with: with(authority.Login{})},
		{name: "a login from this machine, and nobody local", tree: tree, outcome: passes,
			with: with(authority.Login{TTY: here, PID: 12, Remote: "127.0.0.1", Local: true})},
		{name: "a login by a name that is no address, and nobody local", tree: tree, outcome: pin,
			cause: authority.Unproven, with: with(authority.Login{TTY: here, PID: 12, Remote: "UNKNOWN", Local: true})},
		local("from this machine", authority.Login{TTY: here, PID: 12, Remote: "127.0.0.1", Local: true}),
		local("noted for another process", authority.Login{TTY: here, PID: 99, Remote: "192.0.2.7"}),
		local("noted for another terminal", authority.Login{TTY: "/dev/pts/3", PID: 12, Remote: "192.0.2.7"}),
		local("from nowhere", authority.Login{TTY: here, PID: 12}),
		{name: "a login that may come from itself", tree: system(sshLogin(ask(group),
			node{PID: 71, Name: "ssh", Foreground: 71, Group: true})), with: with(authority.Login{}, 71), outcome: refused,
			cause: authority.LocalLogin},
	}
}

// displayQuestions are terminals of an editor: the display is looked for in three processes of the same program above.
func displayQuestions() []question {
	tree := func(names ...string) node { // from the outermost down to the one that holds the terminal
		n := node{PID: 31, Name: "bash", Session: true, TTY: "/dev/pts/1", Below: []node{ask(group)}}
		for i, name := range names {
			n = node{PID: 300 + i, Name: name, Program: "/usr/share/code/" + name, Session: i == 0, Below: []node{n}}
		}
		return system(manager(displayServer, n))
	}
	at := func(pid int) func(m *machine, _ time.Time) {
		return func(m *machine, _ time.Time) { m.Displays = map[int]authority.Display{pid: {PID: 25, Input: true}} }
	}
	return []question{
		{name: "the display of the holder", tree: tree("code"), with: at(300), outcome: passes},
		{name: "the display three above", tree: tree("code", "code", "code", "code"), with: at(303), outcome: passes},
		{name: "the display four above", tree: tree("code", "code", "code", "code", "code"), with: at(304), outcome: pin,
			cause: authority.Unproven},
		{name: "the display of another program above", tree: tree("code", "frobnicate"), with: at(301), outcome: pin,
			cause: authority.Unproven},
		{name: "the display above another program", tree: tree("code", "frobnicate", "code"), with: at(302),
			outcome: pin, cause: authority.Unproven},
	}
}

// typingQuestions are about the second in which somebody typed.
func typingQuestions() []question {
	times := func(access, change, noted time.Duration) func(m *machine, began time.Time) {
		return func(m *machine, began time.Time) {
			one := authority.Terminal{Access: began.Add(access), Change: began.Add(change)}
			if noted != 0 {
				one.Noted = one.Change
			}
			m.TTYs = map[string]authority.Terminal{"/dev/pts/1": one}
		}
	}
	tree := system(sshLogin(ask(group)))
	return []question{
		{name: "read in the second in which the terminal was made", tree: tree, with: times(-9*time.Second, -9*time.Second, 0),
			outcome: code, cause: authority.NotTyped},
		{name: "read a second after", tree: tree, with: times(-8*time.Second, -9*time.Second, 0), outcome: passes},
		{name: "read in the second in which the daemon set the time back", tree: tree, with: times(0, 0, 1), outcome: passes},
		{name: "not read since the daemon set the time back", tree: tree, with: times(-time.Second, 0, 1), outcome: code,
			cause: authority.NotTyped},
		{name: "a command that takes ten seconds", tree: tree, with: times(-10*time.Second, -time.Hour, 0),
			later: 10*time.Second - 20*time.Millisecond, outcome: passes},
		{name: "a key in a view two seconds ago", tree: attached(ask(group)), with: both(shows("%1", -9*time.Second),
			watched(9*time.Second)), later: 11*time.Second - 20*time.Millisecond, outcome: passes},
		{name: "a key in a view three seconds ago", tree: attached(ask(group)), with: both(shows("%1", -9*time.Second),
			watched(9*time.Second)), later: 12 * time.Second, outcome: code, cause: authority.NotTyped},
		{name: "five terminals in between", tree: scripts(5), outcome: code, cause: authority.Between},
		{name: "six terminals in between", tree: scripts(6), outcome: refused, cause: authority.TooDeep},
	}
}

// Of several clients the one whose person meant it counts, whichever comes first.
func TestTheBestClientCounts(t *testing.T) {
	tree := system(sshLogin(node{PID: 14, Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}),
		node{PID: 15, Name: "login", Session: true, TTY: "/dev/tty1", Below: []node{
			{PID: 16, Name: "bash", User: user, Session: true, TTY: "/dev/tty1", Below: []node{
				{PID: 17, Name: "tmux: client", Program: "/usr/bin/tmux", Group: true}}}}},
		manager(tmuxServer(ask(group))))
	for _, c := range []struct {
		first, second string // what the clients 14 and 17 show
		want          authority.Outcome
		tty           string
	}{
		{"%1", "%2", code, "/dev/pts/1"}, {"%2", "%1", code, "/dev/tty1"}, {"%1", "%1", code, "/dev/pts/1"},
		{"%2", "%2", code, "/dev/pts/1"},
	} {
		q := question{tree: tree, with: func(m *machine, began time.Time) {
			m.Servers = map[int]authority.Tmux{40: {
				Panes: []authority.TmuxPane{{ID: "%1", TTY: "/dev/pts/2"}, {ID: "%2", TTY: "/dev/pts/3"}},
				Clients: []authority.TmuxClient{{PID: 14, Pane: c.first, Active: began},
					{PID: 17, Pane: c.second, Active: began}},
			}}
		}}
		if v := q.evaluate(t); v.Outcome != c.want || v.Terminal.TTY != c.tty {
			t.Errorf("clients show %s and %s: got %v at %s, want %v at %s", c.first, c.second, v.Outcome, v.Terminal.TTY,
				c.want, c.tty)
		}
	}
}

func TestTerminalsOfConsolesAndContainers(t *testing.T) {
	q := question{tree: console("/dev/tty1", ask(group))}
	if v := q.evaluate(t); v.Terminal.Kind != authority.Console || v.Terminal.Holder.PID != 10 {
		t.Errorf("a login at a console: got %v held by %d, want a console held by 10", v.Terminal.Kind, v.Terminal.Holder.PID)
	}
	// docker run -it IMAGE hookmux: the command is the container's first process.
	table := proctest.New(node{PID: 1, Name: "hookmux", User: user, Session: true, TTY: "/dev/pts/0"})
	if v := evaluatorOf(table).May(authority.Decide, table.Cred(1), nil); v.Cause == authority.LostSession ||
		v.Terminal.Kind != authority.Edge {
		t.Errorf("the first process of a container: got %v at %+v, want a place at the container's edge", v.Cause, v.Terminal)
	}
}

// A terminal without a foreground, as the kernel shows one of another namespace, is nobody's.
func TestNobodyInTheForeground(t *testing.T) {
	table := proctest.New(system(sshLogin(ask(group))))
	_, facts := evaluatorOf(table).Explain(table.Cred(me), authority.Action{}, nil)
	p := facts.Processes[me]
	p.PGID, p.Foreground = 0, 0
	facts.Processes[me] = p
	r := rules()
	if v := r.Evaluate(authority.Recorded(*facts), table.Cred(me), authority.Action{}, nil); v.Cause != authority.Background {
		t.Errorf("got %v because of %q, want it refused as in the background", v.Outcome, v.Cause)
	}
}

func TestRefusalsSayWhoAsks(t *testing.T) {
	itself := system(sshLogin(node{PID: me, Name: "acme", Group: true}))
	below := system(sshLogin(agent(60, ask())))
	for tree, want := range map[*node]string{&itself: "acme itself (pid", &below: "runs below acme (pid 60"} {
		q := question{tree: *tree}
		if v := q.evaluate(t); v.OK || !strings.Contains(v.Reason(), want) {
			t.Errorf("got %q, want a refusal with %q", v.Reason(), want)
		}
	}
	table := proctest.New(system(sshLogin(ask(group))))
	v := evaluatorOf(table).May(authority.Decide, proc.Cred{UID: user}, nil)
	if !strings.Contains(v.Reason(), "the daemon can't see the calling process") {
		t.Errorf("a peer without a number: got %q, want that it cannot be seen", v.Reason())
	}
}

// A process that began later than its child took over the number of the parent, which is gone. One that began in the
// same tick is the parent.
func TestParentsAreOlder(t *testing.T) {
	tree := func(start uint64) node {
		return system(manager(node{PID: 60, Name: "acme", Start: start, Session: true, Below: []node{
			{PID: me, Name: "hookmux-hook", Start: 5000}}}))
	}
	for start, want := range map[uint64]string{4999: "acme", 5000: "acme", 5001: ""} {
		table := proctest.New(tree(start))
		if got := evaluatorOf(table).Caller(me, "").Agent; got != want {
			t.Errorf("the agent began at %d and its hook at 5000: got caller %q, want %q", start, got, want)
		}
		if got, _ := evaluatorOf(table).Accused(table.Cred(me)); got.Agent != want {
			t.Errorf("the agent began at %d and its hook at 5000: got %q accused, want %q", start, got.Agent, want)
		}
	}
	orphan := proctest.New(node{PID: 60, Name: "sh", Parent: -1, Below: []node{{PID: me, Name: "hookmux-hook"}}})
	if got := evaluatorOf(orphan).Caller(me, ""); got.Agent != "" || orphan.Looked() != 2 {
		t.Errorf("without a parent: %d processes were looked up, want 2", orphan.Looked())
	}
}

// What is remembered of names does not change which agent a hook claims.
func TestRememberedMatches(t *testing.T) {
	table := proctest.New(system(manager(node{PID: 60, Name: "acme-fork", Session: true, Below: []node{
		{PID: me, Name: "hookmux-hook"}}})))
	j := evaluatorOf(table)
	j.RememberMatches()
	for range 2 {
		for named, want := range map[string]string{"": "fork", "acme": "acme", "fork": "fork", "scripted": "fork"} {
			if got := j.Caller(me, named).Agent; got != want {
				t.Errorf("a hook that claims %q: got %q, want %q", named, got, want)
			}
		}
	}
}

// An interpreter whose program cannot be read is known by its name.
func TestHiddenInterpreters(t *testing.T) {
	script := []string{"node", "/usr/lib/node_modules/@scripted/cli/index.js"}
	for _, c := range []struct{ name, program, want string }{
		{"node", proctest.Hidden, "scripted"}, {"node", "/usr/bin/node", "scripted"}, {"node", "/usr/bin/vim", ""},
		{"vim", proctest.Hidden, ""},
	} {
		table := proctest.New(system(manager(node{PID: 60, Name: c.name, Program: c.program, Args: script, Session: true,
			Below: []node{{PID: me, Name: "hookmux-hook"}}})))
		if got := evaluatorOf(table).Caller(me, "").Agent; got != c.want {
			t.Errorf("%s as %s: got %q, want %q", c.name, c.program, got, c.want)
		}
	}
}
