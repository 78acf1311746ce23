package plugins_test

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

// OpenCode 2 as its documents and types have it (testdata/harness.mjs plays its loader).
// No OpenCode 2 could be run; the catalogue says so.

func oc2Before(as, tool string, input any) step {
	return step{"do": "call", "as": as, "name": "tool execute.before",
		"event": step{"tool": tool, "sessionID": ses, "agent": "build", "messageID": "msg_1", "id": "call_" + as, "input": input}}
}

func oc2After(as string, result step) step {
	ev := step{"tool": "shell", "sessionID": ses, "messageID": "msg_1", "id": "call_" + as, "input": step{"command": "true"}}
	for key, value := range result {
		ev[key] = value
	}
	return step{"do": "call", "as": as, "name": "tool execute.after", "event": ev}
}

func oc2Prompt(as, words string) step {
	return step{"do": "call", "as": as, "name": "session prompt",
		"event": step{"sessionID": ses, "messageID": "msg_1", "prompt": step{"text": words}, "delivery": "steer"}}
}

func oc2Event(kind string, data step) step {
	if data["sessionID"] == nil {
		data["sessionID"] = ses
	}
	return step{"do": "event", "event": step{"id": "evt", "type": kind, "data": data, "location": step{"directory": "/src/project"}}}
}

func TestOpenCode2Decisions(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		switch {
		case strings.Contains(string(r.Payload), "deny me"):
			return `{"throw":"not \"here\""}`
		case strings.Contains(string(r.Payload), "change me"):
			return `{"output":{"args":{"command":"changed"}}}`
		case r.Event == "tool.execute.after":
			return `{"output":{"output":"other words"}}`
		case r.Event == "chat.message":
			return `{"context":"mind the gap"}`
		}
		return ""
	})
	p := play(t, "opencode2", h.dir, plugins.Options{}, nil,
		oc2Prompt("prompt", "do it"), await("prompt"),
		oc2Before("plain", "shell", step{"command": "ls", "workdir": "/srv"}),
		oc2Before("denied", "shell", step{"command": "deny me"}),
		oc2Before("changed", "shell", step{"command": "change me"}),
		oc2Before("file", "write", step{"path": "/etc/passwd", "content": "x"}),
		await("plain"), await("denied"), await("changed"), await("file"),
		oc2After("result", step{"status": "completed", "result": step{"content": []step{{"type": "text", "text": "the output"}}}}),
		await("result"),
		oc2After("failed", step{"status": "error", "error": step{"message": "no such file"}}), await("failed"),
		oc2Prompt("refused", "deny me, too"), await("refused"), got(8))
	if threw, _, _, ev := p.call(t, "plain"); threw != "" || !strings.Contains(ev, `"command":"ls"`) {
		t.Errorf("no opinion became %q %s; want the input as it was", threw, ev)
	}
	if threw, _, _, _ := p.call(t, "denied"); threw != `not "here"` {
		t.Errorf("deny threw %q, want `not \"here\"`", threw)
	}
	if threw, _, _, ev := p.call(t, "changed"); threw != "" || !strings.Contains(ev, `"input":{"command":"changed"}`) {
		t.Errorf("changed input: %q %s, want the changed input", threw, ev)
	}
	if _, _, _, ev := p.call(t, "result"); !strings.Contains(ev, `"text":"other words"`) {
		t.Errorf("changed result: %s, want other words", ev)
	}
	if _, _, _, ev := p.call(t, "prompt"); !strings.Contains(ev, `do it\n\nmind the gap`) {
		t.Errorf("context: %s, want it behind the prompt", ev)
	}
	if threw, _, _, _ := p.call(t, "refused"); threw != `not "here"` {
		t.Errorf("a refused prompt threw %q", threw)
	}
	before := h.events(t, event.ToolBefore)
	if len(before) != 4 || before[0].Tool.Kind != event.Shell || before[0].Tool.CallID == "" ||
		len(before[0].Tool.Commands) != 1 || before[0].Cwd != "/src/project" {
		t.Fatalf("calls were read as %+v, want four, the first a shell command in its folder", before)
	}
	for _, ev := range before {
		if ev.Tool.Name == "write" && (len(ev.Tool.Writes) != 1 || ev.Tool.Writes[0] != "/etc/passwd") {
			t.Errorf("write writes %v, want the path it names", ev.Tool.Writes)
		}
	}
	after := h.events(t, event.ToolAfter)
	if len(after) != 2 || !after[1].Tool.Failed {
		t.Errorf("results were read as %+v, want two, the second failed", after)
	}
}

