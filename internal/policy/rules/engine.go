package rules

import (
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// Hit is one rule that matches a call.
type Hit struct {
	Rule    *Rule   `json:"-"`
	ID      string  `json:"id"`
	Why     string  `json:"why"`
	Verdict Verdict `json:"verdict"`
	// Where is the command, path or host that it is about.
	Where string `json:"where,omitempty"`
	// Certain is false if a fact that the rule needs isn't known.
	Certain bool `json:"certain"`
	// LogOnly says that it is only recorded.
	LogOnly bool `json:"logOnly,omitempty"`
	// Unreadable says that the rule blocks the text itself, because it can't be read in full.
	Unreadable bool `json:"-"`
}

// Result is the outcome of comparing the rules with a call.
type Result struct {
	Verdict Verdict `json:"verdict"`
	// Hits are the rules that match, strongest first.
	Hits []Hit `json:"hits,omitempty"`
}

// Decisive returns the hit that decided the verdict; nil if none did.
func (r *Result) Decisive() *Hit {
	for i := range r.Hits {
		if h := &r.Hits[i]; !h.LogOnly && h.Verdict == r.Verdict && r.Verdict != NoVerdict {
			return h
		}
	}
	return nil
}

// Options configures how rules are compared, in addition to the facts.
type Options struct {
	Home string
	// Modes holds the modes the user switched single rules to, by id; a pack's name switches all
	// of its rules.
	Modes map[string]Mode
	Now   func() time.Time
	// Checks are the families of checks in Go, by their names.
	Checks map[string]Checks
	// Excepted reports whether a rule doesn't apply to a command line. Nil: every rule applies.
	Excepted func(rule, line string) bool
}

// Set is a compiled set of rules, indexed by what they match.
type Set struct {
	options Options
	list    []*Rule
	needs   facts.Set
	// byProgram are rules that name their programs, others all the rest.
	byProgram map[string][]*Rule
	named     []*Rule // all of byProgram, for commands whose program is not known
	others    []*Rule
	// placed says that a rule applies in some folders only.
	placed bool
	// checked are rules that name a check in Go.
	checked []*Rule
}

// NewSet compiles rules. Rules that are switched off cost nothing.
func NewSet(list []*Rule, o Options) *Set {
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Set{options: o, byProgram: map[string][]*Rule{}}
	for _, r := range list {
		if s.modeOf(r) == Off || s.expired(r) {
			continue
		}
		s.list = append(s.list, r)
		s.needs |= r.needs
		s.placed = s.placed || len(r.Projects) > 0 || r.Claude != nil
		if r.Check != "" {
			s.checked = append(s.checked, r)
			continue
		}
		names, ok := r.Match.Program.literals()
		if !ok && r.Claude == nil {
			names, ok = r.programs, len(r.programs) > 0
		}
		if !ok {
			s.others = append(s.others, r)
			continue
		}
		s.named = append(s.named, r)
		for _, p := range names {
			s.byProgram[p] = append(s.byProgram[p], r)
		}
	}
	return s
}

// expired reports whether the last day of a rule is over.
func (s *Set) expired(r *Rule) bool { return !r.expires.IsZero() && !s.options.Now().Before(r.expires) }

// Rules returns the rules that are not switched off.
func (s *Set) Rules() []*Rule { return s.list }

// ModeOf returns the mode of one of the set's rules.
func (s *Set) ModeOf(r *Rule) Mode { return s.modeOf(r) }

// Needs returns the facts that a rule looks at.
func (r *Rule) Needs() facts.Set { return r.needs }

// Tighter returns the tighter one of two modes. One that doesn't exist blocks.
func Tighter(a, b Mode) Mode {
	if b.strength() > a.strength() {
		return b
	}
	return a
}

func (m Mode) strength() int {
	if at := slices.Index(Modes(), m); at >= 0 {
		return at
	}
	return len(Modes())
}

func (s *Set) modeOf(r *Rule) Mode { return r.ModeBy(s.options.Modes) }

// ModeBy returns the mode of a rule: what the user switched it or its pack to, unless it is
// the administrator's, or else what the rule itself says.
func (r *Rule) ModeBy(modes map[string]Mode) Mode {
	if r.Layer == System {
		return r.Mode
	}
	if mode, ok := modes[r.ID]; ok {
		return r.readMode(mode)
	}
	if pack, _, ok := strings.Cut(r.ID, "/"); ok && r.Layer == Pack {
		if mode, ok := modes[pack]; ok {
			return r.readMode(mode)
		}
	}
	return r.Mode
}

// readMode returns a mode that was written by hand: one that doesn't exist never means less
// protection, so a rule that denies is active then, and one that may allow is off.
func (r *Rule) readMode(mode Mode) Mode {
	switch {
	case slices.Contains(Modes(), mode):
		return mode
	case r.MayAllow():
		return Off
	}
	return Block
}

// Hears reports whether a rule may match events of a kind.
func (r *Rule) Hears(kind event.Kind) bool {
	if len(r.Match.Event) == 0 {
		return kind.Guarded()
	}
	return r.Match.Event.matchText(string(kind)) != no
}

// Refuses reports whether a rule may stop a call or ask about it.
func (r *Rule) Refuses() bool {
	return r.Decide == Deny || r.Decide == Ask || r.OnUnknown == "deny" || r.OnUnknown == "ask"
}

// Len returns the number of rules that are not switched off.
func (s *Set) Len() int { return len(s.list) }

// DependsOnFolder reports whether a rule may have another verdict for another folder of the
// same project.
func (s *Set) DependsOnFolder() bool { return s.placed }

// Needs returns the facts that the rules look at.
func (s *Set) Needs() facts.Set { return s.needs }

// isOdd reports whether there is a command of which it isn't known which program it runs.
func isOdd(f *facts.Facts) bool {
	if slices.Contains(f.Unknown, facts.CommandsFact) {
		return true
	}
	for i := range f.Commands {
		if name := f.Commands[i].Program; name == "" || hasWildcard(name) {
			return true
		}
	}
	return false
}

// candidates returns the rules that may match a call.
func (s *Set) candidates(f *facts.Facts, odd bool) []*Rule {
	if len(s.named) == 0 {
		return s.others
	}
	if odd {
		return slices.Concat(s.others, s.named)
	}
	found := s.others
	var seen []string
	for i := range f.Commands {
		program := f.Commands[i].Program
		more := s.byProgram[program]
		if len(more) == 0 || slices.Contains(seen, program) {
			continue
		}
		seen = append(seen, program)
		found = append(found[:len(found):len(found)], more...)
	}
	return found
}

// Decide compares the rules with a call.
func (s *Set) Decide(f *facts.Facts) Result { return s.decide(f, nil) }

// decide compares the rules with a call; lost says what isn't known about a recorded one, nil
// for a call that is being made.
func (s *Set) decide(f *facts.Facts, lost *losses) Result {
	var out Result
	m := &matcher{f: f, at: place{home: s.options.Home, project: f.Project}, odd: isOdd(f), excepted: s.options.Excepted,
		recorded: lost != nil}
	out.Hits = s.runChecks(f, lost)
	var allows []allowed
	for _, r := range s.candidates(f, m.odd) {
		h := m.matchRule(r)
		if h.holds == no {
			lost.lookAgain(m, r)
			continue
		}
		if r.Claude != nil {
			if hit, ok := s.decideClaude(r, f, h.holds); !lost.leavesOpenClaude(r, hit) && ok {
				out.Hits = append(out.Hits, hit)
			}
			continue
		}
		switch {
		case r.each: // tried with each command
			h.holds = lost.weaken(r, h.holds)
		case r.when != nil:
			h.holds = both(h.holds, lost.weaken(r, m.evaluate(r)))
		}
		if h.holds == no || lost.leavesOpen(r, h.holds) {
			continue
		}
		if s.expired(r) {
			continue
		}
		mode := s.modeOf(r)
		verdict := r.verdict(h.holds, mode)
		if verdict == NoVerdict {
			continue
		}
		if verdict == Allow && mode != LogOnly {
			allows = append(allows, allowed{r, h})
			continue
		}
		if !slices.ContainsFunc(out.Hits, func(known Hit) bool { return known.Rule == r }) { // it names two programs
			out.Hits = append(out.Hits, newHit(r, h, verdict, mode))
		}
	}
	if len(allows) > 0 && lost.coversCall(f, m, allows) {
		for _, a := range allows {
			out.Hits = append(out.Hits, newHit(a.rule, a.hit, Allow, Block))
		}
	}
	slices.SortStableFunc(out.Hits, func(a, b Hit) int { return b.Verdict.Strength() - a.Verdict.Strength() })
	for _, h := range out.Hits {
		if !h.LogOnly {
			out.Verdict = h.Verdict
			break
		}
	}
	return out
}

// decideClaude returns the verdict of a rule in Claude Code's syntax; its allow already covers
// the whole call.
func (s *Set) decideClaude(r *Rule, f *facts.Facts, narrowed certainty) (Hit, bool) {
	said, where, holds := r.matchClaude(f, s.options.Home)
	if said == NoVerdict {
		return Hit{}, false
	}
	h, mode := hit{both(holds, narrowed), where, -1}, s.modeOf(r)
	verdict := r.verdictOf(said, h.holds, mode)
	return newHit(r, h, verdict, mode), verdict != NoVerdict
}

func newHit(r *Rule, h hit, verdict Verdict, mode Mode) Hit {
	return Hit{Rule: r, ID: r.ID, Why: r.Why, Verdict: verdict, Where: h.where, Certain: h.holds == yes,
		LogOnly: mode == LogOnly}
}

// verdict returns a rule's verdict on a call that it matches as certainly as holds says.
func (r *Rule) verdict(holds certainty, mode Mode) Verdict {
	return r.verdictOf(r.Decide, holds, mode)
}

func (r *Rule) verdictOf(v Verdict, holds certainty, mode Mode) Verdict {
	if holds == maybe {
		switch {
		case r.OnUnknown == "ignore", v == Allow:
			return NoVerdict
		case r.OnUnknown == "deny":
			v = Deny
		case r.OnUnknown == "ask", v == Deny, v == Ask:
			v = Ask
		default: // a warning about something that is not known
			return NoVerdict
		}
	}
	if mode == Asks && v == Deny {
		v = Ask
	}
	return v
}

// allowed is a rule that would allow a call.
type allowed struct {
	rule *Rule
	hit  hit
}

// covered reports whether rules that allow cover the whole call: every command,
// and every file that a redirection writes. One harmless part of a command line
// does not make the rest harmless.
func covered(f *facts.Facts, m *matcher, allows []allowed) bool {
	if len(f.Unknown) > 0 || f.SetsVariables() {
		return false
	}
	for i := range f.Commands {
		c := &f.Commands[i]
		if programs.Is(c.Program, programs.Quiet) && len(c.Writes) == 0 {
			continue
		}
		ok := slices.ContainsFunc(allows, func(a allowed) bool { return coversCommand(a.rule, m, i) })
		if !ok {
			return false
		}
	}
	if len(f.Commands) > 0 {
		return true
	}
	// A file or fetch tool: each of its paths and hosts must be allowed.
	for i := range f.Paths {
		if !slices.ContainsFunc(allows, func(a allowed) bool {
			return !a.rule.Match.aboutPath() || m.allowsPath(&a.rule.Match, &f.Paths[i])
		}) {
			return false
		}
	}
	return true
}

// coversCommand reports whether a rule allows one command as a whole.
func coversCommand(r *Rule, m *matcher, at int) bool {
	q, c := &r.Match, &m.f.Commands[at]
	if !q.aboutCommand() && !q.aboutPath() && !q.aboutHost() {
		if r.programs == nil {
			return q.Tool != nil || r.When != ""
		}
		// any(commands, …) holds for one of them.
		if !slices.Contains(r.programs, c.Program) {
			return false
		}
	}
	if !c.Complete || m.matchCommand(q, c, false) != yes || len(c.Wrappers) > 0 && len(q.Wrapper) == 0 ||
		len(c.Env) > 0 && len(q.Env) == 0 || r.each && m.evaluateFor(r, c) != yes {
		return false
	}
	if !r.each && len(q.Flags) == 0 && doesMore(c) {
		return false
	}
	if programs.Is(c.Program, programs.Targets) && len(q.Subcommand) > 0 && !onlyTargets(q.Subcommand, c) {
		return false // make test deploy
	}
	if !r.each && isOwnProgram(c) { // ./ls may be anything
		return false
	}
	for i := range m.f.Paths {
		p := &m.f.Paths[i]
		if p.Command != at || p.Access == facts.Read && !q.aboutPath() || p.Access == facts.Use && !q.aboutPath() {
			continue
		}
		if !q.aboutPath() && p.Access == facts.Write && p.Redirected || q.aboutPath() && !m.allowsPath(q, p) {
			return false
		}
	}
	if !q.aboutHost() {
		return true
	}
	if q.aboutHost() && (talksElsewhere(c) ||
		slices.ContainsFunc(m.f.Paths, func(p facts.Path) bool {
			return p.Command == at && p.Access == facts.Read && !q.aboutPath()
		})) {
		return false // it talks to another machine than it names, or sends a file
	}
	for i := range m.f.Net {
		if d := &m.f.Net[i]; d.Command == at && m.matchHost(q, d) != yes {
			return false
		}
	}
	return true
}

// allowsPath reports whether a rule that allows covers a path: the name, and where it leads.
// A file that has other names too may be any other file.
func (m *matcher) allowsPath(q *Match, p *facts.Path) bool {
	if p.Several || p.Unlisted() || m.matchPath(q, p) != yes {
		return false
	}
	if !p.Elsewhere {
		return true
	}
	real := *p
	real.Path, real.Real = p.Real, ""
	return m.matchPath(q, &real) == yes
}
