package hub

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/config"
	"github.com/hookmux/hookmux/internal/proc/proctest"
	"github.com/hookmux/hookmux/internal/registry"
	"github.com/hookmux/hookmux/internal/wire"
)

// gateFor is a hook that refuses commands with a word in them.
func gateFor(word string) string {
	return `import type { HookAPI } from "hookmux";
export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event) => {
    if (event.toolName === "bash" && event.input.command.includes("` + word + `")) return { block: true, reason: "no ` + word + `" };
  });
}
`
}

func (w *house) module(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dirs.Config, "hooks", name)
	w.write(path, text)
	return path
}

func (w *house) modules(cwd string) map[string]wire.ModuleInfo {
	w.t.Helper()
	var list []wire.ModuleInfo
	w.mustCall(wire.MethodModules, wire.ModulesParams{Cwd: cwd}, &list)
	out := map[string]wire.ModuleInfo{}
	for _, m := range list {
		out[m.ID] = m
	}
	return out
}

func TestModulesOfTheUsersFolder(t *testing.T) {
	w := newHouse(t)
	w.module("gate.ts", gateFor("prod"))
	w.module("types.d.ts", "export {};")
	w.module(".hidden.ts", "syntax error here(")
	w.up()
	for _, agent := range []string{"claude", "codex", "grok"} {
		w.mustDeny(before(agent, "s", w.base, "ship prod"), "no prod")
		w.mustPass(before(agent, "s", w.base, "ship test"))
	}
	// A changed file counts soon, a new one as well, and one taken away ends.
	w.module("gate.ts", gateFor("test"))
	w.soon("the change counts", "ship test", "s", w.base, true, "no test")
	w.module("more.js", strings.NewReplacer(`import type { HookAPI } from "hookmux";`, "", ": HookAPI", "").Replace(gateFor("beta")))
	w.soon("a new file counts", "ship beta", "s", w.base, true, "no beta")
	if err := os.Remove(filepath.Join(w.dirs.Config, "hooks", "more.js")); err != nil {
		t.Fatal(err)
	}
	w.soon("a file taken away counts no more", "ship beta", "s", w.base, false, "")
	list := w.modules("")
	if len(list) != 1 || !list["module:gate.ts"].InForce {
		t.Errorf("listed: %+v", list)
	}
	var info struct {
		Events []string
		Runs   int
	}
	_ = json.Unmarshal(list["module:gate.ts"].Info, &info)
	if info.Runs == 0 || len(info.Events) != 1 || info.Events[0] != "tool_call" {
		t.Errorf("info: %s", list["module:gate.ts"].Info)
	}
}

func TestAModuleThatDoesNotLoadRefuses(t *testing.T) {
	w := newHouse(t)
	path := w.module("gate.ts", strings.Replace(gateFor("prod"), "{ block: true", "{ block: ", 1))
	w.up()
	w.mustDeny(before("claude", "s", w.base, "ls"), "gate.ts")
	w.mustPass(said("claude", "Stop", nil))
	p, ok := w.problem("module:" + path)
	if !ok || !strings.Contains(p.What, "gate.ts:4:") {
		t.Errorf("problem: %+v", p)
	}
	if m := w.modules("")["module:gate.ts"]; m.InForce || !strings.Contains(string(m.Info), "gate.ts:4:") {
		t.Errorf("listed: %+v %s", m, m.Info)
	}
	w.module("gate.ts", gateFor("prod"))
	w.soon("the corrected file counts", "ls", "s", w.base, false, "")
	if p, ok := w.problem("module:" + path); ok {
		t.Errorf("still a problem: %+v", p)
	}
}

func TestAModuleThatThrowsRefusesAndIsReportedOnce(t *testing.T) {
	w := newHouse(t)
	path := w.module("gate.ts", `export default function (hooks) {
  hooks.on("tool_call", (event) => {
    if (event.input.command === "boom") throw new Error("it broke");
  });
}
`)
	w.up()
	for range 3 {
		w.mustDeny(before("codex", "s", w.base, "boom"), "it broke")
		w.mustPass(before("codex", "s", w.base, "ls"))
	}
	p, ok := w.problem("module:" + path)
	if !ok || !strings.Contains(p.What, "gate.ts:3") || !strings.Contains(p.What, "it broke") || p.Count != 1 {
		t.Errorf("problem: %+v", p)
	}
	if p, ok := w.problem("hook:"); ok {
		t.Errorf("told twice: %+v", p)
	}
}

