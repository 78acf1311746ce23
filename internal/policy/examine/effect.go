package examine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/facts"
)

// Effect describes what a call would do, in one line for the user who is asked about it.
type Effect struct {
	Text string
	Risk Risk
}

// Risk is how much of a call's effect can't be undone.
type Risk string

// The risks.
const (
	Low    Risk = "low"    // it only looks at things in the project
	Normal Risk = "normal" // it changes things in the project, or runs something
	High   Risk = "high"   // it deletes, leaves the project, or can't be read
)

// maxEffect is the longest effect in columns.
const maxEffect = 240

// Effect sums up the examination. It's a summary, not a verdict: what it doesn't name
// isn't harmless.
func (e *Examination) Effect(home string) Effect {
	if e == nil || e.Facts == nil {
		return Effect{}
	}
	s := &summary{facts: e.Facts, home: home, risk: Low}
	s.addPaths()
	s.addCommands()
	s.addNetwork()
	if mcp := e.Facts.MCP; mcp.Server != "" {
		s.add(Normal, "calls "+mcp.Tool+" on the MCP server "+mcp.Server)
	}
	if e.Error != "" || slices.Contains(e.Facts.Unknown, facts.CommandsFact) {
		s.add(High, "hookmux can't read this command")
	}
	if len(s.parts) == 0 {
		s.addQuiet()
	}
	s.addFindings(e.Findings)
	return Effect{Text: termsafe.Line(strings.Join(s.parts, " · "), maxEffect), Risk: s.risk}
}

// summary collects the parts of an effect, the most serious first.
type summary struct {
	facts *facts.Facts
	home  string
	parts []string
	risk  Risk
}

func (s *summary) add(risk Risk, part string) {
	s.parts = append(s.parts, part)
	if risk == High || s.risk == Low {
		s.risk = risk
	}
}

// addPaths adds what is deleted, moved and written.
func (s *summary) addPaths() {
	var deleted, moved, written []string
	outside := map[facts.Access]bool{}
	for _, p := range s.facts.Paths {
		isMove := p.Command >= 0 && p.Command < len(s.facts.Commands) && s.facts.Commands[p.Command].Program == "mv"
		switch {
		case p.Access == facts.Delete && isMove:
			moved = append(moved, s.name(p))
		case p.Access == facts.Delete:
			deleted = append(deleted, s.name(p))
		case p.Access == facts.Write && !isMove || p.Access == facts.Mode:
			written = append(written, s.name(p))
		case p.Access != facts.Write:
			continue
		}
		access := p.Access
		if isMove {
			access = facts.Write
		}
		outside[access] = outside[access] || p.Known && !p.InProject && !p.Scratch
	}
	say := func(verb, many string, list []string, risk Risk, isOutside bool) {
		if len(list) == 0 {
			return
		}
		text := verb + " " + someNames(list, many)
		if isOutside {
			text, risk = text+" outside the project", High
		}
		s.add(risk, text)
	}
	say("deletes", "paths", deleted, High, outside[facts.Delete])
	say("moves", "paths", moved, Normal, outside[facts.Write])
	if len(moved) > 0 {
		outside[facts.Write] = false // it was said
	}
	say("writes", "files", written, Normal, outside[facts.Write])
}

// name returns a path as a user would write it: from the folder the call runs in, else from
// home.
func (s *summary) name(p facts.Path) string {
	if !p.Known {
		return "a path only known when it runs (" + p.Path + ")"
	}
	name := p.Path
	switch cwd := strings.TrimSuffix(s.facts.Cwd, "/"); {
	case cwd != "" && name == cwd:
		name = "this folder"
	case cwd != "" && strings.HasPrefix(name, cwd+"/"):
		name = name[len(cwd)+1:]
	case s.home != "" && strings.HasPrefix(name, s.home+"/"):
		name = "~" + name[len(s.home):]
	}
	if p.All && p.Access == facts.Delete && name != "this folder" && !strings.ContainsAny(name, "*?[") {
		name += "/"
	}
	return name
}

// someNames names up to three; more are counted.
func someNames(list []string, many string) string {
	slices.Sort(list)
	list = slices.Compact(list)
	if len(list) > 3 {
		return fmt.Sprintf("%d %s", len(list), many)
	}
	return strings.Join(list, ", ")
}

