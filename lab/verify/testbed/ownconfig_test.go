//go:build unix

package testbed

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/lab/verify/ownconfig"
	"github.com/hookmux/hookmux/lab/verify/ownconfig/ownconfigtest"
)

// nowhere is a hook client that nobody runs.
const nowhere = "/nowhere/hookmux-hook"

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What has no secret goes along as it is: comments, order, odd spaces and all.
func TestMineIsByteForByte(t *testing.T) {
	p := ownconfigtest.NewPerson(t)
	const settings = "// mine, by hand\n{\n\t\"permissions\": { \"deny\": [\"Bash(dd:*)\"], }, // never\n  " +
		"\"cleanupPeriodDays\": 20,\n\"hooks\": {\"Stop\": [\n{\"hooks\": [{\"type\":\"command\",  \"command\": " +
		"\"say 'done // so'\"}]}]}\n}"
	p.WriteFile(".claude/settings.json", settings)
	st := newTestBed(t, "claude", p.Config, nil)
	if got := read(t, filepath.Join(st.Home, ".claude/settings.json")); got != settings {
		t.Errorf("got %q, want %q", got, settings)
	}
	// With one, only that is gone.
	p.WriteFile(".claude/settings.json", strings.Replace(settings, "{\n\t",
		"{\n\t\"env\": {\"A\": \"correcthorse\"}, // my api_key is correcthorse\n\t", 1))
	st = newTestBed(t, "claude", p.Config, nil)
	got := read(t, filepath.Join(st.Home, ".claude/settings.json"))
	if strings.Contains(got, "correcthorse") || !strings.Contains(got, "// mine, by hand") ||
		!strings.Contains(got, "}, // never\n  \"cleanupPeriodDays\": 20,\n\"hooks\": {\"Stop\"") {
		t.Errorf(`got %s, want no "correcthorse" in it, "// mine, by hand" in it and "}, // never\n `+
			`\"cleanupPeriodDays\": 20,\n\"hooks\": {\"Stop\"" in it`, got)
	}
	notes := strings.Join(p.TakenNotes(st.Agent), "\n")
	if !strings.Contains(notes, "without env") || !strings.Contains(notes, "comments") {
		t.Errorf(`notes = %q, want "without env" in it and "comments" in it`, notes)
	}
	const config = "# mine\nsandbox_mode = 'read-only' # as it should be\n\n[features]\nhooks = true # \"yes\"\n"
	p.WriteFile(".codex/config.toml", config)
	st = newTestBed(t, "codex", p.Config, nil)
	got = read(t, filepath.Join(st.Home, ".codex/config.toml"))
	for _, line := range strings.Split(strings.TrimSpace(config), "\n") {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no %q in %s; want line+\"\\n\" in got", line, got)
		}
	}
}

// Hooks that the user has installed are the ones that are proven: nothing is
// given at launch besides, and hooks that break come behind what is there.
func TestMineUsesWhatIsInstalled(t *testing.T) {
	p := ownconfigtest.NewPerson(t)
	p.WriteFile(".claude/settings.json", "{\n  // mine\n  \"hooks\": {}\n}\n")
	p.InstallHookmux("claude", nowhere, install.Options{})
	own := read(t, filepath.Join(p.Home, ".claude/settings.json"))
	st := newTestBed(t, "claude", p.Config, nil)
	file := filepath.Join(st.Home, ".claude/settings.json")
	if !st.owned() || st.ByRun() || len(st.AgentCommand().Argv) != len(st.In.Argv) || read(t, file) != own {
		t.Errorf("owned %v, run %v, %s; want st.owned(), !st.ByRun(), len(st.AgentCommand().Argv) == "+
			"len(st.In.Argv) and read(t, file) == own", st.owned(), st.ByRun(), read(t, file))
	}
	if err := st.InstallHooks(); err != nil || read(t, file) != own {
		t.Errorf("%v: installed once more: %s", err, read(t, file))
	}
	if err := st.InstallHost().AddWithoutRecord(st.Agent, install.User,
		[]hookentry.Command{{Program: "/nowhere/broken", Agent: "claude", Event: "PreToolUse",
			Seconds: 2}}); err != nil {
		t.Fatal(err)
	}
	got := read(t, file)
	for _, want := range []string{"// mine", "/nowhere/broken", "claude PreToolUse", "claude SessionEnd"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s; want want in got", want, got)
		}
	}
	if err := st.WithoutHooks(); err != nil || strings.Contains(read(t, file), "claude SessionEnd") ||
		!strings.Contains(read(t, file), "// mine") {
		t.Errorf("%v: the control has hooks: %s", err, read(t, file))
	}
	// Without --mine nothing is theirs.
	if st := newTestBed(t, "claude", nil, nil); st.owned() || !st.ByRun() {
		t.Error("a test bed without a person has hooks of its own")
	}
	p.InstallHookmux("claude", nowhere, install.Options{Deny: true})
	if st := newTestBed(t, "claude", p.Config, nil); !st.Evidence.Refusing {
		t.Error("nobody noticed that these hooks refuse without a daemon")
	}
}

