// Package evaluate decides one call without a daemon, for a hook client that can't
// reach one. It evaluates hookmux's own guards and rules with the active settings.
// Hooks that guard, and you where the settings want you to be asked, can't be asked
// here. That is handled like a guard that failed: the agent's own prompt if it can
// be forced, otherwise a deny. It runs nothing, waits for nothing and needs no database.
package evaluate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/policy/examine"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/origins"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/version/upgrades"
)

// Call is one hook call, as the client has it.
type Call struct {
	ID        string
	Time      time.Time
	Agent     string
	Event     string
	Cwd       string
	Payload   []byte
	Truncated bool
	Env       func(string) string
}

// Verdict is the result of a call.
type Verdict struct {
	Answer   neutral.Answer
	Decision event.Decision
	Event    event.Event
	Steps    []hook.Step
	Off      bool // hookmux is switched off: nobody was asked
}

// Evaluator holds what one decision needs.
type Evaluator struct {
	*sources.Sources
	// Spent knows what agents used, Lifts which budgets you lifted. Without a daemon
	// neither is known, and both are nil.
	Spent budget.Spent
	Lifts *budget.Lifts
}

// New returns an evaluator that reads settings where the daemon does. live uses files
// as they are, accepted or not: for tests of everything else.
func New(dirs paths.Dirs, live bool) *Evaluator {
	o := sources.Options{Dirs: dirs}
	if !live {
		o.Accepted = sources.OpenAccepted(dirs, true)
	}
	// What is wrong with a file is the daemon's to report.
	o.Catalogue, _ = sources.LoadCatalogue(dirs, o.Accepted, false)
	return &Evaluator{Sources: sources.New(o)}
}

// Decide returns what the agent gets.
func (j *Evaluator) Decide(ctx context.Context, c Call) Verdict {
	v := Verdict{Event: j.decode(c)}
	ev := &v.Event
	newer := upgrades.CheckFormat(j.Dirs.State)
	if off, _ := sources.ReadOff(j.Dirs.State); newer == nil && off.At(c.Time) { // a note that is not believed switches nothing off
		v.Off = true
		v.Answer, v.Decision = j.Catalogue.Encode(ev, event.Decision{})
		return v
	}
	started := start{folder: ev.Cwd}
	if ev.Session != "" { // as a daemon does: where it is heard of first
		log := origins.New(j.Dirs.State)
		started.folder, started.err = log.Remember(origins.Session{Agent: ev.Agent, ID: ev.Session}, ev.Cwd)
		log.Close()
	}
	at := j.placeOf(ev.Cwd, started)
	root, roots := at.root, at.roots()
	ev.Projects = roots
	entries := append(j.Guards(j.guardOptions(at, c.Time)), j.absentHooks(at)...)
	if newer != nil {
		entries = append(entries, unreadState(newer)...)
	}
	hook.Sort(entries)
	dispatcher := hook.Dispatcher{Change: j.Catalogue.WithInput}
	call := hook.Call{Event: ev, Project: root, Carries: j.Catalogue.CarriesFor(ev)}
	outcome := dispatcher.Decide(ctx, call, hook.Select(entries, ev, nil))
	if outcome.Decision.Verdict == event.None && j.needsUser(at, ev, call.Carries) {
		outcome.Decision = event.Decision{Verdict: event.Ask, By: "hookmux",
			Reason: "hookmux has to ask the user about this call, but its daemon isn't responding; run: hookmux daemon " +
				"restart"}
	}
	v.Steps = outcome.Steps
	v.Answer, v.Decision = j.Catalogue.Encode(ev, outcome.Decision)
	return v
}

// start is the folder that a session started in, or why it isn't known.
type start struct {
	folder string
	err    error
}

// place holds everything that applies where a call happens.
type place struct {
	root     string // the project, "" when there is none
	settings *config.Settings
	hooks    *registry.Set
	trusted  *trust.TrustedContent
	started  start
	start    *place // what counts where the session started; nil where that is the same project
}

// placeOf finds what counts in a folder, for a session that started in one.
func (j *Evaluator) placeOf(cwd string, started start) place {
	at := j.projectOf(cwd)
	at.started = started
	if started.err == nil && started.folder != "" && started.folder != cwd {
		if other := j.projectOf(started.folder); other.root != "" && other.root != at.root {
			at.start = &other
		}
	}
	return at
}

