package guards

import (
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// devCall returns a call in the project of /home/dev.
func devCall(c Call) Call {
	c.Home, c.Cwd, c.Project = "/home/dev", "/home/dev/app", "/home/dev/app"
	return c
}

// checkRule compares what a guard says to the one rule that is expected, "" for
// none.
func checkRule(t *testing.T, g *Guard, call Call, want string) {
	t.Helper()
	got := g.Check(call)
	if want == "" && len(got) > 0 || want != "" && !hasRule(got, want) {
		t.Errorf("%s %s, commands %.80q, writes %q, reads %q, input %.80s: want %q, got %v",
			g.Name, call.ToolName, call.Commands, call.Writes, call.Reads, call.Input, want, got)
	}
}

func TestStartFilesOfFileTools(t *testing.T) {
	own := NewOwnFiles(Options{})
	for _, tt := range []struct{ path, input, want string }{
		{"/home/dev/.bash_profile", `{"content":"hookmux guard off destructive\n"}`, "own-files.launch"},
		{"~/.bashrc", `{"new_string":"sh ~/app/x.sh"}`, "own-files.launch"},
		{"~/.bashrc", `{"old_string":"x","new_string":"export PATH=\"$HOME/bin:$PATH\""}`, "own-files.launch"},
		{"~/.zshrc", `{"content":"alias k=kubectl\nsetopt autocd\n"}`, "own-files.launch"},
		{"~/.inputrc", `{"content":"set bell-style none\n"}`, "own-files.launch"},
		{"~/.local/bin/ls", `{"content":"x"}`, "own-files.launch"},
		{"/home/dev/bin/git", `{"content":"x"}`, "own-files.launch"},
		{"bin/tool", `{"content":"x"}`, ""},
		{"~/.zshrc", `{"content":"alias k='hookmux off'\n"}`, "own-files.launch"},
		{"~/.zshrc", `{"content":"export HOOKMUX_DISABLED=1\n"}`, "own-files.launch"},
		{"~/.zshrc", `{"content":"if then"}`, "own-files.launch"},
		{"~/.zshrc", `{}`, "own-files.launch"},
		{"~/.zshrc", ``, "own-files.launch"},
		{"~/.config/systemd/user/x.service", `{"content":"[Service]"}`, "own-files.launch"},
		{"~/.config/autostart/x.desktop", `{"content":"x"}`, "own-files.launch"},
		{"/home/dev/Library/LaunchAgents/x.plist", `{"content":"x"}`, "own-files.launch"},
		{"/etc/cron.d/x", `{"content":"x"}`, "own-files.launch"},
		{"/var/spool/cron/crontabs/dev", `{"content":"x"}`, "own-files.launch"},
		{"~/.ssh/authorized_keys", `{"content":"ssh-ed25519 x"}`, "own-files.launch"},
		{"~/.gitconfig", `{"content":"[user]\n\temail = a@b.c\n"}`, "own-files.launch"},
		{"~/.gitconfig", `{"content":"[core]\n\thooksPath = /home/dev/app/h\n"}`, "own-files.launch"},
		{"~/.gitconfig", `{"content":"[alias]\n\tx = !hookmux off\n"}`, "own-files.launch"},
		{"~/.claude/settings.json", `{"content":"{}"}`, "own-files.write"},
		{"~/.config/hookmux/config.json", `{"content":"{}"}`, "own-files.write"},
		{"~/.config/kitty/kitty.conf", `{"content":"allow_remote_control yes"}`, "own-files.launch"},
		{"~/.config/ghostty/config", `{"content":"keybind=ctrl+j=text:hookmux off\\n"}`, "own-files.launch"},
		{"~/.wezterm.lua", `{"content":"x"}`, "own-files.launch"},
		{"~/.terminfo/x/xterm-256color", `{"content":"x"}`, "own-files.launch"},
		{"~/.nvm/nvm.sh", `{"content":"x"}`, "own-files.launch"},
		{"~/.config/direnv/direnvrc", `{"content":"x"}`, "own-files.launch"},
		{"~/.claude/shell-snapshots/snapshot-bash-1.sh", `{"content":"ls() { rm -rf ~; }"}`, "own-files.write"},
		{"~/.claude/session-env/1/hook-0.sh", `{"content":"x"}`, "own-files.write"},
		{".env", `{"content":"A=b\nHOOKMUX_DISABLED=1\n"}`, "own-files.environment"},
		{".envrc", `{"new_string":"export HOOKMUX_DISABLED=1"}`, "own-files.environment"},
		{"app.json", `{"content":"{\"env\":{\"HOOKMUX_DISABLED\": \"1\"}}"}`, "own-files.environment"},
		{".env", `{"content":"HOOKMUX_CLAUDE_DISABLED=1\n"}`, "own-files.environment"},
		{".env", `{"content":"A=b\nCLAUDE_CONFIG_DIR=/tmp/x\n"}`, "own-files.environment"},
		{"sub/.envrc", `{"content":"export CODEX_HOME=/tmp/x"}`, "own-files.environment"},
		{"src/paths.py", `{"content":"CODEX_HOME = 1"}`, ""},
		{".env", `{"content":"A=b\n"}`, ""},
		{"docs/settings.md", `{"content":"HOOKMUX_DISABLED=1 switches it off"}`, ""},
		{"src/kitty.conf", `{"content":"x"}`, ""},
		{"src/.bashrc", `{"content":"sh x"}`, ""},
		{"scripts/profile", `{"content":"sh x"}`, ""},
		{"deploy/systemd/app.service", `{"content":"[Service]"}`, ""},
	} {
		checkRule(t, own, devCall(Call{ToolKind: "file_write", ToolName: "Write", Writes: []string{tt.path},
			Input: []byte(tt.input)}), tt.want)
	}
	linked := NewOwnFiles(Options{Machine: facts.Machine{Resolve: fakeLinks(map[string]string{"/home/dev/app/rc": "/home/dev/.bashrc"})}})
	checkRule(t, linked, devCall(Call{ToolKind: "file_write", Writes: []string{"rc"},
		Input: []byte(`{"content":"sh x"}`)}), "own-files.launch")
}

func TestSettingsTools(t *testing.T) {
	own := NewOwnFiles(Options{})
	for input, want := range map[string]string{
		`{"disableAllHooks": true}`:                       "own-files.hooks-off",
		`{"setting": "disableAllHooks", "value": true}`:   "own-files.hooks-off",
		`{"value": "true", "setting": "disableAllHooks"}`: "own-files.hooks-off",
		`{"disableAllHooks": false}`:                      "",
		`{"setting": "theme", "value": "dark"}`:           "",
	} {
		checkRule(t, own, devCall(Call{ToolKind: "other", ToolName: "Config", Input: []byte(input)}), want)
	}
}

func TestSearchTools(t *testing.T) {
	secrets := NewSecrets(Options{})
	for _, tt := range []struct {
		tool  string
		reads []string
		input string
		want  string
	}{
		{"Grep", []string{"/home/dev/.ssh"}, `{"pattern":"BEGIN","path":"/home/dev/.ssh"}`, "secrets.file"},
		{"Grep", []string{"~/.aws/"}, `{"pattern":"key"}`, "secrets.file"},
		{"Grep", []string{"~/.aws"}, `{"pattern":"key","glob":"credentials"}`, "secrets.file"},
		{"Grep", []string{"/home/dev/.docker"}, `{"pattern":"auth","path":"/home/dev/.docker","glob":"config.json"}`,
			"secrets.file"},
		{"Grep", nil, `{"pattern":"KEY","glob":"**/.env"}`, "secrets.file"},
		{"Grep", []string{"."}, `{"pattern":"KEY","path":".","glob":"**/.env"}`, "secrets.file"},
		{"grep_search", nil, `{"pattern":"KEY","include":".env*"}`, "secrets.file"},
		{"Glob", nil, `{"pattern":"**/.env"}`, "secrets.file"},
		{"Glob", nil, `{"pattern":"**/id_*"}`, "secrets.file"},
		{"Glob", []string{"/home/dev/.ssh"}, `{"pattern":"*"}`, "secrets.file"},
		{"Glob", nil, `{"pattern":"**/*.go"}`, ""},
		{"Glob", nil, `{"pattern":"**/.env.example"}`, ""},
		{"Grep", []string{"src"}, `{"pattern":"\\.env","path":"src","glob":"*.ts"}`, ""},
		{"Grep", nil, `{"pattern":".ssh/id_rsa"}`, ""},
		{"LS", []string{"/home/dev/.ssh"}, `{"path":"/home/dev/.ssh"}`, ""},
		{"list_directory", nil, `{"path":"~/.aws"}`, ""},
		{"Grep", []string{"docs"}, `{"pattern":"x","path":"docs","command":"cat .env"}`, ""},
	} {
		checkRule(t, secrets, devCall(Call{ToolKind: "search", ToolName: tt.tool, Reads: tt.reads,
			Input: []byte(tt.input)}),
			tt.want)
	}
}

func TestUnreadableIsNotHarmless(t *testing.T) {
	deep := strings.Repeat("$(", 500) + "a" + strings.Repeat(")", 500)
	nested := "true"
	for range 40 {
		nested = "eval " + nested
	}
	for name, cmd := range map[string]string{
		"NUL": "echo a\x00b", "UTF-16": "r\x00m\x00 \x00-\x00r\x00f\x00 \x00~\x00", "too deep": deep,
		"too many wrappers": nested, "too long": strings.Repeat("a b ", shell.MaxSource),
	} {
		for _, info := range names.All() {
			if info.Name == names.Loop { // it does not read commands
				continue
			}
			g := NewGuard(info.Name, Options{})
			got := g.Check(shellCall(cmd))
			if !hasRule(got, g.Name+".unreadable") &&
				(name == "NUL" || name == "too long" || g.Name == names.Destructive &&
					len(got) == 0) {
				t.Errorf("%s: %s says %v, want %s.unreadable", name, g.Name, got, g.Name)
			}
		}
	}
	// What a shell cannot read either is harmless, unless its text is not.
	for cmd, want := range map[string]string{
		`echo "x`: "", `rm -rf "$HOME`: "destructive.unreadable", "rm -rf ~\nif then": "destructive.rm-broad",
		"if then; rm -rf ~": "destructive.unreadable",
	} {
		checkRule(t, NewDestructive(Options{}), shellCall(cmd), want)
	}
	// The user may let it pass.
	allowed := NewDestructive(Options{Allow: []string{"destructive.unreadable"}})
	checkRule(t, allowed, shellCall("echo a\x00b"), "")
}

func TestUnreadableInput(t *testing.T) {
	many := func(key string, n int) string {
		return `{"x":[` + strings.TrimSuffix(strings.Repeat(`{"`+key+`":"a"},`, n), ",") + `]}`
	}
	for _, tt := range []struct {
		kind, input, want string
	}{
		{"mcp", `{"path":`, "secrets.unreadable"},
		{"mcp", `{"path":"a"}}`, "secrets.unreadable"},
		{"mcp", many("command", 300), "secrets.unreadable"},
		{"mcp", many("command", 200), ""},
		{"mcp", many("path", 5000), "secrets.unreadable"},
		{"mcp", many("path", 4000), ""},
		{"mcp", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), ""},
		{"mcp", strings.Repeat(`{"a":`, 20000) + `{"path":".env"}` + strings.Repeat("}", 20000), "secrets.file"},
		{"mcp", `{"a":["x",{"b":1}],"files":["src/a.go",".env"]}`, "secrets.file"},
		{"mcp", `{"a":{"file":"x"},"note":".env"}`, ""},
		{"mcp", `"text"`, ""},
		{"mcp", `null`, ""},
		{"file_read", `{"path":`, ""},
	} {
		checkRule(t, NewSecrets(Options{}), devCall(Call{ToolKind: tt.kind, ToolName: "tool", Input: []byte(tt.input)}),
			tt.want)
	}
}

