// Package guard holds the built-in guards: they look at one tool call and say
// what is wrong with it.
//
//	destructive  commands that lose data or break a machine or a service
//	secrets      reading or sending keys, tokens and credentials
//	own-files    changing hookmux's own files, or any agent's hook configuration
//
// Contract: a Guard is pure. It opens no file and asks nobody; what it knows of
// the machine comes with the Call, and through Options.Resolve if that is given. It never panics and its cost is bounded by
// the bounds of internal/shell. A command that cannot be read in full (broken
// syntax, too long, nested beyond all measure) is a finding only if its text
// names something this guard watches.
package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/shell"
)

// Call is one tool call, in unified words.
type Call struct {
	Agent    string
	ToolKind string // shell, file_read, file_write, file_edit, search, fetch, task, mcp, question, plan, other
	ToolName string
	Commands []string
	Reads    []string // paths as the tool named them
	Writes   []string
	URL      string
	Input    []byte // raw tool input, JSON
	Cwd      string
	Project  string
	Home     string
}

// Options set up a guard.
type Options struct {
	// Ask makes the dispatcher ask a person instead of denying. The guard only
	// carries it.
	Ask bool
	// Allow lists what is always allowed: a guard's name, a rule id, or
	// "rule:exact command" for one command only.
	Allow []string
	// OwnPaths are further absolute files and directories for own-files.
	OwnPaths []string
	// HubPID is the hub's process number, 0 when it is not known; own-files
	// then cannot tell `kill 123` from any other kill.
	HubPID int
	// Resolve follows the symbolic links in an absolute path as far as it exists
	// and returns the rest unchanged. It must be quick and must not fail; nil
	// leaves every path as it is named. own-files and secrets judge both names.
	Resolve func(path string) string
}

// Finding is one thing a guard objects to.
type Finding struct {
	Guard  string `json:"guard"`
	Rule   string `json:"rule"`
	Reason string `json:"reason"` // one line: what and why
	Where  string `json:"where"`  // the piece of the command, or the path
}

// RuleInfo describes one rule.
type RuleInfo struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

// Info describes one guard.
type Info struct {
	Name      string     `json:"name"`
	What      string     `json:"what"`
	DefaultOn bool       `json:"defaultOn"`
	Rules     []RuleInfo `json:"rules"`
}

// Names of the guards.
const (
	Destructive = "destructive"
	Secrets     = "secrets"
	OwnFiles    = "own-files"
)

// List describes every guard, in the order they run.
func List() []Info {
	return []Info{
		{Destructive, "commands that lose data or break a machine or a service", false, destructiveRules},
		{Secrets, "reading or sending keys, tokens and credentials", false, secretRules},
		{OwnFiles, "changing hookmux's own files or an agent's hook configuration", true, ownRules},
	}
}

// Guard checks calls against the rules of one name.
type Guard struct {
	name  string
	opt   Options
	pre   *needles
	links *needles // set when links are followed: what must be parsed because of them
	own   *ownTable
	allow map[string]bool
	exact []string // "rule:command"
}

// New makes the guard of that name.
func New(name string, opt Options) (*Guard, error) {
	g := &Guard{name: name, opt: opt, allow: map[string]bool{}}
	for _, a := range opt.Allow {
		if strings.Contains(a, ":") {
			g.exact = append(g.exact, a)
			continue
		}
		g.allow[strings.TrimPrefix(a, "guard.")] = true
	}
	switch name {
	case Destructive:
		g.pre = destructiveNeedles()
	case Secrets:
		g.pre = secretNeedles()
		if opt.Resolve != nil {
			g.links = readerNeedles()
		}
	case OwnFiles:
		g.own = newOwnTable(opt)
		g.pre = g.own.needles()
		if opt.Resolve != nil {
			g.links = linkNeedles()
		}
	default:
		return nil, fmt.Errorf("%s: no such guard; `hookmux guard list` shows them", name)
	}
	return g, nil
}

