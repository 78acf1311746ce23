package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// The ways by which an agent may try to approve its own request, as process
// trees with the caller in them. internal/authority tries many more.
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
		return node{PID: daemontest.AgentPID, Name: "claude", Program: "/opt/claude/bin/claude", Group: true, Below: below}
	}
	tool := func(below ...node) node {
		return node{PID: daemontest.ToolPID, Name: "sh", Session: true, TTY: proctest.None, Env: []string{"CLAUDECODE=1"},
			Below: below}
	}
	// orphans are adopted by the session's manager, beside the terminal in
	// which the agent runs.
	orphan := func(n node) *proctest.Table {
		return proctest.New(node{PID: 5_000_010, Name: "systemd", Program: "/usr/lib/systemd/systemd", Session: true,
			Below: []node{
				{PID: daemontest.ShellPID, Name: "bash", Program: "/usr/bin/bash", Session: true, TTY: "/dev/pts/77", Below: []node{agent()}}, n,
			}})
	}
	return map[string]*proctest.Table{
		"plain":                            daemontest.AtTerminal(agent(tool(me()))),
		"env -i":                           daemontest.AtTerminal(agent(node{PID: daemontest.ToolPID, Name: "sh", Session: true, TTY: proctest.None, Below: []node{me()}})),
		"setsid":                           daemontest.AtTerminal(agent(tool(me(func(n *node) { n.Session = true })))),
		"nohup":                            daemontest.AtTerminal(agent(tool(node{PID: 5_000_011, Name: "nohup", Below: []node{me()}}))),
		"double fork":                      orphan(me(detached)),
		"double fork, on the agent's tty":  orphan(me(func(n *node) { n.TTY = "/dev/pts/77" })),
		"double fork, variables kept":      orphan(me(detached, func(n *node) { n.Env = []string{"CLAUDECODE=1"} })),
		"script(1) after a double fork":    orphan(node{PID: 5_000_012, Name: "script", Session: true, Below: []node{me(func(n *node) { n.Session, n.TTY = true, "/dev/pts/9" })}}),
		"tmux run-shell":                   proctest.New(node{PID: 5_000_013, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{{PID: 5_000_014, Name: "sh", Below: []node{me()}}}}),
		"cron":                             proctest.New(node{PID: 5_000_015, Name: "cron", Session: true, Below: []node{{PID: 5_000_016, Name: "sh", Session: true, Below: []node{me()}}}}),
		"at":                               proctest.New(node{PID: 5_000_017, Name: "atd", Session: true, Below: []node{{PID: 5_000_018, Name: "sh", Session: true, Below: []node{me()}}}}),
		"a hook that the daemon runs":      daemontest.AtTerminal(node{PID: daemontest.DaemonPID, Name: "hookmux", Below: []node{me()}}),
		"the Go client, inside the agent":  daemontest.AtTerminal(node{PID: os.Getpid(), Name: "claude", Program: "/opt/claude/bin/claude"}),
		"a tmux that the agent started":    daemontest.AtTerminal(agent(tool(node{PID: 5_000_019, Name: "tmux: server", Program: "/usr/bin/tmux", Session: true, Below: []node{me(func(n *node) { n.Session, n.TTY = true, "/dev/pts/5" })}}))),
		"another agent, for the first one": daemontest.AtTerminal(node{PID: daemontest.AgentPID, Name: "codex", Program: "/opt/codex/bin/codex", Below: []node{me()}}),
	}
}

