package launch

import (
	"context"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// layerOf returns what Codex makes of the -c flags of a command line.
func layerOf(t testing.TB, args []string) map[string]any {
	t.Helper()
	layer := map[string]any{}
	for _, o := range scanOptions(catalogued(t, "codex").Launch, args).options {
		if o.name != "-c" && o.name != "--config" {
			continue
		}
		key, text, _ := strings.Cut(o.value, "=")
		value, err := overrideValue(text)
		if err != nil {
			value = text // as Codex has it
		}
		setDottedKey(layer, strings.Split(strings.TrimSpace(key), "."), value)
	}
	hooks, _ := layer["hooks"].(map[string]any)
	return hooks
}

// checkTrust holds every default event against layer and state: our group is
// there once, runs our hook, and is trusted where it stands.
func checkTrust(t testing.TB, args []string, hook string) map[string]any {
	t.Helper()
	hooks := layerOf(t, args)
	state, _ := hooks["state"].(map[string]any)
	for _, reg := range (&Request{Agent: catalogued(t, "codex")}).defaultRegistrations() {
		command := shellquote.Line([]string{hook, "codex", reg.event, strconv.Itoa(reg.seconds)})
		groups, _ := hooks[reg.event].([]any)
		var at []int
		for i, g := range groups {
			if commandOf(g) == command {
				at = append(at, i)
			}
		}
		if len(at) != 1 {
			t.Errorf("%s: ours stands at %v of %v", reg.event, at, groups)
			continue
		}
		entry, _ := state[hookentry.CodexTrustKey("/<session-flags>/config.toml", reg.event, strconv.Itoa(at[0]), "0")].(map[string]any)
		want := hookentry.CodexHook{Event: reg.event, Command: command, Timeout: reg.seconds}.Hash()
		if entry["trusted_hash"] != want {
			t.Errorf("%s: not trusted at %d: %v", reg.event, at[0], entry)
		}
	}
	return hooks
}

func TestOverridesStandInFrontAndAreTrusted(t *testing.T) {
	for _, args := range [][]string{nil, {"exec", "--json", "hi"}, {"resume", "--last"},
		{"-m", "x", "-c", "model=1", "hi"}} {
		argv, injected, _, err := plan(t, "codex", nil, args...)
		if err != nil || !injected {
			t.Fatalf("injected = %v, error %v; want no error and injected", injected, err)
		}
		if argv[1] != "-c" || !slices.Equal(argv[len(argv)-len(args):], args) {
			t.Errorf(`argv = %.300q; want argv[1] == "-c" and argv[len(argv)-len(args):] equal to args`, argv)
		}
		hooks := checkTrust(t, argv[1:], testHook)
		for _, e := range catalogued(t, "codex").Events {
			if (hooks[e.Name] != nil) != (e.Install == agent.InstallDefault) {
				t.Errorf("%s (%s): hooks[e.Name] = %v, want (hooks[e.Name] != nil) = (e.Install == "+
					"agent.InstallDefault)", e.Name, e.Install, hooks[e.Name])
			}
		}
	}
}

func TestOverridesOfThePersonStay(t *testing.T) {
	const mine = `[{matcher="Bash",hooks=[{type="command",command="mine",timeout=5}]}]`
	cases := []struct {
		name   string
		args   []string
		event  string
		groups int
		front  int // how many arguments still come first
	}{
		{"one event", []string{"-c", "hooks.PreToolUse=" + mine, "exec", "hi"}, "PreToolUse", 2, 2},
		{"attached", []string{"exec", "-chooks.PreToolUse=" + mine, "hi"}, "PreToolUse", 2, 2},
		{"long", []string{"exec", "--config=hooks.PreToolUse=" + mine, "--", "-c"}, "PreToolUse", 2, 2},
		{"spaces", []string{"--config", " hooks.PreToolUse = " + mine}, "PreToolUse", 2, 2},
		{"whole table", []string{"-c", "hooks={PreToolUse=" + mine + "}", "hi"}, "PreToolUse", 2, 2},
		{"last one counts", []string{"-c", "hooks.PreToolUse=[]", "-m", "x", "-c", "hooks.PreToolUse=" + mine, "hi"}, "PreToolUse", 2, 6},
		{"replaced whole", []string{"-c", "hooks.PreToolUse=" + mine, "-c", "hooks={}"}, "PreToolUse", 1, 4},
		{"two levels", []string{"-c", "hooks.Stop=" + mine, "exec", "-c", "hooks.PreToolUse=" + mine, "hi"}, "Stop", 2, 5},
		{"event that is not ours", []string{"-c", "hooks.PreModelRequest=" + mine}, "PreModelRequest", 1, 2},
		{"state", []string{"-c", `hooks.state={"/x:stop:0:0"={trusted_hash="sha256:1"}}`}, "Stop", 1, 2},
		{"unrelated", []string{"-c", "hooksmith.x=1", "exec", "-c", "model=hooks.x"}, "Stop", 1, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			argv, injected, _, err := plan(t, "codex", nil, c.args...)
			if err != nil || !injected {
				t.Fatalf("injected = %v, error %v; want no error and injected", injected, err)
			}
			args := argv[1:]
			back := len(c.args) - c.front
			if !slices.Equal(args[:c.front], c.args[:c.front]) ||
				!slices.Equal(args[len(args)-back:], c.args[c.front:]) {
				t.Errorf("arguments moved: %.600q; want args[:c.front] equal to c.args[:c.front] and "+
					"args[len(args)-back:] equal to c.args[c.front:]", args)
			}
			hooks := checkTrust(t, args, testHook)
			groups, _ := hooks[c.event].([]any)
			if len(groups) != c.groups || c.groups == 2 && commandOf(groups[0]) != "mine" {
				t.Errorf(`c.event = %s, groups = %+v; want len(groups) = %v and not c.groups == 2 && `+
					`commandOf(groups[0]) != "mine"`, c.event, groups, c.groups)
			}
			if c.name == "state" {
				if state := hooks["state"].(map[string]any); state["/x:stop:0:0"] == nil {
					t.Errorf(`state = %v; want state["/x:stop:0:0"] != nil`, state)
				}
			}
		})
	}
}

