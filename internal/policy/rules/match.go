package rules

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// hit is a rule's match in a call.
type hit struct {
	holds certainty
	where string // the command, path or host
	// command is the index of the command that was matched, -1 for none.
	command int
}

// matcher compares rules with the facts of one call.
type matcher struct {
	f  *facts.Facts
	at place
	// odd says that it isn't known for every command which program runs.
	odd bool
	// recorded says that the call was made before, and not all of it is still known.
	recorded bool
	// excepted is [Options.Excepted].
	excepted func(rule, line string) bool
	// paths are those of each command, and each path once for -2.
	paths map[int][]int
	// byProgram are the commands of each program, and all of them.
	byProgram map[string][]int
	all       []int
	// machine runs expressions; nil until one has to be run.
	machine *machine
}

// matchRule returns how certainly a rule's match holds. Without a match it does.
func (m *matcher) matchRule(r *Rule) hit {
	best := hit{command: -1}
	base := m.matchCall(r)
	if base == no {
		return best
	}
	q := &r.Match
	switch {
	case q.aboutCommand():
		for _, i := range m.commandsFor(r) {
			c := &m.f.Commands[i]
			if c.Program == "" && len(q.Program) > 0 && m.firm(r) || m.skips(r, i) {
				continue // it may be any program, and the rule asks for certainty
			}
			holds := both(base, m.matchCommand(q, c, r.OnUnknown == "ignore" && r.Decide != Allow))
			if holds == maybe && m.firm(r) {
				continue // its expression can't make that more
			}
			where := c.Text
			if holds != no && q.aboutPath() {
				var at string
				var fits certainty
				if fits, at = m.matchPaths(q, i); at != "" {
					where = at
				}
				holds = both(holds, fits)
			}
			if holds != no && q.aboutHost() {
				fits, at := m.matchHosts(q, i)
				if at != "" {
					where = at
				}
				holds = both(holds, fits)
			}
			if holds != no && r.each {
				holds = both(holds, m.evaluateFor(r, c))
			}
			if best = stronger(best, hit{holds, where, i}); best.holds == yes {
				break
			}
		}
		if best.holds == no && m.unknown(facts.CommandsFact) && m.mayRun() {
			best = hit{both(base, maybe), "a command that cannot be read", -1}
		}
	case q.aboutPath():
		holds, where := m.matchPaths(q, -2)
		if holds != no && m.skips(r, m.commandOf(where)) {
			holds = no
		}
		if holds != no && q.aboutHost() {
			fits, _ := m.matchHosts(q, -2)
			holds = both(holds, fits)
		}
		best = hit{both(base, holds), where, m.commandOf(where)}
	case q.aboutHost():
		holds, where := m.matchHosts(q, -2)
		if len(m.f.Commands) > 0 && m.skips(r, 0) {
			holds = no
		}
		best = hit{both(base, holds), where, -1}
	default:
		best = hit{base, m.f.Tool.Name, -1}
	}
	return best
}

// commandsFor returns the commands that a rule may be about, in their order: those of the
// programs that it names.
func (m *matcher) commandsFor(r *Rule) []int {
	if m.byProgram == nil {
		m.byProgram = map[string][]int{}
		m.all = make([]int, len(m.f.Commands))
		for i := range m.f.Commands {
			name := m.f.Commands[i].Program
			m.all[i], m.byProgram[name] = i, append(m.byProgram[name], i)
		}
	}
	if r.named == nil || m.odd {
		return m.all
	}
	var out []int
	merged := 0
	for _, name := range r.named {
		switch list := m.byProgram[name]; {
		case len(list) == 0:
		case merged == 0:
			out, merged = list, 1
		default:
			out, merged = slices.Concat(out, list), merged+1
		}
	}
	if merged > 1 {
		slices.Sort(out)
	}
	return out
}

