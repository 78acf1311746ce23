package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Only named settings come along, and of those nothing that may be a secret,
// whatever it looks like: the value here has no shape that could be recognised.
func TestMineTakesNamedSettingsOnly(t *testing.T) {
	const plain = "correcthorsebattery"
	home, project := t.TempDir(), t.TempDir()
	put := func(rel, text string) {
		t.Helper()
		file := filepath.Join(home, rel)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &Mine{Home: home, Project: project, Getenv: func(string) string { return "" }}
	shaped := "sk-" + "ant-api03-" + strings.Repeat("Q9w8", 12)

	put(".claude/settings.json", `{"unheardOf":"`+plain+`","mcp":{"x":"`+plain+`"},"sandbox":{"enabled":false,"env":{"A":"`+plain+`"}},
"hooks":{"PreToolUse":[{"hooks":[{"type":"http","url":"http://127.0.0.1:1/","headers":{"X":"`+plain+`"}},
{"type":"command","command":"guard --with `+shaped+`","args":["--token","`+plain+`","-v"]}]}]}}`)
	st := testStage(t, "claude", m, nil)
	b, err := os.ReadFile(filepath.Join(st.Home, ".claude/settings.json"))
	text := string(b)
	if err != nil || strings.Contains(text, plain) || strings.Contains(text, shaped) || strings.Contains(text, "unheardOf") {
		t.Errorf("%s %v", text, err)
	}
	for _, want := range []string{"guard --with ", "127.0.0.1:1", `"enabled": false`, `"-v"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s", want, text)
		}
	}

	put(".codex/config.toml", "notify = [\""+plain+"\"]\napproval_policy = \"never\"\n[shell_environment_policy.set]\nA = \""+plain+"\"\n[otel]\nx = \""+plain+
		"\"\n[features]\nhooks = true\n[projects.\""+home+"/tokens\"]\ntrust_level = \"trusted\"\n")
	put(".codex/hooks.json", `{"hooks": "`+plain+``)
	st = testStage(t, "codex", m, nil)
	b, err = os.ReadFile(filepath.Join(st.Home, ".codex/config.toml"))
	text = string(b)
	if err != nil || strings.Contains(text, plain) || !strings.Contains(text, "approval_policy") || !strings.Contains(text, "hooks = true") || !strings.Contains(text, st.Home+"/tokens") {
		t.Errorf("%s %v", text, err)
	}
	b, err = os.ReadFile(filepath.Join(st.Home, ".codex/hooks.json"))
	if err != nil || strings.Contains(string(b), plain) {
		t.Errorf("%s %v", b, err)
	}
	for _, isTOML := range []bool{false, true} {
		if _, err := parseConfig(b, isTOML); err == nil {
			t.Error("the stand-in for a broken file parses")
		}
	}
}
