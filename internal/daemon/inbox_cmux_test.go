package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// cmux sends one request in cmux's envelope.
func (w *daemonFixture) cmux(method string, params any) (json.RawMessage, string) {
	w.T.Helper()
	conn := w.Dial()
	defer conn.Close()
	b, _ := json.Marshal(map[string]any{"id": "1", "method": method, "params": params})
	if _, err := conn.Write(append(b, '\n')); err != nil {
		w.T.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadBytes('\n')
	if err != nil {
		w.T.Fatal(err)
	}
	var reply wire.CmuxReply
	if err := json.Unmarshal(line, &reply); err != nil {
		w.T.Fatal(err)
	}
	if reply.Error != nil {
		return nil, reply.Error.Code
	}
	return reply.Result, ""
}

func pushed(session, name, tool string, input any, id string) map[string]any {
	return map[string]any{"wait_timeout_seconds": 60, "event": map[string]any{
		"session_id": session, "hook_event_name": name, "_source": "claude", "_ppid": 4242, "cwd": "/repo",
		"tool_name": tool, "tool_input": input, "_opencode_request_id": id, "context": map[string]any{"lastUserMessage": "go"},
	}}
}

func TestCmuxPush(t *testing.T) {
	w := open(t)
	bash := map[string]any{"command": "make"}
	// Nobody there, and telemetry.
	if got, _ := w.cmux(wire.MethodCmuxPush, pushed("claude-s1", "PermissionRequest", "Bash", bash,
		"r0")); !strings.Contains(string(got), `"timed_out"`) {
		t.Errorf(`got %s, want "timed_out" in it`, got)
	}
	w.watchInbox()
	quiet := pushed("claude-s1", "PostToolUse", "Bash", bash, "r1")
	quiet["wait_timeout_seconds"] = 0
	if got, _ := w.cmux(wire.MethodCmuxPush, quiet); !strings.Contains(string(got), `"acknowledged"`) {
		t.Errorf(`got %s, want "acknowledged" in it`, got)
	}
	for name, bad := range map[string]any{
		"no event":     map[string]any{},
		"too long":     map[string]any{"wait_timeout_seconds": 500, "event": quiet["event"]},
		"no session":   map[string]any{"event": map[string]any{"hook_event_name": "Stop"}},
		"several wait": map[string]any{"wait_timeout_seconds": 5, "events": []any{quiet["event"]}},
	} {
		if got, code := w.cmux(wire.MethodCmuxPush, bad); code != "invalid_params" {
			t.Errorf(`%s: got %s, code = %s; want code = "invalid_params"`, name, got, code)
		}
	}
	if got, _ := w.cmux(wire.MethodCmuxPush, map[string]any{"events": []any{quiet["event"],
		quiet["event"]}}); strings.Count(string(got), `"`) < 6 || !strings.Contains(string(got), "item_ids") {
		t.Errorf("got %s, want strings.Count(string(got), `\"`) at least 6 and \"item_ids\" in it", got)
	}

	wait := func(session, name, tool string, input any, id string) chan string {
		done := make(chan string, 1)
		go func() {
			got, code := w.cmux(wire.MethodCmuxPush, pushed(session, name, tool, input, id))
			done <- string(got) + code
		}()
		return done
	}
	hear := func(c chan string) string {
		t.Helper()
		select {
		case s := <-c:
			return s
		case <-time.After(daemontest.Patience):
			t.Fatal("not answered, want an answer within the time of a test")
		}
		return ""
	}
	one := wait("claude-s1", "PermissionRequest", "Bash", bash, "r2")
	item := w.waiting()
	if item.Session != "s1" || item.Agent != "claude" || item.Cwd != "/repo" ||
		!strings.Contains(item.Shown, "$ make") {
		t.Errorf(`item = %+v, want item.Session = "s1", item.Agent = "claude", item.Cwd = "/repo" and "$ make" in `+
			`item.Shown`, item)
	}
	list, _ := w.cmux(wire.MethodCmuxList, map[string]any{"pending_only": true})
	for _, want := range []string{`"request_id":"r2"`, `"workstream_id":"claude-s1"`, `"kind":"permissionRequest"`,
		`"status":"pending"`, `"tool_name":"Bash"`} {
		if !strings.Contains(string(list), want) {
			t.Errorf("%s is not in %s", want, list)
		}
	}
	if got, code := w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": "r2",
		"mode": "bypass"}); code != "invalid_params" {
		t.Errorf(`got %s, code = %s; want code = "invalid_params"`, got, code)
	}
	got, _ := w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": "r2", "mode": "once"})
	if !strings.Contains(string(got), `"delivered":true`) || !strings.Contains(string(got), `"outcome":"delivered"`) {
		t.Errorf(`got %s, want "delivered":true in it and "outcome":"delivered" in it`, got)
	}
	if answer := hear(one); !strings.Contains(answer, `"resolved"`) || !strings.Contains(answer, `"mode":"once"`) {
		t.Errorf(`hear(one) = %q, want "resolved" in it and "mode":"once" in it`, answer)
	}
	got, _ = w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": "r2", "mode": "deny"})
	if !strings.Contains(string(got), `"delivered":false`) {
		t.Errorf(`got %s, want "delivered":false in it`, got)
	}
	if _, code := w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": "nothing",
		"mode": "deny"}); code != "not_found" {
		t.Errorf(`code = %q, want "not_found"`, code)
	}

	// Questions keyed by question; a wrong number of selections is refused.
	questions := map[string]any{"questions": []any{
		map[string]any{"question": "A?", "options": []any{map[string]any{"label": "x"}, map[string]any{"label": "y"}}},
		map[string]any{"question": "B?", "multiSelect": true, "options": []any{map[string]any{"label": "p"}, map[string]any{"label": "q"}}},
	}}
	asked := wait("claude-s1", "AskUserQuestion", "AskUserQuestion", questions, "r3")
	w.waiting()
	if _, code := w.cmux(wire.MethodCmuxQuestion, map[string]any{"request_id": "r3",
		"selections": []string{"x"}}); code != "invalid_params" {
		t.Errorf(`code = %q, want "invalid_params"`, code)
	}
	list, _ = w.cmux(wire.MethodCmuxList, map[string]any{"pending_only": true})
	if !strings.Contains(string(list), `"prompt":"B?"`) || !strings.Contains(string(list), `"multi_select":true`) {
		t.Errorf(`list = %s, want "prompt":"B?" in it and "multi_select":true in it`, list)
	}
	if got, code := w.cmux(wire.MethodCmuxQuestion,
		map[string]any{"request_id": "r3", "selections": []string{"y", "p, q"}}); code != "" {
		t.Errorf(`got %s, code = %s; want code = ""`, got, code)
	}
	if answer := hear(asked); !strings.Contains(answer, `"selections":["y","p, q"]`) {
		t.Errorf(`hear(asked) = %q, want "selections":["y","p, q"] in it`, answer)
	}

	// Plans.
	planned := wait("claude-s1", "ExitPlanMode", "ExitPlanMode", map[string]any{"plan": "1. a"}, "r4")
	w.waiting()
	if _, code := w.cmux(wire.MethodCmuxPlan, map[string]any{"request_id": "r4",
		"mode": "maybe"}); code != "invalid_params" {
		t.Errorf(`code = %q, want "invalid_params"`, code)
	}
	if got, code := w.cmux(wire.MethodCmuxPlan, map[string]any{"request_id": "r4",
		"mode": "bypassPermissions"}); code != "invalid_params" {
		t.Errorf("a plan accepted with bypassPermissions was answered %s %s, want it refused", got, code)
	}
	if got, code := w.cmux(wire.MethodCmuxPlan, map[string]any{"request_id": "r4", "mode": "autoAccept"}); code != "" {
		t.Errorf(`got %s, code = %s; want code = ""`, got, code)
	}
	if answer := hear(planned); !strings.Contains(answer, `"mode":"autoAccept"`) ||
		!strings.Contains(answer, "exit_plan") {
		t.Errorf(`hear(planned) = %q, want "mode":"autoAccept" in it and "exit_plan" in it`, answer)
	}
	planned = wait("claude-s1", "ExitPlanMode", "ExitPlanMode", map[string]any{"plan": "1. a"}, "r5")
	w.waiting()
	w.cmux(wire.MethodCmuxPlan, map[string]any{"request_id": "r5", "mode": "manual", "feedback": "smaller"})
	if answer := hear(planned); !strings.Contains(answer, `"mode":"deny"`) || !strings.Contains(answer, "smaller") {
		t.Errorf(`hear(planned) = %q, want "mode":"deny" in it and "smaller" in it`, answer)
	}

	// A guard is heard first.
	b, _ := json.Marshal("block")
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.destructive", Value: b}, nil)
	if got, _ := w.cmux(wire.MethodCmuxPush, pushed("claude-s1", "PermissionRequest", "Bash",
		map[string]any{"command": "git push --force"}, "r6")); !strings.Contains(string(got), `"mode":"deny"`) {
		t.Errorf(`got %s, want "mode":"deny" in it`, got)
	}
	got, _ = w.cmux(wire.MethodCmuxJump, map[string]any{"workstream_id": "claude-s1"})
	if !strings.Contains(string(got), `"matched":true`) {
		t.Errorf(`got %s, want "matched":true in it`, got)
	}
	if got, _ := w.cmux(wire.MethodCmuxJump, map[string]any{"workstream_id": "claude-s9"}); !strings.Contains(
		string(got), `"matched":false`) {
		t.Errorf(`got %s, want "matched":false in it`, got)
	}
	// Who hangs up waits no more.
	conn := w.Dial()
	b, _ = json.Marshal(map[string]any{"id": "1", "method": wire.MethodCmuxPush,
		"params": pushed("claude-s1", "PermissionRequest", "Bash", bash, "r7")})
	fmt.Fprintf(conn, "%s\n", b)
	w.waiting()
	conn.Close()
	w.Eventually("it is gone", func() bool { return len(w.items()) == 0 })
}

