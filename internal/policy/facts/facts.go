// Package facts describes what a tool call does, in terms that rules can be written about:
// which commands really run, what they read, write and delete, which hosts they talk to, what
// goes where, and where all of that happens.
//
// Contract: what isn't known is never assumed to be harmless. A fact that could not be found
// out is in Facts.Unknown by its name, and a command, path or destination that is known only
// in part says so itself. Collect is pure except for the few files of git's own that
// [Options.Git] reads, and only for facts that were asked for.
package facts

import (
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/shell"
)

// Version is the version of the facts' format. It grows when a fact changes its meaning; new
// facts don't change it.
const Version = 1

// Facts holds everything known about one tool call.
type Facts struct {
	Version      int    `json:"version" expr:"version"`
	Event        string `json:"event" expr:"event"` // kind of the event, tool.before for most
	Agent        string `json:"agent" expr:"agent"`
	AgentVersion string `json:"agentVersion,omitempty" expr:"agentVersion"`
	Mode         string `json:"mode,omitempty" expr:"mode"` // the agent's own word for how much it asks
	Attended     string `json:"attended,omitempty" expr:"attended"`
	Subagent     bool   `json:"subagent,omitempty" expr:"subagent"`
	Session      string `json:"session,omitempty" expr:"session"`
	Project      string `json:"project,omitempty" expr:"project"`
	Cwd          string `json:"cwd,omitempty" expr:"cwd"`
	// Tool holds the agent's name for the tool and its kind.
	Tool Tool `json:"tool" expr:"tool"`
	MCP  MCP  `json:"mcp,omitzero" expr:"mcp"`

	Commands []Command     `json:"commands,omitempty" expr:"commands"`
	Paths    []Path        `json:"paths,omitempty" expr:"paths"`
	Net      []Destination `json:"net,omitempty" expr:"net"`
	Flows    []Flow        `json:"flows,omitempty" expr:"flows"`
	Git      Git           `json:"git,omitzero" expr:"git"`
	Counts   Counts        `json:"counts,omitzero" expr:"counts"`
	Usage    Usage         `json:"usage,omitzero" expr:"usage"`

	// Unknown names the facts that could not be found out.
	Unknown []Name `json:"unknown,omitempty" expr:"unknown"`

	source Source
	// setsVariables says that the call sets variables for what comes after them (PATH=/x; ls).
	setsVariables bool
	// call, input, lines and resolve are for checks in Go.
	call    Call
	input   InputPaths
	lines   []Line
	resolve func(path string) string
}

// Line is one command line of a call.
type Line struct {
	Text string
	// Script has the names that patterns match after each of them.
	Script *shell.Script
	// Found lists those names in full, one per line.
	Found string
	real  map[string]realPath
}

// Lines returns the command lines that were read.
func (f *Facts) Lines() []Line { return f.lines }

// Input returns what the raw input of an unknown tool names.
func (f *Facts) Input() InputPaths { return f.input }

// ScopeOf returns the scope in which checks of one of its lines work, of the tool's own paths if
// line is nil.
func (f *Facts) ScopeOf(line *Line, report *Report) *Scope {
	if line == nil {
		return NewScope(&f.call, nil, report, f.resolve)
	}
	x := NewScope(&f.call, line.Script, report, f.resolve)
	x.real = line.real
	return x
}

// SetsVariables reports whether the call sets variables that anything it runs later may see.
func (f *Facts) SetsVariables() bool { return f.setsVariables }

// Source is the origin of facts, for rules in another program's syntax, which look at the
// call itself.
type Source struct {
	Event   *event.Event // nil for facts that were written by hand
	Resolve func(path string) string
	// Folder is the folder that a rule's projects are compared with: the call's own, or where its
	// session started.
	Folder string
	// StartUnknown says that it isn't known where the session started.
	StartUnknown bool
}

// SourceOf returns what facts were collected from.
func SourceOf(f *Facts) Source { return f.source }

// Tool is the tool of a call.
type Tool struct {
	Name string `json:"name" expr:"name"` // the agent's own name
	Kind string `json:"kind" expr:"kind"` // shell, file_read, file_write, file_edit, search, fetch, task, mcp, …
}

// MCP names the server whose tool is called.
type MCP struct {
	Server string `json:"server,omitempty" expr:"server"`
	Tool   string `json:"tool,omitempty" expr:"tool"`
}

