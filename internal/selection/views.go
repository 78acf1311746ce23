package selection

import (
	"maps"
	"slices"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/wire"
)

// viewOf returns what applies in some places, read again when files changed. A folder that
// doesn't answer (a dead network disk) delays only its own events, for a moment: what
// applied last stays, and a place never seen gets what applies everywhere.
func (r *Service) viewOf(at places) *view {
	r.mu.Lock()
	v, _ := r.views.Get(at)
	r.mu.Unlock()
	if v != nil && time.Since(v.lookedAt()) < LoadAgain {
		return v
	}
	return r.rereadView(at, v)
}

// rereadView reads a stale view again; v is the stale one, nil for none.
func (r *Service) rereadView(at places, v *view) *view {
	old := v // the look may go on behind, when v is another one
	done := r.loads.runTimed("view:"+at.here+"\x00"+at.start, v != nil, func() { r.readView(at, old) })
	r.mu.Lock()
	now, _ := r.views.Get(at)
	r.mu.Unlock()
	switch {
	case now != nil:
		v = now
	case v == nil && at != (places{}):
		v = r.viewOf(places{})
	case v == nil:
		// Not even the user's own settings can be read: guards as they come.
		plain := [2]*config.Settings{config.New(config.Options{}).Settings()}
		options := guardOptions(r, plain, [2]*trust.TrustedContent{}, at)
		options.Everywhere = &ruleset.Loaded{}
		v = &view{settings: plain, entries: r.sources.Guards(*options), byType: map[typeKey][]*hook.Entry{}}
	}
	key := "slow:" + at.here + ":" + at.start
	if !done {
		r.Problems.Raise(key,
			"the folder "+at.here+" does not answer; hooks and settings as they were last seen count for it", "")
	} else if r.Problems.Any() {
		r.Problems.Clear(key)
	}
	return v
}

// readView reads what counts in some places.
func (r *Service) readView(at places, old *view) {
	var sets [2]*registry.Set
	var trusted [2]*trust.TrustedContent
	sets[0], trusted[0] = r.sources.HooksIn(at.here)
	if at.start != "" {
		sets[1], trusted[1] = r.sources.HooksIn(at.start)
	}
	// Guards that the project of the start tightened stay so when the agent
	// changes its folder.
	settings := [2]*config.Settings{r.sources.SettingsIn(at.here, trusted[0])}
	if at.start != "" {
		settings[1] = r.sources.SettingsIn(at.start, trusted[1])
	}
	r.TSHooks.ReadFolder()
	tsHooks := r.TSHooks.Version()
	base, resting := r.sources.Rules.Base(), r.Pauses.active()
	version := acceptedVersion(r.Accepted)
	if old != nil && old.settings == settings && old.sets == sets && old.trusted == trusted && old.tsHooks == tsHooks &&
		old.accepted == version && old.rules == base && slices.Equal(old.pauses, resting) {
		old.looked.Store(time.Now().UnixNano())
		r.mu.Lock()
		r.views.Put(at, old, keepViews) // somebody may have made us forget it meanwhile
		r.mu.Unlock()
		if r.noteDue.Load() {
			r.noteCovers(at, old)
		}
		return
	}
	v := &view{settings: settings, sets: sets, trusted: trusted, tsHooks: tsHooks, accepted: version,
		rules: base, pauses: resting, byType: map[typeKey][]*hook.Entry{}}
	v.looked.Store(time.Now().UnixNano())
	r.TSHooks.BeginRefresh(old != nil)
	v.entries = r.makeEntries(settings, sets, trusted, at)
	r.policy.noteRead(min(base.Policy, settings[0].Policy()))
	r.mu.Lock()
	r.views.Put(at, v, keepViews)
	r.mu.Unlock()
	r.reportProblems(settings, sets, trusted, at)
	if at != (places{}) {
		r.viewOf(places{}) // its problems are of your own files
	}
	r.Acceptance.reportUnaccepted()
	r.noteCovers(at, v)
}

// noteCovers records which events something here applies to, for clients that get no
// answer. What applies in projects is added to what applies everywhere and stays until the
// daemon ends: too much only costs a look.
func (r *Service) noteCovers(at places, v *view) {
	var regs []hook.Registration
	for _, e := range v.entries {
		if !e.BuiltinGuard || e.ID == sources.RulesHook {
			regs = append(regs, e.Registration)
		}
	}
	list := sources.GuardedEvents(r.Catalogue, v.settings[0], regs)
	r.noting.Lock()
	defer r.noting.Unlock()
	if at == (places{}) {
		r.covered, r.coveredKnown = list, true
	} else {
		if r.coveredInProjects == nil {
			r.coveredInProjects = map[guardnote.Cover]bool{}
		}
		for _, c := range list {
			r.coveredInProjects[c] = true
		}
	}
	if !r.coveredKnown {
		return // it is written when what counts everywhere is read
	}
	all := slices.AppendSeq(slices.Clone(r.covered), maps.Keys(r.coveredInProjects))
	err := guardnote.Write(r.Dirs.State, all)
	r.noteDue.Store(err != nil) // then the next look tries again
	if err != nil {
		r.Problems.Raise("guarded", "can't save which events guards cover: "+err.Error(),
			"hooks take all tool calls for guarded while the daemon does not answer; make room or repair "+r.Dirs.State)
	} else if r.Problems.Any() {
		r.Problems.Clear("guarded")
	}
}

// Forget makes the next event look at the files.
func (r *Service) Forget() {
	r.mu.Lock()
	r.views.Clear()
	r.folders.Clear()
	r.mu.Unlock()
}

// Refresh reads what counts in a project, "" for what counts everywhere.
func (r *Service) Refresh(root string) { r.viewOf(places{here: root}) }

// AllProblems returns what is wrong, after looking at the user's own files and at projects where something was.
func (r *Service) AllProblems() []wire.Problem {
	r.viewOf(places{})
	r.mu.Lock()
	troubled := slices.Collect(maps.Keys(r.troubled))
	r.mu.Unlock()
	for _, at := range troubled {
		r.viewOf(at)
	}
	r.Acceptance.reportUnaccepted()
	if r.Problems.Any() && r.starts.Save() == nil {
		r.Problems.Clear("starts")
	}
	return r.Problems.All()
}
