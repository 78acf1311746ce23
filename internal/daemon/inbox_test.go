package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// permission returns what Claude Code asks before it runs a command.
func permission(session, command string) frame.Request {
	r := daemontest.ToolBefore("claude", session, "", command)
	r.Event = "PermissionRequest"
	r.Payload = []byte(strings.Replace(string(r.Payload), `"PreToolUse"`, `"PermissionRequest"`, 1))
	return r
}

// hiddenPermission returns a request of an agent that shows its own dialog only after the hook
// returned: it waits only while somebody could answer.
func hiddenPermission(command string) frame.Request {
	return daemontest.SessionEvent("qwen", "PermissionRequest", map[string]any{"tool_name": "Bash",
		"tool_input": map[string]any{"command": command}})
}

// mustAsk sends a request that waits for a person, and leaves it to the agent.
func (w *daemonFixture) mustAsk(r frame.Request) {
	w.T.Helper()
	call := w.startCall(r)
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
	if got, _ := call.answer(); got != "" {
		w.T.Errorf("it was decided without a person: %s", got)
	}
}

// watchInbox attaches a surface until the test ends.
func (w *daemonFixture) watchInbox() *bufio.Reader {
	w.T.Helper()
	conn := w.Dial()
	_ = conn.SetDeadline(time.Time{})
	if _, err := conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"inbox.stream"}` + "\n")); err != nil {
		w.T.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			w.T.Fatal(err)
		}
		if strings.Contains(line, `"inbox.ready"`) {
			return reader
		}
	}
}

// pendingCall is a hook call that waits for a person.
type pendingCall struct {
	w     *daemonFixture
	conn  net.Conn
	reply chan frame.Reply
}

func (w *daemonFixture) startCall(r frame.Request) *pendingCall {
	w.T.Helper()
	conn := w.Dial()
	if r.ID == "" {
		r.ID = frame.NewID()
	}
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		w.T.Fatal(err)
	}
	call := &pendingCall{w, conn, make(chan frame.Reply, 1)}
	go func() {
		defer close(call.reply)
		if reply, err := frame.ReadReply(bufio.NewReader(conn), frame.Standard); err == nil {
			call.reply <- reply
		}
	}()
	return call
}

// answer returns what the hook is told; false when it is hung up on.
func (c *pendingCall) answer() (string, bool) {
	c.w.T.Helper()
	select {
	case reply, ok := <-c.reply:
		return string(reply.Stdout), ok
	case <-time.After(daemontest.Patience):
		c.w.T.Fatal("the hook still waits")
	}
	return "", false
}

func (w *daemonFixture) items() []wire.InboxRequest {
	w.T.Helper()
	var list []wire.InboxRequest
	w.MustCall(wire.MethodInboxItems, nil, &list)
	return list
}

// waiting returns the one request that waits.
func (w *daemonFixture) waiting() wire.InboxRequest {
	w.T.Helper()
	var list []wire.InboxRequest
	w.Eventually("a request waits", func() bool { list = w.items(); return len(list) > 0 })
	if len(list) != 1 {
		w.T.Fatalf("%d requests wait, want 1", len(list))
	}
	return list[0]
}

func (w *daemonFixture) say(p wire.InboxReplyParams) wire.InboxReplyResult {
	w.T.Helper()
	var result wire.InboxReplyResult
	w.MustCall(wire.MethodInboxReply, p, &result)
	return result
}

func TestNobodyIsThere(t *testing.T) {
	w := open(t)
	// At once: its own dialog is hidden until the hook returned, and nobody could answer.
	w.MustPass(hiddenPermission("ls"))
	if list := w.items(); len(list) != 0 {
		t.Errorf("w.items() = %+v, want none", list)
	}
}

// Where an agent's own dialog stays usable, its request waits also when nobody looks yet:
// whoever opens the live view later answers it there.
func TestWhoComesLaterAnswers(t *testing.T) {
	w := open(t)
	call := w.startCall(permission("s", "ls"))
	item := w.waiting()
	if left := item.Deadline.Sub(item.CreatedAt); left < daemontest.Patience/2 {
		t.Errorf("it waits %v, want as long as its hook may take", left)
	}
	w.watchInbox()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Errorf("the hook heard %q, want an allow", got)
	}
}

// An agent that hides its own dialog while a hook waits waits for a moment, and longer
// once somebody looks or is notified; what the user set counts instead.
func TestBriefHoldIsLongerForWhoLooks(t *testing.T) {
	w := open(t)
	waitsFor := func(item wire.InboxRequest) time.Duration {
		return item.Deadline.Sub(item.CreatedAt).Round(time.Second)
	}
	deny := func(call *pendingCall, item wire.InboxRequest) {
		t.Helper()
		w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"})
		if got, _ := call.answer(); !strings.Contains(got, "deny") {
			t.Errorf("the hook heard %q, want a deny", got)
		}
	}
	asking := codexPermission(w)
	asking.ID, asking.Deadline = "", 10*time.Minute // each is a call of its own
	call := w.startCall(asking)
	if got := waitsFor(w.waiting()); got != 5*time.Second {
		t.Errorf("nobody looks: it waits %v, want 5s", got)
	}
	w.watchInbox()
	if got := waitsFor(w.waiting()); got != time.Minute {
		t.Errorf("somebody began to look: it waits %v, want 1m", got)
	}
	deny(call, w.waiting())
	call = w.startCall(asking)
	if got := waitsFor(w.waiting()); got != time.Minute {
		t.Errorf("somebody looks: it waits %v, want 1m", got)
	}
	deny(call, w.waiting())
	w.set("inbox.wait.codex", "90s")
	call = w.startCall(asking)
	if got := waitsFor(w.waiting()); got != 90*time.Second {
		t.Errorf("the user chose 90s: it waits %v", got)
	}
	deny(call, w.waiting())
}

// Whoever is notified of codex's requests is given time to come; of those that are not
// told it is a moment.
func TestBriefHoldIsLongerForWhoIsTold(t *testing.T) {
	w := open(t)
	w.startReceiver()
	for kinds, want := range map[string]time.Duration{"question,finished": 5 * time.Second, "permission": time.Minute} {
		w.set("notify.kinds", kinds)
		asking := codexPermission(w)
		asking.Deadline = 10 * time.Minute
		call := w.startCall(asking)
		item := w.waiting()
		if got := item.Deadline.Sub(item.CreatedAt).Round(time.Second); got != want {
			t.Errorf("told of %s: it waits %v, want %v", kinds, got, want)
		}
		w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"})
		call.answer()
	}
}

func TestApproveAndDeny(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(permission("s", "make test"))
	item := w.waiting()
	if item.Kind != "permission" || item.Agent != "claude" || item.Session != "s" || item.Tool != "Bash" ||
		strings.Join(item.Choices, " ") != "once always all deny" || !strings.Contains(item.Shown, "$ make test") ||
		item.Rule != "run exactly: make test" {
		t.Errorf(`item = %+v, want item.Kind = "permission", item.Agent = "claude", item.Session = "s", item.Tool = `+
			`"Bash", strings.Join(item.Choices, " ") = "once always all deny", "$ make test" in item.Shown and item.Rule = "run exactly: make test"`,
			item)
	}
	result := w.say(wire.InboxReplyParams{ID: item.ID[:3], Choice: "once", SHA256: item.SHA256})
	if result.Outcome != "delivered" || result.By == "" || result.Decided.Outcome != "delivered" {
		t.Errorf(`result = %+v, want result.Outcome = "delivered", result.By not empty and result.Decided.Outcome = `+
			`"delivered"`, result)
	}
	if got, _ := call.answer(); !strings.Contains(got, `"behavior":"allow"`) {
		t.Errorf(`call.answer() = %q, want "behavior":"allow" in it`, got)
	}
	if again := w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"}); again.Outcome != "already" ||
		again.By != result.By {
		t.Errorf(`again = %+v, want again.Outcome = "already" and again.HiddenBy = %q`, again, result.By)
	}
	if none := w.say(wire.InboxReplyParams{ID: "zzzz", Choice: "deny"}); none.Outcome != "unknown" {
		t.Errorf(`none = %+v, want none.Outcome = "unknown"`, none)
	}
	call = w.startCall(permission("s", "make install"))
	if err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once", SHA256: "other"},
		nil); err == nil {
		t.Error("something else was seen")
	}
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny", Reason: "not on a Sunday"})
	if got, _ := call.answer(); !strings.Contains(got, "not on a Sunday") || !strings.Contains(got, `"deny"`) {
		t.Errorf(`call.answer() = %q, want "not on a Sunday" in it and "deny" in it`, got)
	}
	// Both are on record, with the hash of what was seen.
	b, err := os.ReadFile(filepath.Join(w.Dirs.State, "decisions.jsonl"))
	b = bytes.TrimRight(b, "\n") // room for more
	if err != nil || bytes.Count(b, []byte("\n")) != 1 || !strings.Contains(string(b), item.SHA256) {
		t.Errorf(`b = %s, error %v; want no error, two lines and %q in string(b)`,
			b, err, item.SHA256)
	}
	w.Eventually("the journal has both decisions", func() bool {
		n := 0
		for _, r := range w.Rows() {
			if r.Native == "decision" {
				n++
			}
		}
		return n == 2
	})
}

// What came of an answer is known from the events that follow.
func TestConfirmedAndOvertaken(t *testing.T) {
	w := open(t)
	w.watchInbox()
	after := func(command string) {
		w.Send(daemontest.SessionEvent("claude", "PostToolUse",
			map[string]any{"session_id": "s", "tool_name": "Bash", "tool_input": map[string]any{"command": command},
				"tool_response": map[string]any{}}))
	}
	outcome := func(id string) string {
		var list []wire.InboxRequest
		w.MustCall(wire.MethodInboxItems, wire.InboxListParams{ID: id}, &list)
		return list[0].Decision.Outcome
	}
	call := w.startCall(permission("s", "one"))
	one := w.waiting().ID
	w.say(wire.InboxReplyParams{ID: one, Choice: "once"})
	call.answer()
	call = w.startCall(permission("s", "two"))
	two := w.waiting().ID
	w.say(wire.InboxReplyParams{ID: two, Choice: "deny"})
	call.answer()
	after("one")
	if outcome(one) != "confirmed" || outcome(two) != "delivered" {
		t.Errorf(`outcome(one) = %q, outcome(two) = %q; want outcome(one) = "confirmed" and outcome(two) = "delivered"`,
			outcome(one), outcome(two))
	}
	after("two") // it ran all the same
	if outcome(two) != "overtaken" {
		t.Errorf(`outcome(two) = %q, want "overtaken"`, outcome(two))
	}
}

func TestEndsOfARequest(t *testing.T) {
	w := open(t)
	w.watchInbox()
	end := func(id string) string {
		var list []wire.InboxRequest
		w.MustCall(wire.MethodInboxItems, wire.InboxListParams{ID: id}, &list)
		return list[0].Status + ": " + list[0].End
	}
	// Answered at the agent's own prompt: its next event says so.
	call := w.startCall(permission("s", "ls"))
	id := w.waiting().ID
	w.Send(daemontest.SessionEvent("claude", "PostToolUse", map[string]any{"session_id": "s", "tool_name": "Bash",
		"tool_input": map[string]any{"command": "ls"}}))
	if got, ok := call.answer(); got != "" || !ok || end(id) != "resolved: answered in the agent's own terminal" {
		t.Errorf(`got %q, ok = %v, end(id) = %q; want "", ok and end(id) = "resolved: answered in the agent's own `+
			`window"`, got, ok, end(id))
	}
	if late := w.say(wire.InboxReplyParams{ID: id, Choice: "once"}); late.Outcome != "already" {
		t.Errorf(`late = %+v, want late.Outcome = "already"`, late)
	}
	// Another call of the session is no sign, the turn's end is.
	call = w.startCall(permission("s", "ls"))
	id = w.waiting().ID
	w.Send(daemontest.SessionEvent("claude", "PostToolUse", map[string]any{"session_id": "s", "tool_name": "Bash",
		"tool_input": map[string]any{"command": "pwd"}}))
	w.Send(daemontest.SessionEvent("claude", "Stop", map[string]any{"session_id": "other"}))
	if still := w.waiting().ID; still != id {
		t.Errorf("%s waits, expected %s to go on waiting", still, id)
	}
	w.Send(daemontest.SessionEvent("claude", "Stop", map[string]any{"session_id": "s"}))
	if got, ok := call.answer(); got != "" || !ok {
		t.Errorf(`got %q, ok = %v; want "" and ok`, got, ok)
	}
	// Released.
	call = w.startCall(permission("s", "ls"))
	id = w.waiting().ID
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: id}, nil)
	if got, ok := call.answer(); got != "" || !ok || end(id) != "withdrawn: left to the agent's own prompt" {
		t.Errorf(`got %q, ok = %v, end(id) = %q; want "", ok and end(id) = "withdrawn: left to the agent's own prompt"`,
			got, ok, end(id))
	}
	// The hook went away.
	call = w.startCall(permission("s", "ls"))
	id = w.waiting().ID
	call.conn.Close()
	w.Eventually("it is gone", func() bool { return len(w.items()) == 0 })
	if end(id) != "withdrawn: the agent no longer waits" {
		t.Errorf(`end(id) = %q, want "withdrawn: the agent no longer waits"`, end(id))
	}
	// Time is over.
	r := permission("s", "ls")
	r.Deadline = 50 * time.Millisecond
	call = w.startCall(r)
	if got, ok := call.answer(); got != "" || !ok {
		t.Errorf(`got %q, ok = %v; want "" and ok`, got, ok)
	}
	// The agent's process ended.
	w.SetProcesses(daemontest.BelowAgent("claude"))
	call = w.startCall(permission("s", "ls"))
	id = w.waiting().ID
	w.SetProcesses(daemontest.AtTerminal())
	if got, ok := call.answer(); got != "" || !ok || end(id) != "withdrawn: the agent is gone" {
		t.Errorf(`got %q, ok = %v, end(id) = %q; want "", ok and end(id) = "withdrawn: the agent is gone"`,
			got, ok, end(id))
	}
	// The daemon stops: whoever waits is hung up on and asks the next one.
	call = w.startCall(permission("s", "ls"))
	w.waiting()
	w.Down()
	if got, ok := call.answer(); ok {
		t.Errorf("answered %q by a daemon that stops", got)
	}
	w.Up()
	if list := w.items(); len(list) != 0 {
		t.Errorf("stale: %+v; want len(list) == 0", list)
	}
}

