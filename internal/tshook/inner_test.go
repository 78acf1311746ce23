package tshook

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// pass shows one of pi's inner events to files, one after the other.
func (s *harness) pass(name, fields string, files ...*Hook) string {
	s.t.Helper()
	ev := s.native("pi", name, `{"event":{"type":"`+name+`",`+fields+`},"ctx":{"sessionId":"p1","cwd":"`+s.dir+
		`","mode":"tui","hasUI":true,"model":{"provider":"lab","id":"small"},"usage":{"tokens":7}},"plugin":{"inner":true}}`)
	i, err := ReadInner(ev)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, m := range files {
		over, err := m.Pass(s.t.Context(), &hook.Call{Event: ev}, i)
		if err != nil {
			s.mu.Lock()
			s.lines = append(s.lines, "failed: "+err.Error())
			s.mu.Unlock()
		}
		if over {
			break
		}
	}
	return string(i.Answer())
}

// What several handlers and files make of pi's inner events, by
// pi's own rules.
func TestInnerRules(t *testing.T) {
	s := newHarness(t, nil)
	const text = `export default (pi) => {
  const me = "WORD";
  for (const name of ["context", "context_with_system"]) pi.on(name, (e) => { e.messages[0].content += me; }); // in place
  pi.on("before_provider_request", (e) => (e.payload.skip ? undefined : { ...e.payload, by: (e.payload.by ?? "") + me }));
  pi.on("before_provider_headers", (e) => { e.headers["x-by"] = (e.headers["x-by"] ?? "") + me; e.headers.gone = null; });
  pi.on("message_end", (e) => ({ message: { ...e.message, role: e.message.bad ? "user" : e.message.role, content: e.message.content + me } }));
  pi.on("before_agent_start", (e, ctx) => { e.systemPromptOptions.sections[me] = ctx.getSystemPrompt(); });
  pi.on("before_agent_start", (e) => ({ systemPrompt: e.systemPrompt + me, message: { content: me } }));
  pi.on("turn_end", (e) => ({ entries: [...e.entries, me] }));
  pi.on("turn_end", () => (me === "a" ? { continue: true } : undefined));
  pi.on("resources_discover", () => ({ skillPaths: ["/" + me] }));
  pi.on("project_trust", () => ({ trusted: me === "a" ? "undecided" : "yes" }));
  pi.on("user_bash", (e) => (e.command === me ? { result: { output: me } } : undefined));
  pi.on("user_bash", (e) => (e.command === "ops " + me ? { operations: { exec() {} } } : undefined));
  pi.on("session_before_tree", (e) => (e.cancel === me ? { cancel: true } : { label: me, aborted: e.signal.aborted }));
  pi.on("cache_warming_decision", () => ({ action: me }));
  pi.on("turn_start", (e, ctx) => { console.log(me, e.turnIndex, ctx.model.provider, ctx.getContextUsage().tokens); return { ignored: true }; });
  pi.on("model_select", () => { throw new Error("broken " + me); });
};`
	a, b := s.load("a.ts", strings.ReplaceAll(text, "WORD", "a")), s.load("b.ts", strings.ReplaceAll(text, "WORD", "b"))
	for _, c := range []struct{ name, fields, want string }{
		{"context", `"messages":[{"content":"x"}]`, `{"messages":[{"content":"xab"}]}`},
		{"context_with_system", `"messages":[{"content":"x"}]`, `{"messages":[{"content":"xab"}]}`},
		{"before_provider_request", `"payload":{"n":1.50}`, `{"payload":{"n":1.5,"by":"ab"}}`},
		{"before_provider_request", `"payload":{"skip":true}`, ``},
		{"before_provider_headers", `"headers":{"gone":"1"}`, `{"headers":{"gone":null,"x-by":"ab"}}`},
		{"message_end", `"message":{"role":"assistant","content":"x"}`, `{"message":{"role":"assistant","content":"xab"}}`},
		{"message_end", `"message":{"role":"assistant","content":"x","bad":1}`, ``},
		{"before_agent_start", `"systemPrompt":"s","systemPromptOptions":{"sections":{}}`, `{"messages":[{"content":"a"},{"content":"b"}],"systemPrompt":"sab","systemPromptOptions":{"sections":{"a":"s","b":"sa"}}}`},
		{"turn_end", `"entries":[],"turnIndex":0`, `{"continue":true,"entries":["a","b"]}`},
		{"resources_discover", `"cwd":"/"`, `{"skillPaths":["/a","/b"]}`},
		{"project_trust", `"cwd":"/"`, `{"trusted":"yes"}`},
		{"user_bash", `"command":"a"`, `{"result":{"output":"a"}}`},
		{"user_bash", `"command":"b"`, `{"result":{"output":"b"}}`},
		{"user_bash", `"command":"else"`, ``},
		{"user_bash", `"command":"ops a"`, `{"threw":"a.ts: user_bash: operations cannot be carried out of a hook; return { result } instead"}`},
		{"session_before_tree", `"cancel":"a"`, `{"cancel":true}`},
		{"session_before_tree", `"cancel":"-"`, `{"aborted":false,"label":"b"}`},
		{"cache_warming_decision", `"action":"x"`, `{"action":"b"}`},
		{"turn_start", `"turnIndex":3`, ``},
		{"model_select", `"model":{}`, ``},
	} {
		if got := s.pass(c.name, c.fields, a, b); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.name, c.fields, got, c.want)
		}
	}
	if said := s.said(); !strings.Contains(said, "log: a 3 lab 7\nlog: b 3 lab 7") {
		t.Errorf("said %s; want \"log: a 3 lab 7\\nlog: b 3 lab 7\" in said", said)
	}
	for _, word := range []string{"broken a", "broken b", "operations cannot be carried"} {
		if !strings.Contains(s.troubles(), word) {
			t.Errorf("%q is not reported: %s", word, s.troubles())
		}
	}
}

