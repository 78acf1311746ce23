package tshook

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// What a person says reaches the handler, in the words of its
// generation.
func TestDialogs(t *testing.T) {
	const body = `
export default function (pi: API) {
  pi.on("tool_call", async (event: any, ctx: any) => ({ block: true, reason: JSON.stringify([
    ctx.hasUI, await ctx.ui.select("which", ["a", "b"]), await ctx.ui.confirm("sure", "really"), await ctx.ui.input("name", "here"),
  ].map((v) => (v === undefined ? "undefined" : v))) }));
}
`
	for _, c := range []struct {
		imports string
		nobody  bool
		answers []Answer
		want    string
	}{
		{`import type { HookAPI as API } from "@mariozechner/pi-coding-agent/hooks";`, false, []Answer{{Value: "b"}, {Confirmed: true}, {Value: "x"}}, `[true,"b",true,"x"]`},
		{`import type { HookAPI as API } from "@mariozechner/pi-coding-agent/hooks";`, false, []Answer{{Cancelled: true}, {Cancelled: true}, {Cancelled: true}}, `[true,null,false,null]`},
		{`import type { HookAPI as API } from "@mariozechner/pi-coding-agent/hooks";`, true, nil, `[false,null,false,null]`},
		{`import type { HookAPI as API } from "@mariozechner/pi-coding-agent";`, false, []Answer{{Cancelled: true}, {Cancelled: true}, {Cancelled: true}}, `[true,"undefined",false,"undefined"]`},
		{`import type { ExtensionAPI as API } from "@earendil-works/pi-coding-agent";`, true, nil, `[false,"undefined",false,"undefined"]`},
	} {
		s := newHarness(t, nil)
		s.answers, s.nobody = c.answers, c.nobody
		m := s.load("ask.ts", c.imports+body)
		if d := s.must(m, s.bash("x")); d.Reason != c.want {
			t.Errorf("%s: %s, want %s", c.imports, d.Reason, c.want)
		}
		if !c.nobody && (len(s.questions) != 3 || s.questions[0].Options[1] != "b" || s.questions[1].Text != "really" ||
			s.questions[2].Placeholder != "here" || s.questions[0].Event.Tool.Commands[0] != "x") {
			t.Errorf("asked %+v; want a choice with b, a yes or no (really) and a text (here), all of the call x", s.questions)
		}
	}
}

// Shortly before the agent's time is over dialogs close as
// cancelled and the signal fires; a handler that uses the time left is heard.
func TestDeadline(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("ask.ts", `
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default function (pi: HookAPI) {
  pi.on("tool_call", async (event: any, ctx: any) => {
    let fired = false;
    ctx.signal.addEventListener("abort", () => (fired = true));
    const choice = await ctx.ui.select("Allow?", ["Yes", "No"]);
    await new Promise((r) => setTimeout(r, 10));
    return { block: true, reason: choice + " " + fired };
  });
}
`)
	d, err := s.within(m, s.bash("x"), 2*time.Second)
	if err != nil || d.Reason != "null true" {
		t.Errorf(`d = %+v, error %v; want no error and d.Reason = "null true"`, d, err)
	}
}