// Trust that was given is trust on the test bed, and trust that was not is not.
func TestMineKeepsTrust(t *testing.T) {
	for _, trust := range []bool{true, false} {
		p := ownconfigtest.NewPerson(t)
		p.WriteFile(".codex/config.toml", "model = \"mine\"\n")
		p.InstallHookmux("codex", nowhere, install.Options{Trust: trust})
		st := newTestBed(t, "codex", p.Config, nil)
		a, _ := agent.Builtin().Agent("codex")
		ours, untrusted := 0, 0
		for _, s := range st.InstallHost().ReadSites(a) {
			ours, untrusted = ours+s.Ours, untrusted+len(s.Untrusted)
		}
		if ours == 0 || !st.owned() || st.ByRun() || trust != (untrusted == 0) {
			t.Errorf("trusted %v: %d hooks, %d not trusted on the test bed:\n%s", trust, ours, untrusted,
				read(t, filepath.Join(st.Home, ".codex/config.toml")))
		}
	}
}

// A pipe where settings should be must not be waited for.
func TestMineTakesPlainFilesOnly(t *testing.T) {
	p := ownconfigtest.NewPerson(t)
	if err := os.MkdirAll(filepath.Join(p.Home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(p.Home, ".claude/settings.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	go func() {
		a, _ := agent.Builtin().Agent("claude")
		notes := strings.Join(p.TakenNotes(a), "\n")
		newTestBed(t, "claude", p.Config, nil)
		done <- notes
	}()
	select {
	case notes := <-done:
		if !strings.Contains(notes, "not a plain file") {
			t.Errorf(`notes = %q, want "not a plain file" in it`, notes)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("waits for a pipe")
	}
}

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
	m := &ownconfig.Config{Home: home, Project: project, Getenv: func(string) string { return "" }}
	shaped := "sk-" + "ant-api03-" + strings.Repeat("Q9w8", 12)

	put(".claude/settings.json", `{"unheardOf":"`+plain+`","mcp":{"x":"`+plain+`"},"sandbox":{"enabled":false,"env":{"A":"`+plain+`"}},
"hooks":{"PreToolUse":[{"hooks":[{"type":"http","url":"http://127.0.0.1:1/","headers":{"X":"`+plain+`"}},
{"type":"command","command":"guard --with `+shaped+`","args":["--token","`+plain+`","-v"]}]}]}}`)
	st := newTestBed(t, "claude", m, nil)
	b, err := os.ReadFile(filepath.Join(st.Home, ".claude/settings.json"))
	text := string(b)
	if err != nil || strings.Contains(text, plain) || strings.Contains(text, shaped) ||
		strings.Contains(text, "unheardOf") {
		t.Errorf(`text = %s, error %v; want no error, no %q in text, no %q in text and no "unheardOf" in text`,
			text, err, plain, shaped)
	}
	for _, want := range []string{"guard --with ", "127.0.0.1:1", `"enabled":false`, `"-v"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in %s; want want in text", want, text)
		}
	}

	put(".codex/config.toml", "notify = [\""+plain+
		"\"]\napproval_policy = \"never\"\n[shell_environment_policy.set]\nA = \""+plain+"\"\n[otel]\nx = \""+plain+
		"\"\n[features]\nhooks = true\n[projects.\""+home+"/tokens\"]\ntrust_level = \"trusted\"\n")
	put(".codex/hooks.json", `{"hooks": "`+plain+``)
	st = newTestBed(t, "codex", m, nil)
	b, err = os.ReadFile(filepath.Join(st.Home, ".codex/config.toml"))
	text = string(b)
	if err != nil || strings.Contains(text, plain) || !strings.Contains(text, "approval_policy") ||
		!strings.Contains(text, "hooks = true") || !strings.Contains(text, st.Home+"/tokens") {
		t.Errorf(`text = %s, error %v; want no error, no %q in text, "approval_policy" in text, "hooks = true" in `+
			`text and st.Home + "/tokens" in text`, text, err, plain)
	}
	b, err = os.ReadFile(filepath.Join(st.Home, ".codex/hooks.json"))
	if err != nil || strings.Contains(string(b), plain) {
		t.Errorf("b = %s, error %v; want no error and no %q in string(b)", b, err, plain)
	}
	for _, f := range []edit.Format{edit.JSON, edit.TOML} {
		if _, err := f.Parse(b); err == nil {
			t.Error("the stand-in for a broken file parses")
		}
	}
}

// Secrets in a hook's command stay behind.
func TestMineLeavesSecretsOutOfCommands(t *testing.T) {
	word := "hunter2" + "plainword"
	p := ownconfigtest.NewPerson(t)
	p.WriteFile(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "MYPASS=`+word+
		` curl -u me:`+word+` http://x"}]}]}}`)
	st := newTestBed(t, "claude", p.Config, nil)
	if got := read(t, filepath.Join(st.Home, ".claude/settings.json")); strings.Contains(got, word) ||
		!strings.Contains(got, "http://x") {
		t.Errorf(`got %q, want no %q in it and "http://x" in it`, got, word)
	}
}
