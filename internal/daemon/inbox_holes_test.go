package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// piCall returns a call of an agent that has no prompt of its own.
func piCall(ui bool) frame.Request {
	mode := "tui"
	if !ui {
		mode = "print"
	}
	b, _ := json.Marshal(map[string]any{
		"event": map[string]any{"type": "tool_call", "toolName": "bash", "toolCallId": "c1", "input": map[string]any{"command": "make"}},
		"ctx":   map[string]any{"mode": mode, "hasUI": ui, "cwd": "/repo", "sessionId": "s"},
	})
	return frame.Request{Agent: "pi", Event: "tool_call", Payload: b, Deadline: daemontest.Patience}
}

// An agent without a prompt of its own asks the user who sits at it, when
// nobody elsewhere could be asked.
func TestNobodyElsewhereAndNoPrompt(t *testing.T) {
	w := open(t)
	w.MustPass(piCall(true))
	w.set("approvals.policy.pi", "side-effects")
	if got := string(w.Send(piCall(true)).Stdout); !strings.Contains(got, `"ask"`) {
		t.Errorf("it runs unasked: %s", got)
	}
	// The extension shows a dialog of its own while the daemon waits.
	asking := piCall(true)
	asking.Waits = true
	w.startCall(asking)
	w.waiting()
	w.MustPass(piCall(false)) // nobody sits there: its own default
}

// Events that anything of the user may report are no approval before a call.
func TestAFeignedTurnEndIsNoYes(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.set("approvals.policy.claude", "side-effects")
	call := w.startCall(daemontest.ToolBefore("claude", "s", "", "make"))
	w.waiting()
	w.Send(daemontest.SessionEvent("claude", "Stop", map[string]any{"session_id": "s"}))
	if got, _ := call.answer(); !strings.Contains(got, `"deny"`) {
		t.Errorf("it runs: %q; want `\"deny\"` in got", got)
	}
	// At the agent's own request its own prompt is still there.
	call = w.startCall(permission("s", "make"))
	w.waiting()
	w.Send(daemontest.SessionEvent("claude", "Stop", map[string]any{"session_id": "s"}))
	if got, _ := call.answer(); got != "" {
		t.Errorf(`call.answer() = %q, want ""`, got)
	}
}

// What a program pushes as cmux does goes the same way as a hook's call.
func TestPushedRequestsGoTheSameWay(t *testing.T) {
	w := open(t)
	w.watchInbox()
	push := func(command, id string) chan string {
		done := make(chan string, 1)
		go func() {
			got, code := w.cmux(wire.MethodCmuxPush,
				pushed("claude-s1", "PermissionRequest", "Bash", map[string]any{"command": command}, id))
			done <- string(got) + code
		}()
		return done
	}
	one := push("git push --force", "p1")
	item := w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "everywhere"})
	<-one
	if got := <-push("git push --force", "p2"); !strings.Contains(got, `"resolved"`) {
		t.Fatalf("the permission does not count: %s", got)
	}
	// A guard that asks is not answered by a permission that was given without it.
	w.set("guard.destructive", "ask")
	two := push("git push --force", "p3")
	item = w.waiting()
	if item.AskedBy == "" || !strings.Contains(item.Shown, "wants you to look") ||
		strings.Contains(strings.Join(item.Choices, " "), "all ") {
		t.Errorf(`item = %+v, want item.AskedBy not empty, "wants you to look" in item.Shown and no "all " in `+
			`strings.Join(item.Choices, " ")`, item)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny", Reason: "no"})
	if got := <-two; !strings.Contains(got, `"deny"`) {
		t.Errorf(`got %q, want "deny" in it`, got)
	}
	w.set("guard.destructive", "off")
	w.set("approvals.policy.claude", "off")
	if got := <-push("make", "p4"); !strings.Contains(got, `"timed_out"`) {
		t.Errorf(`got %q, want "timed_out" in it`, got)
	}
}

// A permission for the project counts in an ordinary repository.
func TestAProjectIsARepository(t *testing.T) {
	w := open(t)
	w.watchInbox()
	repo := t.TempDir()
	deep := filepath.Join(repo, "a", "b")
	for _, dir := range []string{filepath.Join(repo, ".git"), deep} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.Write(filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/main\n")
	at := func(session, cwd string) frame.Request {
		r := permission(session, "npm test")
		r.Cwd = cwd
		r.Payload = []byte(strings.Replace(string(r.Payload), `"cwd":""`, `"cwd":`+string(quote(cwd)), 1))
		return r
	}
	call := w.startCall(at("s", deep))
	item := w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "project"})
	call.answer()
	if got := string(w.Send(at("t", repo)).Stdout); !strings.Contains(got, `"allow"`) {
		t.Errorf("not in its own project: %q", got)
	}
	other := w.startCall(at("t", t.TempDir()))
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
	if got, _ := other.answer(); got != "" {
		t.Errorf(`elsewhere: %q, want ""`, got)
	}
}

func quote(s string) []byte { b, _ := json.Marshal(s); return b }

