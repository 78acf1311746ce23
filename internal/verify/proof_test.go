package verify

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/agents"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// without is the evidence of an agent that ran every command, whose model was
// told every word, and whose hooks were never called.
func without(a *agent.Agent, act string) *Evidence {
	e := &Evidence{Act: act, Files: map[string]string{}}
	var told []string
	for _, tag := range []string{"plain", "fail", "missing", "crash", "hang", "absent", "allow", "leave", "granted", "par-a", "par-c", "input-changed", "leave-changed", "ask"} {
		e.Files["ran-"+tag] = ""
		told = append(told, "out-"+tag, wordFor(wordReason, tag))
	}
	for _, tag := range []string{"deny", "big", "par-b", "refuse", "after-deny", "fail-deny", "prompt"} {
		told = append(told, wordFor(wordReason, tag))
	}
	for _, spec := range a.Events {
		told = append(told, wordFor(wordContext, spec.Name), wordFor(wordNotice, spec.Name), wordFor(wordOutput, spec.Name), goOn(spec.Name, 1))
	}
	e.Told = []model.Message{{Role: "user", Text: strings.Join(told, " ")}}
	e.Screens = []string{strings.Join(told, " ")}
	return e
}

func toolSeen(native, tag string, kind event.Kind) Seen {
	return Seen{Event: event.Event{Native: native, Kind: kind, Tool: &event.Tool{Commands: []string{taggedCommand(tag)}}}}
}

