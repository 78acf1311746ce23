package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/wire"
)

// gateFor returns a hook that refuses commands with a word in them.
func gateFor(word string) string {
	return `import type { HookAPI } from "hookmux";
export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event) => {
    if (event.toolName === "bash" && event.input.command.includes("` + word + `")) return { block: true, reason: "no ` + word + `" };
  });
}
`
}

func (w *daemonFixture) tsHook(name, text string) string {
	w.T.Helper()
	path := filepath.Join(w.Dirs.Config, "hooks", name)
	w.Write(path, text)
	return path
}

func (w *daemonFixture) tsHooks(cwd string) map[string]wire.TSHookInfo {
	w.T.Helper()
	var list []wire.TSHookInfo
	w.MustCall(wire.MethodTSHooks, wire.TSHooksParams{Cwd: cwd}, &list)
	out := map[string]wire.TSHookInfo{}
	for _, m := range list {
		out[m.ID] = m
	}
	return out
}

func TestTSHooksOfTheUsersFolder(t *testing.T) {
	w := newFixture(t)
	w.tsHook("gate.ts", gateFor("prod"))
	w.tsHook("types.d.ts", "export {};")
	w.tsHook(".hidden.ts", "syntax error here(")
	w.Up()
	for _, agent := range []string{"claude", "codex", "grok"} {
		w.MustDeny(daemontest.ToolBefore(agent, "s", w.Base, "ship prod"), "no prod")
		w.MustPass(daemontest.ToolBefore(agent, "s", w.Base, "ship test"))
	}
	// A changed file counts soon, a new one as well, and one taken away ends.
	w.tsHook("gate.ts", gateFor("test"))
	w.soon("the change counts", "ship test", w.Base, true, "no test")
	w.tsHook("more.js", strings.NewReplacer(`import type { HookAPI } from "hookmux";`, "", ": HookAPI",
		"").Replace(gateFor("beta")))
	w.soon("a new file counts", "ship beta", w.Base, true, "no beta")
	if err := os.Remove(filepath.Join(w.Dirs.Config, "hooks", "more.js")); err != nil {
		t.Fatal(err)
	}
	w.soon("a file taken away counts no more", "ship beta", w.Base, false, "")
	w.h.selection.Forget() // the list is read anew, too
	list := w.tsHooks("")
	if len(list) != 1 || !list["ts:gate.ts"].InForce {
		t.Errorf(`listed: %+v; want len(list) == 1 and list["ts:gate.ts"].InForce`, list)
	}
	var info struct {
		Events []string
		Runs   int
	}
	_ = json.Unmarshal(list["ts:gate.ts"].Info, &info)
	if info.Runs == 0 || len(info.Events) != 1 || info.Events[0] != "tool_call" {
		t.Errorf("info: %s", list["ts:gate.ts"].Info)
	}
}

func TestATSHookThatDoesNotLoadRefuses(t *testing.T) {
	w := newFixture(t)
	path := w.tsHook("gate.ts", strings.Replace(gateFor("prod"), "{ block: true", "{ block: ", 1))
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ls"), "gate.ts")
	w.MustPass(daemontest.SessionEvent("claude", "Stop", nil))
	p, ok := w.Problem("ts:" + path)
	if !ok || !strings.Contains(p.What, "gate.ts:4:") {
		t.Errorf(`problem: %+v; want ok and "gate.ts:4:" in p.What`, p)
	}
	if m := w.tsHooks("")["ts:gate.ts"]; m.InForce || !strings.Contains(string(m.Info), "gate.ts:4:") {
		t.Errorf(`listed: %+v %s; want !m.InForce and "gate.ts:4:" in string(m.Info)`, m, m.Info)
	}
	w.tsHook("gate.ts", gateFor("prod"))
	w.soon("the corrected file counts", "ls", w.Base, false, "")
	if p, ok := w.Problem("ts:" + path); ok {
		t.Errorf("still a problem: %+v", p)
	}
}

