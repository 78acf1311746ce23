package checks

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/lab/verify/drivers"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

const (
	// questionPatience is how long after a question that a hook answered
	// something has to happen: longer, and the user is waited for.
	questionPatience = 8 * time.Second
	pollEvery        = 50 * time.Millisecond
)

func builtinRuns() []AgentRun {
	return []AgentRun{
		{Name: "observe", What: "a turn in which hooks say nothing", Brings: everyTurn, Execute: runObserve},
		{Name: "control", What: "the same turn without hooks", Execute: runControl},
		{Name: "decide", What: "a turn with decisions by hooks", Brings: refusedCall, Execute: runDecide},
		{Name: "prompt", What: "a prompt that is refused", Execute: runPrompt},
		{
			Name:       "permission",
			What:       "commands that need permission",
			Brings:     kindIs(event.PermissionRequest),
			Execute:    runPermission,
			Cannot:     noPermission,
			AtTerminal: func(_ *agent.Agent, d drivers.Driver) bool { return d.Strict == nil },
		},
		{Name: "absent", What: "a turn without a daemon", Cannot: notAPlugin, Execute: runAbsent},
		{Name: "broken", What: "a turn with broken hooks", Execute: runBroken, Cannot: neverBroken},
		{Name: "term", What: "an end by SIGTERM", Execute: runTerm},
		{Name: "error", What: "a model that fails", Brings: failedTurn, Execute: runError},
		{Name: "dialog", What: "a person at the terminal", Brings: compactsContext, Execute: runDialog,
			Cannot: noDialog, AtTerminal: func(*agent.Agent, drivers.Driver) bool { return true }},
	}
}

// refusedCall reports whether this agent reports a denied call as a failed one.
func refusedCall(s Subject) bool {
	return s.Event.Kind == event.ToolAfter && s.Event.Failed && s.Driver.FailedIsRefused
}

func compactsContext(s Subject) bool {
	return s.Driver.Compact != "" && (s.Event.Kind == event.CompactBefore || s.Event.Kind == event.CompactAfter)
}

// isPlugin reports whether this agent's hooks are a program inside of it.
func isPlugin(a *agent.Agent) bool {
	return a != nil && a.Install != nil && a.Install.Way == agent.WayPlugin
}

func notAPlugin(a *agent.Agent, _ drivers.Driver) string {
	if !isPlugin(a) {
		return "is part of the turn with broken hooks"
	}
	return ""
}

func runObserve(ctx context.Context, st *testbed.TestBed) error {
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	if err := st.SetTurnScript(plainTurn(st)); err != nil {
		return err
	}
	return st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it"))
}

// runControl runs the turn that the plain one is compared with. Of the user's own config everything
// stays except hookmux's hooks.
func runControl(ctx context.Context, st *testbed.TestBed) error {
	if err := st.WithoutHooks(); err != nil {
		return err
	}
	if err := st.SetTurnScript(plainTurn(st)); err != nil {
		return err
	}
	return st.RunHeadless(ctx, st.PlainCommand(), st.FreeCommand("Run it"))
}

func runDecide(ctx context.Context, st *testbed.TestBed) error {
	filler := strings.Repeat("x", st.Driver.LargeCall())
	big := st.Table.Shell.Call(testbed.TaggedCommand("big") + "; : '" + filler + "' big-end")
	if refusalEndsRun(st.Agent) {
		return runDecideOnce(ctx, st)
	}
	ss := testbed.CallSteps(st.TaggedCall("deny"), st.TaggedCall("input"), st.TaggedCall("context"),
		st.TaggedCall("output"), st.TaggedCall("after-deny"), st.TaggedCall("after-context"),
		st.FailingCall("fail-deny"), st.FailingCall("fail-context"), big)
	if st.Driver.AskRefuses {
		ss = append(ss, testbed.CallSteps(st.TaggedCall("granted"), st.TaggedCall("ask"))...)
	}
	ss = append(ss, model.Step{Calls: []model.ToolCall{st.TaggedCall("par-a"), st.TaggedCall("par-b"),
		st.TaggedCall("par-c")}})
	ss = append(ss, st.SubagentSteps()...)
	ss = append(ss, model.Step{Say: testbed.LastWords})
	for i := range 8 { // as often as it is kept going, and more
		ss = append(ss, model.Step{Say: fmt.Sprintf("Went on %d.", i+1)})
	}
	st.SetScript(ss)
	decide := DecideAll
	if changeApproves(st) {
		decide = func(ev *event.Event, n int) event.Decision {
			d := DecideAll(ev, n)
			if d.Input != nil {
				d.Verdict, d.Allowed = event.Modify, true
			}
			return d
		}
	}
	if err := st.StartDaemonWithHooks(decide); err != nil {
		return err
	}
	return st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it"))
}

// refusalEndsRun reports whether nothing can run after a call that is denied.
func refusalEndsRun(a *agent.Agent) bool {
	return slices.ContainsFunc(a.Events, func(e *agent.EventSpec) bool {
		return e.Kind == event.ToolBefore && testbed.RegistersFor(e) && endsRun(e)
	})
}

