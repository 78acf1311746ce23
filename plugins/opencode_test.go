package plugins_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/wire/frame"
	"github.com/hookmux/hookmux/plugins"
)

const ses = "ses_1"

func ocBefore(as, command string) step {
	return step{"do": "call", "as": as, "name": "tool.execute.before",
		"input":  step{"tool": "bash", "sessionID": ses, "callID": "call_" + as},
		"output": step{"args": step{"command": command, "description": "x"}}}
}

func ocAfter(as, output string) step {
	return step{"do": "call", "as": as, "name": "tool.execute.after",
		"input":  step{"tool": "bash", "sessionID": ses, "callID": "call_" + as, "args": step{"command": "true"}},
		"output": step{"title": "true", "output": output, "metadata": step{"exit": 0}}}
}

func ocPrompt(as, words string) step {
	return step{"do": "call", "as": as, "name": "chat.message", "input": step{"sessionID": ses},
		"output": step{
			"message": step{"id": "msg_1", "sessionID": ses, "role": "user", "agent": "build",
				"model": step{"providerID": "lab", "modelID": "small"}},
			"parts": []step{{"type": "text", "text": words, "id": "prt_1dd247b51001C4QukCaFRhdngM", "sessionID": ses,
				"messageID": "msg_1"}},
		}}
}

func ocEvent(kind string, properties step) step {
	if properties["sessionID"] == nil {
		properties["sessionID"] = ses
	}
	return step{"do": "event", "event": step{"id": "evt", "type": kind, "properties": properties}}
}

func await(as string) step { return step{"do": "await", "as": as} }

// got waits until the daemon has got n requests, called until the client was
// called n times.
func got(n int) step    { return step{"do": "until", "got": n} }
func called(n int) step { return step{"do": "until", "client": n} }

