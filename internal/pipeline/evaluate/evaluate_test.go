package evaluate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/version/upgrades"
)

// home makes the places of a user, with files by their path below the config
// folder.
func home(t *testing.T, files map[string]string) paths.Dirs {
	t.Helper()
	h := sandbox.NewForTest(t, sandbox.Options{})
	for name, text := range files {
		file := filepath.Join(h.Dirs.Config, name)
		if rest, ok := strings.CutPrefix(name, "state/"); ok {
			file = filepath.Join(h.Dirs.State, rest)
		}
		h.MustWrite(t, file, text)
	}
	return h.Dirs
}

// asked returns what came of a Bash call of an agent.
func asked(dirs paths.Dirs, agent, native, payload string) Verdict {
	return New(dirs, true).Decide(context.Background(), Call{
		ID: "1", Time: time.Now(), Agent: agent, Event: native, Cwd: dirs.Home, Payload: []byte(payload),
		Env: func(string) string { return "" },
	})
}

func bash(command string) string {
	return `{"session_id":"s","tool_name":"Bash","tool_input":{"command":"` + command + `"}}`
}

const guardHook = `{"hooks":[{"id":"mine","agent":"*","hookType":"tool.before","handler":"command","target":"true"}]}`

func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		name            string
		files           map[string]string
		agent, native   string
		payload         string
		want            event.Verdict
		reason, exactly string
	}{
		{name: "harmless", payload: bash("ls"), want: event.None},
		{name: "own files", payload: bash("hookmux guard off own-files"), want: event.Deny, reason: "own-files.control"},
		{name: "guard that asks", files: map[string]string{"config.json": `{"guard.own-files":"ask"}`},
			payload: bash("hookmux off"), want: event.Ask, reason: "own-files.control"},
		{name: "guard off", files: map[string]string{"config.json": `{"guard.own-files":"off"}`}, payload: bash("hookmux off"), want: event.None},
		{name: "cut", payload: `{"tool_name":"Bash"`, want: event.Ask, reason: "cannot see what this call does"},
		{name: "an object", payload: `{"tool_name":"Bash","tool_input":{"command":{}}}`, want: event.Ask, reason: "neither a text"},
		{name: "agent that cannot ask", agent: "codex", payload: "", want: event.Deny, reason: "the payload is empty"},
		{name: "unreadable without guards", files: map[string]string{"config.json": `{"guard.own-files":"off"}`}, payload: "{", want: event.None},
		{name: "observed", native: "PostToolUse", payload: "{", want: event.None},
		{name: "off, as something else wrote it", files: map[string]string{"state/off.json": `{"since":"2020-01-01T00:00:00Z"}`},
			payload: bash("hookmux off"), want: event.Deny},
		{name: "damaged off", files: map[string]string{"state/off.json": `{}`}, payload: bash("hookmux off"), want: event.Deny},
		{name: "hook that guards", files: map[string]string{"hooks.json": guardHook}, payload: bash("ls"), want: event.Ask, reason: "hook mine failed"},
		{name: "guard before hook", files: map[string]string{"hooks.json": guardHook}, payload: bash("hookmux off"), want: event.Deny},
		{name: "hook that observes", files: map[string]string{"hooks.json": strings.Replace(guardHook, `"handler"`, `"role":"observe","handler"`, 1)},
			payload: bash("ls"), want: event.None},
		{name: "hook whose failure is ignored",
			files:   map[string]string{"hooks.json": strings.Replace(guardHook, `"handler"`, `"onFailure":"ignore","handler"`, 1)},
			payload: bash("ls"), want: event.None},
		{name: "module", files: map[string]string{"hooks/mine.ts": ""}, payload: bash("ls"), want: event.Ask, reason: "ts:mine.ts"},
		{name: "a person for side effects", files: map[string]string{"config.json": `{"approvals.policy":"side-effects"}`},
			payload: bash("touch x"), want: event.Ask, reason: "ask the user"},
		{name: "a person for permissions only", files: map[string]string{"config.json": `{"approvals.policy":"permission"}`}, payload: bash("touch x"), want: event.None},
	} {
		if c.agent == "" {
			c.agent = "claude"
		}
		if c.native == "" {
			c.native = "PreToolUse"
		}
		v := asked(home(t, c.files), c.agent, c.native, c.payload)
		if v.Decision.Verdict != c.want || !strings.Contains(v.Decision.Reason, c.reason) {
			t.Errorf("%s: %s, %q; want %s with a reason that contains %q", c.name, v.Decision.Verdict.Word(),
				v.Decision.Reason, c.want.Word(), c.reason)
		}
		if c.want != event.None && v.Answer.Stdout == "" && v.Answer.Exit == 0 {
			t.Errorf("%s: nothing is said to the agent", c.name)
		}
	}
}