func TestATSHookThatThrowsRefusesAndIsReportedOnce(t *testing.T) {
	w := newFixture(t)
	path := w.tsHook("gate.ts", `export default function (hooks) {
  hooks.on("tool_call", (event) => {
    if (event.input.command === "boom") throw new Error("it broke");
  });
}
`)
	w.Up()
	for range 3 {
		w.MustDeny(daemontest.ToolBefore("codex", "s", w.Base, "boom"), "it broke")
		w.MustPass(daemontest.ToolBefore("codex", "s", w.Base, "ls"))
	}
	p, ok := w.Problem("ts:" + path)
	if !ok || !strings.Contains(p.What, "gate.ts:3") || !strings.Contains(p.What, "it broke") || p.Count != 1 {
		t.Errorf(`problem: %+v; want ok, "gate.ts:3" in p.What, "it broke" in p.What and p.Count == 1`, p)
	}
	if p, ok := w.Problem("hook:"); ok {
		t.Errorf("told twice: %+v; want !ok", p)
	}
}

func TestProjectTSHooksRunAsTheyWereTrusted(t *testing.T) {
	w := open(t)
	root := filepath.Join(w.Base, "work", "app")
	file := filepath.Join(root, ".hookmux/hooks/gate.ts")
	w.Write(file, strings.Replace(gateFor("prod"), "export default",
		"import { extra } from \"../lib/words\";\nexport default", 1)+"export const seen = extra;\n")
	w.Write(filepath.Join(root, ".hookmux/lib/words.ts"), "export const extra: string = 'x';\n")
	w.MustPass(daemontest.ToolBefore("claude", "s", root, "ship prod"))
	if m := w.tsHooks(root)["ts:.hookmux/hooks/gate.ts"]; m.InForce || !strings.Contains(m.Why, "not trusted") {
		t.Errorf(`listed: %+v; want !m.InForce and "not trusted" in m.Why`, m)
	}
	var view wire.TrustView
	w.MustCall(wire.MethodTrustLook, wire.TrustParams{Cwd: root}, &view)
	if !strings.Contains(strings.Join(view.Runs, "\n"), ".hookmux/hooks/gate.ts") {
		t.Errorf("a person is not shown what runs: %+v", view)
	}
	w.trust(root)
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "ship prod"), "no prod")
	w.MustPass(daemontest.ToolBefore("claude", "elsewhere", w.Base, "ship prod"))
	// A change does not count before it is trusted; the copy goes on.
	w.Write(file, gateFor("test"))
	w.soon("the trusted copy counts", "ship prod", root, true, "no prod")
	w.MustPass(daemontest.ToolBefore("claude", "s", root, "ship test"))
	w.trust(root)
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "ship test"), "no test")
	w.MustPass(daemontest.ToolBefore("claude", "s", root, "ship prod"))
	w.MustCall(wire.MethodUntrust, wire.TrustParams{Cwd: root}, nil)
	w.MustPass(daemontest.ToolBefore("claude", "s", root, "ship test"))
	for id, m := range w.tsHooks(root) {
		if m.InForce || !strings.Contains(m.Why, "not trusted") {
			t.Errorf(`%s still runs: %+v; want !m.InForce and "not trusted" in m.Why`, id, m)
		}
	}
}

func TestRegisteredTSHooks(t *testing.T) {
	w := open(t)
	w.Write(w.Base+"/my/gate.ts", gateFor("prod"))
	add := func(reg string, scope, cwd string) (result wire.HooksEditResult) {
		t.Helper()
		w.MustCall(wire.MethodHooksAdd, wire.HooksEditParams{Registration: json.RawMessage(reg), Scope: scope,
			Cwd: cwd}, &result)
		return result
	}
	got := add(`{"id":"g","agent":"codex","hookType":"tool.before","handler":"typescript","target":"./gate.ts"}`,
		registry.Global, w.Base+"/my")
	if !strings.Contains(string(got.Registration), `"target":"`+w.Base+`/my/gate.ts"`) {
		t.Errorf("registered: %s; want `\"target\":\"`+w.Base+`/my/gate.ts\"` in string(got.Registration)",
			got.Registration)
	}
	w.MustDeny(daemontest.ToolBefore("codex", "s", w.Base, "ship prod"), "no prod")
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"))
	w.MustCall(wire.MethodHooksDrop, wire.HooksEditParams{Scope: registry.Global, ID: "g"}, nil)
	w.MustPass(daemontest.ToolBefore("codex", "s", w.Base, "ship prod"))

	root := w.project("app")
	w.Write(root+"/tools/gate.ts", gateFor("beta"))
	w.trust(root)
	got = add(`{"id":"all","agent":"*","hookType":"*","handler":"typescript","target":"./gate.ts"}`, registry.Project,
		root+"/tools")
	if !strings.Contains(string(got.Registration), `"target":"./tools/gate.ts"`) || len(got.Notes) > 0 {
		t.Errorf("registered: %s %v; want `\"target\":\"./tools/gate.ts\"` in string(got.Registration) and "+
			"len(got.Notes) <= 0", got.Registration, got.Notes)
	}
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "ship beta"), "no beta")
	w.Write(root+"/tools/gate.ts", gateFor("nothing"))
	w.soon("the trusted copy counts", "ship beta", root, true, "no beta")

	err := w.Call(wire.MethodHooksAdd, wire.HooksEditParams{Registration: json.RawMessage(
		`{"id":"x","agent":"*","hookType":"*","handler":"typescript","target":"gate.py"}`), Scope: registry.Global,
		Cwd: w.Base}, nil)
	if err == nil || !strings.Contains(err.Error(), "no TypeScript or JavaScript file") {
		t.Errorf("a Python file was taken: %v", err)
	}
}

