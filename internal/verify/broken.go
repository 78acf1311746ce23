package verify

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// Broken hooks: the act and what is made of it. That an agent goes on proves
// nothing unless the hook was called and broke, so the hook leaves a mark
// first.

// brokenLimit is the time limit of the hooks of this act; a hook that hangs
// does so for far longer.
const brokenLimit = 2 * time.Second

// Broken is what hooks that break left behind.
type Broken struct {
	Called map[string]bool // by the command's tag, and "other": a sound hook
	// Waited is the time between the hook that hangs and the command it was
	// called for; 0 when either is missing.
	Waited time.Duration
}

// brokenHook is one hook of the act.
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

func neverBroken(a *agent.Agent, _ Driver) string {
	if toolBefore(a) == "" {
		return "this agent calls no hook before a tool"
	}
	return ""
}

// toolBefore is the name of the event before a tool.
func toolBefore(a *agent.Agent) string {
	for _, e := range a.Events {
		if e.Kind == event.ToolBefore && registersFor(e) {
			return e.Name
		}
	}
	return ""
}

// playBroken: no hub, and beside hookmux's own hooks one whose program is
// missing, one that crashes or hangs, and a sound one at another event that
// shows that hooks are called at all.
func playBroken(ctx context.Context, st *Stage) error {
	st.setScript(append(callSteps(st.taggedCall("absent"), st.taggedCall("missing"), st.taggedCall("crash"), st.taggedCall("hang")), model.Step{Say: lastWords}))
	if isPlugin(st.Agent) {
		return playBrokenPlugin(ctx, st)
	}
	stub, other := filepath.Join(st.Base, "broken-hook"), filepath.Join(st.Base, "sound-hook")
	text := breaking
	name := toolBefore(st.Agent)
	hooks := []brokenHook{{name, filepath.Join(st.Base, "nowhere", "hookmux-hook")}, {name, stub}}
	if st.sabotage != nil && st.sabotage.Broken != "" {
		text, hooks = st.sabotage.Broken, []brokenHook{{name, stub}}
	} else if another := st.anotherEvent(); another != "" {
		hooks = append(hooks, brokenHook{another, other})
	}
	for file, text := range map[string]string{stub: text, other: sound} {
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			return err
		}
	}
	in, args, err := st.prepareHubless(ctx, append(st.freeCommand("Run it"), st.Driver.Trusting...))
	if err != nil {
		return err
	}
	if err := st.beside(hooks); err != nil {
		return err
	}
	err = st.runHeadless(ctx, in, args)
	st.evidence.Broken = readBroken(stub, other, st.Project)
	return err
}

// anotherEvent is one that comes in every turn and is not about a call.
func (st *Stage) anotherEvent() string {
	for _, kind := range []event.Kind{event.SessionStart, event.TurnStart, event.ToolAfter} {
		for _, e := range st.Agent.Events {
			if e.Kind == kind && !e.Failed && e.Install == agent.InstallDefault && st.Driver.Unseen[e.Name] == "" && st.Driver.Racy[e.Name] == "" {
				return e.Name
			}
		}
	}
	return ""
}

func readBroken(stub, other, project string) Broken {
	b := Broken{Called: map[string]bool{}}
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
func wentOn(e *Evidence, s Subject, tag string) *Result {
	if e.Ran(tag) && e.Saw("out-"+tag) {
		return nil
	}
	if e.Refusing && !e.Ran(tag) {
		r := unsure("your hooks refuse every call while no hub answers (--on-unavailable deny), so that nothing can be told")
		return &r
	}
	if why := s.Driver.FailsClosed[tag]; why != "" && e.Broken.Called[tag] && !e.Ran(tag) {
		r := unsure("the agent took it for a refusal, and none of the contrary is claimed: %s", why)
		return &r
	}
	r := fails("With such a hook installed the agent is stuck: take it out of its settings", "the command ran: %v; the model was told its result: %v", e.Ran(tag), e.Saw("out-"+tag))
	return &r
}

// judgeMissing: a program that is not there leaves no mark, so its neighbours
// must: one at the same call, one at another event.
func judgeMissing(p *Proof, s Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, s, "missing"); r != nil {
		return *r
	}
	if !e.Broken.Called["missing"] || !e.Broken.Called["other"] {
		return unsure("the agent went on, but the hooks beside the missing one were not called either (same call: %v, another event: %v)", e.Broken.Called["missing"], e.Broken.Called["other"])
	}
	return holds("the agent went on, and called the hooks beside it")
}

func judgeCrash(p *Proof, s Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, s, "crash"); r != nil {
		return *r
	}
	if !e.Broken.Called["crash"] {
		return unsure("the agent went on, but never called the hook that crashes")
	}
	return holds("the hook was called and crashed, the agent went on")
}

func judgeHang(p *Proof, s Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, s, "hang"); r != nil {
		return *r
	}
	switch waited := e.Broken.Waited; {
	case !e.Broken.Called["hang"]:
		return unsure("the agent went on, but never called the hook that hangs")
	case waited < brokenLimit/4:
		return unsure("the command ran %.1f s after its hook was called, which has %.0f s: it was not waited for", waited.Seconds(), brokenLimit.Seconds())
	case waited > 10*brokenLimit:
		return fails("", "the hook has %.0f s, and the agent waited %.0f s: its time limit does not count", brokenLimit.Seconds(), waited.Seconds())
	default:
		return holds("the hook was called and hung; the agent went on when its time was over")
	}
}
