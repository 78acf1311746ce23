package checks

import (
	"runtime"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Checks about an agent as a whole.

func wholeAgent(s Subject) bool { return s.Event == nil }

func builtinChecks() []Check {
	return append([]Check{
		{
			ID: "order", Proves: "events arrive, and in an order that makes sense", Runs: []string{"observe"},
			Applies: wholeAgent, Evaluate: evaluateOrder, Breakage: lateHook,
		}, {
			ID: "neutral", Proves: "hooks that make no decision change nothing",
			Runs: []string{"observe", "control"}, Applies: wholeAgent, Evaluate: evaluateNeutral, Breakage: strayLine,
		}, {
			ID:     "big-payload",
			Proves: "a call of a megabyte (or the agent's limit) reaches the hook whole, and the answer applies",
			Runs:   []string{"decide"}, Applies: canDeny, Evaluate: evaluateBig, Breakage: cutPayload,
		}, {
			ID: "parallel", Proves: "each of several parallel calls gets its own answer", Runs: []string{"decide"},
			Applies: canDeny, Evaluate: evaluateParallel, Breakage: denyAll,
		}, {
			ID: "keep-cap", Proves: "an agent whose hook always says continue still ends", Runs: []string{"decide"},
			Applies: func(s Subject) bool { return canKeep(s) && !s.Driver.KeepAtTerminal }, Evaluate: evaluateCap,
			Breakage: noCap,
		}, {
			ID: "daemon-absent", Proves: "without a daemon, the agent continues and events are kept",
			Runs:    []string{"broken"},
			Applies: func(s Subject) bool { return wholeAgent(s) && !isPlugin(s.Agent) }, Evaluate: evaluateAbsent("broken"),
			Breakage: denyUnavailable,
		}, {
			ID: "daemon-absent", Proves: "without a daemon, the agent continues and events are kept",
			Runs:    []string{"absent"},
			Applies: func(s Subject) bool { return wholeAgent(s) && isPlugin(s.Agent) }, Evaluate: evaluateAbsent("absent"),
			Breakage: denyUnavailable,
		}, {
			ID: "binary-missing", Proves: "a missing hook program doesn't stop the agent",
			Runs: []string{"broken"}, Applies: wholeAgent, Evaluate: evaluateMissing, Breakage: exitTwo,
		}, {
			ID: "hook-crash", Proves: "a hook that crashes doesn't stop the agent", Runs: []string{"broken"},
			Applies: wholeAgent, Evaluate: evaluateCrash, Breakage: exitTwo,
		}, {
			ID: "hook-timeout", Proves: "the agent gives up on a hook that hangs", Runs: []string{"broken"},
			Applies: wholeAgent, Evaluate: evaluateHang, Breakage: exitTwo,
		}, {
			ID: "end-on-exit", Proves: "the end of a session is reported when the agent exits",
			Runs: []string{"observe"}, Applies: wholeAgent, Evaluate: evaluateEnd, Breakage: noEnd,
		}, {
			ID: "end-on-term", Proves: "the end of a session is reported after SIGTERM", Runs: []string{"term"},
			Applies: wholeAgent, Evaluate: evaluateTerm, Breakage: noEnd,
			Sure: func(s Subject) bool { return wholeAgent(s) && s.Driver.EndsOnTerm },
		}, {
			ID: "nothing-left", Proves: "nothing keeps running when the agent has ended", Runs: []string{"observe"},
			Applies: wholeAgent, Evaluate: evaluateLeft, Breakage: straggler,
		}, {
			ID: "fires", Proves: "the event fires when it should", Any: true,
			Applies: func(s Subject) bool { return s.Event != nil && s.Claim == "" }, Evaluate: evaluateFires,
			Breakage: noEnd,
		}, {
			ID: "decodes", Proves: "every field of the payload is read, or left out on purpose", Any: true,
			Applies: func(s Subject) bool {
				return s.Event != nil && s.Claim == "" && testbed.RegistersFor(s.Event)
			}, Evaluate: evaluateDecodes, Breakage: newField,
		},
	}, claimChecks()...)
}

// eventOf returns the first event of a kind that hookmux installs.
func (s Subject) eventOf(kind event.Kind) *agent.EventSpec {
	for _, e := range s.Agent.Events {
		if e.Kind == kind && testbed.RegistersFor(e) {
			return e
		}
	}
	return nil
}

// isSureToCome reports whether an event of a kind is certain to come in a headless turn.
func (s Subject) isSureToCome(kind event.Kind) bool {
	e := s.eventOf(kind)
	return e != nil && s.Driver.Unseen[e.Name] == ""
}

func canDeny(s Subject) bool {
	if s.Event != nil {
		return false
	}
	e := s.eventOf(event.ToolBefore)
	return e != nil && e.Carries.Deny != nil && !endsRun(e)
}

func canKeep(s Subject) bool {
	if s.Event != nil {
		return false
	}
	e := s.eventOf(event.TurnEnd)
	return e != nil && e.Carries.Keep != nil
}

func evaluateOrder(p *Proof, s Subject) Result {
	e := p.Of("observe")
	at := func(kind event.Kind, tag string) int {
		for i, x := range e.Seen {
			if x.Event.Kind == kind && x.Event.Subagent == nil && (tag == "" || testbed.TagOf(&x.Event) == tag) {
				return i
			}
		}
		return -1
	}
	// Pairs that hold for every agent; beginnings may overlap, and some report
	// an end twice.
	for _, pair := range []struct {
		first, then       event.Kind
		firstTag, thenTag string
	}{
		{event.SessionStart, event.ToolBefore, "", "plain"},
		{event.TurnStart, event.ToolBefore, "", "plain"},
		{event.ToolBefore, event.ToolAfter, "plain", "plain"},
		{event.ToolAfter, event.ToolBefore, "plain", "fail"},
		{event.ToolBefore, event.TurnEnd, "fail", ""},
	} {
		if !s.isSureToCome(pair.first) || !s.isSureToCome(pair.then) {
			continue
		}
		a, b := at(pair.first, pair.firstTag), at(pair.then, pair.thenTag)
		switch {
		case a < 0:
			return FailsBecause("", "no %s %s arrived", pair.first, pair.firstTag)
		case b < 0:
			return FailsBecause("", "no %s %s arrived", pair.then, pair.thenTag)
		case a > b:
			return FailsBecause("", "%s %s arrived after %s %s", pair.first, pair.firstTag, pair.then, pair.thenTag)
		}
	}
	var kinds []string
	for _, x := range e.Seen {
		kinds = append(kinds, string(x.Event.Kind))
	}
	return HoldsBecause("%d events: %s", len(kinds), strings.Join(kinds, " "))
}

func evaluateBig(p *Proof, s Subject) Result {
	e := p.Of("decide")
	name := s.eventOf(event.ToolBefore).Name
	x, ok := e.ToolEvent(name, "big")
	for _, y := range e.Events(name) {
		if !ok && y.Event.Truncated {
			if e.Ran("big") {
				return FailsBecause("", "the agent cut the payload to %d bytes, and the refusal did not count",
					len(y.Event.Raw))
			}
			if !e.Saw(testbed.WordFor(testbed.WordReason, "big")) {
				return FailsBecause("", "the agent cut the payload to %d bytes; the command did not run, but the "+
					"model never read why", len(y.Event.Raw))
			}
			return HoldsBecause("the agent cuts such payloads itself (%d bytes) and says so; it arrived marked, and "+
				"the refusal counted", len(y.Event.Raw))
		}
	}
	switch {
	case !ok:
		return FailsBecause("is the hook's time limit too short, or the payload cut?",
			"no %s with the large command arrived", name)
	case !strings.Contains(strings.Join(x.Event.Tool.Commands, " "), "big-end"):
		return FailsBecause("the payload was cut on its way", "only %d bytes arrived", len(x.Event.Raw))
	case e.Ran("big"):
		return FailsBecause("", "%d bytes arrived, but the refusal did not count", len(x.Event.Raw))
	case !e.Saw(testbed.WordFor(testbed.WordReason, "big")):
		return FailsBecause("", "%d bytes arrived and the command did not run, but the model never read why",
			len(x.Event.Raw))
	}
	return HoldsBecause("%d bytes arrived and the refusal counted", len(x.Event.Raw))
}

func evaluateParallel(p *Proof, s Subject) Result {
	e := p.Of("decide")
	name := s.eventOf(event.ToolBefore).Name
	for _, tag := range []string{"par-a", "par-b", "par-c"} {
		if _, ok := e.ToolEvent(name, tag); !ok {
			return FailsBecause("", "no %s for call %s of three", name, tag)
		}
	}
	if !e.Ran("par-a") || e.Ran("par-b") || !e.Ran("par-c") {
		return FailsBecause("", "the second of three was refused, but ran: %v %v %v", e.Ran("par-a"), e.Ran("par-b"),
			e.Ran("par-c"))
	}
	for _, heard := range []string{"out-par-a", testbed.WordFor(testbed.WordReason, "par-b"), "out-par-c"} {
		if !e.Saw(heard) {
			return FailsBecause("", "the model did not hear %q, one of three results", heard)
		}
	}
	return HoldsBecause("three calls at once, the second refused")
}

// evaluateCap counts per turn: what an agent sends itself when a helper is done is a turn of its
// own, but being kept going isn't, although some agents report it like a prompt.
func evaluateCap(p *Proof, s Subject) Result {
	spec := s.eventOf(event.TurnEnd)
	most, ends, tells := 0, 0, false
	for _, x := range p.Of("decide").Events(spec.Name) {
		tells = tells || x.Event.GoingOn // this agent says whether it was kept going
	}
	for _, x := range p.Of("decide").Seen {
		if tells && x.Event.Native == spec.Name && !x.Event.GoingOn && x.Event.Subagent == nil {
			ends = min(ends, 0) // a turn it began without a word
		}
		switch {
		case x.Event.Subagent != nil:
		case x.Event.Kind == event.SessionEnd:
			ends = -100 // what comes after is no end of a turn
		case x.Event.Kind == event.TurnStart:
			if !strings.Contains(x.Event.Prompt, testbed.WordKeep) {
				ends = 0
			}
		case x.Event.Native == spec.Name:
			ends++
			most = max(most, ends-1)
		}
	}
	rounds := 0
	for i := range 20 {
		if p.Of("decide").Saw(testbed.GoOn(spec.Name, i+1)) {
			rounds++
		}
	}
	switch {
	case len(p.Of("decide").Events(spec.Name)) == 0:
		return FailsBecause("", "no %s arrived", spec.Name)
	case rounds == 0:
		return FailsBecause("", "the agent was not kept going at all")
	case most > 3 || most == 0 && rounds > 3:
		return FailsBecause("hookmux lets a turn go on three times", "a turn went on %d times", max(most, rounds))
	}
	if most == 0 {
		most = rounds // each round was reported as a turn of its own
	}
	return HoldsBecause("a turn went on %d times, then ended", most)
}

func evaluateAbsent(run string) func(*Proof, Subject) Result {
	return func(p *Proof, s Subject) Result {
		e := p.Of(run)
		if e.Refusing && !e.Ran("absent") {
			return HoldsBecause("refused without a daemon, as these hooks were installed to (--on-unavailable deny)")
		}
		if !e.Ran("absent") || !e.Saw("out-absent") {
			return FailsBecause("Hooks must answer neutrally while no daemon can be reached; HOOKMUX_ON_UNAVAILABLE "+
				"may be deny, or the hooks were installed with --on-unavailable deny",
				"the command ran: %v; the model was told its result: %v", e.Ran("absent"), e.Saw("out-absent"))
		}
		spec := s.eventOf(event.ToolBefore)
		if spec == nil {
			spec = s.eventOf(event.ToolAfter)
		}
		if spec == nil {
			return UnsureBecause("hookmux installs no hook around tools here")
		}
		for _, r := range e.Spooled {
			if r.Event == spec.Name {
				return HoldsBecause("the turn went on, %d events were kept for the next daemon", len(e.Spooled))
			}
		}
		return FailsBecause("The spool folder may not be writable (`hookmux status` names it)",
			"the turn went on, but of %d kept events none is %s", len(e.Spooled), spec.Name)
	}
}

func evaluateEnd(p *Proof, s Subject) Result {
	e := p.Of("observe")
	spec := s.eventOf(event.SessionEnd)
	if spec == nil {
		return UnsureBecause("the agent has no such event")
	}
	if len(e.Events(spec.Name)) > 0 {
		return HoldsBecause("%s arrived", spec.Name)
	}
	if s.Driver.NoEnd != "" {
		return UnsureBecause("%s", s.Driver.NoEnd)
	}
	return FailsBecause("The hook's time limit at the end may be too short", "no %s arrived", spec.Name)
}

func evaluateTerm(p *Proof, s Subject) Result {
	e := p.Of("term")
	spec := s.eventOf(event.SessionEnd)
	if spec == nil {
		return UnsureBecause("the agent has no such event")
	}
	if len(e.Events(spec.Name)) > 0 {
		return HoldsBecause("%s arrived; the agent ended with code %d %s", spec.Name, e.Exit, e.Signal)
	}
	if !s.Driver.EndsOnTerm {
		return UnsureBecause("this agent reports no end after SIGTERM (code %d %s); none is claimed", e.Exit, e.Signal)
	}
	return FailsBecause("The hook's time limit at the end may be too short", "no %s arrived", spec.Name)
}

func evaluateLeft(p *Proof, s Subject) Result {
	if runtime.GOOS != "linux" {
		return UnsureBecause("processes can only be looked up on Linux")
	}
	if len(p.Of("observe").Seen) == 0 {
		return UnsureBecause("no hook was called, so none could leave anything")
	}
	if n := p.Of("observe").Left; n > 0 && s.Driver.Stays != "" {
		return UnsureBecause("%s, so hooks cannot be told from it", s.Driver.Stays)
	} else if n > 0 {
		return FailsBecause("a hook or the agent leaves something running",
			"%d processes were still there a second later; they were ended", n)
	}
	return HoldsBecause("nothing was left")
}
