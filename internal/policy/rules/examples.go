package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Where examples happen.
const (
	exampleHome    = "/home/you"
	exampleProject = "/home/you/project"
)

// event returns the tool call that an example represents.
func (e Example) event() *event.Event {
	t := &event.Tool{Name: e.Name, Kind: event.ToolKind(e.Tool), URL: e.URL}
	switch {
	case e.Command != "":
		t.Commands = []string{e.Command}
		setDefault(t, event.Shell, "Bash")
	case e.Write != "":
		t.Writes = []string{e.Write}
		setDefault(t, event.FileWrite, "Write")
	case e.Read != "":
		t.Reads = []string{e.Read}
		setDefault(t, event.FileRead, "Read")
	case e.URL != "":
		setDefault(t, event.Fetch, "WebFetch")
	case e.MCP != "":
		server, tool, _ := strings.Cut(e.MCP, "/")
		t.MCP = &event.MCPCall{Server: server, Tool: tool}
		setDefault(t, event.MCP, "mcp__"+server+"__"+tool)
	}
	agent := e.Agent
	if agent == "" {
		agent = "claude"
	}
	ev := &event.Event{
		Kind: event.ToolBefore, Agent: agent, Mode: e.Mode, Cwd: exampleProject, Session: "example", Tool: t,
		Attended: event.Attended(e.Attended),
	}
	if e.Subagent {
		ev.Subagent = &event.Subagent{ID: "example"}
	}
	if e.Event != "" {
		ev.Kind = event.Kind(e.Event)
	}
	return ev
}

func setDefault(t *event.Tool, kind event.ToolKind, name string) {
	if t.Kind == "" {
		t.Kind = kind
	}
	if t.Name == "" {
		t.Name = name
	}
}

// exampleRepository is the repository of an example.
type exampleRepository struct{ e Example }

func (r exampleRepository) Root() string { return exampleProject }

func (r exampleRepository) Branch() (string, bool) {
	if r.e.Branch == "" {
		return "feature", true
	}
	return r.e.Branch, true
}

func (r exampleRepository) Remote() (string, bool) {
	if r.e.Remote == "" {
		return "git@git.example.com:you/project.git", true
	}
	return r.e.Remote, true
}
func (r exampleRepository) Dirty() (dirty, ok bool)           { return r.e.Dirty, true }
func (r exampleRepository) Tracked(string) (tracked, ok bool) { return r.e.Tracked, true }
func (r exampleRepository) find(string) facts.Repository      { return r }
func (e Example) counts(*event.Event) (facts.Counts, bool) {
	return facts.Counts{SameCall: max(e.Same, 1), CallsThisTurn: max(e.Same, 1), SameFailure: e.Failed,
		FailuresInRow: e.Failed, Alternating: e.Turns}, true
}

func (e Example) usage(*event.Event) (facts.Usage, bool) {
	used := facts.Amount{USD: e.USD, Tokens: e.Tokens}
	return facts.Usage{Session: used, Today: used}, true
}

// Facts returns the facts of the call that an example represents.
func (e Example) Facts(need facts.Set) *facts.Facts {
	o := facts.Options{Home: exampleHome, Git: exampleRepository{e}.find, Counts: e.counts, Usage: e.usage}
	if own, err := programs.Parse("example", []byte(e.Programs)); err == nil && len(own) > 0 {
		table := programs.NewTable(own)
		o.Parse = func(text string) *shell.Script { s := shell.ParseWith(table, text); return &s }
	}
	return facts.Collect(e.event(), exampleProject, need, o)
}

// tryExamples runs the examples of a rule, regardless of its mode, agents and projects.
func (r *Rule) tryExamples() error {
	plain := *r
	plain.Agents, plain.Projects, plain.Mode, plain.expires = nil, nil, Block, time.Time{}
	set := NewSet([]*Rule{&plain}, Options{Home: exampleHome})
	for _, e := range r.Examples.Hit {
		if got := set.Decide(e.Facts(r.needs)); got.Verdict == NoVerdict {
			return fmt.Errorf("its example is not hit: %s", e)
		}
	}
	for _, e := range r.Examples.Miss {
		got := set.Decide(e.Facts(r.needs))
		if got.Verdict == NoVerdict {
			continue
		}
		if h := got.Decisive(); h != nil && !h.Certain {
			return fmt.Errorf("it may hit an example that it should miss, because a fact is not known: %s", e)
		}
		return fmt.Errorf("it hits an example that it should miss: %s", e)
	}
	return nil
}