func TestOpenCodeDecisions(t *testing.T) {
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
	p := play(t, "opencode", h.dir, plugins.Options{}, nil,
		ocPrompt("prompt", "do it"), await("prompt"),
		ocBefore("plain", "ls"), ocBefore("denied", "deny me"), ocBefore("changed", "change me"),
		await("plain"), await("denied"), await("changed"),
		ocAfter("result", "the output"), await("result"),
		ocPrompt("refused", "deny me, too"))
	if threw, _, out, _ := p.call(t, "plain"); threw != "" || !strings.Contains(out, `"command":"ls"`) {
		t.Errorf("no opinion became %q %s", threw, out)
	}
	if threw, _, _, _ := p.call(t, "denied"); threw != `not "here"` {
		t.Errorf("deny threw %q, want `not \"here\"`", threw)
	}
	if threw, _, out, _ := p.call(t, "changed"); threw != "" || out != `{"args":{"command":"changed"}}` {
		t.Errorf("changed input: %q %s; want threw == \"\" and out == `{\"args\":{\"command\":\"changed\"}}`",
			threw, out)
	}
	if _, _, out, _ := p.call(t, "result"); !strings.Contains(out, `"output":"other words"`) {
		t.Errorf("changed result: %s; want `\"output\":\"other words\"` in out", out)
	}
	_, _, out, _ := p.call(t, "prompt")
	var said struct {
		Parts []struct {
			ID, Text, MessageID, SessionID string
			Synthetic                      bool
		}
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil {
		t.Fatal(err)
	}
	if len(said.Parts) != 2 || said.Parts[1].Text != "mind the gap" || !said.Parts[1].Synthetic ||
		said.Parts[1].ID <= said.Parts[0].ID ||
		len(said.Parts[1].ID) != len(said.Parts[0].ID) || said.Parts[1].MessageID != "msg_1" ||
		said.Parts[1].SessionID != ses {
		t.Errorf("context: %s; want a second part of the same message and session, with an id of its own", out)
	}
	if threw, _, _, _ := p.call(t, "refused"); threw != `not "here"` {
		t.Errorf("a refused prompt threw %q", threw)
	}
	if c := p.clientCalls(); !strings.Contains(c, "prompt blocked") {
		t.Errorf("the user was told: %s", c)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	first := h.requests[0]
	if first.Agent != "opencode" || first.Cwd != "/src/project" || first.Deadline <= 0 || first.Seq == 0 ||
		!strings.Contains(string(first.Env), "MARK=in the environment\x00") {
		t.Errorf("frame: %+v; want first.Agent == \"opencode\", first.Cwd == \"/src/project\", "+
			"first.Deadline > 0, first.Seq != 0 and \"MARK=in the environment\\x00\" in string(first.Env)", first)
	}
	seen := map[string]bool{}
	for _, r := range h.requests {
		if seen[r.ID] {
			t.Errorf("id %s twice; want !seen[r.ID]", r.ID)
		}
		seen[r.ID] = true
	}
}

func TestOpenCodeOneFinishPerTurn(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	idle := func() step { return ocEvent("session.status", step{"status": step{"type": "idle"}}) }
	play(t, "opencode", h.dir, plugins.Options{}, nil,
		ocEvent("session.created", step{"info": step{"id": ses, "title": "New session - 2026-01-01T00:00:00.000Z",
			"version": "1.18.33"}}),
		ocEvent("session.updated", step{"info": step{"id": ses, "title": "New session - 2026-01-01T00:00:00.000Z"}}),
		ocEvent("session.idle", step{}), // before any turn: none to finish
		ocPrompt("one", "do it"), await("one"),
		ocEvent("session.updated", step{"info": step{"id": ses, "title": "Doing it"}}),
		ocEvent("session.updated", step{"info": step{"id": ses, "title": "Doing it"}}),
		ocEvent("message.updated", step{"info": step{"id": "msg_2", "role": "assistant", "sessionID": ses}}),
		ocEvent("message.part.updated", step{"part": step{"type": "text", "text": "Done.", "messageID": "msg_2",
			"sessionID": ses}}),
		ocEvent("message.part.updated", step{"part": step{"type": "tool", "tool": "read", "callID": "c1",
			"sessionID": ses, "state": step{"status": "running", "input": step{}}}}),
		ocEvent("message.part.updated", step{"part": step{"type": "tool", "tool": "read", "callID": "c1",
			"sessionID": ses, "state": step{"status": "error", "error": "no such file", "input": step{"filePath": "/x"},
				"time": step{"start": 10, "end": 30}}}}),
		ocEvent("message.part.updated", step{"part": step{"type": "tool", "tool": "read", "callID": "c1",
			"sessionID": ses, "state": step{"status": "error", "error": "no such file", "input": step{}}}}),
		idle(), ocEvent("session.idle", step{}), ocEvent("session.idle", step{}), got(5),
		ocPrompt("two", "again"), await("two"),
		ocEvent("session.error", step{"error": step{"name": "UnknownError", "data": step{"message": "broken"}}}),
		idle(), ocEvent("session.idle", step{}), got(7),
		ocPrompt("three", "again"), await("three"),
		ocEvent("session.error", step{"error": step{"name": "MessageAbortedError",
			"data": step{"message": "Aborted"}}}),
		idle(), ocEvent("session.idle", step{}), ocEvent("session.idle", step{}), got(9),
	)
	want := "session.created chat.message session.updated message.part.updated session.idle chat.message " +
		"session.error chat.message session.error dispose"
	if got := h.heard(); got != want {
		t.Fatalf("heard %s\nwant  %s", got, want)
	}
	ends := h.events(t, event.TurnEnd)
	if len(ends) != 3 || ends[0].Detail != "" || ends[0].Message != "Done." || ends[0].Session != ses ||
		ends[0].AgentVersion != "1.18.33" ||
		ends[1].Detail != "UnknownError" || ends[1].Error != "broken" || ends[2].Detail != "MessageAbortedError" {
		t.Errorf("ends of turns: %+v", ends)
	}
	if got := h.events(t, event.ToolAfter); len(got) != 1 || !got[0].Tool.Failed || got[0].Error != "no such file" ||
		got[0].Tool.Name != "read" || got[0].Tool.CallID != "c1" {
		t.Errorf(`tool error: %+v; want len(got) == 1, got[0].Tool.Failed, got[0].Error == "no such file", `+
			`got[0].Tool.Name == "read" and got[0].Tool.CallID == "c1"`, got)
	}
	if got := h.events(t, event.SessionTitle); len(got) != 1 || got[0].Title != "Doing it" {
		t.Errorf(`title: %+v; want len(got) == 1 and got[0].Title == "Doing it"`, got)
	}
	if got := h.events(t, event.SessionEnd); len(got) != 1 || got[0].Session != ses {
		t.Errorf("end of session: %+v", got)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for i, r := range h.requests {
		if r.Seq != h.requests[0].Seq+uint64(i) || r.Seq == 0 {
			t.Errorf("request %d has seq %d", i, r.Seq)
		}
	}
}

func TestOpenCodeSubagents(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, nil)
	child := func(s step) step { s["sessionID"] = "ses_child"; return s }
	prompt := ocPrompt("child", "go")
	prompt["input"] = step{"sessionID": "ses_child"}
	play(t, "opencode", h.dir, plugins.Options{}, nil,
		ocPrompt("root", "go"), await("root"),
		ocEvent("session.created", child(step{"info": step{"id": "ses_child", "parentID": ses, "agent": "general",
			"title": "sub work"}})),
		got(2), prompt, await("child"),
		ocEvent("session.idle", child(step{})), got(4),
		ocEvent("session.idle", step{}), got(5))
	if got, want := h.heard(), "chat.message session.created chat.message session.idle session.idle dispose"; got != want {
		t.Fatalf("heard %s\nwant  %s", got, want)
	}
	for _, kind := range []event.Kind{event.SubagentStart, event.SubagentEnd} {
		got := h.events(t, kind)
		if len(got) != 1 || got[0].Subagent == nil || got[0].Subagent.ID != "ses_child" ||
			got[0].Subagent.Parent != ses || got[0].Subagent.Type == "" {
			t.Errorf(`%s: got %+v, want 1 of them, got[0].Subagent other than nil, got[0].Subagent.ID = `+
				`"ses_child", got[0].Subagent.Parent = %q and got[0].Subagent.Type not empty`, kind, got, ses)
		}
	}
	if got := h.events(t, event.TurnEnd); len(got) != 1 || got[0].Session != ses || got[0].Subagent != nil {
		t.Errorf("root: %+v; want len(got) == 1, got[0].Session == ses and got[0].Subagent == nil", got)
	}
}

func TestOpenCodeAbort(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		if r.Event == "tool.execute.before" || r.Event == "permission.asked" {
			return silent
		}
		return ""
	})
	p := play(t, "opencode", h.dir, plugins.Options{}, nil,
		ocPrompt("prompt", "go"), await("prompt"),
		ocBefore("pending", "sleep"), got(2),
		ocEvent("permission.asked", step{"id": "per_1", "permission": "bash", "metadata": step{"command": "ls"}}),
		got(3),
		ocEvent("session.error", step{"error": step{"name": "MessageAbortedError"}}),
		await("pending"), ocBefore("late", "ls"), await("late"))
	for _, as := range []string{"pending", "late"} {
		if threw, _, _, _ := p.call(t, as); !strings.Contains(threw, "aborted") {
			t.Errorf("%s threw %q: OpenCode would run the tool", as, threw)
		}
	}
	if c := p.clientCalls(); c != "" {
		t.Errorf("a dead permission was answered: %s", c)
	}
	until := time.Now().Add(10 * time.Second)
	for gone := 0; gone < 2 && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		h.mu.Lock()
		gone = h.hungUp
		h.mu.Unlock()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hungUp != 2 {
		t.Errorf("%d of 2 requests were given up", h.hungUp)
	}
}

