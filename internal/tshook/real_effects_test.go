package tshook

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// fakePi is pi as far as a hook can have it do things: it runs a model and
// remembers what it was told to do.
type fakePi struct {
	mu   sync.Mutex
	acts []string
	asks []pi.Object
}

func (f *fakePi) Complete(_ context.Context, _ *event.Event, call json.RawMessage) (json.RawMessage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := pi.ParseObject(call)
	if o["what"] == "act" {
		f.acts = append(f.acts, asString(o["on"])+"."+asString(o["method"])+string(pi.Encode(o["args"])))
		return json.RawMessage("true"), nil
	}
	f.asks = append(f.asks, o)
	return json.RawMessage(`{"role":"assistant","content":[{"type":"text","text":"the summary by the model"}],"stopReason":"stop","usage":{}}`), nil
}

func (f *fakePi) did() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return strings.Join(f.acts, "\n")
}

// effectTest is one example in a harness of its own, in a repository.
type effectTest struct {
	*harness
	*testing.T
	m      *Hook
	pi     *fakePi
	work   string
	record string
	more   pi.Object // of the context
}

// inEffectTest loads an example and lets a test play with it.
func inEffectTest(t *testing.T, path string, play func(c *effectTest)) {
	t.Helper()
	fake := &fakePi{}
	s := newHarness(t, func(h *Host) { h.Model = fake })
	t.Setenv("HOME", s.dir)
	c := &effectTest{harness: s, T: t, pi: fake, work: workTree(t, s), more: pi.Object{}}
	c.record = s.file("record.jsonl", `{"type":"session","id":"p1"}
{"type":"message","id":"e1","message":{"role":"user","content":"do it"}}
{"type":"message","id":"e2","message":{"role":"assistant","content":[{"type":"text","text":"All of it is done"}]}}
`)
	m, err := s.engine.Load(t.Context(), Source{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	c.m = m
	play(c)
}

func (c *effectTest) git(args ...string) string {
	c.T.Helper()
	out, err := exec.Command("git", append([]string{"-C", c.work}, args...)...).CombinedOutput()
	if err != nil {
		c.Fatalf("git %v: %v %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c *effectTest) commit() {
	c.T.Helper()
	c.git("add", "-A")
	c.git("commit", "-qm", "one")
}

// event returns one of pi's, as our extension sends it.
func (c *effectTest) event(name string, fields pi.Object) *event.Event {
	c.T.Helper()
	o := pi.Object{"type": name}
	for key, value := range fields {
		o[key] = value
	}
	around := pi.Object{"sessionId": "p1", "cwd": c.work, "mode": "tui", "hasUI": true, "sessionFile": c.record,
		"model": pi.Object{"provider": "lab", "id": "small"}}
	for key, value := range c.more {
		around[key] = value
	}
	return c.native("pi", name, string(pi.Encode(pi.Object{"event": o, "ctx": around,
		"plugin": pi.Object{"inner": true}})))
}

// says shows an event with a person's answers and gives pi's answer.
func (c *effectTest) says(name string, fields pi.Object, answers ...Answer) string {
	c.T.Helper()
	c.harness.mu.Lock()
	c.harness.answers = answers
	c.harness.mu.Unlock()
	ev := c.event(name, fields)
	if a, _ := agent.Builtin().Agent("pi"); contains(a.Inner, name) {
		i, err := ReadInner(ev)
		if err != nil {
			c.Fatal(err)
		}
		if _, err := c.m.Pass(c.Context(), &hook.Call{Event: ev}, i); err != nil {
			c.Errorf("%s: %v", name, err)
		}
		return string(i.Answer())
	}
	d, err := c.handle(c.m, ev)
	if err != nil {
		c.Fatalf("%s: %v %s", name, err, c.troubles())
	}
	answer, _ := agent.Builtin().Encode(ev, d)
	return answer.Stdout
}

// command is one a person types, tool one the model calls.
func (c *effectTest) command(name, args string, answers ...Answer) {
	c.T.Helper()
	c.want("/"+name, c.says("hookmux_command", pi.Object{"name": name, "args": args}, answers...), `"done":true`)
}

func (c *effectTest) tool(name string, params pi.Object) string {
	c.T.Helper()
	return c.says("hookmux_tool", pi.Object{"name": name, "toolCallId": "c1", "params": params})
}

func contains(list []string, one string) bool {
	for _, s := range list {
		if s == one {
			return true
		}
	}
	return false
}

func (c *effectTest) want(what, got string, parts ...string) {
	c.T.Helper()
	for _, part := range parts {
		if !strings.Contains(got, part) {
			c.Errorf("%s: %q is not in %q; %s", what, part, got, c.troubles())
		}
	}
}

func (c *effectTest) silent(what, got string) {
	c.T.Helper()
	if got != "" {
		c.Errorf("%s: said %q", what, got)
	}
}

func bashCall(command string) pi.Object {
	return pi.Object{"toolName": "bash", "toolCallId": "c1", "input": pi.Object{"command": command}}
}

var (
	yesAnswer = Answer{Confirmed: true, Value: "Yes"}
	noAnswer  = Answer{Value: "No"}
)

// onOthers shows a command to a gate as Claude Code's and Codex's.
func (c *effectTest) onOthers(command string, want event.Verdict, answers ...Answer) {
	c.T.Helper()
	for _, name := range []string{"claude", "codex", "gemini"} {
		c.harness.answers = append([]Answer{}, answers...)
		ev, err := c.engine.Sample(name, "tool_call", c.work, pi.Encode(pi.Object{"command": command}))
		if err != nil {
			c.Fatal(err)
		}
		if d := c.must(c.m, ev); d.Verdict != want {
			c.Errorf("%s: %q was evaluated %q, want %q", name, command, d.Verdict, want)
		}
	}
}

func gateEffect(c *effectTest) {
	const dangerous = "sudo ls"
	c.silent("harmless", c.says("tool_call", bashCall("ls")))
	c.silent("allowed", c.says("tool_call", bashCall(dangerous), yesAnswer))
	c.want("refused", c.says("tool_call", bashCall(dangerous), noAnswer), `"block":true`, "Blocked by user")
	c.onOthers(dangerous, event.Deny, noAnswer)
	c.onOthers(dangerous, event.None, yesAnswer)
	c.harness.nobody = true
	c.want("nobody there", c.says("tool_call", bashCall(dangerous)), `"block":true`, "no UI for confirmation")
}

func pathsEffect(c *effectTest) {
	write := func(path string) pi.Object {
		return pi.Object{"toolName": "write", "toolCallId": "c1", "input": pi.Object{"path": path, "content": "x"}}
	}
	c.silent("harmless", c.says("tool_call", write("src/main.go")))
	c.want("protected", c.says("tool_call", write(".env")), `"block":true`, `Path \".env\" is protected`)
	c.want("notice", c.noticed(), "Blocked write to protected path: .env")
	d := c.must(c.m, c.claude("PreToolUse", pi.Object{"tool_name": "Write",
		"tool_input": pi.Object{"file_path": "/x/node_modules/a.js", "content": ""}}))
	if d.Verdict != event.Deny {
		c.Errorf("Claude Code's write: %+v", d)
	}
}

func destructiveEffect(c *effectTest) {
	c.want("new, refused", c.says("session_before_switch", pi.Object{"reason": "new"}, noAnswer), `"cancel":true`)
	c.want("notice", c.noticed(), "Clear cancelled")
	c.silent("new, confirmed", c.says("session_before_switch", pi.Object{"reason": "new"}, yesAnswer))
	c.want("resume, refused", c.says("session_before_switch", pi.Object{"reason": "resume"}, noAnswer), `"cancel":true`)
	c.want("fork, refused", c.says("session_before_fork", pi.Object{"entryId": "e1xxxxxxx"}, noAnswer), `"cancel":true`)
	for _, q := range c.questions {
		if q.Kind == Select && len(q.Options) > 0 {
			c.silent("fork, confirmed", c.says("session_before_fork", pi.Object{"entryId": "e1xxxxxxx"},
				Answer{Value: q.Options[0]}))
		}
	}
	c.harness.nobody = true
	c.silent("nobody there", c.says("session_before_switch", pi.Object{"reason": "new"}))
}

func dirtyEffect(c *effectTest) {
	c.want("refused", c.says("session_before_switch", pi.Object{"reason": "new"},
		Answer{Value: "No, let me commit first"}), `"cancel":true`)
	c.silent("confirmed", c.says("session_before_switch", pi.Object{"reason": "new"},
		Answer{Value: "Yes, proceed anyway"}))
	c.harness.nobody = true
	c.want("nobody there", c.says("session_before_fork", pi.Object{"entryId": "e1"}), `"cancel":true`)
	c.commit()
	c.silent("clean", c.says("session_before_fork", pi.Object{"entryId": "e1"}))
}

// checkpointEffect wants a later change undone on the way back. names is how the
// generation names the turn.
func checkpointEffect(turn pi.Object, entry string) func(c *effectTest) {
	return func(c *effectTest) {
		c.commit()
		c.file("work/a.txt", "as at the checkpoint")
		c.says("tool_result", pi.Object{"toolName": "bash", "toolCallId": "c1", "input": pi.Object{},
			"content": []any{}})
		c.says("turn_start", turn)
		c.git("checkout", "-q", "a.txt")
		c.silent("the way back", c.says("session_before_fork", pi.Object{"entryId": entry},
			Answer{Value: "Yes, restore code to that point"}))
		if b, _ := os.ReadFile(filepath.Join(c.work, "a.txt")); string(b) != "as at the checkpoint" {
			c.Errorf("the file holds %q; asked %+v", b, c.questions)
		}
		c.want("notice", c.noticed(), "Code restored to checkpoint")
	}
}

func commitEffect(c *effectTest) {
	c.commit()
	c.file("work/b.txt", "new")
	c.says("session_shutdown", pi.Object{"reason": "quit"})
	if got := c.git("log", "-1", "--format=%s"); got != "[pi] All of it is done" {
		c.Errorf("committed %q", got)
	}
	c.want("notice", c.noticed(), "Auto-committed: [pi] All of it is done")
}

// trigger is the file that the example watches.
const trigger = "/tmp/agent-trigger.txt"

func triggerEffect(c *effectTest) {
	if _, err := os.Stat(trigger); err == nil {
		c.Skip(trigger + " is somebody's")
	}
	c.harness.deliver = true
	if err := os.WriteFile(trigger, nil, 0o600); err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() {
		c.engine.Close() // else it may empty the file once more, and so make it anew
		os.Remove(trigger)
	})
	c.says("session_start", pi.Object{"reason": "startup"})
	await.Until(c.T, "the message", func() bool {
		_ = os.WriteFile(trigger, []byte("run the tests"), 0o600)
		c.harness.mu.Lock()
		defer c.harness.mu.Unlock()
		return len(c.sent) > 0 && c.sent[0].Text == "External trigger: run the tests" && c.sent[0].Turn
	})
}

// summaryEffect wants a summary by a model for which the hook asked pi.
func summaryEffect(kept string) func(c *effectTest) {
	return func(c *effectTest) {
		fields := pi.Object{
			"preparation": pi.Object{
				"firstKeptEntryId": "e2", "messagesToSummarize": []any{pi.Object{"role": "user",
					"content": "build the house", "timestamp": 1}},
				"turnPrefixMessages": []any{}, "tokensBefore": 1234,
			},
			"branchEntries": []any{pi.Object{"id": "e1", "type": "message",
				"message": pi.Object{"role": "user", "content": "x"}},
				pi.Object{"id": "e2", "type": "message",
					"message": pi.Object{"role": "assistant", "content": []any{}}}},
			"reason": "manual",
		}
		c.more["models"] = []any{pi.Object{"provider": "google", "id": "gemini-2.5-flash"}}
		c.want("compaction", c.says("session_before_compact", fields), `"summary":"the summary by the model"`,
			`"tokensBefore":1234`, kept)
		if len(c.pi.asks) != 1 || !strings.Contains(string(pi.Encode(c.pi.asks[0])), "build the house") ||
			!strings.Contains(string(pi.Encode(c.pi.asks[0]["model"])), "gemini-2.5-flash") {
			c.Errorf("asked the model: %v", c.pi.asks)
		}
		// Elsewhere there is no such model, and the agent goes on by itself.
		d := c.must(c.m, c.claude("PreCompact", pi.Object{"trigger": "auto"}))
		if !d.Empty() || len(c.pi.asks) != 1 {
			c.Errorf("on Claude Code: %+v", d)
		}
		c.want("the reason", c.troubles()+c.noticed(), "pi only")
	}
}

// effects says what the examples of both eras are for: which event leads to
// which answer or trace.
var effects = map[string]map[string]func(c *effectTest){
	"0.27.9 hooks": {
		"permission-gate.ts": gateEffect, "protected-paths.ts": pathsEffect, "dirty-repo-guard.ts": dirtyEffect, "confirm-destructive.ts": destructiveEffect,
		// It keeps turns by number and looks them up by entry: the first entry
		// and the first turn have the same.
		"git-checkpoint.ts": checkpointEffect(pi.Object{"turnIndex": 0, "timestamp": 1}, "e1"), "auto-commit-on-exit.ts": commitEffect, "file-trigger.ts": triggerEffect,
		"custom-compaction.ts": summaryEffect(`"firstKeptEntryId":null`),
	},
	"1.5.0 extensions": {
		"permission-gate.ts": gateEffect, "protected-paths.ts": pathsEffect, "dirty-repo-guard.ts": dirtyEffect, "confirm-destructive.ts": destructiveEffect,
		"git-checkpoint.ts": checkpointEffect(pi.Object{"turnIndex": 1, "timestamp": 1}, "e2"), "auto-commit-on-exit.ts": commitEffect, "file-trigger.ts": triggerEffect,
		"custom-compaction.ts": summaryEffect(`"firstKeptEntryId":"e2"`),
		"input-transform.ts": func(c *effectTest) {
			c.want("quick", c.says("input", pi.Object{"text": "?quick what is it", "source": "interactive"}),
				`"action":"transform"`, `"text":"Respond briefly in 1-2 sentences: what is it"`)
			c.want("ping", c.says("input", pi.Object{"text": "ping", "source": "interactive"}), `"action":"handled"`)
			c.want("pong", c.noticed(), "pong")
			c.silent("other words", c.says("input", pi.Object{"text": "hello", "source": "interactive"}))
			c.silent("from an extension", c.says("input", pi.Object{"text": "ping", "source": "extension"}))
		},
		"input-transform-streaming.ts": func(c *effectTest) {
			c.commit()
			c.file("work/a.txt", "changed")
			c.want("changes", c.says("input", pi.Object{"text": "look at my changes", "source": "interactive"}),
				"Current uncommitted changes", "a.txt")
			c.silent("steering", c.says("input", pi.Object{"text": "look at my changes", "source": "interactive",
				"streamingBehavior": "steer"}))
		},
		"inline-bash.ts": func(c *effectTest) {
			c.want("expanded", c.says("input", pi.Object{"text": "in !{basename $PWD} now", "source": "interactive"}),
				`"text":"in work now"`)
			c.silent("a whole line", c.says("input", pi.Object{"text": "!{x", "source": "interactive"}))
		},
		"claude-rules.ts": func(c *effectTest) {
			c.file("work/.claude/rules/style/go.md", "x")
			c.says("session_start", pi.Object{"reason": "startup"})
			c.want("rules", c.says("before_agent_start", pi.Object{"prompt": "x", "systemPrompt": "be kind"}),
				"be kind", "- .claude/rules/style/go.md")
		},
		"git-merge-and-resolve.ts": func(c *effectTest) {
			c.commit()
			c.git("checkout", "-qb", "other")
			c.file("work/a.txt", "theirs")
			c.git("commit", "-qam", "two")
			c.git("checkout", "-q", "-")
			c.file("work/a.txt", "ours")
			c.git("commit", "-qam", "three")
			_ = exec.Command("git", "-C", c.work, "merge", "-q", "other").Run() // conflicts
			c.harness.deliver = true
			c.says("agent_end", pi.Object{"messages": []any{}})
			if len(c.sent) != 1 {
				c.Fatalf("sent %v; %s", c.sent, c.troubles())
			}
			c.want("the message", c.sent[0].Text, "Merged MERGE_HEAD with conflicts", "a.txt:1-5 (ours 2, theirs 4)")
		},
		"status-line.ts": func(c *effectTest) {
			c.says("session_start", pi.Object{"reason": "startup"})
			c.says("turn_start", pi.Object{"turnIndex": 0})
			c.says("turn_end", pi.Object{"turnIndex": 0, "entries": []any{}})
			await.Until(c.T, "three states", func() bool { return strings.Count(c.pi.did(), "\n") == 2 })
			c.want("pi's footer", c.pi.did(), `ui.setStatus["status-demo","Ready"]`,
				`ui.setStatus["status-demo","● Turn 1..."]`, `ui.setStatus["status-demo","✓ Turn 1 complete"]`)
		},
		"system-prompt-header.ts": func(c *effectTest) {
			c.more["systemPrompt"] = "be kind"
			c.says("agent_start", nil)
			await.Until(c.T, "the status", func() bool { return c.pi.did() == `ui.setStatus["system-prompt","System: 7 chars"]` })
		},
		"model-status.ts": func(c *effectTest) {
			c.says("model_select", pi.Object{"model": pi.Object{"provider": "lab", "id": "big"}, "source": "set"})
			c.want("notice", c.noticed(), "Model: lab/big")
			await.Until(c.T, "the status", func() bool {
				return strings.Contains(c.pi.did(),
					`ui.setStatus["model","🤖 big"]`)
			})
		},
		"titlebar-spinner.ts": func(c *effectTest) {
			c.says("agent_start", nil)
			await.Until(c.T, "a title that turns", func() bool {
				return strings.Contains(c.pi.did(), "⠋") && strings.Contains(c.pi.did(), "⠙")
			})
			c.says("agent_settled", nil)
		},
		"trigger-compact.ts": func(c *effectTest) {
			for _, tokens := range []int{50_000, 120_000} {
				c.more["usage"] = pi.Object{"tokens": tokens}
				c.says("turn_end", pi.Object{"turnIndex": 0, "entries": []any{}})
			}
			await.Until(c.T, "a compaction", func() bool { return strings.Contains(c.pi.did(), "ctx.compact") })
		},
		"event-bus.ts": func(c *effectTest) {
			c.says("session_start", pi.Object{"reason": "startup"})
			c.want("notice", c.noticed(), "Event from event-bus-example: Session started")
		},
		"prompt-customizer.ts": func(c *effectTest) {
			c.want("sections", c.says("before_agent_start",
				pi.Object{"prompt": "x", "systemPrompt": "s",
					"systemPromptOptions": pi.Object{"selectedTools": []any{"bash"}, "sections": pi.Object{}}}),
				`"tool_guidance":"- Use `)
		},
		"provider-payload.ts": func(c *effectTest) {
			c.silent("only looks", c.says("before_provider_request", pi.Object{"payload": pi.Object{"model": "small"}}))
			c.says("after_provider_response", pi.Object{"status": 429, "headers": pi.Object{"retry-after": "3"}})
			b, _ := os.ReadFile(filepath.Join(c.work, ".pi", "provider-payload.log"))
			c.want("the log", string(b), `"model": "small"`, `[429] {"retry-after":"3"}`)
		},
		"project-trust.ts": func(c *effectTest) {
			c.want("trusted", c.says("project_trust", pi.Object{"cwd": c.work}, Answer{Value: "Trust and remember"}),
				`"trusted":"yes"`, `"remember":true`)
			c.want("not trusted", c.says("project_trust", pi.Object{"cwd": c.work},
				Answer{Value: "Do not trust this session"}), `"trusted":"no"`)
			c.silent("undecided", c.says("project_trust", pi.Object{"cwd": c.work},
				Answer{Value: "Let built-in prompt decide"}))
		},
		"dynamic-resources/index.ts": func(c *effectTest) {
			c.want("paths", c.says("resources_discover", pi.Object{"cwd": c.work, "reason": "startup"}),
				filepath.Join(filepath.Dir(c.m.Path()), "SKILL.md"), "promptPaths", "themePaths")
		},
		"plan-mode/index.ts": func(c *effectTest) {
			stale := []any{pi.Object{"role": "custom", "customType": "plan-mode-context", "content": "x"},
				pi.Object{"role": "user", "content": "[PLAN MODE ACTIVE] y"},
				pi.Object{"role": "user", "content": "stays"}}
			c.want("stale words", c.says("context", pi.Object{"messages": stale}),
				`{"messages":[{"content":"stays","role":"user"}]}`)
			c.silent("before the plan", c.says("tool_call", bashCall("npm install x")))
			c.command("plan", "")
			c.want("in the plan", c.says("tool_call", bashCall("npm install x")), `"block":true`,
				"Plan mode: command blocked")
			c.silent("a command that reads", c.says("tool_call", bashCall("ls")))
			c.want("the rules", c.says("before_agent_start",
				pi.Object{"prompt": "x", "messageType": "user", "systemPrompt": "s"}), "[PLAN MODE ACTIVE]")
			await.Until(c.T, "the tools", func() bool {
				return strings.Contains(c.pi.did(), "pi.setActiveTools") && strings.Contains(c.pi.did(), "⏸ plan") &&
					strings.Contains(c.pi.did(), "pi.appendEntry")
			})
		},
		"pirate.ts": func(c *effectTest) {
			c.silent("as usual", c.says("before_agent_start", pi.Object{"prompt": "x", "systemPrompt": "be kind"}))
			c.command("pirate", "")
			c.want("a pirate", c.says("before_agent_start", pi.Object{"prompt": "x", "systemPrompt": "be kind"}),
				"be kind", "PIRATE MODE")
		},
		"session-name.ts": func(c *effectTest) {
			c.command("session-name", "the house")
			await.Until(c.T, "the name", func() bool {
				return strings.Contains(c.pi.did(),
					`pi.setSessionName["the house"]`)
			})
		},
		"bookmark.ts": func(c *effectTest) {
			c.command("bookmark", "here")
			await.Until(c.T, "the label", func() bool {
				return strings.Contains(c.pi.did(),
					`pi.setLabel["e2","here"]`)
			})
		},
		"send-user-message.ts": func(c *effectTest) {
			c.harness.deliver, c.more["idle"] = true, true
			c.command("ask", "how are you")
			c.more["idle"] = false
			c.command("steer", "rather this")
			if len(c.sent) != 2 || c.sent[0].Text != "how are you" || c.sent[1].Deliver != "steer" {
				c.Errorf("sent %+v", c.sent)
			}
		},
		"timed-confirm.ts": func(c *effectTest) {
			c.command("timed-select", "", Answer{Value: "Option B"})
			c.want("notice", c.noticed(), "Selected: Option B")
		},
		"shutdown-command.ts": func(c *effectTest) {
			c.command("quit", "")
			await.Until(c.T, "the end", func() bool { return strings.Contains(c.pi.did(), "ctx.shutdown") })
		},
		"hello.ts": func(c *effectTest) { c.want("hello", c.tool("hello", pi.Object{"name": "Ada"}), "Hello, Ada!") },
		"todo.ts": func(c *effectTest) {
			c.want("added", c.tool("todo", pi.Object{"action": "add", "text": "roof"}), "Added todo #1: roof")
			c.tool("todo", pi.Object{"action": "toggle", "id": 1})
			c.want("listed", c.tool("todo", pi.Object{"action": "list"}), "[x] #1: roof")
		},
		"structured-output.ts": func(c *effectTest) {
			c.want("saved", c.tool("structured_output",
				pi.Object{"headline": "Done", "summary": "s", "actionItems": []any{}}), "Saved structured output: Done",
				`"terminate":true`)
		},
		"tool-override.ts": func(c *effectTest) {
			c.file("work/.env", "secret words")
			c.want("denied", c.tool("read", pi.Object{"path": ".env"}), "Access denied", `"blocked":true`)
			c.want("read", c.tool("read", pi.Object{"path": "a.txt"}), `"text":"one"`)
		},
		"notify.ts": func(c *effectTest) {
			c.Setenv("WT_SESSION", "")
			c.Setenv("KITTY_WINDOW_ID", "")
			c.says("agent_settled", nil)
			c.want("the terminal's words", c.said(), "777;notify;Pi;Ready for input")
		},
	},
}

// The examples that decide or do something at an event do
// it here.
func TestRealExamplesDo(t *testing.T) {
	for era, table := range effects {
		version, folder, _ := strings.Cut(era, " ")
		t.Run(version, func(t *testing.T) {
			pkg := "@mariozechner/pi-coding-agent"
			if folder == "extensions" {
				pkg = "@earendil-works/pi-coding-agent"
			}
			dir := examples(t, pkg, version, folder)
			for name, play := range table {
				t.Run(name, func(t *testing.T) { inEffectTest(t, filepath.Join(dir, name), play) })
			}
		})
	}
}

// docEffects says what the samples of pi's own documentation are for, by words
// that only one of them has.
var docEffects = map[string]func(c *effectTest){
	"Session ${event.reason}": func(c *effectTest) {
		c.says("session_start", pi.Object{"reason": "startup"})
		c.says("session_before_switch", pi.Object{"reason": "new"})
		c.says("session_shutdown", pi.Object{"reason": "quit"})
		c.want("notices", c.noticed(), "Session start: "+c.record, "Session before_clear: "+c.record,
			"Session shutdown: "+c.record)
		c.must(c.m, c.claude("SessionStart", pi.Object{"source": "startup"}))
		c.want("on Claude Code", c.noticed(), "Session start: /home/user/t.jsonl")
	},
	"event.details is BashToolDetails": func(c *effectTest) {
		// It looks and says nothing: it must neither fail nor change the result.
		c.silent("a long output", c.says("tool_result",
			pi.Object{"toolName": "bash", "toolCallId": "c", "input": pi.Object{}, "content": []any{},
				"details": pi.Object{"truncation": pi.Object{"truncated": true}, "fullOutputPath": "/x"}}))
		c.silent("another tool", c.says("tool_result",
			pi.Object{"toolName": "read", "toolCallId": "c", "input": pi.Object{}, "content": []any{}}))
	},
	"isMyCustomToolResult": func(c *effectTest) {
		c.says("tool_result", pi.Object{"toolName": "my-custom-tool", "toolCallId": "c", "input": pi.Object{},
			"content": []any{}, "details": pi.Object{"someField": "of my own"}})
		c.says("tool_result", pi.Object{"toolName": "bash", "toolCallId": "c", "input": pi.Object{}, "content": []any{},
			"details": pi.Object{"fullOutputPath": "/tmp/whole"}})
		c.want("the console", c.said(), "of my own", "Full output at: /tmp/whole")
	},
	"agent-trigger.txt": func(c *effectTest) {
		triggerEffect(c)
		c.want("notice", c.noticed(), "Watching /tmp/agent-trigger.txt")
	},
	"http.createServer": func(c *effectTest) {
		c.harness.deliver = true
		if l, err := net.Listen("tcp", "127.0.0.1:3333"); err != nil {
			c.Skip("port 3333, which the sample listens on, is somebody's")
		} else {
			l.Close()
		}
		c.says("session_start", pi.Object{"reason": "startup"})
		await.Until(c.T, "the server", func() bool {
			return strings.Contains(c.noticed(),
				"Webhook listening on http://localhost:3333")
		})
		res, err := http.Post("http://localhost:3333", "text/plain", strings.NewReader("CI build failed"))
		if err != nil {
			c.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if string(body) != "OK" || len(c.sent) != 1 || c.sent[0].Text != "CI build failed" || !c.sent[0].Turn {
			c.Errorf("answered %s, sent %+v", body, c.sent)
		}
		http.DefaultClient.CloseIdleConnections()
	},
	"dangerousPatterns": func(c *effectTest) {
		c.silent("harmless", c.says("tool_call", bashCall("ls")))
		c.silent("allowed", c.says("tool_call", bashCall("sudo ls"), yesAnswer))
		c.want("refused", c.says("tool_call", bashCall("sudo ls"), noAnswer), `"block":true`, "Blocked by user")
		c.onOthers("chmod 777 x", event.Deny, noAnswer)
		c.harness.nobody = true
		c.want("nobody there", c.says("tool_call", bashCall("sudo ls")), `"block":true`)
	},
	`"stash", "create"`: checkpointEffect(pi.Object{"turnIndex": 0, "timestamp": 1}, "e1"),
	"protectedPaths":    pathsEffect,
	"User requests:": func(c *effectTest) {
		fields := pi.Object{
			"preparation": pi.Object{"firstKeptEntryId": "e2",
				"messagesToSummarize": []any{pi.Object{"role": "user", "content": "build the house"},
					pi.Object{"role": "assistant", "content": []any{}}}, "tokensBefore": 9},
			"branchEntries": []any{pi.Object{"id": "e1", "type": "message"}, pi.Object{"id": "e2", "type": "message"}},
			"reason":        "manual",
		}
		c.want("the summary", c.says("session_before_compact", fields), `"summary":"User requests:\n- build the house"`,
			`"firstKeptEntryId":"e2"`, `"tokensBefore":9`)
		d := c.must(c.m, c.claude("PreCompact", pi.Object{"trigger": "auto"}))
		if !d.Empty() {
			c.Errorf("on Claude Code: %+v", d)
		}
		c.want("the reason", c.troubles(), "event.messagesToSummarize is known in pi only; this session is claude's")
	},
}

// Each sample of the documentation, as printed, does
// what it is printed for.
func TestRealDocumentationDoes(t *testing.T) {
	text := documentation(t)
	played := map[string]bool{}
	for _, block := range fenced.FindAllStringSubmatch(text, -1) {
		if !strings.Contains(block[1], "export default") {
			continue
		}
		known := ""
		for mark := range docEffects {
			if strings.Contains(block[1], mark) {
				known = mark
			}
		}
		if known == "" && strings.Contains(block[1], "complete(") { // 0.27.9 prints its example
			continue
		}
		if known == "" {
			t.Errorf("a sample nobody checks:\n%s", block[1])
			continue
		}
		played[known] = true
		t.Run(strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
				return r
			}
			return -1
		}, known), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "sample.ts")
			if err := os.WriteFile(path, []byte(block[1]), 0o600); err != nil {
				t.Fatal(err)
			}
			inEffectTest(t, path, docEffects[known])
		})
	}
	t.Logf("%d of %d samples are in this edition", len(played), len(docEffects))
	if len(played) < 8 {
		t.Errorf("only %v were found", played)
	}
}
