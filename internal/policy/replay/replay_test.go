package replay

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/guards"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/wire"
)

const (
	home    = "/home/ann"
	project = "/home/ann/app"
)

var catalogue = agent.Builtin()

var began = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// stored returns a call of Claude Code's as the daemon gives it out: redacted and cut.
func stored(t testing.TB, n int, tool string, input map[string]any, decided string) wire.Entry {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"session_id": "s1", "hook_event_name": "PreToolUse", "cwd": project,
		"permission_mode": "default", "tool_name": tool, "tool_input": input})
	if err != nil {
		t.Fatalf("payload %v: want JSON, got %v", input, err)
	}
	body, _ := redact.AppendJSON(nil, payload, redact.DefaultLimits())
	ev := catalogue.Decode(agent.Input{ID: fmt.Sprintf("e%d", n), Time: began.Add(time.Duration(n) * time.Second),
		Agent: "claude", Event: "PreToolUse", Payload: body, Cwd: project})
	entry := wire.Entry{Cursor: fmt.Sprint(n), Event: ev.AppendJSON(nil, event.Form{Raw: body, NoBodies: true})}
	if decided != "" {
		entry.Outcome = &wire.Outcome{ID: ev.ID, Decision: json.RawMessage(`{"verdict":"` + decided + `"}`)}
	}
	return entry
}

func command(t testing.TB, n int, text, decided string) wire.Entry {
	return stored(t, n, "Bash", map[string]any{"command": text}, decided)
}

func each(list []wire.Entry) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, e := range list {
			text, err := json.Marshal(e)
			if !yield(text, err) {
				return
			}
		}
	}
}

const ruleText = `version: 1
rules:
  - id: no-push
    why: CI pushes
    match: {program: git, subcommand: push}
    decide: deny
    examples: {hit: [git push], miss: [git pull]}
  - id: only-registry
    why: no other hosts
    match: {host: ["*", "!registry.npmjs.org"], scope: public}
    decide: ask
    examples: {hit: ["curl https://evil.test/"], miss: [npm install x]}
  - id: main-stays
    why: main is protected
    match: {program: git, subcommand: commit, branch: main}
    decide: ask
    onUnknown: ignore
    examples: {hit: [{command: git commit, branch: main}], miss: [git commit]}
  - id: says-prod
    why: nothing about production
    when: any(commands, .text contains "prod-")
    decide: deny
    onUnknown: ignore
    examples: {hit: [psql prod-db], miss: [psql dev]}
  - id: alone
    why: nobody looks
    match: {program: make}
    when: attended == "no"
    decide: ask
    examples: {hit: [], miss: []}
  - id: quiet
    why: only watched
    match: {program: npm}
    decide: deny
    mode: log
    examples: {hit: [npm publish]}
  - id: drops
    why: tables stay
    match: {program: mysql, statement: drop}
    decide: deny
    examples: {hit: ["mysql -e 'drop table a'"], miss: ["mysql -e 'select 1'"]}
  - id: tests
    why: tests may run
    match: {program: go, subcommand: test}
    decide: allow
    examples: {hit: [go test ./...]}
`

func ruleList(t testing.TB) []*rules.Rule {
	t.Helper()
	text := strings.Replace(ruleText, "{hit: [], miss: []}", "{hit: [make]}", 1)
	text = strings.Replace(text, `when: attended == "no"`, `when: attended != "yes"`, 1)
	list, problems := rules.Parse(rules.Source{Name: "r.yaml", Data: []byte(text), Layer: rules.User})
	if len(problems) > 0 {
		t.Fatalf("rules: want none wrong, got %v", problems)
	}
	return list
}

func run(t testing.TB, list []wire.Entry, change func(*Options)) *Report {
	t.Helper()
	o := Options{Rules: ruleList(t), Home: home, Catalogue: catalogue,
		FindProject: func(string) string { return project }}
	if change != nil {
		change(&o)
	}
	report, err := Run(each(list), o)
	if err != nil {
		t.Fatalf("replay: want a report, got %v", err)
	}
	return report
}

func (r *Report) rule(id string) RuleCount {
	for _, c := range r.Rules {
		if c.ID == id {
			return *c
		}
	}
	return RuleCount{ID: "no rule " + id}
}

