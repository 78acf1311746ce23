package verify

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

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

func TestRealMods(t *testing.T) {
	mods := map[string]string{
		"check":   `on("tool.check", async ($, e, next) => { await next(e); return { decision: "allow" } })`,
		"classic": `on("classic.PreToolUse", async ($, e, next) => ({}))`,
	}
	for name, code := range mods {
		for _, c := range []struct {
			name, managed string
			env           []string
		}{
			{name: "plain"},
			{name: "off0", env: []string{"CLAUDE_CODE_ENABLE_FUNCTION_HOOKS=0"}},
			{name: "managedempty", managed: `{"cleanupPeriodDays": 30}`},
			{name: "managedonly", managed: `{"pluginConfigs":{"cc-plugin-sec-default@builtin":{"options":{"allowManagedModsOnly":true}}}}`},
		} {
			t.Run(name+"/"+c.name, func(t *testing.T) {
				st := realTestBed(t, "claude")
				folder := filepath.Join(st.Home, ".claude/skills/lifter")
				writeMod(t, folder, "export const register = (on) => {"+code+"}")
				st.SetScript([]model.Step{{Calls: []model.ToolCall{st.Table.Shell.Call("touch ran-refused")}}, {Calls: []model.ToolCall{st.TaggedCall("passed")}}, {Say: testbed.LastWords}})
				if err := st.StartDaemonWithHooks(func(ev *event.Event, _ int) event.Decision {
					if ev.Kind == event.ToolBefore && testbed.TagOf(ev) == "refused" {
						return event.Decision{Verdict: event.Deny, Reason: "not this"}
					}
					return event.Decision{}
				}); err != nil {
					t.Fatal(err)
				}
				in := st.AgentCommand()
				in.Env = append(in.Env, c.env...)
				if c.managed != "" {
					dir := "/etc/claude-code"
					os.MkdirAll(dir, 0o755)
					os.WriteFile(dir+"/managed-settings.json", []byte(c.managed), 0o644)
					defer os.Remove(dir + "/managed-settings.json")
				}
				err := st.RunHeadless(context.Background(), in, st.FreeCommand("Run both"))
				t.Logf("err %v: passed %v refused %v", err, st.LeftItsFile("passed"), st.LeftItsFile("refused"))
				for _, e := range []string{"PreToolUse", "PostToolUse"} {
					ev := st.CollectEvidence(nil, time.Now())
					t.Log(e, len(ev.Events(e)))
				}
			})
		}
	}
}