func TestOpenCodePermissions(t *testing.T) {
	t.Parallel()
	asked := func(id string) step {
		return ocEvent("permission.asked", step{"id": id, "permission": "bash", "patterns": []string{"ls"},
			"metadata": step{"command": "ls " + id}, "tool": step{"callID": "c-" + id}})
	}
	h := newFakeDaemon(t, func(r *frame.Request) string {
		switch {
		case strings.Contains(string(r.Payload), "ls per_yes\""):
			return `{"reply":"once"}`
		case strings.Contains(string(r.Payload), "ls per_no\""):
			return `{"reply":"reject","message":"never"}`
		case strings.Contains(string(r.Payload), "ls per_else"):
			return silent
		}
		return ""
	})
	p := play(t, "opencode", h.dir, plugins.Options{}, nil,
		asked("per_yes"), asked("per_no"), asked("per_none"), asked("per_else"), got(4), called(2),
		ocEvent("permission.replied", step{"requestID": "per_else", "reply": "once"}), got(5))
	c := p.clientCalls()
	if !strings.Contains(c, `/permission/per_yes/reply","body":{"reply":"once"}`) ||
		!strings.Contains(c, `/permission/per_no/reply","body":{"reply":"reject","message":"never"}`) {
		t.Errorf("answered %s; want `/permission/per_yes/reply\",\"body\":{\"reply\":\"once\"}` in c and "+
			"`/permission/per_no/reply\",\"body\":{\"reply\":\"reject\",\"message\":\"never\"}` in c", c)
	}
	if strings.Contains(c, "per_none") || strings.Contains(c, "per_else") || len(p.Client) != 2 {
		t.Errorf("answered without an opinion: %s", c)
	}
	if got := h.events(t, event.PermissionResolved); len(got) != 1 || got[0].Detail != "once" {
		t.Errorf(`replied: %+v; want len(got) == 1 and got[0].Detail == "once"`, got)
	}
	if got := h.events(t, event.PermissionRequest); len(got) != 4 || got[0].Tool.Name != "bash" ||
		got[0].Tool.CallID == "" || len(got[0].Tool.Commands) != 1 {
		t.Errorf(`asked: %+v; want len(got) == 4, got[0].Tool.Name == "bash", got[0].Tool.CallID != "" and `+
			`len(got[0].Tool.Commands) == 1`, got)
	}
	// A client without that method is spoken to through the older one.
	p = play(t, "opencode", h.dir, plugins.Options{}, []string{"HARNESS_POST_FAILS=1"}, asked("per_yes"), called(2))
	if c := p.clientCalls(); !strings.Contains(c, `legacy {"path":{"id":"ses_1","permissionID":"per_yes"},"body":{"response":"once"}}`) {
		t.Errorf("answered %s; want `legacy "+
			"{\"path\":{\"id\":\"ses_1\",\"permissionID\":\"per_yes\"},\"body\":{\"response\":\"once\"}}` in "+
			"c", c)
	}
	// The hook that older versions call.
	p = play(t, "opencode", h.dir, plugins.Options{}, nil, step{"do": "call", "as": "ask", "name": "permission.ask",
		"input":  step{"id": "per_no", "type": "bash", "sessionID": ses, "metadata": step{"command": "ls per_no"}},
		"output": step{"status": "ask"}})
	if _, _, out, _ := p.call(t, "ask"); out != `{"status":"deny"}` {
		t.Errorf(`out = %q, want {"status":"deny"}`, out)
	}
}

