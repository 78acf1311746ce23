package facts

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
	"github.com/hookmux/hookmux/internal/policy/shell/foreign"
)

// Set is a set of facts.
type Set uint16

// With returns s and the facts of these names.
func (s Set) With(names ...Name) Set {
	for _, n := range names {
		if i := slices.Index(Names(), n); i >= 0 {
			s |= 1 << i
		}
		switch n {
		case PathsFact, NetFact, FlowsFact:
			s = s.With(CommandsFact)
		case CountsFact:
			s |= 1 << slices.Index(Names(), CommandsFact)
		case TrackedFact:
			s = s.With(PathsFact)
		}
	}
	return s
}

// Without returns s without a fact.
func (s Set) Without(n Name) Set {
	if i := slices.Index(Names(), n); i >= 0 {
		s &^= 1 << i
	}
	return s
}

// Has reports whether a fact is in s.
func (s Set) Has(n Name) bool {
	i := slices.Index(Names(), n)
	return i >= 0 && s&(1<<i) != 0
}

// Everything returns the set of all facts.
func Everything() Set { return Set(0).With(Names()...) }

// Options is where facts come from, in addition to the event.
type Options struct {
	Home string
	// Parse reads a command; nil is shell.Parse.
	Parse func(text string) *shell.Script
	// Skip reports whether a command line needn't be read, because no rule is about its content.
	// Nil: every line is read.
	Skip func(text string) bool
	// Resolve follows links in an absolute path, as far as it exists; nil follows none.
	Resolve func(path string) string
	// Disk reads the folders that patterns are about; nil: none is read.
	Disk *Disk
	// Several reports whether a file has several names, by hard links; nil: none has.
	Several func(path string) bool
	// Root returns the folder that a call belongs to if it is in no project: that of its
	// repository, "" for none. Nil: there is none.
	Root func(cwd string) string
	// Started is the folder that the call's session started in, for evaluating rules for that
	// folder; "" for evaluating them for the call's own.
	Started string
	// StartUnknown says that it isn't known where the session started.
	StartUnknown bool
	// Git reads a repository; nil: nothing is known about any.
	Git func(dir string) Repository
	// Counts returns what happened before in the event's session; nil: unknown.
	Counts func(ev *event.Event) (Counts, bool)
	// Usage returns what was used; nil: unknown.
	Usage func(ev *event.Event) (Usage, bool)
}

// Repository describes a repository from git's own files.
type Repository interface {
	Root() string
	Branch() (name string, ok bool)
	Remote() (address string, ok bool)
	Dirty() (dirty, ok bool)
	Tracked(path string) (tracked, ok bool)
}

// collector gathers the facts of one event.
type collector struct {
	Options
	facts *Facts
	need  Set
	call  Call
	repo  Repository
	// programs is the table that the script at hand was read with.
	programs *programs.Table
	// paths, net and flows hold what is recorded already.
	paths map[pathKey]bool
	net   map[Destination]bool
	flows map[Flow]bool
}

// Collect gathers the facts about ev that are needed. project is the folder the call belongs to,
// "" if none is known.
func Collect(ev *event.Event, project string, need Set, o Options) *Facts {
	folder := cmp.Or(o.Started, ev.Cwd)
	if project == "" && o.Root != nil && folder != "" {
		project = o.Root(folder)
	}
	if project == "" {
		project = folder
	}
	f := &Facts{
		Version: Version, Event: string(ev.Kind), Agent: ev.Agent, AgentVersion: ev.AgentVersion, Mode: ev.Mode,
		Attended: string(ev.Attended), Subagent: ev.Subagent != nil, Session: ev.Session, Project: project,
		Cwd:    FolderOf(ev, o.Home),
		source: Source{Event: ev, Resolve: o.Resolve, Folder: folder, StartUnknown: o.StartUnknown},
	}
	c := &collector{Options: o, facts: f, need: need}
	if c.Parse == nil {
		c.Parse = func(text string) *shell.Script { s := shell.Parse(text); return &s }
	}
	if t := ev.Tool; t != nil {
		f.Tool = Tool{Name: t.Name, Kind: string(t.Kind)}
		if t.MCP != nil {
			f.MCP = MCP{Server: t.MCP.Server, Tool: t.MCP.Tool}
		}
		c.call = CallOf(ev, project, o.Home)
	}
	c.gatherCall(ev)
	c.gatherGit()
	if need.Has(CountsFact) {
		ok := false
		if o.Counts != nil {
			f.Counts, ok = o.Counts(ev)
		}
		f.Counts.Polling = len(f.Commands) > 0 &&
			!slices.ContainsFunc(f.Commands, func(c Command) bool { return !c.Polls })
		c.noteUnknown(CountsFact, !ok)
	}
	if need.Has(UsageFact) {
		ok := false
		if o.Usage != nil {
			f.Usage, ok = o.Usage(ev)
		}
		c.noteUnknown(UsageFact, !ok)
	}
	return f
}

