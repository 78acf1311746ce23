package hub

import (
	"os"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
)

// The ways by which an agent may try to approve its own request, as process
// trees with the caller in them. internal/authority tries many more; here each
// must be refused by the method itself, be journalled, and leave the request
// waiting.
func attempts() map[string]*proctest.Table {
	type node = proctest.Node
	me := func(more ...func(*node)) node {
		n := node{PID: os.Getpid(), Name: "hookmux"}
		for _, change := range more {
			change(&n)
		}
		return n
	}
	detached := func(n *node) { n.Session, n.TTY = true, proctest.None }
	agent := func(below ...node) node {
		return node{PID: agentPID, Name: "claude", Program: "/opt/claude/bin/claude", Group: true, Below: below}
	}
	tool := func(below ...node) node {
		return node{PID: toolPID, Name: "sh", Session: true, TTY: proctest.None, Env: []string{"CLAUDECODE=1"}, Below: below}
	}
	// orphans are adopted by the session's manager, beside the terminal in
	// which the agent runs.
	orphan := func(n node) *proctest.Table {
		return proctest.New(node{PID: 5_000_010, Name: "systemd", Program: "/usr/lib/systemd/systemd", Session: true, Below: []node{
			{PID: shellPID, Name: "bash", Program: "/usr/bin/bash", Session: true, TTY: "/dev/pts/77", Below: []node{agent()}}, n,
		}})
	}
	return map[string]*proctest.Table{
		"plain":                            atTerminal(agent(tool(me()))),
		"env -i":                           atTerminal(agent(node{PID: toolPID, Name: "sh", Session: true, TTY: proctest.None, Below: []node{me()}})),
		"setsid":                           atTerminal(agent(tool(me(func(n *node) { n.Session = true })))),
		"nohup":                            atTerminal(agent(tool(node{PID: 5_000_011, Name: "nohup", Below: []node{me()}}))),
		"double fork":                      orphan(me(detached)),
		"double fork, on the agent's tty":  orphan(me(func(n *node) { n.TTY = "/dev/pts/77" })),
		"double fork, variables kept":      orphan(me(detached, func(n *node) { n.Env = []string{"CLAUDECODE=1"} })),
		"script(1) after a double fork":    orphan(node{PID: 5_000_012, Name: "script", Session: true, Below: []node{me(func(n *node) { n.Session, n.TTY = true, "/dev/pts/9" })}}),
		"tmux run-shell":                   proctest.New(node{PID: 5_000_013, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{{PID: 5_000_014, Name: "sh", Below: []node{me()}}}}),
		"cron":                             proctest.New(node{PID: 5_000_015, Name: "cron", Session: true, Below: []node{{PID: 5_000_016, Name: "sh", Session: true, Below: []node{me()}}}}),
		"at":                               proctest.New(node{PID: 5_000_017, Name: "atd", Session: true, Below: []node{{PID: 5_000_018, Name: "sh", Session: true, Below: []node{me()}}}}),
		"a hook that the hub runs":         atTerminal(node{PID: hubPID, Name: "hookmux", Below: []node{me()}}),
		"the Go client, inside the agent":  atTerminal(node{PID: os.Getpid(), Name: "claude", Program: "/opt/claude/bin/claude"}),
		"a tmux that the agent started":    atTerminal(agent(tool(node{PID: 5_000_019, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{me(func(n *node) { n.Session, n.TTY = true, "/dev/pts/5" })}}))),
		"another agent, for the first one": atTerminal(node{PID: agentPID, Name: "codex", Program: "/opt/codex/bin/codex", Below: []node{me()}}),
	}
}

func TestEveryAttemptToApproveOneself(t *testing.T) {
	w := open(t)
	w.watchFeed()
	call := w.hold(permission("s", "make"))
	item := w.waiting()
	tried := 0
	for name, table := range attempts() {
		w.stand(table)
		for method, params := range map[string]any{
			wire.MethodFeedReply:  wire.FeedReplyParams{ID: item.ID, Choice: "once"},
			wire.MethodFeedPermit: map[string]string{"request_id": item.ID, "mode": "all"},
		} {
			if err := w.call(method, params, nil); err == nil {
				t.Fatalf("%s approved itself through %s", name, method)
			}
			tried++
		}
	}
	w.stand(atTerminal())
	if got := w.waiting(); got.ID != item.ID {
		t.Errorf("%+v", got)
	}
	w.eventually("every attempt is journalled", func() bool {
		n := 0
		for _, r := range w.rows() {
			if r.Native == "refused" {
				n++
			}
		}
		return n == tried
	})
	// Editing our files is an attempt, too: guard.own-files stands before it.
	for _, command := range []string{
		"tee " + w.dirs.State + "/grants.json",
		"cp forged.json " + w.dirs.State + "/grants.json",
		"mv x " + w.dirs.State + "/consent.key",
		"truncate -s 0 " + w.dirs.State + "/decisions.jsonl",
	} {
		w.mustDeny(before("claude", "s", "", command), "own-files")
	}
	w.say(wire.FeedReplyParams{ID: item.ID, Choice: "deny", Reason: "no"})
	if got, _ := call.answer(); !strings.Contains(got, `"deny"`) {
		t.Error(got)
	}
}
