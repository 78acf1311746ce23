package authority

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// Agents of the tests. The rules know none by name.
var marks = AgentMarks{
	{Agent: "fork", Programs: []string{"acme-fork"}, Env: []string{"ACME_FORK=1"}},
	{Agent: "acme", Programs: []string{"acme", "acme-fork"}, Paths: []string{"/acme/versions/"}, Env: []string{"ACMECODE", "ACME_PID"}},
	{Agent: "scripted", Programs: []string{"scripted"}, Paths: []string{"/@scripted/cli/"}, Env: []string{"AGENT=scripted"}},
	{Agent: "wordy", Programs: []string{"wordy-agent-with-a-long-name", "wordy-bin-*"}},
}

const (
	user = 1000
	me   = 77 // the pid of the command that asks, in every tree
	hub  = 50
)

type node = proctest.Node

// machine is a desktop with a user's session manager, which adopts orphans.
func machine(inSession ...node) *proctest.Table {
	return proctest.New(node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: []node{
		{PID: 20, Name: "systemd", Program: "/usr/lib/systemd/systemd", User: user, Session: true, Below: inSession},
	}})
}

// daemons is the same machine with processes of root beside the user's session.
func daemons(below ...node) *proctest.Table {
	return proctest.New(node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: below})
}

// window is a shell in a terminal, and below it what runs there.
func window(below ...node) node {
	return node{PID: 30, Name: "gnome-terminal-", Program: "/usr/libexec/gnome-terminal-server", Session: true, Below: []node{
		{PID: 31, Name: "zsh", Session: true, TTY: "/dev/pts/1", Below: below},
	}}
}

// pane is a shell in a detached multiplexer, which an orphan has become.
func pane(below ...node) node {
	return node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{
		{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: below},
	}}
}

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
func agent(pid int, below ...node) node {
	return node{PID: pid, Name: "acme", Program: "/home/u/.local/bin/acme", Group: true, Below: below}
}
func tool(below ...node) node {
	return node{PID: 61, Name: "sh", Session: true, TTY: proctest.None, Env: []string{"ACMECODE=1"}, Below: below}
}