func TestOverridesThatCannotBeKeptAreAnError(t *testing.T) {
	for _, value := range []string{"hooks.Stop=[{", "hooks.Stop=x", `hooks.Stop="x"`, "hooks.Stop.x=1", "hooks=1",
		"hooks.state=1"} {
		if argv, _, _, err := plan(t, "codex", nil, "-c", value); err == nil ||
			!strings.HasPrefix(err.Error(), "-c hooks") || strings.Contains(err.Error(), "\n") {
			t.Errorf(`%s: error %v, plan(t, "codex", nil, "-c", value) = %.200q; want an error, err.Error() that `+
				`begins with "-c hooks" and no "\n" in err.Error()`, value, err, argv)
		}
	}
}

func TestHooksSwitchedOffByThePersonStayOff(t *testing.T) {
	argv, injected, notes, err := plan(t, "codex", nil, "--disable", "hooks", "exec", "hi")
	if err != nil || injected || len(notes) != 1 || len(argv) != 5 {
		t.Errorf("argv = %q, injected = %v, notes = %q, error %v; want no error, not injected, len(notes) = 1 and "+
			"len(argv) = 5", argv, injected, notes, err)
	}
}

// The command goes through a shell, and through TOML before that.
func TestAwkwardHookPathsReachAShellWhole(t *testing.T) {
	for _, hook := range awkwardPaths() {
		argv, _, _, err := Plan(Request{Agent: catalogued(t, "codex"), Program: "codex", Hook: hook})
		if err != nil {
			t.Fatal(err)
		}
		hooks := checkTrust(t, argv[1:], hook)
		command := commandOf(hooks["Stop"].([]any)[0])
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		out, err := exec.CommandContext(ctx, "sh", "-c", `printf '%s\0' `+command).Output()
		cancel()
		if want := hook + "\x00codex\x00Stop\x00600\x00"; err != nil || string(out) != want {
			t.Errorf("a shell reads %q of %s (%v)", out, command, err)
		}
	}
}

func TestInlineTOMLIsReadBack(t *testing.T) {
	for _, text := range []string{
		`[{a=1,b=-2.5,c=true,d="x\ty\"\\\u0001",e=[],f={},g=1e3}]`, `{"a b"={"c.d"=1},"é"=2}`, `[2020-01-01, 2020-01-01T10:00:00Z, 10:00:00, 2020-01-01T10:00:00]`, `[inf,-inf]`,
		`'''
multi
line'''`,
	} {
		value, err := overrideValue(text)
		if err != nil {
			t.Fatalf("%s: error %v, want no error", text, err)
		}
		written, err := inlineTOML(value)
		if err != nil || strings.Contains(written, "\n") {
			t.Fatalf(`%s: written = %q, error %v; want no error and no "\n" in written`, text, written, err)
		}
		again, err := overrideValue(written)
		if err != nil {
			t.Fatalf("%s → %s: error %v, want no error", text, written, err)
		}
		twice, err := inlineTOML(again)
		if err != nil || twice != written {
			t.Errorf("text = %s, written = %s, twice = %s, error %v; want no error and twice = %q",
				text, written, twice, err, written)
		}
	}
}
