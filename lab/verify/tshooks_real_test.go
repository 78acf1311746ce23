package verify

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// realTSHook is a TypeScript hook that refuses, changes what runs and changes
// what came of it, by the words of a command.
const realTSHook = `import type { HookAPI } from "hookmux";
export default function (hooks: HookAPI) {
  hooks.on("tool_call", async (event) => {
    if (event.toolName !== "bash") return;
    if (/ran-denied/.test(event.input.command)) return { block: true, reason: "denied-by-hook" };
    if (/ran-original/.test(event.input.command)) event.input.command = event.input.command.replaceAll("original", "changed");
  });
  hooks.on("tool_result", (event) => {
    const words = event.content.map((part) => (part.type === "text" ? part.text : "")).join("");
    if (words.includes("the-real-result")) return { content: [{ type: "text", text: words.replaceAll("the-real-result", "replaced-by-hook") }] };
  });
}
`

// On real agents a hook in TypeScript stops a tool, changes
// what really runs, and what the model really sees.
func TestRealTSHooks(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "pi"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			writePersonFile(t, st.Dirs.Config, "hooks/gate.ts", realTSHook)
			at := func(command string) model.Step {
				return model.Step{Calls: []model.ToolCall{st.Table.Shell.Call("cd " + st.Project + " && " + command)}}
			}
			st.SetScript([]model.Step{
				at("touch ran-denied"), at("touch ran-original; echo out-original"), at("touch ran-result; echo the-real-result"), {Say: testbed.LastWords},
			})
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			if err := st.RunHeadless(context.Background(), st.AgentCommand(), st.FreeCommand("Run it")); err != nil {
				t.Fatal(err)
			}
			saw := func(words string) bool { return st.Model.Saw(st.Run, words) }
			if st.LeftItsFile("denied") || !saw("denied-by-hook") {
				t.Errorf("deny: ran %v, told %v", st.LeftItsFile("denied"), saw("denied-by-hook"))
			}
			if st.LeftItsFile("original") || !st.LeftItsFile("changed") || !saw("out-changed") {
				t.Errorf("changed input: the original ran %v, the changed ran %v, the model saw it %v",
					st.LeftItsFile("original"), st.LeftItsFile("changed"), saw("out-changed"))
			}
			can := checks.ClaimOf(st.Agent, event.ToolAfter).Output
			if !st.LeftItsFile("result") || saw("replaced-by-hook") != can || can && saw("the-real-result") {
				t.Errorf("changed result: ran %v, %s can carry it %v, the model saw it %v, and the real one %v",
					st.LeftItsFile("result"), name, can, saw("replaced-by-hook"), saw("the-real-result"))
			}
			var list []wire.TSHookInfo
			if err := st.Daemon.CallMethod(wire.MethodTSHooks, wire.TSHooksParams{}, &list); err != nil || len(list) != 1 ||
				!list[0].InForce {
				t.Fatalf("modules: %+v %v; want no error, len(list) == 1 and list[0].InForce", list, err)
			}
			var info struct {
				Runs   int
				Errors []any
				Limits []struct{ Agent, Text string }
			}
			_ = json.Unmarshal(list[0].Info, &info)
			told := false
			for _, l := range info.Limits {
				told = told || l.Agent == name && strings.Contains(l.Text, "a changed result does not reach the model")
			}
			if info.Runs < 5 || len(info.Errors) > 0 || told == can {
				t.Errorf("the load report: %s", list[0].Info)
			}
			t.Logf("%s %s: a changed result reaches the model: %v", name, st.In.Version, can)
		})
	}
}

// What a person's `hookmux run --hook` loads counts
// for that session, and for no other.
func TestRealTSHookOfOneLaunch(t *testing.T) {
	for _, name := range []string{"claude", "codex", "opencode", "gemini", "pi"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			gate := writePersonFile(t, st.Base, "gate.ts", realTSHook)
			st.SetScript([]model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call("cd " + st.Project +
				" && touch ran-denied")}}, {Say: testbed.LastWords}})
			person := terminalPerson(st, agentSocket) // without one, nothing is loaded for a launch
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			plain := st.In.Argv
			st.In.Argv = append([]string{"--hook", gate}, plain...)
			if !st.ByRun() { // its hooks are installed, and count beside the launch's
				program := plain[0]
				if len(plain) > 1 { // node and its script: a person types the agent's name
					program = filepath.Join(st.In.Dir, "node_modules", ".bin", st.Driver.Program)
					st.Env = append(st.Env, "PATH="+filepath.Dir(plain[0])+":"+st.LookupEnv("PATH"))
				}
				st.In.Argv = []string{filepath.Join(st.Bin, "hookmux"), "run", "--hook", gate, program}
			}
			ended := func(ev *event.Event) bool { return ev.Kind == event.TurnEnd && ev.Subagent == nil }
			err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), false),
				func(ctx context.Context, term *testbed.Terminal) error {
					for !st.Watcher.HasPassed(ended) {
						if term.HasEnded(ctx) || !testbed.PauseFor(ctx, 100*time.Millisecond) {
							t.Errorf("the turn did not end; the screen:\n%s", term.KeepScreen())
							break
						}
					}
					return nil
				})
			if err != nil {
				t.Fatal(err)
			}
			if st.LeftItsFile("denied") || !st.Model.Saw(st.Run, "denied-by-hook") {
				t.Errorf("ran %v, told %v", st.LeftItsFile("denied"), st.Model.Saw(st.Run, "denied-by-hook"))
			}
			if asked := person.Asked(); len(asked) != 1 || !strings.Contains(asked[0], "TypeScript hook") {
				t.Errorf("the user was asked about %q, expected one question about the TypeScript hook", asked)
			}
			st.In.Argv = plain
			if err := st.RunHeadless(context.Background(), st.AgentCommand(), st.FreeCommand("Run it")); err != nil {
				t.Fatal(err)
			}
			if !st.LeftItsFile("denied") {
				t.Error("the next session was refused as well")
			}
		})
	}
}
