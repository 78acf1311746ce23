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
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/statefiles"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// checkSite checks our hooks in one file.
func (d *Doctor) checkSite(a *agent.Agent, s Site, short, reinstall string) {
	h := d.Host
	if s.Scope == Project {
		reinstall += " --project"
	}
	// What was chosen before is kept by installing again.
	again := func(trust bool) (*Plan, error) {
		return h.Install(Options{Agents: []*agent.Agent{a}, Scope: s.Scope, Trust: trust})
	}
	well := true
	bad := func(check string, level Level, format string, args ...any) {
		d.addFinding(a.Name, check, level, reinstall, "%s: %s", short, fmt.Sprintf(format, args...))
		d.setRepair(again)
		well = well && level != Bad
	}
	if s.Shadowed {
		bad("shadowed", Bad, "is passed over by %s because of %s", a.Title, paths.Shorten(h.Dirs.Home, s.HiddenBy))
	}
	if len(s.Duplicated) > 0 {
		bad("duplicates", Bad, "more than one hook of hookmux at %s", strings.Join(s.Duplicated, ", "))
	}
	if len(s.Missing) > 0 {
		bad("missing", Bad, "hookmux's hooks were taken out at %s", strings.Join(s.Missing, ", "))
	}
	switch {
	case len(s.Stale) > 0 && a.Install.Way == agent.WayPlugin && len(s.MayMiss) == 0:
		bad(checkIntact, Note, "%s", s.Stale[0])
		well = false // there is a line about it
	case len(s.Stale) > 0:
		bad(checkIntact, Bad, "not as this version writes it: %s", strings.Join(s.Stale, "; "))
	}
	if well {
		what := fmt.Sprintf("%d events hooked", len(s.Events))
		if len(s.Events) == 1 {
			what = "1 event hooked"
		}
		if a.Install.Way == agent.WayPlugin {
			what = "hookmux's plugin is there"
		}
		d.addFinding(a.Name, "present", Good, "", "%s: %s", short, what)
	}
	if len(s.Fresh) > 0 {
		bad(checkNewEvents, Note, "this version has more: %s", strings.Join(s.Fresh, ", "))
	}
	if len(s.Untrusted) > 0 {
		bad("trust", Bad, "%s not trusted, or switched off, and never run; %s", countHooks(len(s.Untrusted)),
			a.Install.Trust.Say)
	}
	for _, what := range s.Foreign {
		d.addFinding(a.Name, "foreign", Note, "", "%s: %s also has a hook here", short, what)
	}
}

// checkTelemetry reports whether the collector answers, if there is one.
func (d *Doctor) checkTelemetry(ctx context.Context) {
	var check wire.TelemetryCheck
	switch err := d.Daemon.Call(ctx, wire.MethodTelemetryCheck, nil, &check); {
	case err != nil || check.Endpoint == "": // an older daemon, or it's off
	case check.Problem != "":
		d.addFinding("hookmux", "telemetry", Bad, "start the collector, or `hookmux config unset telemetry.endpoint`",
			"telemetry doesn't reach %s: %s", check.Endpoint, check.Problem)
	default:
		d.addFinding("hookmux", "telemetry", Good, "", "the collector at %s answers", check.Endpoint)
	}
}

// checkSwitches names settings that keep hooks from running.
func (d *Doctor) checkSwitches(a *agent.Agent) {
	for _, off := range d.Host.offSwitches(a) {
		d.addFinding(a.Name, "switched off", Bad, fmt.Sprintf("set %s otherwise in %s, line %d", off.key, off.path,
			off.line), "%s: %s is %s, so no hooks run", off.path, off.key, off.value)
	}
}