const key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKlMnOpQr-AbCdEfAA"

func TestReplay(t *testing.T) {
	list := []wire.Entry{
		command(t, 0, "git push origin x", ""),
		command(t, 1, "git push", "deny"),
		command(t, 2, "git status", ""),
		command(t, 3, "curl https://evil.test/", "allow"),
		command(t, 4, "go test ./...", "ask"),
		command(t, 5, "npm publish", ""),
	}
	got := run(t, list, nil)
	want := Counts{Deny: 3, Ask: 1, Allow: 1, Differs: 4}
	if got.Scanned != 6 || got.Counts != want {
		t.Errorf("want 6 scanned and %+v, got %d and %+v", want, got.Scanned, got.Counts)
	}
	push := got.rule("no-push")
	if push.Deny != 2 || push.Differs != 1 || len(push.Samples) != 2 || push.Samples[0].ID != "e1" ||
		push.Samples[0].Happened != "deny" || push.Samples[0].Call != "Bash: git push" {
		t.Errorf("no-push: want 2 denied, the newest e1 first, got %+v", push)
	}
	if len(got.Agents) != 1 || got.Agents[0].Name != "claude" || got.Agents[0].Scanned != 6 || got.Agents[0].Deny != 3 {
		t.Errorf("by agent: want claude with 6 calls and 3 denied, got %+v", got.Agents[0])
	}
	if len(got.Projects) != 1 || got.Projects[0].Name != project {
		t.Errorf("by project: want %s, got %+v", project, got.Projects)
	}
	if got.From == nil || !got.From.Equal(began) || !got.To.Equal(began.Add(5*time.Second)) {
		t.Errorf("want from %s on 5 s, got %v to %v", began, got.From, got.To)
	}
	honoured := run(t, list, func(o *Options) { o.Honour = true })
	if quiet := honoured.rule("quiet"); honoured.Deny != 2 || quiet.LogOnly != 1 || quiet.Deny != 0 {
		t.Errorf("logOnly rules honoured: want 2 denied and one only recorded, got %d and %+v", honoured.Deny, quiet)
	}
	off := run(t, list, func(o *Options) { o.Modes = map[string]rules.Mode{"no-push": rules.Off} })
	if off.rule("no-push").Deny != 0 {
		t.Errorf("a rule switched off: want no hits, got %+v", off.rule("no-push"))
	}
}

// What was cut, redacted or never recorded is no miss.
func TestNotReplayable(t *testing.T) {
	long := "echo " + strings.Repeat("word ", 8000)
	for _, c := range []struct {
		what  string
		entry wire.Entry
		open  []string
		hit   string
	}{
		{"branch was not recorded", command(t, 0, "git commit -m x", ""), []string{"main-stays"}, ""},
		{"attendance was not recorded", command(t, 0, "make", ""), []string{"alone"}, ""},
		{"a redacted word", command(t, 0, "psql "+key, ""), []string{"says-prod"}, ""},
		{"a redacted word in single quotes", command(t, 0, "psql -c 'x "+key+"'", ""), []string{"says-prod"}, ""},
		{"redacted, and refused all the same", command(t, 0, "git push https://x:"+key+"@git.test/a", ""),
			[]string{"says-prod"}, "no-push"},
		{"redacted where a statement stood", command(t, 0, "mysql -e 'select "+key+"'", ""), []string{"drops"}, ""},
		{"a cut command", command(t, 0, long+"; git push", ""), []string{"no-push", "says-prod", "only-registry"}, ""},
		{"refused before the cut", command(t, 0, "git push; "+long, ""), []string{"says-prod"}, "no-push"},
		{"a redacted URL", stored(t, 0, "WebFetch", map[string]any{"url": "https://" + key + "/x"}, ""),
			[]string{"only-registry"}, ""},
	} {
		got := run(t, []wire.Entry{c.entry}, nil)
		for _, id := range c.open {
			if rule := got.rule(id); rule.NotReplayable != 1 {
				t.Errorf("%s: want rule %s not replayable, got %+v", c.what, id, rule)
			}
		}
		if c.hit == "" && (got.NotReplayable != 1 || got.Deny+got.Ask > 0) {
			t.Errorf("%s: want the call not replayable, got %+v", c.what, got.Counts)
		}
		if c.hit != "" && (got.rule(c.hit).Deny != 1 || got.Deny != 1) {
			t.Errorf("%s: want it denied by %s, got %+v", c.what, c.hit, got.Counts)
		}
	}
	// A redacted word takes nothing from rules about other programs.
	got := run(t, []wire.Entry{command(t, 0, "psql "+key, "")}, nil)
	if got.rule("no-push").NotReplayable+got.rule("quiet").NotReplayable != 0 {
		t.Errorf("rules about other programs: want them decided, got %+v", got.rule("no-push"))
	}
}

