package install

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
)

func examine(h *Host, a *agent.Agent, hooks func(*agent.Agent, string) ([]ListedHook, error)) (*Doctor,
	[]Finding) {
	d := &Doctor{Host: h, All: installable(), DaemonError: errors.New("none in this test"), Hooks: hooks}
	return d, d.Examine(context.Background(), []*agent.Agent{a}, true)
}

func finding(all []Finding, check string) *Finding {
	for i := range all {
		if all[i].Check == check {
			return &all[i]
		}
	}
	return nil
}

func TestTheDoctorFixesWhatIsOurs(t *testing.T) {
	a := known(t, "codex")
	h := newHost(t)
	config := filepath.Join(h.Dirs.Home, ".codex/config.toml")
	hooks := filepath.Join(h.Dirs.Home, ".codex/hooks.json")
	write(t, config, "model = \"x\"\n[features]\ncodex_hooks = true\n")
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true, Events: []string{"PreToolUse", "Stop"}})
	text, err := edit.TOML.Set([]byte(read(t, config)), hookentry.CodexTrustPath(hooks+":stop:7:0"),
		map[string]any{"trusted_hash": "sha256:old"})
	if err != nil {
		t.Fatal(err)
	}
	text, err = edit.TOML.Set(text, hookentry.Join(hookentry.CodexTrustPath(hooks+":pre_tool_use:0:0"), "enabled"), false)
	if err != nil {
		t.Fatal(err)
	}
	// What other programs start Codex with: a folder that is gone, and one that is there.
	there := filepath.Join(h.Dirs.Home, "overlay/hooks.json")
	write(t, there, "{}")
	for _, file := range []string{"/nowhere/mux0-codex.aBcDeFgH/hooks.json", there, filepath.Join(h.Dirs.Home, "overlay/other.json")} {
		if text, err = edit.TOML.Set(text, hookentry.CodexTrustPath(file+":stop:0:0"),
			map[string]any{"trusted_hash": "sha256:other"}); err != nil {
			t.Fatal(err)
		}
	}
	write(t, config, string(text))
	d, all := examine(h, a, nil)
	for check, what := range map[string]string{"dead trust": "stop:7:0", "old switch": "codex_hooks",
		"trust": "1 hook is not trusted", "present": "2 events"} {
		if f := finding(all, check); f == nil || !strings.Contains(f.What, what) {
			t.Errorf("%s: f = %+v, want other than nil and %q in f.What", check, f, what)
		}
	}
	if _, err := d.Fix(all, func(string) bool { return true }, &Disk{}); err != nil {
		t.Fatal(err)
	}
	if text := read(t, config); strings.Contains(text, "stop:7:0") || strings.Contains(text, "codex_hooks") {
		t.Errorf(`read(t, config) = %q, want no "stop:7:0" in it and no "codex_hooks" in it`, text)
	}
	if text := read(t, config); strings.Contains(text, "mux0-codex") || !strings.Contains(text, "overlay/hooks.json") ||
		!strings.Contains(text, "overlay/other.json") {
		t.Errorf("trust in other programs' hooks is now\n%s\nwant only what is gone to be taken out", text)
	}
	// What the user switched off stays off, and is still said.
	if _, all = examine(h, a, nil); finding(all, "trust") == nil {
		t.Error("a hook that is switched off is not named")
	}
	if p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true,
		Events: []string{"PreToolUse", "Stop"}}); p.Files() > 0 && strings.Contains(read(t, config), "enabled = true") {
		t.Error("the user's own switch was turned")
	}
}

func TestTheDoctorBelievesTheAgentItself(t *testing.T) {
	a := known(t, "codex")
	h := newHost(t)
	write(t, filepath.Join(filepath.Dir(h.Hook), "codex"), "#!/bin/sh\n")
	mustChmod(t, filepath.Join(filepath.Dir(h.Hook), "codex"))
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Trust: true, Events: []string{"Stop"}})
	line := hookentry.Command{Program: Shim(h.Dirs), Agent: "codex", Event: "Stop", Seconds: 600}.Line()
	for trust, level := range map[string]Level{"trusted": Good, "modified": Bad} {
		_, all := examine(h, a, func(*agent.Agent, string) ([]ListedHook, error) {
			return []ListedHook{{Command: line, Trust: trust, Enabled: true},
				{Command: "mine", Trust: "untrusted"}}, nil
		})
		if f := finding(all, "asked"); f == nil || f.Level != level {
			t.Errorf("%s: f = %+v, want other than nil and f.Level = %q", trust, f, level)
		}
	}
}