// open methods are those that decide nothing. One that is new and not named
// here must be a person's alone.
var openMethods = map[string]authority.Class{
	wire.MethodInfo: authority.Read, wire.MethodQuery: authority.Read, wire.MethodExplain: authority.Read,
	wire.MethodConfigGet: authority.Read, wire.MethodHooksList: authority.Read, wire.MethodTrustLook: authority.Read,
	wire.MethodStats: authority.Read, wire.MethodSessions: authority.Read, wire.MethodSession: authority.Read,
	wire.MethodSessionResume: authority.Read, wire.MethodTSHooks: authority.Read,
	wire.MethodInboxItems: authority.Read, wire.MethodPermissions: authority.Read, wire.MethodCmuxList: authority.Read, wire.MethodCmuxJump: authority.Read,
	wire.MethodRenew: authority.Report, wire.MethodOutbox: authority.Report, wire.MethodPush: authority.Report, wire.MethodCmuxPush: authority.Report,
	wire.MethodAcceptLook: authority.Read,                                       // shows what waits to be accepted; accepting is a person's
	wire.MethodWhoami:     authority.Read, wire.MethodTerminals: authority.Read, // tell a caller about itself, and which terminals count
	wire.MethodNotifyStatus: authority.Read, // by which ways the user is told
	wire.MethodStream:       authority.Read, wire.MethodInboxStream: authority.Read,
	wire.MethodProjectSessions: authority.Read, wire.MethodProjectHistory: authority.Read, wire.MethodProjectBudgets: authority.Read, // show the caller's own project
	wire.MethodUsage: authority.Read, wire.MethodUsageLimits: authority.Read, wire.MethodBudgets: authority.Read, // show what was used
	wire.MethodTelemetryCheck: authority.Read,   // sends nothing to the collector that you chose
	wire.MethodUsageWindows:   authority.Report, // how much of a plan is used, as the agent's status line shows it
	// show the page's address and your devices, and nothing of it to agents; pairing is a person's
	wire.MethodWebStatus: authority.Read, wire.MethodWebDevices: authority.Read, wire.MethodWebPairWait: authority.Read,
	// show which other machines there are, and nothing of it to agents; connecting only tries a lost link now
	wire.MethodHosts: authority.Read, wire.MethodRemoteConnect: authority.Read,
	wire.MethodFleetStatus: authority.Read, wire.MethodFleetList: authority.Read, wire.MethodFleetLog: authority.Read,
	wire.MethodFleetPolicy: authority.Read,
	// only do what a machine that you paired has signed
	wire.MethodRemoteHello: authority.Report, wire.MethodRemoteFollow: authority.Report,
	wire.MethodRemoteCall: authority.Report, wire.MethodRemoteAnswer: authority.Report,
	wire.MethodWanted: authority.Report, // names what hooks listen to and offer; nothing can be said with it
}