// checkFolderTrust reports whether an agent trusts the current folder, if it runs no hooks at all
// otherwise.
func (d *Doctor) checkFolderTrust(a *agent.Agent) {
	h := d.Host
	if a.Install.Trust.Folders == nil || h.Project == "" {
		return
	}
	trust, by, err := h.trustOf(a).inFolder(h.Project)
	here, by := paths.Shorten(h.Dirs.Home, h.Project), paths.Shorten(h.Dirs.Home, by)
	switch {
	case err != nil:
		d.addFinding(a.Name, "folder", Bad, "correct the file by hand", "%s: %v", by, err)
	case trust == folderTrusted:
		d.addFinding(a.Name, "folder", Good, "", "it trusts %s (%s)", here, by)
	case trust == folderRefused:
		d.addFinding(a.Name, "folder", Bad, "open /permissions in "+a.Title+" there, or change "+by,
			"%s says not to trust %s: no hooks run there, not even yours", by, here)
	default:
		d.addFinding(a.Name, "folder", Note, a.Install.Trust.Say, "%s is not among the folders it trusts (%s)", here,
			by)
	}
}

// checkPluginFolders finds what was put next to a plugin and now keeps others from what they need.
func (d *Doctor) checkPluginFolders(a *agent.Agent) {
	if a.Install.Plugin == nil {
		return
	}
	m, err := d.Host.load()
	if err != nil {
		return
	}
	for _, path := range m.paths() {
		r := m.Files[path]
		if r.Agent != a.Name || r.Kind != KindPlugin {
			continue
		}
		others := d.Host.foreignFiles(a, path)
		if len(others) == 0 || len(m.seedsOf(a, path)) == 0 {
			continue
		}
		again := "hookmux install " + a.Name
		if r.Scope == Project {
			again += " --project"
		}
		d.addFinding(a.Name, "seeds", Bad, again, "%s: beside it lies what hookmux put there so that %s starts "+
			"without a network, and %s may need what it stands for", paths.Shorten(d.Host.Dirs.Home, path), a.Title,
			paths.Shorten(d.Host.Dirs.Home, others[0]))
		d.setRepair(func(trust bool) (*Plan, error) {
			return d.Host.Install(Options{Agents: []*agent.Agent{a}, Scope: r.Scope, Trust: trust})
		})
	}
}

// checkLeftovers reports files left behind by an installation that was killed.
func (d *Doctor) checkLeftovers() {
	left := leftovers{d.Host}.list()
	if len(left) == 0 {
		return
	}
	for i := range left {
		left[i] = paths.Shorten(d.Host.Dirs.Home, left[i])
	}
	d.addFinding("hookmux", "leftovers", Note, "hookmux doctor --fix", "left by an installation that was killed: %s",
		strings.Join(left, ", "))
	// Every change of files under the lock sweeps first.
	d.setRepair(func(bool) (*Plan, error) {
		return &Plan{host: d.Host, manifest: &Manifest{}, Steps: []Step{{Op: OpSweep}}}, nil
	})
}

// maxNamed bounds how many files one finding names.
const maxNamed = 5

// checkStateFiles names what is in hookmux's own folders and is not its own.
func (d *Doctor) checkStateFiles() {
	var unknown, foreign []string
	for _, f := range statefiles.ListFiles(d.Host.Dirs) {
		short := paths.Shorten(d.Host.Dirs.Home, f.Path)
		if f.File == nil && f.Place == statefiles.State {
			unknown = append(unknown, termsafe.Line(short, 200))
		}
		if f.Foreign != "" && f.File != nil && !f.File.AgentsOwn {
			foreign = append(foreign, termsafe.Line(short, 200)+" "+f.Foreign)
		}
	}
	if len(unknown) > 0 {
		d.addFinding("hookmux", "state", Note, "look at them, and move them away",
			"files that hookmux did not write are among its own: %s", nameSome(unknown))
	}
	if len(foreign) > 0 {
		d.addFinding("hookmux", "state", Bad,
			"chown and chmod go-w them, or remove them; docs/contributing/state-files.md says what each is",
			"files of hookmux's that others can change: %s", nameSome(foreign))
	}
}

