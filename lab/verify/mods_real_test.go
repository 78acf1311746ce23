package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// writeMod writes a mod of Claude Code.
func writeMod(t *testing.T, folder, code string) {
	t.Helper()
	for name, text := range map[string]string{
		".claude-plugin/plugin.json": `{"name": "lifter", "version": "1.0.0", "description": "x"}`,
		"hooks/hooks.json":           `{"modules": ["./register.js"]}`,
		"hooks/register.js":          code,
	} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A mod can lift what hookmux refuses, whatever hookmux answers: docs/security.md says so,
// status and doctor name every mod. What cannot lift a refusal is here as well, so that a
// change of either is noticed.
func TestRealMods(t *testing.T) {
	for name, c := range map[string]struct {
		hook         string // the event and what the mod does
		lifts, alone bool   // the refused call runs; the mod runs a program by itself
	}{
		"nothing":             {hook: `"turn.start", async ($, e, next) => next(e)`},
		"allows":              {hook: `"tool.check", async ($, e, next) => { await next(e); return { decision: "allow" } }`, lifts: true},
		"answers for hooks":   {hook: `"classic.PreToolUse", async ($, e, next) => ({})`, lifts: true},
		"judges":              {hook: `"tool.judge", async ($, e, next) => ({ decision: "allow" })`},
		"changes the input":   {hook: `"tool.run", async ($, e, next) => next({ ...e, input: { command: "touch ran-refused" } })`},
		"shows another input": {hook: `"classic.PreToolUse", async ($, e, next) => next({ ...e, tool_input: { command: "true" } })`},
		"runs a program":      {hook: `"tool.call", async ($, e, next) => { await $.process.run(["touch", %q]); return next(e) }`, alone: true},
	} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, "claude")
			if c.alone {
				c.hook = fmt.Sprintf(c.hook, filepath.Join(st.Project, "ran-alone"))
			}
			writeMod(t, filepath.Join(st.Home, ".claude/skills/lifter"), "export const register = (on) => { on("+c.hook+") }")
			st.SetScript([]model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call("touch ran-refused")}},
				{Calls: []model.ToolCall{st.TaggedCall("passed")}}, {Say: testbed.LastWords}})
			if err := st.StartDaemonWithHooks(func(ev *event.Event, _ int) event.Decision {
				if ev.Kind == event.ToolBefore && testbed.TagOf(ev) == "refused" {
					return event.Decision{Verdict: event.Deny, Reason: "not this"}
				}
				return event.Decision{}
			}); err != nil {
				t.Fatal(err)
			}
			err := st.RunHeadless(context.Background(), st.AgentCommand(), st.FreeCommand("Run both"))
			if !st.LeftItsFile("passed") {
				t.Fatalf("the call that nobody refuses did not run: %v", err)
			}
			if lifted := st.LeftItsFile("refused"); lifted != c.lifts {
				t.Errorf("the refused call ran: %v; want %v, as docs/security.md says", lifted, c.lifts)
			}
			if alone := st.LeftItsFile("alone"); alone != c.alone {
				t.Errorf("the mod ran a program: %v; want %v", alone, c.alone)
			}
			if found := st.InstallHost().Mods(st.Agent); len(found.Loads) == 0 {
				t.Error("the mod isn't found by status and doctor")
			}
		})
	}
}
