package verify

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

var testSerial atomic.Int64

// realTestBed returns a test bed for tests that run something of their own. The test runs in parallel with others: agents
// mostly wait.
func realTestBed(t *testing.T, name string) *testbed.TestBed {
	t.Helper()
	in := agentstest.Require(t, name)
	t.Parallel()
	driver, _ := drivers.Find(name)
	srv, err := model.Start(model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	st, err := testbed.New(&testbed.Setting{
		Driver: driver, In: in, Bin: builtBin(t), Model: srv, Patience: agentstest.Timeout,
		Serial: func() string { testSerial.Add(1); return "t" },
	}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		st.ClearUp() // first: what still runs would start a daemon of its own
		st.StopDaemon()
		testbed.RemoveAll(st.Base)
	})
	return st
}

// writePersonFile puts a file of a person's into the test bed's home or project.
func writePersonFile(t *testing.T, dir, rel, text string) string {
	t.Helper()
	file := filepath.Join(dir, rel)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// personsFiles must not be touched: by agent, the files a person has,
// each with a hook of their own that leaves a mark where it runs untrusted.
var personsFiles = map[string]map[string]string{
	"claude": {
		".claude/settings.json": "{\n  \"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"cat >/dev/null; touch ran-own-hook\"}]}]}\n}\n",
		".claude/CLAUDE.md":     "Be kind.\n",
	},
	"codex": {
		".codex/hooks.json": "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"cat >/dev/null\"}]}]}}\n",
		".codex/AGENTS.md":  "Be kind.\n",
	},
}

// An agent started with `hookmux run` reports in order, a hook
// stops a tool, the model reads why, and no file was edited.
func TestRealRun(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			files := map[string]string{}
			for rel, text := range personsFiles[name] {
				files[writePersonFile(t, st.Home, rel, text)] = text
			}
			if name == "codex" { // written by the test bed, and the user's all the same
				file := filepath.Join(st.Home, ".codex/config.toml")
				b, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				files[file] = string(b)
			}
			st.SetScript(append(testbed.CallSteps(st.TaggedCall("before"), st.TaggedCall("deny"), st.TaggedCall("after")),
				model.Step{Say: testbed.LastWords}))
			if err := st.StartDaemonWithHooks(checks.DecideAll); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			e := st.CollectEvidence(st.RunHeadless(context.Background(), st.AgentCommand(), st.FreeCommand("Run it")),
				began)
			logEvidence(t, e)
			if e.Err != nil || e.Exit != 0 {
				t.Fatalf("exit %d %v; want no error and e.Exit == 0", e.Exit, e.Err)
			}
			if !e.Ran("before") || e.Ran("deny") || !e.Ran("after") {
				t.Errorf("ran: %v %v %v, want the middle one refused", e.Ran("before"), e.Ran("deny"), e.Ran("after"))
			}
			if !e.Saw(testbed.WordFor(testbed.WordReason, "deny")) {
				t.Error("the model never read the reason")
			}
			if name == "claude" && !e.Ran("own-hook") {
				t.Error("the user's own hook did not run beside hookmux's")
			}
			inOrder(t, e, []event.Kind{event.SessionStart, event.TurnStart, event.ToolBefore, event.ToolAfter,
				event.ToolBefore, event.ToolBefore, event.ToolAfter, event.TurnEnd, event.SessionEnd})
			for file, was := range files {
				if b, err := os.ReadFile(file); err != nil || string(b) != was {
					t.Errorf("%s was changed: %v; want no error and string(b) == was", file, err)
				}
			}
			if e.Left > 0 {
				t.Errorf("%d processes were left behind", e.Left)
			}
		})
	}
}

// inOrder finds the kinds as a subsequence of what arrived.
func inOrder(t *testing.T, e *testbed.Evidence, want []event.Kind) {
	t.Helper()
	var got []string
	for _, x := range e.Seen {
		got = append(got, string(x.Event.Kind))
		if len(want) > 0 && x.Event.Kind == want[0] {
			want = want[1:]
		}
	}
	if len(want) > 0 {
		t.Errorf("no %s in its place; arrived: %s", want[0], strings.Join(got, " "))
	}
}

func logEvidence(t *testing.T, e *testbed.Evidence) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("exit %d %s\nstdout: %s\nstderr: %s\nfiles: %v", e.Exit, e.Signal, testbed.ClipText(e.Stdout),
				testbed.ClipText(e.Stderr), e.Files)
			for _, x := range e.Seen {
				t.Logf("%s %s %s -> %s %v", x.Event.Native, x.Event.Kind, testbed.TagOf(&x.Event), x.Answer.Stdout,
					x.Decision.Degraded)
			}
		}
	})
}

// Nothing of hookmux stands between the agent
// and whoever started it.
func TestRealRunPassesCodeAndSignal(t *testing.T) {
	for _, name := range []string{"claude", "codex"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			ctx := context.Background()
			direct := st.In
			direct.Env = nil
			for _, args := range [][]string{{"--no-such-flag-at-all"}, {"--version"}} {
				want, err := realagents.Run(ctx, direct, st.Env, st.Project, args...)
				if err != nil {
					t.Fatal(err)
				}
				got, err := realagents.Run(ctx, st.AgentCommand(), st.Env, st.Project, args...)
				if err != nil || got.Exit != want.Exit || got.Stdout != want.Stdout {
					t.Errorf("%v: code %d and %q, without hookmux %d and %q (%v)", args, got.Exit,
						testbed.ClipText(got.Stdout), want.Exit, testbed.ClipText(want.Stdout), err)
				}
			}
			st.StopDaemon()
			// The signal goes to the process that was started: it is the agent.
			term, _ := checks.RunNamed("term")
			if err := term.Execute(ctx, st); err != nil {
				t.Fatal(err)
			}
			if e := st.Evidence; e.Signal != "terminated" && e.Exit != 128+15 {
				t.Errorf(`SIGTERM: code %d %s; want e.Signal == "terminated" or e.Exit == 128+15`, e.Exit, e.Signal)
			}
		})
	}
}

