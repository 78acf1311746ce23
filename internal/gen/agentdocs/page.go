package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/agentfacts"
	"github.com/hookmux/hookmux/internal/verify/recordings"
)

// agentPage is the page of one agent: the summary, then the details.
func agentPage(a *agent.Agent, seen recordings.Summary) string {
	p := page{f: agentfacts.Facts{Agent: a, Seen: seen}, a: a}
	p.summary()
	p.events()
	p.answers()
	p.timeLimits()
	p.inbox()
	p.sessions()
	p.files()
	p.proof()
	return p.String()
}

// page is one that is being written.
type page struct {
	strings.Builder
	f agentfacts.Facts
	a *agent.Agent
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(&p.Builder, format, args...) }

func (p *page) summary() {
	a, f := p.a, p.f
	p.printf("%s# %s\n\n[All agents](../agents.md)\n\n", generated, a.Title)
	p.printf("**What hooks can do here**: %s.\n\n", canDo(f))
	p.printf("**How it's known**: %s", f.Evidence())
	switch {
	case f.Verified():
		p.printf(", last verified with %s on %s", f.Seen.Version, f.Seen.Day)
	case a.Tried != "":
		p.printf(", tried with version %s", a.Tried)
	}
	p.printf(".\n\n")
	p.install()
	if len(a.Notes) > 0 {
		p.printf("**What to look out for**\n\n")
		for _, n := range a.Notes {
			p.printf("- %s\n", n)
		}
		p.printf("\n")
	}
}

// canDo lists what a hook can do and what it cannot, with what was proven.
func canDo(f agentfacts.Facts) string {
	var can, cannot []string
	for _, ability := range agentfacts.Abilities() {
		switch {
		case f.Proven(ability.Claim):
			can = append(can, ability.Verb+" ✓")
		case f.Claims(ability.Claim):
			can = append(can, ability.Verb)
		default:
			cannot = append(cannot, ability.Verb)
		}
	}
	switch {
	case len(f.Agent.Events) == 0:
		return "nothing, it has none"
	case len(can) == 0:
		return "hear of what happens, and nothing else"
	case len(cannot) == 0:
		return strings.Join(can, ", ")
	}
	return strings.Join(can, ", ") + "; not: " + strings.Join(cannot, ", ")
}

// install says how hookmux gets in.
func (p *page) install() {
	a := p.a
	s := a.Install
	if s == nil {
		p.printf("**Install**: hookmux does not write itself into it.\n\n")
		return
	}
	what := map[agent.Way]string{
		agent.WayEntries: "adds entries to", agent.WayFile: "writes a file of its own,",
		agent.WayPlugin: "writes a plugin,",
	}[s.Way]
	if what == "" {
		what = "writes"
	}
	var user, project []string
	for _, place := range s.Places {
		path := "`" + place.Path + "`"
		if place.Env != "" {
			path += " (moved by `" + place.Env + "`)"
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
			p.printf("; ")
		}
		p.printf("`hookmux install %s --project` %s %s", a.Name, what, strings.Join(project, " or "))
	}
	p.printf(". %s.", sentence(s.Pickup.Say))
	if s.Trust.Say != "" {
		p.printf(" %s.", sentence(s.Trust.Say))
	}
	if s.Missing != "" {
		p.printf(" When the program of a hook is gone, %s.", missingWords(s.Missing))
		if s.Missing != agent.MissingOpen && s.Handler.Form == "line" {
			p.printf(" hookmux's own line ends quietly then, so that the agent goes on.")
		}
	}
	if len(s.Reads) > 0 {
		p.printf(" It runs the hooks of %s as well.", strings.Join(s.Reads, ", "))
	}
	p.printf("\n\n")
}

func missingWords(m agent.Missing) string {
	switch m {
	case agent.MissingClosed:
		return "it refuses calls"
	case agent.MissingStuck:
		return "it cannot be used"
	}
	return "it goes on"
}

