package install

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/wire"
)

// Level is how much a finding matters.
type Level string

// The levels.
const (
	Good Level = "good"
	Note Level = "note" // worth knowing
	Bad  Level = "bad"
)

// Finding is one thing the doctor looked at.
type Finding struct {
	Agent string `json:"agent"` // hookmux itself: "hookmux"
	Check string `json:"check"`
	Level Level  `json:"level"`
	What  string `json:"what"`
	Fix   string `json:"fix,omitempty"` // what mends it, a command where there is one

	mend func() (*Plan, error)
}

// Doctor looks at agents and proves what it can.
type Doctor struct {
	Host     *Host
	All      []*agent.Agent
	Hub      *client.Client // nil: none could be reached, HubError says why
	HubError error
	// Hooks asks an agent which hooks it sees, for agents that can be asked.
	Hooks func(a *agent.Agent, cwd string) ([]ListedHook, error)

	found []Finding
}

func (d *Doctor) say(agentName, check string, level Level, fix, format string, args ...any) {
	d.found = append(d.found, Finding{Agent: agentName, Check: check, Level: level, What: fmt.Sprintf(format, args...), Fix: fix})
}

// Examine looks at hookmux's own parts and at each agent. Named says that the
// agents were asked for: then one without hooks is wrong.
func (d *Doctor) Examine(ctx context.Context, agents []*agent.Agent, named bool) []Finding {
	d.found = nil
	d.shim(agents)
	if d.Hub == nil {
		d.say("hookmux", "hub", Bad, "hookmux hub start", "the hub cannot be reached: %v", d.HubError)
	} else if info, err := d.Hub.Info(ctx); err != nil {
		d.say("hookmux", "hub", Bad, "hookmux hub start", "the hub does not answer: %v", err)
	} else {
		d.say("hookmux", "hub", Good, "", "the hub answers (version %s, pid %d)", info.Version, info.PID)
		if info.Version != d.Host.Version {
			d.say("hookmux", "hub", Note, "hookmux hub stop", "the hub is of version %s, this is %s", info.Version, d.Host.Version)
		}
		if info.Off != nil {
			d.say("hookmux", "off", Bad, "hookmux on", "hookmux is switched off, so nothing is decided")
		}
	}
	for _, a := range agents {
		d.agent(ctx, a, named)
	}
	return d.found
}

func (d *Doctor) anyInstalled(agents []*agent.Agent) bool {
	return slices.ContainsFunc(agents, func(a *agent.Agent) bool {
		return slices.ContainsFunc(d.Host.Look(a), func(s Site) bool { return s.Ours > 0 })
	})
}

func (d *Doctor) shim(agents []*agent.Agent) {
	h := d.Host
	shim := Shim(h.Dirs)
	to, ok := readlink(shim)
	switch {
	case !ok && !d.anyInstalled(agents):
		return // nothing is installed, nothing is needed
	case !ok:
		d.say("hookmux", "shim", Bad, "hookmux doctor --fix", "%s: the program agents run is not there", shim)
	case !runnable(shim):
		d.say("hookmux", "shim", Bad, "hookmux doctor --fix", "%s: leads to %s, which cannot be run", shim, to)
	case !sameFile(shim, h.Hook):
		d.say("hookmux", "shim", Note, "hookmux doctor --fix", "%s: leads to %s, not to this hookmux's own (%s)", shim, to, h.Hook)
	default:
		d.say("hookmux", "shim", Good, "", "%s leads to %s", Short(h.Dirs.Home, shim), to)
		return
	}
	d.found[len(d.found)-1].mend = func() (*Plan, error) {
		return &Plan{host: h, manifest: &Manifest{}, Steps: []Step{{Op: OpLink, Path: shim, New: []byte(h.Hook)}}}, nil
	}
}

