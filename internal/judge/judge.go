// Package judge decides about one call without a hub: for the moment in which a
// hook client cannot reach one. It asks hookmux's own guards with the settings
// in force. Whoever else would have had a say (hooks that guard, a person whom
// the settings want to be asked) cannot be asked here, and that counts as a
// guard that failed: the agent's own prompt where it can be forced, else a
// refusal. It runs nothing, waits for nobody and needs no database.
package judge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/neutral"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/covers"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
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

// Verdict is what came of a call.
type Verdict struct {
	Answer   neutral.Answer
	Decision event.Decision
	Event    event.Event
	Steps    []hook.Step
	Off      bool // hookmux is switched off: nobody was asked
}

// Judge holds what one decision needs.
type Judge struct {
	dirs      paths.Dirs
	catalogue *agent.Catalogue
	settings  *config.Loader
	registry  *registry.Registry
	trust     *trust.Store
}

// New makes a judge that reads settings where the hub does.
func New(dirs paths.Dirs) *Judge {
	j := &Judge{dirs: dirs}
	// What is wrong with a file is the hub's to report.
	j.catalogue, _ = agent.Load(filepath.Join(dirs.Config, "agents"), filepath.Join(dirs.System, "agents"))
	known := registry.Known{Agent: j.knowsAgent, Type: j.knowsType}
	j.settings = config.New(config.Options{System: dirs.System, User: dirs.Config, State: dirs.State})
	j.trust = trust.New(trust.Options{State: dirs.State, Parse: func(b []byte) ([]hook.Registration, error) {
		return parseHooks(b, known)
	}})
	j.registry = registry.New(registry.Options{
		GlobalFile: filepath.Join(dirs.Config, registry.FileName), State: dirs.State, Home: dirs.Home,
		OwnDirs: []string{dirs.Config, dirs.State, dirs.Runtime, dirs.Data}, Known: known, KnownProject: j.trust.Known,
	})
	return j
}

func (j *Judge) knowsAgent(name string) bool {
	_, ok := j.catalogue.Agent(name)
	return ok
}

func (j *Judge) knowsType(name, native string) bool {
	for _, a := range j.catalogue.Agents() {
		if name != hook.Any && a.Name != j.canonicalName(name) {
			continue
		}
		if _, ok := a.Event(native); ok {
			return true
		}
	}
	return false
}

func (j *Judge) canonicalName(name string) string {
	if a, ok := j.catalogue.Agent(name); ok {
		return a.Name
	}
	return name
}

func parseHooks(b []byte, known registry.Known) ([]hook.Registration, error) {
	parsed, problems := registry.Parse(b, known)
	if len(problems) > 0 {
		return nil, errors.New(problems[0].String())
	}
	list := make([]hook.Registration, len(parsed))
	for i := range parsed {
		list[i] = parsed[i].Registration
	}
	return list, nil
}

// Decide is what the agent gets.
func (j *Judge) Decide(ctx context.Context, c Call) Verdict {
	v := Verdict{Event: j.decode(c)}
	ev := &v.Event
	if j.isOff(c.Time) {
		v.Off = true
		v.Answer, v.Decision = j.catalogue.Encode(ev, event.Decision{})
		return v
	}
	root := ""
	if filepath.IsAbs(ev.Cwd) {
		root = j.registry.FindProject(ev.Cwd)
	}
	at := place{root: root}
	if root != "" {
		at.force = j.trust.InForce(root)
	}
	at.settings = j.settings.For(root, at.force != nil && at.force.Status == trust.Trusted)
	entries := append(j.guards(at), j.absentHooks(at)...)
	hook.Sort(entries)
	if root != "" {
		ev.Projects = []string{root}
	}
	dispatcher := hook.Dispatcher{Change: j.catalogue.WithInput}
	call := hook.Call{Event: ev, Project: root, Carries: j.catalogue.CarriesFor(ev)}
	outcome := dispatcher.Decide(ctx, call, hook.Select(entries, ev, nil))
	if outcome.Decision.Verdict == event.None && j.needsPerson(at, ev, call.Carries) {
		outcome.Decision = event.Decision{Verdict: event.Ask, By: "hookmux",
			Reason: "hookmux should ask a person about this call, and its hub does not answer; run: hookmux hub restart"}
	}
	v.Steps = outcome.Steps
	v.Answer, v.Decision = j.catalogue.Encode(ev, outcome.Decision)
	return v
}