// sentence begins with a capital letter.
func sentence(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (p *page) events() {
	p.printf("## Events\n\n`hookmux-hook %s EVENT`", p.a.Name)
	if len(p.a.Aliases) > 0 {
		p.printf(" (also `%s`)", strings.Join(p.a.Aliases, "`, `"))
	}
	p.printf("\n\n| Event | Means | Installed | Takes |\n|---|---|---|---|\n")
	answers := p.f.Answers()
	var why []string
	for _, e := range p.a.Events {
		var takes []string
		for _, answer := range answers {
			if answer.Event == e.Name {
				takes = append(takes, answer.Words())
			}
		}
		if len(takes) == 0 {
			takes = []string{"nothing"}
		}
		if e.Why != "" {
			why = append(why, fmt.Sprintf("- `%s` is %s: %s.", e.Name, installWord(e.Install), e.Why))
		}
		p.printf("| `%s`%s | %s | %s | %s |\n", e.Name, spaced(p.f.MarkOf(e.Name, "")), e.Kind,
			installWord(e.Install), strings.Join(takes, ", "))
	}
	if len(why) > 0 {
		p.printf("\n%s\n", strings.Join(why, "\n"))
	}
}

func spaced(mark string) string {
	if mark == "" {
		return ""
	}
	return " " + mark
}

func installWord(i agent.Install) string {
	if i == agent.InstallDefault {
		return "yes"
	}
	return string(i)
}

func (p *page) answers() {
	answers := p.f.Answers()
	if len(answers) == 0 {
		p.printf("\n## Answers\n\nNone: whatever a hook prints changes nothing.\n")
		return
	}
	p.printf("\n## Answers\n\n| Answer | At | Known from | Verified |\n|---|---|---|---|\n")
	for _, ability := range agentfacts.Abilities() {
		for _, answer := range answers {
			if answer.Claim != ability.Claim {
				continue
			}
			mark := dash(answer.Mark)
			if mark == "✓" {
				mark += " " + p.f.Seen.Version
			}
			p.printf("| %s | `%s` | %s | %s |\n", answer.Words(), answer.Event, cell(answer.Proof), mark)
		}
	}
}

func (p *page) timeLimits() {
	limits := p.f.TimeLimits()
	if len(limits) == 0 {
		return
	}
	p.printf("\n## Timeouts\n\n| It waits by itself | hookmux asks for | At most | Events |\n|---|---|---|---|\n")
	for _, l := range limits {
		most := "–"
		if l.Most != 0 {
			most = short(l.Most)
		}
		p.printf("| %s | %s | %s | %s |\n", short(l.Default), short(l.Asked), most, "`"+
			strings.Join(l.Events, "` `")+"`")
	}
}

func short(d time.Duration) string {
	if d == 0 {
		return "?"
	}
	return strconv.FormatFloat(d.Seconds(), 'g', -1, 64) + " s"
}

// inbox says what a person can answer from elsewhere.
func (p *page) inbox() {
	f := p.a.Inbox
	if f == nil {
		return
	}
	hold := map[agent.Hold]string{
		agent.HoldDeadline: "as long as its hook may take", agent.HoldWait: "as long as `inbox.wait` says",
		agent.HoldBrief: short(time.Duration(f.Brief)) + ", longer while you are away",
	}[f.Hold]
	p.printf("\n## Approvals\n\nIn the [inbox](../inbox.md): held %s. %s.\n\n", hold, signOf(p.a))
	for _, name := range slices.Sorted(maps.Keys(f.Points)) {
		at := f.Points[name]
		var parts []string
		for _, kind := range []struct {
			name  string
			words string
		}{{"permissions", words(at.Permission)}, {"questions", words(at.Question)}, {"plans", words(at.Plan)}} {
			if kind.words != "" {
				parts = append(parts, kind.name+" "+kind.words)
			}
		}
		if at.Hidden {
			parts = append(parts, "its own dialog appears only after the hook returned, so that this is held as "+
				"long as `inbox.wait` says")
		}
		p.printf("- `%s`: %s\n", name, strings.Join(parts, "; "))
	}
}

// signOf names the first sign of an answer in the agent's own window.
func signOf(a *agent.Agent) string {
	f := a.Inbox
	switch f.Window {
	case agent.WindowState:
		return fmt.Sprintf("The first sign that it was answered in its own window: `%s` in `%s`, seen from its "+
			"transcript, is no longer `%s`", f.State.Status, f.State.Path, f.State.Waiting)
	case agent.WindowEvent:
		var names []string
		for _, e := range a.Events {
			if e.Kind == event.PermissionResolved || f.Answered[e.Name] != "" {
				names = append(names, "`"+e.Name+"`")
			}
		}
		return "The first sign that it was answered in its own window: " + strings.Join(names, ", ")
	}
	return "Nothing waits here while it could be answered in its own window: its dialog appears only after the hook " +
		"returned"
}

func words[T ~string](list []T) string {
	var out []string
	for _, w := range list {
		out = append(out, string(w))
	}
	return strings.Join(out, ", ")
}

// sessions says how sessions are named, read and taken up again.
func (p *page) sessions() {
	p.printf("\n## Sessions and resume\n\n")
	if r := p.a.Resume; r != nil {
		p.printf("`hookmux resume` runs `%s`", strings.Join(r.Argv, " "))
		if r.Keyed == "directory" {
			p.printf(" in the folder the session was started in")
		}
		p.printf(".")
		if len(r.Fork) > 0 {
			p.printf(" A copy of the session: `%s`.", strings.Join(r.Fork, " "))
		}
		p.printf("\n")
	} else {
		p.printf("No session of it can be taken up again by hookmux.\n")
	}
	if s := p.a.Status; len(s.Titles) > 0 {
		p.printf("\nTitles come from, best first: %s.\n", strings.Join(s.Titles, ", "))
	}
	if t := p.a.Status.Transcript; t.Format != "" {
		p.printf("\nIts record of a session lies below `%s`.\n", t.Root)
	}
}

func (p *page) files() {
	if len(p.a.Files) == 0 {
		return
	}
	p.printf("\n## Files that hold its hooks\n\n")
	for _, f := range p.a.Files {
		p.printf("- %s: `%s`", f.Scope, f.Path)
		if f.Env != "" {
			p.printf(" (moved by `%s`)", f.Env)
		}
		p.printf("\n")
	}
}

// proof sums the last recorded run up.
func (p *page) proof() {
	s := p.f.Seen
	p.printf("\n## Proof\n\n")
	switch {
	case s.Version == "":
		p.printf("No verification was recorded.\n")
		return
	case p.f.RawOnly():
		p.printf("Driven with version %s on %s (%s), claims not verified:\n\n", s.Version, s.Day, s.Platform)
	default:
		p.printf("Verified with version %s on %s (%s): %d ✓, %d ✗, %d –.\n\n", s.Version, s.Day, s.Platform,
			p.f.Count("✓"), p.f.Count("✗"), p.f.Count("–"))
	}
	for _, r := range s.Rows {
		if r.Event == "" {
			p.printf("- %s %s: %s\n", r.Mark, r.Check, cell(r.Why))
		}
	}
}
