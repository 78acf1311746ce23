package verify

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/hubstart"
	"github.com/hookmux/hookmux/internal/verify/agents"
	"github.com/hookmux/hookmux/internal/verify/model"
)

// The words that hooks put in. A reason, a context and so on are recognised by
// them wherever they come out.
const (
	wordReason  = "hookmux-verify-reason-"
	wordContext = "hookmux-verify-context-"
	wordOutput  = "hookmux-verify-result-"
	wordKeep    = "hookmux-verify-go-on-"
	wordNotice  = "hookmux-verify-notice-"
)

// wordEnd closes every such word: some names of events begin with another's.
const wordEnd = "."

// wordFor is a word with the name it is about.
func wordFor(word, name string) string { return word + name + wordEnd }

// goOn is what an agent is told when it is kept going for the nth time.
func goOn(name string, n int) string { return wordFor(wordKeep, fmt.Sprintf("%s-%d", name, n)) }

// lastWords end a scripted turn.
const lastWords = "The scripted turn is over."

const bigPayload = 1 << 20

const (
	// questionPatience is how long after a question that a hook answered
	// something has to happen: longer, and the person is waited for.
	questionPatience = 8 * time.Second
	pollEvery        = 50 * time.Millisecond
)

func builtinActs() []Act {
	return []Act{
		{Name: "observe", What: "a turn in which hooks say nothing", Brings: everyTurn, Play: playObserve},
		{Name: "control", What: "the same turn without hooks", Play: playControl},
		{Name: "decide", What: "a turn in which hooks decide", Brings: refusedCall, Play: playDecide},
		{Name: "prompt", What: "a prompt that is refused", Play: playPrompt},
		{Name: "permission", What: "commands that need leave", Brings: kindIs(event.PermissionRequest), Play: playPermission,
			Cannot: noPermission, AtTerminal: func(_ *agent.Agent, d Driver) bool { return d.Strict == nil }},
		{Name: "absent", What: "a turn without a hub", Cannot: notAPlugin, Play: playAbsent},
		{Name: "broken", What: "a turn with broken hooks", Play: playBroken, Cannot: neverBroken},
		{Name: "term", What: "an end by SIGTERM", Play: playTerm},
		{Name: "error", What: "a model that fails", Brings: failedTurn, Play: playError},
		{Name: "dialog", What: "a person at the terminal", Brings: compactsContext, Play: playDialog,
			Cannot: noDialog, AtTerminal: func(*agent.Agent, Driver) bool { return true }},
		{Name: "turn", What: "one scripted turn", Raw: true, Play: playTurn},
	}
}

// refusedCall: this agent reports a refused call as a failed one, and hardly
// anything else.
func refusedCall(s Subject) bool {
	return s.Event.Kind == event.ToolAfter && s.Event.Failed && s.Driver.FailedIsRefused
}

func compactsContext(s Subject) bool {
	return s.Driver.Compact != "" && (s.Event.Kind == event.CompactBefore || s.Event.Kind == event.CompactAfter)
}

// isPlugin: hooks of this agent are no commands but a program inside of it.
func isPlugin(a *agent.Agent) bool {
	return a != nil && a.Install != nil && a.Install.Way == agent.WayPlugin
}

func notAPlugin(a *agent.Agent, _ Driver) string {
	if !isPlugin(a) {
		return "is part of the turn with broken hooks"
	}
	return ""
}

func (st *Stage) taggedCall(tag string) model.ToolCall {
	return st.Table.Shell.Call(taggedCommand(tag))
}

func (st *Stage) failingCall(tag string) model.ToolCall {
	return st.Table.Shell.Call(taggedCommand(tag) + "; exit 3")
}

func callSteps(calls ...model.ToolCall) []model.Step {
	var out []model.Step
	for _, c := range calls {
		out = append(out, model.Step{Calls: []model.ToolCall{c}})
	}
	return out
}

// setScript sets what the model does; the subagent's own script is always there.
func (st *Stage) setScript(ss []model.Step) {
	sc := model.Scenario{Steps: ss, Vars: map[string]*regexp.Regexp{}, Named: map[string][]model.Step{
		"sub": {{Calls: []model.ToolCall{st.taggedCall("sub")}}, {Say: "The scripted helper is done."}, {Say: "The scripted helper is done again."}},
	}}
	for name, pattern := range st.Driver.Vars {
		sc.Vars[name] = regexp.MustCompile(pattern)
	}
	st.Model.Play(st.Run, sc)
}

