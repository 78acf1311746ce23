package policy

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/jsonx"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Scope is where a permission counts.
type Scope string

// The scopes.
const (
	InSession  Scope = "session"
	InProject  Scope = "project"
	Everywhere Scope = "everywhere"
)

// Scopes lists them, from narrow to wide.
func Scopes() []Scope { return []Scope{InSession, InProject, Everywhere} }

// Known reports whether s is one of [Scopes].
func (s Scope) Known() bool { return slices.Contains(Scopes(), s) }

// Rule is exactly what a permission lets pass. One of its parts is set.
type Rule struct {
	Command []string `json:"command,omitempty"` // a plain command, word for word
	Dir     string   `json:"dir,omitempty"`     // where it runs, when a word of it depends on that
	Writes  []string `json:"writes,omitempty"`  // files a tool of files may write or edit
	Host    string   `json:"host,omitempty"`    // scheme and host that may be fetched from
	Server  string   `json:"server,omitempty"`  // MCP server …
	Method  string   `json:"method,omitempty"`  // … and its tool, with any input
	Tool    string   `json:"tool,omitempty"`    // another tool, with exactly this input:
	Input   string   `json:"input,omitempty"`   // of a command: what the input says beside it
	All     bool     `json:"all,omitempty"`     // every call
}

// RuleFor returns the rule that "always" would save for a call, or an error for the user
// if no rule would mean the same every time.
func RuleFor(ev *event.Event) (Rule, error) {
	t := ev.Tool
	if t == nil {
		return Rule{}, fmt.Errorf("there is no call to allow")
	}
	if ev.Truncated || ev.Malformed != "" {
		return Rule{}, fmt.Errorf("the agent sent only a part of the input, so no rule can be made of it")
	}
	if len(t.Commands) > 0 {
		return commandRule(ev)
	}
	if (t.Kind == event.FileWrite || t.Kind == event.FileEdit) && len(t.Writes) > 0 {
		return writesRule(t.Writes, ev.Folder())
	}
	if t.Kind == event.Fetch && t.URL != "" {
		if host := hostOf(t.URL); host != "" {
			return Rule{Host: host}, nil
		}
		return Rule{}, fmt.Errorf("its address has no host")
	}
	if t.MCP != nil && t.MCP.Tool != "" {
		return Rule{Server: t.MCP.Server, Method: t.MCP.Tool}, nil
	}
	if t.Name == "" {
		return Rule{}, fmt.Errorf("the tool has no name")
	}
	input := jsonx.Canonical(t.CurrentInput())
	if len(input) > maxInput {
		return Rule{}, fmt.Errorf("its input is too long to be read in a permission")
	}
	return Rule{Tool: t.Name, Input: string(input)}, nil
}

// maxInput bounds the input a rule repeats.
const maxInput = 2000

func commandRule(ev *event.Event) (Rule, error) {
	t := ev.Tool
	if t.Kind != event.Shell || len(t.Commands) != 1 {
		return Rule{}, fmt.Errorf("it runs several commands at once")
	}
	words, ok := shell.Simple(t.Commands[0])
	if !ok {
		return Rule{}, fmt.Errorf("it isn't one plain command (one without pipes, redirections, variables, " +
			"patterns or wrappers such as sudo)")
	}
	rule := Rule{Command: words, Input: ExtraInput(t)}
	if len(rule.Input) > maxInput {
		return Rule{}, fmt.Errorf("its input is too long to be read in a permission")
	}
	if strings.Contains(words[0], "/") && !filepath.IsAbs(words[0]) {
		if ev.Folder() == "" {
			return Rule{}, fmt.Errorf("%s depends on the folder, and the agent did not say which", words[0])
		}
		rule.Dir = filepath.Clean(ev.Folder())
	}
	return rule, nil
}

