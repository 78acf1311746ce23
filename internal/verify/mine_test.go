//go:build unix

package verify

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
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// person is somebody with a home and a project.
type person struct {
	*Mine
	t *testing.T
}

func somebody(t *testing.T) person {
	return person{&Mine{Home: t.TempDir(), Project: t.TempDir(), Getenv: func(string) string { return "" }}, t}
}

func (p person) put(rel, text string) string {
	p.t.Helper()
	file := filepath.Join(p.Home, rel)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
	return file
}

// hookmux installs hookmux into the person's own config.
func (p person) hookmux(name, hook string, o install.Options) {
	p.t.Helper()
	dirs, err := paths.Find(func(n string) string { return map[string]string{"HOME": p.Home}[n] })
	if err != nil {
		p.t.Fatal(err)
	}
	a, _ := agent.Builtin().Agent(name)
	o.Agents, o.Scope = []*agent.Agent{a}, install.User
	h := &install.Host{Dirs: dirs, Project: p.Project, Getenv: p.Getenv, Hook: hook, Version: "1.2.3"}
	plan, err := h.Install(o)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := plan.Apply(&install.Disk{}); err != nil {
		p.t.Fatal(err)
	}
}

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
	p := somebody(t)
	const settings = "// mine, by hand\n{\n\t\"permissions\": { \"deny\": [\"Bash(dd:*)\"], }, // never\n  \"cleanupPeriodDays\": 20,\n\"hooks\": {\"Stop\": [\n{\"hooks\": [{\"type\":\"command\",  \"command\": \"say 'done // so'\"}]}]}\n}"
	p.put(".claude/settings.json", settings)
	st := testStage(t, "claude", p.Mine, nil)
	if got := read(t, filepath.Join(st.Home, ".claude/settings.json")); got != settings {
		t.Errorf("%q", got)
	}
	// With one, only that is gone.
	p.put(".claude/settings.json", strings.Replace(settings, "{\n\t", "{\n\t\"env\": {\"A\": \"correcthorse\"}, // my api_key is correcthorse\n\t", 1))
	st = testStage(t, "claude", p.Mine, nil)
	got := read(t, filepath.Join(st.Home, ".claude/settings.json"))
	if strings.Contains(got, "correcthorse") || !strings.Contains(got, "// mine, by hand") || !strings.Contains(got, "}, // never\n  \"cleanupPeriodDays\": 20,\n\"hooks\": {\"Stop\"") {
		t.Errorf("%s", got)
	}
	notes := strings.Join(p.takenNotes(st.Agent), "\n")
	if !strings.Contains(notes, "without env") || !strings.Contains(notes, "comments") {
		t.Error(notes)
	}
	const config = "# mine\nsandbox_mode = 'read-only' # as it should be\n\n[features]\nhooks = true # \"yes\"\n"
	p.put(".codex/config.toml", config)
	st = testStage(t, "codex", p.Mine, nil)
	got = read(t, filepath.Join(st.Home, ".codex/config.toml"))
	for _, line := range strings.Split(strings.TrimSpace(config), "\n") {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("no %q in %s", line, got)
		}
	}
}

