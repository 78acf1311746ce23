package authority

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

func TestOtherUsersMayNothing(t *testing.T) {
	table := machine(window(ask()))
	for _, class := range []Class{Report, Read, Decide} {
		for _, uid := range []int{0, user + 1} {
			v := judge(table).May(class, proc.Cred{UID: uid, PID: me}, nil)
			if v.OK || !strings.Contains(v.Reason, "user") {
				t.Errorf("%s by user %d: %+v", class, uid, v)
			}
		}
	}
}

func TestReportAndReadLookAtNobody(t *testing.T) {
	table := machine(window(agent(60, tool(ask()))))
	for _, class := range []Class{Report, Read} {
		if v := judge(table).May(class, table.Cred(me), func() []string { return []string{"ACMECODE=1"} }); !v.OK {
			t.Errorf("%s: %s", class, v.Reason)
		}
	}
	if table.Looked() != 0 {
		t.Errorf("%d processes were looked up", table.Looked())
	}
}

func TestMethodWithoutClassIsDecide(t *testing.T) {
	table := machine(window(agent(60, ask())))
	var forgotten Class
	for _, class := range []Class{forgotten, Class(99)} {
		if v := judge(table).May(class, table.Cred(me), nil); v.OK {
			t.Errorf("%s was allowed to an agent", class)
		}
	}
}

func TestVerdictCarriesTheChain(t *testing.T) {
	table := machine(window(ask()))
	v := judge(table).May(Decide, table.Cred(me), nil)
	if !v.OK || len(v.Chain) != 5 || v.Chain[0].PID != me || v.Chain[4].PID != 1 {
		t.Errorf("got %+v", v)
	}
	if v.Reason != "comes from gnome-terminal- (pid 30)" {
		t.Errorf("reason %q", v.Reason)
	}
}

func TestPeerEnvironmentSpeaksAgainst(t *testing.T) {
	table := machine(window(ask()))
	for _, c := range []struct {
		env   string
		agent string
	}{
		{"ACMECODE=1", "acme"}, {"ACME_FORK=1", "fork"}, {"AGENT=scripted", "scripted"},
		{"ACME_FORK=2", ""}, {"AGENT=other", ""}, {"ACMECODE=", ""}, {"ACMECODE", ""}, {"XACMECODE=1", ""}, {"PATH=ACMECODE=1", ""},
	} {
		v := judge(table).May(Decide, table.Cred(me), func() []string { return []string{"HOME=/", c.env} })
		if v.Agent != c.agent || v.OK != (c.agent == "") {
			t.Errorf("%s: %+v", c.env, v)
		}
	}
}

func TestPeerThatHandedOnItsSocket(t *testing.T) {
	table := machine(window(ask()))
	p, err := table.Lookup(me)
	if err != nil {
		t.Fatal(err)
	}
	cred := table.Cred(me)
	cred.At = p.Start - 1 // the connection is older than whoever has its pid now
	if v := judge(table).May(Decide, cred, nil); v.OK || !strings.Contains(v.Reason, "gone") {
		t.Errorf("got %+v", v)
	}
	cred.At = p.Start
	if v := judge(table).May(Decide, cred, nil); !v.OK {
		t.Error(v.Reason)
	}
}

func TestPeerOutsideOfWhatIsSeen(t *testing.T) {
	if v := judge(machine()).May(Decide, proc.Cred{UID: user}, nil); v.OK || !strings.Contains(v.Reason, "outside") {
		t.Errorf("got %+v", v)
	}
}

func TestUsersOwnTerminal(t *testing.T) {
	table := machine(node{PID: 62, Name: "kitty", Program: "/home/u/kitty.app/bin/kitty", Session: true, Below: []node{
		{PID: 63, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask()}}}})
	j := judge(table)
	if v := j.May(Decide, table.Cred(me), nil); v.OK {
		t.Fatal("a terminal in the home directory was believed")
	}
	j.Terminals = []string{"/home/u/kitty.app/bin/kitty"}
	if v := j.May(Decide, table.Cred(me), nil); !v.OK {
		t.Error(v.Reason)
	}
}

func TestDoubtfulProgramBelowAGenuineTerminal(t *testing.T) {
	table := machine(window(node{PID: 62, Name: "st", Program: "/home/u/bin/st", Below: []node{ask()}}))
	if v := judge(table).May(Decide, table.Cred(me), nil); !v.OK {
		t.Error(v.Reason)
	}
}

func TestHubOfRoot(t *testing.T) {
	j := func(table proc.Table) *Judge {
		j := judge(table)
		j.UID = 0
		return j
	}
	ssh := proctest.New(node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: []node{{PID: 10, Name: "sshd", Session: true, Below: []node{
		{PID: 13, Name: "bash", Session: true, TTY: "/dev/pts/4", Below: []node{ask()}}}}}}).Readable()
	if v := j(ssh).May(Decide, ssh.Cred(me), nil); !v.OK {
		t.Errorf("root over ssh: %s", v.Reason)
	}
	mask := proctest.New(node{PID: 1, Name: "systemd", User: proctest.Root, Session: true, Below: []node{{PID: 10, Name: "sshd", Program: "/tmp/sshd", Session: true, Below: []node{
		{PID: 13, Name: "bash", Session: true, TTY: "/dev/pts/4", Below: []node{ask()}}}}}}).Readable()
	if v := j(mask).May(Decide, mask.Cred(me), nil); v.OK || !strings.Contains(v.Reason, "/tmp/sshd") {
		t.Errorf("root's agent as sshd: %+v", v)
	}
	hidden := proctest.New(node{PID: 10, Name: "sshd", User: proctest.Root, Session: true, Below: []node{
		{PID: 13, Name: "bash", Session: true, TTY: "/dev/pts/4", Below: []node{ask()}}}})
	if v := j(hidden).May(Decide, hidden.Cred(me), nil); v.OK {
		t.Errorf("a name alone was believed: %+v", v)
	}
}

