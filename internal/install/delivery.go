package install

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Delivery says which of an agent's installed hooks would reach us in a session that is started
// now. Those that do must not be passed a second time at launch, and those that don't must be.
type Delivery struct {
	Ours   bool     // something of ours is installed
	Events []string // those whose hook runs and reaches us
	// Whole says that nothing that was installed is missing, damaged, switched off,
	// hidden or untrusted.
	Whole bool
	Why   string // what is wrong, for display; empty when Whole
	// Removed lists hooks that something other than hookmux removed.
	Removed []Removal
}

// Delivery looks at what is installed for an agent.
func (h *Host) Delivery(a *agent.Agent) Delivery {
	var d Delivery
	if a.Install == nil {
		return d
	}
	var wrong []string
	sites := h.ReadSites(a)
	for _, s := range sites {
		if s.Err != nil || s.Ours == 0 {
			continue
		}
		d.Ours = true
		short := paths.Shorten(h.Dirs.Home, s.Path)
		switch {
		case s.Shadowed:
			wrong = append(wrong, fmt.Sprintf("%s is passed over because of %s", short,
				paths.Shorten(h.Dirs.Home, s.HiddenBy)))
			continue
		case len(s.Untrusted) > 0:
			wrong = append(wrong, fmt.Sprintf("%s: %s not trusted", short, countHooks(len(s.Untrusted))))
		case len(s.MayMiss) > 0:
			wrong = append(wrong, short+": "+s.MayMiss[0])
		case len(s.Running) == 0 && len(s.Missing) == 0:
			wrong = append(wrong, fmt.Sprintf("%s: the program it runs is not there", short))
		}
		for _, e := range s.Running {
			if !slices.Contains(d.Events, e) {
				d.Events = append(d.Events, e)
			}
		}
	}
	for _, off := range h.offSwitches(a) {
		wrong = append(wrong, fmt.Sprintf("%s: %s is %s", paths.Shorten(h.Dirs.Home, off.path), off.key, off.value))
		d.Events = nil
	}
	if m, err := h.load(); err == nil && hasRecord(m, a) {
		d.Removed = h.removedFrom(a, m, sites)
	}
	for i := range d.Removed {
		wrong = append(wrong, d.Removed[i].What(h.Dirs.Home))
	}
	d.Whole = d.Ours && len(wrong) == 0
	if !d.Whole && (d.Ours || len(d.Removed) > 0) {
		d.Why = strings.Join(wrong, "; ")
	}
	return d
}

// countHooks is so many hooks, with the verb.
func countHooks(n int) string {
	if n == 1 {
		return "1 hook is"
	}
	return fmt.Sprintf("%d hooks are", n)
}

// Installed reports whether an agent has hooks of ours that run.
func (h *Host) Installed(a *agent.Agent) bool {
	d := h.Delivery(a)
	return d.Ours && len(d.Events) > 0
}

// offSwitch is a setting that keeps an agent's hooks from running.
type offSwitch struct {
	path, key, value string
	line             int
}

// offSwitches returns those that are set.
func (h *Host) offSwitches(a *agent.Agent) (out []offSwitch) {
	seen := map[string]bool{}
	for _, off := range a.Install.Off {
		path := h.resolvePath(agent.HookFile{Path: off.Path, Env: off.Env})
		if path == "" || seen[h.onDisk().realPath(path)+"\x00"+off.Key] {
			continue
		}
		seen[h.onDisk().realPath(path)+"\x00"+off.Key] = true
		if off.Unless != "" {
			if raw, _ := readSetting(h.onDisk(), path, off.Format, off.Unless); raw != nil {
				continue
			}
		}
		if raw, line := readSetting(h.onDisk(), path, off.Format, off.Key); raw != nil &&
			hookentry.SameJSON(raw, hookentry.AsJSON(off.When)) {
			out = append(out, offSwitch{path, off.Key, string(raw), line})
		}
	}
	return out
}

// readSetting returns the value of a key in a file, as JSON; nil if it can't be read: that is
// reported where it matters.
func readSetting(from files, path, format, key string) ([]byte, int) {
	f, err := edit.For(format)
	if err != nil {
		return nil, 0
	}
	src, err := from.read(path)
	if err != nil || src == nil {
		return nil, 0
	}
	r, err := f.Parse(src)
	if err != nil {
		return nil, 0
	}
	steps := strings.Split(key, ".")
	where, _ := r.Where(steps...)
	return r.Raw(steps...), where.Line
}

// WithHooks returns a user's hooks file with our usual hooks added, for a folder that is used
// for a single launch. Our hooks run the real program: nothing needs to be installed for
// this.
func (h *Host) WithHooks(a *agent.Agent, own []byte) ([]byte, error) {
	place, path, ok := a.Install.Place(User, agent.DiskView{Resolve: h.resolvePath})
	if !ok {
		return nil, fmt.Errorf("%s: has no hooks of a user", a.Name)
	}
	t, err := hookentry.NewTarget(path, place, a.Install)
	if err != nil {
		return nil, err
	}
	commands, err := h.commands(a, Options{})
	if err != nil {
		return nil, err
	}
	for i := range commands {
		commands[i].Program = h.Hook
	}
	if own == nil {
		own = t.FreshText(place)
	}
	out, _, err := t.WriteCommands(own, a, commands, nil)
	return out, err
}
