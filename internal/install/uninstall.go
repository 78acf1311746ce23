package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/plugins"
)

// Uninstall plans to take hookmux out of agents, wherever the manifest or the
// command strings show it: in the home, in this project and in every other one
// it was put into.
func (h *Host) Uninstall(agents []*agent.Agent) (*Plan, error) {
	d, err := h.newDraft()
	if err != nil {
		return nil, err
	}
	plan := &Plan{host: h}
	for _, a := range agents {
		if a.Install == nil {
			continue
		}
		d.uninstall(a)
		d.unwritable(a)
		if !d.hasChanged(a.Name) && (!hasRecord(d.old, a) || hasRecord(d.next, a)) {
			continue
		}
		one := AgentPlan{Name: a.Name, Title: a.Title, Changed: d.hasChanged(a.Name)}
		for _, path := range d.order {
			if f := d.files[path]; f.agent == a.Name && len(f.changes) > 0 && one.Path == "" {
				one.Path = path
			}
		}
		for _, path := range d.old.paths() { // the files went before we came
			if d.old.Files[path].Agent == a.Name && one.Path == "" {
				one.Path = path
			}
		}
		plan.Agents = append(plan.Agents, one)
	}
	plan.Steps = d.changeSteps()
	if err := h.onDisk().writable(plan.Steps); err != nil {
		return nil, err
	}
	if !d.sameManifest() {
		plan.Steps = append(plan.Steps, d.next.step(h.Dirs))
	}
	if len(d.next.Files) == 0 && len(plan.Agents) > 0 && !d.shim && len(d.left) == 0 &&
		!h.runsElsewhere(agents) {
		if h.onDisk().exists(Shim(h.Dirs)) {
			plan.Steps = append(plan.Steps, DropShimSteps(h.Dirs)...)
		}
	}
	plan.manifest, plan.Notes, plan.Left = d.next, d.notes, d.left
	return plan, nil
}

// unwritable keeps files of an agent as they are that cannot be written: they
// are named, and do not keep us from the others.
func (d *draft) unwritable(a *agent.Agent) {
	for _, path := range d.order {
		f := d.files[path]
		if f.agent != a.Name || len(f.changes) == 0 {
			continue
		}
		err := d.host.onDisk().writable([]Step{{Op: OpWrite, Path: path}})
		if err == nil {
			continue
		}
		f.now, f.changes = f.disk, nil
		if was := d.old.Files[path]; was != nil {
			d.next.Files[path] = was
		}
		d.noteFailedRemoval(path, err)
	}
}

func hasRecord(m *Manifest, a *agent.Agent) bool {
	for _, r := range m.Files {
		if r.Agent == a.Name {
			return true
		}
	}
	return false
}

// runsElsewhere reports whether agents other than these have our entries, even without a
// record of them.
func (h *Host) runsElsewhere(but []*agent.Agent) bool {
	for _, a := range h.Known {
		if slices.Contains(but, a) {
			continue
		}
		for _, s := range h.ReadSites(a) {
			if s.Ours > 0 || len(s.Damaged) > 0 || s.Err != nil && h.fileMentions(s.Path) {
				return true
			}
		}
	}
	return false
}

// fileMentions looks for our name in a file that cannot be parsed.
func (h *Host) fileMentions(path string) bool {
	data, err := h.onDisk().read(path)
	return err == nil && hookentry.MentionsHookmux(string(data))
}

// uninstall removes one agent's hooks. A file that can't be edited keeps
// its content, and doesn't keep us from the others; one that has nothing to
// do with us isn't even mentioned.
func (d *draft) uninstall(a *agent.Agent) {
	here := d.host
	defer func() { d.host = here }()
	projects := []string{here.Project}
	for _, path := range d.old.paths() {
		if r := d.old.Files[path]; r.Agent == a.Name && r.Scope == Project && !slices.Contains(projects, r.Project) {
			projects = append(projects, r.Project)
		}
	}
	visited := map[string]bool{} // the project may be the home
	for i, project := range projects {
		there := *here
		there.Project = project
		d.host = &there
		for _, p := range a.Install.Places {
			path := d.host.resolvePath(p.HookFile)
			if path == "" || i > 0 && p.Scope != Project || visited[here.onDisk().realPath(path)+"\x00"+p.At] {
				continue
			}
			visited[here.onDisk().realPath(path)+"\x00"+p.At] = true
			var err error
			switch a.Install.Way {
			case agent.WayPlugin:
				err = d.removePlugin(a, path, p.Scope)
			case agent.WayScripts:
				err = d.takeOutScripts(a, p, p.Scope, nil)
			default:
				err = d.takeOut(a, p, path, p.Scope)
			}
			if err == nil {
				continue
			}
			if d.old.Files[path] != nil || d.host.fileMentions(path) {
				d.noteFailedRemoval(path, err)
			}
			if d.old.Files[path] == nil {
				delete(d.next.Files, path)
			}
		}
	}
	d.host = here
	if err := d.takeOutConsent(a); err != nil {
		path := here.resolvePath(a.Install.Consent.HookFile)
		d.noteFailedRemoval(path, err)
	}
	if err := d.disable(a); err != nil {
		d.noteFailedRemoval(here.resolvePath(enableSpec(a).HookFile), err)
	}
	d.leftovers(a)
}