func TestCaller(t *testing.T) {
	hook := node{PID: me, Name: "hookmux-hook"}
	below := func(n node) *proctest.Table {
		n.Below = []node{{PID: 61, Name: "sh", Session: true, TTY: proctest.None, Below: []node{hook}}}
		return machine(window(n))
	}
	for _, c := range []struct {
		name  string
		table *proctest.Table
		named string
		want  string
		pid   int
	}{
		{"by name", below(node{PID: 60, Name: "acme", Program: "/x/y"}), "acme", "acme", 60},
		{"by program", below(node{PID: 60, Name: "MainThread", Program: "/opt/acme/bin/acme"}), "", "acme", 60},
		{"by path of a version", below(node{PID: 60, Name: "2.1.3", Program: "/home/u/.local/share/acme/versions/2.1.3"}), "", "acme", 60},
		{"by a program replaced by an upgrade", below(node{PID: 60, Name: "x", Program: "/opt/acme/bin/acme (deleted)"}), "", "acme", 60},
		{"by script path", below(node{PID: 60, Name: "MainThread", Program: "/usr/bin/node", Args: []string{"node", "--max-old-space-size=99", "-r", "x", "/usr/lib/node_modules/@scripted/cli/index.js", "-p"}}), "", "scripted", 60},
		{"by script name", below(node{PID: 60, Name: "python3.12", Program: "/usr/bin/python3.12", Args: []string{"python3", "/usr/bin/scripted"}}), "", "scripted", 60},
		{"by module name", below(node{PID: 60, Name: "python3", Program: "/usr/bin/python3", Args: []string{"python3", "-m", "scripted"}}), "", "scripted", 60},
		{"by script name with an ending", below(node{PID: 60, Name: "bun", Program: "/usr/bin/bun", Args: []string{"bun", "run", "/x/scripted.ts"}}), "", "scripted", 60},
		{"by a name the kernel cut", below(node{PID: 60, Name: "wordy-agent-wit", Program: proctest.Hidden}), "", "wordy", 60},
		{"by the beginning of a name", below(node{PID: 60, Name: "x", Program: "/opt/wordy-bin-x86_64"}), "", "wordy", 60},
		{"of two that fit, the first", below(node{PID: 60, Name: "acme-fork"}), "", "fork", 60},
		{"of two that fit, the named one", below(node{PID: 60, Name: "acme-fork"}), "acme", "acme", 60},
		{"a wrong name does not help", below(node{PID: 60, Name: "acme"}), "scripted", "acme", 60},
		{"the nearest of nested ones", machine(window(agent(58, node{PID: 59, Name: "sh", Below: []node{{PID: 60, Name: "scripted", Below: []node{hook}}}}))), "acme", "scripted", 60},
		{"an editor that has the script open", below(node{PID: 60, Name: "vim", Args: []string{"vim", "/usr/lib/node_modules/@scripted/cli/index.js"}}), "", "", 0},
		{"an argument of another script", below(node{PID: 60, Name: "node", Args: []string{"node", "lint.js", "/usr/lib/node_modules/@scripted/cli/index.js"}}), "", "", 0},
		{"a line of code", below(node{PID: 60, Name: "node", Args: []string{"node", "-e", "scripted"}}), "", "", 0},
		{"an interpreter alone", below(node{PID: 60, Name: "node", Args: []string{"node"}}), "", "", 0},
		{"nobody", machine(window(hook)), "acme", "", 0},
		{"gone", machine(), "acme", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := judge(c.table).Caller(me, c.named)
			if got.Agent != c.want || got.PID != c.pid {
				t.Fatalf("got %+v", got)
			}
			if got.Agent == "" {
				return
			}
			p, err := c.table.Lookup(c.pid)
			if err != nil {
				t.Fatal(err)
			}
			if got.Start != p.Start || got.TTY != "/dev/pts/1" || got.Chain[0].PID != me || got.Chain[len(got.Chain)-1].PID != c.pid {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestCallerIsCheap(t *testing.T) {
	deep := machine(window(agent(60, nested(100))))
	if got := judge(deep).Caller(me, "acme"); got.Agent != "" || deep.Looked() != maxCaller {
		t.Errorf("looked at %d processes: %+v", deep.Looked(), got.Agent)
	}
	near := machine(window(agent(60, tool(ask()))))
	if got := judge(near).Caller(me, "acme"); got.Agent != "acme" || near.Looked() != 3 {
		t.Errorf("looked at %d processes: %+v", near.Looked(), got.Agent)
	}
}

func TestFromEnviron(t *testing.T) {
	j := judge(machine())
	if got := j.FromEnviron([]string{"ACMECODE=1", "ACME_FORK=1"}); got != "fork" {
		t.Errorf("got %q", got)
	}
	if got := j.FromEnviron(nil); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestConsoles(t *testing.T) {
	for tty, want := range map[string]bool{
		"/dev/tty1": true, "/dev/ttyS0": true, "/dev/hvc0": true, "/dev/console": true, "/dev/ttyAMA0": true,
		"": false, "/dev/pts/0": false, "/dev/tty": false, "/dev/ttyp0": false, "/dev/ttys001": false, "tty1": false, "/dev/char/9:9": false,
	} {
		if got := isConsole(tty); got != (want && loginAsks || tty == "/dev/console") {
			t.Errorf("%q: %v", tty, got)
		}
	}
}