// A guard asks, a person answers; where the agent cannot be made to ask, too.
func TestAskOfAHookGoesToThePerson(t *testing.T) {
	asking := mustEntry(t, "careful", event.Decision{Verdict: event.Ask, Reason: "sure?"})
	w := open(t, asking)
	// With nobody there it is as it was: a deny where the agent cannot ask.
	w.MustDeny(daemontest.ToolBefore("codex", "s", "", "deploy"), "sure?")
	w.MustCall(wire.MethodAway, nil, nil)
	for _, agent := range []string{"codex", "claude"} {
		call := w.startCall(daemontest.ToolBefore(agent, "s", "", "deploy"))
		item := w.waiting()
		if item.AskedBy != "careful" || item.Why != "sure?" ||
			!strings.Contains(item.Shown, "careful wants you to look: sure?") {
			t.Errorf(`item = %+v, want item.AskedBy = "careful", item.Why = "sure?" and "careful wants you to look: `+
				`sure?" in item.Shown`, item)
		}
		w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny", Reason: "no deploys"})
		if got, _ := call.answer(); !strings.Contains(got, "no deploys") {
			t.Errorf(`call.answer() = %q, want "no deploys" in it`, got)
		}
		call = w.startCall(daemontest.ToolBefore(agent, "s", "", "deploy"))
		w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"})
		got, ok := call.answer()
		if daemontest.Denies(frame.Reply{Stdout: []byte(got)}) || !ok {
			t.Errorf("agent = %q, got %q; want not daemontest.Denies(frame.Reply{Stdout: []byte(got)}) and ok", agent, got)
		}
	}
	// The answer at PreToolUse serves the PermissionRequest that follows, once.
	if got := w.Send(permission("s", "deploy")); !strings.Contains(string(got.Stdout), `"behavior":"allow"`) {
		t.Errorf("asked twice: %s; want `\"behavior\":\"allow\"` in string(got.Stdout)", got.Stdout)
	}
	call := w.startCall(permission("s", "deploy"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny"})
	call.answer()
}

func mustEntry(t *testing.T, id string, d event.Decision) *hook.Entry {
	t.Helper()
	e, err := hook.NewEntry(hook.Registration{ID: id, Agent: hook.Any, HookType: "tool.before", Handler: "builtin",
		Target: "x", Role: hook.Guard},
		hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) { return d, nil }), "builtin")
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestGateSettings(t *testing.T) {
	w := open(t)
	w.watchInbox()
	set := func(key, value string) {
		b, _ := json.Marshal(value)
		w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: key, Value: b}, nil)
	}
	w.MustPass(daemontest.ToolBefore("claude", "s", "", "make"))
	set("approvals.policy.claude", "off")
	w.MustPass(permission("s", "make"))
	set("approvals.policy.claude", "side-effects")
	call := w.startCall(daemontest.ToolBefore("claude", "s", "", "make"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"permissionDecision":"allow"`) {
		t.Errorf(`call.answer() = %q, want "permissionDecision":"allow" in it`, got)
	}
	w.MustPass(daemontest.SessionEvent("claude", "PreToolUse",
		map[string]any{"tool_name": "Read", "tool_input": map[string]any{"file_path": "/x"}}))
	// Codex can only be vetoed before a call: that takes "all", and is said.
	set("approvals.policy.codex", "side-effects")
	w.MustPass(daemontest.ToolBefore("codex", "s", "", "make"))
	set("approvals.policy.codex", "all")
	set("inbox.wait", "20s")
	call = w.startCall(daemontest.ToolBefore("codex", "s", "", "make"))
	item := w.waiting()
	if strings.Join(item.Choices, " ") != "deny" || !strings.Contains(item.Shown, "can only be refused here") {
		t.Errorf(`item = %+v, want strings.Join(item.Choices, " ") = "deny" and "can only be refused here" in `+
			`item.Shown`, item)
	}
	if err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: item.ID, Choice: "once"}, nil); err == nil {
		t.Error("a yes that cannot be carried")
	}
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
	call.answer()
}

func TestQuestionAndPlan(t *testing.T) {
	w := open(t)
	w.watchInbox()
	questions := []map[string]any{
		{"question": "Which database?", "header": "DB", "options": []map[string]string{{"label": "SQLite"}, {"label": "Postgres"}}},
		{"question": "Which parts?", "multiSelect": true, "options": []map[string]string{{"label": "a"}, {"label": "b"}, {"label": "c"}}},
	}
	asking := daemontest.SessionEvent("claude", "PermissionRequest",
		map[string]any{"tool_name": "AskUserQuestion", "tool_input": map[string]any{"questions": questions}})
	call := w.startCall(asking)
	item := w.waiting()
	if item.Kind != "question" || len(item.Questions) != 2 || !strings.Contains(item.Shown, "2) Postgres") {
		t.Errorf(`item = %+v, want item.Kind = "question", len(item.Questions) = 2 and "2) Postgres" in item.Shown`,
			item)
	}
	for name, answers := range map[string][]event.QuestionAnswer{
		"none":     nil,
		"one":      {{Options: []string{"1"}}},
		"too many": {{Options: []string{"1"}}, {Options: []string{"a"}}, {Options: []string{"a"}}},
		"two":      {{Options: []string{"SQLite", "Postgres"}}, {Options: []string{"a"}}},
	} {
		if err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: item.ID, Choice: "answer", Answers: answers},
			nil); err == nil {
			t.Errorf("name = %q: got no error, want one", name)
		}
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "answer",
		Answers: []event.QuestionAnswer{{Options: []string{"2"}}, {Options: []string{"A", "c"}}}})
	if got, _ := call.answer(); !strings.Contains(got, `"Which database?":"Postgres"`) ||
		!strings.Contains(got, `"Which parts?":"a, c"`) {
		t.Errorf(`call.answer() = %q, want "Which database?":"Postgres" in it and "Which parts?":"a, c" in it`, got)
	}
	planning := daemontest.SessionEvent("claude", "PermissionRequest",
		map[string]any{"tool_name": "ExitPlanMode", "tool_input": map[string]any{"plan": "1. do it"}})
	call = w.startCall(planning)
	item = w.waiting()
	if item.Kind != "plan" || strings.Join(item.Choices, " ") != "accept auto manual reject" ||
		!strings.Contains(item.Shown, "1. do it") {
		t.Errorf(`item = %+v, want item.Kind = "plan", strings.Join(item.Choices, " ") = "accept auto manual `+
			`reject" and "1. do it" in item.Shown`, item)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "plan", Plan: "reject", Feedback: "smaller steps"})
	if got, _ := call.answer(); !strings.Contains(got, "smaller steps") || !strings.Contains(got, `"deny"`) {
		t.Errorf(`call.answer() = %q, want "smaller steps" in it and "deny" in it`, got)
	}
	call = w.startCall(planning)
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "plan", Plan: "accept"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) || !strings.Contains(got, "updatedInput") {
		t.Errorf(`call.answer() = %q, want "allow" in it and "updatedInput" in it`, got)
	}
}