// Awaiting holds up nobody else; one session's events stay in
// order; each session has its own factory call; what is outside is shared.
func TestSessions(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("order.ts", `
let all = 0;
export default function (h: any) {
  let mine = 0;
  h.on("tool_call", async (event: any, ctx: any) => {
    all++;
    const nth = ++mine;
    if (event.input.command === "wait") await ctx.ui.confirm("go on?");
    return { block: true, reason: [ctx.sessionId, nth, mine].join() };
  });
  h.on("session_shutdown", () => console.log("bye", all, mine));
}
`)
	in := func(session, command string) *event.Event {
		ev := s.bash(command)
		ev.Session = session
		return ev
	}
	gate := make(chan struct{})
	s.engine.host.Asker = gated{s, gate}
	var wg sync.WaitGroup
	var got [2]string
	done := make(chan string, 2)
	for i := range 2 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			d, err := s.handle(m, in("a", []string{"wait", "quick"}[i]))
			got[i] = fmt.Sprint(d.Reason, err)
			done <- got[i]
		}()
		for waiting, tries := 0, 0; waiting <= i && tries < 5000; time.Sleep(time.Millisecond) { // in this order
			tries++
			m.mu.Lock()
			if l := m.queues[sessionKey("claude", "a")]; l != nil {
				waiting = l.waiting
			}
			m.mu.Unlock()
		}
	}
	if d := s.must(m, in("b", "quick")); d.Reason != "b,1,1" {
		t.Errorf("the other session got %q", d.Reason)
	}
	select {
	case early := <-done:
		t.Errorf("%s came before its turn", early)
	default:
	}
	close(gate)
	wg.Wait()
	if got != [2]string{"a,1,1<nil>", "a,2,2<nil>"} { // counted in the order they ran
		t.Errorf(`got %q; want got == [2]string{"a,1,1<nil>", "a,2,2<nil>"}`, got)
	}
	s.must(m, s.claude("SessionEnd", pi.Object{"session_id": "a", "reason": "other"}))
	if s.said() != "log: bye 3 2" {
		t.Errorf(`said %q, want "log: bye 3 2"`, s.said())
	}
	if d := s.must(m, in("a", "quick")); d.Reason != "a,1,1" {
		t.Errorf("a session that ended is still known: %q", d.Reason)
	}
}

type gated struct {
	*harness
	gate chan struct{}
}

func (g gated) Ask(context.Context, Question) (Answer, error) {
	<-g.gate
	return Answer{Confirmed: true}, nil
}

// Words go through the agent's channel, else they wait for its next
// event, else the hook is told.
func TestSend(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("send.ts", `
export default function (pi: any) {
  pi.on("tool_call", (event: any) => {
    try { pi.send("about " + event.input.command); } catch (e: any) { return { block: true, reason: e.message }; }
  });
}
`)
	s.deliver = true
	s.must(m, s.bash("one"))
	if len(s.sent) != 1 || s.sent[0].Text != "about one" || s.sent[0].Session != "s1" || s.sent[0].Agent != "claude" ||
		!s.sent[0].Turn {
		t.Errorf(`s.sent = %+v, want 1 of them, s.sent[0].Text = "about one", s.sent[0].Session = "s1", `+
			`s.sent[0].Agent = "claude" and s.sent[0].Turn`, s.sent)
	}
	s.deliver = false
	s.must(m, s.bash("two"))
	s.must(m, s.bash("three"))
	queued := s.engine.Queued()
	next := &hook.Call{Event: s.bash("four"), Carries: event.Carries{Context: true}}
	if d, err := queued.Handle(context.Background(), &hook.Call{Event: next.Event}); err != nil || d.Context != "" {
		t.Errorf("%+v %v where nothing can be carried", d, err)
	}
	if d, err := queued.Handle(context.Background(), next); err != nil || d.Context != "about two\n\nabout three" {
		t.Errorf(`d = %+v, error %v; want no error and d.Context = "about two\n\nabout three"`, d, err)
	}
	if d, err := queued.Handle(context.Background(), next); err != nil || d.Context != "" {
		t.Errorf("%+v %v the second time", d, err)
	}
	headless := s.bash("five")
	headless.Attended = event.AttendedNo
	if d := s.must(m, headless); !strings.Contains(d.Reason, "print mode") {
		t.Errorf(`d = %+v, want "print mode" in d.Reason`, d)
	}
}

