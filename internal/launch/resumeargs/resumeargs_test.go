package resumeargs

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"pgregory.net/rapid"

	"github.com/hookmux/hookmux/agent"
)

// foreign are agents the catalogue does not have (yet): they show that the
// table is enough to describe one.
const foreign = `
- name: elsewhere
  launch: {program: elsewhere, value_flags: [--label, -l, --mode]}
  resume:
    argv: [elsewhere, threads, continue, "{session}"]
    keyed: id
    lead: [[threads, continue, "*"], [t, c, "*"]]
    past_words: true
    drop: [--label, -l, --archive]
    refuse: [--execute, -x]
    not: [login, threads]
`

func named1(t testing.TB, name string) *agent.Agent {
	t.Helper()
	if a, ok := agent.Builtin().Agent(name); ok {
		return a
	}
	var list []*agent.Agent
	if err := yaml.Unmarshal([]byte(foreign), &list); err != nil {
		t.Fatal(err)
	}
	for _, a := range list {
		if a.Name == name {
			return a
		}
	}
	t.Fatalf("no agent %s, want it in the catalogue", name)
	return nil
}

// words splits at blanks; what stands between bars is one word.
func words(s string) []string {
	out := []string{}
	for i, piece := range strings.Split(s, "|") {
		if i%2 == 1 {
			out = append(out, piece)
		} else {
			out = append(out, strings.Fields(piece)...)
		}
	}
	return out
}

const once = "once" // the run cannot be resumed

