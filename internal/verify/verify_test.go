package verify

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/agents"
	"github.com/hookmux/hookmux/internal/verify/model"
)

func TestDriversAreInTheTable(t *testing.T) {
	for _, name := range Drivers() {
		if _, ok := agents.Find(name); !ok {
			t.Errorf("%s cannot be installed", name)
		}
		d, _ := Drive(name)
		a, known := agent.Builtin().Agent(name)
		if d.Program == "" || d.Record == nil && (!known || a.Install == nil) {
			t.Errorf("%s: no program or no hooks", name)
		}
	}
	for _, name := range agents.Names() {
		if _, ok := Drive(name); !ok {
			t.Errorf("%s has no driver", name)
		}
	}
}

// full are the agents whose claims are verified.
func full() []string {
	var out []string
	for _, name := range Drivers() {
		if d, _ := Drive(name); d.Record == nil {
			out = append(out, name)
		}
	}
	return out
}

// What an agent costs follows from the plan, and may not grow unseen.
func TestLaunchesStayFew(t *testing.T) {
	for _, name := range full() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := Drive(name)
		headless, all := 0, []string{}
		for _, n := range actsOf(plan(a, d, nil)) {
			act, ok := actNamed(n)
			if !ok || act.whyNotPlayed(a, d) != "" {
				continue
			}
			all = append(all, n)
			if !act.atTerminal(a, d) {
				headless++
			}
		}
		if headless > MaxHeadless {
			t.Errorf("%s: %d headless launches, at most %d: %s", name, headless, MaxHeadless, strings.Join(all, " "))
		}
		t.Logf("%s: %d headless: %s", name, headless, strings.Join(all, " "))
	}
}

