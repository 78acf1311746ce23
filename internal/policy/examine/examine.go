// Package examine asks guards and rules about one call, and returns the result as data and as
// text.
package examine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/rules"
)

// Examination is the result of examining a call with guards and rules.
type Examination struct {
	Command string `json:"command,omitempty"` // the first command line of the call
	// Error is why it isn't valid shell.
	Error string `json:"error,omitempty"`
	Runs  []Run  `json:"runs"`
	// Facts are all facts about the call.
	Facts *facts.Facts `json:"facts,omitempty"`
	// Findings are the guards and rules that match, in any mode.
	Findings []Finding `json:"findings"`
	// Messages are the findings as text, in the same order.
	Messages []string `json:"messages"`
	// Verdict is the overall verdict: deny, ask, allow, or none.
	Verdict string `json:"verdict"`
	By      string `json:"by,omitempty"`   // the guard, or guard.rules
	Rule    string `json:"rule,omitempty"` // that settled it
	Reason  string `json:"reason,omitempty"`
}

// Run is one command that a line really runs.
type Run struct {
	Program   string   `json:"program"`
	Argv      []string `json:"argv"`
	Via       []string `json:"via,omitempty"`     // wrappers, outermost first
	Dynamic   []string `json:"dynamic,omitempty"` // words only the running shell knows
	Redirects []string `json:"redirects,omitempty"`
	PipedFrom []string `json:"pipedFrom,omitempty"`
	Remote    bool     `json:"remote,omitempty"`
	Contained bool     `json:"contained,omitempty"`
}

// Finding is the verdict of one rule, a guard's or your own.
type Finding struct {
	Guard   string `json:"guard,omitempty"` // "" for one of your own rules
	Rule    string `json:"rule"`
	Mode    string `json:"mode"`             // off, log, ask, block
	Paused  bool   `json:"paused,omitempty"` // it only logs for a while
	Allowed bool   `json:"allowed,omitempty"`
	Verdict string `json:"verdict"` // what it decides in mode block
	Reason  string `json:"reason"`
	Where   string `json:"where,omitempty"`
	Layer   string `json:"layer,omitempty"` // system, user, pack, project
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Unsure  bool   `json:"unsure,omitempty"` // a fact that it needs is not known
}

// Lines returns the examination as readable text.
func (e *Examination) Lines() []string {
	var lines []string
	say := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if e.Error != "" {
		say("not valid shell: %s", e.Error)
	}
	for _, r := range e.Runs {
		line := "runs  " + strings.Join(r.Argv, " ")
		if len(r.Via) > 0 {
			line += "   (through " + strings.Join(r.Via, ", ") + ")"
		}
		if len(r.PipedFrom) > 0 {
			line += "   (fed by " + strings.Join(r.PipedFrom, ", ") + ")"
		}
		lines = append(lines, line)
	}
	lines = append(lines, describeFacts(e.Facts)...)
	guards := 0
	for i := range e.Findings {
		if e.Findings[i].Guard != "" {
			guards++
		}
		lines = append(lines, e.Findings[i].String())
		if e.Findings[i].Guard != "" && e.Findings[i].passable() {
			say("      allow it once: %s", event.AllowOnce(e.Findings[i].Rule))
		}
	}
	if guards == 0 {
		say("no guard matches")
	}
	if guards == len(e.Findings) {
		say("no rule matches")
	}
	switch {
	case e.Verdict == "none" && strings.TrimSpace(e.Error) != "":
		say("result  hookmux can't read this command; a shell would refuse it, too")
	case e.Verdict == "none" && len(e.Findings) > 0:
		say("result  nothing stops this: %s", e.whyNothingStops())
	case e.Verdict == "none":
		say("result  no guard or rule matches: hooks and the agent's own settings decide")
	case slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Rule == e.Rule }):
		say("result  %s, by %s", e.Verdict, e.Rule)
	case e.Rule != "": // a budget: no line above explains it
		say("result  %s, by %s: %s", e.Verdict, e.Rule, e.Reason)
	default:
		say("result  %s: %s", e.Verdict, e.Reason)
	}
	return lines
}

