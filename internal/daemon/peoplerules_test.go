package daemon

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

const noDeploy = `version: 1
rules:
  - id: no-deploy
    why: people deploy
    match: {program: make, subcommand: deploy}
    decide: deny
    examples: {hit: [make deploy], miss: [make test]}
  - id: watched
    why: cargo publishes
    match: {program: cargo, subcommand: publish}
    decide: deny
    mode: log
    examples: {hit: [cargo publish]}
`

// A rule of the user stops the call on agents of every dialect, says why, and is
// recorded as who decided.
func TestPeoplesRulesStopCalls(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/rules/mine.yaml", noDeploy)
	w.Up()
	for _, agent := range []string{"claude", "codex", "grok", "droid", "qwen", "kimi", "codebuddy"} {
		w.MustDeny(daemontest.ToolBefore(agent, "s", w.Base, "cd x && sudo make deploy"),
			"no-deploy stopped this: people deploy [make deploy].")
		w.MustPass(daemontest.ToolBefore(agent, "s", w.Base, "make test"))
	}
	w.Eventually("the rule is recorded as who decided", func() bool {
		return slices.ContainsFunc(w.Rows(), func(r daemontest.Row) bool {
			return r.Verdict() == "deny" && strings.Contains(string(r.Outcome.Decision), `"rule":"no-deploy"`)
		})
	})
	// A rule that only logs is recorded and counted, and changes nothing.
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "cargo publish"))
	var info wire.Info
	w.MustCall(wire.MethodInfo, nil, &info)
	if len(info.LogOnly) != 1 || info.LogOnly[0] != (wire.LogOnlyHook{Hook: "rule:watched", Would: 1}) {
		t.Errorf("logOnly: %+v, want rule:watched with one call", info.LogOnly)
	}
	// It is changed by its file, and by its setting.
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: config.RulesModes, Value: []byte(`["watched=block"]`)}, nil)
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "cargo publish"), "watched")
	w.Write(w.Dirs.Config+"/rules/mine.yaml", "version: 1\nrules: []\n")
	w.soon("the change counts", "make deploy", w.Base, false, "")
}

// A project's rules count after trust; administrators' rules cannot be let pass.
func TestRulesOfProjectsAndAdministrators(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.System+"/rules/all.yaml", strings.ReplaceAll(noDeploy, "deploy", "release"))
	root := w.project("one")
	w.Write(filepath.Join(root, ".hookmux/rules/team.yaml"), noDeploy)
	w.Up()
	deploy := daemontest.ToolBefore("claude", "s", root, "make deploy")
	w.MustPass(deploy)
	w.trust(root)
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "make deploy"), "no-deploy")
	w.MustPass(daemontest.ToolBefore("claude", "elsewhere", w.Base, "make deploy"))
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "make release"), "no-release")
	for method, params := range map[string]any{
		wire.MethodAllow: wire.AllowParams{Rule: "no-release", Once: true},
		wire.MethodPause: wire.PauseParams{Name: "no-release", Seconds: 60},
	} {
		if err := w.Call(method, params, nil); err == nil || !strings.Contains(err.Error(), "administrator") {
			t.Errorf("%s of an administrator's rule: %v, want it refused", method, err)
		}
	}
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: config.RulesModes,
		Value: []byte(`["no-release=off"]`)}, nil)
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "make release"), "no-release")
	w.MustCall(wire.MethodAllow, wire.AllowParams{Rule: "no-deploy", Once: true}, nil)
	w.MustPass(daemontest.ToolBefore("claude", "s", root, "make deploy"))
	w.MustDeny(daemontest.ToolBefore("claude", "s", root, "make deploy"), "no-deploy")
	// explain names the rule with its place.
	payload := daemontest.ToolBefore("claude", "s", root, "make deploy").Payload
	var said wire.Explained
	w.MustCall(wire.MethodExplain, wire.ExplainParams{Agent: "claude", Event: "PreToolUse", Cwd: root, Payload: payload}, &said)
	var e examine.Examination
	if err := json.Unmarshal(said.Examination, &e); err != nil {
		t.Fatal(err)
	}
	e.Findings = slices.DeleteFunc(e.Findings, func(f examine.Finding) bool { return f.Guard != "" }) // those of guards that are off
	if len(e.Findings) != 1 || e.Findings[0].Line != 3 || e.Findings[0].Layer != "project" || e.Rule != "no-deploy" {
		t.Errorf("explained: %+v, want the project's rule at line 3", e)
	}
}