// NewDestructive, NewSecrets and NewOwnFiles are New for a name known at
// compile time.
func NewDestructive(opt Options) *Guard { return must(Destructive, opt) }

// NewSecrets makes the secrets guard.
func NewSecrets(opt Options) *Guard { return must(Secrets, opt) }

// NewOwnFiles makes the own-files guard.
func NewOwnFiles(opt Options) *Guard { return must(OwnFiles, opt) }

func must(name string, opt Options) *Guard {
	g, err := New(name, opt)
	if err != nil {
		panic(err) // the three names above are always known
	}
	return g
}

// Name is the guard's name.
func (g *Guard) Name() string { return g.name }

// Ask reports whether findings should be put to a person instead of denied.
func (g *Guard) Ask() bool { return g.opt.Ask }

// Check returns what the guard objects to in call; nothing means no opinion.
func (g *Guard) Check(call Call) []Finding {
	return g.check(&call, callFromInput(&call), &parses{})
}

// Set runs several guards over a call and parses each command only once.
type Set []*Guard

// Check returns the findings of all guards of the set, in their order.
func (s Set) Check(call Call) []Finding {
	var out []Finding
	p := &parses{}
	extra := callFromInput(&call)
	for _, g := range s {
		out = append(out, g.check(&call, extra, p)...)
	}
	return out
}

// parses remembers the scripts of one call's commands.
type parses struct {
	texts   []string
	scripts []*shell.Script
}

func (p *parses) of(cmd string) *shell.Script {
	for i, t := range p.texts {
		if t == cmd {
			return p.scripts[i]
		}
	}
	s := shell.Parse(cmd)
	p.texts = append(p.texts, cmd)
	p.scripts = append(p.scripts, &s)
	return &s
}

func (g *Guard) check(call *Call, extra inputPaths, p *parses) []Finding {
	if g.allow[g.name] {
		return nil
	}
	f := &findings{guard: g}
	for _, cmd := range call.Commands {
		f.command = cmd
		if !g.pre.interesting(cmd) && (g.links == nil || !g.links.match(cmd) && !(g.own != nil && redirects(cmd))) {
			continue
		}
		g.command(f, call, cmd, p)
	}
	f.command = ""
	switch g.name {
	case Secrets:
		g.secretPaths(f, call, extra)
	case OwnFiles:
		g.ownPaths(f, call, extra)
	}
	return f.list
}

func (g *Guard) command(f *findings, call *Call, cmd string, p *parses) {
	s := p.of(cmd)
	x := newEnv(call, s, f)
	switch g.name {
	case Destructive:
		destructive(x)
	case Secrets:
		secrets(x)
	case OwnFiles:
		g.own.check(x)
	}
	if !s.Readable() && len(f.list) == 0 {
		g.unreadable(f, cmd, s)
	}
}

// findings collects, without doubles and without what is allowed.
type findings struct {
	guard   *Guard
	command string
	list    []Finding
}

// maxFindings is enough to decide and to explain.
const maxFindings = 16

func (f *findings) add(rule, where, reason string) {
	g := f.guard
	id := g.name + "." + rule
	if g.allow[id] || len(f.list) >= maxFindings {
		return
	}
	if f.command != "" && slices.Contains(g.exact, id+":"+f.command) {
		return
	}
	fd := Finding{Guard: g.name, Rule: id, Reason: oneLine(reason, 300), Where: oneLine(where, 200)}
	if !slices.Contains(f.list, fd) {
		f.list = append(f.list, fd)
	}
}

// oneLine keeps agent text from breaking a message into lines.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' || r == '\t' || r < ' ' }), " ")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && s[cut]&0xc0 == 0x80 {
		cut--
	}
	return s[:cut] + "…"
}

// Message is the one line an agent or a person reads when f denies a call.
func Message(f Finding) string {
	return fmt.Sprintf("%s: %s [%s] (allow once: hookmux guard allow %s --once; always: hookmux guard allow %s)",
		f.Rule, f.Reason, f.Where, f.Rule, f.Rule)
}