// The plan follows the capability table: every claim has a row, and a claim
// that no check takes up is shown as open.
func TestEveryClaimHasARow(t *testing.T) {
	for _, name := range full() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := Drive(name)
		rows := map[string]int{}
		for _, task := range plan(a, d, nil) {
			rows[task.row.Event+"."+task.row.Claim]++
			if task.check == nil {
				if r := task.result(&Proof{}); r.Mark != Unsure || r.Why == "" {
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
	d, _ := Drive("codex")
	only := plan(a, d, []string{"pretooluse.DENY"})
	if len(only) != 1 || only[0].row.Event != "PreToolUse" {
		t.Errorf("%d rows", len(only))
	}
	if acts := actsOf(only); len(acts) != 1 || acts[0] != "decide" {
		t.Errorf("acts %v", acts)
	}
	if err := KnowsChecks([]string{"neutral", "PreToolUse", "Stop.keep"}); err != nil {
		t.Error(err)
	}
	if err := KnowsChecks([]string{"nonsense"}); err == nil {
		t.Error("nonsense is no check")
	}
}

// Nothing that was not seen is ever shown as proven.
func TestNothingSeenIsNothingProven(t *testing.T) {
	for _, name := range full() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := Drive(name)
		empty := map[string]*Evidence{}
		missing := map[string]*Evidence{}
		unhooked := map[string]*Evidence{} // ran and was told, but no event
		for _, act := range Acts() {
			empty[act] = &Evidence{Act: act, Exit: -1}
			missing[act] = &Evidence{Act: act, Missing: "cannot be played"}
			unhooked[act] = without(a, act)
		}
		for _, task := range plan(a, d, nil) {
			if r := task.result(&Proof{Agent: a, evidence: empty}); r.Mark == Holds {
				t.Errorf("%s holds with no evidence: %s", task.row.ID(), r.Why)
			}
			if r := task.result(&Proof{Agent: a, evidence: unhooked}); r.Mark == Holds {
				t.Errorf("%s %s holds although no hook was ever called: %s", name, task.row.ID(), r.Why)
			}
			if r := task.result(&Proof{Agent: a, evidence: missing}); r.Mark != Unsure {
				t.Errorf("%s is %s although nothing was played", task.row.ID(), r.Mark)
			}
		}
	}
}

func TestRegistryIsOpen(t *testing.T) {
	before := len(Checks())
	Register(Check{ID: "later", Proves: "that more can come", Acts: []string{"observe"}, Saboteur: silent,
		Applies: func(s Subject) bool { return false }, Judge: func(*Proof, Subject) Result { return Result{} }})
	t.Cleanup(func() {
		registry.Lock()
		registry.checks = registry.checks[:before]
		registry.Unlock()
	})
	if len(Checks()) != before+1 {
		t.Error("a check that was registered is not there")
	}
}

func TestUnmentionedFields(t *testing.T) {
	a, _ := agent.Builtin().Agent("claude")
	spec, _ := a.Event("PreToolUse")
	decode := func(extra string) []string {
		payload := `{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls","description":"d"` + extra
		ev := agent.Builtin().Decode(agent.Input{Agent: "claude", Event: "PreToolUse", Payload: []byte(payload)})
		return unmentionedFields(a, spec, &ev)
	}
	if left := decode(`}}`); len(left) != 0 {
		t.Errorf("%v", left)
	}
	if left := decode(`},"brand_new":1}`); len(left) != 1 || left[0] != "brand_new" {
		t.Errorf("%v", left)
	}
	if left := decode(`,"brand_new":1}}`); len(left) != 1 || left[0] != "Bash brand_new" {
		t.Errorf("%v", left)
	}
}

func TestTagsAndChanges(t *testing.T) {
	ev := &event.Event{Kind: event.ToolBefore, Tool: &event.Tool{
		Commands: []string{taggedCommand("par-a")}, Input: json.RawMessage(`{"command":"touch ran-par-a; echo out-par-a","description":"x"}`),
		Output: json.RawMessage(`{"stdout":"real","interrupted":false}`),
	}}
	if tagOf(ev) != "par-a" {
		t.Errorf("tag %q", tagOf(ev))
	}
	if got := string(changedInput(ev, "other")); got != `{"command":"other"}` {
		t.Errorf("input %s", got)
	}
	if got := string(changedOutput(ev, "new")); got != `{"interrupted":false,"stdout":"new"}` {
		t.Errorf("output %s", got)
	}
	ev.Tool.Output = json.RawMessage(`"real"`)
	if got := string(changedOutput(ev, "new")); got != `"new"` {
		t.Errorf("output %s", got)
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
	r := &Report{Isolation: InNamespace, Kept: "/tmp/kept", Agents: []*AgentReport{
		{Agent: "claude", Title: "Claude Code", Version: "2.2.0", Tried: "2.1.325", Launches: 2, Rows: []Row{
			{Check: "neutral", Claimed: true, Result: holds("fine")},
			{Check: "deny", Event: "PreToolUse", Claim: "deny", Claimed: true, Result: fails("tell the project", "the refused command ran")},
			{Check: "ask", Event: "PreToolUse", Claim: "ask", Claimed: true, Result: unsure("no terminal")},
		}},
		{Agent: "codex", Title: "Codex", Problem: "does not start"},
	}}
	if !r.Failed() {
		t.Error("a claim does not hold, and nobody says so")
	}
	var b bytes.Buffer
	r.Text(&b, false)
	for _, want := range []string{"Claude Code 2.2.0 (the catalogue was tried with 2.1.325): 1 ✓  1 ✗  1 –", "deny ✗  ask –", "✗ PreToolUse.deny: the refused command ran",
		"tell the project", "– PreToolUse.ask: no terminal", "does not start", "loopback", "/tmp/kept"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	out, err := json.Marshal(r)
	if err != nil || !strings.Contains(string(out), `"mark":"✗"`) || !strings.Contains(string(out), `"seconds":0.0`) {
		t.Errorf("%s %v", out, err)
	}
}

func TestRecordersInstall(t *testing.T) {
	for _, name := range Drivers() {
		d, _ := Drive(name)
		if d.Record == nil {
			continue
		}
		base := t.TempDir()
		home := filepath.Join(base, "home")
		if _, err := agents.WriteHome(name, home, "http://127.0.0.1:9", base); err != nil {
			t.Fatal(err)
		}
		folder, err := d.Record.prepareFolder(base, home)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, "1-2-PreToolUse.json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := d.Record.readPayloads(folder); err != nil || len(got) != 1 || got[0].Event != "PreToolUse" {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}

func testStage(t *testing.T, name string, mine *Mine, s *Saboteur) *Stage {
	t.Helper()
	srv, err := model.Start(model.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	d, _ := Drive(name)
	bin := t.TempDir()
	for _, p := range []string{"hookmux", "hookmux-hook"} {
		if err := os.WriteFile(filepath.Join(bin, p), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	st, err := newStage(&setting{driver: d, bin: bin, model: srv, mine: mine, sabotage: s, serial: func() string { return "1" }}, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { removeAll(st.Base) })
	return st
}

func TestMine(t *testing.T) {
	home, project := t.TempDir(), t.TempDir()
	secret := "sk-" + "ant-api03-" + strings.Repeat("Q9w8", 12)
	put := func(file, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(home, ".claude/settings.json"), `{"env":{"ANTHROPIC_BASE_URL":"https://elsewhere"},"apiKeyHelper":"x","permissions":{"deny":["Bash(rm:*)"]},"myToken":"`+secret+`","hooks":{}}`)
	put(filepath.Join(home, ".claude.json"), `{"oauthAccount":{"x":"`+secret+`"}}`)
	put(filepath.Join(project, ".claude/settings.local.json"), `{"disableAllHooks": true}`)
	put(filepath.Join(home, ".codex/config.toml"), "model = \"mine\"\nsandbox_mode = \"read-only\"\n[hooks.state.\""+home+"/.codex/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:00\"\n")
	was := tree(t, home)
	m := &Mine{Home: home, Project: project, Getenv: func(string) string { return "" }}

	st := testStage(t, "claude", m, nil)
	b, err := os.ReadFile(filepath.Join(st.Home, ".claude/settings.json"))
	if err != nil || !strings.Contains(string(b), "permissions") || strings.Contains(string(b), secret) || strings.Contains(string(b), "elsewhere") || strings.Contains(string(b), "apiKeyHelper") {
		t.Errorf("%s %v", b, err)
	}
	if _, err := os.Stat(filepath.Join(st.Project, ".claude/settings.local.json")); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(st.Home, ".claude.json")); strings.Contains(string(b), "oauthAccount") {
		t.Error("the account was copied")
	}

	st = testStage(t, "codex", m, nil)
	b, err = os.ReadFile(filepath.Join(st.Home, ".codex/config.toml"))
	text := string(b)
	if err != nil || !strings.Contains(text, "read-only") || !strings.Contains(text, st.Home+"/.codex/hooks.json:stop:0:0") || !strings.Contains(text, "sha256:00") || strings.Contains(text, "\"mine\"") || !strings.Contains(text, "scripted") {
		t.Errorf("%s %v", b, err)
	}
	sameTree(t, home, was)
	a, _ := agent.Builtin().Agent("claude")
	if notes := strings.Join(m.takenNotes(a), "\n"); !strings.Contains(notes, "settings.json") || !strings.Contains(notes, "without "+filepath.Join(home, ".claude.json")) {
		t.Error(notes)
	}
}

// A saboteur breaks the stage's own copy and nothing else.
func TestSaboteurWrapsItsOwnCopy(t *testing.T) {
	st := testStage(t, "grok", nil, &wrongKey)
	b, err := os.ReadFile(filepath.Join(st.Bin, "hookmux-hook"))
	if err != nil || !strings.Contains(string(b), "updated_input") || filepath.Dir(st.Bin) != st.Base {
		t.Errorf("%s %v", b, err)
	}
	st = testStage(t, "grok", nil, &noEnd)
	if e, ok := st.Agent.Event("SessionEnd"); !ok || e.Install != agent.InstallNever {
		t.Error("the catalogue was not broken")
	}
	if e, _ := agent.Builtin().Agent("grok"); e == st.Agent {
		t.Error("the real catalogue was broken")
	}
}

func TestOutsideHidesItself(t *testing.T) {
	if Inside(func(string) string { return "" }) || !Inside(func(string) string { return "1" }) {
		t.Error("inside or not?")
	}
	if got := Outside([]string{"A=1", insideVariable + "=1"}); len(got) != 1 {
		t.Errorf("%v", got)
	}
}

// Below every ✗ a person finds what was seen and a command to go on with.
func TestFailuresSayWhatWasSeenAndWhatMends(t *testing.T) {
	n := 0
	for _, name := range full() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := Drive(name)
		for _, c := range []struct{ hooked, mine bool }{{false, false}, {false, true}, {true, false}, {true, true}} {
			evidence := map[string]*Evidence{}
			for _, act := range Acts() {
				e := &Evidence{Act: act, Exit: 7, Stderr: "first\nthe hooks file does not parse\n", Told: []model.Message{{Role: "tool", Kind: "tool_result", Text: "it ran"}}}
				if c.hooked {
					e.Seen = []Seen{{Event: event.Event{Native: "SomethingElse"}}}
				}
				evidence[act] = e
			}
			for _, task := range plan(a, d, nil) {
				task.judge(&Proof{Agent: a, Version: "9.9.9", Mine: c.mine, evidence: evidence})
				if task.row.Mark != Fails {
					continue
				}
				n++
				seen := strings.Join(task.row.Seen, "\n")
				for _, want := range []string{"code 7", "does not parse", "it ran"} {
					if !strings.Contains(seen, want) {
						t.Errorf("%s %s: no %q in %s", name, task.row.ID(), want, seen)
					}
				}
				for _, want := range []string{"`hookmux verify " + name + " --check ", "9.9.9"} {
					if !strings.Contains(task.row.Hint, want) {
						t.Errorf("%s %s: no %q in %s", name, task.row.ID(), want, task.row.Hint)
					}
				}
				// A file of the person's can only be the cause where it was there.
				if !c.hooked && task.subject.Event != nil && strings.Contains(task.row.Hint, placeOf(a)) != c.mine {
					t.Errorf("%s %s, own config %v: %s", name, task.row.ID(), c.mine, task.row.Hint)
				}
			}
		}
	}
	if n < 100 {
		t.Errorf("only %d ✗", n)
	}
}