func TestOpenCodeKeepsGoing(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		if r.Event == "session.idle" && !strings.Contains(string(r.Payload), `"goingOn":true`) {
			return `{"prompt":"run the tests"}`
		}
		return ""
	})
	p := play(t, "opencode", h.dir, plugins.Options{}, nil,
		ocPrompt("one", "go"), await("one"), ocEvent("session.idle", step{}), called(1),
		ocPrompt("two", "run the tests"), await("two"), ocEvent("session.idle", step{}), got(4))
	if c := p.clientCalls(); len(p.Client) != 1 ||
		!strings.Contains(c, `promptAsync {"path":{"id":"ses_1"},"body":{"parts":[{"type":"text","text":"run the tests"}],"agent":"build","model":{"providerID":"lab","modelID":"small"}}}`) {
		t.Errorf("prompted %s; want one promptAsync with the text, agent and model of the session", c)
	}
	if got, _ := h.payload(t, "chat.message", 1)["plugin"].(map[string]any); !isTrue(got["goingOn"]) {
		t.Errorf("the prompt hookmux wrote came as a person's: %v", got)
	}
}

func TestOpenCodeOrder(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, func(r *frame.Request) string {
		if strings.Contains(string(r.Payload), "long question") {
			return silent
		}
		time.Sleep(time.Millisecond)
		return ""
	})
	steps := []step{ocPrompt("prompt", "go"), await("prompt")}
	for range 20 {
		steps = append(steps, ocEvent("session.compacted", step{}))
	}
	steps = append(steps, ocBefore("first", "long question"), got(22))
	for range 20 {
		steps = append(steps, ocEvent("session.compacted", step{}))
	}
	// A question that waits holds nobody up.
	steps = append(steps, ocBefore("second", "ls"), await("second"),
		ocEvent("session.error", step{"error": step{"name": "MessageAbortedError"}}))
	play(t, "opencode", h.dir, plugins.Options{}, []string{"HARNESS_DISPOSE=0"}, steps...)
	compacted := strings.TrimSuffix(strings.Repeat("session.compacted ", 20), " ")
	want := "chat.message " + compacted + " tool.execute.before " + compacted + " tool.execute.before session.error"
	if got := h.heard(); got != want {
		t.Errorf("heard %s, want %s", got, want)
	}
}

