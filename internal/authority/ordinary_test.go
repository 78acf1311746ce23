package authority_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// The ways in which people use hookmux. What is not a proven terminal needs one
// trustedTerminal; everything else passes without a question.
func TestOrdinaryWays(t *testing.T) {
	unasked, trusted := ordinaryWays()
	if len(unasked) < 35 {
		t.Errorf("%d ways are listed that pass without a question, want at least 35", len(unasked))
	}
	askAll(t, unasked)
	askAll(t, programWays())
	for _, q := range trusted {
		t.Run(q.name, func(t *testing.T) {
			if v := q.evaluate(t); v.Outcome != pin && v.Outcome != code {
				t.Errorf("before it is trusted: %v (%s), want PIN or code", v.Outcome, v.Reason())
			}
			q.rules = func(r *authority.Rules) {
				r.Trusts = func(pid int, _ uint64) bool { return pid == holder }
			}
			if v := q.evaluate(t); v.Outcome != passes {
				t.Errorf("after it is trusted: %v (%s), want it to pass", v.Outcome, v.Reason())
			}
		})
	}
}

// programWays are ordinary, too, but what runs hookmux there may have been written
// by an agent: the user types a code. What only refuses more passes.
func programWays() []question {
	trees := map[string]node{
		"a shell script": system(sshLogin(below("bash"))), "a shell in a shell": system(sshLogin(below("zsh", "bash"))),
		"a script that calls make that calls a script": system(sshLogin(below("sh", "make", "bash"))),
		"sudo -u self": system(sshLogin(node{PID: 32, Name: "sudo", User: root, Group: true, Below: []node{
			{PID: 33, Name: "sudo", Session: true, TTY: "/dev/pts/5",
				Below: []node{ask(func(n *node) { n.User = user }, group)}}}})),
		"script(1)": system(sshLogin(node{PID: 32, Name: "script", Group: true, Below: []node{
			{PID: 33, Name: "sh", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}})),
	}
	for _, name := range []string{"make", "just", "task", "ninja", "time", "timeout", "xargs"} {
		trees[name] = system(sshLogin(below(name)))
	}
	var rows []question
	for name, tree := range trees {
		rows = append(rows, question{name: name + " answers", tree: tree, outcome: code, cause: authority.Between},
			question{name: name + " switches a guard on", tree: tree, action: authority.Action{Tightens: true},
				outcome: passes})
	}
	return rows
}

// holder is the pid of the terminal program in every tree here that has one.
const holder = 30

// below puts one process above others: a chain from the outside in.
func below(names ...string) node {
	at := ask()
	for i := len(names) - 1; i >= 0; i-- {
		at = node{PID: 60 + i, Name: names[i], Below: []node{at}}
	}
	at.Group = true
	return at
}

// terminalProgram returns a terminal program with a shell in it.
func terminalProgram(program, shell string, inside node) node {
	return system(manager(displayServer, node{PID: holder, Name: program, Program: "/usr/bin/" + program,
		Session: true, Below: []node{
			{PID: 31, Name: shell, Session: true, TTY: "/dev/pts/1", Below: []node{inside}}}}))
}

// loginShell returns an ssh login with another shell.
func loginShell(shell string, inside node) node {
	return node{PID: 10, Name: "sshd", Session: true, User: root, Below: []node{{PID: 11, Name: "sshd-session",
		Session: true, Below: []node{
			{PID: 12, Name: "sshd-session", User: user, Program: hidden, Below: []node{
				{PID: 13, Name: shell, Session: true, TTY: "/dev/pts/1", Below: []node{inside}}}}}}}}
}

func console(tty string, inside node) node {
	return system(node{PID: 10, Name: "login", Session: true, TTY: tty, Below: []node{
		{PID: 13, Name: "bash", User: user, Session: true, TTY: tty, Below: []node{inside}}}})
}

// heldBy returns a program that nobody can tell anything about, with a shell.
func heldBy(program string) node {
	return system(manager(displayServer, node{PID: holder, Name: program, Session: true, Below: []node{
		{PID: 31, Name: "bash", Session: true, TTY: "/dev/pts/9", Below: []node{ask(group)}}}}))
}

func ordinaryWays() (unasked, trusted []question) {
	pass := func(name string, tree node, with ...func(*machine, time.Time)) {
		unasked = append(unasked, question{name: name, tree: tree, with: both(with...), outcome: passes})
	}
	for _, shell := range []string{"bash", "zsh", "fish", "nu", "dash", "ksh"} {
		pass(shell+" over ssh", loginShell(shell, ask(group)))
	}
	for _, terminal := range []string{"gnome-terminal-server", "konsole", "xterm", "kitty", "alacritty", "wezterm-gui",
		"foot", "ghostty", "ptyxis", "kgx", "xfce4-terminal", "tilix", "urxvt", "st", "qterminal", "yakuake"} {
		pass(terminal, terminalProgram(terminal, "zsh", ask(group)))
	}
	editor := func(program string) node {
		return system(manager(displayServer, node{PID: holder, Name: program, Program: "/usr/share/code/" + program,
			Session: true, Below: []node{{PID: 35, Name: program, Program: "/usr/share/code/" + program, Below: []node{
				{PID: 36, Name: "bash", Session: true, TTY: "/dev/pts/1", Below: []node{ask(group)}}}}}}))
	}
	pass("the terminal of VS Code", editor("code"))
	pass("the terminal of VSCodium", editor("codium"))
	pass("a console", console("/dev/tty2", ask(group)))
	pass("a serial line", console("/dev/ttyS0", ask(group)))
	pass("a container, exec -it", node{PID: 13, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0",
		Below: []node{ask(group)}})
	pass("a container, run -it", node{PID: 1, Name: "bash", User: user, Session: true, TTY: "/dev/pts/0",
		Foreground: me, Below: []node{ask(group)}})
	pass("a view in tmux, over ssh", attached(ask(group)), shows("%1", -time.Minute), watched(time.Minute))
	unasked[len(unasked)-1].later = time.Minute
	for _, option := range []string{"-i", "-l", "--login", "-il", "--posix", "--norc", "--noprofile"} {
		pass("a shell with "+option, system(sshShell([]string{"-bash", option})))
	}
	pass("the middle of a pipeline", system(sshLogin(node{PID: 32, Name: "cat", Group: true}, node{PID: me,
		Name: "hookmux", Foreground: me, Group: true})))
	pass("a popup of tmux, after a key", system(sshLogin(node{PID: 14, Name: "tmux: client",
		Program: "/usr/bin/tmux", Group: true}), manager(node{PID: 40, Name: "tmux: server", Program: "/usr/bin/tmux",
		Session: true, Below: []node{ask(session, tty("/dev/pts/8"))}})), shows("", -2*time.Second),
		watched(2*time.Second))
	unasked[len(unasked)-1].later = 3 * time.Second
	pass("the live view, an hour later", system(sshLogin(ask(group))), typedAgo(-time.Hour))
	unasked[len(unasked)-1].later = time.Hour

	for _, program := range []string{"python3", "node", "java", "mosh-server", "screen", "nvim", "emacs", "zed-editor",
		"terminator"} {
		trusted = append(trusted, question{name: program + " holds the terminal", tree: heldBy(program),
			with: func(m *machine, _ time.Time) { m.Displays = nil }})
	}
	trusted = append(trusted, question{name: "zellij with a client", tree: system(
		sshLogin(node{PID: 14, Name: "zellij", Group: true}),
		manager(node{PID: holder, Name: "zellij", Session: true, Below: []node{
			{PID: 41, Name: "bash", Session: true, TTY: "/dev/pts/2", Below: []node{ask(group)}}}})),
		with: func(m *machine, _ time.Time) { m.Attached = map[int][]int{holder: {14}} }})
	return unasked, trusted
}

// A working day at terminals whose times the kernel keeps: it moves the access
// time of a terminal in steps of eight seconds, tmux counts in whole seconds, and
// a new terminal says nothing before its first step. 200 answers are given: typed,
// from the shell's history, or by a key; from twelve terminals, each of which was
// opened some time in the day; and two of them at once after opening a terminal.
func TestWorkingDay(t *testing.T) {
	const answers, terminals, atOnce = 200, 12, 2
	random := rand.New(rand.NewPCG(20261115, 8))
	day := time.Unix(1_800_000_000, 0)
	opened, read := make([]time.Time, terminals), make([]time.Time, terminals)
	asked := 0
	now := day
	press := func(n int, at time.Time) { // a key is read
		if at.Sub(read[n]) >= 8*time.Second {
			read[n] = at
		}
	}
	for i := range answers {
		now = now.Add(time.Duration(random.ExpFloat64() * float64(2*time.Minute)))
		n := i % terminals
		fresh := opened[n].IsZero() || i%60 == 59
		if fresh {
			opened[n], read[n] = now, now
			wait := 10*time.Second + time.Duration(random.ExpFloat64()*float64(time.Minute))
			if i >= terminals && i/60 < atOnce {
				wait = 2 * time.Second
			}
			now = now.Add(wait)
		}
		for range 1 + random.IntN(30) { // up and Enter, or a whole command
			now = now.Add(time.Duration(60+random.IntN(500)) * time.Millisecond)
			press(n, now)
		}
		typed := now // Enter
		now = now.Add(time.Duration(20+random.IntN(400)) * time.Millisecond)
		v := evaluateTyped(t, n%2 == 0, opened[n], read[n], typed, now)
		switch v.Outcome {
		case passes:
		case code:
			asked++
		default:
			t.Fatalf("answer %d: %v because of %q: %s", i, v.Outcome, v.Cause, v.Reason())
		}
	}
	if asked > 2 {
		t.Errorf("%d of %d answers needed a code, want at most 2", asked, answers)
	}
}

// evaluateTyped returns a command that was started by a key at a moment, over ssh, with or
// without tmux.
func evaluateTyped(t *testing.T, tmux bool, opened, read, typed, now time.Time) authority.Verdict {
	t.Helper()
	tree := system(sshLogin(ask(group)))
	if tmux {
		tree = attached(ask(group))
	}
	table := shifted{proctest.New(tree), typed.Add(5 * time.Millisecond), opened}
	m := machine{Table: table, LoggedIn: fromAfar, TTYs: map[string]authority.Terminal{
		"/dev/pts/1": {Access: read, Change: opened}}}
	if tmux { // a key in a view, which was open before
		shows("%1", 0)(&m, typed)
		p, err := table.Lookup(me)
		if err != nil {
			t.Fatal(err)
		}
		armed := typed.Add(-300 * time.Millisecond)
		m.TTYs["/dev/pts/1"] = authority.Terminal{Access: typed.Truncate(time.Second), Change: armed.Truncate(time.Second),
			Noted: armed.Truncate(time.Second), For: authority.Identity{PID: me, Start: p.Start}}
	}
	j := authority.Evaluator{Rules: rules(), Table: table, Source: m, Now: func() time.Time { return now }}
	return j.Evaluate(proc.Cred{UID: user, PID: me}, authority.Action{}, nil)
}

// shifted gives the processes of a table the times of a day.
type shifted struct {
	proc.Table
	began, opened time.Time
}

func (s shifted) Lookup(pid int) (proc.Process, error) {
	p, err := s.Table.Lookup(pid)
	if p.StartTime = s.opened; pid == me {
		p.StartTime = s.began
	}
	return p, err
}
