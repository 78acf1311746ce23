package authority_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

func evaluatorOf(table *proctest.Table) *authority.Evaluator {
	return &authority.Evaluator{Rules: rules(), Table: table, Source: machine{Table: table, LoggedIn: fromAfar}}
}

func TestOtherUsersMayNothing(t *testing.T) {
	table := proctest.New(system(sshLogin(ask(group))))
	for _, class := range []authority.Class{authority.Report, authority.Read, authority.Decide} {
		for _, uid := range []int{0, user + 1} {
			v := evaluatorOf(table).May(class, proc.Cred{UID: uid, PID: me}, nil)
			if v.OK || v.Cause != authority.OtherUser {
				t.Errorf("%s by user %d: %+v; want !v.OK and v.Cause == authority.OtherUser", class, uid, v)
			}
		}
	}
}

func TestReportAndReadLookAtNobody(t *testing.T) {
	table := proctest.New(system(sshLogin(agent(60, tool(ask())))))
	for _, class := range []authority.Class{authority.Report, authority.Read} {
		if v := evaluatorOf(table).May(class, table.Cred(me), func() []string { return []string{"ACMECODE=1"} }); !v.OK {
			t.Errorf("%s: v.Reason = %s, want v.OK", class, v.Reason())
		}
	}
	if table.Looked() != 0 {
		t.Errorf("%d processes were looked up", table.Looked())
	}
}

func TestMethodWithoutClassIsDecide(t *testing.T) {
	table := proctest.New(system(sshLogin(agent(60, ask()))))
	var forgotten authority.Class
	for _, class := range []authority.Class{forgotten, authority.Class(99)} {
		if v := evaluatorOf(table).May(class, table.Cred(me), nil); v.OK {
			t.Errorf("%s was allowed to an agent", class)
		}
	}
}

func TestWithoutFactsNobodyIsAPerson(t *testing.T) {
	table := proctest.New(system(sshLogin(ask(group, func(n *node) { n.Foreground = me }))))
	j := evaluatorOf(table)
	j.Source = nil
	if v := j.May(authority.Decide, table.Cred(me), nil); v.OK {
		t.Errorf("got %+v; want !v.OK", v)
	}
}

func TestVerdictCarriesTheChainAndTheTerminal(t *testing.T) {
	table := proctest.New(system(sshLogin(ask(group))))
	v := evaluatorOf(table).May(authority.Decide, table.Cred(me), nil)
	if !v.OK || len(v.Chain) != 6 || v.Chain[0].PID != me || v.Chain[5].PID != 1 {
		t.Errorf("got %+v; want v.OK, len(v.Chain) == 6, v.Chain[0].PID == me and v.Chain[5].PID == 1", v)
	}
	if v.Terminal.Kind != authority.Remote || v.Terminal.TTY != "/dev/pts/1" || v.Terminal.Leader.PID != 13 ||
		v.Terminal.Holder.PID != 12 {
		t.Errorf(`place %+v; want v.Terminal.Kind == authority.Remote, v.Terminal.TTY == "/dev/pts/1", `+
			`v.Terminal.Leader.PID == 13 and v.Terminal.Holder.PID == 12`, v.Terminal)
	}
}

func TestRefusalNamesTheAgentAndSinceWhen(t *testing.T) {
	q := question{tree: system(manager(tmuxServer(ask(group)))), with: limited(40, 41, me)}
	v := q.evaluate(t)
	if v.Agent != "acme" || !v.Since.Equal(time.Unix(500, 0)) {
		t.Errorf(`got %q since %v; want v.Agent == "acme" and v.Since.Equal(time.Unix(500, 0))`, v.Agent, v.Since)
	}
	for _, part := range []string{"acme", "tmux: server (pid 40)", time.Unix(500, 0).Format("Jan 2 15:04")} {
		if !strings.Contains(v.Reason(), part) {
			t.Errorf("%q does not say %q", v.Reason(), part)
		}
	}
}

func TestPeerEnvironmentSpeaksAgainst(t *testing.T) {
	table := proctest.New(system(sshLogin(ask(group))))
	for _, c := range []struct {
		env   string
		agent string
	}{
		{"ACMECODE=1", "acme"}, {"ACME_FORK=1", "fork"}, {"AGENT=scripted", "scripted"},
		{"ACME_FORK=2", ""}, {"AGENT=other", ""}, {"ACMECODE=", ""}, {"ACMECODE", ""}, {"XACMECODE=1", ""},
		{"PATH=ACMECODE=1", ""},
	} {
		v := evaluatorOf(table).May(authority.Decide, table.Cred(me), func() []string { return []string{"HOME=/", c.env} })
		if v.Agent != c.agent || v.OK != (c.agent == "") {
			t.Errorf(`%s: v = %+v, want v.Agent = %q and v.OK = (c.agent == "")`, c.env, v, c.agent)
		}
	}
}

