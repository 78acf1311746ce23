package selection

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/guards/names"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Pauses are the guards, rules, packs and hooks that only log for a while.
type Pauses struct {
	state    string // the folder they are written down in
	problems *services.Problems

	mu   sync.Mutex
	list []sources.Pause
}

// readFile reads what a daemon before wrote down.
func (n *Pauses) readFile() {
	list, err := sources.ReadPauses(n.state, time.Now())
	if err != nil {
		n.problems.Raise("pauses", "can't trust the file of pauses, so nothing is paused: "+err.Error(),
			"run `hookmux guard pause` again if you want it")
	}
	n.list = list
}

// active returns the pauses that are not over.
func (n *Pauses) active() []sources.Pause {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.list) == 0 {
		return nil
	}
	now := time.Now()
	left := slices.DeleteFunc(slices.Clone(n.list), func(one sources.Pause) bool { return one.IsOver(now) })
	if len(left) < len(n.list) {
		n.list = left
		_ = sources.WritePauses(n.state, left) // it ended by itself, whoever reads it
	}
	return left
}

// Info lists what is in log mode for now, for the daemon's status.
func (n *Pauses) Info() []wire.Pause {
	var list []wire.Pause
	for _, one := range n.active() {
		list = append(list, wire.Pause{Name: one.Name, Since: one.Since, Until: one.Until})
	}
	return list
}

// start lets something rest until a moment, or ends that: until is zero then. It
// reports whether it rested before.
func (n *Pauses) start(name string, until time.Time) (had bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list := slices.DeleteFunc(slices.Clone(n.list), func(one sources.Pause) bool { return one.Name == name })
	had = len(list) < len(n.list)
	if !until.IsZero() {
		list = append(list, sources.Pause{Name: name, Since: time.Now(), Until: until})
	}
	if err := sources.WritePauses(n.state, list); err != nil {
		return had, err
	}
	n.list = list
	n.problems.Clear("pauses")
	return had, nil
}

// applyTo lets the hooks only log that are paused.
func (n *Pauses) applyTo(entries []*hook.Entry) {
	active := n.active()
	for i, e := range entries {
		if !e.LogOnly && slices.ContainsFunc(active, func(p sources.Pause) bool { return p.Name == hook.PauseName(e.ID) }) {
			own := *e
			own.LogOnly = true
			entries[i] = &own
		}
	}
}

// startPause lets a guard, a rule, a pack or a hook only log for a while.
func (r *edits) startPause(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.PauseParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	span := time.Duration(p.Seconds * float64(time.Second))
	if p.Seconds < 0 || p.Seconds > sources.LongestPause.Seconds() {
		return nil, wire.Errorf(wire.CodeParams, "a pause lasts a day at most; `hookmux guard mode NAME log` lasts until you "+
			"change it")
	}
	name, bad := r.pauseName(p)
	if bad != nil {
		return nil, bad
	}
	pause := wire.Pause{Name: name, Since: time.Now()}
	if span > 0 {
		pause.Until = pause.Since.Add(span)
	}
	had, err := r.Pauses.start(name, pause.Until)
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	r.views.Forget()
	r.views.Refresh("")
	if span == 0 && !had {
		return nil, wire.Errorf(wire.CodeConflict, "%s isn't paused", name)
	}
	return pause, nil
}

// pauseName returns the full name of what is to rest.
func (r *edits) pauseName(p wire.PauseParams) (string, *wire.Error) {
	if _, ok := hook.PausedHook(p.Name); ok {
		return p.Name, nil // one that is gone meanwhile decides nothing anyway
	}
	settings := r.Config.For(r.Registry.FindProject(p.Cwd), false)
	short, _ := hook.GuardName(p.Name)
	if names.Is(short) {
		if p.Seconds > 0 && !config.GuardStops(settings.Choice(hook.GuardID(short))) {
			return "", wire.Errorf(wire.CodeConflict, "guard %s stops nothing, so there is nothing to pause", short)
		}
		return hook.GuardID(short), nil
	}
	for _, one := range r.rulesAt(p.Cwd) {
		pack, _, _ := strings.Cut(one.ID, "/")
		switch {
		case one.ID == p.Name && one.Layer == rules.System:
			return "", wire.Errorf(wire.CodeConflict,
				"%s is a rule of this machine's administrator: you can't pause it", p.Name)
		case one.ID == p.Name, one.Layer == rules.Pack && pack == p.Name:
			return p.Name, nil
		}
	}
	return "", wire.Errorf(wire.CodeParams,
		"there's no guard, rule or pack %q; `hookmux guard list` and `hookmux rules list` list them", p.Name)
}
