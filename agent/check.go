package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/parser"

	"github.com/hookmux/hookmux/agent/dialect"
	"github.com/hookmux/hookmux/event"
)

var agentName = lazyregexp.New(`^[a-z][a-z0-9-]*$`)

// checker collects what is wrong in one file.
type checker struct {
	file     File
	problems []Problem
}

// at reports a problem at a YAML path; the line is looked up only then.
func (c *checker) at(path, format string, args ...any) {
	c.problems = append(c.problems, Problem{c.file.Name, lineOf(c.file.Data, path), fmt.Sprintf(format, args...)})
}

func lineOf(data []byte, path string) int {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return 0
	}
	for path != "" && path != "$" {
		if p, err := yaml.PathString(path); err == nil {
			if node, err := p.FilterFile(file); err == nil && node != nil && node.GetToken() != nil {
				return node.GetToken().Position.Line
			}
		}
		// The value is missing: its parent is the place to look at.
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			break
		}
		path = path[:cut]
	}
	return 0
}

// check returns what is wrong with a file: own is the file's content, whole the entry it
// results in, others what was there before.
func check(file File, own, whole *Agent, others map[string]*Agent) []Problem {
	c := &checker{file: file}
	if !agentName.MatchString(own.Name) {
		c.at("$.name", "name %q must be small letters, digits and dashes", own.Name)
		return c.problems
	}
	if _, there := others[own.Like]; own.Like != "" && (!there || own.Like == own.Name) {
		c.at("$.like", "%s: like %q is no other agent of the catalogue", own.Name, own.Like)
		return c.problems
	}
	d, ok := dialect.Lookup(whole.Dialect)
	if !ok {
		c.at("$.dialect", "%s: dialect %q is not known; use one of %s", own.Name, whole.Dialect,
			strings.Join(dialect.Names(), ", "))
	}
	for i, alias := range own.Aliases {
		for _, other := range others {
			if other.Name == own.Name {
				continue
			}
			if other.Name == alias || slices.Contains(other.Aliases, alias) {
				c.at(fmt.Sprintf("$.aliases[%d]", i), "%s: alias %q belongs to %s", own.Name, alias, other.Name)
			}
		}
	}
	for _, other := range others {
		if other.Name != own.Name && slices.Contains(other.Aliases, own.Name) {
			c.at("$.name", "%q is an alias of %s; use that name to add to it", own.Name, other.Name)
		}
	}
	seen := map[string]bool{}
	for i, e := range own.Events {
		path := fmt.Sprintf("$.events[%d]", i)
		if e == nil || e.Name == "" {
			c.at(path, "%s: an event has no name", own.Name)
			continue
		}
		if seen[e.Name] {
			c.at(path+".name", "%s: event %s appears twice", own.Name, e.Name)
		}
		seen[e.Name] = true
		c.event(path, own.Name, e, d)
	}
	seen = map[string]bool{}
	for i, t := range own.Tools {
		path := fmt.Sprintf("$.tools[%d]", i)
		switch {
		case t == nil || t.Name == "":
			c.at(path, "%s: a tool has no name", own.Name)
		case seen[t.Name]:
			c.at(path+".name", "%s: tool %s appears twice", own.Name, t.Name)
		case !t.Kind.Known():
			c.at(path+".kind", "%s: tool %s: kind %q is not known", own.Name, t.Name, t.Kind)
		case strings.Count(t.Name, "*") > 1:
			c.at(path+".name", "%s: tool %s: one * at most", own.Name, t.Name)
		case t.MCP != "" && !(strings.Contains(t.MCP, "{server}") && strings.HasSuffix(t.MCP, "{tool}")):
			c.at(path+".mcp", "%s: tool %s: mcp must name {server} and end in {tool}", own.Name, t.Name)
		}
		if t != nil {
			seen[t.Name] = true
		}
	}
	for key, why := range own.Ignored {
		if strings.TrimSpace(why) == "" {
			c.at("$.ignored", "%s: ignored field %s has no reason", own.Name, key)
		}
	}
	for i, f := range own.Files {
		if f.Scope != "user" && f.Scope != "project" && f.Scope != "managed" {
			c.at(fmt.Sprintf("$.files[%d].scope", i), "%s: scope %q is none of user, project, managed", own.Name,
				f.Scope)
		}
	}
	if own.Install != nil {
		c.install(own.Name, own.Install)
	}
	if own.Resume != nil {
		c.resume(own.Name, own.Resume)
	}
	c.checkGuarded(own, whole)
	c.status(own.Name, own, whole)
	if own.Inbox != nil {
		c.inbox(own.Name, own.Inbox, whole.Events)
	}
	return c.problems
}