// deciding returns the methods that only a person may call.
func (w *daemonFixture) deciding() []string {
	w.T.Helper()
	var list []string
	for name, class := range wire.Methods {
		if open, ok := openMethods[name]; ok && open == class {
			continue
		} else if class != authority.Decide {
			w.T.Errorf("%s is open to agents (%s); say here why that decides nothing, or make it a person's", name,
				class)
		}
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// harm are parameters with which a method would do something, were it not
// refused; the others are refused before anybody reads theirs.
func harm(id string) map[string]any {
	return map[string]any{
		wire.MethodInboxReply: wire.InboxReplyParams{ID: id, Choice: "once"},
		wire.MethodCmuxPermit: map[string]string{"request_id": id, "mode": "all"},
		wire.MethodInboxSkip:  wire.InboxIDParams{ID: id},
		wire.MethodCmuxPlan:   map[string]string{"request_id": id, "mode": "manual"},
		wire.MethodPIN:        wire.PINParams{New: "1234"},
		wire.MethodConfigSet:  wire.ConfigSetParams{Key: "approvals.policy.claude", Value: json.RawMessage(`"off"`)},
	}
}

// Each attempt is refused at every method that decides, in both languages, and
// each is in the journal with the method, the reason and who it was.
func TestEveryAttemptToApproveOneself(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(permission("s", "make"))
	item := w.waiting()
	methods, params := w.deciding(), harm(item.ID)
	if len(methods) < 20 {
		t.Fatalf("only %v decide; want len(methods) >= 20", methods)
	}
	type entry struct{ attempt, method, reason, agent string }
	var want []entry
	for name, table := range attempts() {
		w.SetProcesses(table)
		verdict := w.h.terminals.Decide(context.Background(), proc.Cred{UID: os.Getuid(), PID: os.Getpid()},
			authority.Action{})
		if verdict.OK {
			t.Fatalf("%s is taken for a person", name)
		}
		for _, method := range methods {
			var refused *client.RefusedError
			if err := w.Call(method, params[method], nil); !errors.As(err, &refused) ||
				refused.Message != verdict.Reason() {
				t.Fatalf("%s at %s: %v; want the refusal %q",
					name, method, err, verdict.Reason())
			}
			want = append(want, entry{name, method, verdict.Reason(), verdict.Agent})
		}
		if _, code := w.cmux(wire.MethodCmuxPermit, params[wire.MethodCmuxPermit]); code != "access_denied" {
			t.Errorf("%s in cmux's envelope: %q", name, code)
		}
		want = append(want, entry{name, wire.MethodCmuxPermit, verdict.Reason(), verdict.Agent})
	}
	w.SetProcesses(daemontest.AtTerminal())
	if got := w.waiting(); got.ID != item.ID {
		t.Errorf("got %+v, want got.ID = %q", got, item.ID)
	}
	var records []daemontest.Row
	w.Eventually("every attempt is journalled", func() bool {
		records = slices.DeleteFunc(w.Rows(), func(r daemontest.Row) bool { return r.Native != "refused" })
		return len(records) >= len(want)
	})
	if len(records) != len(want) {
		t.Errorf("%d attempts, %d records; want len(records) == len(want)", len(want), len(records))
	}
	for i := range min(len(want), len(records)) {
		var got struct {
			Method, Reason, Agent string
			PID                   int
		}
		if err := json.Unmarshal(records[i].Raw, &got); err != nil {
			t.Fatalf("%s: error %v, want no error", records[i].Raw, err)
		}
		if got.Method != want[i].method || got.Reason != want[i].reason || got.Agent != want[i].agent ||
			got.PID != os.Getpid() {
			t.Errorf("%+v is in the journal as %+v", want[i], got)
		}
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny", Reason: "no"})
	if got, _ := call.answer(); !strings.Contains(got, `"deny"`) {
		t.Errorf(`call.answer() = %q, want "deny" in it`, got)
	}
}

// Editing our files is an attempt, too: guard.own-files stands before it,
// whichever tool is used, and what it refused is in the journal.
func TestNoAgentEditsOurFiles(t *testing.T) {
	w := open(t)
	tried := map[string]string{}
	for _, file := range []string{"permissions.json", "consent.key", "decisions.jsonl", "pin.json", "away.json",
		"journal.db", "web.json", "web-devices.json"} {
		path := w.Dirs.State + "/" + file
		tries := []frame.Request{
			daemontest.SessionEvent("claude", "PreToolUse", map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": path, "content": "{}"}}),
			daemontest.SessionEvent("claude", "PreToolUse", map[string]any{"tool_name": "Edit", "tool_input": map[string]any{"file_path": path, "old_string": "a", "new_string": "b"}}),
			daemontest.SessionEvent("codex", "PreToolUse", map[string]any{"tool_name": "apply_patch", "tool_input": map[string]any{"command": "*** Begin Patch\n*** Update File: " + path + "\n@@\n-a\n+b\n*** End Patch\n"}}),
		}
		for _, command := range []string{"tee " + path, "cp forged.json " + path, "mv x " + path,
			"truncate -s 0 " + path, "echo x > " + path, "sed -i s/a/b/ " + path, "ln -sf x " + path} {
			tries = append(tries, daemontest.ToolBefore("claude", "s", "", command),
				daemontest.ToolBefore("codex", "s", "", command))
		}
		for _, r := range tries {
			r.ID = frame.NewID()
			tried[r.ID] = string(r.Payload)
			w.MustDeny(r, "own-files")
		}
	}
	w.Eventually("each is in the journal, with who refused it", func() bool {
		n := 0
		for _, r := range w.Rows() {
			if _, ok := tried[r.ID]; ok && r.Verdict() == "deny" &&
				strings.Contains(string(r.Outcome.Decision), "own-files") {
				n++
			}
		}
		return n == len(tried)
	})
}