// A request that waited for somebody far away does not keep the agent's own dialog
// hidden once they are back.
func TestBackLetsHiddenDialogsUp(t *testing.T) {
	w := open(t)
	w.set("inbox.wait", "1s")
	w.MustCall(wire.MethodAway, nil, nil)
	hidden := daemontest.ToolBefore("codex", "s", "", "make")
	hidden.Event = "PermissionRequest"
	hidden.Payload = []byte(strings.Replace(string(hidden.Payload), `"PreToolUse"`, `"PermissionRequest"`, 1))
	call := w.startCall(hidden)
	w.waiting()
	shown := w.startCall(permission("t", "make"))
	w.Eventually("both wait", func() bool { return len(w.items()) == 2 })
	var digest wire.Digest
	w.MustCall(wire.MethodBack, nil, &digest)
	if len(digest.Waiting) != 2 {
		t.Errorf("digest = %+v, want len(digest.Waiting) = 2", digest)
	}
	if got, _ := call.answer(); got != "" {
		t.Errorf(`call.answer() = %q, want ""`, got)
	}
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"}) // its dialog is up: no hurry
	if got, _ := shown.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf(`shown.answer() = %q, want "allow" in it`, got)
	}
}

// Whoever answers is told what the agent cannot hear. A note that is told with
// the result of a command is not lost; whether that of an edit is, nobody knows.
func TestWhatAnAgentDoesNotHear(t *testing.T) {
	w := open(t)
	w.watchInbox()
	edit := daemontest.SessionEvent("claude", "PermissionRequest",
		map[string]any{"tool_name": "Write", "tool_input": map[string]any{"file_path": "/p/x", "content": "y"}})
	for _, c := range []struct {
		call frame.Request
		note string
		lost bool
	}{
		{permission("s", "make"), "", false}, {permission("s", "make"), "then lint", false},
		{edit, "", false}, {edit, "then lint", true},
	} {
		call := w.startCall(c.call)
		result := w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once", Note: c.note})
		call.answer()
		if (len(result.Degraded) > 0) != c.lost || result.Outcome != "delivered" {
			t.Errorf(`%s %q: result = %+v, want (len(result.Degraded) > 0) = %v and result.Outcome = "delivered"`,
				c.call.Agent, c.note, result, c.lost)
		}
	}
}

// A number that is no option is a slip, and rules keep their secrets.
func TestSlipsAndSecrets(t *testing.T) {
	w := open(t)
	w.watchInbox()
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	question := daemontest.SessionEvent("claude", "PermissionRequest",
		map[string]any{"tool_name": "AskUserQuestion", "tool_input": map[string]any{"questions": []any{
			map[string]any{"question": "Which?", "header": "H " + secret, "options": []any{map[string]any{"label": "x", "description": secret}, map[string]any{"label": "y"}}},
		}}})
	call := w.startCall(question)
	item := w.waiting()
	if err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: item.ID, Choice: "answer",
		Answers: []event.QuestionAnswer{{Options: []string{"9"}}}}, nil); err == nil {
		t.Error("9 of 2; want an error")
	}
	w.SetProcesses(daemontest.BelowAgent("claude"))
	var seen json.RawMessage
	w.MustCall(wire.MethodInboxItems, nil, &seen)
	if strings.Contains(string(seen), secret) {
		t.Errorf("an agent sees %s", seen)
	}
	w.SetProcesses(daemontest.AtTerminal())
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "answer",
		Answers: []event.QuestionAnswer{{Options: []string{"2"}}}})
	call.answer()
	call = w.startCall(permission("s", "deploy "+secret))
	item = w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "session"})
	call.answer()
	for who, table := range map[string]*proctest.Table{"agent": daemontest.BelowAgent("claude"),
		"person": daemontest.AtTerminal()} {
		w.SetProcesses(table)
		var permissions json.RawMessage
		w.MustCall(wire.MethodPermissions, nil, &permissions)
		if strings.Contains(string(permissions), secret) != (who == "person") {
			t.Errorf(`the %s sees %s; want strings.Contains(string(permissions), secret) == (who == "person")`,
				who, permissions)
		}
	}
	w.SetProcesses(daemontest.AtTerminal())
}

// A command that tells the user elsewhere counts as somebody who could
// answer, as long as it works.
func TestPushSink(t *testing.T) {
	w := open(t)
	w.MustPass(hiddenPermission("make"))
	heard := filepath.Join(w.Base, "heard")
	w.set("notify.command", "cat >>"+heard+"; echo $HOOKMUX_REQUEST >>"+heard)
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	call := w.startCall(permission("s", "deploy "+secret))
	item := w.waiting()
	var text string
	w.Eventually("the command is run", func() bool {
		b, _ := os.ReadFile(heard)
		text = string(b)
		return strings.HasSuffix(text, "\n"+item.ID+"\n")
	})
	if !strings.Contains(text, `"choices":["once"`) || strings.Contains(text, secret) {
		t.Errorf(`text = %q, want "choices":["once" in it and no %q in it`, text, secret)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	call.answer()
	// Of one that fails nobody hears: the agent is not kept.
	w.set("notify.command", "exit 3")
	call = w.startCall(hiddenPermission("make"))
	if got, _ := call.answer(); got != "" {
		t.Errorf(`call.answer() = %q, want ""`, got)
	}
	w.Eventually("that is reported", func() bool { _, ok := w.Problem("notify.command"); return ok })
	w.MustPass(hiddenPermission("make"))
}
