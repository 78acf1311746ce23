package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
)

// Inspection describes how a user's file would change the catalogue.
type Inspection struct {
	Agent    *Agent    // the entry as it would be; nil with Problems
	Adds     bool      // it describes a new agent
	Problems []Problem // why it would not be used
	Warnings []Problem // what would be used and is likely not meant
}

// Inspect reads a file as [LoadFiles] would lay it over this catalogue, and says
// what is wrong with it, and under what guards would be blind.
func (c *Catalogue) Inspect(file File) Inspection {
	entries := map[string]*Agent{}
	for _, a := range c.agents {
		entries[a.Name] = a
	}
	for _, a := range c.protocols {
		entries[a.Name] = a
	}
	if c.generic != nil {
		entries[c.generic.Name] = c.generic
	}
	own, problem := parse(file)
	if problem != nil {
		return Inspection{Problems: []Problem{*problem}}
	}
	whole, problems := layOver(file, own, entries)
	if len(problems) > 0 {
		return Inspection{Problems: problems}
	}
	w := &checker{file: file}
	base := entries[own.Name]
	w.warnTools(own, whole, base)
	w.warnEvents(own, base)
	w.warnRest(own, whole, base)
	if whole.compiled == nil {
		whole.compiled = compile(whole)
	}
	return Inspection{Agent: whole, Adds: base == nil, Warnings: w.problems}
}

// warnTools says which calls guards would see less of.
func (c *checker) warnTools(own, whole, base *Agent) {
	guarded := slices.ContainsFunc(whole.Events, func(e *EventSpec) bool { return e.Kind == event.ToolBefore })
	if guarded && !slices.ContainsFunc(whole.Tools, func(t *ToolSpec) bool { return t.Name == "*" }) {
		c.at("$.tools", `%s: guards see nothing of a tool that is not described; add {name: "*", kind: other, `+
			`commands: [command], writes: [path], url: [url]}`, own.Name)
	}
	if base == nil {
		return
	}
	for i, t := range own.Tools {
		at := slices.IndexFunc(base.Tools, func(had *ToolSpec) bool { return had.Name == t.Name })
		if at < 0 {
			continue
		}
		path, had := fmt.Sprintf("$.tools[%d]", i), base.Tools[at]
		if had.Kind != t.Kind {
			c.at(path+".kind", "%s: tool %s was %s and becomes %s: guards look at it differently", own.Name, t.Name,
				had.Kind, t.Kind)
		}
		for _, list := range []struct {
			name     string
			had, has []string
		}{
			{"commands", had.Commands, t.Commands}, {"reads", had.Reads, t.Reads}, {"writes", had.Writes, t.Writes},
			{"patches", had.Patches, t.Patches}, {"url", had.URL, t.URL},
		} {
			if lost := missingFrom(list.had, list.has); len(lost) > 0 {
				c.at(path, "%s: tool %s: guards no longer see %s, which were its %s", own.Name, t.Name,
					strings.Join(lost, ", "), list.name)
			}
		}
	}
}

// warnEvents warns of events at which less can be decided, or an answer may not be what was
// meant.
func (c *checker) warnEvents(own, base *Agent) {
	for i, e := range own.Events {
		path := fmt.Sprintf("$.events[%d]", i)
		if e.Kind == event.ToolBefore && e.Carries.Deny == nil {
			c.at(path+".carries", "%s: event %s: it carries no deny, so hooks hear of calls there and stop none",
				own.Name, e.Name)
		}
		if e.Deny != nil && *e.Deny == (AnswerSpec{}) {
			c.at(path+".deny", "%s: event %s: a refusal is written as silence, which lets the call run in most agents",
				own.Name, e.Name)
		}
		if e.Neutral != nil && e.Neutral.Stdout != "" {
			c.at(path+".neutral", "%s: event %s: no opinion is written as %s; see that it approves nothing", own.Name,
				e.Name, e.Neutral.Stdout)
		}
		if base == nil {
			continue
		}
		at := slices.IndexFunc(base.Events, func(had *EventSpec) bool { return had.Name == e.Name })
		if at < 0 {
			continue
		}
		had := base.Events[at]
		if had.Kind.Guarded() && !e.Kind.Guarded() {
			c.at(path+".kind", "%s: event %s was %s: guards are no longer asked there", own.Name, e.Name, had.Kind)
		}
		if had.Install == InstallDefault && e.Install != InstallDefault {
			c.at(path+".install", "%s: event %s is no longer installed", own.Name, e.Name)
		}
		for _, claim := range had.Claims() {
			if !slices.ContainsFunc(e.Claims(), func(has Claim) bool { return has.Name == claim.Name }) {
				c.at(path+".carries", "%s: event %s no longer carries %s", own.Name, e.Name, claim.Name)
			}
		}
	}
}

// warnRest warns of everything else that differs from what you would expect.
func (c *checker) warnRest(own, whole, base *Agent) {
	if base == nil {
		m := whole.Marks
		if len(m.Programs)+len(m.Paths)+len(m.Environment) == 0 {
			c.at("$", "%s: no marks are named, so what it runs could pass for you; add marks: {programs: "+
				"[NAME]}", own.Name)
		}
		if whole.Install == nil {
			c.at("$", "%s: there is no install section: `hookmux install %s` cannot write its hooks", own.Name,
				own.Name)
		}
		return
	}
	for _, f := range []struct {
		f         field
		had, adds []string
	}{
		{fToolName, base.Fields.ToolName, own.Fields.ToolName},
		{fToolInput, base.Fields.ToolInput, own.Fields.ToolInput},
	} {
		if len(f.adds) > 0 && len(f.had) > 0 {
			c.at("$.fields."+fieldNames[f.f], "%s: %s is read from %s before %s: a payload that has both is seen "+
				"differently", own.Name, fieldNames[f.f], strings.Join(f.adds, ", "), strings.Join(f.had, ", "))
		}
	}
	if own.Dialect != "" && own.Dialect != base.Dialect {
		c.at("$.dialect", "%s: answers are written as %s does, no longer as %s", own.Name, own.Dialect, base.Dialect)
	}
	if own.Install != nil && base.Install != nil {
		c.at("$.install", "%s: hooks are installed by this section in place of the one hookmux has", own.Name)
	}
}

func missingFrom(had, has []string) (lost []string) {
	for _, one := range had {
		if !slices.Contains(has, one) {
			lost = append(lost, one)
		}
	}
	return lost
}