func TestProjectModulesRunAsTheyWereTrusted(t *testing.T) {
	w := open(t)
	root := filepath.Join(w.base, "work", "app")
	file := filepath.Join(root, ".hookmux/hooks/gate.ts")
	w.write(file, strings.Replace(gateFor("prod"), "export default", "import { extra } from \"../lib/words\";\nexport default", 1)+"export const seen = extra;\n")
	w.write(filepath.Join(root, ".hookmux/lib/words.ts"), "export const extra: string = 'x';\n")
	w.mustPass(before("claude", "s", root, "ship prod"))
	if m := w.modules(root)["module:.hookmux/hooks/gate.ts"]; m.InForce || !strings.Contains(m.Why, "not trusted") {
		t.Errorf("listed: %+v", m)
	}
	var view wire.TrustView
	w.mustCall(wire.MethodTrustLook, wire.TrustParams{Cwd: root}, &view)
	if !strings.Contains(strings.Join(view.Runs, "\n"), ".hookmux/hooks/gate.ts") {
		t.Errorf("a person is not shown what runs: %+v", view)
	}
	w.trust(root)
	w.mustDeny(before("claude", "s", root, "ship prod"), "no prod")
	w.mustPass(before("claude", "elsewhere", w.base, "ship prod"))
	// A change does not count before it is trusted; the copy goes on.
	w.write(file, gateFor("test"))
	w.soon("the trusted copy counts", "ship prod", "s", root, true, "no prod")
	w.mustPass(before("claude", "s", root, "ship test"))
	w.trust(root)
	w.mustDeny(before("claude", "s", root, "ship test"), "no test")
	w.mustPass(before("claude", "s", root, "ship prod"))
	w.mustCall(wire.MethodUntrust, wire.TrustParams{Cwd: root}, nil)
	w.mustPass(before("claude", "s", root, "ship test"))
	if n := len(w.h.modules.all()); n != 0 {
		t.Errorf("%d files still run", n)
	}
}

func TestRegisteredModules(t *testing.T) {
	w := open(t)
	w.write(w.base+"/my/gate.ts", gateFor("prod"))
	add := func(reg string, scope, cwd string) (result wire.HooksEditResult) {
		t.Helper()
		w.mustCall(wire.MethodHooksAdd, wire.HooksEditParams{Registration: json.RawMessage(reg), Scope: scope, Cwd: cwd}, &result)
		return result
	}
	got := add(`{"id":"g","agent":"codex","hookType":"tool.before","handler":"module","target":"./gate.ts"}`, registry.Global, w.base+"/my")
	if !strings.Contains(string(got.Registration), `"target":"`+w.base+`/my/gate.ts"`) {
		t.Errorf("registered: %s", got.Registration)
	}
	w.mustDeny(before("codex", "s", w.base, "ship prod"), "no prod")
	w.mustPass(before("claude", "s", w.base, "ship prod"))
	w.mustCall(wire.MethodHooksDrop, wire.HooksEditParams{Scope: registry.Global, ID: "g"}, nil)
	w.mustPass(before("codex", "s", w.base, "ship prod"))

	root := w.project("app")
	w.write(root+"/tools/gate.ts", gateFor("beta"))
	w.trust(root)
	got = add(`{"id":"all","agent":"*","hookType":"*","handler":"module","target":"./gate.ts"}`, registry.Project, root+"/tools")
	if !strings.Contains(string(got.Registration), `"target":"./tools/gate.ts"`) || len(got.Notes) > 0 {
		t.Errorf("registered: %s %v", got.Registration, got.Notes)
	}
	w.mustDeny(before("claude", "s", root, "ship beta"), "no beta")
	w.write(root+"/tools/gate.ts", gateFor("nothing"))
	w.soon("the trusted copy counts", "ship beta", "s", root, true, "no beta")

	err := w.call(wire.MethodHooksAdd, wire.HooksEditParams{Registration: json.RawMessage(`{"id":"x","agent":"*","hookType":"*","handler":"module","target":"gate.py"}`), Scope: registry.Global, Cwd: w.base}, nil)
	if err == nil || !strings.Contains(err.Error(), "no TypeScript or JavaScript file") {
		t.Errorf("a Python file was taken: %v", err)
	}
}