func TestTSHooksOfSettings(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Home+"/gate.ts", gateFor("prod"))
	w.Write(w.Dirs.Config+"/config.json", `{"modules": ["~/gate.ts", "relative.ts"], "hookTimeout": 5000}`)
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"), "no prod")
	// An agent cannot rewrite its own guard.
	w.Eventually("the file is guarded", func() bool {
		got := w.Send(daemontest.ToolBefore("claude", "s", w.Base, "cp /dev/null "+w.Dirs.Home+"/gate.ts"))
		return daemontest.Denies(got) && strings.Contains(string(got.Stdout), "own-files")
	})
	if _, ok := w.Problem("place:modules:relative.ts"); !ok {
		t.Error("a relative path is not reported")
	}
	// What is named by mistake is refused at once; what was named before stays.
	for value, why := range map[string]string{
		`["~/gate.ts", "relative.ts"]`:  "is relative",
		`["~/gate.ts", "~/nofile.ts"]`:  "is not there",
		`["~/gate.ts", "~/.ssh/x.pem"]`: "is no TypeScript or JavaScript file",
	} {
		err := w.Call(wire.MethodConfigSet, wire.ConfigSetParams{Key: config.Modules, Value: json.RawMessage(value)},
			nil)
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: error %v, want an error and %q in err.Error()", value, err, why)
		}
	}
	w.set(config.Modules, "[]")
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"))
}

// A file that stands in the folder and is named, twice at that, is one hook.
func TestATSHookNamedTwiceRunsOnce(t *testing.T) {
	w := newFixture(t)
	seen := filepath.Join(w.Base, "seen")
	w.tsHook("once.ts", `import { appendFileSync } from "node:fs";
export default (hooks) => hooks.on("tool_call", (event) => { if (event.input.command === "count") appendFileSync("`+seen+`", "x"); });
`)
	file := w.Dirs.Config + "/hooks/once.ts"
	w.Write(w.Dirs.Config+"/config.json", `{"modules": ["`+file+`", "`+file+`", "`+w.Dirs.Config+`/hooks/../hooks/once.ts"]}`)
	w.Up()
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "count"))
	if b, err := os.ReadFile(seen); string(b) != "x" {
		t.Errorf("it ran %d times, error %v; want once", len(b), err)
	}
}

// A daemon that stops while a hook thinks gives no answer: the client asks the next
// daemon, which asks the hook again.
func TestAHookThatThinksIsAskedByTheNextDaemon(t *testing.T) {
	w := newFixture(t)
	begun := filepath.Join(w.Base, "begun")
	w.tsHook("slow.ts", `import { writeFileSync } from "node:fs";
export default (hooks) => hooks.on("tool_call", async (event, ctx) => {
  if (event.input.command !== "think") return;
  writeFileSync("`+begun+`", "");
  await Promise.race([hooks.exec("sleep", ["30"]), new Promise((go) => ctx.signal.addEventListener("abort", go))]);
});
`)
	w.Up()
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "ls"))
	call := w.startCall(daemontest.ToolBefore("claude", "s", w.Base, "think"))
	w.Eventually("it thinks", func() bool { _, err := os.Stat(begun); return err == nil })
	w.Down()
	if got, ok := call.answer(); ok {
		t.Errorf("answered %q by a daemon that stops", got)
	}
	w.tsHook("slow.ts", gateFor("think"))
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "think"), "no think")
}