func TestLoadedTwiceReportsOnce(t *testing.T) {
	t.Parallel()
	// One object, two hooks of the same name: as when the file lies in two
	// plugin folders. The harness has one copy, so it is called twice.
	h := newFakeDaemon(t, nil)
	node(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "twice.mjs")
	for _, name := range []string{"a.mjs", "b.mjs"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(render(t, "opencode", plugins.Options{Version: "1"})),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := `import a from "./a.mjs"; import b from "./b.mjs";
const both = [await a.server({directory:"/"}), await b.server({directory:"/"})];
const input = {tool:"bash",sessionID:"s",callID:"c"}, output = {args:{command:"ls"}};
for (const h of both) await h["tool.execute.before"](input, output);
const event = {type:"session.compacted",properties:{sessionID:"s"}};
for (const h of both) await h.event({event});
for (const h of both) await h.dispose();
`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	runNode(t, h.dir, script)
	if got := h.heard(); strings.Count(got, "tool.execute.before") != 1 ||
		strings.Count(got, "session.compacted") != 1 {
		t.Errorf(`heard %s; want strings.Count(got, "tool.execute.before") == 1 and strings.Count(got, `+
			`"session.compacted") == 1`, got)
	}
}

func TestOpenCodeQuestions(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, answers(map[string]string{"question.asked": `{"reject":true}`}))
	p := play(t, "opencode", h.dir, plugins.Options{}, nil,
		ocEvent("question.asked", step{"id": "que_1", "questions": []step{{"question": "Which?"}}}), called(1))
	if c := p.clientCalls(); !strings.Contains(c, `"url":"/question/que_1/reject"`) {
		t.Errorf("answered %s; want `\"url\":\"/question/que_1/reject\"` in c", c)
	}
}

func TestOpenCodeToolsOfServers(t *testing.T) {
	t.Parallel()
	h := newFakeDaemon(t, answers(map[string]string{"tool.execute.after": `{"output":{"output":"other words"}}`}))
	s := ocAfter("mcp", "")
	s["output"] = step{"content": []step{{"type": "text", "text": "the words"}}}
	p := play(t, "opencode", h.dir, plugins.Options{}, nil, s)
	if _, _, out, _ := p.call(t, "mcp"); out != `{"content":[{"type":"text","text":"other words"}]}` {
		t.Errorf(`out = %q, want {"content":[{"type":"text","text":"other words"}]}`, out)
	}
	if got := h.payload(t, "tool.execute.after", 0); got["output"].(map[string]any)["output"] != "the words" {
		t.Errorf(`reported %v; want got["output"].(map[string]any)["output"] == "the words"`, got)
	}
}
