package checks

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// without returns the evidence of an agent that ran every command, whose model was
// told every word, and whose hooks were never called.
func without(a *agent.Agent, run string) *testbed.Evidence {
	e := &testbed.Evidence{Run: run, Files: map[string]string{}}
	var told []string
	for _, tag := range []string{"plain", "fail", "missing", "crash", "hang", "absent", "allow", "leave", "granted",
		"par-a", "par-c", "input-changed", "leave-changed", "ask"} {
		e.Files["ran-"+tag] = ""
		told = append(told, "out-"+tag, testbed.WordFor(testbed.WordReason, tag))
	}
	for _, tag := range []string{"deny", "big", "par-b", "refuse", "after-deny", "fail-deny", "prompt"} {
		told = append(told, testbed.WordFor(testbed.WordReason, tag))
	}
	for _, spec := range a.Events {
		told = append(told, testbed.WordFor(testbed.WordContext, spec.Name), testbed.WordFor(testbed.WordNotice, spec.Name),
			testbed.WordFor(testbed.WordOutput, spec.Name), testbed.GoOn(spec.Name, 1))
	}
	e.Told = []model.Message{{Role: "user", Text: strings.Join(told, " ")}}
	e.Screens = []string{strings.Join(told, " ")}
	return e
}

func toolSeen(native, tag string, kind event.Kind) testbed.Seen {
	return testbed.Seen{Event: event.Event{Native: native, Kind: kind,
		Tool: &event.Tool{Commands: []string{testbed.TaggedCommand(tag)}}}}
}