// checkGuarded refuses an entry under which guards would be blind: at a tool
// call they must find the tool's name, its input, and what the input means.
func (c *checker) checkGuarded(own, whole *Agent) {
	for _, e := range whole.Events {
		if e == nil || e.Kind != event.ToolBefore {
			continue
		}
		for _, f := range []field{fToolName, fToolInput} {
			if len(whole.Fields.keys()[f]) > 0 || fillsField(e, f) {
				continue
			}
			c.at(eventPath(own, e), "%s: event %s: no payload key is named for %s, so guards would see no tool "+
				"call; add fields: {%s: [KEY]}",
				own.Name, e.Name, fieldNames[f], fieldNames[f])
		}
		if len(whole.Tools) == 0 {
			c.at(eventPath(own, e), "%s: event %s: no tool is described, so guards would see no command and no file; "+
				"add tools: with name, kind and commands, reads or writes", own.Name, e.Name)
		}
	}
}

// eventPath returns where a file describes an event; the file itself when it does not.
func eventPath(own *Agent, e *EventSpec) string {
	for i, one := range own.Events {
		if one == e {
			return fmt.Sprintf("$.events[%d]", i)
		}
	}
	return "$"
}

func fillsField(e *EventSpec, f field) bool {
	for _, name := range e.Fields {
		if name == fieldNames[f] {
			return true
		}
	}
	return false
}

func (c *checker) event(path, agent string, e *EventSpec, d dialect.Dialect) {
	if !e.Kind.Known() {
		c.at(path+".kind", "%s: event %s: kind %q is not known", agent, e.Name, e.Kind)
	}
	for _, kinds := range []map[string]event.Kind{e.KindWith, e.KindWithout} {
		for key, kind := range kinds {
			if !kind.Known() {
				c.at(path, "%s: event %s: kind %q of %s is not known", agent, e.Name, kind, key)
			}
		}
	}
	switch e.Install {
	case InstallDefault:
	case InstallOptional, InstallNever:
		if e.Why == "" {
			c.at(path+".install", "%s: event %s: say why it is %s", agent, e.Name, e.Install)
		}
	default:
		c.at(path+".install", "%s: event %s: install %q is none of default, optional, never", agent, e.Name, e.Install)
	}
	if e.Answer != "" && !slices.Contains(d.Shapes, e.Answer) {
		c.at(path+".answer", "%s: event %s: this dialect has no answer %q", agent, e.Name, e.Answer)
	}
	claims := e.Carries.list()
	if len(claims) > 0 && e.Answer == "" {
		c.at(path+".carries", "%s: event %s: carries something but has no answer", agent, e.Name)
	}
	for _, claim := range claims {
		if ProofKindOf(claim.Capability.Proof) == None {
			c.at(path+".carries."+claim.Name, "%s: event %s: proof of %s must start with tested:, documented: or own:", agent,
				e.Name, claim.Name)
		}
	}
	for key, name := range e.Fields {
		if name != "-" && fieldNamed(name) == noField {
			c.at(path+".fields", "%s: event %s: %s goes into %q, which is not a field", agent, e.Name, key, name)
		}
	}
	if e.Timeout < 0 || e.InstallTimeout < 0 || e.MaxTimeout < 0 {
		c.at(path, "%s: event %s: a time limit is negative", agent, e.Name)
	}
}

// Claim is one capability with its name.
type Claim struct {
	Name       string
	Capability *Capability
}

// list returns the claims that are made, in a fixed order.
func (c *Capabilities) list() []Claim {
	var out []Claim
	for _, claim := range []Claim{
		{"allow", c.Allow}, {"deny", c.Deny}, {"ask", c.Ask}, {"input", c.Input},
		{"output", c.Output}, {"context", c.Context}, {"keep", c.Keep}, {"notice", c.Notice},
	} {
		if claim.Capability != nil {
			out = append(out, claim)
		}
	}
	return out
}

// Claims lists what the agent is said to take at the event, with proofs.
func (e *EventSpec) Claims() []Claim { return e.Carries.list() }
