package authority_test

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// An agent stands behind a caller by a process above it, by variables or by the mark. A caller that cannot be seen
// counts as accused; what the daemon or a timer started does not.
func TestAccused(t *testing.T) {
	for _, c := range []struct {
		name    string
		tree    node
		with    func(*machine, time.Time)
		accused bool
		agent   string
		pid     int
	}{
		{name: "a person", tree: system(sshLogin(ask(group)))},
		{name: "a timer", tree: system(node{PID: 9, Name: "cron", Below: []node{ask()}})},
		{name: "below an agent", tree: system(sshLogin(agent(60, tool(ask())))), accused: true, agent: "acme", pid: 60},
		{name: "the agent itself", tree: system(sshLogin(node{PID: me, Name: "acme"})), accused: true, agent: "acme", pid: me},
		{name: "variables alone", tree: system(manager(ask(env("ACMECODE=1")))), accused: true},
		{name: "variables of a parent", tree: system(manager(node{PID: 61, Name: "sh", Env: []string{"ACMECODE=1"},
			Below: []node{ask()}})), accused: true},
		{name: "the mark alone", tree: system(manager(ask())), with: limited(me), accused: true},
		{name: "everything is limited alike", tree: system(manager(ask())), with: limited(me, 20, 1)},
		{name: "below the daemon", tree: system(node{PID: daemon, Name: "hookmux", Below: []node{ask()}})},
		{name: "below a daemon that an agent started", tree: system(agent(60, node{PID: daemon, Name: "hookmux",
			Below: []node{ask()}}))},
		{name: "an agent that the daemon started", tree: system(node{PID: daemon, Name: "hookmux", Below: []node{
			agent(60, ask())}}), accused: true, agent: "acme", pid: 60},
		{name: "gone", tree: system(), accused: true},
		{name: "deeper than anybody looks", tree: system(nested(200)), accused: true},
	} {
		table := proctest.New(c.tree)
		j := evaluatorOf(table)
		if c.with != nil {
			m := machine{Table: table}
			c.with(&m, time.Now())
			j.Source = m
		}
		caller, accused := j.Accused(proc.Cred{UID: user, PID: me})
		if accused != c.accused || caller.Agent != c.agent || caller.PID != c.pid {
			t.Errorf("%s: got accused %v by %q, process %d; want %v by %q, process %d", c.name, accused, caller.Agent,
				caller.PID, c.accused, c.agent, c.pid)
		}
	}
	table := proctest.New(system(manager(agent(daemon, ask()))))
	if _, accused := evaluatorOf(table).Accused(proc.Cred{UID: user, PID: daemon}); accused {
		t.Error("the daemon's own program is accused, want it free")
	}
	blind := evaluatorOf(table)
	blind.Source, blind.Now = nil, func() time.Time { return time.Unix(5000, 0) }
	if _, accused := blind.Accused(proc.Cred{UID: user, PID: 20}); accused {
		t.Error("without other facts than processes: a person's program is accused, want it free")
	}
}

// Whoever has the number of a process that was there before the connection is somebody else.
func TestAccusedByAnOldConnection(t *testing.T) {
	table := proctest.New(system(sshLogin(ask(group))))
	p, err := table.Lookup(me)
	if err != nil {
		t.Fatal(err)
	}
	for at, want := range map[uint64]bool{0: false, p.Start - 1: true, p.Start: false, p.Start + 1: false} {
		cred := table.Cred(me)
		cred.At = at
		if _, accused := evaluatorOf(table).Accused(cred); accused != want {
			t.Errorf("connected at %d, began at %d: got accused %v, want %v", at, p.Start, accused, want)
		}
	}
}

func TestKindsOfProcesses(t *testing.T) {
	for _, c := range []struct {
		name, program  string
		shell, serving bool
	}{
		{"bash", "/usr/bin/bash", true, false}, {"bash", "/home/u/bash", false, false}, {"vim", "/usr/bin/vim", false, false},
		{"bash", proctest.Hidden, false, true}, {"sshd", "/usr/sbin/sshd", false, true}, {"x", "/usr/bin/tmux", false, true},
		{"tmux: server", "/usr/bin/x", false, true}, {"systemd", "/usr/lib/systemd/systemd", false, true},
		{"launchd", "/sbin/launchd", false, true}, {"mine", "/home/u/mine", false, true}, {"acme", "/usr/bin/acme", false, false},
	} {
		table := proctest.New(node{PID: 60, Name: c.name, Program: c.program, User: user})
		p, err := table.Lookup(60)
		if err != nil {
			t.Fatal(err)
		}
		r := rules()
		r.Terminals = []string{"/home/u/mine"}
		if shell, serving := r.RunsShell(table, p), r.ServesTerminals(table, p); shell != c.shell || serving != c.serving {
			t.Errorf("%s (%s): got shell %v, serves terminals %v; want %v, %v", c.name, c.program, shell, serving, c.shell,
				c.serving)
		}
	}
	if authority.Class(7).String() != "class 7" {
		t.Errorf("an unknown class reads %q, want class 7", authority.Class(7))
	}
}
