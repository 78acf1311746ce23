package install

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Options holds what the user asked for.
type Options struct {
	Agents []*agent.Agent
	// Found says that the agents weren't named: one that takes no hooks in this scope is left
	// out, with a note.
	Found  bool
	Scope  string   // User or Project
	Events []string // native names or unified kinds; empty: those of the catalogue
	Usual  bool     // the catalogue's events, whatever was chosen before
	Deny   bool     // deny while hookmux can't be reached
	// Neutral says that nothing is denied then, whatever was chosen before.
	Neutral bool
	Trust   bool // have agents that ask for it trust our hooks
	// Known are all agents, for reporting which others run the hooks of these.
	Known []*agent.Agent
}

// Plan lists what has to be done, and what you should know about it.
type Plan struct {
	Steps  []Step      `json:"steps"`
	Agents []AgentPlan `json:"agents"`
	Notes  []string    `json:"notes,omitempty"`
	// Left are files that hookmux couldn't be removed from; Notes say why.
	Left []string `json:"left,omitempty"`

	host     *Host
	manifest *Manifest
}

// AgentPlan is the part of one agent.
type AgentPlan struct {
	Name    string   `json:"agent"`
	Title   string   `json:"title"`
	Path    string   `json:"path"`
	Events  []string `json:"events,omitempty"`
	Changed bool     `json:"changed"`
	Trusted bool     `json:"trusted,omitempty"` // it is made to trust our hooks
	Off     bool     `json:"off,omitempty"`     // a setting of the user keeps all hooks from running
	// Pickup says which open sessions see the change, and when.
	Pickup string   `json:"pickup,omitempty"`
	Notes  []string `json:"notes,omitempty"`
}

// Apply has an editor carry out the plan.
func (p *Plan) Apply(e Editor) error {
	if err := p.host.refuseRealHome(); err != nil {
		return err
	}
	if err := RunSteps(p.Steps, e); err != nil {
		return err
	}
	if _, ok := e.(*Disk); ok {
		return p.host.recordAgentWrites(p.manifest, p.Steps)
	}
	return nil
}

// Files returns the number of other people's files that are changed.
func (p *Plan) Files() int {
	seen := map[string]bool{}
	for _, s := range p.Steps {
		if s.Op == OpWrite || s.Op == OpDelete || s.Op == OpTrust {
			seen[s.Path] = true
		}
	}
	return len(seen)
}

// Pick returns the events that are installed for an agent.
func Pick(a *agent.Agent, names []string) (events []*agent.EventSpec, err error) {
	for _, e := range a.Events {
		switch {
		case slices.Contains(names, e.Name) && e.Install == agent.InstallNever:
			return nil, fmt.Errorf("%s: %s is never installed: %s", a.Name, e.Name, e.Why)
		case slices.Contains(names, e.Name), e.Install == agent.InstallDefault && len(names) == 0,
			e.Install != agent.InstallNever && e.Kind != event.Other && isKind(e, names),
			e.Install == agent.InstallDefault && isKind(e, names):
			events = append(events, e)
		}
	}
	return events, nil
}

func isKind(e *agent.EventSpec, names []string) bool {
	if slices.Contains(names, string(e.Kind)) {
		return true
	}
	for _, kinds := range []map[string]event.Kind{e.KindWith, e.KindWithout} {
		for _, k := range kinds {
			if slices.Contains(names, string(k)) {
				return true
			}
		}
	}
	return false
}

// CheckEvents rejects names that mean nothing to any of the agents.
func CheckEvents(agents []*agent.Agent, names []string) error {
	for _, name := range names {
		if name == "" {
			return errors.New("--events: a name is missing between two commas, or behind the last one")
		}
		if event.Kind(name).Known() {
			continue
		}
		if !slices.ContainsFunc(agents, func(a *agent.Agent) bool { _, ok := a.Event(name); return ok }) {
			return fmt.Errorf("there's no kind of event %q; `hookmux hooks discover` lists them", name)
		}
	}
	return nil
}