func TestOff(t *testing.T) {
	for _, c := range []struct {
		name string
		off  sources.Off
		want event.Verdict
	}{
		{"until it is switched on", sources.Off{Since: time.Now().Add(-time.Hour)}, event.None},
		{"for a while", sources.Off{Since: time.Now().Add(-time.Hour), Until: time.Now().Add(time.Hour)}, event.None},
		{"no longer", sources.Off{Since: time.Now().Add(-time.Hour), Until: time.Now().Add(-time.Minute)}, event.Deny},
	} {
		dirs := home(t, nil)
		if err := sources.WriteOff(dirs.State, &c.off); err != nil {
			t.Fatal(err)
		}
		if v := asked(dirs, "claude", "PreToolUse", bash("hookmux off")); v.Decision.Verdict != c.want {
			t.Errorf("%s: %s, want %s", c.name, v.Decision.Verdict.Word(), c.want.Word())
		}
	}
}

// What a person accepted is in force, whatever something else made of the
// files; where it is gone all built-in guards are on.
func TestAcceptedStateIsInForce(t *testing.T) {
	dirs := home(t, map[string]string{"config.json": `{"guard.destructive":"block","guard.own-files":"off"}`,
		"hooks.json": guardHook})
	evaluated := func(command string) event.Verdict {
		return New(dirs, false).Decide(context.Background(), Call{
			ID: "1", Time: time.Now(), Agent: "claude", Event: "PreToolUse", Cwd: dirs.Home,
			Payload: []byte(bash(command)),
			Env:     func(string) string { return "" },
		}).Decision.Verdict
	}
	want := func(when, command string, want event.Verdict) {
		t.Helper()
		if got := evaluated(command); got != want {
			t.Errorf("%s: %s is answered with %s, want %s", when, command, got.Word(), want.Word())
		}
	}
	const wipe, control = "git push --force origin main", "hookmux off"
	want("before anything was accepted", wipe, event.Deny)
	want("before anything was accepted", control, event.Deny)
	store := sources.OpenAccepted(dirs, false)
	sources.New(sources.Options{Dirs: dirs, Catalogue: agent.Builtin(), Accepted: store})
	if _, err := store.Accept(""); err != nil {
		t.Fatal(err)
	}
	want("once accepted", wipe, event.Deny)
	want("once accepted", control, event.Ask) // by the hook that guards
	for _, name := range []string{"config.json", "hooks.json"} {
		if err := os.Remove(filepath.Join(dirs.Config, name)); err != nil {
			t.Fatal(err)
		}
	}
	want("with the files gone", wipe, event.Deny)
	want("with the files gone", "ls", event.Ask)
	if err := os.Remove(filepath.Join(dirs.State, "accepted.json")); err != nil {
		t.Fatal(err)
	}
	want("with the accepted state gone", wipe, event.Deny)
	want("with the accepted state gone", control, event.Deny)
	if err := os.WriteFile(filepath.Join(dirs.State, "accepted.json"),
		[]byte(`{"content":{"basis":"accepted","files":{}},"mac":""}`), 0o600); err != nil {
		t.Fatal(err)
	}
	want("with a forged accepted state", wipe, event.Deny)
}

