package sources

import (
	"cmp"
	"context"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/gitfiles"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/policy/shell"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/ruleset"
)

// The built-in hooks for the user's rules: RulesHook decides, LogOnlyRulesHook only records
// what rules in log mode would decide.
const (
	RulesHook        = hook.GuardPrefix + "rules"
	LogOnlyRulesHook = RulesHook + ".log"
)

// IsRulesHook recognizes the ids of the built-in hooks for the user's rules.
func IsRulesHook(id string) bool { return id == RulesHook || id == LogOnlyRulesHook }

// placedRules are rules made ready for one project.
type placedRules struct {
	set     *rules.Set
	project string
}

// twoPlaces are the rules where a call happens, and where its session started. An
// agent that goes elsewhere does not leave the rules of its project behind.
type twoPlaces struct {
	here, start placedRules
	// started is [GuardOptions.Started].
	started func(ev *event.Event) (string, error)
	options facts.Options
}

// ruleDecider decides by the rules that count in a place. Safe for concurrent
// use.
type ruleDecider struct {
	list  []*rules.Rule
	modes map[string]rules.Mode
	twoPlaces
	pass  func(call *hook.Call, rule string) bool
	allow []string

	mu    sync.Mutex
	event *event.Event // that was decided about last, for the hook that only logs
	last  []rules.Hit
}

// RulesIn gives the rules that count where an event happens, and where its session
// started, with what is wrong: those that count everywhere first.
func (s *Sources) RulesIn(o *GuardOptions) (base, here, start *ruleset.Loaded) {
	if base = o.Everywhere; base == nil {
		base = s.Rules.Base()
	}
	here = s.Rules.Project(o.Trusted[0]).WithoutDuplicatesOf(base)
	start = &ruleset.Loaded{}
	if o.Trusted[1] != nil && o.Trusted[1] != o.Trusted[0] {
		start = s.Rules.Project(o.Trusted[1]).WithoutDuplicatesOf(base)
	}
	return base, here, start
}

// RuleModes returns the modes that rules and packs were switched to.
func RuleModes(settings *config.Settings) map[string]rules.Mode {
	states := map[string]rules.Mode{}
	for _, one := range settings.Strings(config.RulesModes) {
		if id, state, ok := strings.Cut(one, "="); ok {
			states[id] = rules.Mode(state)
		}
	}
	return states
}

// modesOf returns the modes of rules with pauses applied: a paused rule that blocks or asks
// is in log mode.
func modesOf(o *GuardOptions, list []*rules.Rule) map[string]rules.Mode {
	states := RuleModes(o.Settings[0])
	if len(o.Resting) == 0 {
		return states
	}
	for _, r := range list {
		pack, _, _ := strings.Cut(r.ID, "/")
		rests := o.IsPaused(r.ID) || r.Layer == rules.Pack && o.IsPaused(pack)
		if state := r.ModeBy(states); rests && state != rules.Off {
			states[r.ID] = rules.LogOnly
		}
	}
	return states
}

// newDecider makes the rules of a place ready; nil where none is in force.
func (s *Sources) newDecider(o *GuardOptions, scripts *shell.Cache) *ruleDecider {
	base, here, start := s.RulesIn(o)
	d := &ruleDecider{list: slices.Concat(base.Rules, here.Rules, start.Rules), pass: o.Pass}
	if len(d.list) == 0 {
		return nil
	}
	d.modes = modesOf(o, d.list)
	_, d.allow = tighterGuard(o.Settings, config.GuardOwnFiles)
	d.twoPlaces = s.newPlaces(o, rules.Options{Home: s.Dirs.Home, Modes: d.modes}, scripts)
	if d.here.set.Len()+d.start.set.Len() == 0 {
		return nil
	}
	return d
}

// newPlaces makes the rules of both places ready.
func (s *Sources) newPlaces(o *GuardOptions, options rules.Options, scripts *shell.Cache) twoPlaces {
	base, here, start := s.RulesIn(o)
	t := twoPlaces{started: o.Started, options: s.factOptions(o, scripts)}
	t.here = placedRules{rules.NewSet(slices.Concat(base.Rules, here.Rules), options), o.Project}
	// Paths in its rules mean its own folder, wherever the agent went.
	t.start = placedRules{rules.NewSet(slices.Concat(base.Rules, start.Rules), options), ""}
	if o.Trusted[1] != nil && o.Trusted[1] != o.Trusted[0] {
		t.start.project = o.Trusted[1].Root
	}
	return t
}