// nameSome names the first of a list, and how many more there are.
func nameSome(list []string) string {
	text := strings.Join(list[:min(len(list), maxNamed)], ", ")
	if more := len(list) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// askAgentForHooks asks the agent itself which of our hooks it sees and trusts.
func (d *Doctor) askAgentForHooks(a *agent.Agent, sites []Site) {
	if !byHash(a) || d.Hooks == nil || d.Host.programOf(a) == "" || len(d.Host.offSwitches(a)) > 0 {
		return // of hooks that are switched off it sees none: said already
	}
	listed, err := d.Hooks(a, d.Host.Dirs.Home)
	if err != nil {
		d.addFinding(a.Name, "asked", Note, "", "couldn't ask %s which hooks it loads (its app server didn't answer)", a.Title)
		return
	}
	total, trusted := 0, 0
	for _, l := range listed {
		if c, ok := hookentry.ReadLine(l.Command); ok && c.Agent == a.Name {
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
		d.addFinding(a.Name, "asked", Bad, "hookmux install "+a.Name, "%s sees %d of %d hooks", a.Title, total, want)
	case trusted < total && slices.ContainsFunc(sites, func(s Site) bool { return len(s.Untrusted) > 0 }):
		// Said already, of the file.
	case trusted < total:
		d.addFinding(a.Name, "asked", Bad, "hookmux install "+a.Name, "%s trusts %d of %d hooks; or open /hooks in it",
			a.Title, trusted, total)
	default:
		d.addFinding(a.Name, "asked", Good, "", "%s itself says it sees %d hooks and trusts them all", a.Title, total)
	}
}

// checkDeadTrust offers trust entries of hooks that are gone for removal.
func (d *Doctor) checkDeadTrust(a *agent.Agent) {
	dead := d.Host.trustOf(a).deadKeys()
	if len(dead) == 0 {
		return
	}
	path := d.Host.trustOf(a).file()
	d.addFinding(a.Name, "dead trust", Note, "hookmux doctor --fix", "%s: trust in what is gone (%d): %s",
		paths.Shorten(d.Host.Dirs.Home, path), len(dead), strings.Join(dead, ", "))
	d.setRepair(func(bool) (*Plan, error) {
		src, err := d.Host.onDisk().read(path)
		if err != nil {
			return nil, err
		}
		now := src
		for _, key := range dead {
			if now, err = edit.TOML.Prune(now, hookentry.CodexTrustPath(key), 0); err != nil {
				return nil, BrokenFile(path, err)
			}
		}
		return &Plan{host: d.Host, manifest: &Manifest{},
			Steps: []Step{{Op: OpWrite, Path: path, Agent: a.Name, Old: src, New: now}}}, nil
	})
}

// oldSwitch is a name that the agent's switch for hooks had before.
var oldSwitch = []string{"features", "codex_hooks"}

// checkStaleSwitch offers a switch that changes nothing for removal. One that does, because
// hooks are off by it, is the user's to turn.
func (d *Doctor) checkStaleSwitch(a *agent.Agent) {
	path := d.Host.trustOf(a).file()
	src, err := d.Host.onDisk().read(path)
	if !byHash(a) || err != nil || src == nil {
		return
	}
	r, err := edit.TOML.Parse(src)
	if err != nil || r.Raw(oldSwitch...) == nil ||
		slices.ContainsFunc(d.Host.offSwitches(a),
			func(off offSwitch) bool { return off.key == strings.Join(oldSwitch, ".") }) {
		return
	}
	d.addFinding(a.Name, "old switch", Note, "hookmux doctor "+a.Name+" --fix",
		"%s: %s is an old name and changes nothing", paths.Shorten(d.Host.Dirs.Home, path),
		strings.Join(oldSwitch, "."))
	d.setRepair(func(bool) (*Plan, error) {
		src, err := d.Host.onDisk().read(path)
		if err != nil {
			return nil, err
		}
		now, err := edit.TOML.Prune(src, oldSwitch, 0)
		if err != nil {
			return nil, BrokenFile(path, err)
		}
		return &Plan{host: d.Host, manifest: &Manifest{},
			Steps: []Step{{Op: OpWrite, Path: path, Agent: a.Name, Old: src, New: now}}}, nil
	})
}

// checkSharedHooks names agents that run this one's hooks, or whose hooks it runs.
func (d *Doctor) checkSharedHooks(a *agent.Agent, sites []Site) {
	for _, other := range d.All {
		if other.Install != nil && slices.Contains(other.Install.Reads, a.Name) &&
			slices.ContainsFunc(sites, func(s Site) bool { return s.Ours > 0 && readsHooksOf(other, s.Scope) }) &&
			(d.Host.programOf(other) != "" || d.Host.Installed(other)) {
			d.addFinding(a.Name, "read by", Note, "", "%s runs these hooks as well; hookmux answers such a call once",
				other.Title)
		}
	}
}

// runProbe runs the hook with an empty environment.
func (d *Doctor) runProbe(ctx context.Context, a *agent.Agent) {
	if !d.Host.onDisk().runnable(Shim(d.Host.Dirs)) {
		return // said already
	}
	p := d.Host.TryHooks(ctx, d.Daemon, []*agent.Agent{a}, BareEnv(d.Host.Dirs.Home, d.Host.Getenv))[0]
	if p.Error != "" {
		d.addFinding(a.Name, "reaches the daemon", Bad, "hookmux doctor --fix", "started with an empty environment, %s",
			p.Error)
		return
	}
	d.addFinding(a.Name, "reaches the daemon", Good, "",
		"its hook reached the daemon in %s (with an empty environment)", p.Took.Round(time.Millisecond))
}

// checkArrivals reports which events ever arrived.
func (d *Doctor) checkArrivals(ctx context.Context, a *agent.Agent, healthy bool) {
	last := map[string]time.Time{}
	kinds := map[event.Kind]bool{}
	n := 0
	take := func(e client.Entry) bool {
		n++
		var ev struct {
			Native string     `json:"native"`
			Kind   event.Kind `json:"kind"`
			Time   time.Time  `json:"time"`
		}
		if json.Unmarshal(e.Event, &ev) == nil && ev.Native != wire.ProbeEvent {
			if ev.Time.After(last[ev.Native]) {
				last[ev.Native] = ev.Time
			}
			kinds[ev.Kind] = true
		}
		return true
	}
	const newest = 1000
	err := d.Daemon.Query(ctx, wire.QueryParams{Filter: wire.Filter{Agents: []string{a.Name}}, Limit: newest,
		Newest: true}, take)
	if n >= newest { // what is rare may have come before these
		for _, e := range a.Events {
			if _, ok := last[e.Name]; !ok && err == nil {
				err = d.Daemon.Query(ctx, wire.QueryParams{Filter: wire.Filter{Agents: []string{a.Name},
					Kinds: []string{e.Name}}, Limit: 1, Newest: true}, take)
			}
		}
	}
	if err != nil {
		d.addFinding(a.Name, "events", Note, "", "can't read the journal: %v", err)
		return
	}
	var names []string
	for name := range last {
		names = append(names, name)
	}
	sort.Slice(names, func(i, j int) bool { return last[names[i]].After(last[names[j]]) })
	switch {
	case len(names) == 0:
		fix := "start " + a.Title + " once; " + a.Install.Pickup.Say
		if a.Install.Trust.Step == "folder" && a.Install.Trust.Folders == nil {
			fix += "; " + a.Install.Trust.Say
		}
		d.addFinding(a.Name, "events", Note, fix, "no events received yet")
	case len(kinds) == 1 && kinds[event.SessionStart] && healthy && a.Install.Trust.Step != "" && !d.trustsHere(a):
		d.addFinding(a.Name, "events", Bad, a.Install.Trust.Say,
			"only session starts arrived (last %s); its other hooks are probably not trusted",
			arrivedAt(last[names[0]], time.Now()))
	default:
		d.addFinding(a.Name, "events", Good, "", "latest events: %s (last %s)",
			strings.Join(names, ", "), arrivedAt(last[names[0]], time.Now()))
	}
}

// trustsHere reports whether an agent that runs hooks in trusted folders only is known
// to trust this one.
func (d *Doctor) trustsHere(a *agent.Agent) bool {
	if a.Install.Trust.Folders == nil || d.Host.Project == "" {
		return false
	}
	trust, _, err := d.Host.trustOf(a).inFolder(d.Host.Project)
	return err == nil && trust == folderTrusted
}

// arrivedAt returns a moment as short as it is clear.
func arrivedAt(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return "at " + t.Format("15:04")
	}
	return "on " + t.Format("2006-01-02")
}