// subagentSteps are the steps that send a helper off, none where the agent has none.
func (st *Stage) subagentSteps() []model.Step {
	if st.Driver.Subagent == nil {
		return nil
	}
	return st.Driver.Subagent("Help with it " + model.Mark("sub"))
}

// startHubWithHooks brings up hub and hooks.
func (st *Stage) startHubWithHooks(decide Decide) error {
	if err := st.startHub(decide); err != nil {
		return err
	}
	return st.installHooks()
}

func (st *Stage) freeCommand(words string) []string {
	return agents.Headless(st.Driver.Name, markedPrompt(words))
}

func playObserve(ctx context.Context, st *Stage) error {
	if err := st.startHubWithHooks(nil); err != nil {
		return err
	}
	if err := st.stageScene(st.plainScene()); err != nil {
		return err
	}
	return st.runHeadless(ctx, st.start(), st.freeCommand("Run it"))
}

// playControl is what the plain turn is compared with. Of a person's own
// config everything stays but the hooks of hookmux.
func playControl(ctx context.Context, st *Stage) error {
	if err := st.withoutHooks(); err != nil {
		return err
	}
	if err := st.stageScene(st.plainScene()); err != nil {
		return err
	}
	return st.runHeadless(ctx, st.plain(), st.freeCommand("Run it"))
}

func playDecide(ctx context.Context, st *Stage) error {
	big := st.Table.Shell.Call(taggedCommand("big") + "; : '" + strings.Repeat("x", bigPayload) + "' big-end")
	ss := callSteps(st.taggedCall("deny"), st.taggedCall("input"), st.taggedCall("context"), st.taggedCall("output"), st.taggedCall("after-deny"), st.taggedCall("after-context"),
		st.failingCall("fail-deny"), st.failingCall("fail-context"), big)
	if st.Driver.AskRefuses {
		ss = append(ss, callSteps(st.taggedCall("granted"), st.taggedCall("ask"))...)
	}
	ss = append(ss, model.Step{Calls: []model.ToolCall{st.taggedCall("par-a"), st.taggedCall("par-b"), st.taggedCall("par-c")}})
	ss = append(ss, st.subagentSteps()...)
	ss = append(ss, model.Step{Say: lastWords})
	for i := range 8 { // as often as it is kept going, and more
		ss = append(ss, model.Step{Say: fmt.Sprintf("Went on %d.", i+1)})
	}
	st.setScript(ss)
	decide := decideAll
	if st.changeApproves() {
		decide = func(ev *event.Event, n int) event.Decision {
			d := decideAll(ev, n)
			if d.Input != nil {
				d.Verdict, d.Allowed = event.Modify, true
			}
			return d
		}
	}
	if err := st.startHubWithHooks(decide); err != nil {
		return err
	}
	return st.runHeadless(ctx, st.start(), st.freeCommand("Run it"))
}

// changeApproves: this agent takes a changed input only as an approval.
func (st *Stage) changeApproves() bool {
	for _, e := range st.Agent.Events {
		if e.Kind == event.ToolBefore && e.Carries.Input != nil && e.Carries.Input.NeedsAllow {
			return true
		}
	}
	return false
}

// decideAll says something at every event, recognisable by the event's name
// and the command's tag.
func decideAll(ev *event.Event, n int) event.Decision {
	tag := tagOf(ev)
	name := ev.Native
	if ev.Kind == event.ToolBefore && ev.Truncated {
		tag = "big" // the agent cut it itself, and says so
	}
	switch ev.Kind {
	case event.ToolBefore:
		switch tag {
		case "deny", "big", "par-b":
			return event.Decision{Verdict: event.Deny, Reason: wordFor(wordReason, tag)}
		case "input":
			return event.Decision{Input: changedInput(ev, taggedCommand("input-changed"))}
		case "ask":
			return event.Decision{Verdict: event.Ask, Reason: wordFor(wordReason, tag)}
		case "context":
			return event.Decision{Context: wordFor(wordContext, name), Notice: wordFor(wordNotice, name)}
		}
	case event.ToolAfter:
		switch tag {
		case "output":
			return event.Decision{Output: changedOutput(ev, wordFor(wordOutput, name))}
		case "after-deny", "fail-deny":
			return event.Decision{Verdict: event.Deny, Reason: wordFor(wordReason, tag)}
		case "after-context", "fail-context":
			return event.Decision{Context: wordFor(wordContext, name), Notice: wordFor(wordNotice, name)}
		}
	case event.SessionStart, event.TurnStart, event.SubagentStart:
		if ev.Subagent == nil || ev.Kind == event.SubagentStart {
			return event.Decision{Context: wordFor(wordContext, name), Notice: wordFor(wordNotice, name)}
		}
	case event.TurnEnd:
		// For ever: the hub must end it.
		return event.Decision{KeepGoing: true, Reason: goOn(name, n+1)}
	case event.SubagentEnd:
		if n == 0 {
			return event.Decision{KeepGoing: true, Reason: goOn(name, n+1)}
		}
	}
	return event.Decision{}
}