// leftovers are files of the manifest that no place of the catalogue explains
// (any more): folders were renamed, or hooks went and trust stayed.
func (d *draft) leftovers(a *agent.Agent) {
	for _, path := range d.next.paths() {
		r := d.next.Files[path]
		if r.Agent != a.Name || slices.Contains(d.left, path) {
			continue
		}
		if strings.HasSuffix(path, "/") {
			d.dropDirs(a.Name, append(slices.Clone(r.Dirs), filepath.Clean(path)))
			delete(d.next.Files, path)
			continue
		}
		f, err := d.openFile(path, a.Name, r.Scope, r.Kind)
		if err != nil {
			d.noteFailedRemoval(path, err)
			continue
		}
		switch {
		case f.now == nil:
			d.dropFile(f, nil)
		case hash(f.now) == r.After:
			d.dropFile(f, r.Original)
		case r.Kind == KindTrust:
			now, err := d.withoutTrust(path, f.now, nil, nil, r)
			if err != nil {
				d.noteFailedRemoval(path, err)
				continue
			}
			d.dropFile(f, now)
		default:
			d.takeOutByName(a, f, r)
		}
	}
}

// takeOutByName does what it can for a file that is no longer a place of the agent and was
// changed since: its kind is taken from its name.
func (d *draft) takeOutByName(a *agent.Agent, f *draftFile, r *Record) {
	now := f.now
	for _, p := range a.Install.Places {
		if r.Kind != KindEntries || filepath.Base(p.Path) != filepath.Base(f.path) {
			continue
		}
		t, err := hookentry.NewTarget(f.path, p, a.Install)
		if err == nil {
			now, err = t.RemoveEntries(now, a, r.Kept)
		}
		if err != nil {
			d.noteFailedRemoval(f.path, err)
			return
		}
		if r.Original == nil && t.IsHollow(now, p) {
			now = nil
			break
		}
	}
	if hookentry.MentionsHookmux(string(now)) {
		d.noteFailedRemoval(f.path, fmt.Errorf("was changed since, and is no place of %s any more", a.Name))
		return
	}
	d.dropFile(f, now)
}

// plugin plans an agent's plugin file and the files that are required next to it.
func (d *draft) plugin(a *agent.Agent, path string, o Options) error {
	h, spec := d.host, a.Install.Plugin
	opt := plugins.Options{Agent: a.Name, Version: h.Version, Hook: Shim(h.Dirs), Deny: o.Deny}
	if len(o.Events) > 0 {
		events, err := Pick(a, o.Events)
		if err != nil {
			return err
		}
		for _, e := range events {
			opt.Events = append(opt.Events, e.Name)
		}
	}
	text, err := plugins.Render(spec.Source, opt)
	if err != nil {
		return err
	}
	f, err := d.openFile(path, a.Name, o.Scope, KindPlugin)
	if err != nil {
		return err
	}
	if f.now != nil {
		if of, _, ours := plugins.Recognise(f.now); !ours || of != a.Name {
			return BrokenFile(path, fmt.Errorf("is not hookmux's and would be overwritten; move it away"))
		}
	} else {
		f.record.Dirs = d.foldersFor(path, path)
	}
	if f.setContent(OpWrite, text) != nil {
		d.setAside(f)
	}
	if err := d.enable(a, o.Scope, f.disk != nil); err != nil {
		return err
	}
	return d.seeds(a, path, o.Scope)
}

// seeds creates the files an agent needs next to a plugin: all of them or none, and none if
// there are other people's files. Those would lack what the seeds only pretend is there, so
// seeds created earlier are then removed.
func (d *draft) seeds(a *agent.Agent, path, scope string) error {
	spec, dir := a.Install.Plugin, filepath.Dir(path)
	ours := d.next.seedsOf(a, path)
	if others := d.host.foreignFiles(a, path); len(others) > 0 {
		for _, seed := range ours {
			if err := d.removeSeed(a, seed); err != nil {
				return err
			}
		}
		return nil
	}
	for _, seed := range spec.Seeds {
		if at := filepath.Join(dir, seed.Path); d.host.onDisk().exists(at) &&
			!slices.Contains(ours, seedName(at, seed)) {
			return nil // the files that the seeds pretend to be are there
		}
	}
	for _, seed := range spec.Seeds {
		if err := d.seed(a, dir, seed, scope); err != nil {
			return err
		}
	}
	return nil
}