// whyNothingStops returns why what matches doesn't stop the call, and what would.
func (e *Examination) whyNothingStops() string {
	var off []string
	for _, f := range e.Findings {
		if f.Guard != "" && f.Mode == string(rules.Off) && !slices.Contains(off, f.Guard) {
			off = append(off, f.Guard)
		}
	}
	if len(off) > 0 {
		return "the guards that match are off (`hookmux guard on " + strings.Join(off, " ") + "` turns them on)"
	}
	return "what matches only logs, is off, paused or has an exception"
}

// Add adds a finding.
func (e *Examination) Add(f Finding) {
	e.Findings, e.Messages = append(e.Findings, f), append(e.Messages, f.Message())
}

// Message returns what a finding is about, and how you allow it.
func (f *Finding) Message() string {
	if !f.passable() {
		return f.about()
	}
	return f.about() + " (" + event.AllowCommands(f.Rule) + ")"
}

func (f *Finding) about() string {
	text := f.Rule + ": " + f.Reason
	if f.Where != "" {
		text += " [" + f.Where + "]"
	}
	return text
}

// passable reports whether an exception would let the call pass: what stops nothing needs none,
// and the system's rules accept none.
func (f *Finding) passable() bool {
	stops := f.Verdict == string(rules.Deny) || f.Verdict == string(rules.Ask)
	blocks := f.Mode == string(rules.Block) || f.Mode == string(rules.Asks)
	return stops && blocks && f.Layer != string(rules.System)
}

// String returns a finding as readable text.
func (f *Finding) String() string {
	mode := f.Mode
	switch {
	case f.Paused:
		mode += ", paused"
	case f.Allowed:
		mode += ", exception"
	case mode == "":
		mode = "mode not known"
	}
	if f.Guard != "" {
		return fmt.Sprintf("guard %s (%s): %s", f.Guard, mode, f.about())
	}
	line := fmt.Sprintf("rule %s (%s): %s: %s", f.Rule, mode, f.Verdict, f.Reason)
	if f.Where != "" {
		line += " [" + f.Where + "]"
	}
	if f.Unsure {
		line += ", though not everything about this call is known"
	}
	return line + fmt.Sprintf("  (%s:%d)", f.File, f.Line)
}

// describeFacts describes what a call touches.
func describeFacts(f *facts.Facts) []string {
	if f == nil {
		return nil
	}
	var lines []string
	for _, access := range []facts.Access{facts.Read, facts.Write, facts.Delete, facts.Use} {
		var list []string
		for _, p := range f.Paths {
			if p.Access == access {
				name := p.Path
				if !p.Known {
					name += " (not known)"
				}
				list = append(list, name)
			}
		}
		if len(list) > 0 {
			lines = append(lines, "fact  "+accessWords[access]+" "+joinSome(list))
		}
	}
	var hosts []string
	for _, d := range f.Net {
		host := d.Host
		if !d.Known || host == "" {
			hosts = append(hosts, "an unknown host")
			continue
		}
		hosts = append(hosts, host+" ("+d.Scope+")")
	}
	if len(hosts) > 0 {
		lines = append(lines, "fact  talks to "+joinSome(hosts))
	}
	if f.MCP.Server != "" {
		lines = append(lines, "fact  calls "+f.MCP.Tool+" of the MCP server "+f.MCP.Server)
	}
	if f.Git.Branch != "" {
		lines = append(lines, "fact  on branch "+f.Git.Branch)
	}
	var unknown []string
	for _, n := range f.Unknown {
		// Outside of a repository git's facts aren't known, which means little.
		if n == facts.CommandsFact || n == facts.PathsFact || n == facts.NetFact {
			unknown = append(unknown, string(n))
		}
	}
	if len(unknown) > 0 {
		lines = append(lines, "fact  not known: "+strings.Join(unknown, ", "))
	}
	return lines
}

var accessWords = map[facts.Access]string{
	facts.Read: "reads", facts.Write: "writes", facts.Delete: "deletes", facts.Use: "uses",
}

// joinSome joins the first few of a list.
func joinSome(list []string) string {
	const most = 8
	if len(list) > most {
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", len(list)-most)
	}
	return strings.Join(list, ", ")
}