func TestTooManyOfOneSession(t *testing.T) {
	w := open(t)
	w.watchInbox()
	var calls []*pendingCall
	for i := range 50 {
		calls = append(calls, w.startCall(permission("s", fmt.Sprint("cmd ", i))))
	}
	w.Eventually("50 wait", func() bool { return len(w.items()) == 50 })
	w.MustPass(permission("s", "one more"))
	w.MustPass(permission("s", "and another"))
	info, _ := w.Client.Info(context.Background())
	if got := fmt.Sprint(info.Problems); strings.Count(got, "more than 50 requests") != 1 {
		t.Errorf(`got %q, want strings.Count(got, "more than 50 requests") = 1`, got)
	}
	for _, c := range calls {
		c.conn.Close()
	}
	w.Eventually("all are gone", func() bool { return len(w.items()) == 0 })
}

func TestStreamOfTheInbox(t *testing.T) {
	w := open(t)
	reader := w.watchInbox()
	next := func() (string, wire.InboxRequest) {
		t.Helper()
		line, err := reader.ReadBytes('\n')
		if err != nil {
			t.Fatal(err)
		}
		var note struct {
			Method string            `json:"method"`
			Params wire.InboxRequest `json:"params"`
		}
		if err := json.Unmarshal(line, &note); err != nil {
			t.Fatal(err)
		}
		return note.Method, note.Params
	}
	call := w.startCall(permission("s", "ls"))
	method, item := next()
	if method != wire.NoteInboxReceived || item.Status != "pending" {
		t.Errorf(`method = %q, item = %+v; want method = wire.NoteInboxReceived and item.Status = "pending"`,
			method, item)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once"})
	call.answer()
	if method, got := next(); method != wire.NoteInboxResolved || got.ID != item.ID ||
		got.Decision.Outcome != "delivered" {
		t.Errorf(`method = %q, got %+v; want method = wire.NoteInboxResolved, got.ID = %q and got.Decision.Outcome = `+
			`"delivered"`, method, got, item.ID)
	}
	call = w.startCall(permission("s", "ls"))
	_, item = next()
	call.conn.Close()
	if method, got := next(); method != wire.NoteInboxWithdrawn || got.ID != item.ID {
		t.Errorf("method = %q, got %+v; want method = wire.NoteInboxWithdrawn and got.ID = %q", method, got, item.ID)
	}
	r := permission("s", "ls")
	r.Deadline = 30 * time.Millisecond
	w.startCall(r)
	next()
	if method, got := next(); method != wire.NoteInboxExpired || got.Status != "expired" {
		t.Errorf(`method = %q, got %+v; want method = wire.NoteInboxExpired and got.Status = "expired"`, method, got)
	}
}

func TestHookAsksThePerson(t *testing.T) {
	w := open(t)
	ev := event.Event{Agent: "claude", Session: "s", Kind: event.ToolBefore}
	q := inboxQuestion("confirm", "Deploy?", "to production")
	if _, err := w.h.approvals.AskUser(context.Background(), &ev, q); !errors.Is(err, approvals.ErrNobody) ||
		w.h.approvals.CanAnyoneAnswer() {
		t.Errorf("error %v, want error approvals.ErrNobody and that nobody can answer", err)
	}
	w.h.CountSink(true)
	defer w.h.CountSink(false)
	answer := make(chan string, 1)
	go func() {
		got, err := w.h.approvals.AskUser(context.Background(), &ev, q)
		answer <- fmt.Sprint(got, err)
	}()
	item := w.waiting()
	if !strings.Contains(item.Shown, "Deploy?: to production") || item.AskedBy != "mine" {
		t.Errorf(`item = %+v, want "Deploy?: to production" in item.Shown and item.AskedBy = "mine"`, item)
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "answer",
		Answers: []event.QuestionAnswer{{Options: []string{"yes"}}}})
	if got := <-answer; got != "yes<nil>" {
		t.Errorf(`got %q, want "yes<nil>"`, got)
	}
	go func() {
		_, err := w.h.approvals.AskUser(context.Background(), &ev, inboxQuestion("input", "Which host?", ""))
		answer <- fmt.Sprint(err)
	}()
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "deny"})
	if got := <-answer; got != approvals.ErrCancelled.Error() {
		t.Errorf("got %q, want approvals.ErrCancelled.Error()", got)
	}
}

func inboxQuestion(kind, title, text string) queue.Question {
	return queue.Question{By: "mine", Kind: queue.QuestionKind(kind), Title: title, Text: text}
}