// A registration keeps its file when something else of it is changed.
func TestATSHooksTargetStays(t *testing.T) {
	w := open(t)
	root := filepath.Join(w.Base, "work", "app")
	w.Write(filepath.Join(root, "gate.ts"), gateFor("prod"))
	w.Write(filepath.Join(root, "sub", "x"), "")
	w.Write(filepath.Join(root, ".hookmux", "hooks.json"), `{"hooks": []}`)
	edit := wire.HooksEditParams{Scope: registry.Project, Cwd: root,
		Registration: json.RawMessage(`{"id":"g","agent":"*","hookType":"*","handler":"typescript","target":"./nofile.ts"}`)}
	if err := w.Call(wire.MethodHooksAdd, edit, nil); err == nil || !strings.Contains(err.Error(), "is not there") {
		t.Errorf("a file that is not there was taken: %v", err)
	}
	edit.Registration = json.RawMessage(`{"id":"g","agent":"*","hookType":"*","handler":"typescript","target":"./gate.ts"}`)
	w.MustCall(wire.MethodHooksAdd, edit, nil)
	w.MustCall(wire.MethodHooksSet, wire.HooksEditParams{Scope: registry.Project, Cwd: filepath.Join(root, "sub"),
		ID: "g", Patch: json.RawMessage(`{"priority":7}`)}, nil)
	if b, _ := os.ReadFile(filepath.Join(root, ".hookmux", "hooks.json")); !strings.Contains(string(b),
		`"./gate.ts"`) || !strings.Contains(string(b), "7") {
		t.Errorf(`b = %s, want "./gate.ts" in it and "7" in it`, b)
	}
}

func TestTSHooksOfOneLaunch(t *testing.T) {
	w := open(t)
	file := w.Base + "/gate.ts"
	w.Write(file, gateFor("prod"))
	w.Write(w.Base+"/bad.ts", "export default (")
	if err := w.Call(wire.MethodTSHookRun, wire.TSHookRunParams{Files: []string{w.Base + "/bad.ts"}},
		nil); err == nil || !strings.Contains(err.Error(), "bad.ts:1") {
		t.Errorf("a file that does not load was taken: %v", err)
	}
	// The process that asks becomes the agent: same pid, same start.
	asks := proctest.Node{PID: os.Getpid(), Name: "claude", Program: "/opt/claude/bin/claude", Start: 7777}
	w.SetProcesses(daemontest.AtTerminal(proctest.Node{PID: os.Getpid(), Name: "hookmux", Program: "/usr/bin/hookmux",
		Start: 7777}))
	w.MustCall(wire.MethodTSHookRun, wire.TSHookRunParams{Files: []string{file}}, nil)
	w.SetProcesses(daemontest.AtTerminal(asks))
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"), "no prod")
	// It counts for the next daemon, too, and for nobody else.
	w.Down()
	w.Up()
	w.SetProcesses(daemontest.AtTerminal(asks))
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"), "no prod")
	other := asks
	other.Start = 9999
	w.SetProcesses(daemontest.AtTerminal(other))
	w.Eventually("it ends with its process", func() bool {
		_, err := os.Stat(filepath.Join(w.Dirs.State, "runs.json"))
		return os.IsNotExist(err)
	})
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "ship prod"))
	// An agent cannot load hooks.
	w.SetProcesses(daemontest.BelowAgent("claude"))
	if err := w.Call(wire.MethodTSHookRun, wire.TSHookRunParams{Files: []string{file}}, nil); err == nil {
		t.Error("an agent loaded a hook")
	}
}

func TestTSHooksAskInTheInbox(t *testing.T) {
	w := newFixture(t)
	w.tsHook("gate.ts", `export default function (hooks) {
  hooks.on("tool_call", async (event, ctx) => {
    if (!ctx.hasUI) return { block: true, reason: "nobody there" };
    if (!(await ctx.ui.confirm("Delete?", event.input.command))) return { block: true, reason: "Blocked by user" };
  });
}
`)
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "drop it"), "nobody there")
	w.watchInbox()
	for answer, denied := range map[string]bool{"yes": false, "no": true} {
		call := w.startCall(daemontest.ToolBefore("claude", "s", w.Base, "drop it"))
		item := w.waiting()
		b, _ := json.Marshal(item)
		if !strings.Contains(string(b), "Delete?") || !strings.Contains(string(b), "drop it") {
			t.Errorf("the user sees %s", b)
		}
		var p wire.InboxReplyParams
		_ = json.Unmarshal([]byte(`{"id":"`+item.ID+`","choice":"answer","answers":[{"options":["`+answer+`"]}]}`), &p)
		if r := w.say(p); r.Outcome != "delivered" {
			t.Errorf(`%s: r = %+v, want r.Outcome = "delivered"`, answer, r)
		}
		if got, _ := call.answer(); strings.Contains(got, "Blocked by user") != denied || !denied && got != "" {
			t.Errorf(`%s: answered %q; want strings.Contains(got, "Blocked by user") == denied and denied or `+
				`got == ""`, answer, got)
		}
	}
}