func (j *Evaluator) projectOf(folder string) place {
	var at place
	if filepath.IsAbs(folder) {
		at.root = j.Registry.FindProject(folder)
	}
	at.hooks, at.trusted = j.HooksIn(at.root)
	at.settings = j.SettingsIn(at.root, at.trusted)
	return at
}

// roots returns the projects that count.
func (at *place) roots() []string {
	var roots []string
	if at.root != "" {
		roots = append(roots, at.root)
	}
	if at.start != nil {
		roots = append(roots, at.start.root)
	}
	return roots
}

// guardOptions returns what guards and rules are made of in a place.
func (j *Evaluator) guardOptions(at place, now time.Time) sources.GuardOptions {
	resting, _ := sources.ReadPauses(j.Dirs.State, now) // a note that is not believed lets nothing rest
	o := sources.GuardOptions{
		Settings: [2]*config.Settings{at.settings}, Protected: j.ProtectedPaths(at.roots()), Project: at.root,
		Trusted: [2]*trust.TrustedContent{at.trusted}, Resting: resting, Spent: j.Spent, Lifts: j.Lifts,
		Started: func(*event.Event) (string, error) { return at.started.folder, at.started.err },
	}
	if at.start != nil {
		o.Settings[1], o.Trusted[1] = at.start.settings, at.start.trusted
	}
	return o
}

// Examine says what every guard and rule thinks of an event, and what they come to
// together, by the settings on disk.
func (j *Evaluator) Examine(ctx context.Context, ev *event.Event) *examine.Examination {
	started := start{folder: ev.Cwd}
	log := origins.New(j.Dirs.State)
	defer log.Close()
	if folder, err := log.Read(origins.Session{Agent: ev.Agent, ID: ev.Session}); err == nil {
		started.folder = folder
	}
	return j.Sources.Examine(ctx, ev, j.guardOptions(j.placeOf(ev.Cwd, started), time.Now()))
}

// RulesAt gives the rules of a folder and what is wrong with others: those that
// count everywhere, and those of the folder's project.
func (j *Evaluator) RulesAt(cwd string) (base, project *ruleset.Loaded, states map[string]rules.Mode) {
	at := j.placeOf(cwd, start{folder: cwd})
	o := j.guardOptions(at, time.Now())
	base, project, _ = j.RulesIn(&o)
	return base, project, sources.RuleModes(at.settings)
}

// decode reads the payload. One that makes the decoder stumble is one that
// cannot be read.
func (j *Evaluator) decode(c Call) (ev event.Event) {
	defer func() {
		if p := recover(); p != nil {
			ev = event.Event{
				ID:        c.ID,
				Time:      c.Time,
				Agent:     j.AgentName(c.Agent),
				Native:    c.Event,
				Kind:      event.Other,
				Cwd:       c.Cwd,
				Raw:       c.Payload,
				Malformed: "the decoder stumbled over the payload",
			}
			if a, ok := j.Catalogue.EntryOf(c.Agent, c.Event); ok {
				ev.Kind = a.KindOf(c.Event)
			}
		}
	}()
	return j.Catalogue.Decode(agent.Input{
		ID: c.ID, Time: c.Time, Agent: j.AgentName(c.Agent), Event: c.Event, Payload: c.Payload, Cwd: c.Cwd,
		Truncated: c.Truncated, Env: c.Env,
	})
}

