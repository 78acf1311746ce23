// Package rules implements the small language in which users say what is allowed: rules in
// YAML over the facts of a tool call, with examples that must hold.
//
// Contract: deny beats ask beats warn beats allow, whichever comes first or is more specific.
// What isn't known isn't assumed to be harmless: a rule that needs a fact that is incomplete
// does what its onUnknown says. A rule that is wrong, or whose examples don't hold, isn't used
// and is reported with its file, line and column; its neighbours stay active. Deciding is pure.
package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/similar"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/programs"
)

// Verdict is a rule's decision.
type Verdict string

// The verdicts. NoVerdict means that a rule has no opinion.
const (
	NoVerdict Verdict = ""
	Allow     Verdict = "allow"
	Warn      Verdict = "warn"
	Ask       Verdict = "ask"
	Deny      Verdict = "deny"
)

// Verdicts lists the verdicts that a rule may have, from strong to weak.
func Verdicts() []Verdict { return []Verdict{Deny, Ask, Warn, Allow} }

// Strength orders verdicts: the strongest of several applies.
func (v Verdict) Strength() int { return slices.Index([]Verdict{NoVerdict, Allow, Warn, Ask, Deny}, v) }

// Mode says what happens if a rule matches.
type Mode string

// The modes. Block does what the rule decides, Asks turns a denial into a question, LogOnly
// only records what the rule would have done.
const (
	Block   Mode = "block"
	Asks    Mode = "ask"
	LogOnly Mode = "log"
	Off     Mode = "off"
)

// Modes lists the modes, from loose to tight.
func Modes() []Mode { return []Mode{Off, LogOnly, Asks, Block} }

// Layer is where a rule comes from. A layer can't loosen what an earlier one says.
type Layer string

// The layers.
const (
	System  Layer = "system" // of the administrator: no one can switch them off
	User    Layer = "user"
	Pack    Layer = "pack"
	Project Layer = "project" // only makes things tighter
)

// Rule is one rule as users write it.
type Rule struct {
	ID    string `yaml:"id" json:"id"`
	Why   string `yaml:"why" json:"why"` // read by the model and the user
	Match Match  `yaml:"match" json:"match"`
	When  string `yaml:"when" json:"when,omitempty"`
	// Check names a check in Go, FAMILY.NAME, in place of match and when, for what is too much
	// for an expression. Only built-in rules have one.
	Check string `yaml:"check" json:"check,omitempty"`
	// Claude holds permission rules in Claude Code's syntax, in place of match, when and decide.
	Claude    *ClaudeRules `yaml:"claude" json:"claude,omitempty"`
	Decide    Verdict      `yaml:"decide" json:"decide"`
	Mode      Mode         `yaml:"mode" json:"mode,omitempty"`
	OnUnknown string       `yaml:"onUnknown" json:"onUnknown,omitempty"` // deny, ask or ignore
	Agents    Patterns     `yaml:"agents" json:"agents,omitempty"`
	Projects  Patterns     `yaml:"projects" json:"projects,omitempty"`
	Expires   string       `yaml:"expires" json:"expires,omitempty"` // a day: 2026-12-31
	Examples  Examples     `yaml:"examples" json:"examples"`

	Layer  Layer  `yaml:"-" json:"layer"`
	File   string `yaml:"-" json:"file"`
	Line   int    `yaml:"-" json:"line"`
	Column int    `yaml:"-" json:"column"`

	when *condition // of When, nil without it
	// each says that When is about the command that was matched, and is evaluated for each.
	each bool
	// programs are those one of which must run for When to hold; nil: any.
	programs []string
	named    []string // the programs of Match if they are plain names, otherwise nil
	needs    facts.Set
	expires  time.Time
}