func TestTSHooksSendAndAreJournalled(t *testing.T) {
	w := newFixture(t)
	w.tsHook("talk.ts", `import { writeFileSync } from "node:fs";
export default function (hooks) {
  hooks.on("agent_end", async (event, ctx) => {
    writeFileSync("`+w.Base+`/note.txt", "done");
    await hooks.sendMessage({ customType: "x", content: "the tests are red", display: true });
  });
}
`)
	w.Up()
	w.Send(daemontest.SessionEvent("claude", "Stop", nil))
	w.Eventually("a later event brings what was sent", func() bool {
		got := w.Send(daemontest.SessionEvent("claude", "UserPromptSubmit", map[string]any{"prompt": "go on"}))
		return strings.Contains(string(got.Stdout), "the tests are red")
	})
	w.MustPass(daemontest.SessionEvent("claude", "UserPromptSubmit", map[string]any{"prompt": "go on"}))
	w.Eventually("the write is in the journal", func() bool {
		for _, r := range w.Rows() {
			if r.Agent == "hookmux" && r.Native == "hook" && strings.Contains(string(r.Raw), `"action":"write"`) &&
				strings.Contains(string(r.Raw), "note.txt") {
				return true
			}
		}
		return false
	})
}

func TestNoTSHookIsInTheWayOfOtherEvents(t *testing.T) {
	w := newFixture(t)
	w.tsHook("notice.ts", `export default function (hooks) { hooks.on("tool_result", () => {}); }`)
	w.Up()
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "ls"))
	entries, _, _ := w.h.selection.ForEvent(&event.Event{Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore},
		nil)
	for _, e := range entries {
		if e.Handler == "typescript" && e.HookType == "tool.before" {
			t.Errorf("the file is asked about calls it does not listen to: %+v", e.Registration)
		}
	}
}

// A file that takes its time to load is waited for by
// the event; going by what was seen before would leave a guard out, and ask one
// that is gone.
func TestSlowFilesCountAtOnce(t *testing.T) {
	w := newFixture(t)
	w.tsHook("before.ts", `export default (hooks) => hooks.on("tool_call", () => ({ block: true, reason: "before" }));`)
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ls"), "before")
	if err := os.Remove(filepath.Join(w.Dirs.Config, "hooks", "before.ts")); err != nil {
		t.Fatal(err)
	}
	w.tsHook("slow.ts", `const end = Date.now() + 500; while (Date.now() < end);
export default (hooks) => hooks.on("tool_call", () => ({ block: true, reason: "slow" }));`)
	w.h.selection.Forget() // files are looked at again
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "ls"), "slow")
}

// A person sees how long a dialog really waits.
func TestDialogsTellTheirTime(t *testing.T) {
	w := newFixture(t)
	w.tsHook("gate.ts", `export default (hooks) => hooks.on("tool_call", async (event, ctx) => ({ block: !(await ctx.ui.confirm("Sure?", "x")), reason: "no" }));`)
	w.Up()
	w.watchInbox()
	request := daemontest.ToolBefore("claude", "s", w.Base, "ls")
	request.Deadline = 30 * time.Second
	began := time.Now()
	call := w.startCall(request)
	if item := w.waiting(); item.Deadline.After(began.Add(request.Deadline)) {
		t.Errorf("it says %s, and the agent waits %s", item.Deadline.Sub(began), request.Deadline)
	} else if r := w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny"}); r.Outcome != "delivered" {
		t.Errorf(`r = %+v, want r.Outcome = "delivered"`, r)
	}
	if got, _ := call.answer(); !strings.Contains(got, "no") {
		t.Errorf(`answered %q; want "no" in got`, got)
	}
}