// firm reports whether a rule has no verdict on what it may or may not match.
func (m *matcher) firm(r *Rule) bool {
	return !m.recorded && r.Claude == nil && r.OnUnknown == "ignore"
}

// skips reports whether a command is part of a line that a rule doesn't apply to.
func (m *matcher) skips(r *Rule, command int) bool {
	return m.excepted != nil && command >= 0 && m.excepted(r.ID, m.f.Lines()[m.f.Commands[command].Line()].Text)
}

// commandOf returns the command that touches a path; -1 for a file tool's own.
func (m *matcher) commandOf(where string) int {
	for _, p := range m.f.Paths {
		if p.Path == where {
			return p.Command
		}
	}
	return -1
}

func stronger(a, b hit) hit {
	if b.holds > a.holds {
		return b
	}
	return a
}

func (m *matcher) unknown(n facts.Name) bool { return slices.Contains(m.f.Unknown, n) }

// mayRun reports whether a call may run anything: a command line that can't be read may,
// unless the rule is about another kind of tool.
func (m *matcher) mayRun() bool { return m.f.Tool.Kind == "shell" || m.f.Tool.Kind == "mcp" }

// matchCall compares what is known without looking at commands.
func (m *matcher) matchCall(r *Rule) certainty {
	f, q := m.f, &r.Match
	if len(q.Event) == 0 {
		if f.Event != "tool.before" && f.Event != "tool.permission.request" {
			return no
		}
	} else if q.Event.matchText(f.Event) == no {
		return no
	}
	if r.Agents.matchText(f.Agent) == no || q.Tool.matchText(f.Tool.Kind) == no ||
		q.Name.matchText(f.Tool.Name) == no {
		return no
	}
	holds := yes
	if len(q.MCP) > 0 {
		holds = both(holds, q.MCP.match(func(p Pattern) certainty {
			server, tool, found := strings.Cut(p.text, "/")
			if !found {
				tool = "*"
			}
			return certain(f.MCP.Server != "" && fitsText(server, f.MCP.Server) && fitsText(tool, f.MCP.Tool))
		}))
	}
	if len(r.Projects) > 0 {
		holds = both(holds, m.matchProjects(r))
	}
	if len(q.Mode) > 0 {
		holds = both(holds, q.Mode.matchWord(f.Mode, f.Mode == ""))
	}
	if len(q.Attended) > 0 {
		holds = both(holds, q.Attended.matchWord(f.Attended, f.Attended == ""))
	}
	if q.Subagent != nil {
		holds = both(holds, certain(f.Subagent == *q.Subagent))
	}
	if len(q.Branch) > 0 {
		if m.unknown(facts.BranchFact) {
			return both(holds, maybe)
		}
		holds = both(holds, q.Branch.matchText(f.Git.Branch))
	}
	return holds
}

// matchProjects compares the folder of a call, or the one its session started in.
func (m *matcher) matchProjects(r *Rule) certainty {
	source := facts.SourceOf(m.f)
	folder := cmp.Or(source.Folder, m.f.Cwd)
	holds := r.Projects.match(func(p Pattern) certainty {
		return certain(m.at.fitsPath(p.text, m.f.Project) || folder != "" && m.at.fitsPath(p.text, folder) ||
			// it may be a link into one that the pattern names
			folder != "" && source.Resolve != nil && m.at.fitsPath(p.text, source.Resolve(folder)))
	})
	if source.Event != nil && source.Event.Tool != nil && source.Event.Tool.Folder != "" && r.Projects != nil &&
		!paths.IsWithin(m.f.Project, m.f.Cwd) {
		// The call names a folder of its own: a rule that stops applies there as well, one that
		// allows only there.
		there := r.Projects.match(func(p Pattern) certainty { return certain(m.at.fitsPath(p.text, m.f.Cwd)) })
		if r.MayAllow() {
			holds = both(holds, there)
		} else if holds == no {
			holds = there
		}
	}
	if source.StartUnknown && holds == no {
		return maybe // its session may have started there
	}
	if holds == no && !r.MayAllow() {
		return m.entersProjects(r, folder)
	}
	return holds
}