// runDecideOnce returns the same turn with one refusal, which comes last.
func runDecideOnce(ctx context.Context, st *testbed.TestBed) error {
	st.SetScript(append(testbed.CallSteps(st.TaggedCall("input"), st.TaggedCall("context"), st.TaggedCall("output"),
		st.FailingCall("fail-context"), st.TaggedCall("after-context"), st.TaggedCall("deny")),
		model.Step{Say: testbed.LastWords}))
	if err := st.StartDaemonWithHooks(DecideAll); err != nil {
		return err
	}
	return st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it"))
}

// changeApproves reports whether this agent takes a changed input only as an approval.
func changeApproves(st *testbed.TestBed) bool {
	for _, e := range st.Agent.Events {
		if e.Kind == event.ToolBefore && e.Carries.Input != nil && e.Carries.Input.NeedsAllow {
			return true
		}
	}
	return false
}

// DecideAll says something at every event, recognisable by the event's name
// and the command's tag.
func DecideAll(ev *event.Event, n int) event.Decision {
	tag := testbed.TagOf(ev)
	name := ev.Native
	if ev.Kind == event.ToolBefore && ev.Truncated {
		tag = "big" // the agent cut it itself, and says so
	}
	switch ev.Kind {
	case event.ToolBefore:
		switch tag {
		case "deny", "big", "par-b":
			return event.Decision{Verdict: event.Deny, Reason: testbed.WordFor(testbed.WordReason, tag)}
		case "input":
			return event.Decision{Input: testbed.ChangedInput(ev, testbed.TaggedCommand("input-changed"))}
		case "ask":
			return event.Decision{Verdict: event.Ask, Reason: testbed.WordFor(testbed.WordReason, tag)}
		case "context":
			return event.Decision{
				Context: testbed.WordFor(testbed.WordContext, name),
				Notice:  testbed.WordFor(testbed.WordNotice, name),
			}
		}
	case event.ToolAfter:
		switch tag {
		case "output":
			return event.Decision{Output: testbed.ChangedOutput(ev, testbed.WordFor(testbed.WordOutput, name))}
		case "after-deny", "fail-deny":
			return event.Decision{Verdict: event.Deny, Reason: testbed.WordFor(testbed.WordReason, tag)}
		case "after-context", "fail-context":
			return event.Decision{
				Context: testbed.WordFor(testbed.WordContext, name),
				Notice:  testbed.WordFor(testbed.WordNotice, name),
			}
		}
	case event.SessionStart, event.TurnStart, event.SubagentStart:
		if ev.Subagent == nil || ev.Kind == event.SubagentStart {
			return event.Decision{
				Context: testbed.WordFor(testbed.WordContext, name),
				Notice:  testbed.WordFor(testbed.WordNotice, name),
			}
		}
	case event.TurnEnd:
		// Forever: the daemon must end it.
		return event.Decision{KeepGoing: true, Reason: testbed.GoOn(name, n+1)}
	case event.SubagentEnd:
		if n == 0 {
			return event.Decision{KeepGoing: true, Reason: testbed.GoOn(name, n+1)}
		}
	}
	return event.Decision{}
}

func runPrompt(ctx context.Context, st *testbed.TestBed) error {
	st.SetScript([]model.Step{{Say: testbed.LastWords}})
	err := st.StartDaemonWithHooks(func(ev *event.Event, _ int) event.Decision {
		if ev.Kind == event.TurnStart {
			return event.Decision{Verdict: event.Deny, Reason: testbed.WordFor(testbed.WordReason, "prompt")}
		}
		return event.Decision{}
	})
	if err != nil {
		return err
	}
	return st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Do not do it"))
}

// permissionTags returns the commands of the run, by what the catalogue claims about
// permission. Hooks say nothing about the command "control": a command that a hook
// approved must fare better. The command "ask" is permitted without hooks, as is
// "granted", about which they say nothing: asking must make the difference.
func permissionTags(a *agent.Agent, d drivers.Driver) []string {
	before, ask := ClaimOf(a, event.ToolBefore), ClaimOf(a, event.PermissionRequest)
	var tags []string
	if before.Allow {
		tags = append(tags, "allow")
	}
	if ask.Allow {
		tags = append(tags, "leave")
	}
	if ask.Deny {
		tags = append(tags, "refuse")
	}
	if ask.Input {
		tags = append(tags, "leave-input")
	}
	if before.Allow || ask.Allow {
		tags = append(tags, "control") // last: some agents end the run at a call that is not permitted
	}
	if before.Ask && !d.AskRefuses && d.Strict != nil {
		tags = append(tags, "granted", "ask") // last: it ends the turn of some
	}
	return tags
}

func noPermission(a *agent.Agent, d drivers.Driver) string {
	switch {
	case len(permissionTags(a, d)) == 0:
		return "the catalogue claims nothing about permissions"
	case d.Strict == nil && (d.TUI == nil || !d.AsksAtTerminal):
		return "no start is known in which this agent asks for permission" + reasonSuffix(d.NoStrict)
	}
	return ""
}