// decide returns what the rules of both places say to an event, strongest first. What
// stops, asks or warns counts if it does in one of them, what allows only if the
// call is allowed in both.
func (t *twoPlaces) decide(ev *event.Event) []rules.Hit {
	options, started := t.options, ev.Cwd
	if t.started != nil {
		folder, err := t.started(ev)
		options.StartUnknown = err != nil
		if folder != "" && err == nil {
			started = folder
		}
	}
	there := facts.Collect(ev, t.here.project, t.here.set.Needs(), options)
	hits := t.here.set.Decide(there).Hits
	if options.StartUnknown {
		return slices.DeleteFunc(hits, isAllowing)
	}
	for _, place := range t.otherPlaces(ev.Cwd, started) {
		if place.root == there.Project && (place.folder == ev.Cwd || !t.start.set.DependsOnFolder()) {
			continue
		}
		options.Started = place.folder
		more := t.start.set.Decide(facts.Collect(ev, place.root, t.start.set.Needs(), options)).Hits
		if !place.isTree && !slices.ContainsFunc(more, isAllowing) {
			hits = slices.DeleteFunc(hits, isAllowing)
		}
		hits = mergeHits(hits, slices.DeleteFunc(more, isAllowing))
	}
	return hits
}

// otherPlace is a folder beside that of the call whose rules count.
type otherPlace struct {
	folder, root string
	// isTree says that it is the repository's own work tree, and the call happens in a
	// further one.
	isTree bool
}

// otherPlaces returns where the session started, and the work trees beside which those of
// the call and of the start were made: a rule for a project holds in all its trees.
func (t *twoPlaces) otherPlaces(cwd, started string) []otherPlace {
	root := t.start.project
	if root == "" && started != "" && t.options.Root != nil {
		root = t.options.Root(started)
	}
	list := []otherPlace{{folder: started, root: cmp.Or(root, started)}}
	if !t.start.set.DependsOnFolder() {
		return list
	}
	for _, folder := range []string{cwd, started} {
		if tree := mainTree(folder); tree != "" {
			list = append(list, otherPlace{tree, tree, true})
		}
	}
	return list
}

// mainTree returns the work tree beside which that of a folder was made, "" for none.
func mainTree(folder string) string {
	if r := gitfiles.Find(folder); r != nil {
		return r.MainTree()
	}
	return ""
}

// mergeHits adds hits of the same rules in another place, the stronger of two, and
// puts all in order.
func mergeHits(hits, more []rules.Hit) []rules.Hit {
	for _, h := range more {
		at := slices.IndexFunc(hits, func(known rules.Hit) bool { return known.Rule == h.Rule })
		switch {
		case at < 0:
			hits = append(hits, h)
		case h.Verdict.Strength() > hits[at].Verdict.Strength():
			hits[at] = h
		}
	}
	slices.SortStableFunc(hits, func(a, b rules.Hit) int { return b.Verdict.Strength() - a.Verdict.Strength() })
	return hits
}

func isAllowing(h rules.Hit) bool { return h.Verdict == rules.Allow && !h.LogOnly }

// disk reads the folders that patterns are about.
var disk = &facts.Disk{List: paths.List, Exists: paths.Exists}

// factOptions returns where facts come from.
func (s *Sources) factOptions(o *GuardOptions, scripts *shell.Cache) facts.Options {
	return facts.Options{
		Home: s.Dirs.Home, Parse: scripts.Parse, Resolve: paths.Real, Disk: disk, Several: paths.HasSeveralNames, Counts: o.Counts,
		Git: findRepository, Root: s.Registry.Repository, Usage: usageFacts(o.Spent),
	}
}

// ruleEntries makes the rules of a place into hooks: one that decides, and one
// that only logs, where some rules only do that.
func (s *Sources) ruleEntries(o *GuardOptions, scripts *shell.Cache) []*hook.Entry {
	d := s.newDecider(o, scripts)
	if d == nil {
		return nil
	}
	var entries []*hook.Entry
	priority := GuardPriority
	add := func(id string, kind event.Kind, run hook.HandlerFunc) {
		reg := hook.Registration{
			ID: id, Agent: hook.Any, HookType: string(kind), Handler: "builtin", Target: id,
			Role: hook.Guard, Priority: &priority, Locked: true, LogOnly: id == LogOnlyRulesHook,
		}
		if !d.anyRule(kind, func(r *rules.Rule, state rules.Mode) bool {
			return state != rules.LogOnly &&
				r.Refuses()
		}) {
			reg.OnFailure = hook.FailIgnore // nothing of it could have stopped the call
		}
		if e, err := hook.NewEntry(reg, run, "builtin"); err == nil {
			e.BuiltinGuard = true
			entries = append(entries, e)
		}
	}
	for _, kind := range event.Kinds() {
		if d.anyRule(kind, func(_ *rules.Rule, state rules.Mode) bool { return state != rules.LogOnly }) {
			add(RulesHook, kind, func(_ context.Context, call *hook.Call) (event.Decision, error) {
				return d.decide(call), nil
			})
		}
		if d.anyRule(kind, func(_ *rules.Rule, state rules.Mode) bool { return state == rules.LogOnly }) {
			add(LogOnlyRulesHook, kind, func(_ context.Context, call *hook.Call) (event.Decision, error) {
				return d.log(call.Event), nil
			})
		}
	}
	return entries
}