func TestPeerThatHandedOnItsSocket(t *testing.T) {
	table := proctest.New(system(sshLogin(ask(group))))
	p, err := table.Lookup(me)
	if err != nil {
		t.Fatal(err)
	}
	cred := table.Cred(me)
	cred.At = p.Start - 1 // the connection is older than whoever has its pid now
	if v := evaluatorOf(table).May(authority.Decide, cred, nil); v.OK || v.Cause != authority.Invisible {
		t.Errorf("got %+v; want !v.OK and v.Cause == authority.Invisible", v)
	}
	cred.At = p.Start
	if v := evaluatorOf(table).May(authority.Decide, cred, nil); !v.OK {
		t.Errorf("v.Reason = %q, want v.OK", v.Reason())
	}
	if v := evaluatorOf(table).May(authority.Decide, proc.Cred{UID: user}, nil); v.OK || v.Cause != authority.Invisible {
		t.Errorf("a peer that cannot be seen: %+v", v)
	}
}

func TestDaemonOfRoot(t *testing.T) {
	ofRoot := func(tree node) authority.Verdict {
		table := proctest.New(tree).Readable()
		j := evaluatorOf(table)
		j.UID = 0
		return j.May(authority.Decide, proc.Cred{PID: me}, nil)
	}
	ssh := func(program string) node {
		return system(node{PID: 12, Name: "sshd", Program: program, Session: true, Below: []node{
			{PID: 13, Name: "bash", Session: true, TTY: "/dev/pts/1", Below: []node{ask(group)}}}})
	}
	if v := ofRoot(ssh("/usr/sbin/sshd")); !v.OK {
		t.Errorf("root over ssh: %s", v.Reason())
	}
	v := ofRoot(ssh("/tmp/sshd"))
	if v.OK || v.Cause != authority.Unproven {
		t.Errorf("root's agent as sshd: %+v", v)
	}
	if strings.Contains(v.Reason(), "use ssh") || !strings.Contains(v.Reason(), "own ssh service") {
		t.Errorf("somebody who came by ssh is told %q, want no advice to use ssh", v.Reason())
	}
}

func TestMarksSayWhoAndWhen(t *testing.T) {
	began := time.Unix(1_800_000_000, 0)
	mark := authority.MarkFor("acme", began)
	if mark >= authority.Unlimited || mark == authority.MarkFor("fork", began) || mark == authority.MarkFor("acme",
		began.Add(time.Second)) {
		t.Errorf(`mark %x; want mark < authority.Unlimited, mark != authority.MarkFor("fork", began) and `+
			`mark != authority.MarkFor("acme", began.Add(time.Second))`, mark)
	}
	for _, agent := range []string{"", "a", "acme", "scripted"} {
		for _, at := range []time.Time{time.Unix(-5, 0), time.Unix(0, 0), began, time.Unix(1<<33-1, 0)} {
			if m := authority.MarkFor(agent, at); m>>33 == 0 || m >= 1<<57 {
				t.Errorf("%q at %v: %x; want m>>33 != 0 and m < 1<<57", agent, at, m)
			}
		}
	}
}

