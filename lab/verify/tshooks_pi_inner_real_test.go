package verify

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// innerTSHook is one of two files that change the same things in pi: each adds
// its own word to what the one before left. WORD is its word.
const innerTSHook = `import type { HookAPI } from "hookmux";
const put = (text: string) => (text.includes("-by-") ? text + "-and-WORD" : text + "-by-WORD");
const marked = (text: string, mark: string) => (text.includes(mark) ? text.replace(new RegExp(mark + "[a-z-]*"), put) : text + "\n" + put(mark));
export default function (hooks: HookAPI) {
  hooks.on("input", (event) => ({ action: "transform", text: marked(event.text, "input") }));
  hooks.on("before_agent_start", (event) => ({ systemPrompt: marked(event.systemPrompt, "sysword"), message: { customType: "x", content: "message-from-WORD", display: false } }));
  hooks.on("context", (event) => {
    const last = event.messages.at(-1);
    if (last.customType !== "ctx") return { messages: [...event.messages, { role: "custom", customType: "ctx", content: put("context"), display: false, timestamp: Date.now() }] };
    last.content = put(last.content); // in place
  });
  hooks.on("before_provider_request", (event) => ({ ...event.payload, user: event.payload.user ? put(event.payload.user) : put("payload") }));
  hooks.on("before_provider_headers", (event) => {
    event.headers["x-hooked"] = put(event.headers["x-hooked"] ?? "header");
    for (const name of Object.keys(event.headers)) if (/auth|key/i.test(name)) event.headers["x-hooked"] = "leaked";
  });
  hooks.on("message_end", ({ message }) => {
    if (message.role !== "toolResult") return;
    return { message: { ...message, content: message.content.map((part) => (part.type === "text" ? { ...part, text: marked(part.text, "toolword") } : part)) } };
  });
  hooks.on("turn_end", (event) => (event.turnIndex === 0 ? { entries: [...event.entries, { type: "custom_message", customType: "x", content: "turn-entry-from-WORD", display: false }] } : undefined));
}
`

// heardTSHook writes down which events it was shown.
const heardTSHook = `import { appendFileSync } from "node:fs";
const names = NAMES;
export default function (pi: any) {
  for (const name of names) pi.on(name, (event: any, ctx: any) => {
    const about: any = { name, keys: Object.keys(event), model: ctx.model?.id };
    if (name === "turn_start" || name === "turn_end") about.turn = event.turnIndex;
    if (name === "message_update") about.delta = event.assistantMessageEvent?.type;
    if (name === "after_provider_response") about.status = event.status;
    if (name === "model_select") about.model = event.model.id;
    if (name === "agent_start") about.prompt = ctx.getSystemPrompt().length;
    appendFileSync("HEARD", JSON.stringify(about) + "\n");
    if (name === "project_trust") return { trusted: "yes" };
    if (name === "resources_discover") return { skillPaths: ["SKILL"] };
    if (name === "user_bash") {
      if (event.command.includes("throw")) throw new Error("no such luck");
      return { result: { output: "bash-by-hook", exitCode: 0, cancelled: false, truncated: false } };
    }
    if (name === "session_before_tree") return event.preparation.userWantsSummary ? { summary: { summary: "tree-summary-by-hook" } } : { cancel: true };
  });
  pi.on("session_before_compact", () => ({ cancel: true }));
}
`

type heardEvent struct {
	Name   string
	Keys   []string
	Turn   int
	Model  string
	Delta  string
	Status int
	Prompt int
}

// hearInnerEvents installs the file that writes down what it is shown.
func hearInnerEvents(t *testing.T, st *testbed.TestBed) func() []heardEvent {
	t.Helper()
	file := filepath.Join(st.Base, "heard.jsonl")
	skill := writePersonFile(t, st.Base, "skill/SKILL.md",
		"---\nname: skill-by-hook\ndescription: A skill that a hook brought.\n---\nNothing.\n")
	names, _ := json.Marshal(st.Agent.Inner)
	writePersonFile(t, st.Dirs.Config, "hooks/c-heard.ts",
		strings.NewReplacer("NAMES", string(names), "HEARD", file, "SKILL", skill).Replace(heardTSHook))
	return func() []heardEvent {
		b, _ := os.ReadFile(file)
		var list []heardEvent
		for line := range strings.Lines(string(b)) {
			var one heardEvent
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			list = append(list, one)
		}
		return list
	}
}

func namesOf(list []heardEvent) []string {
	var names []string
	for _, one := range list {
		names = append(names, one.Name)
	}
	return names
}