func TestModulesOfSettings(t *testing.T) {
	w := newHouse(t)
	w.write(w.dirs.Home+"/gate.ts", gateFor("prod"))
	w.write(w.dirs.Config+"/config.json", `{"modules": ["~/gate.ts", "relative.ts"], "hookTimeout": 5000}`)
	w.up()
	w.mustDeny(before("claude", "s", w.base, "ship prod"), "no prod")
	// An agent cannot rewrite its own guard.
	w.eventually("the file is guarded", func() bool {
		got := w.ask(before("claude", "s", w.base, "cp /dev/null "+w.dirs.Home+"/gate.ts"))
		return denies(got) && strings.Contains(string(got.Stdout), "own-files")
	})
	if _, ok := w.problem("place:modules:relative.ts"); !ok {
		t.Error("a relative path is not reported")
	}
	w.set(config.Modules, "[]")
	w.mustPass(before("claude", "s", w.base, "ship prod"))
}

func TestModulesOfOneLaunch(t *testing.T) {
	w := open(t)
	file := w.base + "/gate.ts"
	w.write(file, gateFor("prod"))
	w.write(w.base+"/bad.ts", "export default (")
	if err := w.call(wire.MethodModuleRun, wire.ModuleRunParams{Files: []string{w.base + "/bad.ts"}}, nil); err == nil || !strings.Contains(err.Error(), "bad.ts:1") {
		t.Errorf("a file that does not load was taken: %v", err)
	}
	// The process that asks becomes the agent: same pid, same start.
	asks := proctest.Node{PID: os.Getpid(), Name: "claude", Program: "/opt/claude/bin/claude", Start: 7777}
	w.stand(atTerminal(proctest.Node{PID: os.Getpid(), Name: "hookmux", Program: "/usr/bin/hookmux", Start: 7777}))
	w.mustCall(wire.MethodModuleRun, wire.ModuleRunParams{Files: []string{file}}, nil)
	w.stand(atTerminal(asks))
	w.mustDeny(before("claude", "s", w.base, "ship prod"), "no prod")
	// It counts for the next hub, too, and for nobody else.
	w.down()
	w.up()
	w.stand(atTerminal(asks))
	w.mustDeny(before("claude", "s", w.base, "ship prod"), "no prod")
	other := asks
	other.Start = 9999
	w.stand(atTerminal(other))
	w.eventually("it ends with its process", func() bool { return w.h.modules.runs.count.Load() == 0 })
	w.mustPass(before("claude", "s", w.base, "ship prod"))
	// An agent cannot load hooks.
	w.stand(belowAgent("claude"))
	if err := w.call(wire.MethodModuleRun, wire.ModuleRunParams{Files: []string{file}}, nil); err == nil {
		t.Error("an agent loaded a hook")
	}
}

func TestModulesAskInTheFeed(t *testing.T) {
	w := newHouse(t)
	w.module("gate.ts", `export default function (hooks) {
  hooks.on("tool_call", async (event, ctx) => {
    if (!ctx.hasUI) return { block: true, reason: "nobody there" };
    if (!(await ctx.ui.confirm("Delete?", event.input.command))) return { block: true, reason: "Blocked by user" };
  });
}
`)
	w.up()
	w.mustDeny(before("claude", "s", w.base, "drop it"), "nobody there")
	w.watchFeed()
	for answer, denied := range map[string]bool{"yes": false, "no": true} {
		call := w.hold(before("claude", "s", w.base, "drop it"))
		item := w.waiting()
		b, _ := json.Marshal(item)
		if !strings.Contains(string(b), "Delete?") || !strings.Contains(string(b), "drop it") {
			t.Errorf("the person sees %s", b)
		}
		var p wire.FeedReplyParams
		_ = json.Unmarshal([]byte(`{"id":"`+item.ID+`","choice":"answer","answers":[{"options":["`+answer+`"]}]}`), &p)
		if r := w.say(p); r.Outcome != "delivered" {
			t.Errorf("%s: %+v", answer, r)
		}
		if got, _ := call.answer(); strings.Contains(got, "Blocked by user") != denied || !denied && got != "" {
			t.Errorf("%s: answered %q", answer, got)
		}
	}
}