// cmux's answers hold no input. What a hook wants changed can therefore not be
// approved there: a yes would be one to the call as it came.
func TestPushedCallThatAHookChanges(t *testing.T) {
	for name, d := range map[string]event.Decision{
		"changed":            {Verdict: event.Modify, Input: json.RawMessage(`{"command":"make -n"}`)},
		"changed, and asked": {Verdict: event.Ask, Reason: "sure?", Input: json.RawMessage(`{"command":"make -n"}`)},
	} {
		t.Run(name, func(t *testing.T) {
			changes := daemontest.Entry(t, "changer", hook.Guard, event.PermissionRequest,
				func(context.Context, *hook.Call) (event.Decision, error) { return d, nil })
			w := open(t, changes)
			w.watchInbox()
			got, _ := w.cmux(wire.MethodCmuxPush, pushed("claude-s1", "PermissionRequest", "Bash",
				map[string]any{"command": "make"}, "r1"))
			for _, want := range []string{`"resolved"`, `"mode":"deny"`, "a hook wants this call changed",
				`"by":"changer"`} {
				if !strings.Contains(string(got), want) {
					t.Errorf("%s is not in %s", want, got)
				}
			}
			if list := w.items(); len(list) != 0 {
				t.Errorf("a person was asked: %+v", list)
			}
			w.Eventually("the refusal is in the journal", func() bool {
				return slices.ContainsFunc(w.Rows(),
					func(r daemontest.Row) bool { return r.Native == "PermissionRequest" && r.Verdict() == "deny" })
			})
		})
	}
}