// anyRule reports whether isLike holds for a rule that handles a kind of event and isn't
// switched off.
func (d *ruleDecider) anyRule(kind event.Kind, isLike func(r *rules.Rule, state rules.Mode) bool) bool {
	return slices.ContainsFunc(d.list, func(r *rules.Rule) bool {
		state := r.ModeBy(d.modes)
		return state != rules.Off && r.Hears(kind) && isLike(r, state)
	})
}

// hits returns the rules that have something to say about an event, strongest first.
func (d *ruleDecider) hits(ev *event.Event) []rules.Hit {
	d.mu.Lock()
	if d.event == ev {
		defer d.mu.Unlock()
		return d.last
	}
	d.mu.Unlock()
	all := d.twoPlaces.decide(ev)
	d.mu.Lock()
	d.event, d.last = ev, all
	d.mu.Unlock()
	return all
}

// verdicts maps the verdicts of rules to those of decisions.
var verdicts = map[rules.Verdict]event.Verdict{rules.Deny: event.Deny, rules.Ask: event.Ask, rules.Allow: event.Allow}

// decide returns what the rules say to an event. The strongest of them counts, unless a
// person let it pass; warnings are said in any case.
func (d *ruleDecider) decide(call *hook.Call) event.Decision {
	var out event.Decision
	for _, h := range d.hits(call.Event) {
		if h.LogOnly || d.isAllowedByUser(call, &h) {
			continue
		}
		if h.Verdict == rules.Warn {
			line := "hookmux: " + describeHit(&h)
			out.Context, out.Notice = joinLines(out.Context, line), joinLines(out.Notice, line)
			continue
		}
		if out.Verdict != event.None || h.Verdict == rules.Allow && out.Context != "" {
			continue
		}
		out.Verdict, out.Rule, out.Reason = verdicts[h.Verdict], h.ID, describeHit(&h)
		if h.Verdict != rules.Allow {
			out.Reason = denialOf(&h)
		}
	}
	return out
}

// isAllowedByUser reports whether you let a rule pass that would deny or ask.
func (d *ruleDecider) isAllowedByUser(call *hook.Call, h *rules.Hit) bool {
	if h.Verdict != rules.Deny && h.Verdict != rules.Ask || h.Rule.Layer == rules.System {
		return false
	}
	return slices.Contains(d.allow, h.ID) || d.pass != nil && call.Event.Tool != nil && d.pass(call, h.ID)
}

// denialOf returns the text that you and the agent read when a rule denies a call. The
// administrator's rules can't be lifted.
func denialOf(h *rules.Hit) string {
	if h.Rule.Layer == rules.System {
		return event.Denial(h.ID, reasonOf(h)+" ["+h.Where+"]", "")
	}
	return event.RuleDenial(h.ID, reasonOf(h), h.Where)
}

func describeHit(h *rules.Hit) string {
	return event.OneLine(h.ID + ": " + reasonOf(h) + " [" + h.Where + "]")
}

// reasonOf returns why a rule says what it says; one that is not certain says so.
func reasonOf(h *rules.Hit) string {
	if h.Certain {
		return h.Why
	}
	return strings.TrimRight(h.Why, ".") + " (not everything about this call is known)"
}

func joinLines(a, b string) string {
	if a == "" {
		return b
	}
	return a + "\n" + b
}

// log returns what the rules in log mode would have decided: the strongest gives the
// verdict, and all are named, once each.
func (d *ruleDecider) log(ev *event.Event) event.Decision {
	var out event.Decision
	var words []string
	for _, h := range d.hits(ev) {
		if !h.LogOnly || slices.Contains(out.Rules, h.ID) {
			continue
		}
		words = append(words, describeHit(&h))
		out.Rules = append(out.Rules, h.ID)
		switch {
		case len(out.Rules) > 1:
		case h.Verdict == rules.Warn:
			out.Context = describeHit(&h)
		default:
			out.Verdict = verdicts[h.Verdict]
		}
	}
	if len(out.Rules) > 0 {
		out.Rule, out.Reason = out.Rules[0], strings.Join(words, "; ")
	}
	return out
}