// Install plans to hook agents.
func (h *Host) Install(o Options) (*Plan, error) {
	d, err := h.newDraft()
	if err != nil {
		return nil, err
	}
	if err := CheckEvents(o.Agents, o.Events); err != nil {
		return nil, err
	}
	var errs []error
	plan := &Plan{host: h}
	if o.Found {
		o.Agents = slices.DeleteFunc(slices.Clone(o.Agents), func(a *agent.Agent) bool {
			out := a.Install == nil || !slices.ContainsFunc(a.Install.Places,
				func(p agent.InstallPlace) bool { return p.Scope == o.Scope })
			if out {
				d.notes = append(d.notes, fmt.Sprintf("%s: has no hooks of a %s, so it is left out", a.Name, o.Scope))
			}
			return out
		})
	}
	for _, a := range o.Agents {
		one, err := d.install(a, o)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		plan.Agents = append(plan.Agents, *one)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if plan.Hooked() > 0 {
		target := ShimTarget{Hook: h.Hook, Copied: h.Copied}
		to, _ := h.onDisk().readlink(Shim(h.Dirs))
		steps := target.Steps(h.Dirs, to)
		plan.Steps = append(plan.Steps, steps...)
		if note := target.Note(h.Dirs.Home); note != "" && len(steps) > 0 {
			d.notes = append(d.notes, note)
		}
	}
	changes := d.changeSteps()
	if len(changes) > 0 || !d.sameManifest() {
		plan.Steps = append(plan.Steps, d.next.step(h.Dirs))
	}
	plan.Steps = append(plan.Steps, changes...)
	if err := h.onDisk().writable(plan.Steps); err != nil {
		return nil, err
	}
	plan.manifest, plan.Notes = d.next, d.notes
	for i := range plan.Agents {
		one := &plan.Agents[i]
		one.Changed = d.hasChanged(one.Name)
		if one.Changed && len(one.Events) > 0 {
			one.Pickup = h.pickupNote(o.Agents[i])
		}
	}
	return plan, nil
}

// commands returns what is registered for an agent.
func (h *Host) commands(a *agent.Agent, o Options) ([]hookentry.Command, error) {
	events, err := Pick(a, o.Events)
	if err != nil {
		return nil, err
	}
	var out []hookentry.Command
	for _, e := range events {
		c := hookentry.Command{Program: Shim(h.Dirs), Agent: a.Name, Event: e.Name, Seconds: hookentry.Limit(a, e)}
		// Only calls are denied: denying a prompt, or the end of a turn, because of
		// our own failure would make the agent unusable.
		c.Deny = o.Deny && e.Carries.Deny != nil && (e.Kind == event.ToolBefore || e.Kind == event.PermissionRequest)
		out = append(out, c)
	}
	return out, nil
}

func (d *draft) install(a *agent.Agent, o Options) (*AgentPlan, error) {
	h := d.host
	if a.Install == nil && a.NotInstalled != "" {
		return nil, fmt.Errorf("%s: is not installed: %s", a.Name, a.NotInstalled)
	}
	if a.Install == nil {
		return nil, fmt.Errorf("%s: hookmux can't install hooks there; `hookmux agents show %s` says what it can do", a.Name, a.Name)
	}
	place, path, ok := a.Install.Place(o.Scope, h.diskView(a.Install))
	if !ok {
		return nil, fmt.Errorf("%s: has no hooks of a %s; leave --project out", a.Name, o.Scope)
	}
	a = a.WithKnownEvents(h.AgentVersion)
	asked := o.Events
	o, kept := d.effectiveOptions(a, o)
	commands, err := h.commands(a, o)
	if err != nil {
		return nil, err
	}
	if len(commands) == 0 && len(asked) == 0 { // what was chosen means nothing any more
		o.Events, kept = nil, false
		if commands, err = h.commands(a, o); err != nil {
			return nil, err
		}
	}
	one := &AgentPlan{Name: a.Name, Title: a.Title, Path: path}
	if kept {
		one.Notes = append(one.Notes, fmt.Sprintf("only %s, as chosen before; --events default for the usual "+
			"ones", strings.Join(o.Events, ", ")))
	}
	for _, c := range commands {
		one.Events = append(one.Events, c.Event)
	}
	if len(commands) == 0 {
		return one, d.planNoEvents(a, place, path, o, one)
	}
	switch a.Install.Way {
	case agent.WayPlugin:
		err = d.plugin(a, path, o)
	case agent.WayScripts:
		err = d.scripts(a, commands, o, one)
	default:
		err = d.entries(a, place, path, commands, o, one)
	}
	if err != nil {
		return nil, err
	}
	if r := d.next.Files[path]; r != nil {
		r.Chosen, r.Wrote = &Choice{Events: o.Events, Deny: o.Deny}, one.Events
	}
	for _, s := range h.ForeignHooks(a, path) {
		one.Notes = append(one.Notes, fmt.Sprintf("%s: %s also has a hook here", paths.Shorten(h.Dirs.Home, s.Path),
			s.What))
	}
	for _, off := range h.offSwitches(a) {
		one.Off = true
		one.Notes = append(one.Notes, fmt.Sprintf("%s: line %d: %s is %s, so none of its hooks run until that is "+
			"changed", paths.Shorten(h.Dirs.Home, off.path), off.line, off.key, off.value))
	}
	one.Notes = append(one.Notes, d.host.notesAfterInstall(a, path, commands, o)...)
	return one, nil
}

// planNoEvents plans for an agent that has none of the events that were asked for: no
// file is made for it, and what was asked for earlier is removed.
func (d *draft) planNoEvents(a *agent.Agent, place agent.InstallPlace, path string, o Options, one *AgentPlan) error {
	one.Notes = append(one.Notes, fmt.Sprintf("has no event that is meant by %s, so it gets no hooks",
		strings.Join(o.Events, ", ")))
	if len(o.Events) == 0 {
		one.Notes = []string{"has no event that is installed unless it is named in --events, so it gets no hooks"}
	}
	switch a.Install.Way {
	case agent.WayPlugin:
		return errors.Join(d.removePlugin(a, path, o.Scope), d.disable(a))
	case agent.WayScripts:
		return d.takeOutScripts(a, place, o.Scope, nil)
	}
	for _, seed := range a.Install.RequiredFiles {
		name := seedName(filepath.Join(filepath.Dir(path), seed.Path), seed)
		if d.next.Files[name] == nil {
			continue
		}
		if err := d.removeSeed(a, name); err != nil {
			return err
		}
	}
	if err := d.takeOutConsent(a); err != nil {
		return err
	}
	return d.takeOut(a, place, path, o.Scope)
}

// Hooked returns the number of agents that get hooks.
func (p *Plan) Hooked() (n int) {
	for _, a := range p.Agents {
		if len(a.Events) > 0 {
			n++
		}
	}
	return n
}

func (d *draft) entries(a *agent.Agent, place agent.InstallPlace, path string, commands []hookentry.Command, o Options,
	one *AgentPlan) error {
	t, err := d.host.target(path, place, d.host.installSpec(a, o.Deny))
	if err != nil {
		return err
	}
	f, err := d.openFile(path, a.Name, o.Scope, KindEntries)
	if err != nil {
		return err
	}
	if err := d.rememberOriginal(f, a); err != nil {
		return err
	}
	now := f.now
	if now == nil {
		now = t.FreshText(place)
	}
	now, kept, err := t.WriteCommands(now, a, commands, f.record.Kept)
	if err == nil {
		err = t.WhyDropped(a, now)
	}
	if err != nil {
		return BrokenFile(path, err)
	}
	f.record.Kept = kept
	f.setContent(OpWrite, now)
	if err := d.removeFromOtherPlaces(a, path, o.Scope); err != nil {
		return err
	}
	for _, seed := range a.Install.RequiredFiles {
		if err := d.seed(a, filepath.Dir(path), seed, o.Scope); err != nil {
			return err
		}
	}
	if err := d.consent(a, commands, o); err != nil {
		return err
	}
	one.Notes = append(one.Notes, hookentry.ForeignHooks(t, a, f.now, paths.Shorten(d.host.Dirs.Home, t.Path))...)
	if byHash(a) {
		return d.trust(t, a, place, f, o, one)
	}
	return nil
}

// removeFromOtherPlaces removes our entries from places that do not count (any more).
func (d *draft) removeFromOtherPlaces(a *agent.Agent, path, scope string) error {
	for _, p := range a.Install.Places {
		other := d.host.resolvePath(p.HookFile)
		if p.Scope != scope || other == "" || other == path {
			continue
		}
		if err := d.takeOut(a, p, other, scope); err != nil {
			return err
		}
	}
	return nil
}

func (d *draft) trust(t *hookentry.Target, a *agent.Agent, place agent.InstallPlace, hooks *draftFile, o Options,
	one *AgentPlan) error {
	h := d.host
	path := h.trustOf(a).file()
	if path == "" {
		return nil
	}
	keys, err := t.TrustKeys(hooks.now, a, h.trustOf(a).sourceName(hooks.path, place))
	if err != nil {
		return BrokenFile(hooks.path, err)
	}
	f, err := d.openFile(path, a.Name, o.Scope, KindTrust)
	if err != nil {
		return err
	}
	_, missing, err := hookentry.ReadTrusted(f.now, keys)
	if err != nil {
		return BrokenFile(path, err)
	}
	if len(missing) == 0 || !o.Trust {
		one.Trusted = len(missing) == 0
		if !one.Trusted {
			one.Notes = append(one.Notes, a.Install.Trust.Say)
		}
		if f != hooks {
			d.forgetFile(f)
		}
		return nil
	}
	if err := d.rememberOriginal(f, a); err != nil {
		return err
	}
	now, kept, err := hookentry.WriteTrust(f.now, keys, f.record.Kept)
	if err != nil {
		return BrokenFile(path, err)
	}
	f.record.Kept = kept
	for key := range keys {
		if !slices.ContainsFunc(f.record.Keys, func(k []string) bool { return slices.Equal(k, hookentry.CodexTrustPath(key)) }) {
			f.record.Keys = append(f.record.Keys, hookentry.CodexTrustPath(key))
		}
	}
	slices.SortFunc(f.record.Keys, func(a, b []string) int {
		return hookentry.CompareKeys(strings.Join(a, ":"),
			strings.Join(b, ":"))
	})
	st := f.setContent(OpTrust, now)
	if st == nil {
		// They are trusted, and the user switched some of them off.
		one.Notes = append(one.Notes, fmt.Sprintf("%s: some of these hooks are switched off there, so they do "+
			"not run", path))
		return nil
	}
	st.ownHooks = &OwnHooks{Agent: a, Source: hooks.path, Keys: keys, Cwd: h.folder(o.Scope)}
	one.Trusted = true
	return nil
}

// folder returns the folder in which an agent is asked what it sees of a scope.
func (h *Host) folder(scope string) string {
	if scope == Project {
		return h.Project
	}
	return h.Dirs.Home
}
