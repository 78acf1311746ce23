package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/internal/ui/agentfacts"
)

// agentPage returns the page of one agent. It fits on a screen; `hookmux agents
// show` prints the rest: every event, time limit, file and recorded check.
func agentPage(a *agent.Agent, seen recordings.Summary) string {
	p := page{f: agentfacts.Facts{Agent: a, Seen: seen}, a: a}
	p.summary()
	p.inbox()
	p.sessions()
	p.notes()
	return p.String()
}

// page is one that is being written.
type page struct {
	strings.Builder
	f agentfacts.Facts
	a *agent.Agent
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

func (p *page) notes() {
	if notes := p.f.BriefNotes(); len(notes) > 0 {
		p.printf("\n## Good to know\n\n")
		for _, n := range notes {
			p.printf("- %s\n", n)
		}
	}
	p.printf("\nEverything else: `hookmux agents show %s --all`\n", p.a.Name)
}

func (p *page) summary() {
	a, f := p.a, p.f
	p.printf("%s# %s\n\n", generated, a.Title)
	p.printf("**A hook can** %s.\n\n", canDo(f))
	p.printf("**Evidence**: %s", f.Evidence())
	switch {
	case f.Verified():
		p.printf(" with %s on %s: %d checks passed", f.Seen.Version, f.Seen.Day, f.Count("✓"))
		if n := f.Count("✗"); n > 0 {
			p.printf(", %d failed", n)
		}
		if n := f.Count("–"); n > 0 {
			p.printf(", %d couldn't be tried", n)
		}
	case f.Seen.Version != "":
		p.printf("; only payloads of %s were recorded, on %s", f.Seen.Version, f.Seen.Day)
	case a.Tried != "":
		p.printf(", as of %s", a.Tried)
	}
	p.printf(".\n\n")
	p.install()
}

// decisive are the claims whose absence is mentioned; `hookmux agents show` has the others.
var decisive = []string{"deny", "allow", "ask", "input"}

// canDo lists what a hook can do, with a mark for what a real agent confirmed, and what it can't.
func canDo(f agentfacts.Facts) string {
	var can, cannot []string
	for _, ability := range agentfacts.Abilities() {
		switch {
		case f.Proven(ability.Claim):
			can = append(can, ability.Verb+" ✓")
		case f.Claims(ability.Claim):
			can = append(can, ability.Verb)
		case slices.Contains(decisive, ability.Claim):
			cannot = append(cannot, ability.Verb)
		}
	}
	switch {
	case len(f.Agent.Events) == 0:
		return "do nothing here: it has none"
	case len(can) == 0:
		return "watch what happens, nothing else"
	case len(cannot) == 0:
		return strings.Join(can, ", ")
	}
	return strings.Join(can, ", ") + ". It can't " + anyOf(cannot)
}

// anyOf joins words into "a, b or c".
func anyOf(words []string) string {
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// install writes how hookmux is installed.
func (p *page) install() {
	a := p.a
	s := a.Install
	if s == nil {
		p.printf("**Install**: hookmux doesn't install hooks here.\n\n")
		return
	}
	what := map[agent.Way]string{
		agent.WayEntries: "adds entries to", agent.WayFile: "writes its own file,",
		agent.WayPlugin: "writes a plugin,",
	}[s.Way]
	if what == "" {
		what = "writes"
	}
	var user, project []string
	for _, place := range s.Places {
		path := "`" + place.Path + "`"
		if place.Env != "" {
			path += " (or in `$" + place.Env + "`)"
		}
		if place.Scope == "project" {
			project = append(project, path)
		} else {
			user = append(user, path)
		}
	}
	p.printf("**Install**: ")
	if len(user) > 0 {
		p.printf("`hookmux install %s` %s %s", a.Name, what, strings.Join(user, " or "))
	}
	if len(project) > 0 {
		if len(user) > 0 {
			p.printf(", with `--project` %s", strings.Join(project, " or "))
		} else {
			p.printf("`hookmux install %s --project` %s %s", a.Name, what, strings.Join(project, " or "))
		}
	}
	p.printf(". %s.", sentence(s.Pickup.Say))
	if s.Trust.Say != "" {
		p.printf(" %s.", sentence(s.Trust.Say))
	}
	if s.Handler.Form != "line" { // a line does nothing without the program, and the usual case isn't said
		switch s.Missing {
		case agent.MissingClosed:
			p.printf(" Without hookmux's program, the agent blocks every call.")
		case agent.MissingStuck:
			p.printf(" Without hookmux's program, the agent can't be used.")
		}
	}
	if len(s.Reads) > 0 {
		p.printf(" It also runs the hooks of %s.", strings.Join(s.Reads, ", "))
	}
	p.printf("\n\n")
}

// sentence begins with a capital letter.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func short(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + " s"
}

// inbox writes which requests you can answer from hookmux, and for how long.
func (p *page) inbox() {
	f := p.a.Inbox
	if f == nil {
		return
	}
	var kinds []string
	hidden := false
	for _, kind := range []struct {
		name string
		has  func(*agent.InboxPoint) bool
	}{
		{"permissions", func(at *agent.InboxPoint) bool { return len(at.Permission) > 0 }},
		{"questions", func(at *agent.InboxPoint) bool { return len(at.Question) > 0 }},
		{"plans", func(at *agent.InboxPoint) bool { return len(at.Plan) > 0 }},
	} {
		for _, name := range slices.Sorted(maps.Keys(f.Points)) {
			hidden = hidden || f.Points[name].Hidden
			if kind.has(f.Points[name]) {
				kinds = append(kinds, kind.name)
				break
			}
		}
	}
	wait := map[agent.WaitKind]string{
		agent.WaitDeadline: "as long as its hook may take", agent.WaitFull: "`inbox.wait` (two minutes)",
		agent.WaitBrief: short(time.Duration(f.Watched)) + " while a live view is open or notifications are on, otherwise " +
			short(time.Duration(f.Brief)) + ", and longer while you're away",
	}[f.Wait]
	p.printf("**[Inbox](../inbox.md)**: you answer its %s. A request waits %s. %s.", strings.Join(kinds, ", "), wait,
		ownPrompt(p.a))
	if hidden && f.Wait != agent.WaitFull {
		p.printf(" Dialogs that appear only after the hook wait `inbox.wait`.")
	}
	p.printf("\n\n")
}

// ownPrompt returns how hookmux notices an answer that you gave at the agent's own prompt.
func ownPrompt(a *agent.Agent) string {
	f := a.Inbox
	switch f.Prompt {
	case agent.PromptState, agent.PromptEvent:
		return "Its own prompt stays usable"
	}
	return "Its own prompt appears only after the hook returns"
}

// sessions writes how a session is resumed.
func (p *page) sessions() {
	r := p.a.Resume
	if r == nil {
		p.printf("**Resume**: not possible.\n")
		return
	}
	p.printf("**Resume**: `hookmux resume` runs `%s`", strings.Join(r.Argv, " "))
	if r.Keyed == "directory" {
		p.printf(" in the folder the session started in")
	}
	p.printf(".\n")
}