// A file of settings that is damaged leaves the last good ones in force.
func TestDamagedSettingsDoNotSwitchGuardsOff(t *testing.T) {
	dirs := home(t, map[string]string{"config.json": `{"guard.destructive":"block"}`})
	wipe := bash("git push --force origin main")
	if v := asked(dirs, "claude", "PreToolUse", wipe); v.Decision.Verdict != event.Deny {
		t.Fatalf("guard.destructive said %s", v.Decision.Verdict.Word())
	}
	if err := os.WriteFile(filepath.Join(dirs.Config, "config.json"), []byte(`{"guard.des`), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := asked(dirs, "claude", "PreToolUse", wipe); v.Decision.Verdict != event.Deny {
		t.Errorf("with damaged settings guard.destructive said %s", v.Decision.Verdict.Word())
	}
}

func TestCovers(t *testing.T) {
	builtin := guardnote.Builtin()
	for name, c := range map[string]struct {
		files    map[string]string
		has, not []guardnote.Cover
	}{
		"as it comes": {has: builtin, not: []guardnote.Cover{{Agent: "claude", Event: "UserPromptSubmit"}}},
		"all off":     {files: map[string]string{"config.json": `{"guard.own-files":"off"}`}, not: builtin},
		"a hook": {
			files: map[string]string{"config.json": `{"guard.own-files":"off"}`, "hooks.json": strings.Replace(guardHook, `"*"`, `"codex"`, 1)},
			has:   []guardnote.Cover{{Agent: "codex", Event: "PreToolUse"}, {Agent: "codex-cli", Event: "PreToolUse"}},
			not:   append(builtin, guardnote.Cover{Agent: "claude", Event: "PreToolUse"}),
		},
		"a person": {
			files: map[string]string{"config.json": `{"guard.own-files":"off","approvals.policy.claude":"all"}`},
			has:   []guardnote.Cover{{Agent: "claude", Event: "tool.before"}, {Agent: "claude-code", Event: "tool.before"}},
		},
		"an agent of the user's": {
			files: map[string]string{"agents/mine.yaml": "name: mine\ndialect: claude\nevents:\n  - {name: Thing, kind: tool.before, install: optional, why: test}\n" +
				"fields: {tool_name: [tool], tool_input: [args]}\ntools: [{name: run, kind: shell, commands: [sh]}]\n"},
			has: []guardnote.Cover{{Agent: "mine", Event: "Thing"}},
		},
	} {
		got := New(home(t, c.files), true).Covers()
		for _, want := range c.has {
			if !slices.Contains(got, want) {
				t.Errorf("%s: %v is missing in %v", name, want, got)
			}
		}
		for _, wrong := range c.not {
			if slices.Contains(got, wrong) {
				t.Errorf("%s: %v is in %v; want no wrong in got", name, wrong, got)
			}
		}
	}
}

// Where the state folder cannot be used (read-only, a file in its place), guards
// decide with their defaults.
func TestStateFolderThatCannotBeUsed(t *testing.T) {
	dirs := home(t, map[string]string{"config.json": `{"guard.destructive":"off","guard.own-files":"off"}`})
	if err := errors.Join(os.RemoveAll(dirs.State), os.MkdirAll(filepath.Dir(dirs.State), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dirs.State, nil, 0o400); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"git push --force origin main", "hookmux off"} {
		v := New(dirs, false).Decide(context.Background(), Call{
			ID: "1", Time: time.Now(), Agent: "claude", Event: "PreToolUse", Cwd: dirs.Home,
			Payload: []byte(bash(command)), Env: func(string) string { return "" },
		})
		if v.Decision.Verdict == event.None || v.Decision.Verdict == event.Allow {
			t.Errorf("%s is answered with %s, want a refusal or a question", command, v.Decision.Verdict.Word())
		}
	}
}

// Without a daemon, too, the rules of the project count in which a session started.
func TestRulesOfTheProjectWhereASessionStarted(t *testing.T) {
	dirs := home(t, map[string]string{"rules/mine.yaml": `version: 1
rules:
  - {id: app, why: not here, match: {program: make}, decide: deny, projects: [~/app], examples: {hit: [make x]}}
`})
	app := filepath.Join(dirs.Home, "app")
	if err := os.MkdirAll(app, 0o700); err != nil {
		t.Fatal(err)
	}
	call := func(session, cwd string) event.Verdict {
		payload := strings.Replace(bash("make x"), `"s"`, `"`+session+`","cwd":"`+cwd+`"`, 1)
		return asked(dirs, "claude", "PreToolUse", payload).Decision.Verdict
	}
	for _, c := range []struct {
		session, cwd string
		want         event.Verdict
	}{
		{"one", app, event.Deny}, {"one", dirs.Home, event.Deny}, {"two", dirs.Home, event.None},
		{"two", app, event.Deny}, {"two", dirs.Home, event.None},
	} {
		if got := call(c.session, c.cwd); got != c.want {
			t.Errorf("session %s in %s: %s, want %s", c.session, c.cwd, got.Word(), c.want.Word())
		}
	}
	// State from an earlier daemon or evaluation that can no longer be read is treated as unknown.
	notes := filepath.Join(dirs.State, "starts.log")
	if err := errors.Join(os.Remove(notes), os.Mkdir(notes, 0o700)); err != nil {
		t.Fatal(err)
	}
	if got := call("one", dirs.Home); got != event.Ask {
		t.Errorf("notes that cannot be read: %s, want ask", got.Word())
	}
}

// State that a newer hookmux wrote can't be read, so nothing is known about what it protects: a call that a guard might
// stop is never let through, and neither an older "off" nor settings that this version happens to understand change that.
func TestStateOfANewerVersionProtectsNoLess(t *testing.T) {
	for _, c := range []struct {
		name, agent, native, payload string
		files                        map[string]string
		want                         event.Verdict
	}{
		{name: "a call", payload: bash("ls"), want: event.Ask},
		{name: "all guards off", payload: bash("ls"), files: map[string]string{"config.json": `{"guard.own-files":"off"}`}, want: event.Ask},
		{name: "an agent that can't ask", agent: "codex", payload: bash("ls"), want: event.Deny},
		{name: "a call that a guard stops", payload: bash("hookmux guard off own-files"), want: event.Deny},
		{name: "a permission request", native: "PermissionRequest", payload: bash("ls"), want: event.None}, // the prompt is up
		{name: "an event that no guard sees", native: "PostToolUse", payload: bash("ls"), want: event.None},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.agent == "" {
				c.agent = "claude"
			}
			if c.native == "" {
				c.native = "PreToolUse"
			}
			dirs := home(t, c.files)
			if err := sources.WriteOff(dirs.State, &sources.Off{Since: time.Now().Add(-time.Hour)}); err != nil {
				t.Fatal(err)
			}
			if v := asked(dirs, c.agent, c.native, c.payload); !v.Off {
				t.Fatal("this version's own state: hookmux isn't off, so the test shows nothing")
			}
			newer := fmt.Sprintf(`{"version": "9.0.0", "format": %d, "since": "2030-01-01T00:00:00Z"}`, upgrades.Format+1)
			if err := os.WriteFile(filepath.Join(dirs.State, "version.json"), []byte(newer), 0o600); err != nil {
				t.Fatal(err)
			}
			v := asked(dirs, c.agent, c.native, c.payload)
			if v.Off || v.Decision.Verdict != c.want {
				t.Errorf("off %v, %s (%s); want %s", v.Off, v.Decision.Verdict.Word(), v.Decision.Reason, c.want.Word())
			}
			if c.want == event.Ask && !strings.Contains(v.Decision.Reason, "install hookmux 9.0.0 or newer") {
				t.Errorf("the reason is %q, want it to say what to install", v.Decision.Reason)
			}
		})
	}
}
