// Package guard holds the built-in guards: they look at one tool call and say
// what is wrong with it.
//
//	destructive  commands that lose data or break a machine or a service
//	secrets      reading or sending keys, tokens and credentials
//	own-files    changing hookmux's own files, or any agent's hook configuration
//
// Each of these is a package below this one; the others (internal/guard/names lists
// them) are packs: rules that are data, in internal/policy/packs.
// internal/guard/inspect holds what they share: the call, the report, and what words
// of a command stand for.
//
// Contract: a Guard is pure. It opens no file and asks nobody; what it knows of
// the machine comes with the Call, and through Options.Resolve if that is given.
// It never panics and its cost is bounded by the bounds of internal/shell. A
// command that hides what it does (too long, nested too deeply, not text) is a
// finding; one that no shell can read either is one only if its text names
// something this guard watches.
package guard

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/guard/destructive"
	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/guard/names"
	"github.com/hookmux/hookmux/internal/guard/ownfiles"
	"github.com/hookmux/hookmux/internal/guard/secrets"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/packs"
	"github.com/hookmux/hookmux/internal/shell"
	"github.com/hookmux/hookmux/internal/shell/scriptcache"
)

// What callers of this package pass in and get back.
type (
	// Call is one tool call, in unified words.
	Call = inspect.Call
	// Finding is one thing a guard objects to.
	Finding = inspect.Finding
	// RuleInfo describes one rule.
	RuleInfo = inspect.RuleInfo
)

// CallOf is the tool call of an event as guards see it.
func CallOf(ev *event.Event, project, home string) Call {
	call := inspect.CallOf(ev, project, home)
	call.Event = ev
	return call
}

// Options set up a guard.
type Options struct {
	// Ask makes the dispatcher ask a person instead of denying. The guard only
	// carries it.
	Ask bool
	// Allow lists what is always allowed: a guard's name, a rule id, or
	// "rule:exact command" for one command only.
	Allow []string
	// OwnPaths, DaemonPID, Resolve and Twin are those of [inspect.Options].
	OwnPaths  []string
	DaemonPID int
	Resolve   func(path string) string
	Twin      func(path string, among []string) string
	// Scripts is what several guards parse commands with, Facts what several packs
	// collect facts with; nil is one of its own.
	Scripts *scriptcache.Cache
	Facts   *SharedFacts
	// Hosts are the hosts that the network guard leaves alone. With none it only knows
	// hosts that take whatever anybody sends.
	Hosts []string
	// Git reads a repository, Counts tells what happened before in a session; nil:
	// nothing is known.
	Git    func(dir string) facts.Repository
	Counts func(ev *event.Event) (facts.Counts, bool)
}

// machine is what guards written in Go know of the machine.
func (o *Options) machine() inspect.Options {
	return inspect.Options{OwnPaths: o.OwnPaths, DaemonPID: o.DaemonPID, Resolve: o.Resolve, Twin: o.Twin}
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
	Destructive = names.Destructive
	Secrets     = names.Secrets
	OwnFiles    = names.OwnFiles
)

// List describes every guard, in the order they run.
func List() []Info {
	var list []Info
	for _, g := range names.All() {
		list = append(list, Info{g.Name, g.What, g.DefaultOn, rulesOf(g)})
	}
	return list
}

// IsGuard reports whether there is a guard of that name.
func IsGuard(name string) bool {
	return slices.ContainsFunc(names.All(), func(g names.Guard) bool { return g.Name == name })
}

func rulesOf(g names.Guard) []RuleInfo {
	switch g.Name {
	case Destructive:
		return destructive.Rules
	case Secrets:
		return secrets.Rules
	case OwnFiles:
		return ownfiles.Rules
	case names.Loop:
		return packs.Describe(g.Name)
	}
	unreadable := RuleInfo{ID: g.Name + ".unreadable", What: "a command that cannot be read in full"}
	return append(packs.Describe(g.Name), unreadable)
}

// NewSet makes all guards there are.
func NewSet(opt Options) (Set, error) {
	if opt.Scripts == nil {
		opt.Scripts = new(scriptcache.Cache)
	}
	if opt.Facts == nil {
		opt.Facts = new(SharedFacts)
	}
	var set Set
	for _, g := range names.All() {
		one, err := New(g.Name, opt)
		if err != nil {
			return nil, err
		}
		set = append(set, one)
	}
	return set, nil
}