func reasonSuffix(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func runPermission(ctx context.Context, st *testbed.TestBed) error {
	interactive := st.Driver.Strict == nil
	var calls []model.ToolCall
	for _, tag := range permissionTags(st.Agent, st.Driver) {
		if interactive && tag == "control" {
			continue // it would wait for the user, and comes last
		}
		calls = append(calls, st.EscalatedCall(tag))
	}
	if interactive {
		calls = append(calls, st.EscalatedCall("control"))
	}
	st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}))
	if err := st.StartDaemonWithHooks(decidePermission); err != nil {
		return err
	}
	if !interactive {
		return st.RunHeadless(ctx, st.AgentCommand(), st.Driver.Strict(testbed.MarkedPrompt("Run it")))
	}
	st.Env = append(st.Env, st.Driver.StrictEnv...)
	return st.AtTerminal(
		ctx,
		st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
		func(ctx context.Context, t *testbed.Terminal) error {
			// The control is the last call: its dialog must be there. If the turn
			// ends first no one was asked, and if an earlier call waits for the user
			// the hook's answer wasn't used: nothing more will come.
			c, cancel := context.WithTimeout(ctx, st.Patience*2/3)
			defer cancel()
			over := func(ev *event.Event) bool {
				return ev.Kind == event.PermissionRequest && testbed.TagOf(ev) == "control" ||
					ev.Kind == event.TurnEnd && ev.Subagent == nil
			}
			testbed.WaitUntil(c, pollEvery, func() bool {
				return st.Watcher.HasPassed(over) || st.Watcher.StuckAt(event.PermissionRequest, questionPatience)
			})
			t.AwaitStillness(ctx)
			st.Evidence.Files = testbed.ProjectFiles(st.Project)
			return nil
		},
	)
}

func decidePermission(ev *event.Event, _ int) event.Decision {
	tag := testbed.TagOf(ev)
	switch {
	case ev.Kind == event.ToolBefore && tag == "allow":
		return event.Decision{Verdict: event.Allow, Reason: "scripted"}
	case ev.Kind == event.ToolBefore && tag == "ask":
		return event.Decision{Verdict: event.Ask, Reason: testbed.WordFor(testbed.WordReason, tag)}
	case ev.Kind == event.PermissionRequest && tag == "leave":
		return event.Decision{Verdict: event.Allow}
	case ev.Kind == event.PermissionRequest && tag == "refuse":
		return event.Decision{Verdict: event.Deny, Reason: testbed.WordFor(testbed.WordReason, tag)}
	case ev.Kind == event.PermissionRequest && tag == "leave-input":
		return event.Decision{
			Verdict: event.Modify,
			Allowed: true,
			Input:   testbed.ChangedInput(ev, testbed.TaggedCommand("leave-changed")),
		}
	}
	return event.Decision{}
}

// ClaimFor returns what the catalogue says an agent carries at the first event of a
// kind that verify installs.
func ClaimFor(st *testbed.TestBed, kind event.Kind) event.Carries { return ClaimOf(st.Agent, kind) }

func ClaimOf(a *agent.Agent, kind event.Kind) event.Carries {
	for _, e := range a.Events {
		if e.Kind == kind && testbed.RegistersFor(e) {
			return e.CarriesAt("")
		}
	}
	return event.Carries{}
}

// runAbsent runs with the hook client but without the daemon's program.
func runAbsent(ctx context.Context, st *testbed.TestBed) error {
	st.SetScript(append(testbed.CallSteps(st.TaggedCall("absent")), model.Step{Say: testbed.LastWords}))
	in, args, err := prepareDaemonless(ctx, st, st.FreeCommand("Run it"))
	if err != nil {
		return err
	}
	return st.RunHeadless(ctx, in, args)
}

// prepareDaemonless installs hooks and sees to it that no daemon is there and none comes up.
func prepareDaemonless(ctx context.Context, st *testbed.TestBed, args []string) (realagents.Installed, []string, error) {
	if err := st.OwnBin(); err != nil {
		return st.In, nil, err
	}
	if err := st.InstallHooks(); err != nil {
		return st.In, nil, err
	}
	in, args, err := st.PlannedCommand(ctx, args)
	if err != nil {
		return in, nil, err
	}
	if err := os.Remove(filepath.Join(st.Bin, "hookmux")); err != nil {
		return in, nil, err
	}
	st.Env = append(st.Env, "PATH="+withoutHookmux(st.LookupEnv("PATH")))
	// Hooks that the user installed have a daemon's program next to them.
	return in, args, daemonstart.Pause(st.Dirs)
}

// withoutHookmux leaves out the folders in which a daemon's program would be
// found.
func withoutHookmux(path string) string {
	var out []string
	for _, dir := range filepath.SplitList(path) {
		if _, err := os.Stat(filepath.Join(dir, "hookmux")); err != nil {
			out = append(out, dir)
		}
	}
	return strings.Join(out, string(os.PathListSeparator))
}

func runError(ctx context.Context, st *testbed.TestBed) error {
	st.SetScript([]model.Step{{Fail: &model.Fail{Status: 400, Type: "invalid_request_error",
		Message: "scripted failure"}}})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		return err
	}
	return st.RunHeadless(ctx, st.AgentCommand(), st.FreeCommand("Run it"))
}
