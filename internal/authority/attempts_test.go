package authority_test

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// desktop returns a machine with a window on a display, and beside it what else the
// user's session manager has adopted.
func desktop(inWindow node, beside ...node) node {
	return system(manager(append([]node{displayServer, window(inWindow)}, beside...)...))
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

func TestAttempts(t *testing.T) { askAll(t, attemptQuestions()) }

func attemptQuestions() []question {
	const acme = "acme"
	held := func(program string) node {
		return node{PID: 62, Name: program, Session: true, Below: []node{{PID: 63, Name: "sh", Session: true,
			TTY: "/dev/pts/9", Below: []node{ask(group)}}}}
	}
	no := func(name string, tree node, cause authority.Cause, agent string) question {
		return question{name: name, tree: tree, outcome: refused, cause: cause, agent: agent}
	}
	return []question{
		// An agent's shell tool.
		no("plain", desktop(agent(60, tool(ask()))), authority.BelowAgent, acme),
		no("plain, on the agent's tty", desktop(agent(60, node{PID: 61, Name: "sh", Below: []node{ask()}})),
			authority.BelowAgent, acme),
		no("through the Go client inside the agent", desktop(node{PID: me, Name: "acme",
			Program: "/home/u/.local/bin/acme"}), authority.BelowAgent, acme),
		no("env -i", desktop(agent(60, node{PID: 61, Name: "sh", Session: true, TTY: proctest.None,
			Below: []node{ask(env())}})), authority.BelowAgent, acme),
		no("setsid", desktop(agent(60, tool(ask(session)))), authority.BelowAgent, acme),
		no("setsid after a fork", desktop(agent(60), ask(detached)), authority.NoTerminal, ""),
		no("double fork, markers kept", desktop(agent(60), ask(detached, env("ACMECODE=1"))), authority.Variable, acme),
		no("double fork that kept the agent's tty", desktop(agent(60), ask(tty("/dev/pts/1"))),
			authority.LostSession, ""),
		no("double fork adopted by pid 1", system(node{PID: me, Name: "hookmux", User: user, TTY: proctest.None}),
			authority.NoTerminal, ""),
		no("nohup below the tool", desktop(agent(60, tool(node{PID: 62, Name: "nohup", Below: []node{ask()}}))),
			authority.BelowAgent, acme),
		no("script(1) below the tool", desktop(agent(60, tool(node{PID: 62, Name: "script", Below: []node{{PID: 63,
			Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(env())}}}}))), authority.BelowAgent, acme),
		no("script(1) adopted by pid 1", system(node{PID: 62, Name: "script", User: user, Session: true,
			Below: []node{{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}}),
			authority.NoTerminal, ""),
		{name: "a python pty whose maker went away", tree: system(node{PID: 63, Name: "sh", User: user,
			Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}), outcome: pin, cause: authority.Unproven},
		{name: "expect after a double fork", tree: system(manager(held("expect"))), outcome: pin,
			cause: authority.Unproven},
		{name: "systemd-run --user --pty", tree: system(manager(ask(session, tty("/dev/pts/9")))), outcome: pin,
			cause: authority.Unproven},
		no("a marker in the shell above, not in the command", system(manager(node{PID: 61, Name: "sh",
			Env: []string{"PATH=/bin", "ACME_PID=60"}, Below: []node{ask()}})), authority.Variable, acme),
		no("markers inside a genuine window", desktop(ask(env("AGENT=scripted"))), authority.Variable, "scripted"),
		no("tmux run-shell with script(1)", system(manager(node{PID: 40, Name: "tmux: server",
			Program: "/usr/bin/tmux", Session: true, Below: []node{
				{PID: 43, Name: "sh", Below: []node{{PID: 44, Name: "script", Below: []node{{PID: 45, Name: "sh",
					Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}}}}}})), authority.NoTerminal, ""),
		no("tmux started by the agent, still below it", desktop(agent(60, tmuxServer(ask()))), authority.BelowAgent,
			acme),
		no("tmux started by the agent, variables kept", system(manager(node{PID: 40, Name: "tmux: server",
			Program: "/usr/bin/tmux", Session: true, Env: []string{"ACMECODE=1"}, Below: []node{
				{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{ask()}}}})), authority.Variable,
			acme),
		no("a window the agent opened", system(manager(node{PID: 30, Name: "xterm", Session: true,
			Env: []string{"ACMECODE=1"}, Below: []node{
				{PID: 31, Name: "sh", Session: true, TTY: "/dev/pts/2", Below: []node{ask()}}}})), authority.Variable,
			acme),
		no("a terminal's background job", desktop(node{PID: 35, Name: "sh", Group: true, Foreground: 31,
			Below: []node{ask()}}), authority.Background, ""),
		no("an editor's extension", system(manager(node{PID: 30, Name: "code", Program: "/usr/share/code/code",
			Session: true, Below: []node{{PID: 36, Name: "sh", Below: []node{ask()}}}})), authority.NoTerminal, ""),
		no("an orphan adopted inside a window, in its old session", desktop(node{PID: 33, Name: "dumb-init",
			Below: []node{
				agent(60, node{PID: 61, Name: "sh", Session: true, TTY: "/dev/pts/1", Below: []node{{PID: me,
					Name: "hookmux", Parent: 33}}})}}), authority.LostSession, ""),

		// Masks.
		{name: "an orphan that calls itself sshd", tree: system(manager(held("sshd"))), outcome: pin,
			cause: authority.Unproven},
		{name: "a set-uid program called sshd", tree: system(manager(node{PID: 62, Name: "sshd", Program: hidden,
			Effective: root, Session: true, Below: []node{
				{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})), outcome: pin,
			cause: authority.Unproven},
		{name: "a child of root's sshd that makes a pty", tree: system(node{PID: 10, Name: "sshd", Session: true,
			Below: []node{{PID: 12, Name: "sshd", User: user, Program: "/home/u/sshd", Session: true, Below: []node{
				{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}}}}), outcome: pin,
			cause: authority.Unproven},
		no("a name with an escape sequence", system(manager(node{PID: 62, Name: "x\x1b[2J\u202e", Session: true,
			Below: []node{ask()}})), authority.NoTerminal, ""),

		// Not a person.
		no("cron", system(node{PID: 10, Name: "cron", Session: true, Below: []node{{PID: 12, Name: "sh", User: user,
			Session: true, Below: []node{ask()}}}}), authority.Timer, ""),
		no("cron that opens a pty", system(node{PID: 10, Name: "crond", Session: true, Below: []node{{PID: 12,
			Name: "script", User: user, Below: []node{ask(session, tty("/dev/pts/9"))}}}}), authority.Timer, ""),
		no("at", system(node{PID: 10, Name: "atd", Session: true, Below: []node{{PID: 12, Name: "sh", User: user,
			Session: true, Below: []node{ask()}}}}), authority.Timer, ""),
		no("a user service", system(manager(ask(session))), authority.NoTerminal, ""),
		no("ssh host command", system(node{PID: 10, Name: "sshd", Session: true, Below: []node{{PID: 12,
			Name: "sshd", User: user, Program: hidden, Below: []node{
				{PID: 13, Name: "sh", Session: true, Below: []node{ask()}}}}}}), authority.NoTerminal, ""),
		no("ssh host script(1)", system(node{PID: 10, Name: "sshd", Session: true, Below: []node{{PID: 12,
			Name: "sshd", User: user, Program: hidden, Below: []node{
				{PID: 13, Name: "script", Session: true, Below: []node{ask(session, tty("/dev/pts/9"))}}}}}}),
			authority.NoTerminal, ""),
		no("a hook run by the daemon", system(manager(node{PID: daemon, Name: "hookmux", Session: true,
			Below: []node{{PID: 51, Name: "sh", Below: []node{ask()}}}})), authority.BelowDaemon, ""),
		no("a hook run by a daemon in a window", desktop(node{PID: daemon, Name: "hookmux", Below: []node{{PID: 51,
			Name: "sh", Below: []node{ask()}}}}), authority.BelowDaemon, ""),

		// Containers.
		no("docker exec without a tty", node{PID: 13, Name: "sh", User: user, Session: true, Below: []node{ask()}},
			authority.NoTerminal, ""),
		no("docker exec without a tty, then script(1)", node{PID: 13, Name: "script", User: user, Session: true,
			Below: []node{ask(session, tty("/dev/pts/9"))}}, authority.NoTerminal, ""),
		no("docker exec -it of an agent", node{PID: 13, Name: "acme", User: user, Session: true, TTY: "/dev/pts/0",
			Below: []node{ask()}}, authority.BelowAgent, acme),
		no("an orphan in an agent's foreground group below pid 1", node{PID: 1, Name: "bash", User: user,
			Session: true, TTY: "/dev/pts/0", Foreground: 60, Below: []node{
				agent(60, adopted)}}, authority.LostSession, ""),
		no("an orphan in the group of a script that ran the agent", node{PID: 1, Name: "tini", User: user,
			Session: true, TTY: "/dev/pts/0", Foreground: 7, Below: []node{
				{PID: 7, Name: "sh", Group: true, Below: []node{adopted}}}}, authority.LostSession, ""),
		no("an orphan in the background below pid 1", node{PID: 1, Name: "bash", User: user, Session: true,
			TTY: "/dev/pts/0", Foreground: 60, Below: []node{
				agent(60), ask(group)}}, authority.Background, ""),
		{name: "an orphan with its own pty below pid 1", tree: node{PID: 1, Name: "bash", User: user, Session: true,
			TTY: "/dev/pts/0", Foreground: 60, Below: []node{
				agent(60), ask(session, tty("/dev/pts/9"), func(n *node) { n.Foreground = me })}}, outcome: pin,
			cause: authority.Unproven},

		// Broken chains.
		no("a parent that is a reused pid", system(manager(node{PID: 30, Name: "xterm", Session: true,
			Start: 1 << 40, Below: []node{
				{PID: 31, Name: "zsh", Session: true, TTY: "/dev/pts/1", Below: []node{ask(group)}}}})),
			authority.LostSession, ""),
		no("a parent nobody can see", node{PID: me, Name: "hookmux", User: user, TTY: "/dev/pts/1", Parent: 999},
			authority.LostSession, ""),
		no("a chain in a circle", node{PID: 31, Name: "sh", User: user, Parent: me, Start: 5,
			Below: []node{{PID: me, Name: "hookmux", Parent: 31, Start: 5}}}, authority.NoTerminal, ""),
		no("nested too deeply", desktop(nested(200)), authority.TooDeep, ""),
		no("terminals nested too deeply", scripts(8), authority.TooDeep, ""),
		no("gone already", desktop(node{PID: 35, Name: "sh"}), authority.Invisible, ""),
		{name: "a limit that somebody else set", tree: desktop(ask(group)), with: func(m *machine, _ time.Time) {
			m.Limits = map[int]uint64{me: 1024}
		}, outcome: refused, cause: authority.Marked},
		{name: "a machine on which everything is limited", tree: desktop(ask(group)), with: func(m *machine,
			_ time.Time) {
			m.Limits = map[int]uint64{}
			for _, pid := range []int{1, 20, 25, 30, 31, me} {
				m.Limits[pid] = 1024
			}
		}, outcome: passes},
	}
}

// scripts are terminals one inside the other, all made by script(1).
func scripts(depth int) node {
	n := ask(group)
	for i := range depth {
		name := "/dev/pts/" + string(rune('b'+i))
		n = node{PID: 300 + 2*i, Name: "script", Group: true, Below: []node{{PID: 301 + 2*i, Name: "sh",
			Session: true, TTY: name, Below: []node{n}}}}
	}
	return system(sshLogin(n))
}
