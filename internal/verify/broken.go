package verify

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// Broken hooks: the act and what is made of it. That an agent goes on proves
// nothing unless the hook was called and broke, so the hook leaves a mark
// first.

// brokenSeconds is the time limit of the hooks of this act; a hook that hangs
// does so for far longer.
const brokenSeconds = 2

// Broken is what hooks that break left behind.
type Broken struct {
	Called map[string]bool // by the command's tag, and "other": a sound hook
	// Waited is the time between the hook that hangs and the command it was
	// called for; 0 when either is missing.
	Waited time.Duration
}

// breaking is a hook client that fails in the way the command asks for. With a
// fourth argument it is the sound one at another event.
const breaking = `#!/bin/sh
payload=$(cat)
if [ -n "$4" ]; then : >"$0.$4"; exit 0; fi
case "$payload" in
*ran-missing*) : >"$0.missing" ;;
*ran-crash*) : >"$0.crash"; kill -SEGV $$; sleep 5 ;;
*ran-hang*) : >"$0.hang"; exec sleep 60 ;;
esac
exit 0
`

// playBroken: one hook whose program is missing, one that crashes or hangs,
// and a sound one at another event that shows that hooks are called at all.
func playBroken(ctx context.Context, st *Stage) error {
	if st.Driver.FailsClosed != "" {
		return unplayable(st.Driver.FailsClosed)
	}
	st.script(append(steps(st.call("missing"), st.call("crash"), st.call("hang")), model.Step{Say: lastWords}))
	stub := filepath.Join(st.Base, "broken-hook")
	text := breaking
	gone := filepath.Join(st.Base, "nowhere", "hookmux-hook")
	sound := st.anotherEvent()
	if st.sabotage != nil && st.sabotage.Broken != "" {
		text = st.sabotage.Broken
		gone, sound = stub, ""
	}
	if err := os.WriteFile(stub, []byte(text), 0o755); err != nil {
		return err
	}
	var name string
	for _, e := range st.Agent.Events {
		if e.Kind == event.ToolBefore && name == "" {
			name = e.Name
		}
	}
	if name == "" {
		return unplayable("this agent calls no hook before a tool")
	}
	hooks := []Handler{
		{name, launch.ShellWords([]string{gone, st.Agent.Name, name, "2"}), brokenSeconds},
		{name, launch.ShellWords([]string{stub, st.Agent.Name, name, "2"}), brokenSeconds},
	}
	if sound != "" {
		hooks = append(hooks, Handler{sound, launch.ShellWords([]string{stub, st.Agent.Name, sound, "2", "other"}), brokenSeconds})
	}
	if err := st.Driver.Install(st.Home, hooks); err != nil {
		return err
	}
	in := st.In
	in.Env = nil
	err := st.headless(ctx, in, append(st.free("Run it"), st.Driver.Trusting...))
	st.evidence.Broken = readBroken(stub, st.Project)
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

func readBroken(stub, project string) Broken {
	b := Broken{Called: map[string]bool{}}
	for _, tag := range []string{"missing", "crash", "hang", "other"} {
		_, err := os.Stat(stub + "." + tag)
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

// wentOn says that the agent did not stop at a broken hook; nil when so.
func wentOn(e *Evidence, tag string) *Result {
	if e.Ran(tag) && e.Saw("out-"+tag) {
		return nil
	}
	r := fails("with such a hook installed the agent is stuck; take it out of its settings", "the command ran: %v; the model was told its result: %v", e.Ran(tag), e.Saw("out-"+tag))
	return &r
}

// judgeMissing: a program that is not there leaves no mark, so its neighbours
// must: one at the same call, one at another event.
func judgeMissing(p *Proof, _ Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, "missing"); r != nil {
		return *r
	}
	if !e.Broken.Called["missing"] || !e.Broken.Called["other"] {
		return unsure("the agent went on, but the hooks beside the missing one were not called either (same call: %v, another event: %v)", e.Broken.Called["missing"], e.Broken.Called["other"])
	}
	return holds("the agent went on, and called the hooks beside it")
}

func judgeCrash(p *Proof, _ Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, "crash"); r != nil {
		return *r
	}
	if !e.Broken.Called["crash"] {
		return unsure("the agent went on, but never called the hook that crashes")
	}
	return holds("the hook was called and crashed, the agent went on")
}

func judgeHang(p *Proof, _ Subject) Result {
	e := p.Of("broken")
	if r := wentOn(e, "hang"); r != nil {
		return *r
	}
	const limit = brokenSeconds * time.Second
	switch waited := e.Broken.Waited; {
	case !e.Broken.Called["hang"]:
		return unsure("the agent went on, but never called the hook that hangs")
	case waited < limit/2:
		return unsure("the command ran %.1f s after its hook was called, which has %d s: it was not waited for", waited.Seconds(), brokenSeconds)
	case waited > 10*limit:
		return fails("the hook's time limit does not count with this version of the agent", "the hook has %d s, and the agent waited %.0f s", brokenSeconds, waited.Seconds())
	default:
		return holds("the hook was called and hung; the agent went on when its time was over")
	}
}