// Hooks that the person has installed are the ones that are proven: nothing is
// given at launch besides, and hooks that break come behind what is there.
func TestMineUsesWhatIsInstalled(t *testing.T) {
	p := somebody(t)
	p.put(".claude/settings.json", "{\n  // mine\n  \"hooks\": {}\n}\n")
	p.hookmux("claude", nowhere, install.Options{})
	own := read(t, filepath.Join(p.Home, ".claude/settings.json"))
	st := testStage(t, "claude", p.Mine, nil)
	file := filepath.Join(st.Home, ".claude/settings.json")
	if !st.owned() || st.byRun() || len(st.start().Argv) != len(st.In.Argv) || read(t, file) != own {
		t.Errorf("owned %v, run %v, %s", st.owned(), st.byRun(), read(t, file))
	}
	if err := st.installHooks(); err != nil || read(t, file) != own {
		t.Errorf("%v: installed once more: %s", err, read(t, file))
	}
	if err := st.beside([]brokenHook{{"PreToolUse", "/nowhere/broken"}}); err != nil {
		t.Fatal(err)
	}
	got := read(t, file)
	for _, want := range []string{"// mine", "/nowhere/broken", "claude PreToolUse", "claude SessionEnd"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	if err := st.withoutHooks(); err != nil || strings.Contains(read(t, file), "claude SessionEnd") || !strings.Contains(read(t, file), "// mine") {
		t.Errorf("%v: the control has hooks: %s", err, read(t, file))
	}
	// Without --mine nothing is theirs.
	if st := testStage(t, "claude", nil, nil); st.owned() || !st.byRun() {
		t.Error("a stage without a person has hooks of its own")
	}
	p.hookmux("claude", nowhere, install.Options{Deny: true})
	if st := testStage(t, "claude", p.Mine, nil); !st.evidence.Refusing {
		t.Error("nobody noticed that these hooks refuse without a hub")
	}
}

// Trust that was given is trust on the stage, and trust that was not is not.
func TestMineKeepsTrust(t *testing.T) {
	for _, trust := range []bool{true, false} {
		p := somebody(t)
		p.put(".codex/config.toml", "model = \"mine\"\n")
		p.hookmux("codex", nowhere, install.Options{Trust: trust})
		st := testStage(t, "codex", p.Mine, nil)
		a, _ := agent.Builtin().Agent("codex")
		ours, untrusted := 0, 0
		for _, s := range st.host().Look(a) {
			ours, untrusted = ours+s.Ours, untrusted+len(s.Untrusted)
		}
		if ours == 0 || !st.owned() || st.byRun() || trust != (untrusted == 0) {
			t.Errorf("trusted %v: %d hooks, %d not trusted on the stage:\n%s", trust, ours, untrusted, read(t, filepath.Join(st.Home, ".codex/config.toml")))
		}
	}
}

// A pipe where settings should be must not be waited for.
func TestMineTakesPlainFilesOnly(t *testing.T) {
	p := somebody(t)
	if err := os.MkdirAll(filepath.Join(p.Home, ".claude"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(p.Home, ".claude/settings.json"), 0o600); err != nil {
		t.Skip(err)
	}
	done := make(chan string)
	go func() {
		a, _ := agent.Builtin().Agent("claude")
		notes := strings.Join(p.takenNotes(a), "\n")
		testStage(t, "claude", p.Mine, nil)
		done <- notes
	}()
	select {
	case notes := <-done:
		if !strings.Contains(notes, "no plain file") {
			t.Error(notes)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("waits for a pipe")
	}
}

func TestCommentsAreFound(t *testing.T) {
	for _, c := range []struct {
		text string
		hash bool
		want []string
	}{
		{`{"a": "x // y", /* b */ "c": "\" // d"} // e`, false, []string{"/* b */", "// e"}},
		{"a = \"x # y\" # b\nc = '# d' # e\nf = \"\"\"\n# g\n\"\"\" # h", true, []string{"# b", "# e", "# h"}},
		{"// open", false, []string{"// open"}}, {"/* open", false, []string{"/* open"}}, {`"open`, false, nil}, {"'open", true, nil},
	} {
		var got []string
		for _, at := range findComments([]byte(c.text), c.hash) {
			got = append(got, c.text[at[0]:at[1]])
		}
		if strings.Join(got, "|") != strings.Join(c.want, "|") {
			t.Errorf("%q: %q", c.text, got)
		}
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
	for _, want := range []string{"guard --with ", "127.0.0.1:1", `"enabled":false`, `"-v"`} {
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
	for _, f := range []edit.Format{edit.JSON, edit.TOML} {
		if _, err := f.Parse(b); err == nil {
			t.Error("the stand-in for a broken file parses")
		}
	}
}

// Secrets in a hook's command have no shape, but stand behind their name.
func TestMineLeavesSecretsOutOfCommands(t *testing.T) {
	word := "hunter2" + "plainword"
	for line, want := range map[string]string{
		"MYPASS=" + word + " notify; true":              "MYPASS=REDACTED notify; true",
		"curl -u me:" + word + " http://x":              "curl -u me:REDACTED http://x",
		"curl --user 'x' -ume:" + word + ";date":        "curl --user 'x' -ume:REDACTED;date",
		"push --token '" + word + "' --title=done":      "push --token REDACTED --title=done",
		`export SLACK_TOKEN="` + word + `"; say`:        "export SLACK_TOKEN=REDACTED; say",
		"sort -u a; date -u +%H:%M":                     "",
		"x --token $MY_TOKEN PASSWORD=\"$(pass show)\"": "",
		"x --bypass=" + word + " --compact":             "",
		"say 'done: token budget is fine'":              "",
	} {
		if want == "" {
			want = line
		}
		if got := withoutShellSecrets(line); got != want {
			t.Errorf("%q\n got %q\nwant %q", line, got, want)
		}
	}
	p := somebody(t)
	p.put(".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "MYPASS=`+word+` curl -u me:`+word+` http://x"}]}]}}`)
	st := testStage(t, "claude", p.Mine, nil)
	if got := read(t, filepath.Join(st.Home, ".claude/settings.json")); strings.Contains(got, word) || !strings.Contains(got, "http://x") {
		t.Error(got)
	}
}
