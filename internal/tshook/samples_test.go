package tshook

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

const firstGeneration = `import { isBashToolResult, type HookAPI, type ToolResultEvent } from "@mariozechner/pi-coding-agent/hooks";
`

// The things people write hooks of the first generation for.
func TestKinds(t *testing.T) {
	t.Run("session", func(t *testing.T) {
		s := newHarness(t, nil)
		m := s.load("note.ts", firstGeneration+`export default (pi: HookAPI) => pi.on("session", async (e, ctx) => ctx.ui.notify(e.reason + " " + (ctx.sessionFile ?? "none") + " " + e.entries.length));`)
		for _, source := range []string{"startup", "resume", "clear", "compact"} {
			s.must(m, s.claude("SessionStart", pi.Object{"source": source}))
		}
		s.must(m, s.claude("UserPromptSubmit", pi.Object{"prompt": "hello"}))
		s.must(m, s.claude("Stop", pi.Object{"last_assistant_message": "done"}))
		s.must(m, s.claude("SessionEnd", pi.Object{"reason": "other"}))
		want := "info: start /home/user/t.jsonl 1\ninfo: switch /home/user/t.jsonl 1\ninfo: clear " +
			"/home/user/t.jsonl 0\ninfo: shutdown /home/user/t.jsonl 3"
		if s.noticed() != want {
			t.Errorf("s.noticed() = %s, want %q", s.noticed(), want)
		}
	})
	t.Run("type guards", func(t *testing.T) {
		s := newHarness(t, nil)
		m := s.load("guard.ts", firstGeneration+`
function isMine(e: ToolResultEvent): e is ToolResultEvent & { toolName: "mine" } { return e.toolName === "mine"; }
export default (pi: HookAPI) => pi.on("tool_result", async (e) => {
  if (isMine(e)) console.log("mine", e.content[0].text);
  if (isBashToolResult(e) && e.details?.truncation?.truncated !== true) console.log("bash", e.content[0].text, e.isError);
});`)
		s.must(m, s.claude("PostToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "x"},
			"tool_response": pi.Object{"stdout": "out", "stderr": ""}}))
		s.must(m, s.claude("PostToolUse", pi.Object{"tool_name": "mine", "tool_input": pi.Object{},
			"tool_response": "own"}))
		if s.said() != "log: bash out false\nlog: mine own" {
			t.Errorf(`s.said() = %q, want "log: bash out false\nlog: mine own"`, s.said())
		}
	})
	t.Run("file trigger", func(t *testing.T) {
		s := newHarness(t, nil)
		s.deliver = true
		file := s.file("trigger.txt", "")
		m := s.load("watch.ts", firstGeneration+`import * as fs from "node:fs";
export default (pi: HookAPI) => pi.on("session", async (e, ctx) => {
  if (e.reason !== "start") return;
  fs.watch("`+file+`", () => {
    const text = fs.readFileSync("`+file+`", "utf-8").trim();
    if (text) { fs.writeFileSync("`+file+`", ""); pi.send("from outside: " + text); }
  });
});`)
		s.must(m, s.claude("SessionStart", pi.Object{"source": "startup"}))
		await.Until(t, "a message", func() bool {
			s.file("trigger.txt", "run the tests")
			s.mu.Lock()
			defer s.mu.Unlock()
			return len(s.sent) > 0 && s.sent[0].Text == "from outside: run the tests" && s.sent[0].Session == "s1"
		})
	})
	t.Run("webhook", func(t *testing.T) {
		s := newHarness(t, nil)
		s.deliver = true
		m := s.load("hook.ts", firstGeneration+`import * as http from "node:http";
export default (pi: HookAPI) => pi.on("session", async (e, ctx) => {
  if (e.reason !== "start") return;
  const server = http.createServer((req, res) => {
    let body = "";
    req.on("data", (chunk) => (body += chunk));
    req.on("end", () => { pi.send(body); res.writeHead(202); res.end("taken"); });
  });
  server.listen(0, () => ctx.ui.notify("port " + server.address().port));
});`)
		s.must(m, s.claude("SessionStart", pi.Object{"source": "startup"}))
		await.Until(t, "the server", func() bool { return strings.Contains(s.noticed(), "port") })
		address := "http://127.0.0.1:" + regexp.MustCompile(`\d+`).FindString(s.noticed())
		res, err := http.Post(address, "text/plain", strings.NewReader("CI failed"))
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusAccepted || string(body) != "taken" || s.sent[0].Text != "CI failed" {
			t.Errorf(`res.StatusCode = %d, body = %s, s.sent = %+v; want res.StatusCode = http.StatusAccepted, `+
				`string(body) = "taken" and s.sent[0].Text = "CI failed"`, res.StatusCode, body, s.sent)
		}
		// a form, a picture
		for name, value := range map[string]string{"Origin": "https://example.com", "Sec-Fetch-Site": "cross-site"} {
			page, _ := http.NewRequest(http.MethodPost, address, strings.NewReader("x"))
			page.Header.Set(name, value)
			if res, err := http.DefaultClient.Do(page); err != nil || res.StatusCode != http.StatusForbidden {
				t.Errorf("a web page got %v %v", res, err)
			} else {
				res.Body.Close()
			}
		}
		http.DefaultClient.CloseIdleConnections()
		s.must(m, s.claude("SessionEnd", pi.Object{"reason": "other"}))
		await.Until(t, "the end of the server", func() bool {
			res, err := http.Post(address, "text/plain", strings.NewReader("x"))
			if err == nil {
				res.Body.Close()
			}
			return err != nil
		})
	})
	t.Run("checkpoint", func(t *testing.T) {
		s := newHarness(t, nil)
		work := filepath.Join(s.dir, "work")
		git := func(args ...string) {
			cmd := exec.Command("git", append([]string{"-C", work, "-c", "user.name=x", "-c",
				"user.email=x@example.com"}, args...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %v: %v %s", args, err, out)
			}
		}
		s.file("work/a.txt", "one")
		git("init", "-q")
		git("add", "-A")
		git("commit", "-qm", "one")
		s.file("work/a.txt", "two")
		t.Setenv("GIT_AUTHOR_NAME", "x")
		t.Setenv("GIT_AUTHOR_EMAIL", "x@example.com")
		t.Setenv("GIT_COMMITTER_NAME", "x")
		t.Setenv("GIT_COMMITTER_EMAIL", "x@example.com")
		m := s.load("checkpoint.ts", firstGeneration+`export default (pi: HookAPI) => {
  const kept = new Map<number, string>();
  pi.on("turn_start", async (e, ctx) => { const { stdout, code } = await ctx.exec("git", ["stash", "create"]); if (code === 0) kept.set(e.turnIndex, stdout.trim()); });
  pi.on("agent_end", async () => console.log([...kept].map(([n, ref]) => n + ":" + /^[0-9a-f]{40,}$/.test(ref)).join(" ")));
};`)
		for _, ev := range []*event.Event{
			s.claude("UserPromptSubmit", pi.Object{"prompt": "x", "cwd": work}),
			s.claude("PreToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "x"}, "cwd": work}),
			s.claude("PostToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "x"}, "tool_response": "x", "cwd": work}),
			s.claude("PreToolUse", pi.Object{"tool_name": "Bash", "tool_input": pi.Object{"command": "y"}, "cwd": work}),
			s.claude("Stop", pi.Object{"cwd": work}),
		} {
			s.must(m, ev)
		}
		if s.said() != "log: 0:true 1:true" {
			t.Errorf(`s.said() = %s, s.troubles() = %s; want s.said() = "log: 0:true 1:true"`, s.said(), s.troubles())
		}
		if n := len(s.actions); n != 2 || s.actions[0].Action != "exec" || s.actions[0].Detail != "git stash create" ||
			s.actions[0].Session != "s1" {
			t.Errorf(`s.actions = %+v, want n = 2, s.actions[0].Action = "exec", s.actions[0].Detail = "git stash create" `+
				`and s.actions[0].Session = "s1"`, s.actions)
		}
	})
	t.Run("compaction", func(t *testing.T) {
		s := newHarness(t, nil)
		m := s.load("compact.ts", firstGeneration+`export default (pi: HookAPI) => pi.on("session", async (e) => {
  if (e.reason !== "before_compact") return;
  return { compactionEntry: { type: "compaction", summary: e.messagesToSummarize.map((m) => m.content).join(), firstKeptEntryIndex: e.cutPoint.firstKeptEntryIndex, tokensBefore: e.tokensBefore } };
});`)
		own := s.native("pi", "session_before_compact",
			`{"event":{"type":"session_before_compact","preparation":{"firstKeptEntryId":"e2","messagesToSummarize":[{"role":"user","content":"do this"}],"tokensBefore":9},"branchEntries":[{"id":"e1","type":"message","message":{}},{"id":"e2","type":"message","message":{}}]},"ctx":{"sessionId":"p"}}`)
		if d := s.must(m, own); string(d.Extra) != `{"compaction":{"firstKeptEntryId":"e2","summary":"do this","tokensBefore":9}}` {
			t.Errorf(`d.Extra = %s, s.troubles() = %s; want string(d.Extra) = `+
				`{"compaction":{"firstKeptEntryId":"e2","summary":"do this","tokensBefore":9}}`, d.Extra, s.troubles())
		}
		if d := s.must(m, s.claude("PreCompact", pi.Object{"trigger": "auto"})); !d.Empty() ||
			!strings.Contains(s.troubles(), "event.messagesToSummarize is known in pi only; this session is claude's") {
			t.Errorf(`d = %+v, s.troubles() = %s; want d.Empty() and "event.messagesToSummarize is known in pi `+
				`only; this session is claude's" in s.troubles()`, d, s.troubles())
		}
	})
}

// A changed file counts at once, also when only what it imports
// changed; a touch does not.
func TestHotReload(t *testing.T) {
	s := newHarness(t, nil)
	s.file("lib.ts", "export const word: string = \"one\";")
	path := s.file("gate.ts", `import { word } from "./lib"; let n = 0; export default (h: any) => h.on("tool_call", () => ({ block: true, reason: word + ++n }));`)
	m, err := s.engine.Load(t.Context(), Source{Path: path, Watch: true})
	if err != nil {
		t.Fatal(err)
	}
	<-s.changed
	reason := func() string { return s.must(m, s.bash("x")).Reason }
	if got := reason(); got != "one1" {
		t.Errorf(`reason() = %q, want "one1"`, got)
	}
	if err := os.Chtimes(path, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	s.file("lib.ts", "export const word: string = \"two\";")
	<-s.changed
	if got := reason(); got != "two1" {
		t.Errorf(`reason() = %q, want "two1"`, got)
	}
	if info := m.Info(); len(info.Files) != 2 || info.Reloads != 1 {
		t.Errorf("info = %+v, want len(info.Files) = 2 and info.Reloads = 1", info)
	}
}

// A second load takes the transformed text from the cache, unless
// something it was made from changed; the cache is its owner's alone.
func TestCache(t *testing.T) {
	s := newHarness(t, nil)
	s.file("lib.ts", "export const word = 1;")
	const text = `import { word } from "./lib"; export default (h: any) => h.on("tool_call", () => word);`
	if m := s.load("a.ts", text); m.Info().Cached {
		t.Error("nothing was cached yet")
	}
	if m := s.load("a.ts", text); !m.Info().Cached {
		t.Error("not cached; want m.Info().Cached")
	}
	s.file("lib.ts", "export const word = 2;")
	if m := s.load("a.ts", text); m.Info().Cached {
		t.Error("an import changed")
	}
	st, err := os.Stat(filepath.Join(s.dir, "cache"))
	if err != nil || st.Mode().Perm() != 0o700 {
		t.Errorf("st.Mode() = %v, error %v; want no error and st.Mode().Perm() = 0o700", st.Mode(), err)
	}
}

// TestTry tries files as `hookmux hooks test` does.
func TestTry(t *testing.T) {
	s := newHarness(t, nil)
	src := Source{Path: s.file("gate.ts", Starter("gate"))}
	for _, agentName := range []string{"claude", "codex", "gemini", "opencode", "pi"} {
		ev, err := s.engine.Sample(agentName, "tool_call", s.dir, []byte(`{"command":"rm x"}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := Try(t.Context(), Host{}, Trial{Source: src, Event: ev,
			Answers: []Answer{{Confirmed: false}}}); got.Err != nil || got.Decision.Reason != "you said no" ||
			len(got.Asked) != 1 {
			t.Errorf(`%s: got %+v, want no error, got.Decision.Reason = "you said no" and len(got.Asked) = 1`,
				agentName, got)
		}
		if got := Try(t.Context(), Host{}, Trial{Source: src, Event: ev}); got.Err != nil ||
			got.Decision.Reason != "no one is available to approve this" {
			t.Errorf(`%s: got %+v, want no error and got.Decision.Reason = "no one is available to approve this"`, agentName, got)
		}
	}
	for _, c := range []struct{ agent, event, input, want string }{
		{"pi", "input", `{"prompt":"hello"}`, "log: input hello"},
		{"claude", "input", `{"prompt":"hello"}`, "log: input hello"},
		{"pi", "session_start", "", "log: session_start startup"},
		{"pi", "session_before_switch", `{"reason":"new"}`, "log: session_before_switch new"},
		{"codex", "tool_result", `{"command":"ls","output":"x"}`, `log: tool_result {"command":"ls"}`},
	} {
		ev, err := s.engine.Sample(c.agent, c.event, s.dir, []byte(c.input))
		if err != nil {
			t.Errorf("%s %s: error %v, want no error", c.agent, c.event, err)
			continue
		}
		shows := Source{Path: s.file("shows.ts", `export default (pi) => { for (const name of ["input", "session_start", "session_before_switch", "tool_result"]) pi.on(name, (e) => console.log(name, e.text ?? e.reason ?? JSON.stringify(e.input))); };`)}
		if got := Try(t.Context(), Host{}, Trial{Source: shows, Event: ev}); strings.Join(got.Console, "; ") != c.want {
			t.Errorf(`%s %s: got.Console = %q, want strings.Join(got.Console, "; ") = %q`,
				c.agent, c.event, got.Console, c.want)
		}
	}
	// What --input says of an event isn't missing, and what it doesn't say isn't another agent's matter.
	ev, err := s.engine.Sample("pi", "session", s.dir, []byte(`{"reason":"before_compact","messagesToSummarize":[{"role":"user"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	compacts := Source{Path: s.file("compacts.ts", `export default (hooks) => hooks.on("session", (e) => { if (e.reason === "before_compact") console.log(e.messagesToSummarize.length, e.tokensBefore); });`)}
	if got := Try(t.Context(), Host{}, Trial{Source: compacts, Event: ev, Name: "session_before_compact"}); len(got.Problems) != 1 ||
		got.Problems[0].Text != "pi did not say event.tokensBefore" {
		t.Errorf("got %+v, want only tokensBefore missing", got)
	}
	if _, err := s.engine.Sample("claude", "nonsense", s.dir, nil); err == nil {
		t.Error("nonsense was made up")
	}
}