// absentHooks returns entries in place of hooks that only a daemon can run. As guards they
// fail, and ask you if the hook's failure would have been a deny.
func (j *Evaluator) absentHooks(at place) []*hook.Entry {
	var entries []*hook.Entry
	list := at.hooks.Hooks
	if at.start != nil {
		for _, reg := range at.start.hooks.Hooks {
			if reg.Scope == registry.Project {
				list = append(list[:len(list):len(list)], reg)
			}
		}
	}
	for _, reg := range list {
		ready := reg.Registration
		ready.Agent = j.AgentName(ready.Agent)
		if ready.FailureMeans() == hook.FailDeny {
			ready.OnFailure = hook.FailAsk
		}
		if e, err := hook.NewEntry(ready, hook.HandlerFunc(failAbsent), reg.Scope); err == nil {
			entries = append(entries, e)
		}
	}
	for _, file := range j.tsHooks(at) {
		e, err := hook.NewEntry(hook.Registration{
			ID: hook.TSHookID(filepath.Base(file)), Agent: hook.Any, HookType: string(event.ToolBefore),
			Role: hook.Guard, Handler: hook.HandlerTypeScript, Target: file, OnFailure: hook.FailAsk,
		}, hook.HandlerFunc(failAbsent), registry.Global)
		if err == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

// unreadState returns entries for state that a newer hookmux may have written. This one can't
// read which guards, rules and hooks are on, so no tool call passes unseen; at a permission
// request the agent's own prompt is already open.
func unreadState(newer error) (entries []*hook.Entry) {
	e, err := hook.NewEntry(hook.Registration{
		ID: "hookmux", Agent: hook.Any, HookType: string(event.ToolBefore), Role: hook.Guard, Handler: "builtin",
		Target: "state", OnFailure: hook.FailAsk,
	}, hook.HandlerFunc(func(context.Context, *hook.Call) (event.Decision, error) { return event.Decision{}, newer }),
		registry.Global)
	if err == nil {
		entries = append(entries, e)
	}
	return entries
}

var errNoDaemon = errors.New("only the daemon can run it, and the daemon does not answer; run: hookmux daemon restart")

func failAbsent(context.Context, *hook.Call) (event.Decision, error) {
	return event.Decision{}, errNoDaemon
}

// tsHooks returns the TypeScript hooks in force, without those that only logs:
// what they listen to is known only when they run.
func (j *Evaluator) tsHooks(at place) []string {
	list := at.settings.Strings(config.Modules)
	list = append(list, j.FolderTSHooks()...)
	onlyLogs := func(trusted *trust.TrustedContent) func(string) bool {
		return func(file string) bool { return sources.OnlyLogsTSHook(j.Dirs, at.settings, trusted.Shown(file)) }
	}
	if at.trusted != nil {
		list = append(list, at.trusted.TSHooks()...)
	}
	list = slices.DeleteFunc(list, onlyLogs(at.trusted))
	if at.start != nil && at.start.trusted != nil {
		list = append(list, slices.DeleteFunc(at.start.trusted.TSHooks(), onlyLogs(at.start.trusted))...)
	}
	return list
}

// needsUser reports whether the settings want you to be asked before a call that the
// agent itself wouldn't ask about. A permission request needs no help: the agent's
// own prompt is already open.
func (j *Evaluator) needsUser(at place, ev *event.Event, carries event.Carries) bool {
	a, ok := j.Catalogue.Agent(ev.Agent)
	if !ok || ev.Kind != event.ToolBefore {
		return false
	}
	spec, _ := a.Event(ev.Native)
	e, ok := at.settings.Get(fmt.Sprintf("%s.%s", config.ApprovalsPolicy, a.Name))
	if !ok {
		return false
	}
	level, _ := e.Value.(string)
	need, ok := policy.NeedFor(
		policy.Case{
			Event:   ev,
			Spec:    spec,
			Inbox:   a.Inbox,
			Carries: carries,
			Level:   policy.Level(level),
			Chosen:  !e.Default,
		},
	)
	return ok && need.Kind == policy.Permission
}

// DescribeUnaccepted says which changes of settings wait for you, and what to do; ""
// if there are none.
func (j *Evaluator) DescribeUnaccepted() (what, fix string) {
	if j.Accepted == nil {
		return "", ""
	}
	j.Config.Settings()
	j.HooksIn("")
	return j.Accepted.Describe()
}

// Covers lists the events that guards and guarding hooks apply to outside of any
// project: what the client must know if no daemon answers it.
func (j *Evaluator) Covers() []guardnote.Cover {
	at := place{settings: j.Config.Settings()}
	at.hooks, _ = j.HooksIn("")
	var regs []hook.Registration
	for _, e := range append(j.absentHooks(at), j.Guards(j.guardOptions(at, time.Now()))...) {
		if !e.BuiltinGuard || e.ID == sources.RulesHook {
			regs = append(regs, e.Registration)
		}
	}
	return sources.GuardedEvents(j.Catalogue, at.settings, regs)
}