func checkTSHookErrors(t *testing.T, st *testbed.TestBed) {
	t.Helper()
	var list []wire.TSHookInfo
	if err := st.Daemon.CallMethod(wire.MethodTSHooks, wire.TSHooksParams{}, &list); err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		var info struct {
			Errors []struct{ Text, Where string }
		}
		if json.Unmarshal(m.Info, &info) != nil || !m.InForce || len(info.Errors) > 0 {
			t.Errorf("%s: m.Info = %s, want no error, m.InForce and no info.Errors", m.ID, m.Info)
		}
	}
}

// In pi two files change, one after the other as pi's own
// extensions would, the prompt, the system prompt, the messages, the request,
// its headers, a message and what is added after a turn; a third sees
// everything else.
func TestRealInnerEvents(t *testing.T) {
	st := realTestBed(t, "pi")
	for _, word := range []string{"a", "b"} {
		writePersonFile(t, st.Dirs.Config, "hooks/"+word+".ts", strings.ReplaceAll(innerTSHook, "WORD", word))
	}
	heard := hearInnerEvents(t, st)
	// A project pi asks about; its extension counts once it is trusted.
	writePersonFile(t, st.Project, ".pi/extensions/own.js", `import fs from "node:fs";
export default () => fs.writeFileSync("`+filepath.Join(st.Base, "trusted")+`", "");`)
	st.SetScript([]model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call("echo tool-said")}}, {Say: testbed.LastWords}})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	if err := st.RunHeadless(context.Background(), st.AgentCommand(), st.FreeCommand("Say it, input")); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"input-by-a-and-b", "sysword-by-a-and-b", "message-from-a", "message-from-b", "context-by-a-and-b", "toolword-by-a-and-b", "turn-entry-from-a", "turn-entry-from-b", "skill-by-hook",
	} {
		if !st.Model.Saw(st.Run, words) {
			t.Errorf("the model did not see %q", words)
		}
	}
	played := 0
	for _, q := range st.Model.Requests(st.Run) {
		if q.API == "" {
			continue
		}
		played++
		if got := q.Header.Get("x-hooked"); got != "header-by-a-and-b" {
			t.Errorf("the header is %q", got)
		}
		if !strings.Contains(string(q.Body), "payload-by-a-and-b") {
			t.Errorf("the payload is %s", testbed.ClipText(string(q.Body)))
		}
		if q.Header.Get("Authorization") == "" {
			t.Error("the header with the key is gone")
		}
	}
	if played < 2 {
		t.Errorf("%d requests; want played >= 2", played)
	}
	if _, err := os.Stat(filepath.Join(st.Base, "trusted")); err != nil {
		t.Error("the project was not trusted")
	}
	list := heard()
	names := namesOf(list)
	for _, name := range []string{
		"project_trust", "resources_discover", "before_agent_start", "agent_start", "turn_start", "message_start", "message_update", "message_end", "context", "context_with_system",
		"before_provider_headers", "before_provider_request", "after_provider_response", "tool_execution_start", "tool_execution_end", "turn_end", "agent_end", "agent_settled",
	} {
		if !slices.Contains(names, name) {
			t.Errorf("%s was not shown; shown: %v", name, names)
		}
	}
	var turns []string
	for _, one := range list {
		switch one.Name {
		case "turn_start", "turn_end":
			turns = append(turns, one.Name+string(rune('0'+one.Turn)))
		case "after_provider_response":
			if one.Status != 200 {
				t.Errorf("one = %+v, want one.Status = 200", one)
			}
		case "agent_start":
			if one.Prompt < 100 || one.Model != "scripted" {
				t.Errorf(`one = %+v, want one.Prompt at least 100 and one.Model = "scripted"`, one)
			}
		}
	}
	if got := strings.Join(turns, " "); got != "turn_start0 turn_end0 turn_start1 turn_end1" {
		t.Errorf(`turns: %s, want "turn_start0 turn_end0 turn_start1 turn_end1"`, got)
	}
	checkTSHookErrors(t, st)
	for _, x := range st.Watcher.AllSeen() {
		if x.Event.Native == "context" || x.Event.Native == "turn_start" {
			t.Errorf("%s went through the daemon", x.Event.Native)
		}
	}
}

// rpc is pi driven by a program.
type rpc struct {
	t     *testing.T
	in    io.Writer
	lines chan map[string]any
	seen  []map[string]any
}

func startRPC(t *testing.T, st *testbed.TestBed, more ...string) *rpc {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), st.Patience)
	t.Cleanup(cancel)
	argv := append(slices.Clone(st.AgentCommand().Argv), more...)
	cmd := exec.CommandContext(ctx, argv[0], append(argv[1:], "--mode", "rpc", "--provider", "scripted", "--model",
		"scripted")...)
	cmd.Env, cmd.Dir = st.Env, st.Project
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	r := &rpc{t: t, in: in, lines: make(chan map[string]any, 10000)}
	go func() {
		defer close(r.lines)
		sc := bufio.NewScanner(out)
		sc.Buffer(nil, 32<<20)
		for sc.Scan() {
			var line map[string]any
			if json.Unmarshal(sc.Bytes(), &line) == nil {
				r.lines <- line
			}
		}
	}()
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return r
}

