package daemon

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// What programs read of a request: these members are always there, a decision
// when there is one.
func TestShapeOfARequest(t *testing.T) {
	w := open(t)
	w.watchInbox()
	elicitation := daemontest.SessionEvent("claude", "Elicitation",
		map[string]any{"session_id": "s1", "mcp_server_name": "x", "message": "Your name?", "mode": "form",
			"requested_schema": map[string]any{"type": "object",
				"properties": map[string]any{"name": map[string]any{"type": "string"}}, "required": []string{"name"}}})
	for kind, r := range map[string]frame.Request{
		"permission": permission("s1", "make"),
		"plan":       daemontest.SessionEvent("claude", "PermissionRequest", map[string]any{"tool_name": "ExitPlanMode", "tool_input": map[string]any{"plan": "1. do it"}}),
		"question":   elicitation, // by no tool
	} {
		call := w.startCall(r)
		id := w.waiting().ID
		var list []map[string]json.RawMessage
		w.MustCall(wire.MethodInboxItems, nil, &list)
		item := list[0]
		for key, begins := range map[string]string{
			"id": `"`, "status": `"pending"`, "kind": `"` + kind + `"`, "agent": `"claude"`, "session": `"s1"`, "tool": `"`, "input": "",
			"choices": "[", "createdAt": `"2`, "deadline": `"2`, "shown": `"`, "sha256": `"`,
		} {
			if value, ok := item[key]; !ok || !strings.HasPrefix(string(value), begins) {
				t.Errorf("%s: %s is %s; want ok and string(value) to begin with begins", kind, key, value)
			}
		}
		if _, ok := item["decision"]; ok {
			t.Errorf("%s: decided already: %s; want !ok", kind, item["decision"])
		}
		var shown, hash string
		_ = json.Unmarshal(item["shown"], &shown)
		_ = json.Unmarshal(item["sha256"], &hash)
		if sum := sha256.Sum256([]byte(shown)); hash != hex.EncodeToString(sum[:]) {
			t.Errorf("%s: %s is not of %q", kind, hash, shown)
		}
		w.say(wire.InboxReplyParams{ID: id, Choice: "deny", Reason: "no"})
		call.answer()
		w.MustCall(wire.MethodInboxItems, wire.InboxListParams{ID: id}, &list)
		if got := string(list[0]["status"]); got != `"resolved"` ||
			!strings.Contains(string(list[0]["decision"]), `"by":`) {
			t.Errorf("%s: %s %s; want got == `\"resolved\"` and `\"by\":` in string(list[0][\"decision\"])",
				kind, got, list[0]["decision"])
		}
	}
}