// Pi's older words for the system prompt.
func TestInnerEventsOfOlderGenerations(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("old.ts", `import type { HookAPI } from "@mariozechner/pi-coding-agent";
export default (pi: HookAPI) => { pi.on("before_agent_start", async () => ({ systemPromptAppend: "more" })); pi.on("context", async (e) => ({ messages: e.messages.slice(1) })); };`)
	if m.Info().Generation != pi.Hooks2 {
		t.Fatalf("m.Info().Generation = %q, want pi.Hooks2", m.Info().Generation)
	}
	if got := s.pass("before_agent_start", `"systemPrompt":"s"`, m); got != `{"systemPrompt":"s\n\nmore"}` {
		t.Errorf(`got %q, want {"systemPrompt":"s\n\nmore"}`, got)
	}
	if got := s.pass("context", `"messages":[1,2]`, m); got != `{"messages":[2]}` {
		t.Errorf("s.pass(\"context\", `\"messages\":[1,2]`, m) = %q, want {\"messages\":[2]}", got)
	}
}

// In pi a prompt that one file rewrote is what the next
// one sees, as pi's own extensions would; what was added to a result likewise.
func TestPromptsOfTwoFiles(t *testing.T) {
	s := newHarness(t, nil)
	var entries []*hook.Entry
	for _, word := range []string{"a", "b"} {
		m := s.load(word+".ts", `export default (h) => {
  h.on("input", (e) => ({ action: "transform", text: e.text + "`+word+`" }));
  h.on("tool_result", (e) => ({ details: { by: (e.details?.by ?? "") + "`+word+`" }, isError: !e.isError }));
};`)
		for _, r := range m.Registrations(word) {
			e, err := hook.NewEntry(r, m, "global")
			if err != nil {
				t.Fatal(err)
			}
			entries = append(entries, e)
		}
	}
	for _, c := range []struct{ name, fields, want string }{
		{"input", `"text":"x"`, `{"action":"transform","text":"xab"}`},
		{"tool_result", `"toolName":"bash","toolCallId":"c","input":{},"content":[],"isError":false`, `{"details":{"by":"ab"},"isError":false}`},
	} {
		ev := s.native("pi", c.name, `{"event":{"type":"`+c.name+`",`+c.fields+
			`},"ctx":{"sessionId":"p1"},"plugin":{"inner":true}}`)
		var d hook.Dispatcher
		out := d.Decide(t.Context(), hook.Call{Event: ev, Carries: event.Carries{Context: true, Output: true}},
			hook.Select(entries, ev, nil))
		var got, want any
		_ = json.Unmarshal(out.Decision.Extra, &got)
		_ = json.Unmarshal([]byte(c.want), &want)
		if string(pi.Encode(got)) != string(pi.Encode(want)) {
			t.Errorf("%s: %s, want %s", c.name, out.Decision.Extra, c.want)
		}
	}
}

// How a process ends, in pi's words.
func TestExecLikePi(t *testing.T) {
	s := newHarness(t, nil)
	m := s.load("exec.ts", `export default (pi) => pi.on("tool_call", async (_, ctx) => {
  const show = async (...args) => console.log(JSON.stringify(await pi.exec(...args)));
  await show("sh", ["-c", "echo out; echo err >&2; exit 3"]);
  await show("no-such-program-at-all", []);
  await show("sh", ["-c", "echo begun; sleep 60"], { timeout: 200 });
  const c = new AbortController();
  setTimeout(() => c.abort(), 100);
  await show("sleep", ["60"], { signal: c.signal });
  await show("sleep", ["60"], { signal: AbortSignal.abort() });
  await show("sh", ["-c", "kill -9 $$"]); // by somebody else
});`)
	s.must(m, s.bash("x"))
	want := strings.Join([]string{
		`log: {"stdout":"out\n","stderr":"err\n","code":3,"killed":false}`,
		`log: {"stdout":"","stderr":"","code":1,"killed":false}`,
		`log: {"stdout":"begun\n","stderr":"","code":0,"killed":true}`,
		`log: {"stdout":"","stderr":"","code":0,"killed":true}`,
		`log: {"stdout":"","stderr":"","code":0,"killed":true}`,
		`log: {"stdout":"","stderr":"","code":0,"killed":false}`,
	}, "\n")
	if s.said() != want {
		t.Errorf("%s\nwant\n%s\n%s", s.said(), want, s.troubles())
	}
}