func TestClaudesRulesReplayed(t *testing.T) {
	list, problems := rules.Parse(rules.Source{Name: "c.yaml", Layer: rules.User, Data: []byte(`version: 1
rules:
  - {id: claude, why: b, claude: {deny: ["Bash(git push:*)"], allow: ["Bash(npm run:*)"]}}
`)})
	if len(problems) > 0 {
		t.Fatalf("rules: want none wrong, got %v", problems)
	}
	got := run(t, []wire.Entry{command(t, 0, "git push "+key, ""), command(t, 1, "npm run "+key, ""),
		command(t, 2, "npm run x", "")}, func(o *Options) { o.Rules = list })
	if got.Deny != 1 || got.NotReplayable != 1 || got.Allow != 1 {
		t.Errorf("want one denied, one not replayable, one allowed, got %+v", got.Counts)
	}
}

func TestGuardsReplayed(t *testing.T) {
	list, err := guards.Rules(nil)
	if err != nil {
		t.Fatalf("guards: want their rules, got %v", err)
	}
	list = slices.DeleteFunc(list, func(r *rules.Rule) bool {
		return !strings.HasPrefix(r.ID, "destructive.") && r.ID != "git-history.reset"
	})
	ask := func(o *Options) { o.Checks, o.Rules = guards.Checks(facts.Machine{}), list }
	got := run(t, []wire.Entry{command(t, 0, "git reset --hard HEAD~3", ""), command(t, 1, "ls", ""),
		command(t, 2, "echo "+key, "")}, ask)
	if got.Scanned != 3 || got.Deny != 1 || got.NotReplayable != 1 {
		t.Errorf("guards: want one of 3 denied, one not replayable, got %+v", got.Counts)
	}
	// It may be the gap that keeps a command from being read.
	got = run(t, []wire.Entry{command(t, 0, `rm -rf "x `+key, ""), command(t, 1, `rm -rf "x`, "")},
		ask)
	if got.Deny != 1 || got.NotReplayable != 1 {
		t.Errorf("unreadable: want the one without a gap denied, the other not replayable, got %+v", got.Counts)
	}
}

func TestDuplicatesCountOnce(t *testing.T) {
	duplicate := command(t, 1, "git push", "deny")
	duplicate.Outcome.Duplicate = "e0"
	if got := run(t, []wire.Entry{command(t, 0, "git push", "deny"), duplicate}, nil); got.Deny != 1 || got.Duplicates != 1 {
		t.Errorf("a call told twice: want it denied once and one duplicate, got %d and %d", got.Deny, got.Duplicates)
	}
}

// Many calls are counted the same by one worker and by several.
func TestWorkersAgree(t *testing.T) {
	var list []wire.Entry
	for i := range 1000 {
		list = append(list, command(t, i, []string{"git push", "ls", "curl https://evil.test/", "make"}[i%4], ""))
	}
	one := run(t, list, func(o *Options) { o.Workers = 1 })
	many := run(t, list, func(o *Options) { o.Workers = 8 })
	a, _ := json.Marshal(one)
	b, _ := json.Marshal(many)
	if string(a) != string(b) {
		t.Errorf("8 workers: want the report of one\n%s\ngot\n%s", a, b)
	}
	if s := many.rule("no-push").Samples; len(s) != samples || s[0].ID != "e996" {
		t.Errorf("want the newest %d samples, first e996, got %+v", samples, s)
	}
}