// seedName returns what a seed is called in the manifest.
func seedName(path string, seed agent.Seed) string {
	if strings.HasSuffix(seed.Path, "/") {
		return path + "/"
	}
	return path
}

// seedsOf returns the recorded seeds that belong to a plugin.
func (m *Manifest) seedsOf(a *agent.Agent, plugin string) []string {
	var out []string
	for _, seed := range a.Install.Plugin.Seeds {
		name := seedName(filepath.Join(filepath.Dir(plugin), seed.Path), seed)
		if r := m.Files[name]; r != nil && r.Agent == a.Name && r.Kind == KindSeed {
			out = append(out, name)
		}
	}
	return out
}

// foreignFiles returns other people's files next to a plugin.
func (h *Host) foreignFiles(a *agent.Agent, plugin string) []string {
	var out []string
	for _, pattern := range a.Install.Plugin.Alone {
		matches := h.onDisk().glob(filepath.Join(paths.EscapeGlob(filepath.Dir(plugin)), pattern))
		for _, m := range matches {
			if m != plugin && !strings.HasPrefix(filepath.Base(m), ".") {
				out = append(out, m)
			}
		}
	}
	return out
}

// removeSeed removes a seed, unless it was changed.
func (d *draft) removeSeed(a *agent.Agent, name string) error {
	r := d.next.Files[name]
	if dir, ok := strings.CutSuffix(name, "/"); ok {
		d.dropDirs(a.Name, append(slices.Clone(r.Dirs), dir))
		delete(d.next.Files, name)
		return nil
	}
	f, err := d.openFile(name, a.Name, r.Scope, KindSeed)
	if err != nil {
		return err
	}
	if f.now == nil || hash(f.now) == r.After {
		d.dropFile(f, nil)
	} else {
		delete(d.next.Files, name)
	}
	return nil
}

// seed creates what an agent needs next to a plugin, only if it isn't there.
func (d *draft) seed(a *agent.Agent, dir string, seed agent.Seed, scope string) error {
	path := filepath.Join(dir, seed.Path)
	if d.host.onDisk().exists(path) {
		return nil
	}
	record := &Record{Agent: a.Name, Scope: scope, Kind: KindSeed, Dirs: d.foldersFor(path, seedName(path, seed))}
	if scope == Project {
		record.Project = d.host.Project
	}
	if strings.HasSuffix(seed.Path, "/") {
		d.next.Files[path+"/"] = record
		d.makes = append(d.makes, Step{Op: OpMakeDir, Path: path, Agent: a.Name, Why: seed.Why})
		return nil
	}
	d.next.Files[path] = record
	f, err := d.openFile(path, a.Name, scope, KindSeed)
	if err != nil {
		return err
	}
	if st := f.setContent(OpWrite, []byte(seed.Text)); st != nil {
		st.why = seed.Why
	}
	return nil
}

// setAside keeps a copy of a plugin that was changed since we wrote it: the file is ours and
// is removed, the changes aren't.
func (d *draft) setAside(f *draftFile) {
	was := d.old.Files[f.path]
	if f.disk == nil || was == nil || was.Kind != KindPlugin || was.After == "" || hash(f.disk) == was.After {
		return
	}
	to := filepath.Join(d.host.Dirs.State, "set-aside",
		fmt.Sprintf("%s-%s.%s", f.agent, filepath.Base(f.path), hash(f.disk)[:8]))
	d.keeps = append(d.keeps, Step{Op: OpKeep, Path: to, Agent: f.agent, New: f.disk})
	d.notes = append(d.notes, fmt.Sprintf("%s: was changed since hookmux wrote it; what it was is kept as %s", f.path,
		paths.Shorten(d.host.Dirs.Home, to)))
}

// removePlugin removes a plugin file.
func (d *draft) removePlugin(a *agent.Agent, path, scope string) error {
	data, err := d.host.onDisk().read(path)
	if err != nil {
		return BrokenFile(path, err)
	}
	if data == nil && d.next.Files[path] == nil {
		return nil
	}
	f, err := d.openFile(path, a.Name, scope, KindPlugin)
	if err != nil {
		return err
	}
	if of, _, ours := plugins.Recognise(f.now); f.now != nil && (!ours || of != a.Name) {
		if d.old.Files[path] != nil && hookentry.MentionsHookmux(string(f.now)) {
			return fmt.Errorf("is no longer as hookmux wrote it")
		}
		if d.old.Files[path] != nil {
			d.notes = append(d.notes, fmt.Sprintf("%s: is no longer hookmux's, so it is left alone", path))
		}
		delete(d.next.Files, path)
		return nil
	}
	d.setAside(f)
	d.dropFile(f, nil)
	return nil
}