func TestBrokenHooksMustHaveBeenCalled(t *testing.T) {
	a, _ := agent.Builtin().Agent("codex")
	evaluated := func(evaluate func(*Proof, Subject) Result, b testbed.Broken) Mark {
		e := without(a, "broken")
		e.Broken = b
		return evaluate(&Proof{Evidence: map[string]*testbed.Evidence{"broken": e}}, Subject{}).Mark
	}
	called := func(tags ...string) map[string]bool {
		set := map[string]bool{}
		for _, tag := range tags {
			set[tag] = true
		}
		return set
	}
	for _, c := range []struct {
		name     string
		evaluate func(*Proof, Subject) Result
		b        testbed.Broken
		want     Mark
	}{
		{"missing, only the same call", evaluateMissing, testbed.Broken{Called: called("missing")}, Unsure},
		{"missing, only another event", evaluateMissing, testbed.Broken{Called: called("other")}, Unsure},
		{"missing", evaluateMissing, testbed.Broken{Called: called("missing", "other")}, Holds},
		{"crash, never called", evaluateCrash, testbed.Broken{Called: called("missing", "other", "hang")}, Unsure},
		{"crash", evaluateCrash, testbed.Broken{Called: called("crash")}, Holds},
		{"hang, never called", evaluateHang, testbed.Broken{Called: called("crash")}, Unsure},
		{"hang, not waited for", evaluateHang, testbed.Broken{Called: called("hang"), Waited: 100 * time.Millisecond}, Unsure},
		{"hang, not given up", evaluateHang, testbed.Broken{Called: called("hang"), Waited: time.Minute}, Fails},
		{"hang", evaluateHang, testbed.Broken{Called: called("hang"), Waited: 2 * time.Second}, Holds},
	} {
		if got := evaluated(c.evaluate, c.b); got != c.want {
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
		t.Errorf(`b = %+v, want b.Called["hang"], not b.Called["crash"] and b.Waited.Round(time.Second) = 3 * `+
			`time.Second`, b)
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
	whole.Event.Raw = make([]byte, 1<<20+1)
	cut := testbed.Seen{Event: event.Event{Native: name, Kind: event.ToolBefore, Truncated: true}}
	for _, x := range []testbed.Seen{whole, cut} {
		e := &testbed.Evidence{Seen: []testbed.Seen{x}}
		p := &Proof{Evidence: map[string]*testbed.Evidence{"decide": e}}
		if r := evaluateBig(p, s); r.Mark != Fails || !strings.Contains(r.Why, "never read why") {
			t.Errorf(`r.Mark = %s, r.Why = %s; want r.Mark = Fails and "never read why" in r.Why`, r.Mark, r.Why)
		}
		e.Told = []model.Message{{Role: "user", Text: testbed.WordFor(testbed.WordReason, "big")}}
		if r := evaluateBig(p, s); r.Mark != Holds {
			t.Errorf("r.Mark = %s, r.Why = %s; want r.Mark = Holds", r.Mark, r.Why)
		}
	}
}

// No word is found in another one.
func TestWordsAreNoPrefixes(t *testing.T) {
	for _, a := range agent.Builtin().Agents() {
		for _, x := range a.Events {
			for _, y := range a.Events {
				if x.Name != y.Name && strings.Contains(testbed.WordFor(testbed.WordContext, y.Name),
					testbed.WordFor(testbed.WordContext, x.Name)) {
					t.Errorf("%s: %s is found in %s", a.Name, x.Name, y.Name)
				}
			}
		}
	}
	if strings.Contains(testbed.GoOn("Stop", 10), testbed.GoOn("Stop", 1)) {
		t.Error("the tenth round is taken for the first")
	}
	e := &testbed.Evidence{Told: []model.Message{{Role: "user", Text: DecideAll(&event.Event{
		Kind: event.ToolAfter, Native: "PostToolUseFailure",
		Tool: &event.Tool{Commands: []string{testbed.TaggedCommand("fail-context")}}}, 0).Context}}}
	if e.Saw(testbed.WordFor(testbed.WordContext, "PostToolUse")) ||
		!e.Saw(testbed.WordFor(testbed.WordContext, "PostToolUseFailure")) {
		t.Error("one event's words prove another's")
	}
}

func TestAllowNeedsTheControl(t *testing.T) {
	a, _ := agent.Builtin().Agent("codex")
	spec, _ := a.Event("PermissionRequest")
	e := &testbed.Evidence{Files: map[string]string{"ran-leave": ""},
		Seen: []testbed.Seen{toolSeen(spec.Name, "leave", event.PermissionRequest)}}
	p := &Proof{Evidence: map[string]*testbed.Evidence{"permission": e}}
	s := Subject{Agent: a, Event: spec, Claim: "allow"}
	if r := evaluateAllow("leave")(p, s); r.Mark != Unsure {
		t.Errorf("without a control: %s %s", r.Mark, r.Why)
	}
	e.Seen = append(e.Seen, toolSeen(spec.Name, "control", event.PermissionRequest))
	if r := evaluateAllow("leave")(p, s); r.Mark != Holds {
		t.Errorf("with a control: %s %s", r.Mark, r.Why)
	}
}

// A payload that the agent never wrote is neither read nor misread.
func TestUnwrittenPayloads(t *testing.T) {
	a, _ := agent.Builtin().Agent("grok")
	spec, _ := a.Event("Stop")
	s := Subject{Agent: a, Event: spec}
	unwritten := testbed.Seen{Event: event.Event{Native: "Stop", Kind: event.TurnEnd, Malformed: "the payload is empty"}}
	broken := unwritten
	broken.Event.Raw = []byte(`"{"`)
	cut := unwritten
	cut.Event.Truncated = true
	cutCall := testbed.Seen{Event: event.Event{Native: "Stop", Kind: event.TurnEnd, Session: "s", Raw: []byte(`{}`),
		Malformed: "no object",
		Truncated: true, Tool: &event.Tool{Name: "run_terminal_command"}}}
	read := testbed.Seen{Event: event.Event{Native: "Stop", Kind: event.TurnEnd, Session: "s", Raw: []byte(`{}`)}}
	for _, c := range []struct {
		seen []testbed.Seen
		mark Mark
	}{
		{[]testbed.Seen{read}, Holds}, {[]testbed.Seen{read, unwritten}, Unsure}, {[]testbed.Seen{unwritten}, Fails},
		{[]testbed.Seen{read, cutCall}, Holds}, {[]testbed.Seen{read, broken}, Fails}, {[]testbed.Seen{read, cut}, Fails}, {nil, Unsure},
	} {
		p := &Proof{Evidence: map[string]*testbed.Evidence{"observe": {Run: "observe", Seen: c.seen}}}
		if r := evaluateDecodes(p, s); r.Mark != c.mark {
			t.Errorf("%+v: r.Mark = %s, r.Why = %s; want r.Mark = %q", c.seen, r.Mark, r.Why, c.mark)
		}
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
	runs := func(with, without []model.Message) *Proof {
		files := map[string]string{"ran-plain": "", "ran-fail": ""}
		return &Proof{Evidence: map[string]*testbed.Evidence{
			"observe": {Files: files, Seen: []testbed.Seen{{}}, Told: append(with, result)},
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
		if got := evaluateNeutral(runs(c.with, c.without), Subject{}); got.Mark != c.want {
			t.Errorf("%s: got.Mark = %s, got.Why = %s; want got.Mark = %q", c.name, got.Mark, got.Why, c.want)
		}
	}
}

// Nothing that was not seen is ever shown as proven.
func TestNothingSeenIsNothingProven(t *testing.T) {
	for _, name := range drivers.Names() {
		a, _ := agent.Builtin().Agent(name)
		d, _ := drivers.Find(name)
		empty := map[string]*testbed.Evidence{}
		missing := map[string]*testbed.Evidence{}
		unhooked := map[string]*testbed.Evidence{} // ran and was told, but no event
		for _, run := range RunNames() {
			empty[run] = &testbed.Evidence{Run: run, Exit: -1}
			missing[run] = &testbed.Evidence{Run: run, Missing: "cannot be played"}
			unhooked[run] = without(a, run)
		}
		for _, subject := range SubjectsOf(a, d) {
			for _, c := range All() {
				if !c.Applies(subject) {
					continue
				}
				label := name + " " + c.ID + " " + subject.Claim
				if subject.Event != nil {
					label += " " + subject.Event.Name
				}
				if r := c.ResultOf(&Proof{Agent: a, Evidence: empty}, subject); r.Mark == Holds {
					t.Errorf("%s holds with no evidence: %s", label, r.Why)
				}
				if r := c.ResultOf(&Proof{Agent: a, Evidence: unhooked}, subject); r.Mark == Holds {
					t.Errorf("%s holds although no hook was ever called: %s", label, r.Why)
				}
				if r := c.ResultOf(&Proof{Agent: a, Evidence: missing}, subject); r.Mark != Unsure {
					t.Errorf("%s is %s although nothing was played", label, r.Mark)
				}
			}
		}
	}
}

func TestRegistryIsOpen(t *testing.T) {
	before := len(All())
	Add(Check{ID: "later", Proves: "that more can come", Runs: []string{"observe"}, Breakage: silent,
		Applies: func(Subject) bool { return false }, Evaluate: func(*Proof, Subject) Result { return Result{} }})
	t.Cleanup(func() {
		registry.Lock()
		registry.checks = registry.checks[:before]
		registry.Unlock()
	})
	if len(All()) != before+1 {
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
		t.Errorf("decode(`}}`) = %q, want none", left)
	}
	if left := decode(`},"brand_new":1}`); len(left) != 1 || left[0] != "brand_new" {
		t.Errorf(`left = %q, want 1 of them and left[0] = "brand_new"`, left)
	}
	if left := decode(`,"brand_new":1}}`); len(left) != 1 || left[0] != "Bash brand_new" {
		t.Errorf(`left = %q, want 1 of them and left[0] = "Bash brand_new"`, left)
	}
}