// What several handlers of one file return becomes one answer, by
// the rules of its generation.
func TestRules(t *testing.T) {
	result := func(s *harness) *event.Event {
		return s.claude("PostToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "x"},
			"tool_response": pi.Object{"stdout": "orig", "stderr": ""}})
	}
	const results = `
  pi.on("tool_result", (e: any) => ({ content: [{ type: "text", text: e.content[0].text + "+1" }] }));
  pi.on("tool_result", (e: any) => ({ content: [{ type: "text", text: e.content[0].text + "+2" }] }));
  pi.on("tool_result", (e: any) => ({ details: { seen: true } }));
  pi.on("tool_call", (e: any) => { e.input.command += " a"; });
  pi.on("tool_call", async (e: any) => { e.input.command += " b"; });
`
	old := `import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks"; export default function (pi: HookAPI) {` + results + `}`
	s := newHarness(t, nil)
	m := s.load("old.ts", old)
	if d := s.must(m, result(s)); d.Output != nil {
		t.Errorf("the last answer of the first generation counts whole: %s", d.Output)
	}
	if d := s.must(m, s.bash("x")); string(d.Input) != `{"command":"x a b"}` || d.Verdict != event.Modify {
		t.Errorf(`d.Verdict = %+v, d.Input = %s; want string(d.Input) = {"command":"x a b"} and d.Verdict = `+
			`event.Modify`, d.Verdict, d.Input)
	}
	m = s.load("new.ts", `export default function (pi: any) {`+results+`
  pi.on("input", (e: any) => ({ action: "transform", text: e.text + "!" }));
  pi.on("input", (e: any) => (e.text === "stop!" ? { action: "handled" } : { action: "transform", text: e.text + "?" }));
  pi.on("before_agent_start", () => ({ message: { customType: "x", content: "one" } }));
  pi.on("before_agent_start", (e: any) => ({ message: { content: [{ type: "text", text: "two" }] }, systemPrompt: e.systemPrompt + "\nthree" }));
  pi.on("agent_before_settle", (e: any) => (e.goingOn ? undefined : { continue: true, entries: [{ content: "test first" }] }));
  pi.on("session_before_compact", () => ({ cancel: true }));
}`)
	if d := s.must(m, result(s)); string(d.Output) != `{"stderr":"","stdout":"orig+1+2"}` {
		t.Errorf(`d.Output = %s, want {"stderr":"","stdout":"orig+1+2"}`, d.Output)
	}
	if d := s.must(m, s.claude("UserPromptSubmit", pi.Object{"prompt": "hi"})); !strings.HasSuffix(d.Context,
		"hi!?\none\n\ntwo\n\nthree") || d.Verdict != event.None {
		t.Errorf(`d = %+v, want d.Context that ends with "hi!?\none\n\ntwo\n\nthree" and d.Verdict = event.None`, d)
	}
	if d := s.must(m, s.claude("UserPromptSubmit", pi.Object{"prompt": "stop"})); d.Verdict != event.Deny {
		t.Errorf("d = %+v, want d.Verdict = event.Deny", d)
	}
	if d := s.must(m, s.claude("Stop", pi.Object{"stop_hook_active": false,
		"last_assistant_message": "done"})); !d.KeepGoing || d.Reason != "test first" {
		t.Errorf(`d = %+v, want d.KeepGoing and d.Reason = "test first"`, d)
	}
	if d := s.must(m, s.claude("Stop", pi.Object{"stop_hook_active": true})); d.KeepGoing {
		t.Errorf("d = %+v, want not d.KeepGoing", d)
	}
	if d := s.must(m, s.claude("PreCompact", pi.Object{"trigger": "manual",
		"custom_instructions": ""})); d.Verdict != event.Deny {
		t.Errorf("d = %+v, want d.Verdict = event.Deny", d)
	}
}

// A handler of the first generation that does not
// come back is left behind at every event but tool_call.
func TestFirstGenerationTime(t *testing.T) {
	s := newHarness(t, func(h *Host) { h.HookTimeout = 50 * time.Millisecond })
	m := s.load("slow.ts", `
import type { HookAPI } from "@mariozechner/pi-coding-agent/hooks";
export default function (pi: HookAPI) {
  pi.on("tool_result", () => new Promise(() => {}));
  pi.on("tool_result", () => ({ content: [{ type: "text", text: "next" }] }));
  pi.on("tool_call", async () => { await new Promise((r) => setTimeout(r, 300)); return { block: true, reason: "slow" }; });
}`)
	d := s.must(m, s.claude("PostToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "x"},
		"tool_response": "orig"}))
	if string(d.Output) != `"next"` || !strings.Contains(s.troubles(), "longer than 50 ms") {
		t.Errorf(`d.Output = %s, s.troubles() = %s; want string(d.Output) = "next" and "longer than 50 ms" in `+
			`s.troubles()`, d.Output, s.troubles())
	}
	if d := s.must(m, s.bash("x")); d.Reason != "slow" {
		t.Errorf(`d = %+v, want d.Reason = "slow"`, d)
	}
}