// entersProjects returns whether a command line goes to a folder that a rule is about:
// cd ~/app && make deploy. One that only the running shell knows may be it.
func (m *matcher) entersProjects(r *Rule, folder string) certainty {
	holds := no
	for i := range m.f.Commands {
		c := &m.f.Commands[i]
		operands := c.Operands()
		if c.Program != "cd" && c.Program != "pushd" || len(operands) != 1 || operands[0].Text == "-" {
			continue
		}
		if operands[0].Dynamic {
			holds = either(holds, maybe)
			continue
		}
		to := operands[0].Text
		if rest, ok := strings.CutPrefix(to, "~"); ok && (rest == "" || rest[0] == '/') {
			to = m.at.home + rest
		}
		if !path.IsAbs(to) {
			to = path.Join(folder, to)
		}
		folder = path.Clean(to)
		holds = either(holds, r.Projects.match(func(p Pattern) certainty {
			return certain(m.at.fitsPath(p.text, folder))
		}))
	}
	return holds
}

// matchCommand compares one command. If boldly is set, what isn't known excuses nothing.
func (m *matcher) matchCommand(q *Match, c *facts.Command, boldly bool) certainty {
	wild := hasWildcard(c.Program)
	holds := q.Program.match(func(p Pattern) certainty { return fitsProgram(p, c.Program, wild) })
	if holds == no {
		return no
	}
	if len(q.Subcommand) > 0 {
		holds = both(holds, q.Subcommand.match(func(p Pattern) certainty { return fitsSubcommand(p, c) }))
	}
	if holds == no {
		return no
	}
	if len(q.Args) > 0 {
		holds = both(holds, q.Args.match(func(p Pattern) certainty { return hasArgument(p, c) }))
	}
	if len(q.Flags) > 0 {
		holds = both(holds, q.Flags.match(func(p Pattern) certainty { return hasFlag(p, c, boldly) }))
	}
	if holds == no {
		return no
	}
	if len(q.NoFlags) > 0 {
		without := negate(q.NoFlags.match(func(p Pattern) certainty { return hasFlag(p, c, false) }))
		if without == maybe && boldly {
			without = yes // a word that isn't known isn't assumed to be the option that excuses
		}
		holds = both(holds, without)
	}
	if q.Contained != nil {
		holds = both(holds, certain(c.Contained == *q.Contained))
	}
	if len(q.Env) > 0 {
		holds = both(holds, q.Env.match(func(p Pattern) certainty { return certain(hasVariable(p.text, c.Env)) }))
	}
	if len(q.Origin) > 0 {
		holds = both(holds, both(certain(c.Origin != ""), q.Origin.matchText(c.Origin)))
	}
	if len(q.Text) > 0 && holds != no {
		given := c.Given()
		holds = both(holds, q.Text.match(func(p Pattern) certainty { return certain(fitsText(p.small, given)) }))
	}
	holds = both(holds, q.Wrapper.matchAny(c.Wrappers))
	holds = both(holds, q.From.matchAny(c.From))
	holds = both(holds, q.To.matchAny(c.To))
	holds = both(holds, q.Effect.matchAny(c.Effects))
	return both(holds, q.Statement.matchAny(c.Statements))
}

// fitsProgram compares a program. One that is written as a pattern of files, such as
// /usr/bin/cront?b, is every program that matches it.
func fitsProgram(p Pattern, program string, wild bool) certainty {
	if program == p.text && !p.star && program != "" {
		return yes
	}
	if wild && len(strings.Trim(program, "*?")) > 1 {
		return certain(fitsText(program, p.text))
	}
	return p.fitsWord(program, program == "")
}