func TestCaller(t *testing.T) {
	hook := node{PID: me, Name: "hookmux-hook"}
	below := func(n node) *proctest.Table {
		n.Below = []node{{PID: 61, Name: "sh", Session: true, TTY: proctest.None, Below: []node{hook}}}
		return proctest.New(system(manager(window(n))))
	}
	script := "/usr/lib/node_modules/@scripted/cli/index.js"
	node22 := func(args ...string) node {
		return node{PID: 60, Name: "MainThread", Program: "/usr/bin/node", Args: append([]string{"node"}, args...)}
	}
	type row struct {
		name  string
		table *proctest.Table
		named string
		want  string
		pid   int
	}
	rows := []row{
		{"by name", below(node{PID: 60, Name: "acme", Program: "/x/y"}), "acme", "acme", 60},
		{"by program", below(node{PID: 60, Name: "MainThread", Program: "/opt/acme/bin/acme"}), "", "acme", 60},
		{"by path of a version", below(node{PID: 60, Name: "2.1.3",
			Program: "/home/u/.local/share/acme/versions/2.1.3"}), "", "acme", 60},
		{"by a program replaced by an upgrade", below(node{PID: 60, Name: "x",
			Program: "/opt/acme/bin/acme (deleted)"}), "", "acme", 60},
		{"by script path", below(node22("--max-old-space-size=99", "-r", "x", script, "-p")), "", "scripted", 60},
		{"by script name", below(node{PID: 60, Name: "python3.12", Program: "/usr/bin/python3.12",
			Args: []string{"python3", "/usr/bin/scripted"}}), "", "scripted", 60},
		{"by module name", below(node{PID: 60, Name: "python3", Program: "/usr/bin/python3",
			Args: []string{"python3", "-m", "scripted"}}), "", "scripted", 60},
		{"by script name with an ending", below(node{PID: 60, Name: "bun", Program: "/usr/bin/bun",
			Args: []string{"bun", "run", "/x/scripted.ts"}}), "", "scripted", 60},
		{"by a name the kernel cut", below(node{PID: 60, Name: "wordy-agent-wit", Program: proctest.Hidden}), "",
			"wordy", 60},
		{"by the beginning of a name", below(node{PID: 60, Name: "x", Program: "/opt/wordy-bin-x86_64"}), "",
			"wordy", 60},
		{"of two that fit, the first", below(node{PID: 60, Name: "acme-fork"}), "", "fork", 60},
		{"of two that fit, the named one", below(node{PID: 60, Name: "acme-fork"}), "acme", "acme", 60},
		{"a wrong name does not help", below(node{PID: 60, Name: "acme"}), "scripted", "acme", 60},
		{"the nearest of nested ones", proctest.New(system(manager(window(agent(58, node{PID: 59, Name: "sh",
			Below: []node{{PID: 60, Name: "scripted", Below: []node{hook}}}}))))), "acme", "scripted", 60},
		{"an editor that has the script open", below(node{PID: 60, Name: "vim", Args: []string{"vim", script}}), "",
			"", 0},
		{"an argument of another script", below(node22("lint.js", script)), "", "", 0},
		{"an argument of another script, behind a plain option", below(node22("--no-warnings", "lint.js", script)),
			"", "", 0},
		{"a line of code", below(node22("-e", "scripted")), "", "", 0},
		{"an interpreter alone", below(node22()), "", "", 0},
		{"nobody", proctest.New(system(manager(window(hook)))), "acme", "", 0},
		{"gone", proctest.New(system()), "acme", "", 0},
	}
	// Options with a separate value, known here or not, do not hide the script.
	for _, options := range [][]string{
		{"--title", "x"}, {"--stack-size", "9"}, {"--max-old-space-size", "99"}, {"--inspect-port", "1"},
		{"--openssl-config", "f"}, {"--icu-data-dir", "d"},
		{"--redirect-warnings", "f"}, {"--unknown-option", "v"}, {"-C", "dev"}, {"--import", "x", "--loader", "y"},
		{"--title", "x", "--no-warnings"}, {"--"},
	} {
		rows = append(rows, row{"behind " + strings.Join(options, " "), below(node22(append(slices.Clone(options),
			script, "-p")...)), "", "scripted", 60})
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			got := evaluatorOf(c.table).Caller(me, c.named)
			if got.Agent != c.want || got.PID != c.pid {
				t.Fatalf("got %+v; want got.Agent == c.want and got.PID == c.pid", got)
			}
			if got.Agent == "" {
				return
			}
			p, err := c.table.Lookup(c.pid)
			if err != nil {
				t.Fatal(err)
			}
			if got.Start != p.Start || got.TTY != "/dev/pts/1" || got.Chain[0].PID != me ||
				got.Chain[len(got.Chain)-1].PID != c.pid {
				t.Errorf(`got %+v; want got.Start == p.Start, got.TTY == "/dev/pts/1", got.Chain[0].PID == `+
					`me and got.Chain[len(got.Chain)-1].PID == c.pid`, got)
			}
		})
	}
}

func TestCallerIsCheap(t *testing.T) {
	deep := proctest.New(system(manager(window(agent(60, nested(100))))))
	if got := evaluatorOf(deep).Caller(me, "acme"); got.Agent != "" || deep.Looked() != 32 {
		t.Errorf("looked at %d processes: %+v", deep.Looked(), got.Agent)
	}
	near := proctest.New(system(manager(window(agent(60, tool(ask()))))))
	if got := evaluatorOf(near).Caller(me, "acme"); got.Agent != "acme" || near.Looked() != 3 {
		t.Errorf("looked at %d processes: %+v", near.Looked(), got.Agent)
	}
}

func TestFromEnviron(t *testing.T) {
	j := evaluatorOf(proctest.New(system()))
	if got := j.FromEnviron([]string{"ACMECODE=1", "ACME_FORK=1"}); got != "fork" {
		t.Errorf(`got %q, want "fork"`, got)
	}
	if got := j.FromEnviron(nil); got != "" {
		t.Errorf(`got %q, want ""`, got)
	}
}