// Every agent's calls in pi's words, and changes back in its own.
func TestWords(t *testing.T) {
	const patch = "*** Begin Patch\n*** Add File: new.txt\n+one\n*** Update File: b.env\n@@\n-old\n+new\n*** Delete " +
		"File: c\n*** End Patch\n"
	s := newHarness(t, nil)
	m := s.load("words.ts", `
export default function (h: any) {
  h.on("tool_call", (e: any) => {
    const { native, type, toolCallId, ...rest } = e;
    console.log(JSON.stringify(rest));
    const i = e.input;
    if (i.command === "ls") i.command = "ls -l";
    if (i.command === "two") i.command = "deux";
    if (i.content === "secret") i.content = "redacted";
    if (i.newText === "bad") i.newText = "good";
    if (i.path === "moved") i.path = "here";
  });
}`)
	for _, c := range []struct{ agent, native, tool, input, shown, changed string }{
		{"claude", "PreToolUse", "Bash", `{"command":"ls","description":"d"}`, `{"input":{"command":"ls","description":"d"},"toolName":"bash"}`, `{"command":"ls -l"}`},
		{"claude", "PreToolUse", "Write", `{"file_path":"/a","content":"secret"}`, `{"input":{"content":"secret","path":"/a"},"toolName":"write"}`, `{"content":"redacted"}`},
		{"claude", "PreToolUse", "Edit", `{"file_path":"/a","old_string":"x","new_string":"bad"}`, `{"input":{"edits":[{"newText":"bad","oldText":"x"}],"newText":"bad","oldText":"x","path":"/a"},"toolName":"edit"}`, `{"new_string":"good"}`},
		{"claude", "PreToolUse", "Read", `{"file_path":"moved","limit":3}`, `{"input":{"limit":3,"path":"moved"},"toolName":"read"}`, `{"file_path":"here"}`},
		{"claude", "PreToolUse", "Glob", `{"pattern":"*.go"}`, `{"input":{"pattern":"*.go"},"toolName":"find"}`, ``},
		{"claude", "PreToolUse", "Grep", `{"pattern":"x","path":"/p"}`, `{"input":{"path":"/p","pattern":"x"},"toolName":"grep"}`, ``},
		{"claude", "PreToolUse", "Grep", `{"pattern":"x","-i":true,"glob":"*.go"}`, `{"input":{"glob":"*.go","ignoreCase":true,"pattern":"x"},"toolName":"grep"}`, ``},
		{"claude", "PreToolUse", "mcp__a__b", `{"q":1}`, `{"input":{"q":1},"toolName":"mcp__a__b"}`, ``},
		{"gemini", "BeforeTool", "run_shell_command", `{"command":"ls"}`, `{"input":{"command":"ls"},"toolName":"bash"}`, `{"command":"ls -l"}`},
		{"gemini", "BeforeTool", "replace", `{"file_path":"f","old_string":"x","new_string":"y"}`, `{"input":{"edits":[{"newText":"y","oldText":"x"}],"newText":"y","oldText":"x","path":"f"},"toolName":"edit"}`, ``},
		{"gemini", "BeforeTool", "read_many_files", `{"include":["a","moved"]}`, `{"input":{"include":["a","moved"],"path":"a"},"toolName":"read"}` + "\n" + `{"input":{"include":["a","moved"],"path":"moved"},"toolName":"read"}`, `{"include":["a","here"]}`},
		{"codex", "PreToolUse", "apply_patch", `{"command":` + string(pi.Encode(patch)) + `}`, "write new.txt\nedit b.env\nedit c", ``},
	} {
		s.lines = nil
		payload, _ := json.Marshal(pi.Object{"session_id": "s", "cwd": "/p", "hook_event_name": c.native,
			"tool_name": c.tool, "tool_input": json.RawMessage(c.input)})
		d := s.must(m, s.native(c.agent, c.native, string(payload)))
		got := strings.ReplaceAll(s.said(), "log: ", "")
		if c.tool == "apply_patch" {
			var short []string
			for line := range strings.SplitSeq(got, "\n") {
				o := pi.ParseObject([]byte(line))
				short = append(short, asString(o["toolName"])+" "+asString(o["input"].(pi.Object)["path"]))
			}
			if !strings.Contains(got, `"content":"one\n"`) || !strings.Contains(got, `"oldText":"old"`) {
				t.Errorf(`got %q, want "content":"one\n" in it and "oldText":"old" in it`, got)
			}
			got = strings.Join(short, "\n")
		}
		if got != c.shown || string(d.Input) != c.changed {
			t.Errorf("%s %s:\n%s\n%s\nwant\n%s\n%s", c.agent, c.tool, got, d.Input, c.shown, c.changed)
		}
	}
}