// A hook that is not trusted is told of once, though the file and the agent itself both say it, and all paths are
// written the same way.
func TestTheDoctorSaysThingsOnce(t *testing.T) {
	a := known(t, "codex")
	h := newHost(t)
	write(t, filepath.Join(filepath.Dir(h.Hook), "codex"), "#!/bin/sh\n")
	mustChmod(t, filepath.Join(filepath.Dir(h.Hook), "codex"))
	write(t, filepath.Join(h.Dirs.Home, ".codex/config.toml"), "[features]\nhooks = true\n")
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}, Events: []string{"Stop"}})
	line := hookentry.Command{Program: Shim(h.Dirs), Agent: "codex", Event: "Stop", Seconds: 600}.Line()
	_, all := examine(h, a, func(*agent.Agent, string) ([]ListedHook, error) {
		return []ListedHook{{Command: line, Trust: "untrusted", Enabled: true}}, nil
	})
	untrusted, headings := 0, []string{}
	for _, f := range all {
		if f.Level == Bad && f.Agent == a.Name && strings.Contains(f.What, "trust") {
			untrusted++
		}
		if len(headings) == 0 || headings[len(headings)-1] != f.Agent {
			headings = append(headings, f.Agent)
		}
		if strings.Contains(f.What+f.Fix, h.Dirs.Home) {
			t.Errorf("a path is not written with ~: %s; %s", f.What, f.Fix)
		}
	}
	if untrusted != 1 || len(headings) != 2 {
		t.Errorf("told of %d times, want once; headings are %q, want hookmux and codex:\n%+v", untrusted, headings, all)
	}
}

// A path is shortened wherever hooks are switched off.
func TestTheDoctorShortensPaths(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	path := filepath.Join(h.Dirs.Home, ".claude/settings.json")
	write(t, path, strings.Replace(read(t, path), "{", `{"disableAllHooks": true,`, 1))
	_, all := examine(h, a, nil)
	f := finding(all, "switched off")
	if f == nil || strings.Contains(f.What+f.Fix, h.Dirs.Home) || !strings.Contains(f.Fix, "~/.claude/settings.json") {
		t.Errorf("got %+v, want the file with ~", f)
	}
	if d := h.Delivery(a); len(d.Events) != 0 || d.Why == "" {
		t.Errorf("%d hooks are said to run, and %q to be wrong; want none, and disableAllHooks", len(d.Events), d.Why)
	}
}

func TestTheDoctorNamesOthers(t *testing.T) {
	a := known(t, "claude")
	h := newHost(t)
	path := filepath.Join(h.Dirs.Home, ".claude/settings.json")
	write(t, path, `{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guardian"}]}], "Stop": [{"hooks": [{"type": "command", "command": "x; hookmux-hook claude Stop"}]}]}}`)
	p := mustInstall(t, h, Options{Agents: []*agent.Agent{a}})
	if notes := strings.Join(p.Agents[0].Notes, "\n"); !strings.Contains(notes, "guardian") ||
		!strings.Contains(notes, "left alone") {
		t.Errorf(`strings.Join(p.Agents[0].UserNotes, "\n") = %q, want "guardian" in it and "left alone" in it`, notes)
	}
	_, all := examine(h, a, nil)
	if f := finding(all, "foreign"); f == nil || !strings.Contains(f.What, "guardian") {
		t.Errorf(`f = %+v, want other than nil and "guardian" in f.What`, f)
	}
	if f := finding(all, "intact"); f == nil || !strings.Contains(f.What, "line 1") {
		t.Errorf(`f = %+v, want other than nil and "line 1" in f.What`, f)
	}
}