// noteUnknown records that a fact could not be found out.
func (c *collector) noteUnknown(n Name, unknown bool) {
	if unknown && c.need.Has(n) && !slices.Contains(c.facts.Unknown, n) {
		c.facts.Unknown = append(c.facts.Unknown, n)
	}
}

// gatherCall collects what the tool call itself does.
func (c *collector) gatherCall(ev *event.Event) {
	if ev.Tool == nil || !c.need.Has(CommandsFact) && !c.need.Has(LinesFact) {
		return
	}
	if ev.Unreadable() != "" || ev.Truncated {
		c.noteUnknown(CommandsFact, true)
		c.noteUnknown(PathsFact, true)
		c.noteUnknown(NetFact, true)
		c.noteUnknown(FlowsFact, true)
	}
	input := ReadInput(&c.call)
	if input.Unreadable != "" {
		c.noteUnknown(PathsFact, true)
	}
	for _, text := range c.call.Commands {
		if c.Skip == nil || !c.Skip(text) {
			c.gatherScript(text)
		}
	}
	c.facts.call, c.facts.input, c.facts.resolve = c.call, input, c.Resolve
	if c.need.Has(PathsFact) {
		scope := NewScope(&c.call, nil, nil, c.Resolve)
		reads, writes := c.call.Reads, c.call.Writes
		if len(reads)+len(writes) == 0 {
			reads, writes = input.Reads, input.Writes
		}
		for _, p := range reads {
			c.addPath(scope, shell.Word{Text: p, Bare: p, Tilde: strings.HasPrefix(p, "~")}, nil, Read, -1)
		}
		for _, p := range writes {
			c.addPath(scope, shell.Word{Text: p, Bare: p, Tilde: strings.HasPrefix(p, "~")}, nil, Write, -1)
		}
	}
	if c.call.URL != "" && c.need.Has(NetFact) {
		c.addDestination(destinationOf(c.call.URL), -1)
	}
}

// gatherScript collects what one command line does.
func (c *collector) gatherScript(text string) {
	written := c.Parse(text)
	c.programs = written.Programs
	script, found := expandScript(written, text, NewScope(&c.call, written, nil, c.Resolve), c.Disk)
	line := Line{Text: text, Script: script}
	if found != nil {
		line.Found, line.real = found.text.String(), found.real
	}
	c.facts.lines = append(c.facts.lines, line)
	if !c.need.Has(CommandsFact) {
		return
	}
	if !script.Readable() {
		c.noteUnknown(CommandsFact, true)
		c.noteUnknown(PathsFact, true)
		c.noteUnknown(NetFact, true)
		c.noteUnknown(FlowsFact, true)
	}
	scope := NewScope(&c.call, script, nil, c.Resolve)
	scope.real = line.real
	asWritten := scope
	if script != written {
		asWritten = NewScope(&c.call, written, nil, c.Resolve)
	}
	first := len(c.facts.Commands)
	index := make(map[*shell.Run]int, len(script.Runs))
	for i := range script.Runs {
		r := &script.Runs[i]
		if len(r.Argv) == 0 && len(r.Assigns) > 0 {
			c.facts.setsVariables = true
		}
		if len(r.Argv) == 0 && len(r.Redirects) == 0 {
			continue
		}
		index[r] = len(c.facts.Commands)
		c.facts.Commands = append(c.facts.Commands, describeRun(&written.Runs[i], asWritten))
		c.facts.Commands[index[r]].line = len(c.facts.lines) - 1
	}
	for _, p := range scope.ForeignPrograms() {
		if at, ok := index[p.Run]; ok {
			c.facts.Commands[at].Origin = string(p.Origin)
		}
	}
	for i := range script.Runs {
		r := &script.Runs[i]
		at, ok := index[r]
		if !ok {
			continue
		}
		if c.need.Has(PathsFact) || c.need.Has(FlowsFact) {
			c.gatherAccess(scope, r, at)
			if host, ok := HostRun(r); ok { // a container that sees this machine's folders
				c.gatherAccess(scope, host, at)
			}
		}
		if c.need.Has(NetFact) || c.need.Has(FlowsFact) {
			c.gatherHosts(r, at)
		}
	}
	if c.need.Has(FlowsFact) {
		c.gatherFlows(scope, index, first)
	}
}