// place is what counts where a call happens.
type place struct {
	root     string // the project, "" when there is none
	settings *config.Settings
	force    *trust.Force
}

// decode reads the payload. One that makes the decoder stumble is one that
// cannot be read.
func (j *Judge) decode(c Call) (ev event.Event) {
	defer func() {
		if p := recover(); p != nil {
			ev = event.Event{ID: c.ID, Time: c.Time, Agent: j.canonicalName(c.Agent), Native: c.Event, Kind: event.Other, Cwd: c.Cwd,
				Raw: c.Payload, Malformed: "the decoder stumbled over the payload"}
			if a, ok := j.catalogue.Agent(c.Agent); ok {
				ev.Kind = a.KindOf(c.Event)
			}
		}
	}()
	return j.catalogue.Decode(agent.Input{
		ID: c.ID, Time: c.Time, Agent: j.canonicalName(c.Agent), Event: c.Event, Payload: c.Payload, Cwd: c.Cwd, Truncated: c.Truncated, Env: c.Env,
	})
}

// guardPriority puts hookmux's own guards before everything else.
const guardPriority = -1000

// guards are hookmux's own guards that are switched on.
func (j *Judge) guards(at place) []*hook.Entry {
	var entries []*hook.Entry
	for _, info := range guard.List() {
		state := at.settings.Choice("guard." + info.Name)
		if state == "off" {
			continue
		}
		g, err := guard.New(info.Name, guard.Options{
			Ask: state == "ask", Allow: at.settings.Strings(config.GuardAllow), OwnPaths: j.ownPaths(at.root), Resolve: registry.RealPath,
		})
		run := hook.HandlerFunc(func(_ context.Context, call *hook.Call) (event.Decision, error) {
			if err != nil {
				return event.Decision{}, err
			}
			return j.check(g, call, at), nil
		})
		priority := guardPriority
		for _, kind := range []event.Kind{event.ToolBefore, event.PermissionRequest} {
			e, err := hook.NewEntry(hook.Registration{
				ID: "guard." + info.Name, Agent: hook.Any, HookType: string(kind), Handler: "builtin", Target: "guard." + info.Name,
				Mode: hook.Guard, Priority: &priority, Locked: true,
			}, run, "builtin")
			if err == nil {
				e.BuiltinGuard = true
				entries = append(entries, e)
			}
		}
	}
	return entries
}

// check asks one guard about one call.
func (j *Judge) check(g *guard.Guard, call *hook.Call, at place) event.Decision {
	ev := call.Event
	if why := ev.Unreadable(); why != "" {
		return event.Decision{Verdict: event.Ask, Reason: "guard." + g.Name() + " cannot see what this call does: " + why}
	}
	t := ev.Tool
	if t == nil {
		return event.Decision{}
	}
	project := at.root
	if project == "" {
		project = ev.Cwd
	}
	findings := g.Check(guard.Call{
		Agent: ev.Agent, ToolKind: string(t.Kind), ToolName: t.Name, Commands: t.Commands, Reads: t.Reads,
		Writes: t.Writes, URL: t.URL, Input: t.CurrentInput(), Cwd: ev.Cwd, Project: project, Home: j.dirs.Home,
	})
	if len(findings) == 0 {
		return event.Decision{}
	}
	d := event.Decision{Verdict: event.Deny, Reason: guard.Message(findings[0])}
	if g.Ask() {
		d.Verdict = event.Ask
	}
	return d
}