func playPrompt(ctx context.Context, st *Stage) error {
	st.setScript([]model.Step{{Say: lastWords}})
	err := st.startHubWithHooks(func(ev *event.Event, _ int) event.Decision {
		if ev.Kind == event.TurnStart {
			return event.Decision{Verdict: event.Deny, Reason: wordFor(wordReason, "prompt")}
		}
		return event.Decision{}
	})
	if err != nil {
		return err
	}
	return st.runHeadless(ctx, st.start(), st.freeCommand("Do not do it"))
}

// permissionTags are the commands of the act, by what is claimed about leave.
// The control is a call without an opinion, so that an approval by a hook makes
// the difference. What a hook wants asked has leave, so that asking makes the
// difference: the same without an opinion is called granted.
func permissionTags(a *agent.Agent, d Driver) []string {
	before, ask := claimOf(a, event.ToolBefore), claimOf(a, event.PermissionRequest)
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
		tags = append(tags, "control") // behind the others: without leave some end the run
	}
	if before.Ask && !d.AskRefuses && d.Strict != nil {
		tags = append(tags, "granted", "ask") // last: it ends the turn of some
	}
	return tags
}

func noPermission(a *agent.Agent, d Driver) string {
	switch {
	case len(permissionTags(a, d)) == 0:
		return "the catalogue claims nothing about leave"
	case d.Strict == nil && (d.TUI == nil || !d.AsksAtTerminal):
		return "no start is known in which this agent asks for leave" + reasonSuffix(d.NoStrict)
	}
	return ""
}