// hasVariable returns whether one of the variables NAME=value is set; a pattern without = is a
// name.
func hasVariable(pattern string, env []string) bool {
	if !strings.Contains(pattern, "=") {
		pattern += "=*"
	}
	if !hasWildcard(pattern[:1]) { // most commands set other variables
		first := pattern[0]
		return slices.ContainsFunc(env, func(variable string) bool {
			return variable != "" && variable[0] == first && fitsText(pattern, variable)
		})
	}
	return slices.ContainsFunc(env, func(variable string) bool { return fitsText(pattern, variable) })
}

// fitsSubcommand compares the subcommand of a command.
func fitsSubcommand(p Pattern, c *facts.Command) certainty {
	operands := c.Operands()
	if !programs.Is(c.Program, programs.Targets) { // make -j 4 test deploy
		return leadingWords(p, operands)
	}
	holds := no
	for i := range operands {
		holds = either(holds, leadingWords(p, operands[i:]))
	}
	return holds
}

// onlyTargets reports whether a command does nothing other than what the patterns name.
func onlyTargets(l Patterns, c *facts.Command) bool {
	for _, o := range c.Operands() {
		if l.match(func(p Pattern) certainty { return p.fitsWord(o.Text, o.Dynamic) }) != yes {
			return false
		}
	}
	return true
}

// leadingWords compares a subcommand of one or more words with the operands.
func leadingWords(p Pattern, operands []facts.Operand) certainty {
	if len(operands) == 0 {
		return no
	}
	if strings.IndexByte(p.text, ' ') < 0 && p.text != "" {
		return p.fitsWord(operands[0].Text, operands[0].Dynamic)
	}
	holds := yes
	for i, word := range strings.Fields(p.text) {
		if i >= len(operands) {
			return no
		}
		holds = both(holds, fitsWord(word, operands[i].Text, operands[i].Dynamic))
	}
	return holds
}

// hasFlag returns whether an option is given. A word that isn't known may be one, and so may
// the beginning of a long option; if boldly is set, it is one.
func hasFlag(p Pattern, c *facts.Command, boldly bool) certainty {
	if slices.ContainsFunc(c.Flags, p.fits) {
		return yes
	}
	whole := programs.Is(c.Program, programs.WholeOptions)
	for _, o := range c.Options() {
		if whole {
			break
		}
		// Long options may be shortened.
		name, _, _ := strings.Cut(o.Text, "=")
		if len(name) > 2 && strings.HasPrefix(name, "--") && strings.HasPrefix(p.text, name) {
			if boldly {
				return yes
			}
			return maybe
		}
	}
	for _, o := range c.Operands() {
		if o.Dynamic && (o.Text[0] == '$' || o.Text[0] == '`') {
			return maybe
		}
	}
	return no
}

// hasArgument returns whether one of the arguments matches.
func hasArgument(p Pattern, c *facts.Command) certainty {
	holds := no
	operands := c.Operands()
	if c.Subcommand != "" && len(operands) > 0 {
		operands = operands[1:]
	}
	for i := range operands {
		o := &operands[i]
		holds = either(holds, p.fitsWord(o.Text, o.Dynamic))
		if o.Pattern && fitsText(o.Text, p.text) {
			holds = either(holds, maybe)
		}
	}
	return holds
}

// pathsOf returns the paths of a command; for -2 those of all, each once.
func (m *matcher) pathsOf(command int) []int {
	if m.paths == nil {
		m.paths = map[int][]int{}
		seen := map[facts.Path]bool{}
		for i, p := range m.f.Paths {
			m.paths[p.Command] = append(m.paths[p.Command], i)
			if p.Command = 0; !seen[p] {
				seen[p] = true
				m.paths[-2] = append(m.paths[-2], i)
			}
		}
	}
	return m.paths[command]
}

// matchPaths compares the paths of a command, of all for -2.
func (m *matcher) matchPaths(q *Match, command int) (certainty, string) {
	best, where := no, ""
	for _, i := range m.pathsOf(command) {
		p := &m.f.Paths[i]
		if holds := m.matchPath(q, p); holds > best {
			best, where = holds, p.Path
			if best == yes {
				break
			}
		}
	}
	if best == no && m.unknown(facts.PathsFact) {
		return maybe, "a command that cannot be read"
	}
	return best, where
}