// claudeHook is a hook as people write it for Claude Code.
const claudeHook = `#!/bin/sh
payload=$(cat)
printf '%s\n' "$payload" >> "$(dirname "$0")/heard"
say() { printf '{"hookSpecificOutput":{"hookEventName":"PreToolUse",%s}}' "$1"; }
case "$payload" in
*ran-cf-deny*) say '"permissionDecision":"deny","permissionDecisionReason":"cf-reason-deny"' ;;
*ran-cf-exit*) echo cf-reason-exit >&2; exit 2 ;;
*ran-cf-input*) say '"permissionDecision":"allow","updatedInput":{"command":"touch ran-cf-changed; echo out-cf-changed"}' ;;
*ran-cf-context*) say '"additionalContext":"cf-words"' ;;
*ran-cf-ask*) say '"permissionDecision":"ask","permissionDecisionReason":"cf-reason-ask"' ;;
esac
`

// A hook written for Claude Code denies, changes input
// and adds context on other agents as far as the capability table says, and
// what an agent cannot carry is refused or dropped visibly.
func TestRealClaudeFormat(t *testing.T) {
	for _, name := range []string{"codex", "grok", "claude"} {
		t.Run(name, func(t *testing.T) {
			st := realTestBed(t, name)
			script := writePersonFile(t, st.Base, "cf/hook", claudeHook)
			if err := os.Chmod(script, 0o700); err != nil {
				t.Fatal(err)
			}
			hooks, _ := json.Marshal(map[string]any{"version": 1, "hooks": []any{map[string]any{
				"id": "cf", "agent": "*", "hookType": "tool.before", "handler": "command", "target": script, "format": "claude",
			}}})
			writePersonFile(t, st.Home, ".config/hookmux/hooks.json", string(hooks))
			st.SetScript(append(testbed.CallSteps(st.TaggedCall("cf-deny"), st.TaggedCall("cf-exit"),
				st.TaggedCall("cf-input"), st.TaggedCall("cf-context"), st.TaggedCall("cf-ask")),
				model.Step{Say: testbed.LastWords}))
			if err := st.StartDaemonWithHooks(nil); err != nil {
				t.Fatal(err)
			}
			args := st.FreeCommand("Run it")
			if st.Driver.Strict != nil && !st.Driver.Run {
				args = st.Driver.Strict(testbed.MarkedPrompt(
					"Run it")) // asking counts only where not everything is permitted
			}
			began := time.Now()
			err := st.RunHeadless(context.Background(), st.AgentCommand(), args)
			outcomes := outcomesOf(t, st)
			e := st.CollectEvidence(err, began)
			logEvidence(t, e)
			if e.Err != nil {
				t.Fatalf("e.Err = %v, want no error", e.Err)
			}
			carries := checks.ClaimFor(st, event.ToolBefore)
			for _, tag := range []string{"cf-deny", "cf-exit"} {
				if e.Ran(tag) || !e.Saw("cf-reason-"+strings.TrimPrefix(tag, "cf-")) {
					t.Errorf("%s: ran %v, reason read %v", tag, e.Ran(tag),
						e.Saw("cf-reason-"+strings.TrimPrefix(tag, "cf-")))
				}
			}
			if e.Ran("cf-input") || e.Ran("cf-changed") != carries.Input {
				t.Errorf("changed input: original ran %v, changed ran %v, claimed %v", e.Ran("cf-input"),
					e.Ran("cf-changed"), carries.Input)
			}
			if !carries.Allow {
				journalSays(t, outcomes, "cf-input", "allow → none")
			}
			if !e.Ran("cf-context") || e.Saw("cf-words") != carries.Context {
				t.Errorf("context: ran %v, read %v, claimed %v", e.Ran("cf-context"), e.Saw("cf-words"),
					carries.Context)
			}
			if e.Ran("cf-ask") {
				t.Error("a call that a hook wanted asked about ran, and nobody was asked")
			}
			if !carries.Ask {
				journalSays(t, outcomes, "cf-ask", "ask → deny")
				if !e.Saw("cf-reason-ask") {
					t.Error("the model never read why")
				}
			}
			heard, _ := os.ReadFile(filepath.Join(st.Base, "cf", "heard"))
			if !strings.Contains(string(heard), `"tool_name":"Bash"`) ||
				!strings.Contains(string(heard), `"hook_event_name":"PreToolUse"`) {
				t.Errorf("the hook was not asked in Claude Code's words: %s", testbed.ClipText(string(heard)))
			}
		})
	}
}

// outcomesOf reads what was decided, by tag, from the journal of the test bed's
// daemon: that is where people see it.
func outcomesOf(t *testing.T, st *testbed.TestBed) map[string]string {
	t.Helper()
	out := map[string]string{}
	for range 40 { // the journal is filled behind the answer
		err := readJournal(st, func(e client.Entry) {
			if m := testbed.TagPattern.Compiled().FindSubmatch(e.Event); m != nil && e.Outcome != nil {
				out[string(m[1])] += string(e.Outcome.Decision)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if out["cf-ask"] != "" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return out
}

func journalSays(t *testing.T, outcomes map[string]string, tag, words string) {
	t.Helper()
	if !strings.Contains(outcomes[tag], words) {
		t.Errorf("%s: the journal does not say %q: %s", tag, words, outcomes[tag])
	}
}