func TestModulesSendAndAreJournalled(t *testing.T) {
	w := newHouse(t)
	w.module("talk.ts", `import { writeFileSync } from "node:fs";
export default function (hooks) {
  hooks.on("agent_end", async (event, ctx) => {
    writeFileSync("`+w.base+`/note.txt", "done");
    await hooks.sendMessage({ customType: "x", content: "the tests are red", display: true });
  });
}
`)
	w.up()
	w.ask(said("claude", "Stop", nil))
	w.eventually("what was sent waits", func() bool {
		_, ok := w.h.modules.queued.Load(sessionKey{"claude", "s1"})
		return ok
	})
	got := w.ask(said("claude", "UserPromptSubmit", map[string]any{"prompt": "go on"}))
	if !strings.Contains(string(got.Stdout), "the tests are red") {
		t.Errorf("the next event was answered %q", got.Stdout)
	}
	w.mustPass(said("claude", "UserPromptSubmit", map[string]any{"prompt": "go on"}))
	w.eventually("the write is in the journal", func() bool {
		for _, r := range w.rows() {
			if r.Agent == "hookmux" && r.Native == "module" && strings.Contains(string(r.Raw), `"action":"write"`) && strings.Contains(string(r.Raw), "note.txt") {
				return true
			}
		}
		return false
	})
}

func TestNoModuleIsInTheWayOfOtherEvents(t *testing.T) {
	w := newHouse(t)
	w.module("notice.ts", `export default function (hooks) { hooks.on("tool_result", () => {}); }`)
	w.up()
	w.mustPass(before("claude", "s", w.base, "ls"))
	for _, e := range w.h.rules.view(places{}).entries {
		if e.Handler == "module" && e.HookType == "tool.before" {
			t.Errorf("the file is asked about calls it does not listen to: %+v", e.Registration)
		}
	}
}

// TestSlowFilesCountAtOnce: a file that takes its time to load is waited for by
// the event; going by what was seen before would leave a guard out, and ask one
// that is gone.
func TestSlowFilesCountAtOnce(t *testing.T) {
	w := newHouse(t)
	w.module("before.ts", `export default (hooks) => hooks.on("tool_call", () => ({ block: true, reason: "before" }));`)
	w.up()
	w.mustDeny(before("claude", "s", w.base, "ls"), "before")
	if err := os.Remove(filepath.Join(w.dirs.Config, "hooks", "before.ts")); err != nil {
		t.Fatal(err)
	}
	w.module("slow.ts", `const end = Date.now() + 500; while (Date.now() < end);
export default (hooks) => hooks.on("tool_call", () => ({ block: true, reason: "slow" }));`)
	time.Sleep(2 * lookAgain)
	w.mustDeny(before("claude", "s", w.base, "ls"), "slow")
}

// TestDialogsTellTheirTime: a person sees how long a dialog really waits.
func TestDialogsTellTheirTime(t *testing.T) {
	w := newHouse(t)
	w.module("gate.ts", `export default (hooks) => hooks.on("tool_call", async (event, ctx) => ({ block: !(await ctx.ui.confirm("Sure?", "x")), reason: "no" }));`)
	w.up()
	w.watchFeed()
	request := before("claude", "s", w.base, "ls")
	request.Deadline = 30 * time.Second
	began := time.Now()
	call := w.hold(request)
	if item := w.waiting(); item.Deadline.After(began.Add(request.Deadline)) {
		t.Errorf("it says %s, and the agent waits %s", item.Deadline.Sub(began), request.Deadline)
	} else if r := w.say(wire.FeedReplyParams{ID: item.ID, Choice: "deny"}); r.Outcome != "delivered" {
		t.Errorf("%+v", r)
	}
	if got, _ := call.answer(); !strings.Contains(got, "no") {
		t.Errorf("answered %q", got)
	}
}