// Every permission is answered through OpenCode's own door, with the call it's about.
func TestOpenCode2Permissions(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		switch {
		case r.Event != "permission.asked":
			return ""
		case strings.Contains(string(r.Payload), "per_yes"):
			return `{"reply":"once"}`
		case strings.Contains(string(r.Payload), "per_no"):
			return `{"reply":"reject","message":"never"}`
		}
		return silent
	})
	asked := func(id, action string, resources []string, call string) step {
		data := step{"id": id, "action": action, "resources": resources, "save": []string{"git *"}}
		if call != "" {
			data["source"] = step{"type": "tool", "messageID": "msg_1", "id": call}
		}
		return oc2Event("permission.asked", data)
	}
	p := play(t, "opencode2", h.dir, plugins.Options{}, nil,
		oc2Before("push", "shell", step{"command": "git push", "workdir": "/srv"}), await("push"),
		asked("per_yes", "shell", []string{"git push"}, "call_push"),
		asked("per_no", "edit", []string{"a.txt", "/etc/b.txt"}, ""), called(2),
		asked("per_else", "read", []string{"/home/x/.env"}, ""), got(4),
		oc2Event("permission.replied", step{"requestID": "per_else", "reply": "once"}), got(5))
	c := p.clientCalls()
	for _, want := range []string{
		`reply {"sessionID":"ses_1","requestID":"per_yes","reply":"once","decision":"once"}`,
		`reply {"sessionID":"ses_1","requestID":"per_no","reply":"reject","decision":"reject","message":"never"}`,
	} {
		if !strings.Contains(c, want) {
			t.Errorf("answered %s; want %s", c, want)
		}
	}
	if len(p.Client) != 2 {
		t.Errorf("answered %d times, want 2: %s", len(p.Client), c)
	}
	requests := h.events(t, event.PermissionRequest)
	if len(requests) != 3 || len(requests[0].Tool.Commands) != 1 || len(requests[1].Tool.Writes) != 2 ||
		len(requests[2].Tool.Reads) != 1 {
		t.Errorf("asked: %+v; want a command, two files to write and one to read", requests)
	}
}

func TestOpenCode2Turns(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	play(t, "opencode2", h.dir, plugins.Options{}, nil,
		oc2Event("session.created", step{"agent": "build", "location": step{"directory": "/src/project"}}), got(1),
		oc2Prompt("one", "go"), await("one"), oc2Event("session.execution.started", step{}),
		oc2Event("session.execution.succeeded", step{}), got(3),
		// A turn that no prompt began, then one that failed, then one that was stopped.
		oc2Event("session.execution.started", step{}), oc2Event("session.execution.succeeded", step{}), got(4),
		oc2Prompt("two", "go"), await("two"),
		oc2Event("session.execution.failed", step{"error": step{"type": "provider.auth", "message": "no key"}}), got(6),
		oc2Prompt("three", "go"), await("three"), oc2Event("session.execution.interrupted", step{"reason": "user"}), got(8),
		oc2Before("late", "shell", step{"command": "ls"}), await("late"),
		oc2Event("form.created", step{"form": step{"id": "frm_1", "sessionID": ses, "fields": []step{
			{"key": "choice", "title": "Which?", "options": []step{{"value": "a", "label": "A"}}}}}}), got(9),
		oc2Event("form.replied", step{"id": "frm_1"}), got(10),
		// Another project's, and one that nobody knows.
		step{"do": "event", "event": step{"type": "session.created", "data": step{"sessionID": "ses_2"},
			"location": step{"directory": "/elsewhere"}}},
		oc2Event("session.viewed", step{}))
	want := "session.created chat.message session.idle session.idle chat.message session.error chat.message session.error " +
		"question.asked question.replied dispose"
	if got := h.heard(); got != want {
		t.Errorf("heard %s\nwant  %s", got, want)
	}
	ends := h.events(t, event.TurnEnd)
	if len(ends) != 4 || ends[2].Error != "no key" || ends[3].Detail != "MessageAbortedError" {
		t.Errorf("turns ended as %+v; want four, the third without a key, the fourth stopped", ends)
	}
}

// A call of a turn that was stopped doesn't run, and where the tool hooks are missing the
// plugin fails as a whole: OpenCode says so, nothing runs unguarded without a word.
func TestOpenCode2NeverUnguarded(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	p := play(t, "opencode2", h.dir, plugins.Options{}, nil, oc2Prompt("one", "go"), await("one"),
		oc2Event("session.execution.interrupted", step{}), got(2),
		oc2Before("late", "shell", step{"command": "ls"}), await("late"))
	if threw, _, _, _ := p.call(t, "late"); !strings.Contains(threw, "aborted") {
		t.Errorf("a call after the stop threw %q; want that the turn was aborted", threw)
	}
	p = play(t, "opencode2", h.dir, plugins.Options{}, []string{"HARNESS_NO_TOOLS=1"},
		oc2Event("session.viewed", step{}))
	if len(p.Notices) != 1 || !strings.Contains(p.Notices[0], "failed: no such hook") {
		t.Errorf("without tool hooks the plugin said %q; want that it fails", p.Notices)
	}
	// No daemon answers: as installed, a call is refused.
	p = play(t, "opencode2", t.TempDir(), plugins.Options{Deny: true}, nil,
		oc2Before("closed", "shell", step{"command": "ls"}), await("closed"))
	if threw, _, _, _ := p.call(t, "closed"); !strings.Contains(threw, "daemon can't be reached") {
		t.Errorf("without a daemon a call threw %q, want a refusal", threw)
	}
}
