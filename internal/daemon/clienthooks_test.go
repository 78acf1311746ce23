package daemon

import (
	"strings"
	"testing"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
)

// A Go program registers, changes and removes hooks as the commands do.
func TestClientEditsHooks(t *testing.T) {
	w := open(t)
	var all client.HookPlace
	done, err := w.Client.AddHook(t.Context(), all, hook.Registration{ID: "no-lx", Agent: hook.Any, HookType: "tool.before",
		Handler: "command", Target: "echo no-lx >&2; exit 2"})
	if err != nil || done.ID != "no-lx" || done.File == "" {
		t.Fatalf("adding a hook gave %+v, error %v", done, err)
	}
	w.MustDeny(daemontest.ToolBefore("codex", "s", w.Base, "lx"), "no-lx")
	if _, err := w.Client.AddHook(t.Context(), all, done.Registration); err == nil {
		t.Error("a hook of the same id was added twice")
	}
	if _, err := w.Client.ChangeHook(t.Context(), all, "no-lx", map[string]any{"enabled": false}); err != nil {
		t.Fatal(err)
	}
	w.MustPass(daemontest.ToolBefore("codex", "s", w.Base, "lx"))
	list, err := w.Client.Hooks(t.Context(), w.Base)
	if err != nil || len(list) != 1 || list[0].ID != "no-lx" || list[0].Scope != "global" || list[0].IsEnabled() {
		t.Errorf("the hooks are %+v, error %v; want no-lx, switched off", list, err)
	}
	noted, err := w.Client.AddHook(t.Context(), all, hook.Registration{Agent: "claude", HookType: "turn.start",
		Handler: "command", Target: "exit 2"})
	if err != nil || noted.ID == "" || !strings.Contains(strings.Join(noted.Notes, "\n"), "refuses nothing") {
		t.Errorf("adding a hook without an id gave %+v, error %v; want an id and a note", noted, err)
	}
	if _, err := w.Client.RemoveHook(t.Context(), all, "no-lx"); err != nil {
		t.Error(err)
	}
	if _, err := w.Client.RemoveHook(t.Context(), all, "no-lx"); err == nil {
		t.Error("a hook that is not there was removed")
	}
	w.SetProcesses(daemontest.BelowAgent("claude"))
	if _, err := w.Client.AddHook(t.Context(), all, done.Registration); err == nil {
		t.Error("an agent's child added a hook")
	}
}