// The agent's own suggestion is offered, and taken up as the agent's rule: no
// permission of ours comes of it.
func TestTakingUpTheAgentsSuggestion(t *testing.T) {
	w := open(t)
	w.watchInbox()
	offers := []any{map[string]any{"type": "addRules",
		"rules": []any{map[string]any{"toolName": "Bash", "ruleContent": "npm test:*"}}, "behavior": "allow",
		"destination": "localSettings"}}
	asking := daemontest.SessionEvent("claude", "PermissionRequest",
		map[string]any{"tool_name": "Bash", "tool_input": map[string]any{"command": "npm test"},
			"permission_suggestions": offers})
	call := w.startCall(asking)
	item := w.waiting()
	if len(item.Suggestions) != 1 || !strings.Contains(item.Shown, "the agent's own suggestion 1: ") {
		t.Fatalf(`item = %+v, want len(item.Suggestions) = 1 and "the agent's own suggestion 1: " in item.Shown`,
			item)
	}
	for _, n := range []int{2, -1} {
		if err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: item.ID, Choice: "always", Suggestion: n},
			nil); err == nil {
			t.Errorf("suggestion %d of 1 was taken", n)
		}
	}
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Suggestion: 1})
	if got, _ := call.answer(); !strings.Contains(got, `"updatedPermissions"`) || !strings.Contains(got, "npm test:*") {
		t.Errorf(`call.answer() = %q, want "updatedPermissions" in it and "npm test:*" in it`, got)
	}
	var permissions []wire.PermissionInfo
	w.MustCall(wire.MethodPermissions, nil, &permissions)
	if len(permissions) != 0 {
		t.Errorf("permissions = %+v, want none", permissions)
	}
	// cmux's always says beforehand which rule that is.
	call = w.startCall(asking)
	id := w.waiting().ID
	list, _ := w.cmux(wire.MethodCmuxList, map[string]any{"pending_only": true})
	if !strings.Contains(string(list), `"suggestions":[{`) || strings.Contains(string(list), `"rule":"run`) {
		t.Errorf(`list = %s, want "suggestions":[{ in it and no "rule":"run in it`, list)
	}
	w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": id, "mode": "always"})
	if got, _ := call.answer(); !strings.Contains(got, `"updatedPermissions"`) {
		t.Errorf(`call.answer() = %q, want "updatedPermissions" in it`, got)
	}
	call = w.startCall(permission("s", "npm test"))
	id = w.waiting().ID
	if list, _ = w.cmux(wire.MethodCmuxList, map[string]any{"pending_only": true}); !strings.Contains(string(list),
		`"rule":"run exactly: npm test"`) {
		t.Errorf(`list = %s, want "rule":"run exactly: npm test" in it`, list)
	}
	w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": id, "mode": "always"})
	call.answer()
	if w.MustCall(wire.MethodPermissions, nil, &permissions); len(permissions) != 1 || permissions[0].Scope != "session" {
		t.Errorf(`permissions = %+v, want 1 of them and permissions[0].Scope = "session"`, permissions)
	}
}

// A permission counts for nothing whose input came cut, and a person can then only
// refuse: nobody sees what a yes would mean. An expired one counts no more.
func TestPermissionsOverCutInputAndTime(t *testing.T) {
	w := open(t)
	w.watchInbox()
	call := w.startCall(permission("s", "make"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "all"})
	call.answer()
	cut := permission("s", "make")
	cut.Truncated = true
	call = w.startCall(cut)
	item := w.waiting()
	if strings.Join(item.Choices, " ") != "deny" || item.Rule != "" ||
		!strings.Contains(item.Shown, "only the beginning of the input") {
		t.Errorf(`item = %+v, want strings.Join(item.Choices, " ") = "deny", item.Rule = "" and "only the beginning `+
			`of the input" in item.Shown`, item)
	}
	for _, choice := range []string{"once", "always", "all"} {
		if err := w.Call(wire.MethodInboxReply, wire.InboxReplyParams{ID: item.ID, Choice: choice,
			Rule: "run exactly: make"}, nil); err == nil {
			t.Errorf("%s to what nobody saw", choice)
		}
	}
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: item.ID}, nil)
	if got, _ := call.answer(); got != "" {
		t.Errorf(`call.answer() = %q, want ""`, got)
	}
	short := w.startCall(permission("t", "make"))
	item = w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "everywhere", Seconds: 0.2})
	short.answer()
	time.Sleep(300 * time.Millisecond)
	call = w.startCall(permission("t", "make"))
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
	if got, _ := call.answer(); got != "" {
		t.Errorf("an expired permission answered %s", got)
	}
	var list []wire.PermissionInfo
	w.MustCall(wire.MethodPermissions, nil, &list)
	if slices.ContainsFunc(list, func(g wire.PermissionInfo) bool { return g.Scope == "everywhere" }) {
		t.Errorf(`list = %+v, want not slices.ContainsFunc(list, func(g wire.PermissionInfo) bool { return g.Scope == `+
			`"everywhere" })`, list)
	}
}