// Match narrows a rule to some calls. Every field that is set must hold; within one field, one
// of its patterns is enough. Fields about a command must hold for the same command, fields
// about a path for the same path, fields about a host for the same host; together with a
// command, a path or host must belong to that command.
type Match struct {
	// Event is a kind of event; tool.before and permission requests without it.
	Event Patterns `yaml:"event" json:"event,omitempty"`
	Tool  Patterns `yaml:"tool" json:"tool,omitempty"` // kind of tool: shell, file_write, fetch, mcp …
	Name  Patterns `yaml:"name" json:"name,omitempty"` // the agent's own name of the tool
	MCP   Patterns `yaml:"mcp" json:"mcp,omitempty"`   // server/tool
	Mode  Patterns `yaml:"mode" json:"mode,omitempty"`

	Attended Patterns `yaml:"attended" json:"attended,omitempty"` // yes, no
	Subagent *bool    `yaml:"subagent" json:"subagent,omitempty"`
	Branch   Patterns `yaml:"branch" json:"branch,omitempty"`

	Program    Patterns `yaml:"program" json:"program,omitempty"`
	Subcommand Patterns `yaml:"subcommand" json:"subcommand,omitempty"` // leading words: push, remote add
	Flags      Patterns `yaml:"flags" json:"flags,omitempty"`
	NoFlags    Patterns `yaml:"noFlags" json:"noFlags,omitempty"`
	Args       Patterns `yaml:"args" json:"args,omitempty"`
	Wrapper    Patterns `yaml:"wrapper" json:"wrapper,omitempty"`
	From       Patterns `yaml:"pipedFrom" json:"pipedFrom,omitempty"`
	To         Patterns `yaml:"pipedTo" json:"pipedTo,omitempty"`
	Env        Patterns `yaml:"env" json:"env,omitempty"`             // variables set for it: NAME, or NAME=value
	Text       Patterns `yaml:"text" json:"text,omitempty"`           // its words and known input, whatever their case
	Effect     Patterns `yaml:"effect" json:"effect,omitempty"`       // as its description says: deletes, deploys …
	Statement  Patterns `yaml:"statement" json:"statement,omitempty"` // of a database client: drop, write …
	Origin     Patterns `yaml:"origin" json:"origin,omitempty"`       // of the program text it runs: network, decoder …
	Contained  *bool    `yaml:"contained" json:"contained,omitempty"` // in a container

	Path      Patterns `yaml:"path" json:"path,omitempty"`
	Access    Patterns `yaml:"access" json:"access,omitempty"` // read, write, delete, change
	InProject *bool    `yaml:"inProject" json:"inProject,omitempty"`
	InHome    *bool    `yaml:"inHome" json:"inHome,omitempty"`
	Tracked   *bool    `yaml:"tracked" json:"tracked,omitempty"`
	Settings  *bool    `yaml:"settings" json:"settings,omitempty"` // what is written only sets variables and the like

	Host   Patterns `yaml:"host" json:"host,omitempty"`
	Scheme Patterns `yaml:"scheme" json:"scheme,omitempty"`
	Scope  Patterns `yaml:"scope" json:"scope,omitempty"` // loopback, private, public
}

func (m *Match) aboutCommand() bool {
	words := len(m.Program) + len(m.Subcommand) + len(m.Flags) + len(m.NoFlags) + len(m.Args)
	words += len(m.Env) + len(m.Text) + len(m.Statement) + len(m.Origin) + len(m.Effect)
	return words+len(m.Wrapper)+len(m.From)+len(m.To) > 0 || m.Contained != nil
}

func (m *Match) aboutPath() bool {
	return len(m.Path)+len(m.Access) > 0 || m.InProject != nil || m.InHome != nil || m.Tracked != nil ||
		m.Settings != nil
}

func (m *Match) aboutHost() bool { return len(m.Host)+len(m.Scheme)+len(m.Scope) > 0 }

// empty reports whether the match narrows nothing down.
func (m *Match) empty() bool {
	about := len(m.Event) + len(m.Tool) + len(m.Name) + len(m.MCP) + len(m.Mode) + len(m.Attended) + len(m.Branch)
	return about == 0 && m.Subagent == nil && !m.aboutCommand() && !m.aboutPath() && !m.aboutHost()
}

// Examples are calls that the rule must match, and calls that it must leave alone.
type Examples struct {
	Hit  []Example `yaml:"hit" json:"hit,omitempty"`
	Miss []Example `yaml:"miss" json:"miss,omitempty"`
}

// Example is one call. A plain text is a command.
type Example struct {
	Command string  `yaml:"command" json:"command,omitempty"`
	Tool    string  `yaml:"tool" json:"tool,omitempty"` // kind; shell for a command
	Name    string  `yaml:"name" json:"name,omitempty"`
	Read    string  `yaml:"read" json:"read,omitempty"`
	Write   string  `yaml:"write" json:"write,omitempty"`
	URL     string  `yaml:"url" json:"url,omitempty"`
	MCP     string  `yaml:"mcp" json:"mcp,omitempty"` // server/tool
	Agent   string  `yaml:"agent" json:"agent,omitempty"`
	Mode    string  `yaml:"mode" json:"mode,omitempty"`
	Branch  string  `yaml:"branch" json:"branch,omitempty"`
	Dirty   bool    `yaml:"dirty" json:"dirty,omitempty"`
	Remote  string  `yaml:"remote" json:"remote,omitempty"`
	Tracked bool    `yaml:"tracked" json:"tracked,omitempty"`
	Same    int     `yaml:"sameCall" json:"sameCall,omitempty"`
	Failed  int     `yaml:"sameFailure" json:"sameFailure,omitempty"`
	USD     float64 `yaml:"usd" json:"usd,omitempty"` // what the session, and today, used
	Tokens  int     `yaml:"tokens" json:"tokens,omitempty"`
	Turns   int     `yaml:"alternating" json:"alternating,omitempty"`
	// Programs describes programs, as your own file does.
	Programs string `yaml:"programs" json:"programs,omitempty"`
	// Subagent says that a subagent makes the call, Attended whether a user is present (yes, no),
	// Event which kind of event it is; tool.before if it is empty.
	Subagent bool   `yaml:"subagent" json:"subagent,omitempty"`
	Attended string `yaml:"attended" json:"attended,omitempty"`
	Event    string `yaml:"event" json:"event,omitempty"`
}