// addCommands adds what is run, and with which privileges.
func (s *summary) addCommands() {
	var programs []string
	partly := false
	for i := range s.facts.Commands {
		c := &s.facts.Commands[i]
		if slices.ContainsFunc(c.Wrappers, func(w string) bool { return w == "sudo" || w == "doas" }) {
			s.addOnce(High, "runs as root")
		}
		if c.Origin == "network" || c.Origin == "download" {
			s.addOnce(High, "runs what it downloads")
		}
		for _, statement := range c.Statements {
			if words := statementWords[statement]; words != "" {
				s.addOnce(High, words)
			}
		}
		if c.Program == "git" && c.Subcommand == "push" {
			s.addOnce(pushEffect(c))
		}
		if c.Remote {
			s.addOnce(Normal, "runs on another machine")
		}
		partly = partly || !c.Complete
		if !c.Polls && !s.touches(i) && c.Program != "" && c.Subcommand != "push" && !slices.Contains(programs, c.Program) {
			programs = append(programs, c.Program)
		}
	}
	if len(programs) > 0 {
		s.add(Normal, "runs "+someNames(programs, "programs"))
	}
	if partly {
		s.add(Normal, "part of it is only known when it runs")
	}
}

func (s *summary) addOnce(risk Risk, part string) {
	if !slices.Contains(s.parts, part) {
		s.add(risk, part)
	}
}

// statementWords describe what a database is asked to do.
var statementWords = map[string]string{
	"drop": "drops database objects", "truncate": "empties database tables", "delete-all": "deletes all rows of a table",
	"update-all": "changes all rows of a table", "alter": "alters the database", "restore": "overwrites a database",
	"permission": "changes database permissions",
}

func pushEffect(c *facts.Command) (Risk, string) {
	forced := slices.ContainsFunc(c.Flags, func(f string) bool { return f == "-f" || strings.HasPrefix(f, "--force") }) ||
		slices.ContainsFunc(c.Args, func(a string) bool { return strings.HasPrefix(a, "+") })
	if forced {
		return High, "force-pushes to a remote"
	}
	return Normal, "pushes to a remote"
}

// touches reports whether a command deletes or writes something that was named.
func (s *summary) touches(command int) bool {
	return slices.ContainsFunc(s.facts.Paths, func(p facts.Path) bool {
		return p.Command == command && (p.Access == facts.Delete || p.Access == facts.Write || p.Access == facts.Mode)
	})
}

// addNetwork adds which hosts the call talks to.
func (s *summary) addNetwork() {
	var hosts []string
	for _, d := range s.facts.Net {
		switch {
		case d.Scope == facts.Loopback:
		case d.Known && d.Host != "":
			hosts = append(hosts, d.Host)
		case !d.Implied:
			hosts = append(hosts, "a host only known when it runs")
		}
	}
	if len(hosts) > 0 {
		s.add(Normal, "connects to "+someNames(hosts, "hosts"))
	}
}

// addQuiet adds what a call does that changes nothing hookmux knows of.
func (s *summary) addQuiet() {
	var read []string
	for _, p := range s.facts.Paths {
		if p.Access == facts.Read {
			read = append(read, s.name(p))
			if !p.InProject && !p.Scratch {
				s.risk = Normal
			}
		}
	}
	switch {
	case len(read) > 0:
		s.add(s.risk, "only reads "+someNames(read, "files"))
	case len(s.facts.Commands) > 0:
		s.add(Low, "only looks")
	default:
		s.add(Normal, "hookmux can't see what this tool does")
	}
}

// addFindings adds which guards and rules match.
func (s *summary) addFindings(list []Finding) {
	said := false
	for i := range list {
		f := &list[i]
		if f.Allowed {
			continue
		}
		who := "rule " + f.Rule
		if f.Guard != "" {
			who = "guard " + f.Guard
		}
		switch {
		case f.Verdict == "allow":
			s.addOnce(s.risk, who+" allows it")
		case f.Mode == "block" || f.Mode == "ask":
			s.addOnce(High, who+": "+f.Reason)
		default: // it's off or only logs
			s.addOnce(High, who+" ("+f.Mode+"): "+f.Reason)
		}
		said = true
	}
	if !said {
		s.add(s.risk, "no rule matches")
	}
}