// Of what one prompt or one end means in pi, the later sees what
// the earlier made of it.
func TestFollowing(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("follow.ts", `export default (pi) => {
  let kept = false;
  pi.on("input", (e) => ({ action: "transform", text: e.text + "!" }));
  pi.on("before_agent_start", (e) => console.log(e.prompt, e.systemPromptOptions.sections !== undefined, e.native.event));
  pi.on("agent_before_settle", () => (kept ? undefined : { continue: (kept = true), entries: [{ content: "more" }] }));
  pi.on("agent_settled", () => console.log("settled"));
};`)
	s.must(m, s.claude("UserPromptSubmit", pi.Object{"prompt": "go"}))
	if d := s.must(m, s.claude("Stop", nil)); !d.KeepGoing {
		t.Errorf("d = %+v, want d.KeepGoing", d)
	}
	s.must(m, s.claude("Stop", pi.Object{"stop_hook_active": true}))
	if got := s.said(); got != "log: go! true UserPromptSubmit\nlog: settled" {
		t.Errorf(`s.said() = %q, s.troubles() = %s; want "log: go! true UserPromptSubmit\nlog: settled"`,
			got, s.troubles())
	}
}

// A change that cannot be told, as JSON cannot, refuses.
func TestUnspeakable(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("round.ts", `export default (h) => h.on("tool_call", async (e) => { e.input.self = e; });`)
	if _, err := s.handle(m, s.bash("x")); err == nil || !strings.Contains(err.Error(), "circular") {
		t.Errorf(`got %v; want an error and "circular" in err.Error()`, err)
	}
}

// What only pi has is named.
func TestPassedOn(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("pi.ts", `export default (pi) => { for (const name of ["context", "user_bash", "input_end", "session_before_fork"]) pi.on(name, () => {}); };`)
	var said []string
	for _, l := range m.Info().Limits {
		said = append(said, l.Text)
	}
	for _, want := range []string{"context: happens in pi only", "user_bash: happens in pi only",
		"input_end: stays inside pi", "forking can be seen and cancelled in pi only"} {
		if !strings.Contains(strings.Join(said, "\n"), want) {
			t.Errorf("%q is not in %q", want, said)
		}
	}
}

// What one file took out of a result, another that
// changes it too does not bring back.
func TestResultsOfTwoFiles(t *testing.T) {
	s := newHarness(t, nil)
	ev := s.claude("PostToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "x"},
		"tool_response": pi.Object{"stdout": "a secret", "stderr": "", "interrupted": false}})
	var entries []*hook.Entry
	for name, change := range map[string]string{"a.ts": `.replace("secret", "***")`, "b.ts": ` + " (seen)"`} {
		m := s.load(name, `export default (h) => h.on("tool_result", (e) => ({ content: [{ type: "text", text: e.content[0].text`+change+` }] }));`)
		for _, r := range m.Registrations(name) {
			e, err := hook.NewEntry(r, m, "test")
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
	}
	var d hook.Dispatcher
	out := d.Decide(t.Context(), hook.Call{Event: ev, Carries: agent.Builtin().CarriesFor(ev)},
		hook.Select(entries, ev, nil))
	if got := pi.ParseObject(out.Decision.Output)["stdout"]; got != "a *** (seen)" {
		t.Errorf(`got %s %s; want got == "a *** (seen)"`, out.Decision.Output, s.troubles())
	}
}
