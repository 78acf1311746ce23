package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/isolate"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

func TestDriversAreInTheTable(t *testing.T) {
	for _, name := range drivers.Names() {
		if _, ok := realagents.Find(name); !ok {
			t.Errorf("%s cannot be installed", name)
		}
		d, _ := drivers.Find(name)
		a, known := agent.Builtin().Agent(name)
		if d.Program == "" || !known || a.Install == nil {
			t.Errorf("%s: no program or no hooks", name)
		}
	}
	for _, name := range realagents.Names() {
		if _, ok := drivers.Find(name); !ok {
			t.Errorf("%s has no driver", name)
		}
	}
}

// What an agent costs follows from the plan, and may not grow unseen.
func TestLaunchesStayFew(t *testing.T) {
	for _, name := range drivers.Names() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := drivers.Find(name)
		headless, all := 0, []string{}
		for _, n := range runsOf(plan(a, d, nil)) {
			run, ok := checks.RunNamed(n)
			if !ok || run.WhyNotRun(a, d) != "" {
				continue
			}
			all = append(all, n)
			if !run.RunsAtTerminal(a, d) {
				headless++
			}
		}
		if headless > checks.MaxHeadless {
			t.Errorf("%s: %d headless launches, at most %d: %s", name, headless, checks.MaxHeadless,
				strings.Join(all, " "))
		}
		t.Logf("%s: %d headless: %s", name, headless, strings.Join(all, " "))
	}
}

// The plan follows the capability table: every claim has a row, and a claim
// that no check takes up is shown as open.
func TestEveryClaimHasARow(t *testing.T) {
	for _, name := range drivers.Names() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := drivers.Find(name)
		rows := map[string]int{}
		for _, task := range plan(a, d, nil) {
			rows[task.row.Event+"."+task.row.Claim]++
			if task.check == nil {
				if r := task.result(&checks.Proof{}); r.Mark != checks.Unsure || r.Why == "" {
					t.Errorf("%s: nobody looked, and it says %s", task.row.ID(), r.Mark)
				}
			}
		}
		for _, e := range a.Events {
			for _, c := range e.Claims() {
				if rows[e.Name+"."+c.Name] == 0 {
					t.Errorf("%s %s %s has no row", name, e.Name, c.Name)
				}
			}
		}
	}
}

func TestPlanNarrows(t *testing.T) {
	a, _ := agent.Builtin().Agent("codex")
	d, _ := drivers.Find("codex")
	only := plan(a, d, []string{"pretooluse.DENY"})
	if len(only) != 1 || only[0].row.Event != "PreToolUse" {
		t.Errorf(`%d rows; want len(only) == 1 and only[0].row.Event == "PreToolUse"`, len(only))
	}
	if runs := runsOf(only); len(runs) != 1 || runs[0] != "decide" {
		t.Errorf(`acts %v; want len(acts) == 1 and acts[0] == "decide"`, runs)
	}
	if err := KnowsChecks([]string{"neutral", "PreToolUse", "Stop.keep"}); err != nil {
		t.Error(err)
	}
	if err := KnowsChecks([]string{"nonsense"}); err == nil {
		t.Error("nonsense is no check")
	}
}

func TestScrub(t *testing.T) {
	s := newScrubber("/tmp/hmv123")
	key := "sk-" + "ant-api03-" + strings.Repeat("A1b2", 12)
	in := `{"session_id":"01a1dcf6-0875-7bf0-9c3d-4beccb056ecc","again":"01a1dcf6-0875-7bf0-9c3d-4beccb056ecc","cwd":"/tmp/hmv123/project",` +
		`"t":"/x/-tmp-hmv123-project/y","u":"%2Ftmp%2Fhmv123%2Fproject","when":"2026-11-15T02:07:53.123Z","duration_ms":42,"key":"` + key + `"}`
	out := string(s.json([]byte(in)))
	for _, word := range []string{"hmv123", "01a1dcf6", "02:07", ":42", key} {
		if strings.Contains(out, word) {
			t.Errorf("%s is left in %s", word, out)
		}
	}
	if strings.Count(out, "00000000-0000-4000-8000-000000000001") != 2 {
		t.Errorf("equal ids must stay equal: %s", out)
	}
	if s.json([]byte("no json")) != nil || s.json(bytes.Repeat([]byte(" "), maxRecorded+1)) != nil {
		t.Error("what is no JSON or too large is left out")
	}
}

func TestReportText(t *testing.T) {
	r := &Report{Isolation: isolate.InNamespace, Kept: "/tmp/kept", Agents: []*AgentReport{
		{Agent: "claude", Title: "Claude Code", Version: "2.2.0", Tried: "2.1.325", Launches: 2, Rows: []Row{
			{Check: "neutral", Claimed: true, Result: checks.HoldsBecause("fine")},
			{Check: "deny", Event: "PreToolUse", Claim: "deny", Claimed: true, Result: checks.FailsBecause("tell the project", "the refused command ran")},
			{Check: "ask", Event: "PreToolUse", Claim: "ask", Claimed: true, Result: checks.UnsureBecause("no terminal")},
		}},
		{Agent: "codex", Title: "Codex", Problem: "does not start"},
	}}
	if !r.Failed() {
		t.Error("a claim does not hold, and nobody says so")
	}
	var b bytes.Buffer
	r.Text(&b, false)
	for _, want := range []string{"Claude Code 2.2.0 (last tested with 2.1.325): 1 passed ✓, 1 failed ✗, 1 not tried –",
		"deny ✗  ask –", "✗ PreToolUse.deny: the refused command ran",
		"tell the project", "– PreToolUse.ask: no terminal", "does not start", "loopback", "/tmp/kept",
		"\nClaude Code 2.2.0: 1 check failed; Codex could not be tested (see ✗)\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s; want want in b.String()", want, b.String())
		}
	}
	out, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(out), `"mark":"✗"`) || !strings.Contains(string(out), `"seconds":0.0`) {
		t.Errorf(`out = %s, error %v; want no error, "mark":"✗" in string(out) and "seconds":0.0 in string(out)`,
			out, err)
	}
}