func (d *Doctor) agent(ctx context.Context, a *agent.Agent, named bool) {
	h := d.Host
	reinstall := "hookmux install " + a.Name
	sites := h.Look(a)
	ours, counted := 0, false
	before := len(d.found)
	for _, s := range sites {
		short := Short(h.Dirs.Home, s.Path)
		if s.Err != nil {
			d.say(a.Name, "parses", Bad, "correct the file by hand", "%s: %v", short, s.Err)
			continue
		}
		for _, what := range s.Damaged {
			d.say(a.Name, "intact", Bad, "take it out by hand, then "+reinstall, "%s: %s: names hookmux and is not as it was written", short, what)
		}
		if s.Ours == 0 {
			continue
		}
		ours += s.Ours
		d.site(a, s, short, reinstall)
		counted = counted || !s.Shadowed
	}
	switch {
	case ours == 0 && named:
		d.say(a.Name, "present", Bad, reinstall, "no hooks of hookmux are in its config")
		return
	case ours == 0:
		d.say(a.Name, "present", Note, reinstall, "on this machine, without hooks of hookmux")
		return
	}
	d.offSwitches(a)
	d.seen(a, sites)
	d.dead(a)
	d.stale(a)
	d.twins(a)
	healthy := !slices.ContainsFunc(d.found[before:], func(f Finding) bool { return f.Level == Bad })
	if counted && d.Hub != nil {
		d.probe(ctx, a)
		d.arrived(ctx, a, healthy)
	}
}

// site says how hooks of ours stand in one file.
func (d *Doctor) site(a *agent.Agent, s Site, short, reinstall string) {
	h := d.Host
	scope := ""
	if s.Scope == Project {
		scope = " --project"
	}
	again := func() (*Plan, error) {
		return h.Install(Options{Agents: []*agent.Agent{a}, Scope: s.Scope, Trust: true, Events: only(a, s.Events), Deny: d.denies(a, s)})
	}
	mend := func() { d.found[len(d.found)-1].mend = again }
	switch {
	case s.Shadowed:
		d.say(a.Name, "shadowed", Bad, reinstall+scope, "%s: is passed over by %s because of %s", short, a.Title, Short(h.Dirs.Home, s.By))
		mend()
	case len(s.Twice) > 0:
		d.say(a.Name, "duplicates", Bad, reinstall+scope, "%s: more than one hook of hookmux at %s", short, strings.Join(s.Twice, ", "))
		mend()
	case len(s.Stale) > 0 && a.Install.Way == agent.WayPlugin:
		d.say(a.Name, "intact", Note, reinstall+scope, "%s: %s", short, strings.Join(s.Stale, "; "))
		mend()
	case len(s.Stale) > 0:
		d.say(a.Name, "intact", Bad, reinstall+scope, "%s: not as this version writes it: %s", short, strings.Join(s.Stale, "; "))
		mend()
	default:
		n := fmt.Sprintf("%d events", len(s.Events))
		if a.Install.Way == agent.WayPlugin {
			n = "the plugin"
		}
		d.say(a.Name, "present", Good, "", "%s: %s, as hookmux writes it", short, n)
	}
	if len(s.Untrusted) > 0 {
		d.say(a.Name, "trust", Bad, reinstall+scope, "%d of its hooks are not trusted or switched off, so they do not run; %s", len(s.Untrusted), a.Install.Trust.Say)
		mend()
	}
	for _, what := range s.Foreign {
		d.say(a.Name, "foreign", Note, "", "%s: %s answers as well", short, what)
	}
}

// only are the events to install again: nil when they are the usual ones.
func only(a *agent.Agent, have []string) []string {
	usual, err := Pick(a, nil)
	if err != nil || len(have) == 0 {
		return nil
	}
	for _, e := range usual {
		if !slices.Contains(have, e.Name) {
			return slices.Compact(slices.Sorted(slices.Values(have)))
		}
	}
	for _, name := range have {
		if !slices.ContainsFunc(usual, func(e *agent.EventSpec) bool { return e.Name == name }) {
			return slices.Compact(slices.Sorted(slices.Values(have)))
		}
	}
	return nil
}