// describeRun returns a run as rules see it.
func describeRun(r *shell.Run, scope *Scope) Command {
	script := scope.Script
	out := Command{
		Program: r.Name(), Wrappers: r.Via, Remote: r.Remote, Contained: r.Contained, Text: r.String(),
		Complete: true,
	}
	out.Listed = ViaXargs(r)
	for i, w := range r.Argv {
		out.Argv = append(out.Argv, w.Text)
		if i > 0 && w.Dynamic && !w.From.Empty() {
			out.Listed = true
		}
		if w.Dynamic {
			out.Complete = false
			out.Dynamic = append(out.Dynamic, w.Text)
			if i == 0 && dynamicName(w.Text) {
				out.Program = ""
			}
		}
	}
	if len(r.Argv) > 0 {
		p := script.Programs.Of(out.Program)
		splitWords(&out, r, p)
		out.Statements = statementsOf(&out, r, scope)
		out.Polls = isPoll(&out, r, p)
		// What a script or a function of the project itself deletes is up to the project.
		if p.HasEffects() && !r.Local && (len(p.Does) > 0 || !strings.Contains(r.Argv[0].Text, "/")) {
			words := KnownTexts(r.Args())
			for _, effect := range programs.Effects {
				if effect == programs.MayDelete && slices.Contains(out.Effects, string(programs.LosesData)) {
					continue // it is no longer a guess
				}
				if _, ok := p.Phrase(effect, words); ok {
					out.Effects = append(out.Effects, string(effect))
				}
			}
		}
	}
	for _, a := range r.Assigns {
		out.Env = append(out.Env, a.Name+"="+a.Value.Text)
	}
	if programs.Is(out.Program, programs.SetsVariables) {
		out.Env = append(out.Env, assignments(out.Args)...)
	}
	out.given = sync.OnceValue(func() string {
		text := scope.StatementText(r)
		if _, ok := r.Code(); ok {
			text = foreign.JoinLiterals(text)
		}
		return strings.ToLower(strings.ReplaceAll(text, "\n", " "))
	})
	for _, from := range RunsIn(script, r.From) {
		out.From = append(out.From, from.Name())
	}
	for _, to := range RunsIn(script, r.To) {
		out.To = append(out.To, to.Name())
	}
	return out
}

// assignments returns those of the words that set a variable.
func assignments(words []string) []string {
	var out []string
	for i, w := range words {
		switch name, _, ok := strings.Cut(w, "="); {
		case ok && name != "":
			out = append(out, w)
		case i+1 < len(words): // set -gx NAME value, setenv NAME value
			out = append(out, w+"="+words[i+1])
		}
	}
	return out
}

// dynamicName reports whether the base name of a program is not known.
func dynamicName(text string) bool { return strings.ContainsAny(path.Base(text), "$`") }

// splitWords sorts the words of a command into options, subcommand and operands.
func splitWords(out *Command, r *shell.Run, p *programs.Program) {
	var sub programs.Subcommands
	if p.Subcommands != nil {
		sub = *p.Subcommands
	}
	ended := false
	args := r.Args()
	for i := 0; i < len(args); i++ {
		w := args[i]
		t := w.Text
		switch {
		case t != "" && t[0] == '+' && out.Program == "cargo" && len(out.operands) == 0: // which of its versions
		case ended || len(t) < 2 || t[0] != '-' || w.Dynamic && strings.HasPrefix(t, "$"):
			out.operands = append(out.operands, Operand{Text: t, Dynamic: w.Dynamic, Pattern: w.Glob})
		case t == "--":
			ended = true
		default:
			out.flags = append(out.flags, Operand{Text: t, Dynamic: w.Dynamic, Pattern: w.Glob})
			out.Flags = append(out.Flags, separateFlags(t)...)
			// Options before the subcommand that take the next word.
			if (len(out.operands) == 0 || len(out.operands) == 1 && sub.Second) &&
				slices.Contains(sub.Values, t) {
				i++
			}
		}
	}
	if len(p.Commands)+len(p.Aliases) > 0 && len(out.operands) > 0 && !out.operands[0].Dynamic {
		out.operands[0].Text = p.FullCommand(out.operands[0].Text)
	}
	rest := out.operands
	if p.Subcommands != nil && len(rest) > 0 {
		if !rest[0].Dynamic {
			out.Subcommand = rest[0].Text
		}
		rest = rest[1:]
	}
	for _, o := range rest {
		out.Args = append(out.Args, o.Text)
	}
}

// separateFlags splits a cluster of short options and cuts values off.
func separateFlags(t string) []string {
	if strings.HasPrefix(t, "--") {
		name, _, _ := strings.Cut(t, "=")
		return []string{name}
	}
	name, _, _ := strings.Cut(t, "=")
	list := []string{name}
	if len(name) > 2 {
		for _, letter := range name[1:] {
			if letter < 'A' || letter > 'z' || letter > 'Z' && letter < 'a' {
				break
			}
			list = append(list, "-"+string(letter))
		}
	}
	return list
}

// maxFlows limits how many flows of one call are kept: of many files that go to many places,
// no rule needs each pair. Further ones aren't known.
const maxFlows = 1000