// The last line says what was proven.
func TestReportVerdict(t *testing.T) {
	denied := []Row{{Check: "deny", Event: "PreToolUse", Claim: "deny", Claimed: true, Result: checks.HoldsBecause("fine")}}
	other := []Row{{Check: "neutral", Claimed: true, Result: checks.HoldsBecause("fine")}}
	for want, rows := range map[string][]Row{
		"blocking works in Claude Code 2.1.325": denied, "everything that was tested works": other,
	} {
		r := &Report{Agents: []*AgentReport{{Agent: "claude", Title: "Claude Code", Version: "2.1.325", Rows: rows}}}
		var b bytes.Buffer
		if r.Text(&b, false); !strings.HasSuffix(b.String(), "\n"+want+"\n") {
			t.Errorf("ends with %q, want %q", b.String(), want)
		}
	}
}

// Below every ✗ a person finds what was seen and a command to go on with.
func TestFailuresSayWhatWasSeenAndWhatFixesThem(t *testing.T) {
	n := 0
	for _, name := range drivers.Names() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := drivers.Find(name)
		for _, c := range []struct{ hooked, mine bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
			evidence := map[string]*testbed.Evidence{}
			for _, run := range checks.RunNames() {
				e := &testbed.Evidence{Run: run, Exit: 7, Stderr: "first\nthe hooks file does not parse\n",
					Told: []model.Message{{Role: "tool", Kind: "tool_result", Text: "it ran"}}}
				if c.hooked {
					e.Seen = []testbed.Seen{{Event: event.Event{Native: "SomethingElse"}}}
				}
				evidence[run] = e
			}
			for _, task := range plan(a, d, nil) {
				task.evaluate(&checks.Proof{Agent: a, Version: "9.9.9", Mine: c.mine, Evidence: evidence})
				if task.row.Mark != checks.Fails {
					continue
				}
				n++
				seen := strings.Join(task.row.Seen, "\n")
				for _, want := range []string{"code 7", "does not parse", "it ran"} {
					if !strings.Contains(seen, want) {
						t.Errorf("%s %s: no %q in %s; want want in seen", name, task.row.ID(), want, seen)
					}
				}
				for _, want := range []string{"`hookmux verify " + name + " --check ", "9.9.9"} {
					if !strings.Contains(task.row.Hint, want) {
						t.Errorf("%s %s: no %q in %s; want want in task.row.Hint",
							name, task.row.ID(), want, task.row.Hint)
					}
				}
				// A file of the user's can only be the cause where it was there.
				if !c.hooked && task.subject.Event != nil && strings.Contains(task.row.Hint, placeOf(a)) != c.mine {
					t.Errorf("%s %s, own config %v: %s; want c.hooked or task.subject.Event == nil or "+
						"strings.Contains(task.row.Hint, placeOf(a)) == c.mine",
						name, task.row.ID(), c.mine, task.row.Hint)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d ✗; want n >= 100", n)
	}
}

// A check that an agent has none of is answered, and without a launch.
func TestChecksThatAnAgentLacks(t *testing.T) {
	rows := addUnanswered([]Row{{Check: "order"}}, []string{"order", "neutral"})
	if len(rows) != 1 || rows[0].Check != "neutral" || rows[0].Mark != checks.Unsure {
		t.Errorf(`rows = %+v, want 1 of them, rows[0].Check = "neutral" and rows[0].Mark = checks.Unsure`, rows)
	}
	bin := t.TempDir()
	program := filepath.Join(bin, "goose")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ \"$1\" = --version ] || echo started >>\""+bin+
		"/started\"\necho 1.2.3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	in := realagents.Installed{Name: "goose", Dir: bin, Argv: []string{program}}
	report, err := Run(context.Background(), Options{Targets: []Target{{"goose", in}}, Bin: bin,
		Checks: []string{"ask"}})
	if err != nil || report.Agents[0].Problem != "" {
		t.Fatalf(`error %v, report.Agents[0].Problem = %q; want no error and report.Agents[0].Problem = ""`,
			err, report.Agents[0].Problem)
	}
	if got := report.Agents[0]; got.Launches != 0 || len(got.Rows) != 1 || got.Rows[0].Mark != checks.Unsure ||
		report.Failed() {
		t.Errorf("got %+v, want got.Launches = 0, len(got.Rows) = 1, got.Rows[0].Mark = checks.Unsure and not "+
			"report.Failed()", got)
	}
	if _, err := os.Stat(filepath.Join(bin, "started")); err == nil {
		t.Error("the agent was started for a check it has none of")
	}
}