// A home below /tmp is a home.
func TestHomeBelowTmp(t *testing.T) {
	g := NewDestructive(Options{})
	for cmd, want := range map[string]string{
		"rm -rf ~": "destructive.rm-broad", "rm -rf ~/Documents": "destructive.rm-outside",
		"rm -rf /tmp/u/home/x": "destructive.rm-outside",
		"rm -rf /tmp/u":        "destructive.rm-broad", "rm -rf /tmp/other": "", "rm -rf ~/.cache/x": "", "rm -rf dist": "",
	} {
		call := Call{ToolKind: "shell", Commands: []string{cmd}, Home: "/tmp/u/home", Cwd: "/tmp/u/home/app",
			Project: "/tmp/u/home/app"}
		checkRule(t, g, call, want)
	}
}

// Every agent of the catalogue is watched by guard.own-files: its programs, and what
// keeps it from its hooks.
func TestAgentsOfTheCatalogueAreKnown(t *testing.T) {
	for _, a := range agent.Builtin().Agents() {
		if len(a.Marks.Programs) > 0 && a.HooksOff == nil {
			t.Errorf("%s: nothing says how it is started without its hooks; give it hooks_off", a.Name)
		}
	}
	own := NewOwnFiles(Options{})
	for _, known := range agent.Builtin().AllMarks() {
		if known.HooksOff == nil {
			continue
		}
		for _, program := range slices.Concat(known.Programs, known.HooksOff.Programs) {
			for _, variable := range slices.Concat(known.HooksOff.Moves, known.HooksOff.Variables) {
				checkRule(t, own, shellCall(variable+"=/x "+program+" -p hi"), "own-files.hooks-off")
			}
			for _, option := range known.HooksOff.Options {
				checkRule(t, own, shellCall(program+" "+option+" hi"), "own-files.hooks-off")
			}
			for _, option := range known.HooksOff.Unasked {
				checkRule(t, own, shellCall(program+" "+option+" hi"), "own-files.unasked")
			}
			for _, option := range known.HooksOff.Overrides {
				checkRule(t, own, shellCall(program+" "+option+" features.hooks=false"), "own-files.hooks-off")
			}
			checkRule(t, own, shellCall("HOME=/x "+program+" -p hi"), "own-files.hooks-off")
			checkRule(t, own, shellCall(program+" -p hi"), "")
		}
	}
}