func TestDecide(t *testing.T) {
	const yes = ""
	detached := func(n *node) { session(n); n.TTY = proctest.None }
	for _, c := range []struct {
		attempt string
		table   *proctest.Table
		// refused is a part of the reason; "" means accepted.
		refused string
		agent   string
	}{
		// People.
		{"a person in a terminal window", machine(window(ask())), yes, ""},
		{"a person in a pipeline", machine(window(ask(group))), yes, ""},
		{"a person's script, make and sudo -u", machine(window(node{PID: 32, Name: "make", Below: []node{{PID: 33, Name: "sh", Below: []node{ask()}}}})), yes, ""},
		{"an editor plugin's job without a tty, in a window", machine(window(node{PID: 32, Name: "nvim", Below: []node{ask(detached)}})), yes, ""},
		{"a person inside script(1) in a window", machine(window(node{PID: 32, Name: "script", Below: []node{{PID: 33, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}})), yes, ""},
		{"a person in a tmux pane", machine(pane(ask())), yes, ""},
		{"a person in another pane than an agent", machine(node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{
			{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{agent(60)}},
			{PID: 42, Name: "bash", Session: true, TTY: "/dev/pts/3", Below: []node{ask()}}}}), yes, ""},
		{"the hub in one tmux pane, the person in another", machine(node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{
			{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{{PID: hub, Name: "hookmux"}}},
			{PID: 42, Name: "bash", Session: true, TTY: "/dev/pts/3", Below: []node{ask()}}}}), yes, ""},
		{"tmux replaced by an upgrade while it runs", machine(node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux (deleted)", Session: true, Below: []node{
			{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{ask()}}}}), yes, ""},
		{"ssh with a tty", daemons(node{PID: 10, Name: "sshd", Session: true, Below: []node{{PID: 11, Name: "sshd-session", Session: true, Below: []node{
			{PID: 12, Name: "sshd-session", User: user, Program: proctest.Hidden, Below: []node{
				{PID: 13, Name: "bash", Session: true, TTY: "/dev/pts/4", Below: []node{ask()}}}}}}}}), yes, ""},
		{"login on a console", daemons(node{PID: 10, Name: "login", Session: true, TTY: "/dev/tty2", Below: []node{
			{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/tty2", Below: []node{ask()}}}}), yes, ""},
		{"a shell that init put on a serial line", daemons(node{PID: 13, Name: "sh", User: user, Session: true, TTY: "/dev/ttyS0", Below: []node{ask()}}), yes, ""},
		{"su from another user's terminal", daemons(node{PID: 30, Name: "xterm", User: 1001, Program: proctest.Hidden, Session: true, Below: []node{
			{PID: 31, Name: "zsh", Program: proctest.Hidden, Session: true, TTY: "/dev/pts/1", Below: []node{{PID: 32, Name: "su", User: proctest.Root, Below: []node{
				{PID: 33, Name: "bash", User: user, Below: []node{ask()}}}}}}}}), yes, ""},
		{"a click on the desktop panel", machine(node{PID: 30, Name: "gnome-shell", Session: true, Below: []node{ask()}}), yes, ""},
		{"docker exec -it", proctest.New(node{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0", Below: []node{ask()}}), yes, ""},
		{"docker exec -it of the command itself", proctest.New(node{PID: me, Name: "hookmux", User: user, Session: true, TTY: "/dev/pts/0"}), yes, ""},
		{"docker exec -it, session outside the namespace", proctest.New(node{PID: 13, Name: "bash", User: user, TTY: "/dev/pts/0", Below: []node{ask()}}), yes, ""},
		{"docker exec -it and sudo with a pty", proctest.New(node{PID: 13, Name: "sudo", User: proctest.Root, Session: true, TTY: "/dev/pts/0", Below: []node{
			{PID: 14, Name: "sudo", Session: true, TTY: "/dev/pts/1", Below: []node{{PID: 15, Name: "bash", User: user, Below: []node{ask()}}}}}}), yes, ""},
		{"docker run -it, in the foreground of pid 1", proctest.New(node{PID: 1, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0", Foreground: me, Below: []node{ask(group)}}), yes, ""},
		{"docker run -it --init", proctest.New(node{PID: 1, Name: "tini", User: user, Session: true, TTY: "/dev/pts/0", Foreground: me, Below: []node{
			{PID: 7, Name: "bash", Group: true, Below: []node{ask(group)}}}}), yes, ""},
		{"docker run -it and a script of the person's", proctest.New(node{PID: 1, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0", Foreground: 7, Below: []node{
			{PID: 7, Name: "make", Group: true, Below: []node{ask()}}}}), yes, ""},

		// An agent's shell tool.
		{"plain", machine(window(agent(60, tool(ask())))), "below acme (pid 60)", "acme"},
		{"plain, on the agent's tty", machine(window(agent(60, node{PID: 61, Name: "sh", Below: []node{ask()}}))), "below acme", "acme"},
		{"through the Go client inside the agent", machine(window(node{PID: me, Name: "acme", Program: "/home/u/.local/bin/acme"})), "acme itself", "acme"},
		{"env -i", machine(window(agent(60, node{PID: 61, Name: "sh", Session: true, TTY: proctest.None, Below: []node{ask(env())}}))), "below acme", "acme"},
		{"setsid", machine(window(agent(60, tool(ask(session))))), "below acme", "acme"},
		{"setsid after a fork", machine(window(agent(60)), ask(detached)), "no terminal", ""},
		{"double fork, markers kept", machine(window(agent(60)), ask(detached, env("ACMECODE=1"))), "carries ACMECODE", "acme"},
		{"double fork and env -i", machine(window(agent(60)), ask(detached)), "no terminal", ""},
		{"double fork that kept the agent's tty", machine(window(agent(60)), ask(tty("/dev/pts/1"))), "no known terminal stands behind /dev/pts/1", ""},
		{"double fork adopted by pid 1", daemons(node{PID: me, Name: "hookmux", User: user, TTY: proctest.None}), "no terminal", ""},
		{"nohup in the background", machine(window(agent(60)), node{PID: 61, Name: "sh", TTY: "/dev/pts/1", Below: []node{ask()}}), "no known terminal", ""},
		{"nohup below the tool", machine(window(agent(60, tool(node{PID: 62, Name: "nohup", Below: []node{ask()}})))), "below acme", "acme"},
		{"script(1) below the tool", machine(window(agent(60, tool(node{PID: 62, Name: "script", Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(env())}}}})))), "below acme", "acme"},
		{"script(1) after a double fork", machine(node{PID: 62, Name: "script", Session: true, Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}), "no known terminal stands behind /dev/pts/9", ""},
		{"script(1) adopted by pid 1", daemons(node{PID: 62, Name: "script", User: user, Session: true, Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}), "no known terminal", ""},
		{"a python pty whose maker went away", daemons(node{PID: 63, Name: "sh", User: user, Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}), "no known terminal", ""},
		{"expect, socat and unbuffer after a double fork", machine(node{PID: 62, Name: "expect", Session: true, Below: []node{{PID: 63, Name: "socat", Session: true, TTY: "/dev/pts/9", Below: []node{{PID: 64, Name: "unbuffer", Below: []node{ask()}}}}}}), "no known terminal", ""},
		{"systemd-run --user --pty", machine(ask(session, tty("/dev/pts/9"))), "no known terminal", ""},
		{"a marker in the shell above, not in the command", machine(node{PID: 61, Name: "sh", Env: []string{"PATH=/bin", "ACME_PID=60"}, Below: []node{ask()}}), "carries ACME_PID", "acme"},
		{"markers inside a genuine window", machine(window(ask(env("AGENT=scripted")))), "carries AGENT", "scripted"},

		// Multiplexers and terminals at the agent's service.
		{"tmux run-shell", machine(node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{
			{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{agent(60)}},
			{PID: 43, Name: "sh", Below: []node{ask()}}}}), "in the background", ""},
		{"tmux run-shell with script(1)", machine(node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{
			{PID: 43, Name: "sh", Below: []node{{PID: 44, Name: "script", Below: []node{{PID: 45, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}}}}}), "in the background", ""},
		{"tmux started by the agent, still below it", machine(window(agent(60, pane(ask())))), "below acme", "acme"},
		{"tmux started by the agent, detached", machine(node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Env: []string{"ACMECODE=1"}, Below: []node{
			{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{ask()}}}}), "tmux: server (pid 40) carries ACMECODE", "acme"},
		{"a window the agent opened", machine(node{PID: 30, Name: "xterm", Session: true, Env: []string{"ACMECODE=1"}, Below: []node{
			{PID: 31, Name: "sh", Session: true, TTY: "/dev/pts/2", Below: []node{ask()}}}}), "carries ACMECODE", "acme"},
		{"a terminal's background job on the tty it was started from", machine(window(node{PID: 35, Name: "kitty", Below: []node{{PID: 36, Name: "sh", Below: []node{ask()}}}})), "in the background", ""},
		{"an editor's extension", machine(node{PID: 30, Name: "code", Program: "/usr/share/code/code", Session: true, Below: []node{{PID: 36, Name: "sh", Below: []node{ask()}}}}), "in the background", ""},

		{"an orphan adopted inside a window, in its old session", machine(window(node{PID: 33, Name: "dumb-init", Below: []node{
			agent(60, node{PID: 61, Name: "sh", Session: true, TTY: proctest.None, Below: []node{{PID: me, Name: "hookmux", Parent: 33}}})}})), "lost the session", ""},

		// Masks.
		{"an orphan that calls itself sshd", machine(node{PID: 62, Name: "sshd", Program: "/home/u/x", Session: true, Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}), "no known terminal", ""},
		{"an orphan that calls itself sshd and hides its program", machine(node{PID: 62, Name: "sshd", Program: proctest.Hidden, Session: true, Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}), "no known terminal", ""},
		{"a set-uid program called sshd", machine(node{PID: 62, Name: "sshd", Program: proctest.Hidden, Effective: proctest.Root, Session: true, Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}), "no known terminal", ""},
		{"an sshd the user started", machine(node{PID: 62, Name: "sshd", Program: "/usr/sbin/sshd", Session: true, Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}), "no known terminal", ""},
		{"a terminal's name in the home directory", machine(node{PID: 62, Name: "kitty", Program: "/home/u/kitty", Session: true, Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}}), "runs from /home/u/kitty", ""},
		{"the command itself is a terminal", machine(node{PID: me, Name: "xterm", Session: true, TTY: "/dev/pts/9"}), "no known terminal", ""},
		{"a name with an escape sequence", machine(node{PID: 62, Name: "x\x1b[2J\u202e", Session: true, Below: []node{ask()}}), `x\x1b[2J\u202e`, ""},

		// Not a person.
		{"cron", daemons(node{PID: 10, Name: "cron", Session: true, Below: []node{{PID: 11, Name: "cron", Below: []node{{PID: 12, Name: "sh", User: user, Session: true, Below: []node{ask()}}}}}}), "cron, a timer", ""},
		{"cron that opens a pty", daemons(node{PID: 10, Name: "crond", Session: true, Below: []node{{PID: 12, Name: "script", User: user, Below: []node{ask(session, tty("/dev/pts/9"))}}}}), "crond, a timer", ""},
		{"at", daemons(node{PID: 10, Name: "atd", Session: true, Below: []node{{PID: 12, Name: "sh", User: user, Session: true, Below: []node{ask()}}}}), "atd, a timer", ""},
		{"a user service", machine(ask(session)), "no terminal", ""},
		{"ssh host command", daemons(node{PID: 10, Name: "sshd", Session: true, Below: []node{{PID: 12, Name: "sshd", User: user, Program: proctest.Hidden, Below: []node{
			{PID: 13, Name: "sh", Session: true, Below: []node{ask()}}}}}}), "in the background", ""},
		{"ssh host script(1)", daemons(node{PID: 10, Name: "sshd", Session: true, Below: []node{{PID: 12, Name: "sshd", User: user, Program: proctest.Hidden, Below: []node{
			{PID: 13, Name: "script", Session: true, Below: []node{ask(session, tty("/dev/pts/9"))}}}}}}), "in the background", ""},
		{"a hook run by the hub", machine(node{PID: hub, Name: "hookmux", Session: true, Below: []node{{PID: 51, Name: "sh", Below: []node{ask()}}}}), "started by the hub", ""},
		{"a hook run by a hub in a tmux pane", machine(pane(node{PID: hub, Name: "hookmux", Below: []node{{PID: 51, Name: "sh", Below: []node{ask()}}}})), "started by the hub", ""},

		// Containers.
		{"docker exec without a tty", proctest.New(node{PID: 13, Name: "sh", User: user, Session: true, Below: []node{ask()}}), "no terminal", ""},
		{"docker exec without a tty, then script(1)", proctest.New(node{PID: 13, Name: "script", User: user, Session: true, Below: []node{ask(session, tty("/dev/pts/9"))}}), "no known terminal", ""},
		{"docker exec -it of an agent", proctest.New(node{PID: 13, Name: "acme", User: user, Session: true, TTY: "/dev/pts/0", Below: []node{ask()}}), "below acme", "acme"},
		{"an orphan in a container", proctest.New(node{PID: 1, Name: "sleep", User: user, Session: true, Below: []node{ask(session, tty("/dev/pts/9"))}}), "no known terminal", ""},
		{"an orphan in an agent's foreground group below pid 1", proctest.New(node{PID: 1, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0", Foreground: 60, Below: []node{
			agent(60, adopted)}}), "no known terminal", ""},
		{"an orphan in the group of a script that ran the agent", proctest.New(node{PID: 1, Name: "tini", User: user, Session: true, TTY: "/dev/pts/0", Foreground: 7, Below: []node{
			{PID: 7, Name: "sh", Group: true, Below: []node{adopted}}}}), "no known terminal", ""},
		{"an orphan where pid 1 is a script that ran the agent", proctest.New(node{PID: 1, Name: "sh", User: user, Session: true, TTY: "/dev/pts/0", Foreground: 1, Below: []node{ask()}}), "no known terminal", ""},
		{"an orphan in the background below pid 1", proctest.New(node{PID: 1, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0", Foreground: 60, Below: []node{
			agent(60), ask(group)}}), "no known terminal", ""},
		{"an orphan with its own pty below pid 1", proctest.New(node{PID: 1, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0", Foreground: 60, Below: []node{
			agent(60), ask(session, tty("/dev/pts/9"))}}), "no known terminal", ""},

		// Broken chains.
		{"a parent that is a reused pid", machine(node{PID: 30, Name: "xterm", Session: true, Start: 1 << 40, Below: []node{
			{PID: 31, Name: "zsh", Session: true, TTY: "/dev/pts/1", Below: []node{ask()}}}}), "no known terminal", ""},
		{"a parent nobody can see", proctest.New(node{PID: me, Name: "hookmux", User: user, TTY: "/dev/pts/1", Parent: 999}), "no known terminal", ""},
		{"a chain in a circle", proctest.New(node{PID: 31, Name: "sh", User: user, Parent: me, Start: 5}, node{PID: me, Name: "hookmux", User: user, Parent: 31, Start: 5}), "no terminal", ""},
		{"nested too deeply", machine(window(nested(200))), "more than", ""},
		{"gone already", machine(window()), "gone", ""},
	} {
		t.Run(c.attempt, func(t *testing.T) {
			j := judge(c.table)
			v := j.May(Decide, proc.Cred{UID: user, PID: me}, nil)
			if c.refused == yes {
				if !v.OK {
					t.Fatal(v.Reason)
				}
				return
			}
			if v.OK {
				t.Fatalf("accepted: %s", v.Reason)
			}
			if !strings.HasPrefix(v.Reason, "refused: ") || !strings.Contains(v.Reason, c.refused) || strings.ContainsAny(v.Reason, "\n\x1b") {
				t.Errorf("reason %q, want %q", v.Reason, c.refused)
			}
			if v.Agent != c.agent {
				t.Errorf("agent %q, want %q", v.Agent, c.agent)
			}
		})
	}
}

// judge believes install places by their names alone: the files do not exist.
func judge(table proc.Table) *Judge {
	return &Judge{Table: table, Agents: marks, UID: user, HubPID: hub, Sound: func(_ int, _ proc.Process, program string) bool {
		return strings.HasPrefix(program, "/usr/")
	}}
}

// adopted is a command that pid 1 took over but that stayed in its job's group.
var adopted = node{PID: me, Name: "hookmux", Parent: 1}

func nested(depth int) node {
	n := ask()
	for i := range depth {
		n = node{PID: 1000 + i, Name: "sh", Below: []node{n}}
	}
	return n
}