// ownPaths is what guard.own-files keeps agents from writing: hookmux's own
// places and every agent's hook config.
func (j *Judge) ownPaths(root string) []string {
	d := j.dirs
	list := []string{d.Config, d.State, d.Runtime, d.Data, d.System}
	if root != "" {
		list = append(list, filepath.Join(root, registry.DirName))
	}
	for _, a := range j.catalogue.Agents() {
		for _, f := range a.Files {
			switch {
			case strings.HasPrefix(f.Path, "~/"):
				list = append(list, filepath.Join(d.Home, f.Path[2:]))
			case strings.HasPrefix(f.Path, "./") && root != "":
				list = append(list, filepath.Join(root, f.Path[2:]))
			case filepath.IsAbs(f.Path):
				list = append(list, f.Path)
			}
		}
	}
	return list
}

// absentHooks stand for hooks that only a hub can run. As guards they fail, and
// a person has to look where the failure of the hook would mean a refusal.
func (j *Judge) absentHooks(at place) []*hook.Entry {
	var entries []*hook.Entry
	var set *registry.Set
	if at.force != nil {
		set = j.registry.Load(at.force.Hooks, at.force.ShownAs)
	} else {
		set = j.registry.Load("", "")
	}
	for _, reg := range set.Hooks {
		ready := reg.Registration
		ready.Agent = j.canonicalName(ready.Agent)
		if ready.FailureMeans() == hook.FailDeny {
			ready.OnFailure = hook.FailAsk
		}
		if e, err := hook.NewEntry(ready, hook.HandlerFunc(failAbsent), reg.Scope); err == nil {
			entries = append(entries, e)
		}
	}
	for _, file := range j.modules(at) {
		e, err := hook.NewEntry(hook.Registration{
			ID: "module:" + filepath.Base(file), Agent: hook.Any, HookType: string(event.ToolBefore), Mode: hook.Guard, Handler: "module", Target: file,
			OnFailure: hook.FailAsk,
		}, hook.HandlerFunc(failAbsent), registry.Global)
		if err == nil {
			entries = append(entries, e)
		}
	}
	return entries
}

var errNoHub = errors.New("only the hub can run it, and the hub does not answer; run: hookmux hub restart")

func failAbsent(context.Context, *hook.Call) (event.Decision, error) {
	return event.Decision{}, errNoHub
}

// modules are the TypeScript hooks in force: what they listen to is known only
// when they run.
func (j *Judge) modules(at place) []string {
	list := at.settings.Strings(config.Modules)
	folder := filepath.Join(j.dirs.Config, "hooks")
	files, err := os.ReadDir(folder)
	if err == nil {
		for _, f := range files {
			if trust.IsModuleName(f.Name()) {
				list = append(list, filepath.Join(folder, f.Name()))
			}
		}
	}
	if at.force != nil {
		list = append(list, at.force.Modules()...)
	}
	return list
}

// needsPerson reports whether the settings want a person to be asked before a
// call that the agent itself would not ask about. A permission request needs no
// help: the agent's own prompt is up.
func (j *Judge) needsPerson(at place, ev *event.Event, carries event.Carries) bool {
	a, ok := j.catalogue.Agent(ev.Agent)
	if !ok || ev.Kind != event.ToolBefore {
		return false
	}
	spec, _ := a.Event(ev.Native)
	e, ok := at.settings.Get(fmt.Sprintf("%s.%s", config.Gate, a.Name))
	if !ok {
		return false
	}
	level, _ := e.Value.(string)
	need, ok := policy.Look(policy.Case{Event: ev, Spec: spec, Feed: a.Feed, Carries: carries, Level: policy.Level(level), Chosen: !e.Default})
	return ok && need.Kind == policy.Permission
}

// Covers lists the events in which guards and hooks that guard have a say
// outside of any project: what the client must know when nobody answers it.
func (j *Judge) Covers() []guardnote.Cover {
	at := place{settings: j.settings.Settings()}
	var regs []hook.Registration
	for _, e := range j.absentHooks(at) {
		regs = append(regs, e.Registration)
	}
	return covers.Of(j.catalogue, at.settings, regs)
}
