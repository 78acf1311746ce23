package terminal

import (
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// limits plays the limits of processes; children are taken from the tree.
type limits struct {
	of    map[int]uint64
	reads int
}

func markerOf(table proc.Table, l *limits, below map[int][]int) *Marker {
	m := NewMarker(table)
	m.fileLocks = func(pid int) (uint64, error) {
		l.reads++
		if limit, ok := l.of[pid]; ok {
			return limit, nil
		}
		return proc.Unlimited, nil
	}
	m.limit = func(pid int, limit uint64) error { l.of[pid] = limit; return nil }
	m.below = func(pid int) []int { return below[pid] }
	return m
}

func TestMarksAnAgentAndWhatRunsBelowItOnce(t *testing.T) {
	table := proctest.New(proctest.Node{PID: 60, Name: "acme", User: 1000, Below: []proctest.Node{{PID: 61,
		Name: "sh"}, {PID: 62, Name: "node"}}})
	l := &limits{of: map[int]uint64{62: authority.MarkFor("outer", table60(t, table).StartTime)}}
	m := markerOf(table, l, map[int][]int{60: {61, 62}})
	start := table60(t, table).Start
	m.Mark("acme", 60, start)
	want := authority.MarkFor("acme", table60(t, table).StartTime)
	if l.of[60] != want || l.of[61] != want {
		t.Errorf("limits are %x, want %x for 60 and 61", l.of, want)
	}
	if l.of[62] == want {
		t.Error("what an outer agent started is said to be the inner one's")
	}
	reads, before := l.reads, maps.Clone(l.of)
	m.Mark("acme", 60, start)
	if l.reads != reads || !maps.Equal(before, l.of) {
		t.Errorf("a second call looked again: %d reads", l.reads-reads)
	}
	m.Mark("acme", 61, start+1000) // another process has that pid by now
	if l.of[61] != want {
		t.Error("a process that came later was marked")
	}
	var none *Marker
	none.Mark("acme", 60, start)
}

func table60(t *testing.T, table proc.Table) proc.Process {
	t.Helper()
	p, err := table.Lookup(60)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestUnknownCaller(t *testing.T) {
	user := os.Getuid() + 1000 // not root's, whoever tests
	type node = proctest.Node
	hook := node{PID: 77, Name: "hookmux-hook"}
	shell := func(below ...node) node { return node{PID: 61, Name: "sh", Below: below} }
	login := func(below ...node) node {
		return node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: []node{
			{PID: 50, Name: "hookmux", Program: "/home/u/bin/hookmux", User: user, Session: true},
			{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/pts/1", Below: below}}}
	}
	rules := authority.Rules{UID: user, DaemonPID: 50, Sound: func(int, proc.Process, string) bool { return true }}
	for _, c := range []struct {
		name string
		tree node
		want int
	}{
		{"an agent nobody knows", login(node{PID: 60, Name: "frobnicate", Below: []node{hook}}), 60},
		{"the same through a shell", login(node{PID: 60, Name: "frobnicate", Below: []node{shell(hook)}}), 60},
		{"a script in an interpreter", login(node{PID: 60, Name: "python3", Below: []node{shell(hook)}}), 60},
		{"a person who tries a hook", login(hook), 0},
		{"a person's script", login(shell(hook)), 0},
		{"tmux", node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux", User: user, Session: true,
			Below: []node{shell(hook)}}, 0},
		{"an editor with terminals", node{PID: 40, Name: "code", Program: "/usr/share/code/code", User: user,
			Session: true, Below: []node{hook}}, 0},
		{"a service of the user", node{PID: 20, Name: "systemd", Program: "/usr/lib/systemd/systemd", User: user,
			Session: true, Below: []node{hook}}, 0},
		{"cron", node{PID: 10, Name: "cron", User: proctest.Root, Session: true, Below: []node{{PID: 61, Name: "sh",
			User: user, Session: true, Below: []node{hook}}}}, 0},
		{"a command of hookmux that tries a hook", login(node{PID: 60, Name: "hookmux",
			Program: "/home/u/bin/hookmux", Below: []node{hook}}), 0},
		{"the same below an agent", login(node{PID: 59, Name: "frobnicate", Below: []node{{PID: 60,
			Name: "hookmux", Program: "/home/u/bin/hookmux", Below: []node{hook}}}}), 59},
		{"another program of that name", login(node{PID: 60, Name: "hookmux", Program: "/tmp/hookmux",
			Below: []node{hook}}), 60},
		{"the daemon itself", node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: []node{
			{PID: 50, Name: "hookmux", User: user, Below: []node{hook}}}}, 0},
		{"the first process of a container", node{PID: 1, Name: "frobnicate", User: user, Session: true,
			Below: []node{hook}}, 0},
	} {
		table := proctest.New(c.tree)
		chain := proc.Ancestry(table, 77, 32)[1:]
		for i := range chain {
			chain[i].UID, chain[i].EUID = 0, 0 // whoever walked up did not look at owners
		}
		p, _, ok := NewMarker(table).unknownCaller(&rules, slices.Clone(chain))
		if ok != (c.want != 0) || ok && p.PID != c.want {
			t.Errorf("%s: got %d, %v; want %d", c.name, p.PID, ok, c.want)
		}
	}
}

// A person tries a hook in their shell; an agent that nobody knows, started from
// that shell at once, is marked all the same.
func TestMarkUnknownBelowShellThatWasLookedAt(t *testing.T) {
	user := os.Getuid() + 1000
	type node = proctest.Node
	table := proctest.New(node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: []node{
		{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/pts/1", Below: []node{
			{PID: 60, Name: "frobnicate", Below: []node{
				{PID: 61, Name: "sh", Below: []node{{PID: 77, Name: "hookmux-hook"}}}}},
			{PID: 78, Name: "hookmux-hook"}}}}})
	rules := authority.Rules{UID: user, DaemonPID: 50, Sound: func(int, proc.Process, string) bool { return true }}
	l := &limits{of: map[int]uint64{}}
	m := markerOf(table, l, nil)
	m.MarkUnknown(&rules, proc.Ancestry(table, 78, 32)[1:])
	if len(l.of) != 0 {
		t.Fatalf("a person's own shell: %v were marked, want none", l.of)
	}
	reads := &countingTable{Table: table}
	m.table = reads
	m.MarkUnknown(&rules, proc.Ancestry(table, 78, 32)[1:])
	if reads.lookups != 0 {
		t.Errorf("the same shell a moment later: %d processes were read, want none", reads.lookups)
	}
	m.MarkUnknown(&rules, proc.Ancestry(table, 77, 32)[1:])
	if _, ok := l.of[60]; !ok || len(l.of) != 1 {
		t.Errorf("an agent that nobody knows: %v were marked, want 60", l.of)
	}
}

// countingTable counts how many processes are looked up.
type countingTable struct {
	proc.Table
	lookups int
}

func (c *countingTable) Lookup(pid int) (proc.Process, error) {
	c.lookups++
	return c.Table.Lookup(pid)
}