// Pauses end by themselves and survive a restart of the daemon; a rule that is wrong is
// a problem with its place.
func TestPausesAndProblems(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/rules/mine.yaml", noDeploy)
	w.Up()
	deploy := func() frame.Request { return daemontest.ToolBefore("claude", "s", w.Base, "make deploy") }
	w.MustDeny(deploy(), "no-deploy")
	w.MustCall(wire.MethodPause, wire.PauseParams{Name: "no-deploy", Seconds: 3600}, nil)
	w.MustPass(deploy())
	w.Down()
	w.Up()
	w.MustPass(deploy())
	var info wire.Info
	w.MustCall(wire.MethodInfo, nil, &info)
	if len(info.Pauses) != 1 || info.Pauses[0].Name != "no-deploy" {
		t.Errorf("pauses: %+v, want no-deploy", info.Pauses)
	}
	w.MustCall(wire.MethodPause, wire.PauseParams{Name: "no-deploy", Seconds: 0.05}, nil)
	w.soon("the pause ends by itself", "make deploy", w.Base, true, "no-deploy")
	w.Write(w.Dirs.Config+"/rules/bad.yaml", strings.Replace(noDeploy, "hit: [make deploy]", "hit: [ls]", 1))
	w.Eventually("the problem is named", func() bool {
		w.MustCall(wire.MethodInfo, nil, &info)
		for _, p := range info.Problems {
			if strings.Contains(p.What, "rules/bad.yaml:3:5: rule no-deploy is not used: its example is not hit: ls") {
				return true
			}
		}
		return false
	})
	w.MustDeny(deploy(), "no-deploy")
}

// The rules of the project in which a session started count wherever the agent
// goes, also after the daemon was started again.
func TestRulesFollowASessionThroughARestart(t *testing.T) {
	w := newFixture(t)
	app := filepath.Join(w.Base, "app")
	w.Write(app+"/a", "")
	w.Write(w.Dirs.Config+"/rules/mine.yaml", strings.Replace(noDeploy, "decide: deny\n",
		"decide: deny\n    projects: ["+app+"]\n", 1))
	w.Up()
	w.MustPass(daemontest.ToolBefore("claude", "s", app, "ls"))
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "make deploy"), "no-deploy")
	w.MustPass(daemontest.ToolBefore("claude", "elsewhere", w.Base, "make deploy"))
	w.Down()
	w.Up()
	w.MustDeny(daemontest.ToolBefore("claude", "s", w.Base, "make deploy"), "no-deploy")
	w.MustPass(daemontest.ToolBefore("claude", "elsewhere", w.Base, "make deploy"))
}

// A call that several rules watch is one record and one call for each of them.
func TestOneCallThatSeveralRulesWatch(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/rules/mine.yaml", `version: 1
rules:
  - {id: publish, why: p, match: {program: cargo, subcommand: publish}, decide: deny, mode: log, examples: {hit: [cargo publish]}}
  - {id: cargo, why: c, match: {program: cargo}, decide: ask, mode: log, examples: {hit: [cargo x]}}
  - {id: also-cargo, why: c, match: {program: cargo}, decide: warn, mode: log, examples: {hit: [cargo x]}}
`)
	w.Up()
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "cargo publish"))
	w.MustPass(daemontest.ToolBefore("claude", "s", w.Base, "cargo build"))
	var info wire.Info
	w.MustCall(wire.MethodInfo, nil, &info)
	counts := map[string]uint64{}
	for _, m := range info.LogOnly {
		counts[m.Hook] = m.Would
	}
	if len(counts) != 3 || counts["rule:publish"] != 1 || counts["rule:cargo"] != 2 || counts["rule:also-cargo"] != 2 {
		t.Errorf("counts %v, want publish 1, cargo 2 and also-cargo 2", counts)
	}
	var stats []wire.HookStat
	w.MustCall(wire.MethodStats, nil, &stats)
	for _, s := range stats {
		if s.Hook == "guard.rules.log" && s.Would != 2 {
			t.Errorf("%d calls are counted, want 2", s.Would)
		}
	}
	w.Eventually("the record names every rule", func() bool {
		return slices.ContainsFunc(w.Rows(), func(r daemontest.Row) bool {
			steps := r.Outcome.Steps
			at := slices.IndexFunc(steps, func(s wire.Step) bool { return s.Would != nil })
			return at >= 0 && steps[at].Would.Code == wire.WouldDeny &&
				slices.Equal(steps[at].Would.Rules, []string{"publish", "cargo", "also-cargo"})
		})
	})
}

// A patch in a command line changes files as a patch by the tool does.
func TestPatchesInCommandLines(t *testing.T) {
	w := newFixture(t)
	w.Write(w.Dirs.Config+"/rules/mine.yaml", `version: 1
rules:
  - {id: infra, why: i, match: {path: infra/, access: change}, decide: deny, examples: {hit: [rm infra/a]}}
`)
	w.Up()
	patch := func(file string) string {
		return "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: " + file + "\n@@\n-a\n+b\n*** End Patch\nEOF"
	}
	for _, agent := range []string{"claude", "codex"} {
		w.MustDeny(daemontest.ToolBefore(agent, "s", w.Base, patch("infra/x.tf")), "infra stopped this")
		w.MustDeny(daemontest.ToolBefore(agent, "s", w.Base, "cd infra && "+patch("x.tf")), "infra stopped this")
		w.MustDeny(daemontest.ToolBefore(agent, "s", w.Base, patch(w.Dirs.Config+"/rules/mine.yaml")), "own-files")
		w.MustDeny(daemontest.ToolBefore(agent, "s", w.Base, "cd "+w.Dirs.Config+" && "+patch("rules/mine.yaml")), "own-files")
		w.MustPass(daemontest.ToolBefore(agent, "s", w.Base, patch("src/x.go")))
	}
}