func TestClean(t *testing.T) {
	key := "sk-ant-" + "api03-" + strings.Repeat("aB3x", 10)
	for _, c := range []struct{ agent, in, out string }{
		// The vectors of another multiplexer's sanitiser, one an agent.
		{"cursor", "agent --model gpt-5.4 --resume old --workspace |/tmp/old repo| --sandbox enabled PROMPT", "--model gpt-5.4 --sandbox enabled"},
		{"gemini", "--model M --resume old --sandbox X PROMPT", "--model M --sandbox X"},
		{"kiro", "chat --agent cmux --resume-id old --trust-tools fs_read,fs_write PROMPT", "--agent cmux --trust-tools fs_read,fs_write"},
		{"agy", "--conversation old --sandbox X --add-dir |/tmp/extra repo| PROMPT", "--sandbox X --add-dir |/tmp/extra repo|"},
		{"grok", "--model M --resume old --permission-mode auto --cwd D PROMPT", "--model M --permission-mode auto --cwd D"},
		{"copilot", "--model M --resume=old --allow-all-tools -i |old prompt| PROMPT", "--model M --allow-all-tools"},
		{"codebuddy", "--model M --resume old --permission-mode plan --worktree scratch PROMPT", "--model M --permission-mode plan"},
		{"droid", "--resume old --cwd D --append-system-prompt |be terse| PROMPT", "--cwd D --append-system-prompt |be terse|"},
		{"qoder", "--model M --resume old --permission-mode plan --workspace D PROMPT", "--model M --permission-mode plan --workspace D"},

		{"codebuddy", "-r old -y --add-dir ../a ../b --settings s.json go", "-y --add-dir ../a ../b --settings s.json"},
		{"codebuddy", "-H |X-Key: 1| --name n --tmux --model M", "--model M"},
		{"codebuddy", "-p |what is this|", once},
		{"codebuddy", "--input-format=stream-json --model M", once},
		{"codebuddy", "daemon start", once},

		{"claude", "", ""},
		{"claude", "--model opus |fix the tests|", "--model opus"},
		{"claude", "|fix the tests| --model opus --permission-mode plan", "--model opus --permission-mode plan"},
		{"claude", "-r 0199-aa --model opus", "--model opus"},
		{"claude", "--resume --model opus", "--model opus"},
		{"claude", "-c --add-dir ../a ../b --verbose go", "--add-dir ../a ../b --verbose"},
		{"claude", "--session-id 5 --fork-session --from-pr 12 -w tree --tmux --bg", ""},
		{"claude", "--dangerously-skip-permissions", "--dangerously-skip-permissions"},
		{"claude", "-p |what is this|", once},
		{"claude", "|what is this| --print", once},
		{"claude", "mcp list", once},
		{"claude", "--model opus doctor", once},
		{"claude", "--append-system-prompt doctor hi", "--append-system-prompt doctor"},
		{"claude", "--no-session-persistence", once},
		{"claude", "--use-system-ca --model opus", "--model opus"},
		{"claude", "--model opus -- --model sonnet", "--model opus"},
		{"claude", "--unknown-flag |old prompt| --model opus", "--unknown-flag --model opus"},
		{"claude", "--append-system-prompt |the key is " + key + "| --model opus", "--model opus"},
		{"claude", "--api-key=hunter2 --model opus", "--model opus"},

		{"codex", "-m gpt-5 resume 0199-aa -s read-only", "-m gpt-5 -s read-only"},
		{"codex", "resume --last", ""},
		{"codex", "-c model=o3 |do it|", "-c model=o3"},
		{"codex", "-i shot.png |do it|", ""},
		{"codex", "--remote ws://x --remote-auth-token-env T -m o3", "-m o3"},
		{"codex", "exec |do it|", once},
		{"codex", "-m o3 review", once},
		{"codex", "-C /srv/here -m o3", "-m o3"},
		{"codex", "-C /elsewhere -m o3", "-C /elsewhere -m o3"},
		{"codex", "-mo3 go", "-mo3"},

		{"grok", "--single hello", once},
		{"grok", "sessions list", once},
		{"grok", "-w --model M", "--model M"},
		{"grok", "PROMPT --output-format json", once},

		{"pi", "--api-key " + key + " --model x --session 5 -e ext.ts hi", "--model x -e ext.ts"},
		{"pi", "--mode json", once},
		{"pi", "--no-session", once},
		{"pi", "-nt -c", "-nt"},

		{"opencode", "./proj -s ses_1 --model a/b --prompt |old prompt|", "./proj --model a/b"},
		{"opencode", "tui-settings --model a/b", "--model a/b"},
		{"opencode", "run |do it|", once},

		{"gemini", "-s |old prompt|", "-s"},
		{"gemini", "-i |go on| -s", "-s"}, // a person stays there
		{"qwen", "--prompt-interactive |go on| -m x", "-m x"},
		{"kimi", "-y --session s1 -m k2", "-m k2"},
		{"kimi", "-p hi", once},
		{"kimi", "--wire", once},
		{"qwen", "--openai-api-key hunter2 --approval-mode yolo", "--approval-mode yolo"},
		{"qwen", "--worktree --model m", "--model m"},
		{"amp", "threads continue T-1 --mode smart", "--mode smart"},
		{"amp", "t c T-1 -l x", ""},
		{"amp", "threads list", once},
		{"elsewhere", "threads continue T-1 --mode smart", "--mode smart"},
		{"elsewhere", "t c T-1 -l x", ""},
		{"elsewhere", "threads list", once},
	} {
		got, ok := Clean(named1(t, c.agent), words(c.in), "/srv/here")
		if c.out == once {
			if ok {
				t.Errorf("%s %s: kept %q, but nobody comes back to this", c.agent, c.in, got)
			}
			continue
		}
		if want := words(c.out); !ok || !slices.Equal(got, want) {
			t.Errorf("%s %s\n got %q, %v\nwant %q", c.agent, c.in, got, ok, want)
		}
	}
}