// longestPath is the longest path that the system accepts. What a longer word leads to, as a
// pattern of files or after cd shortened it, isn't known.
const longestPath = 4096

// addPath records one path of the call.
func (c *collector) addPath(scope *Scope, w shell.Word, r *shell.Run, access Access, command int) {
	place := scope.ResolveWord(w, r)
	remote := r != nil && r.Remote
	p := Path{Remote: remote, Path: place.Path, Access: access, Known: place.Known, All: place.All || w.Glob,
		Command: command, unlisted: w.Unlisted}
	if len(p.Path) > longestPath {
		p.Known = false
	}
	switch {
	case !p.Known:
		p.Path = w.Text[max(0, len(w.Text)-longestPath):]
	case remote:
	default:
		p.InProject = IsUnder(p.Path, scope.Project)
		p.InHome = IsUnder(p.Path, scope.Home)
		p.Scratch = scope.IsScratch(p.Path)
		if linked, ok := scope.LinkTarget(p.Path); ok && access != Delete {
			p.Real = linked
			p.InProject, p.Elsewhere = IsUnder(linked, scope.Project), true
		} else if linked, ok := scope.RealPath(p.Path, true); ok {
			p.Real = linked
			// The folder itself may be reached by a link; a link in it leads out.
			p.InProject = IsUnder(linked, c.realFolder(scope.Project))
			p.Elsewhere = c.leadsElsewhere(scope, p.Path, linked)
		}
		p.Several = c.Several != nil && access != Read && access != Delete && c.Several(cmp.Or(p.Real, p.Path))
	}
	if access == Write && p.Known && mayHoldSettings(p.Path) {
		if text, ok := c.textFor(scope, r); ok {
			p.Settings = onlySettings(p.Path, text)
		}
	}
	key := pathKey{p.Path, access, command, p.Known, p.All, remote}
	if c.paths[key] {
		return
	}
	if c.paths == nil {
		c.paths = map[pathKey]bool{}
	}
	c.paths[key] = true
	c.facts.Paths = append(c.facts.Paths, p)
	if command < 0 {
		return
	}
	cmd := &c.facts.Commands[command]
	switch access {
	case Read:
		cmd.Reads = append(cmd.Reads, p.Path)
	case Write, Mode:
		cmd.Writes = append(cmd.Writes, p.Path)
	case Delete:
		cmd.Deletes = append(cmd.Deletes, p.Path)
	}
}

// pathKey distinguishes one path of a call from another; the rest follows from it.
type pathKey struct {
	path               string
	access             Access
	command            int
	known, all, remote bool
}

// realFolder returns a folder with links followed.
func (c *collector) realFolder(folder string) string {
	if c.Resolve == nil || folder == "" {
		return folder
	}
	return c.Resolve(folder)
}

// leadsElsewhere reports whether a path leads to another place than its name says; it doesn't
// matter whether the project, or the home directory, is reached by a link.
func (c *collector) leadsElsewhere(scope *Scope, named, linked string) bool {
	for _, folder := range [...]string{scope.Project, scope.Home} {
		if IsUnder(named, folder) && folder != "/" {
			return linked != path.Join(c.realFolder(folder), named[len(folder):])
		}
	}
	return true
}

// textFor returns what a run, or a file tool, writes.
func (c *collector) textFor(scope *Scope, r *shell.Run) (string, bool) {
	if r != nil {
		return writtenText(scope, r)
	}
	return WrittenText(&c.call)
}

// gatherGit collects what git knows.
func (c *collector) gatherGit() {
	f := c.facts
	wants := c.need.Has(BranchFact) || c.need.Has(RemoteFact) || c.need.Has(DirtyFact) || c.need.Has(TrackedFact)
	if !wants {
		return
	}
	if c.Git != nil && f.Cwd != "" {
		c.repo = c.Git(f.Cwd)
	}
	if c.repo == nil {
		for _, n := range []Name{BranchFact, RemoteFact, DirtyFact, TrackedFact} {
			c.noteUnknown(n, true)
		}
		return
	}
	f.Git.Root = c.repo.Root()
	var ok bool
	if c.need.Has(BranchFact) {
		f.Git.Branch, ok = c.repo.Branch()
		c.noteUnknown(BranchFact, !ok)
	}
	if c.need.Has(RemoteFact) {
		f.Git.Remote, ok = c.repo.Remote()
		c.noteUnknown(RemoteFact, !ok)
	}
	if c.need.Has(DirtyFact) {
		f.Git.Dirty, ok = c.repo.Dirty()
		c.noteUnknown(DirtyFact, !ok)
	}
	if c.need.Has(TrackedFact) {
		for i := range f.Paths {
			if p := &f.Paths[i]; p.Known {
				p.Tracked, ok = c.repo.Tracked(p.Path)
				c.noteUnknown(TrackedFact, !ok)
			}
		}
	}
}