// checker is what the package of one guard offers.
type checker interface {
	// MustParse reports whether a command is worth parsing: a cheap look at its
	// text.
	MustParse(command string) bool
	// WatchesFolder reports whether a command in this folder is worth parsing though
	// it names nothing: cat config, in ~/.aws.
	WatchesFolder(folder string) bool
	// CheckScript reports what is wrong with a parsed command.
	CheckScript(s *inspect.Scope)
	// CheckPaths reports what is wrong with the paths that file tools name.
	CheckPaths(s *inspect.Scope, input inspect.InputPaths)
	// NamedIn finds the first thing this guard watches in text that cannot be
	// parsed, "" for none.
	NamedIn(text string) string
}

// Guard checks calls against the rules of one name.
type Guard struct {
	name    string
	opt     Options
	checker checker
	allow   inspect.Allowed
	scripts *scriptcache.Cache
	// wholeCall says that it looks at a call as one thing, whatever its commands are.
	wholeCall bool
}

// New makes the guard of that name.
func New(name string, opt Options) (*Guard, error) {
	g := &Guard{name: name, opt: opt, allow: inspect.NewAllowed(opt.Allow), scripts: opt.Scripts}
	if g.scripts == nil {
		g.scripts = new(scriptcache.Cache)
	}
	switch name {
	case Destructive:
		g.checker = destructive.New()
	case Secrets:
		g.checker = secrets.New(opt.machine())
	case OwnFiles:
		g.checker = ownfiles.New(opt.machine())
	default:
		if !IsGuard(name) {
			return nil, fmt.Errorf("%s: no such guard; `hookmux guard list` shows them", name)
		}
		pack, err := newPackChecker(name, opt, g.scripts)
		if err != nil {
			return nil, err
		}
		g.checker, g.wholeCall = pack, pack.wholeCall()
	}
	return g, nil
}

// Name is the guard's name.
func (g *Guard) Name() string { return g.name }

// Ask reports whether findings should be put to a person instead of denied.
func (g *Guard) Ask() bool { return g.opt.Ask }

// Check returns what the guard objects to in call; nothing means no opinion.
func (g *Guard) Check(call Call) []Finding {
	return g.checkCall(&call, inspect.ReadInput(&call), g.scripts)
}

// Set runs several guards over a call and parses each command only once.
type Set []*Guard

// Check returns the findings of all guards of the set, in their order.
func (s Set) Check(call Call) []Finding {
	var out []Finding
	scripts := new(scriptcache.Cache)
	if len(s) > 0 {
		scripts.Programs = s[0].scripts.Programs
	}
	if call.Event == nil {
		call.Event = callEvent(&call) // by which packs know that they look at the same call
	}
	extra := inspect.ReadInput(&call)
	for _, g := range s {
		out = append(out, g.checkCall(&call, extra, scripts)...)
	}
	return out
}

func (g *Guard) checkCall(call *Call, extra inspect.InputPaths, scripts *scriptcache.Cache) []Finding {
	if g.allow.Rule(g.name) {
		return nil
	}
	report := inspect.NewReport(g.name, g.allow)
	inWatched := len(call.Commands) > 0 && g.checker.WatchesFolder(call.Cwd)
	for _, cmd := range call.Commands {
		if g.wholeCall {
			break
		}
		report.Command = cmd
		if shell.IsTooLong(cmd) || strings.ContainsRune(cmd, 0) || inWatched || g.checker.MustParse(cmd) ||
			scripts.Programs.MentionedIn(cmd) {
			g.checkCommand(report, call, cmd, scripts)
		}
	}
	report.Command = ""
	if extra.Unreadable != "" && !g.wholeCall {
		report.Add("unreadable", call.ToolName, fmt.Sprintf("what %s does cannot be checked: %s", call.ToolName,
			extra.Unreadable))
	}
	g.checker.CheckPaths(inspect.NewScope(call, nil, report, g.opt.Resolve), extra)
	return report.List
}

func (g *Guard) checkCommand(report *inspect.Report, call *Call, cmd string, scripts *scriptcache.Cache) {
	s := scripts.Parse(cmd)
	g.checker.CheckScript(inspect.NewScope(call, s, report, g.opt.Resolve))
	if (!s.Readable() || strings.ContainsRune(cmd, 0)) && len(report.List) == 0 {
		g.reportUnreadable(report, cmd, s)
	}
}

// Message is the one line an agent or a person reads when f denies a call.
func Message(f Finding) string {
	return event.RuleDenial(f.Rule, f.Reason, f.Where)
}