func TestResumeAndFork(t *testing.T) {
	start := Start{Args: words("--model M |old prompt|"), Dir: "/a", Work: "/a/b"}
	for _, c := range []struct {
		agent  string
		start  Start
		want   string
		dir    string
		failed string
	}{
		{agent: "claude", start: start, want: "claude --resume S_1-x --model M", dir: "/a"},
		{agent: "claude", start: Start{Dir: "/a", Mode: "plan"}, want: "claude --resume S_1-x --permission-mode plan", dir: "/a"},
		{agent: "claude", start: Start{Dir: "/a", Mode: "default"}, want: "claude --resume S_1-x", dir: "/a"},
		{agent: "claude", start: Start{Dir: "/a", Mode: "$(x)"}, want: "claude --resume S_1-x", dir: "/a"},
		{agent: "claude", start: Start{Dir: "/a", Mode: "plan", Args: words("--permission-mode acceptEdits")}, want: "claude --resume S_1-x --permission-mode acceptEdits", dir: "/a"},
		{agent: "claude", start: Start{Dir: "/a", Program: "/opt/beta/claude"}, want: "/opt/beta/claude --resume S_1-x", dir: "/a"},
		{agent: "codex", start: Start{Args: words("-m o3"), Dir: "/a", Work: "/a/b"}, want: "codex resume S_1-x -c check_for_update_on_startup=false -m o3", dir: "/a/b"},
		{agent: "codex", start: Start{Args: words("-c check_for_update_on_startup=true"), Dir: "/a"}, want: "codex resume S_1-x -c check_for_update_on_startup=true", dir: "/a"},
		{agent: "codex", start: Start{Dir: "/a", Mode: "bypassPermissions"}, want: "codex resume S_1-x -a never -c check_for_update_on_startup=false", dir: "/a"},
		{agent: "grok", start: start, want: "grok --resume S_1-x --model M", dir: "/a"},
		{agent: "opencode", start: Start{Dir: "/a", Work: "/a/b"}, want: "opencode --session S_1-x", dir: "/a/b"},
		{agent: "pi", start: start, want: "pi --session S_1-x --model M", dir: "/a"},
		{agent: "gemini", start: start, want: "gemini --resume S_1-x --model M", dir: "/a"},
		{agent: "copilot", start: start, want: "copilot --resume=S_1-x --model M", dir: "/a"},
		{agent: "droid", start: Start{Dir: "/a"}, want: "droid --resume S_1-x", dir: "/a"},
		{agent: "qwen", start: start, want: "qwen --resume S_1-x --model M", dir: "/a"},
		{agent: "kimi", start: start, want: "kimi --session S_1-x --model M", dir: "/a"},
		{agent: "claude", start: Start{Args: words("-p hi")}, failed: "cannot be resumed"},
	} {
		got, err := Resume(named1(t, c.agent), "S_1-x", c.start)
		if c.failed != "" {
			if err == nil || !strings.Contains(err.Error(), c.failed) {
				t.Errorf("%s: %v, want an error about %q", c.agent, err, c.failed)
			}
			continue
		}
		if err != nil || strings.Join(got.Argv, " ") != c.want || got.Dir != c.dir {
			t.Errorf("%s:\n got %q in %s, %v\nwant %q in %s", c.agent, got.Argv, got.Dir, err, c.want, c.dir)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, bad := range []string{"", "a b", "a;b", "a`b`", "$(b)", "a&b", "a|b", "a\nb", "a/b", "é", "--print", "-",
		strings.Repeat("a", 300)} {
		if _, err := Resume(named1(t, "claude"), bad, Start{}); err == nil {
			t.Errorf("%q got onto a command line", bad)
		}
	}
	for _, good := range []string{"0199a1c2-77aa-7000-9d9d-000000000001", "ses_5x", "session_1"} {
		if !ValidID(good) {
			t.Errorf("%q is refused; want ValidID(good)", good)
		}
	}
	if _, err := Resume(&agent.Agent{Name: "none"}, "x", Start{}); !errors.Is(err, ErrCannot) {
		t.Errorf("%v is not ErrCannot", err)
	}
	_, err := Resume(named1(t, "claude"), "x", Start{Args: []string{"-p"}})
	if !errors.Is(err, ErrOnce) {
		t.Errorf("%v is not ErrOnce", err)
	}
}

func TestEnv(t *testing.T) {
	environ := []string{"GEMINI_CLI_HOME=/tmp/g", "GEMINI_API_KEY=k", "PATH=/bin", "CLAUDE_CONFIG_DIR=/c",
		"ANTHROPIC_API_KEY=k",
		"ANTHROPIC_BASE_URL=https://user:hun" + "ter2Xq@proxy.example/", "CODEX_HOME=", "GROK_HOME=/g",
		"COPILOT_HOME=/h\nX=1"}
	for name, want := range map[string][]string{
		"gemini": {"GEMINI_CLI_HOME=/tmp/g"}, "claude": {"CLAUDE_CONFIG_DIR=/c"}, "codex": nil, "grok": {"GROK_HOME=/g"}, "copilot": nil,
	} {
		if got := Env(named1(t, name), environ); !slices.Equal(got, want) {
			t.Errorf("%s keeps %q, want %q", name, got, want)
		}
	}
}

func TestFromProcess(t *testing.T) {
	for _, c := range []struct {
		agent, shown, program, args string
		ok                          bool
	}{
		{"claude", "claude --model opus", "", "--model opus", true},
		{"claude", "/opt/beta/claude -c", "/opt/beta/claude", "-c", true},
		{"claude", "/x/node_modules/@anthropic-ai/claude-code-linux-x64/claude -c", "", "-c", true},
		{"gemini", "/usr/bin/node --no-warnings /usr/lib/node_modules/@google/gemini-cli/bundle/gemini.js -m x", "", "-m x", true},
		{"gemini", "node /usr/bin/gemini -m x", "", "-m x", true},
		{"gemini", "node /srv/app/server.js --port 1", "", "", false},
		{"codex", "sh -c |codex exec hi|", "", "", false},
		{"codex", "/x/node_modules/@openai/codex-linux-x64/vendor/codex/codex resume a", "", "resume a", true},
		{"codex", "", "", "", false},
		{"codex", "vim codex.go", "", "", false},
	} {
		program, args, ok := FromProcess(named1(t, c.agent), words(c.shown))
		if program != c.program || ok != c.ok || !slices.Equal(args, words(c.args)) && (len(args) > 0 || c.args != "") {
			t.Errorf(`%s: got %q %q %v; want program == c.program, ok == c.ok and args equal to `+
				`words(c.args) or (len(args) <= 0 and c.args == "")`, c.shown, program, args, ok)
		}
	}
}

// Whatever the command line: no older id, no prompt and no credential comes
// along, cleaning twice changes nothing, and what is kept stood there before.
func TestCleanKeepsItsPromises(t *testing.T) {
	key := "sk-ant-" + "api03-" + strings.Repeat("aB3x", 10)
	rapid.Check(t, func(t *rapid.T) {
		a := agent.Builtin().Agents()[rapid.IntRange(0, len(agent.Builtin().Agents())-1).Draw(t, "agent")]
		if a.Resume == nil {
			t.Skip("cannot resume")
		}
		vocabulary := []string{"--model", "M", "an old prompt", "--", "-x", "-abc", "--unknown", "--token=" + key, key,
			"-", ""}
		for _, list := range [][]string{a.Resume.Drop, a.Resume.Cwd, a.Resume.ModeFlags} {
			vocabulary = append(vocabulary, list...)
		}
		args := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 8).Draw(t, "args")
		kept, ok := Clean(a, args, "/d")
		if !ok {
			return
		}
		at := 0
		for _, arg := range kept {
			if strings.Contains(arg, key) {
				t.Fatalf("%q keeps a credential: %q", args, kept)
			}
			i := slices.Index(args[at:], arg)
			if i < 0 && !isFlag(arg) {
				t.Fatalf("%q: %q was not there in that order: %q", args, arg, kept)
			}
			at += max(i, 0)
		}
		again, ok := Clean(a, kept, "/d")
		if !ok || !slices.Equal(again, kept) {
			t.Fatalf("%q: %q becomes %q; want ok and again equal to kept", args, kept, again)
		}
	})
}