// denies reports whether a place was installed to refuse.
func (d *Doctor) denies(a *agent.Agent, s Site) bool {
	src, err := readFile(s.Path)
	return err == nil && (strings.Contains(string(src), denyFlag) || a.Install.Way == agent.WayPlugin && pluginDenies.Match(src))
}

func (d *Doctor) offSwitches(a *agent.Agent) {
	for _, off := range a.Install.Off {
		path := d.Host.resolve(agent.HookFile{Path: off.Path, Env: off.Env})
		f, err := edit.For(off.Format)
		if path == "" || err != nil {
			continue
		}
		src, err := readFile(path)
		if err != nil || src == nil {
			continue
		}
		r, err := f.Parse(src)
		if err != nil {
			continue // said where it matters
		}
		if raw := r.Raw(strings.Split(off.Key, ".")...); raw != nil && same(raw, asJSON(off.When)) {
			where, _ := r.Where(strings.Split(off.Key, ".")...)
			d.say(a.Name, "switched off", Bad, fmt.Sprintf("set %s otherwise in %s, line %d", off.Key, path, where.Line), "%s: %s is %s, so no hooks run", path, off.Key, raw)
		}
	}
}

// seen asks the agent itself which of our hooks it sees and trusts.
func (d *Doctor) seen(a *agent.Agent, sites []Site) {
	if !byHash(a) || d.Hooks == nil || d.Host.program(a) == "" {
		return
	}
	listed, err := d.Hooks(a, d.Host.Dirs.Home)
	if err != nil {
		d.say(a.Name, "asked", Note, "", "%s could not be asked which hooks it sees: %v", a.Title, err)
		return
	}
	total, trusted := 0, 0
	for _, l := range listed {
		if c, ok := ReadLine(l.Command); ok && c.Agent == a.Name {
			total++
			if l.Trust == "trusted" && l.Enabled {
				trusted++
			}
		}
	}
	want := 0
	for _, s := range sites {
		if s.Scope == User && !s.Shadowed {
			want += s.Ours
		}
	}
	switch {
	case total < want:
		d.say(a.Name, "asked", Bad, "hookmux install "+a.Name, "%s sees %d of %d hooks", a.Title, total, want)
	case trusted < total:
		d.say(a.Name, "asked", Bad, "hookmux install "+a.Name, "%s trusts %d of %d hooks; or open /hooks in it", a.Title, trusted, total)
	default:
		d.say(a.Name, "asked", Good, "", "%s itself says it sees %d hooks and trusts them all", a.Title, total)
	}
}

// dead offers trust entries of hooks that are gone for removal.
func (d *Doctor) dead(a *agent.Agent) {
	dead := d.Host.DeadTrust(a)
	if len(dead) == 0 {
		return
	}
	path := d.Host.trustFile(a)
	d.say(a.Name, "dead trust", Note, "hookmux doctor --fix", "%s: trust for %d hooks that are gone: %s", Short(d.Host.Dirs.Home, path), len(dead), strings.Join(dead, ", "))
	d.found[len(d.found)-1].mend = func() (*Plan, error) {
		src, err := readFile(path)
		if err != nil {
			return nil, err
		}
		now := src
		for _, key := range dead {
			if now, err = edit.TOML.Prune(now, stateKey(key), 0); err != nil {
				return nil, broken(path, err)
			}
		}
		return &Plan{host: d.Host, manifest: &Manifest{}, Steps: []Step{{Op: OpWrite, Path: path, Agent: a.Name, Old: src, New: now}}}, nil
	}
}

// oldSwitch is a name that the agent's switch for hooks had before.
var oldSwitch = []string{"features", "codex_hooks"}