// Matches reports whether the rule lets exactly this call pass.
func (r *Rule) Matches(ev *event.Event) bool {
	if ev.Tool == nil || ev.Truncated || ev.Malformed != "" {
		return false
	}
	if r.All {
		return true
	}
	other, err := RuleFor(ev)
	if err != nil {
		return false
	}
	if len(r.Writes) > 0 {
		return len(other.Writes) > 0 && !slices.ContainsFunc(other.Writes,
			func(p string) bool { return !slices.Contains(r.Writes, p) })
	}
	return slices.Equal(r.Command, other.Command) && len(other.Writes) == 0 &&
		r.Dir == other.Dir && r.Host == other.Host && r.Server == other.Server && r.Method == other.Method &&
		r.Tool == other.Tool && r.Input == other.Input
}

// Text returns the rule as you read it before it is saved.
func (r *Rule) Text() string {
	var s string
	switch {
	case r.All:
		s = "every tool call"
	case len(r.Command) > 0:
		s = "run exactly: " + shellquote.Arguments(r.Command)
		if r.Dir != "" {
			s += " (in " + r.Dir + ")"
		}
		if r.Input != "" {
			s += ", with " + r.Input
		}
	case len(r.Writes) > 0:
		s = "write and edit: " + strings.Join(r.Writes, ", ")
	case r.Host != "":
		s = "fetch anything from " + r.Host
	case r.Method != "":
		s = "call " + r.Method
		if r.Server != "" {
			s += " of the MCP server " + r.Server
		}
		s += ", with any input"
	default:
		s = "use " + r.Tool + " with exactly this input: " + r.Input
	}
	return termsafe.Line(s, 0)
}

// writesRule returns the rule for files that a tool writes: those that the names lead to now.
// A name that leads to another file later is another rule.
func writesRule(named []string, folder string) (Rule, error) {
	out := make([]string, len(named))
	for i, p := range named {
		if !filepath.IsAbs(p) {
			p = filepath.Join(folder, p)
		}
		out[i] = paths.Real(p)
		if paths.HasSeveralNames(out[i]) {
			return Rule{}, fmt.Errorf("%s has several names (hard links), so a rule for this one would be about the "+
				"others as well", out[i])
		}
	}
	slices.Sort(out)
	return Rule{Writes: slices.Compact(out)}, nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// SavedPermission is a saved yes.
type SavedPermission struct {
	ID      string    `json:"id"`
	Agent   string    `json:"agent"`
	Scope   Scope     `json:"scope"`
	Session string    `json:"session,omitempty"`
	Project string    `json:"project,omitempty"`
	Rule    Rule      `json:"rule"`
	Asked   string    `json:"asked,omitempty"` // the hook whose question it answers as well
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`
	By      string    `json:"by,omitempty"`
}

// Covers reports whether a permission answers a request for a call: its rule matches, in
// its scope, in its time. A permission that was given when only the agent asked doesn't
// answer a hook that wants you to look.
func (g *SavedPermission) Covers(ev *event.Event, project string, need Need, now time.Time) bool {
	if need.Kind != Permission || need.Unseen || need.Asked != "" && need.Asked != g.Asked {
		return false
	}
	if g.Agent != ev.Agent || !g.Expires.IsZero() && !now.Before(g.Expires) {
		return false
	}
	switch g.Scope {
	case InSession:
		if g.Session == "" || g.Session != ev.Session {
			return false
		}
	case InProject:
		if g.Project == "" || g.Project != project {
			return false
		}
	case Everywhere:
	default:
		return false
	}
	return g.Rule.Matches(ev)
}

// Reach says where and how long a permission counts.
func (g *SavedPermission) Reach() string {
	var s string
	switch g.Scope {
	case InSession:
		s = g.Agent + ", this session"
	case InProject:
		s = g.Agent + ", in " + g.Project
	default:
		s = g.Agent + ", everywhere"
	}
	if !g.Expires.IsZero() {
		s += ", until " + g.Expires.Local().Format("2006-01-02 15:04")
	}
	return termsafe.Line(s, 0)
}
