package checks

import (
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Checks about the claims of the capability table: one per claim and kind of event, each with the run
// that causes it.

// claimOn picks a claim at events of a kind; failed distinguishes reports of failed calls from
// others.
func claimOn(claim string, kind event.Kind, failed bool) func(Subject) bool {
	return func(s Subject) bool {
		return takenUp(s, claim) && s.Event.Kind == kind && s.Event.Failed == failed
	}
}

func takenUp(s Subject, claim string) bool {
	return s.Claim == claim && testbed.RegistersFor(s.Event) && s.Driver.Unseen[s.Event.Name] == "" &&
		s.Driver.Unproven[s.Event.Name+"."+claim] == ""
}

// addsContext picks claims about context at an event of a turn without a terminal.
func addsContext(s Subject) bool {
	return takenUp(s, "context") && (slices.Contains([]event.Kind{event.ToolBefore, event.ToolAfter,
		event.SessionStart, event.TurnStart}, s.Event.Kind) ||
		s.Event.Kind == event.SubagentStart && s.Driver.Subagent != nil)
}

func claimChecks() []Check {
	return []Check{
		{
			ID: "deny", Proves: "a denied call doesn't run, and the model reads the reason", Runs: []string{"decide"},
			Applies: deniesCall(false), Evaluate: evaluateDeny, Breakage: dropReason,
		}, {
			ID: "deny-ends", Proves: "a denied call doesn't run, and the turn ends", Runs: []string{"decide"},
			Applies: deniesCall(true), Evaluate: evaluateDenyEnds, Breakage: silent,
		}, {
			ID: "deny-permission", Proves: "a permission request is denied, and the model reads the reason",
			Runs:    []string{"permission"},
			Applies: claimOn("deny", event.PermissionRequest, false), Evaluate: evaluateRefuse, Breakage: allowForDeny,
		}, {
			ID: "deny-after", Proves: "the model reads why a result was rejected", Runs: []string{"decide"},
			Applies: claimOn("deny", event.ToolAfter, false), Evaluate: evaluateReason("after-deny"), Breakage: silent,
		}, {
			ID: "deny-failed", Proves: "the model reads what a hook says about a failed call", Runs: []string{"decide"},
			Applies: claimOn("deny", event.ToolAfter, true), Evaluate: evaluateReason("fail-deny"), Breakage: silent,
		}, {
			ID: "deny-prompt", Proves: "a blocked prompt never reaches the model", Runs: []string{"prompt"},
			Applies: claimOn("deny", event.TurnStart, false), Evaluate: evaluatePromptDeny, Breakage: silent,
		}, {
			ID: "deny-compact", Proves: "a compaction is blocked", Runs: []string{"dialog"},
			Applies: claimOn("deny", event.CompactBefore, false), Evaluate: evaluateCompact, Breakage: silent,
		}, {
			ID: "allow", Proves: "an approval works like your own", Runs: []string{"permission"},
			Applies: claimOn("allow", event.ToolBefore, false), Evaluate: evaluateAllow("allow"), Breakage: silent,
		}, {
			ID: "allow-permission", Proves: "a call that a hook approves runs", Runs: []string{"permission"},
			Applies: claimOn("allow", event.PermissionRequest, false), Evaluate: evaluateAllow("leave"), Breakage: silent,
		}, {
			ID: "ask", Proves: "the agent asks where it otherwise wouldn't", Runs: []string{"permission"},
			Applies:  func(s Subject) bool { return claimOn("ask", event.ToolBefore, false)(s) && !s.Driver.AskRefuses },
			Evaluate: evaluateAsk("permission"), Breakage: silent,
		}, {
			ID: "ask-refused", Proves: "with nobody to ask, an ask blocks the call even if it's permitted",
			Runs:     []string{"decide"},
			Applies:  func(s Subject) bool { return claimOn("ask", event.ToolBefore, false)(s) && s.Driver.AskRefuses },
			Evaluate: evaluateAsk("decide"), Breakage: forgetful,
		}, {
			ID: "ask-dialog", Proves: "the agent's prompt shows the hook's reason, and your answer applies",
			Runs: []string{"dialog"},
			Applies: func(s Subject) bool {
				return claimOn("ask", event.ToolBefore, false)(s) && s.Driver.TUI != nil
			}, Evaluate: evaluateDialog, Breakage: silent,
		}, {
			ID: "input", Proves: "only the changed command runs", Runs: []string{"decide"},
			Applies: claimOn("input", event.ToolBefore, false), Evaluate: evaluateInput("decide", "input", "input-changed"),
			Breakage: wrongKey,
		}, {
			ID: "input-permission", Proves: "the command runs as the approval changed it", Runs: []string{"permission"},
			Applies:  claimOn("input", event.PermissionRequest, false),
			Evaluate: evaluateInput("permission", "leave-input", "leave-changed"), Breakage: wrongKey,
		}, {
			ID: "output", Proves: "the model reads the changed result, not the real one", Runs: []string{"decide"},
			Applies: claimOn("output", event.ToolAfter, false), Evaluate: evaluateOutput, Breakage: silent,
		}, {
			ID: "context", Proves: "the model reads what the hook adds", Runs: []string{"decide"},
			Applies: addsContext, Evaluate: evaluateContext("decide"), Breakage: silent,
		}, {
			ID: "keep", Proves: "the agent continues with the hook's instruction", Runs: []string{"decide"},
			Applies: func(s Subject) bool { return keeps(s) && !s.Driver.KeepAtTerminal }, Evaluate: evaluateKeep("decide"),
			Breakage: silent,
		}, {
			ID: "keep-terminal", Proves: "in a terminal, the agent continues with the hook's instruction",
			Runs:    []string{"dialog"},
			Applies: func(s Subject) bool { return keeps(s) && s.Driver.KeepAtTerminal }, Evaluate: evaluateKeep("dialog"),
			Breakage: forgetful,
		}, {
			ID: "context-compact", Proves: "the model reads what the hook adds to a compaction",
			Runs: []string{"dialog"},
			Applies: func(s Subject) bool {
				return claimOn("context", event.CompactBefore, false)(s) && s.Driver.Compact != ""
			}, Evaluate: evaluateContext("dialog"), Breakage: forgetful,
		}, {
			ID: "notice", Proves: "a system message is shown", Runs: []string{"dialog"},
			Applies:  func(s Subject) bool { return s.Claim == "notice" && testbed.RegistersFor(s.Event) },
			Evaluate: evaluateNotice, Breakage: silent,
		},
	}
}

// checkSent finds the event at which a run said something, and makes sure that
// hookmux really said it: what was degraded on the way proves nothing about the
// agent. Nil means that it was sent.
func checkSent(e *testbed.Evidence, s Subject, tag string) *Result {
	x, ok := e.ToolEvent(s.Event.Name, tag)
	if !ok {
		r := FailsBecause("", "no %s for the command %s arrived", s.Event.Name, tag)
		return &r
	}
	if len(x.Decision.Degraded) > 0 {
		r := FailsBecause("The catalogue claims it, yet hookmux does not send it: a fault of hookmux", "not sent: %s",
			x.Decision.Degraded[0])
		if needsUser(s) && x.Event.Attended != event.AttendedYes {
			r = UnsureBecause("hookmux sends it only where a person is known to attend, and here nobody can tell")
		}
		return &r
	}
	return nil
}

func needsUser(s Subject) bool {
	for _, c := range s.Event.Claims() {
		if c.Name == s.Claim {
			return c.Capability.NeedsUser
		}
	}
	return false
}

func evaluateDeny(p *Proof, s Subject) Result {
	e := p.Of("decide")
	if r := checkSent(e, s, "deny"); r != nil {
		return *r
	}
	if e.Ran("deny") {
		return FailsBecause("GUARDS DO NOT GUARD with this version of the agent", "the refused command ran")
	}
	if !e.Saw(testbed.WordFor(testbed.WordReason, "deny")) {
		return FailsBecause("", "the command did not run, but the model never read why")
	}
	return HoldsBecause("did not run; the model read the reason")
}

// endsRun reports whether a denied call ends this agent's run.
func endsRun(e *agent.EventSpec) bool {
	return e != nil && e.Carries.Deny != nil && e.Carries.Deny.EndsRun
}

// deniesCall picks refusals of calls that end the run, or those that do not.
func deniesCall(ends bool) func(Subject) bool {
	return func(s Subject) bool {
		return claimOn("deny", event.ToolBefore, false)(s) && endsRun(s.Event) == ends
	}
}

// evaluateDenyEnds expects the denied call to be the last, and the one before to have run.
func evaluateDenyEnds(p *Proof, s Subject) Result {
	e := p.Of("decide")
	if r := checkSent(e, s, "deny"); r != nil {
		return *r
	}
	switch {
	case e.Ran("deny"):
		return FailsBecause("GUARDS DO NOT GUARD with this version of the agent", "the refused command ran")
	case !e.Ran("after-context"):
		return FailsBecause("", "the commands before it did not run either")
	case e.Saw(testbed.WordFor(testbed.WordReason, "deny")):
		return FailsBecause("The catalogue's ends_run is no longer true", "did not run, and the model read the reason")
	}
	return HoldsBecause("did not run; the run ended, and the model was not asked again")
}

func evaluateRefuse(p *Proof, s Subject) Result {
	e := p.Of("permission")
	if r := checkSent(e, s, "refuse"); r != nil {
		return *r
	}
	if e.Ran("refuse") {
		return FailsBecause("GUARDS DO NOT GUARD with this version of the agent", "the refused command ran")
	}
	if !e.Saw(testbed.WordFor(testbed.WordReason, "refuse")) {
		return FailsBecause("", "the command did not run, but the model never read why")
	}
	return HoldsBecause("did not run; the model read the reason")
}

func evaluateReason(tag string) func(*Proof, Subject) Result {
	return func(p *Proof, s Subject) Result {
		e := p.Of("decide")
		if r := checkSent(e, s, tag); r != nil {
			return *r
		}
		if !e.Saw(testbed.WordFor(testbed.WordReason, tag)) {
			return FailsBecause("", "the model never read the reason")
		}
		return HoldsBecause("the model read the reason")
	}
}

func evaluatePromptDeny(p *Proof, s Subject) Result {
	e := p.Of("prompt")
	if len(e.Events(s.Event.Name)) == 0 {
		return FailsBecause("", "no %s arrived", s.Event.Name)
	}
	for _, x := range e.Events(s.Event.Name) {
		if len(x.Decision.Degraded) > 0 {
			return FailsBecause("The catalogue claims it, yet hookmux does not send it: a fault of hookmux",
				"not sent: %s", x.Decision.Degraded[0])
		}
	}
	if n := e.Asked(); n > 0 {
		return FailsBecause("", "the model was asked %d times all the same", n)
	}
	if e.Exit < 0 {
		return FailsBecause("", "the model was never asked, but the agent did not end by itself either")
	}
	return HoldsBecause("the model was never asked")
}

// evaluateCompact expects the first of two compactions to have been denied.
func evaluateCompact(p *Proof, s Subject) Result {
	e := p.Of("dialog")
	asked := len(e.Events(s.Event.Name))
	if asked == 0 {
		return UnsureBecause("no %s arrived: compacting could not be brought about", s.Event.Name)
	}
	after := s.eventOf(event.CompactAfter)
	if after == nil {
		return UnsureBecause("the agent does not report compactions that were made")
	}
	done := len(e.Events(after.Name))
	switch {
	case done >= asked:
		return FailsBecause("", "the conversation was compacted all the same")
	case done == 0:
		return UnsureBecause("the first was refused and not made; the second was not refused, and was not made either")
	}
	return HoldsBecause("the first of %d was refused and not made", asked)
}

func evaluateAllow(tag string) func(*Proof, Subject) Result {
	return func(p *Proof, s Subject) Result {
		e := p.Of("permission")
		if r := checkSent(e, s, tag); r != nil {
			return *r
		}
		// What was approved and did not run needs no comparison.
		if !e.Ran(tag) {
			return FailsBecause("", "the approved command did not run")
		}
		if e.Ran("control") {
			return UnsureBecause("the agent runs the command here without permission, so an approval proves " +
				"nothing")
		}
		if _, asked := e.ToolEvent(s.Event.Name, "control"); !asked {
			return UnsureBecause("no %s came for the same command without an approval, so that nobody knows whether "+
				"it was tried", s.Event.Name)
		}
		return HoldsBecause("ran, while the same without an approval did not")
	}
}

func evaluateAsk(run string) func(*Proof, Subject) Result {
	return func(p *Proof, s Subject) Result { return asked(p.Of(run), s) }
}

func asked(e *testbed.Evidence, s Subject) Result {
	if r := checkSent(e, s, "ask"); r != nil {
		return *r
	}
	if !e.Ran("granted") {
		return UnsureBecause("the agent did not run a command that was permitted, so asking proves nothing")
	}
	if e.Ran("ask") {
		return FailsBecause("hooks that ask are passed over by this version of the agent",
			"the command ran and nobody was asked")
	}
	if e.Saw(testbed.WordFor(testbed.WordReason, "ask")) || e.Showed(testbed.WordFor(testbed.WordReason, "ask")) {
		return HoldsBecause("not run although it was permitted: nobody was there to ask; the reason was told")
	}
	return HoldsBecause("not run although it was permitted: nobody was there to ask")
}

func evaluateDialog(p *Proof, s Subject) Result {
	e := p.Of("dialog")
	if r := checkSent(e, s, "ask"); r != nil {
		return *r
	}
	if !e.Showed(testbed.WordFor(testbed.WordReason, "ask")) {
		return FailsBecause("", "no question with the hook's reason on the screen")
	}
	if e.Files["asked"] != "" {
		return FailsBecause("", "the command ran before the user answered")
	}
	if !e.Ran("ask") {
		return FailsBecause("", "the user said yes, and the command did not run")
	}
	return HoldsBecause("the question was on the screen with the hook's reason; yes let it run")
}

func evaluateInput(run, tag, changed string) func(*Proof, Subject) Result {
	return func(p *Proof, s Subject) Result {
		e := p.Of(run)
		if r := checkSent(e, s, tag); r != nil {
			return *r
		}
		if e.Ran(tag) || !e.Ran(changed) {
			return FailsBecause("", "the command as it was ran: %v; as it was changed: %v", e.Ran(tag), e.Ran(changed))
		}
		return HoldsBecause("the changed command ran, the original did not")
	}
}

func evaluateOutput(p *Proof, s Subject) Result {
	e := p.Of("decide")
	if r := checkSent(e, s, "output"); r != nil {
		return *r
	}
	if !e.Saw(testbed.WordFor(testbed.WordOutput, s.Event.Name)) {
		return FailsBecause("", "the model never read the changed result")
	}
	for _, m := range e.Told {
		if m.Kind == "tool_result" && strings.Contains(m.Text, "out-output") {
			return FailsBecause("", "the model read the real result as well")
		}
	}
	return HoldsBecause("the model read the changed result in place of the real one")
}

func evaluateContext(run string) func(*Proof, Subject) Result {
	return func(p *Proof, s Subject) Result { return addedWords(p.Of(run), s) }
}

func addedWords(e *testbed.Evidence, s Subject) Result {
	if len(e.Events(s.Event.Name)) == 0 {
		return FailsBecause("", "no %s arrived", s.Event.Name)
	}
	for _, x := range e.Events(s.Event.Name) {
		if x.Answer.Stdout != "" && len(x.Decision.Degraded) > 0 {
			return FailsBecause("The catalogue claims it, yet hookmux does not send it: a fault of hookmux",
				"not sent: %s", x.Decision.Degraded[0])
		}
	}
	saw := e.Saw
	if s.Event.Kind == event.CompactBefore {
		saw = e.SawAside // a summary is the agent's own business
	}
	if !saw(testbed.WordFor(testbed.WordContext, s.Event.Name)) {
		return FailsBecause("", "the model never read the added words")
	}
	return HoldsBecause("the model read the added words")
}

func keeps(s Subject) bool {
	return (claimOn("keep", event.TurnEnd, false)(s) ||
		claimOn("keep", event.SubagentEnd, false)(s) && s.Driver.Subagent != nil) && s.Event.Detail == ""
}

func evaluateKeep(run string) func(*Proof, Subject) Result {
	return func(p *Proof, s Subject) Result { return keptGoing(p.Of(run), s) }
}

func keptGoing(e *testbed.Evidence, s Subject) Result {
	if len(e.Events(s.Event.Name)) == 0 {
		return FailsBecause("", "no %s arrived", s.Event.Name)
	}
	if !e.Saw(testbed.WordKeep + s.Event.Name + "-") {
		return FailsBecause("", "the agent ended and did not go on")
	}
	return HoldsBecause("went on with what it was told")
}

// evaluateNotice asks the screen: headless, agents don't print such lines.
func evaluateNotice(p *Proof, s Subject) Result {
	e := p.Of("dialog")
	said := false
	for _, x := range e.Events(s.Event.Name) {
		said = said || x.Decision.Notice != ""
	}
	switch {
	case !said:
		return UnsureBecause("the interactive turn gave no occasion for one")
	case !e.Showed(testbed.WordFor(testbed.WordNotice, s.Event.Name)):
		return FailsBecause("", "was not on the screen")
	}
	return HoldsBecause("was on the screen")
}