func TestBrokenHooksMustHaveBeenCalled(t *testing.T) {
	a, _ := agent.Builtin().Agent("codex")
	judged := func(judge func(*Proof, Subject) Result, b Broken) Mark {
		e := without(a, "broken")
		e.Broken = b
		return judge(&Proof{evidence: map[string]*Evidence{"broken": e}}, Subject{}).Mark
	}
	called := func(tags ...string) map[string]bool { return nameSet(tags...) }
	for _, c := range []struct {
		name  string
		judge func(*Proof, Subject) Result
		b     Broken
		want  Mark
	}{
		{"missing, only the same call", judgeMissing, Broken{Called: called("missing")}, Unsure},
		{"missing, only another event", judgeMissing, Broken{Called: called("other")}, Unsure},
		{"missing", judgeMissing, Broken{Called: called("missing", "other")}, Holds},
		{"crash, never called", judgeCrash, Broken{Called: called("missing", "other", "hang")}, Unsure},
		{"crash", judgeCrash, Broken{Called: called("crash")}, Holds},
		{"hang, never called", judgeHang, Broken{Called: called("crash")}, Unsure},
		{"hang, not waited for", judgeHang, Broken{Called: called("hang"), Waited: 100 * time.Millisecond}, Unsure},
		{"hang, not given up", judgeHang, Broken{Called: called("hang"), Waited: time.Minute}, Fails},
		{"hang", judgeHang, Broken{Called: called("hang"), Waited: 2 * time.Second}, Holds},
	} {
		if got := judged(c.judge, c.b); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The hook that breaks says so first.
func TestBreakingHookLeavesItsMark(t *testing.T) {
	stub, project := filepath.Join(t.TempDir(), "hook"), t.TempDir()
	called := time.Now()
	for _, f := range []string{stub + ".hang", filepath.Join(project, "ran-hang")} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(f, called, called); err != nil {
			t.Fatal(err)
		}
		called = called.Add(3 * time.Second)
	}
	b := readBroken(stub, stub, project)
	if !b.Called["hang"] || b.Called["crash"] || b.Waited.Round(time.Second) != 3*time.Second {
		t.Errorf("%+v", b)
	}
	for _, tag := range []string{"missing", "crash", "hang"} {
		if !strings.Contains(breaking, `*ran-`+tag+`*) : >"$0.`+tag+`"`) {
			t.Errorf("%s leaves no mark", tag)
		}
	}
}

func TestBigNeedsItsReason(t *testing.T) {
	a, _ := agent.Builtin().Agent("codex")
	s := Subject{Agent: a}
	name := s.eventOf(event.ToolBefore).Name
	whole := toolSeen(name, "big", event.ToolBefore)
	whole.Event.Tool.Commands[0] += " big-end"
	whole.Event.Raw = make([]byte, bigPayload+1)
	cut := Seen{Event: event.Event{Native: name, Kind: event.ToolBefore, Truncated: true}}
	for _, x := range []Seen{whole, cut} {
		e := &Evidence{Seen: []Seen{x}}
		p := &Proof{evidence: map[string]*Evidence{"decide": e}}
		if r := judgeBig(p, s); r.Mark != Fails || !strings.Contains(r.Why, "never read why") {
			t.Errorf("%s %s", r.Mark, r.Why)
		}
		e.Told = []model.Message{{Role: "user", Text: wordFor(wordReason, "big")}}
		if r := judgeBig(p, s); r.Mark != Holds {
			t.Errorf("%s %s", r.Mark, r.Why)
		}
	}
}

// No word is found in another one.
func TestWordsAreNoPrefixes(t *testing.T) {
	for _, a := range agent.Builtin().Agents() {
		for _, x := range a.Events {
			for _, y := range a.Events {
				if x.Name != y.Name && strings.Contains(wordFor(wordContext, y.Name), wordFor(wordContext, x.Name)) {
					t.Errorf("%s: %s is found in %s", a.Name, x.Name, y.Name)
				}
			}
		}
	}
	if strings.Contains(goOn("Stop", 10), goOn("Stop", 1)) {
		t.Error("the tenth round is taken for the first")
	}
	e := &Evidence{Told: []model.Message{{Role: "user", Text: decideAll(&event.Event{
		Kind: event.ToolAfter, Native: "PostToolUseFailure", Tool: &event.Tool{Commands: []string{taggedCommand("fail-context")}}}, 0).Context}}}
	if e.Saw(wordFor(wordContext, "PostToolUse")) || !e.Saw(wordFor(wordContext, "PostToolUseFailure")) {
		t.Error("one event's words prove another's")
	}
}

func TestAllowNeedsTheControl(t *testing.T) {
	a, _ := agent.Builtin().Agent("codex")
	spec, _ := a.Event("PermissionRequest")
	e := &Evidence{Files: map[string]string{"ran-leave": ""}, Seen: []Seen{toolSeen(spec.Name, "leave", event.PermissionRequest)}}
	p := &Proof{evidence: map[string]*Evidence{"permission": e}}
	s := Subject{Agent: a, Event: spec, Claim: "allow"}
	if r := judgeAllow("leave")(p, s); r.Mark != Unsure {
		t.Errorf("without a control: %s %s", r.Mark, r.Why)
	}
	e.Seen = append(e.Seen, toolSeen(spec.Name, "control", event.PermissionRequest))
	if r := judgeAllow("leave")(p, s); r.Mark != Holds {
		t.Errorf("with a control: %s %s", r.Mark, r.Why)
	}
}

// A payload that the agent never wrote is neither read nor misread.
func TestUnwrittenPayloads(t *testing.T) {
	a, _ := agent.Builtin().Agent("grok")
	spec, _ := a.Event("Stop")
	s := Subject{Agent: a, Event: spec}
	unwritten := Seen{Event: event.Event{Native: "Stop", Kind: event.TurnEnd, Malformed: "the payload is empty"}}
	broken := unwritten
	broken.Event.Raw = []byte(`"{"`)
	cut := unwritten
	cut.Event.Truncated = true
	read := Seen{Event: event.Event{Native: "Stop", Kind: event.TurnEnd, Session: "s", Raw: []byte(`{}`)}}
	for _, c := range []struct {
		seen []Seen
		mark Mark
	}{
		{[]Seen{read}, Holds}, {[]Seen{read, unwritten}, Unsure}, {[]Seen{unwritten}, Fails},
		{[]Seen{read, broken}, Fails}, {[]Seen{read, cut}, Fails}, {nil, Unsure},
	} {
		p := &Proof{evidence: map[string]*Evidence{"observe": {Act: "observe", Seen: c.seen}}}
		if r := judgeDecodes(p, s); r.Mark != c.mark {
			t.Errorf("%+v: %s %s", c.seen, r.Mark, r.Why)
		}
	}
}

func TestRawRowsCount(t *testing.T) {
	r := &AgentReport{Agent: "goose"}
	r.Rows = rawRows(&Evidence{Exit: 1}, r)
	if !(&Report{Agents: []*AgentReport{r}}).Failed() {
		t.Error("a turn that did not work fails nothing")
	}
}

// A check that an agent has none of is answered, and without a launch.
func TestChecksThatAnAgentLacks(t *testing.T) {
	if wantsRaw([]string{"neutral"}) || !wantsRaw(nil) || !wantsRaw([]string{"neutral", "Turn"}) {
		t.Error("when is the raw turn played?")
	}
	rows := addUnanswered([]Row{{Check: "turn"}}, []string{"turn", "neutral"}, true)
	if len(rows) != 1 || rows[0].Check != "neutral" || rows[0].Mark != Unsure || !strings.Contains(rows[0].Why, "not verified") {
		t.Errorf("%+v", rows)
	}
	if rows := chosenRows([]Row{{Check: "turn"}, {Check: "payloads"}}, []string{"turn"}); len(rows) != 1 {
		t.Errorf("%+v", rows)
	}
	if err := KnowsChecks(rawChecks); err != nil {
		t.Error(err)
	}
	bin := t.TempDir()
	program := filepath.Join(bin, "goose")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n[ \"$1\" = --version ] || echo started >>\""+bin+"/started\"\necho 1.2.3\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	in := agents.Installed{Name: "goose", Dir: bin, Argv: []string{program}}
	report, err := Run(context.Background(), Options{Targets: []Target{{"goose", in}}, Bin: bin, Checks: []string{"neutral"}})
	if err != nil || report.Agents[0].Problem != "" {
		t.Fatal(err, report.Agents[0].Problem)
	}
	if got := report.Agents[0]; got.Launches != 0 || len(got.Rows) != 1 || got.Rows[0].Mark != Unsure || report.Failed() {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(filepath.Join(bin, "started")); err == nil {
		t.Error("the agent was started for a check it has none of")
	}
}

// What a hook printed counts wherever the agent puts it: also amid words of the
// system, in one message with other things. Standing instructions do not.
func TestNeutralReadsTheSystem(t *testing.T) {
	system := func(text string) model.Message {
		return model.Message{Role: model.RoleSystem, Kind: model.KindText, Text: text}
	}
	standing := system("Be good.")
	standing.Standing = true
	result := model.Message{Role: model.RoleTool, Kind: model.KindToolResult, Text: "out-plain"}
	acts := func(with, without []model.Message) *Proof {
		files := map[string]string{"ran-plain": "", "ran-fail": ""}
		return &Proof{evidence: map[string]*Evidence{
			"observe": {Files: files, Seen: []Seen{{}}, Told: append(with, result)},
			"control": {Files: files, Told: append(without, result)},
		}}
	}
	for _, c := range []struct {
		name          string
		with, without []model.Message
		want          Mark
	}{
		{"the same, cut differently", []model.Message{system("# Environment\nfolder 17\n# Tools")}, []model.Message{system("# Tools"), system("# Environment\nfolder 4")}, Holds},
		{"a stray line", []model.Message{system("SessionStart hook success: " + strayWord + "\n# Environment")}, []model.Message{system("# Environment")}, Fails},
		{"something left out", []model.Message{system("# Environment")}, []model.Message{system("# Environment\nmind the gap")}, Fails},
		{"standing instructions", []model.Message{standing}, nil, Holds},
	} {
		if got := judgeNeutral(acts(c.with, c.without), Subject{}); got.Mark != c.want {
			t.Errorf("%s: %s %s", c.name, got.Mark, got.Why)
		}
	}
}