// UnmarshalYAML reads an example: a command, or an object.
func (e *Example) UnmarshalYAML(unmarshal func(any) error) error {
	var text string
	if err := unmarshal(&text); err == nil {
		e.Command = text
		return nil
	}
	type plain Example
	return unmarshal((*plain)(e))
}

// String returns the example as it was written.
func (e Example) String() string {
	for _, text := range []string{e.Command, e.Read, e.Write, e.URL, e.MCP, e.Name} {
		if text != "" {
			return text
		}
	}
	return "an example"
}

// maxWhen limits the length of an expression: its parser recurses as deep as there are
// brackets, and a stack overflow can't be caught.
const maxWhen = 16 << 10

// check returns what is wrong with a rule, in one line.
func (r *Rule) check() error {
	switch {
	case r.ID == "":
		return errors.New("the rule has no id")
	case strings.Contains(r.ID, "/"):
		return fmt.Errorf("id %q: rules of packs are called PACK/RULE; write it without /, like %s", r.ID,
			strings.ReplaceAll(r.ID, "/", "-"))
	case !idPattern.MatchString(r.ID):
		return fmt.Errorf("id %q: use small letters, digits, dots and dashes", r.ID)
	case r.Why == "":
		return errors.New("\"why\" is missing; the agent and you read it when the rule stops a call")
	case r.Claude == nil && r.Decide == "":
		return errors.New("\"decide\" is missing; write deny, ask, warn or allow")
	case r.Claude == nil && !slices.Contains([]Verdict{Deny, Ask, Warn, Allow}, r.Decide):
		if near := similar.Nearest(string(r.Decide), []string{string(Deny), string(Ask), string(Warn), string(Allow)}); near != "" {
			return fmt.Errorf("decide is %q; did you mean %s?", r.Decide, near)
		}
		return fmt.Errorf("decide is %q; it must be deny, ask, warn or allow", r.Decide)
	case !slices.Contains([]string{"", "deny", "ask", "ignore"}, r.OnUnknown):
		return fmt.Errorf("onUnknown is %q; it must be deny, ask or ignore", r.OnUnknown)
	case len(r.When) > maxWhen:
		return fmt.Errorf("when is longer than %d KiB", maxWhen>>10)
	case r.Check != "" && (!r.Match.empty() || r.When != "" || r.Claude != nil):
		return errors.New("a rule has either check, or match and when")
	case r.Claude == nil && r.Check == "" && r.Match.empty() && r.When == "":
		return errors.New("the rule has neither match nor when: it would hit everything")
	case r.Decide == Allow && r.Layer == Project:
		return errors.New("a project's rules cannot allow: they only make things tighter")
	case r.Claude == nil && len(r.Examples.Hit) == 0:
		return errors.New("the rule has no example that it hits (examples: hit:)")
	}
	if r.Claude != nil {
		if err := r.checkClaude(); err != nil {
			return err
		}
	}
	if r.Expires != "" {
		day, err := time.Parse(time.DateOnly, r.Expires)
		if err != nil {
			return fmt.Errorf("expires is %q; write a day, like 2026-12-31", r.Expires)
		}
		r.expires = day.AddDate(0, 0, 1)
	}
	for name, list := range map[string]Patterns{
		"access": r.Match.Access, "scope": r.Match.Scope, "attended": r.Match.Attended, "tool": r.Match.Tool,
		"statement": r.Match.Statement, "origin": r.Match.Origin, "effect": r.Match.Effect,
	} {
		for _, p := range list {
			if !slices.Contains(words[name], p.plain()) && !p.wild() {
				return fmt.Errorf("match.%s is %q; it may be %s", name, p.text, joinWords(words[name]))
			}
		}
	}
	return nil
}

// Words returns the allowed values of the fields of a match that have a fixed set of them.
func Words() map[string][]string { return maps.Clone(words) }

func effects() (out []string) {
	for _, e := range programs.Effects {
		out = append(out, string(e))
	}
	return out
}

// words holds the allowed values of fields that have a fixed set of them.
var words = map[string][]string{
	"access": {"read", "write", "delete", "change"}, "scope": {"loopback", "private", "public"},
	"statement": {"read", "write", "drop", "truncate", "delete-all", "update-all", "alter", "permission", "restore", "file"},
	"origin":    {"network", "decoder", "download", "binary"},
	"effect":    effects(),
	"attended":  {"yes", "no"},
	"tool": {"shell", "file_read", "file_write", "file_edit", "search", "fetch", "task", "mcp",
		"question", "plan", "other"},
}