// Command is one program that the call runs, without its wrappers.
type Command struct {
	Program string `json:"program" expr:"program"` // base name; "" when it is not known
	// Subcommand is the first word of a program that has subcommands: push of git push.
	Subcommand string   `json:"subcommand,omitempty" expr:"subcommand"`
	Argv       []string `json:"argv" expr:"argv"`
	// Flags are its options, clusters split up (-rf is -r and -f) and values cut off; Args is what
	// is neither an option nor the subcommand.
	Flags    []string `json:"flags,omitempty" expr:"flags"`
	Args     []string `json:"args,omitempty" expr:"args"`
	Wrappers []string `json:"wrappers,omitempty" expr:"wrappers"` // sudo, env, sh -c …, outermost first
	// From are the programs piped into it, To those it is piped into.
	From []string `json:"from,omitempty" expr:"from"`
	To   []string `json:"to,omitempty" expr:"to"`

	Reads   []string `json:"reads,omitempty" expr:"reads"`
	Writes  []string `json:"writes,omitempty" expr:"writes"`
	Deletes []string `json:"deletes,omitempty" expr:"deletes"`
	Hosts   []string `json:"hosts,omitempty" expr:"hosts"`

	// Complete says that every word is known before the command runs. Dynamic are the words that
	// aren't.
	Complete bool     `json:"complete" expr:"complete"`
	Dynamic  []string `json:"dynamic,omitempty" expr:"dynamic"`
	// Env are the variables that are set for it, NAME=value.
	Env []string `json:"env,omitempty" expr:"env"`
	// Statements are the kinds of statements a database client is given: read, write, drop,
	// truncate, delete-all, update-all, alter, permission, restore; file if they are in a file.
	Statements []string `json:"statements,omitempty" expr:"statements"`
	// Effects lists what these words do by the program's description: deletes, disables, deploys,
	// grants, publishes, opens, prints-secret, may-delete.
	Effects []string `json:"effects,omitempty" expr:"effects"`
	// Origin is where the text it executes as its program comes from: network, decoder, download
	// (a script this call saved), binary (anything else it saved).
	Origin string `json:"origin,omitempty" expr:"origin"`
	// Listed says that its arguments come from another command, as with xargs or $(…).
	Listed bool `json:"listed,omitempty" expr:"listed"`
	// Polls says that it only checks a status, which is normally repeated.
	Polls bool `json:"polls,omitempty" expr:"polls"`
	// Remote runs on another machine, Contained in a container.
	Remote    bool   `json:"remote,omitempty" expr:"remote"`
	Contained bool   `json:"contained,omitempty" expr:"contained"`
	Text      string `json:"text" expr:"text"` // readable text

	operands []Operand
	flags    []Operand
	given    func() string
	line     int
}

// Given returns all text that the command is given, in lower case: its words, and its input
// as far as that is known.
func (c *Command) Given() string {
	if c.given == nil {
		return strings.ToLower(strings.Join(c.Argv, " "))
	}
	return c.given()
}

// Line returns the index of the command line that it is part of, among the call's lines.
func (c *Command) Line() int { return c.line }

// Operand is one word of a command as rules match it.
type Operand struct {
	Text string
	// Dynamic: only the running shell knows the word. Pattern: the shell replaces it
	// by names of files.
	Dynamic, Pattern bool
}

// Operands returns the words that aren't options, including the subcommand.
func (c *Command) Operands() []Operand { return c.operands }

// Options returns the words that are options, as they were written.
func (c *Command) Options() []Operand { return c.flags }

// Access describes what a call does with a path.
type Access string

// The accesses. Use is whatever an unknown program does: it may be any of them.
const (
	Read   Access = "read"
	Write  Access = "write"
	Delete Access = "delete"
	Use    Access = "use"
	Mode   Access = "mode" // its permissions or its owner
)

// Path is one file or folder that the call names.
type Path struct {
	Path   string `json:"path" expr:"path"` // absolute and clean; as written when it is not known
	Access Access `json:"access" expr:"access"`
	Known  bool   `json:"known" expr:"known"`
	// All says that it means everything below it, dir/*.
	All       bool   `json:"all,omitempty" expr:"all"`
	InProject bool   `json:"inProject,omitempty" expr:"inProject"`
	InHome    bool   `json:"inHome,omitempty" expr:"inHome"`
	Scratch   bool   `json:"scratch,omitempty" expr:"scratch"` // made to be thrown away: /tmp, caches
	Tracked   bool   `json:"tracked,omitempty" expr:"tracked"` // by git
	Real      string `json:"real,omitempty" expr:"real"`       // where links lead, if that is another place
	// Redirected says that the shell opens it, not the program (> file).
	Redirected bool `json:"redirected,omitempty" expr:"redirected"`
	// Settings says that what is written is known, and only sets variables, aliases,
	// options or names of this machine.
	Settings bool `json:"settings,omitempty" expr:"settings"`
	Remote   bool `json:"remote,omitempty" expr:"remote"` // of another machine, below its home as far as is known
	Command  int  `json:"command" expr:"command"`         // index of the command; -1 for a tool's own path
	// Elsewhere says that Real is another place than the name says, not just because the project
	// or the home directory is itself reached by a link. Several says that the file has further
	// names, by hard links.
	Elsewhere bool `json:"elsewhere,omitempty" expr:"elsewhere"`
	Several   bool `json:"several,omitempty" expr:"several"`

	unlisted bool
}

