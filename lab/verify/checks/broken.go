package checks

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/hookentry"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// Broken hooks: the run and what is made of it. That an agent goes on proves
// nothing unless the hook was called and broke, so the hook leaves a mark
// first.

// brokenLimit is the time limit of the hooks of this run; a hook that hangs
// does so for far longer.
const brokenLimit = 2 * time.Second

// brokenHook is one hook of the run.
type brokenHook struct{ event, program string }

// breaking is a hook client that fails in the way the command asks for.
const breaking = `#!/bin/sh
payload=$(cat)
case "$payload" in
*ran-missing*) : >"$0.missing" ;;
*ran-crash*) : >"$0.crash"; kill -SEGV $$; sleep 5 ;;
*ran-hang*) : >"$0.hang"; exec sleep 60 ;;
esac
exit 0
`

// sound is the one at another event.
const sound = `#!/bin/sh
cat >/dev/null
: >"$0.other"
`

func neverBroken(a *agent.Agent, _ drivers.Driver) string {
	if toolBefore(a) == "" {
		return "this agent calls no hook before a tool"
	}
	return ""
}

// toolBefore returns the name of the event before a tool.
func toolBefore(a *agent.Agent) string {
	for _, e := range a.Events {
		if e.Kind == event.ToolBefore && testbed.RegistersFor(e) {
			return e.Name
		}
	}
	return ""
}

// runBroken runs without a daemon and with broken hooks: one whose program is missing, one that crashes
// or hangs, and a sound one at another event that shows that hooks run.
func runBroken(ctx context.Context, st *testbed.TestBed) error {
	calls := []model.ToolCall{st.TaggedCall("absent"), st.TaggedCall("missing"), st.TaggedCall("crash")}
	if takesLimit(st.Agent) {
		calls = append(calls, st.TaggedCall("hang"))
	}
	st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}))
	if isPlugin(st.Agent) {
		return runBrokenPlugin(ctx, st)
	}
	stub, other := filepath.Join(st.Base, "broken-hook"), filepath.Join(st.Base, "sound-hook")
	text := breaking
	name := toolBefore(st.Agent)
	hooks := []brokenHook{{name, filepath.Join(st.Base, "nowhere", "hookmux-hook")}, {name, stub}}
	if st.Breakage != nil && st.Breakage.Broken != "" {
		text, hooks = st.Breakage.Broken, []brokenHook{{name, stub}}
	} else if another := anotherEvent(st); another != "" {
		hooks = append(hooks, brokenHook{another, other})
	}
	for file, text := range map[string]string{stub: text, other: sound} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			return err
		}
	}
	in, args, err := prepareDaemonless(ctx, st, append(st.FreeCommand("Run it"), st.Driver.Trusting...))
	if err != nil {
		return err
	}
	if err := addBrokenHooks(st, hooks); err != nil {
		return err
	}
	err = st.RunHeadless(ctx, in, args)
	st.Evidence.Broken = readBroken(stub, other, st.Project)
	return err
}

// takesLimit reports whether a hook can be written with a short time limit.
func takesLimit(a *agent.Agent) bool {
	return a == nil || a.Install == nil || a.Install.Way != agent.WayScripts
}

// anotherEvent returns one that comes in every turn and is not about a call.
func anotherEvent(st *testbed.TestBed) string {
	for _, kind := range []event.Kind{event.SessionStart, event.TurnStart, event.ToolAfter} {
		for _, e := range st.Agent.Events {
			if e.Kind == kind && !e.Failed && e.Install == agent.InstallDefault && st.Driver.Unseen[e.Name] == "" &&
				st.Driver.Racy[e.Name] == "" {
				return e.Name
			}
		}
	}
	return ""
}

func readBroken(stub, other, project string) testbed.Broken {
	b := testbed.Broken{Called: map[string]bool{}}
	for tag, program := range map[string]string{"missing": stub, "crash": stub, "hang": stub, "other": other} {
		_, err := os.Stat(program + "." + tag)
		b.Called[tag] = err == nil
	}
	called, err := os.Stat(stub + ".hang")
	if err != nil {
		return b
	}
	if ran, err := os.Stat(filepath.Join(project, "ran-hang")); err == nil {
		b.Waited = ran.ModTime().Sub(called.ModTime())
	}
	return b
}

// wentOn says that the agent did not stop at a broken hook; nil when so. Some
// agents are known to take what is broken for a refusal.
func wentOn(e *testbed.Evidence, s Subject, tag string) *Result {
	if e.Ran(tag) && e.Saw("out-"+tag) {
		return nil
	}
	if e.Refusing && !e.Ran(tag) {
		r := UnsureBecause("your hooks refuse every call while no daemon answers (--on-unavailable deny), so that " +
			"nothing can be told")
		return &r
	}
	if why := s.Driver.FailsClosed[tag]; why != "" && e.Broken.Called[tag] && !e.Ran(tag) {
		r := UnsureBecause("the agent took it for a refusal, and nothing else is claimed: %s", why)
		return &r
	}
	r := FailsBecause("With such a hook installed the agent is stuck: take it out of its settings",
		"the command ran: %v; the model was told its result: %v", e.Ran(tag), e.Saw("out-"+tag))
	return &r
}

// evaluateMissing evaluates a missing program by the marks of its neighbours, one at the
// same call, one at another event.
func evaluateMissing(p *Proof, s Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, s, "missing"); r != nil {
		return *r
	}
	if !e.Broken.Called["missing"] || !e.Broken.Called["other"] {
		return UnsureBecause("the agent went on, but the hooks beside the missing one were not called either (same "+
			"call: %v, another event: %v)", e.Broken.Called["missing"], e.Broken.Called["other"])
	}
	return HoldsBecause("the agent went on, and called the hooks beside it")
}

func evaluateCrash(p *Proof, s Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, s, "crash"); r != nil {
		return *r
	}
	if !e.Broken.Called["crash"] {
		return UnsureBecause("the agent went on, but never called the hook that crashes")
	}
	return HoldsBecause("the hook was called and crashed, the agent went on")
}

func evaluateHang(p *Proof, s Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, s, "hang"); r != nil && takesLimit(s.Agent) {
		return *r
	}
	switch waited := e.Broken.Waited; {
	case !takesLimit(s.Agent):
		return UnsureBecause("hooks of this agent set no time limit, so the vendor's own applies")
	case !e.Broken.Called["hang"]:
		return UnsureBecause("the agent went on, but never called the hook that hangs")
	case waited < brokenLimit/4:
		return UnsureBecause("the command ran %.1f s after its hook was called, which has %.0f s: it was not "+
			"waited for", waited.Seconds(), brokenLimit.Seconds())
	case waited > 10*brokenLimit:
		return FailsBecause("", "the hook has %.0f s, and the agent waited %.0f s: its time limit does not count",
			brokenLimit.Seconds(), waited.Seconds())
	default:
		return HoldsBecause("the hook was called and hung; the agent went on when its time was over")
	}
}

// addBrokenHooks adds hooks that break, as hookmux would write them.
func addBrokenHooks(st *testbed.TestBed, hooks []brokenHook) error {
	var commands []hookentry.Command
	for _, h := range hooks {
		commands = append(commands, hookentry.Command{Program: h.program, Agent: st.Agent.Name, Event: h.event,
			Seconds: int(brokenLimit / time.Second)})
	}
	return st.InstallHost().AddWithoutRecord(st.Agent, install.User, commands)
}