// do sends a command and waits for its response, then for a line of a type.
func (r *rpc) do(command map[string]any, until string) map[string]any {
	r.t.Helper()
	command["id"] = command["type"]
	b, _ := json.Marshal(command)
	if _, err := r.in.Write(append(b, '\n')); err != nil {
		r.t.Fatal(err)
	}
	var response map[string]any
	over := time.After(60 * time.Second)
	for reached := until == ""; response == nil || !reached; {
		select {
		case line, ok := <-r.lines:
			if !ok {
				r.t.Fatalf("pi ended at %v", command)
			}
			r.seen = append(r.seen, line)
			if line["type"] == "response" && line["id"] == command["id"] {
				response = line
			}
			reached = reached || line["type"] == until
		case <-over:
			r.t.Fatalf("no answer to %v; seen %v", command, r.seen)
		}
	}
	return response
}

// shows waits for words that pi is told to show.
func (r *rpc) shows(words string) bool {
	r.t.Helper()
	for range 100 {
		if b, _ := json.Marshal(r.seen); strings.Contains(string(b), words) {
			return true
		}
		time.Sleep(100 * time.Millisecond)
		r.do(map[string]any{"type": "get_state"}, "")
	}
	return false
}

// What a person does inside pi is shown, and a
// hook answers a command, a way through the tree, and is told of the rest.
func TestRealInnerEventsOfAPerson(t *testing.T) {
	st := realTestBed(t, "pi")
	heard := hearInnerEvents(t, st)
	nav := writePersonFile(t, st.Base, "nav.js", `export default (pi) => pi.registerCommand("nav", { handler: async (args, ctx) => {
  const first = ctx.sessionManager.getEntries().find((e) => e.type === "message" && e.message.role === "user");
  await ctx.navigateTree(first.id, { summarize: args === "summarize" });
} });`)
	st.SetScript([]model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call(
		"echo one; sleep 1; echo two; sleep 1; echo three")}}, {Say: testbed.LastWords}})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	addSecondModel(t, st)
	r := startRPC(t, st, "-e", nav)
	r.do(map[string]any{"type": "prompt", "message": testbed.MarkedPrompt("Say it")}, "agent_settled")
	said := r.do(map[string]any{"type": "bash", "command": "echo bash-for-real"}, "")
	if b, _ := json.Marshal(said); !strings.Contains(string(b), "bash-by-hook") ||
		strings.Contains(string(b), "bash-for-real") {
		t.Errorf(`user_bash: %s; want "bash-by-hook" in string(b) and no "bash-for-real" in string(b)`, b)
	}
	said = r.do(map[string]any{"type": "bash", "command": "echo throw"}, "")
	if ran, told := said["success"].(bool); ran || !told {
		t.Errorf("a throw did not stop the command: %v", said)
	}
	r.do(map[string]any{"type": "compact"}, "")
	r.do(map[string]any{"type": "set_model", "provider": "scripted", "modelId": "thinking"}, "")
	r.do(map[string]any{"type": "set_thinking_level", "level": "high"}, "")
	r.do(map[string]any{"type": "prompt", "message": "/nav"}, "")
	r.do(map[string]any{"type": "prompt", "message": "/nav summarize"}, "")
	for range 100 {
		if slices.Contains(namesOf(heard()), "session_tree") {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	entries, _ := json.Marshal(r.do(map[string]any{"type": "get_entries"}, ""))
	if !strings.Contains(string(entries), "tree-summary-by-hook") {
		t.Errorf("no summary by the hook: %s", testbed.ClipText(string(entries)))
	}
	names := namesOf(heard())
	if n := count(names, "session_tree"); n != 1 {
		t.Errorf("%d ways through the tree, one was cancelled", n)
	}
	for _, name := range []string{"user_bash", "session_before_tree", "session_tree", "session_compact_failed",
		"model_select", "thinking_level_select", "message_update", "tool_execution_update"} {
		if !slices.Contains(names, name) {
			t.Errorf("%s was not shown; shown: %v", name, names)
		}
	}
	t.Logf("shown: %v", slices.Compact(slices.Sorted(slices.Values(names))))
}

// addSecondModel gives pi another model, one that thinks.
func addSecondModel(t *testing.T, st *testbed.TestBed) {
	t.Helper()
	addModels(t, st, func(providers map[string]map[string]any) {
		models := providers["scripted"]["models"].([]any)
		second := map[string]any{}
		for key, value := range models[0].(map[string]any) {
			second[key] = value
		}
		second["id"], second["name"], second["reasoning"] = "thinking", "thinking", true
		providers["scripted"]["models"] = append(models, second)
	})
}

// addModels changes which models pi has.
func addModels(t *testing.T, st *testbed.TestBed, change func(providers map[string]map[string]any)) {
	t.Helper()
	file := filepath.Join(st.Home, ".pi/agent/models.json")
	var all map[string]map[string]map[string]any
	b, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(b, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	change(all["providers"])
	b, _ = json.Marshal(all)
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func count(list []string, one string) int {
	n := 0
	for _, s := range list {
		if s == one {
			n++
		}
	}
	return n
}

// The compaction samples that pi publishes for its
// hooks and for its extensions, as they are, write the summary in the real pi
// with the model they name, which runs inside pi.
func TestRealSampleCompaction(t *testing.T) {
	cache, err := realagents.CacheDir()
	if err != nil {
		t.Fatal(err)
	}
	for era, sample := range map[string]string{
		"hooks":      filepath.Join(cache, "pi-examples-0.27.9", "package", "examples", "hooks", "custom-compaction.ts"),
		"extensions": "node_modules/@earendil-works/pi-coding-agent/examples/extensions/custom-compaction.ts",
	} {
		t.Run(era, func(t *testing.T) {
			st := realTestBed(t, "pi")
			if !filepath.IsAbs(sample) {
				sample = filepath.Join(st.In.Dir, sample)
			}
			text, err := os.ReadFile(sample)
			if err != nil {
				t.Skipf("the sample is not here (TestRealExamplesLoad fetches it): %v", err)
			}
			writePersonFile(t, st.Dirs.Config, "hooks/sample.ts", string(text))
			st.SetScript([]model.Step{{Say: testbed.LastWords}, {Say: "summary-by-the-model"}})
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			addModels(t, st, func(providers map[string]map[string]any) {
				google := map[string]any{}
				for key, value := range providers["scripted"] {
					google[key] = value
				}
				one := map[string]any{}
				for key, value := range google["models"].([]any)[0].(map[string]any) {
					one[key] = value
				}
				one["id"], one["name"] = "gemini-2.5-flash", "Flash"
				google["models"] = []any{one}
				providers["google"] = google
			})
			r := startRPC(t, st)
			r.do(map[string]any{"type": "prompt", "message": testbed.MarkedPrompt("Say it")}, "agent_settled")
			said := r.do(map[string]any{"type": "compact"}, "")
			entries, _ := json.Marshal(r.do(map[string]any{"type": "get_entries"}, ""))
			asked := ""
			for _, q := range st.Model.Requests(st.Run) {
				if strings.Contains(string(q.Body), "You are a conversation summarizer") {
					asked = q.Model
				}
			}
			if asked != "gemini-2.5-flash" {
				t.Errorf("asked the model %q", asked)
			}
			if !strings.Contains(string(entries), `"fromHook":true`) ||
				!strings.Contains(string(entries), `"type":"compaction"`) {
				t.Errorf("no summary of the hook's: %s\n%v", testbed.ClipText(string(entries)), said)
			}
			checkTSHookErrors(t, st)
		})
	}
}

// A tool that a hook offers is called by the model, and a
// command it offers is typed by the user.
func TestRealOffersInPi(t *testing.T) {
	st := realTestBed(t, "pi")
	writePersonFile(t, st.Dirs.Config, "hooks/offers.ts", `import { Type } from "typebox";
export default function (pi: any) {
  let word = "plain";
  pi.registerCommand("word", { description: "Sets the word", handler: async (args, ctx) => { word = args; ctx.ui.notify("word-is-" + args); } });
  pi.registerTool({
    name: "tell_word", label: "Tell", description: "Tells the word", parameters: Type.Object({ times: Type.Number(), mark: Type.Optional(Type.String()) }),
    async execute(id, params) {
      if (params.mark === "fail") throw new Error("tool-failed-as-told");
      return { content: [{ type: "text", text: ("word:" + word + " ").repeat(params.times) }], details: { id } };
    },
  });
}`)
	st.SetScript([]model.Step{
		{Calls: []model.ToolCall{model.Call("tell_word", map[string]any{"times": 2})}}, {Calls: []model.ToolCall{model.Call("tell_word", map[string]any{"times": 1, "mark": "fail"})}}, {Say: testbed.LastWords},
	})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	r := startRPC(t, st)
	r.do(map[string]any{"type": "prompt", "message": "/word changed"}, "")
	r.do(map[string]any{"type": "prompt", "message": testbed.MarkedPrompt("Tell it")}, "agent_settled")
	for _, words := range []string{"word:changed word:changed", "tool-failed-as-told"} {
		if !st.Model.Saw(st.Run, words) {
			t.Errorf("the model did not see %q", words)
		}
	}
	if !r.shows("word-is-changed") {
		t.Error("the notice was not shown")
	}
}