// An answer before the call serves the permission request of the same worker
// alone: a subagent's is another question.
func TestAnAnswerServesItsOwnWorker(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.set("approvals.policy.claude", "side-effects")
	with := func(name, command, sub string) frame.Request {
		more := map[string]any{"session_id": "s", "tool_name": "Bash", "tool_input": map[string]any{"command": command}}
		if sub != "" {
			more["agent_id"], more["agent_type"] = sub, "helper"
		}
		return daemontest.SessionEvent("claude", name, more)
	}
	call := w.startCall(with("PreToolUse", "make", "a1"))
	w.say(wire.InboxReplyParams{ID: w.waiting().ID, Choice: "once"})
	call.answer()
	for what, other := range map[string]frame.Request{
		"the session itself": with("PermissionRequest", "make", ""), "another subagent": with("PermissionRequest", "make", "a2"),
		"another command": with("PermissionRequest", "make install", "a1"),
	} {
		call := w.startCall(other)
		w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
		if got, _ := call.answer(); got != "" {
			t.Errorf(`%s was served: %s, want ""`, what, got)
		}
	}
	if got := w.Send(with("PermissionRequest", "make", "a1")); !strings.Contains(string(got.Stdout), `"allow"`) {
		t.Errorf("asked twice: %s; want `\"allow\"` in string(got.Stdout)", got.Stdout)
	}
	again := w.startCall(with("PermissionRequest", "make", "a1"))
	w.MustCall(wire.MethodInboxSkip, wire.InboxIDParams{ID: w.waiting().ID}, nil)
	if got, _ := again.answer(); got != "" {
		t.Errorf(`served twice: %s, want ""`, got)
	}
}

// A daemon that stops lets everybody who waits go at once, and shows no request of
// before when it is back.
func TestAStoppingDaemonLetsWaitersGo(t *testing.T) {
	w := open(t)
	w.MustCall(wire.MethodAway, nil, nil)
	var calls []*pendingCall
	for i := range 40 {
		calls = append(calls, w.startCall(permission(fmt.Sprint("s", i), "make")))
	}
	w.Eventually("all wait", func() bool { return len(w.items()) == len(calls) })
	stopped := time.Now()
	w.h.Stop("for the test")
	for _, call := range calls {
		if got, ok := call.answer(); ok {
			t.Errorf("answered %q by a daemon that stops", got)
		}
	}
	if took := time.Since(stopped); took > 5*time.Second { // one second is promised; machines that test are busy
		t.Errorf("let go after %s", took)
	}
	w.WaitEnd()
	w.Up()
	if list := w.items(); len(list) != 0 {
		t.Errorf("stale: %+v; want len(list) == 0", list)
	}
	if late := w.say(wire.InboxReplyParams{ID: "abcd", Choice: "once"}); late.Outcome != "unknown" {
		t.Errorf(`late = %+v, want late.Outcome = "unknown"`, late)
	}
}

// cmux's clients tell without an id and expect no answer; the next request on
// the connection gets the next one.
func TestCmuxTellsOneWay(t *testing.T) {
	w := open(t)
	w.watchInbox()
	conn := w.Dial()
	one := pushed("claude-s1", "PermissionRequest", "Bash", map[string]any{"command": "make"},
		"r1") // says that it waits
	for _, message := range []any{
		map[string]any{"method": wire.MethodCmuxPush, "params": one},
		map[string]any{"id": "2", "method": "system.ping"},
	} {
		b, _ := json.Marshal(message)
		if _, err := conn.Write(append(b, '\n')); err != nil {
			t.Fatal(err)
		}
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(line, `"id":"2"`) || !strings.Contains(line, "pong") {
		t.Errorf(`line = %s, error %v; want no error, "id":"2" in line and "pong" in line`, line, err)
	}
	if list := w.items(); len(list) != 0 {
		t.Errorf("a person is asked, and nobody would hear the answer: %+v", list)
	}
	w.Eventually("it is in the journal", func() bool {
		return slices.ContainsFunc(w.Rows(), func(r daemontest.Row) bool {
			return r.Native == "PermissionRequest" &&
				r.Session == "s1"
		})
	})
}
