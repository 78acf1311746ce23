package selection

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/guard"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// naps are the guards, rules and packs that only monitor for a while.
type naps struct {
	mu   sync.Mutex
	list []sources.Nap
}

// readNaps reads what a hub before wrote down.
func (r *Service) readNaps() {
	list, err := sources.ReadNaps(r.Dirs.State, time.Now())
	if err != nil {
		r.Problems.Raise("naps", "the note about what rests is not believed, so nothing does: "+err.Error(),
			"run `hookmux nap` again if you want it")
	}
	r.naps.list = list
}

// resting are the naps that are not over.
func (r *Service) resting() []sources.Nap {
	r.naps.mu.Lock()
	defer r.naps.mu.Unlock()
	if len(r.naps.list) == 0 {
		return nil
	}
	now := time.Now()
	left := slices.DeleteFunc(slices.Clone(r.naps.list), func(n sources.Nap) bool { return !now.Before(n.Until) })
	if len(left) < len(r.naps.list) {
		r.naps.list = left
		_ = sources.WriteNaps(r.Dirs.State, left) // it ended by itself, whoever reads it
	}
	return left
}

// Naps lists what only monitors for now, for the hub's status.
func (r *Service) Naps() []wire.Nap {
	var list []wire.Nap
	for _, n := range r.resting() {
		list = append(list, wire.Nap{Name: n.Name, Since: n.Since, Until: n.Until})
	}
	return list
}

// maxNap bounds how long something may rest: it is meant to come back.
const maxNap = 24 * time.Hour

// startNap lets a guard, a rule or a pack only monitor for a while.
func (r methods) startNap(params json.RawMessage, _ proc.Cred) (any, *wire.Error) {
	var p wire.NapParams
	if bad := services.ReadParams(params, &p); bad != nil {
		return nil, bad
	}
	span := time.Duration(p.Seconds * float64(time.Second))
	if p.Seconds < 0 || p.Seconds > maxNap.Seconds() {
		return nil, wire.Errorf(wire.CodeParams, "a nap lasts up to a day; `hookmux guard monitor` and `hookmux rules "+
			"monitor` last until you switch back")
	}
	name, bad := r.napName(p)
	if bad != nil {
		return nil, bad
	}
	now := time.Now()
	r.naps.mu.Lock()
	list := slices.DeleteFunc(slices.Clone(r.naps.list), func(n sources.Nap) bool { return n.Name == name })
	had := len(list) < len(r.naps.list)
	nap := sources.Nap{Name: name, Since: now, Until: now.Add(span)}
	if span > 0 {
		list = append(list, nap)
	}
	err := sources.WriteNaps(r.Dirs.State, list)
	if err == nil {
		r.naps.list = list
	}
	r.naps.mu.Unlock()
	if err != nil {
		return nil, wire.Errorf(wire.CodeInternal, "%v", err)
	}
	r.Problems.Mend("naps")
	r.Forget()
	r.viewOf(places{})
	if span == 0 && !had {
		return nil, wire.Errorf(wire.CodeConflict, "%s does not rest", name)
	}
	return wire.Nap{Name: name, Since: nap.Since, Until: nap.Until}, nil
}

// napName is the full name of what is to rest.
func (r methods) napName(p wire.NapParams) (string, *wire.Error) {
	settings := r.Config.For(r.Registry.FindProject(p.Cwd), false)
	short := strings.TrimPrefix(p.Name, "guard.")
	if slices.ContainsFunc(guard.List(), func(g guard.Info) bool { return g.Name == short }) {
		if p.Seconds > 0 && !config.GuardStops(settings.Choice("guard."+short)) {
			return "", wire.Errorf(wire.CodeConflict, "guard %s stops nothing, so it need not rest", short)
		}
		return "guard." + short, nil
	}
	for _, one := range r.rulesAt(p.Cwd) {
		pack, _, _ := strings.Cut(one.ID, "/")
		switch {
		case one.ID == p.Name && one.Layer == rules.System:
			return "", wire.Errorf(wire.CodeConflict, "%s is a rule of this machine's administrator: nobody lets it rest",
				p.Name)
		case one.ID == p.Name, one.Layer == rules.Pack && pack == p.Name:
			return p.Name, nil
		}
	}
	return "", wire.Errorf(wire.CodeParams, "there is no guard, rule or pack %q; `hookmux guard list` and `hookmux rules "+
		"list` show them", p.Name)
}
