package testbed

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/ownconfig"
	"github.com/hookmux/hookmux/lab/verify/ownconfig/ownconfigtest"
)

func TestTagsAndChanges(t *testing.T) {
	ev := &event.Event{Kind: event.ToolBefore, Tool: &event.Tool{
		Commands: []string{TaggedCommand("par-a")},
		Input:    json.RawMessage(`{"command":"touch ran-par-a; echo out-par-a","description":"x"}`),
		Output:   json.RawMessage(`{"stdout":"real","interrupted":false}`),
	}}
	if TagOf(ev) != "par-a" {
		t.Errorf(`tag %q, want "par-a"`, TagOf(ev))
	}
	if got := string(ChangedInput(ev, "other")); got != `{"command":"other"}` {
		t.Errorf("input %s, want `{\"command\":\"other\"}`", got)
	}
	if got := string(ChangedOutput(ev, "new")); got != `{"interrupted":false,"stdout":"new"}` {
		t.Errorf("output %s, want `{\"interrupted\":false,\"stdout\":\"new\"}`", got)
	}
	ev.Tool.Output = json.RawMessage(`"real"`)
	if got := string(ChangedOutput(ev, "new")); got != `"new"` {
		t.Errorf("output %s, want `\"new\"`", got)
	}
}

func newTestBed(t *testing.T, name string, mine *ownconfig.Config, s *Breakage) *TestBed {
	t.Helper()
	srv, err := model.Start(model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	d, _ := drivers.Find(name)
	bin := t.TempDir()
	for _, p := range []string{"hookmux", "hookmux-hook"} {
		if err := os.WriteFile(filepath.Join(bin, p), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	st, err := New(&Setting{Driver: d, Bin: bin, Model: srv, Mine: mine, Breakage: s,
		Serial: func() string { return "1" }}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { RemoveAll(st.Base) })
	return st
}

func TestMine(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	secret := "sk-" + "ant-api03-" + strings.Repeat("Q9w8", 12)
	put := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(home, ".claude/settings.json"),
		`{"env":{"ANTHROPIC_BASE_URL":"https://elsewhere"},"apiKeyHelper":"x","permissions":{"deny":["Bash(rm:*)"]},"myToken":"`+secret+`","hooks":{}}`)
	put(filepath.Join(home, ".claude.json"), `{"oauthAccount":{"x":"`+secret+`"}}`)
	put(filepath.Join(project, ".claude/settings.local.json"), `{"disableAllHooks": true}`)
	put(filepath.Join(home, ".codex/config.toml"), "model = \"mine\"\nsandbox_mode = \"read-only\"\n[hooks.state.\""+
		home+"/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n")
	was := ownconfigtest.ReadTree(t, home)
	m := &ownconfig.Config{Home: home, Project: project, Getenv: func(string) string { return "" }}

	st := newTestBed(t, "claude", m, nil)
	b, err := os.ReadFile(filepath.Join(st.Home, ".claude/settings.json"))
	if err != nil || !strings.Contains(string(b), "permissions") || strings.Contains(string(b), secret) ||
		strings.Contains(string(b), "elsewhere") || strings.Contains(string(b), "apiKeyHelper") {
		t.Errorf(`b = %s, error %v; want no error, "permissions" in string(b), no %q in string(b), no "elsewhere" `+
			`in string(b) and no "apiKeyHelper" in string(b)`, b, err, secret)
	}
	if _, err := os.Stat(filepath.Join(st.Project, ".claude/settings.local.json")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(st.Home, ".claude.json")); strings.Contains(string(b), "oauthAccount") {
		t.Error("the account was copied")
	}

	st = newTestBed(t, "codex", m, nil)
	b, err = os.ReadFile(filepath.Join(st.Home, ".codex/config.toml"))
	text := string(b)
	if err != nil || !strings.Contains(text, "read-only") ||
		!strings.Contains(text, st.Home+"/.codex/hooks.json:stop:0:0") || !strings.Contains(text, "sha256:00") ||
		strings.Contains(text, "\"mine\"") || !strings.Contains(text, "scripted") {
		t.Errorf(`b = %s, error %v; want no error, "read-only" in text, st.Home + "/.codex/hooks.json:stop:0:0" in `+
			`text, "sha256:00" in text, no "\"mine\"" in text and "scripted" in text`, b, err)
	}
	ownconfigtest.CheckTree(t, home, was)
	a, _ := agent.Builtin().Agent("claude")
	if notes := strings.Join(m.TakenNotes(a), "\n"); !strings.Contains(notes, "settings.json") ||
		!strings.Contains(notes, "without "+filepath.Join(home, ".claude.json")) {
		t.Errorf(`strings.Join(m.TakenNotes(a), "\n") = %q, want "settings.json" in it and "without " + `+
			`filepath.Join(home, ".claude.json") in it`, notes)
	}
}

// A breakage breaks the test bed's own copy and nothing else.
func TestBreakageWrapsItsOwnCopy(t *testing.T) {
	st := newTestBed(t, "grok", nil, &Breakage{Out: `sed 's/"updatedInput"/"updated_input"/'`})
	b, err := os.ReadFile(filepath.Join(st.Bin, "hookmux-hook"))
	if err != nil || !strings.Contains(string(b), "updated_input") || filepath.Dir(st.Bin) != st.Base {
		t.Errorf(`b = %s, error %v; want no error, "updated_input" in string(b) and filepath.Dir(st.Bin) = st.Base`,
			b, err)
	}
	st = newTestBed(t, "grok", nil, &Breakage{
		Catalogue: "name: {agent}\nevents:\n  - {name: SessionEnd, kind: session.end, install: never, why: " +
			"sabotage, timeout: 5s}\n"})
	if e, ok := st.Agent.Event("SessionEnd"); !ok || e.Install != agent.InstallNever {
		t.Error("the catalogue was not broken")
	}
	if e, _ := agent.Builtin().Agent("grok"); e == st.Agent {
		t.Error("the real catalogue was broken")
	}
}