func reasonSuffix(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

func playPermission(ctx context.Context, st *Stage) error {
	interactive := st.Driver.Strict == nil
	var calls []model.ToolCall
	for _, tag := range permissionTags(st.Agent, st.Driver) {
		if interactive && tag == "control" {
			continue // it would wait for a person, and comes last
		}
		calls = append(calls, st.escalatedCall(tag))
	}
	if interactive {
		calls = append(calls, st.escalatedCall("control"))
	}
	st.setScript(append(callSteps(calls...), model.Step{Say: lastWords}))
	if err := st.startHubWithHooks(decidePermission); err != nil {
		return err
	}
	if !interactive {
		return st.runHeadless(ctx, st.start(), st.Driver.Strict(markedPrompt("Run it")))
	}
	st.Env = append(st.Env, st.Driver.StrictEnv...)
	return st.atTerminal(ctx, st.Driver.TUI(markedPrompt("Run it"), true), func(ctx context.Context, t *terminal) error {
		// The control is the last call: its dialog must be there. When the turn
		// ends first nobody was asked, and when an earlier call waits for a
		// person the hook's answer did not count: nothing more will come.
		c, cancel := context.WithTimeout(ctx, st.patience*2/3)
		defer cancel()
		over := func(ev *event.Event) bool {
			return ev.Kind == event.PermissionRequest && tagOf(ev) == "control" || ev.Kind == event.TurnEnd && ev.Subagent == nil
		}
		for !st.watcher.hasPassed(over) && !st.watcher.stuckAt(event.PermissionRequest, questionPatience) && pauseFor(c, pollEvery) {
		}
		t.awaitStillness(ctx)
		st.evidence.Files = projectFiles(st.Project)
		return nil
	})
}

// escalatedCall is a tagged call that needs leave in a strict start.
func (st *Stage) escalatedCall(tag string) model.ToolCall {
	c := st.taggedCall(tag)
	if st.Driver.Escalate != nil {
		c = st.Driver.Escalate(c)
	}
	return c
}

func decidePermission(ev *event.Event, _ int) event.Decision {
	tag := tagOf(ev)
	switch {
	case ev.Kind == event.ToolBefore && tag == "allow":
		return event.Decision{Verdict: event.Allow, Reason: "scripted"}
	case ev.Kind == event.ToolBefore && tag == "ask":
		return event.Decision{Verdict: event.Ask, Reason: wordFor(wordReason, tag)}
	case ev.Kind == event.PermissionRequest && tag == "leave":
		return event.Decision{Verdict: event.Allow}
	case ev.Kind == event.PermissionRequest && tag == "refuse":
		return event.Decision{Verdict: event.Deny, Reason: wordFor(wordReason, tag)}
	case ev.Kind == event.PermissionRequest && tag == "leave-input":
		return event.Decision{Verdict: event.Modify, Allowed: true, Input: changedInput(ev, taggedCommand("leave-changed"))}
	}
	return event.Decision{}
}

// claimFor is what the catalogue says an agent carries at the first event of a
// kind that verify installs.
func (st *Stage) claimFor(kind event.Kind) event.Carries { return claimOf(st.Agent, kind) }

func claimOf(a *agent.Agent, kind event.Kind) event.Carries {
	for _, e := range a.Events {
		if e.Kind == kind && registersFor(e) {
			return e.CarriesAt("")
		}
	}
	return event.Carries{}
}

// playAbsent: the hook client is there, the hub's program is not.
func playAbsent(ctx context.Context, st *Stage) error {
	st.setScript(append(callSteps(st.taggedCall("absent")), model.Step{Say: lastWords}))
	in, args, err := st.prepareHubless(ctx, st.freeCommand("Run it"))
	if err != nil {
		return err
	}
	return st.runHeadless(ctx, in, args)
}

// prepareHubless installs hooks and sees to it that no hub is there and none comes up.
func (st *Stage) prepareHubless(ctx context.Context, args []string) (agents.Installed, []string, error) {
	if err := st.ownBin(); err != nil {
		return st.In, nil, err
	}
	if err := st.installHooks(); err != nil {
		return st.In, nil, err
	}
	in, args, err := st.plannedCommand(ctx, args)
	if err != nil {
		return in, nil, err
	}
	if err := os.Remove(filepath.Join(st.Bin, "hookmux")); err != nil {
		return in, nil, err
	}
	st.Env = append(st.Env, "PATH="+withoutHookmux(st.lookupEnv("PATH")))
	// Hooks that a person installed have a hub's program beside them.
	return in, args, hubstart.Pause(st.Dirs)
}

// withoutHookmux leaves out the folders in which a hub's program would be
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

func playError(ctx context.Context, st *Stage) error {
	st.setScript([]model.Step{{Fail: &model.Fail{Status: 400, Type: "invalid_request_error", Message: "scripted failure"}}})
	if err := st.startHubWithHooks(nil); err != nil {
		return err
	}
	return st.runHeadless(ctx, st.start(), st.freeCommand("Run it"))
}

// playTurn is the smallest proof that an agent can be driven: a scripted
// command really runs and the model hears of it.
func playTurn(ctx context.Context, st *Stage) error {
	if err := st.stageScene(turnScene); err != nil {
		return err
	}
	var folder string
	if r := st.Driver.Record; r != nil {
		var err error
		if folder, err = r.prepareFolder(st.Base, st.Home); err != nil {
			return err
		}
	}
	in := st.In
	in.Env = nil
	err := st.runHeadless(ctx, in, st.freeCommand("Run it"))
	if r := st.Driver.Record; r != nil && err == nil {
		st.evidence.Payloads, err = r.readPayloads(folder)
	}
	return err
}

// withInput adds arguments to a call.
func withInput(c model.ToolCall, more map[string]any) model.ToolCall {
	var input map[string]any
	if json.Unmarshal(c.Input, &input) != nil {
		return c
	}
	for k, v := range more {
		input[k] = v
	}
	return model.Call(c.Name, input)
}

func withNamespace(c model.ToolCall, name string) model.ToolCall {
	c.Namespace = name
	return c
}