// Unlisted reports whether the path is a pattern that more names fit than were looked at.
func (p *Path) Unlisted() bool { return p.unlisted }

// Destination is one machine that the call talks to.
type Destination struct {
	Host    string `json:"host" expr:"host"` // "" when it is not known
	Port    string `json:"port,omitempty" expr:"port"`
	Scheme  string `json:"scheme,omitempty" expr:"scheme"`
	Scope   string `json:"scope" expr:"scope"` // loopback, private, public; unknown
	Known   bool   `json:"known" expr:"known"`
	Implied bool   `json:"implied,omitempty" expr:"implied"` // a program's usual host, not named in the call
	Command int    `json:"command" expr:"command"`
}

// The scopes of a destination.
const (
	Loopback     = "loopback"
	Private      = "private"
	Public       = "public"
	UnknownScope = "unknown"
)

// Flow is something that is read and where it goes.
type Flow struct {
	From string `json:"from" expr:"from"` // a path, or env:NAME, or a program's name
	To   string `json:"to" expr:"to"`     // a path, or a host, or a program's name
	// Kind says what To is: host, path, program.
	Kind string `json:"kind" expr:"kind"`
}

// Git holds what git's files say about the folder the call happens in.
type Git struct {
	// Branch is "" outside of a repository, and if no branch is checked out.
	Branch string `json:"branch,omitempty" expr:"branch"`
	Remote string `json:"remote,omitempty" expr:"remote"` // address of the branch's remote, else of origin
	Dirty  bool   `json:"dirty,omitempty" expr:"dirty"`   // tracked files were changed
	Root   string `json:"root,omitempty" expr:"root"`
}

// Counts holds what happened in the session before.
type Counts struct {
	// SameCall is how often this very call was made in this turn, including this one.
	SameCall      int `json:"sameCall,omitempty" expr:"sameCall"`
	CallsThisTurn int `json:"callsThisTurn,omitempty" expr:"callsThisTurn"` // this one included
	FailuresInRow int `json:"failuresInRow,omitempty" expr:"failuresInRow"`
	// SameFailure is how often in a row this very call failed.
	SameFailure int `json:"sameFailure,omitempty" expr:"sameFailure"`
	// Alternating is how often the last two calls took turns.
	Alternating int `json:"alternating,omitempty" expr:"alternating"`
	// Polling says that the call only checks a status.
	Polling bool `json:"polling,omitempty" expr:"polling"`
}

// Usage holds what agents used, at list price.
type Usage struct {
	Session Amount `json:"session,omitzero" expr:"session"` // this session
	Today   Amount `json:"today,omitzero" expr:"today"`     // all agents, since midnight
}

// Amount is an amount of something used.
type Amount struct {
	USD    float64 `json:"usd,omitempty" expr:"usd"`
	Tokens int     `json:"tokens,omitempty" expr:"tokens"`
	// Unpriced are the tokens among them whose model has no price.
	Unpriced int `json:"unpriced,omitempty" expr:"unpriced"`
}

// Name is the name of a fact.
type Name string

// Facts that cost something, or may not be known.
const (
	CommandsFact Name = "commands"
	PathsFact    Name = "paths"
	NetFact      Name = "net"
	FlowsFact    Name = "flows"
	BranchFact   Name = "git.branch"
	RemoteFact   Name = "git.remote"
	DirtyFact    Name = "git.dirty"
	TrackedFact  Name = "paths.tracked"
	CountsFact   Name = "counts"
	UsageFact    Name = "usage"
	// LinesFact represents the command lines themselves, which checks in Go read.
	LinesFact Name = "lines"
)

// Names lists every fact that is collected only if it is needed.
func Names() []Name {
	return []Name{CommandsFact, PathsFact, NetFact, FlowsFact, BranchFact, RemoteFact, DirtyFact, TrackedFact,
		CountsFact, UsageFact, LinesFact}
}