// stale offers a switch that means nothing any more for removal.
func (d *Doctor) stale(a *agent.Agent) {
	path := d.Host.trustFile(a)
	src, err := readFile(path)
	if !byHash(a) || err != nil || src == nil {
		return
	}
	r, err := edit.TOML.Parse(src)
	if err != nil || r.Raw(oldSwitch...) == nil {
		return
	}
	d.say(a.Name, "old switch", Note, "hookmux doctor "+a.Name+" --fix", "%s: %s is an old name and means nothing any more", Short(d.Host.Dirs.Home, path), strings.Join(oldSwitch, "."))
	d.found[len(d.found)-1].mend = func() (*Plan, error) {
		src, err := readFile(path)
		if err != nil {
			return nil, err
		}
		now, err := edit.TOML.Prune(src, oldSwitch, 0)
		if err != nil {
			return nil, broken(path, err)
		}
		return &Plan{host: d.Host, manifest: &Manifest{}, Steps: []Step{{Op: OpWrite, Path: path, Agent: a.Name, Old: src, New: now}}}, nil
	}
}

// twins names agents that run this one's hooks, or whose hooks it runs.
func (d *Doctor) twins(a *agent.Agent) {
	for _, other := range d.All {
		if other.Install != nil && slices.Contains(other.Install.Reads, a.Name) && (d.Host.program(other) != "" || d.Host.Installed(other)) {
			d.say(a.Name, "read by", Note, "", "%s runs these hooks as well; hookmux answers such a call once", other.Title)
		}
	}
}

// probe runs the hook with nearly no environment.
func (d *Doctor) probe(ctx context.Context, a *agent.Agent) {
	p := d.Host.Try(ctx, d.Hub, []*agent.Agent{a}, BareEnv(d.Host.Dirs.Home, d.Host.Getenv))[0]
	if p.Error != "" {
		d.say(a.Name, "reaches the hub", Bad, "hookmux doctor --fix", "without its environment %s", p.Error)
		return
	}
	d.say(a.Name, "reaches the hub", Good, "", "its hook reached the hub in %s, with nearly no environment", p.Took.Round(time.Millisecond))
}

// arrived says which events ever came.
func (d *Doctor) arrived(ctx context.Context, a *agent.Agent, healthy bool) {
	last := map[string]time.Time{}
	kinds := map[event.Kind]bool{}
	err := d.Hub.Query(ctx, wire.QueryParams{Filter: wire.Filter{Agents: []string{a.Name}}, Limit: 1000, Newest: true}, func(e client.Entry) bool {
		var ev struct {
			Native string     `json:"native"`
			Kind   event.Kind `json:"kind"`
			Time   time.Time  `json:"time"`
		}
		if json.Unmarshal(e.Event, &ev) == nil && ev.Native != ProbeEvent {
			if ev.Time.After(last[ev.Native]) {
				last[ev.Native] = ev.Time
			}
			kinds[ev.Kind] = true
		}
		return true
	})
	if err != nil {
		d.say(a.Name, "events", Note, "", "the journal cannot be read: %v", err)
		return
	}
	var names []string
	for name := range last {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return last[names[i]].After(last[names[j]]) })
	for i, name := range names {
		names[i] = name + " " + last[name].Local().Format("2006-01-02 15:04")
	}
	switch {
	case len(names) == 0:
		fix := "start " + a.Title + " once; " + a.Install.Pickup.Say
		if a.Install.Trust.Step == "folder" {
			fix += "; " + a.Install.Trust.Say
		}
		d.say(a.Name, "events", Note, fix, "no event of it ever arrived")
	case len(kinds) == 1 && kinds[event.SessionStart] && healthy && a.Install.Trust.Step != "":
		d.say(a.Name, "events", Bad, a.Install.Trust.Say, "only starts of sessions ever arrived (%s): its other hooks are probably not trusted", strings.Join(names, ", "))
	default:
		d.say(a.Name, "events", Good, "", "arrived: %s", strings.Join(names, ", "))
	}
}

// Mend does what findings offer, and reports whether there was anything.
func (d *Doctor) Mend(findings []Finding, e Editor) (bool, error) {
	done := false
	for _, f := range findings {
		if f.mend == nil {
			continue
		}
		plan, err := d.Host.Carry(f.mend, nil, e)
		if err != nil {
			return done, err
		}
		done = done || len(plan.Steps) > 0
	}
	return done, nil
}