func (m *matcher) matchPath(q *Match, p *facts.Path) certainty {
	holds := q.Access.match(func(want Pattern) certainty { return fitsAccess(want.text, p.Access) })
	if holds == no {
		return no
	}
	if len(q.Path) > 0 {
		holds = both(holds, q.Path.match(func(pattern Pattern) certainty { return m.fitsPlace(pattern.text, p) }))
	}
	for _, side := range []struct {
		want *bool
		have bool
	}{{q.InProject, p.InProject}, {q.InHome, p.InHome}} {
		if side.want != nil {
			if !p.Known {
				holds = both(holds, maybe)
				continue
			}
			holds = both(holds, certain(side.have == *side.want))
		}
	}
	if q.Settings != nil {
		holds = both(holds, certain(p.Settings == *q.Settings))
	}
	if q.Tracked != nil {
		if !p.Known || m.unknown(facts.TrackedFact) {
			return both(holds, maybe)
		}
		holds = both(holds, certain(p.Tracked == *q.Tracked))
	}
	return holds
}

// fitsAccess compares the access a rule is about with what a call does.
func fitsAccess(want string, have facts.Access) certainty {
	switch {
	case string(have) == want, want == "change" && (have == facts.Write || have == facts.Delete || have == facts.Mode):
		return yes
	case have == facts.Use:
		return maybe
	}
	return no
}

// fitsPlace returns whether a path is, or contains, what a pattern means.
func (m *matcher) fitsPlace(pattern string, p *facts.Path) certainty {
	if !p.Known {
		// Only the name may be known: "$DIR/main.go" isn't .env.
		base := path.Base(p.Path)
		if !strings.ContainsAny(base, "$`*?[{") { // {} is what find and xargs put in
			last := path.Base(strings.TrimSuffix(pattern, "/**"))
			if !strings.Contains(pattern, "**") && !fitsText(last, base) && !strings.Contains(pattern, "/") {
				return no
			}
		}
		return maybe
	}
	if m.at.fitsPath(pattern, p.Path) || p.Real != "" && m.at.fitsPath(pattern, p.Real) {
		return yes
	}
	if p.Access == facts.Delete && m.at.fitsBelow(pattern, p.Path) {
		return yes
	}
	if p.All && m.at.fitsBelow(pattern, p.Path) {
		return maybe
	}
	if p.Unlisted() && m.at.mayMeet(pattern, p.Path) {
		return maybe
	}
	if hasWildcard(p.Path) && m.at.fitsGlob(pattern, p.Path) {
		return yes
	}
	if p.All && m.at.mayComplete(pattern, p.Path) {
		return maybe
	}
	return no
}

// matchHost compares one destination.
func (m *matcher) matchHost(q *Match, d *facts.Destination) certainty {
	holds := q.Host.matchWord(d.Host, !d.Known)
	holds = both(holds, q.Scheme.matchWord(d.Scheme, d.Scheme == ""))
	if len(q.Scope) > 0 {
		holds = both(holds, q.Scope.matchWord(d.Scope, d.Scope == facts.UnknownScope))
	}
	return holds
}

// matchHosts compares the destinations of a command, of all for -2.
func (m *matcher) matchHosts(q *Match, command int) (certainty, string) {
	best, where := no, ""
	for i := range m.f.Net {
		d := &m.f.Net[i]
		if command >= -1 && d.Command != command {
			continue
		}
		if holds := m.matchHost(q, d); holds > best {
			if best, where = holds, d.Host; where == "" {
				where = "a host that is not known"
			}
		}
	}
	if best == no && m.unknown(facts.NetFact) {
		return maybe, "a command that cannot be read"
	}
	return best, where
}
