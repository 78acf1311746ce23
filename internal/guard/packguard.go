package guard

import (
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/guard/inspect"
	"github.com/hookmux/hookmux/internal/guard/names"
	"github.com/hookmux/hookmux/internal/policy/facts"
	"github.com/hookmux/hookmux/internal/policy/packs"
	"github.com/hookmux/hookmux/internal/policy/rules"
	"github.com/hookmux/hookmux/internal/shell/scriptcache"
)

// packChecker checks calls against a pack: rules that are data.
type packChecker struct {
	name   string
	pack   *packs.Pack
	opt    Options
	shared *SharedFacts

	mu   sync.Mutex
	set  *rules.Set
	home string
}

func newPackChecker(name string, opt Options, scripts *scriptcache.Cache) (*packChecker, error) {
	pack, err := packs.Load(name)
	if err != nil {
		return nil, err
	}
	c := &packChecker{name: name, pack: pack, opt: opt, shared: opt.Facts}
	if c.shared == nil {
		c.shared = new(SharedFacts)
	}
	c.opt.Scripts = scripts
	c.shared.addNeeds(pack.Needs)
	return c, nil
}

// setFor makes the rules ready for a home, once.
func (c *packChecker) setFor(home string) *rules.Set {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.set != nil && c.home == home {
		return c.set
	}
	list := c.pack.Rules
	if c.name == names.Network {
		list = packs.ExceptHosts(list, c.opt.Hosts)
	}
	c.set, c.home = rules.NewSet(list, rules.Options{Home: home}), home
	return c.set
}

// wholeCall reports whether the rules are about what happened before: they are asked
// once for a call, and not for each of its commands.
func (c *packChecker) wholeCall() bool { return c.pack.Needs.Has(facts.CountsFact) }

// MustParse reports whether a command may be one for the rules.
func (c *packChecker) MustParse(command string) bool {
	return c.pack.Needles == nil || c.pack.Needles.MustParse(command)
}

// CheckScript compares the rules with one command.
func (c *packChecker) CheckScript(s *inspect.Scope) {
	call := *s.Call
	call.Commands, call.Reads, call.Writes, call.URL, call.Input = []string{s.Report.Command}, nil, nil, "", nil
	c.decide(s, &call)
}

// CheckPaths compares them with what the tool itself names.
func (c *packChecker) CheckPaths(s *inspect.Scope, input inspect.InputPaths) {
	call := *s.Call
	if c.wholeCall() && !c.repeats(call.Event) {
		return
	}
	if !c.wholeCall() {
		call.Commands = nil
		if len(call.Reads)+len(call.Writes) == 0 {
			call.Reads, call.Writes = input.Reads, input.Writes
		}
		if len(call.Reads)+len(call.Writes) == 0 && call.URL == "" {
			return
		}
		call.Input = nil
	}
	c.decide(s, &call)
}

// repeats reports whether anything happened so often that rules about it are worth a
// look. Where nobody counts, none is.
func (c *packChecker) repeats(ev *event.Event) bool {
	if c.opt.Counts == nil || ev == nil {
		return false
	}
	n, ok := c.opt.Counts(ev)
	return ok && max(n.SameCall, n.SameFailure, n.Alternating) > 2
}

// WatchesFolder has nothing to add: rules name programs.
func (c *packChecker) WatchesFolder(string) bool { return false }

// NamedIn has nothing to say: what no shell can read runs nothing.
func (c *packChecker) NamedIn(string) string { return "" }

func (c *packChecker) decide(s *inspect.Scope, call *Call) {
	result := c.setFor(s.Home).Decide(c.shared.collect(call, s.Home, c.pack.Needs, &c.opt))
	for i := range result.Hits {
		h := &result.Hits[i]
		if h.Verdict != rules.Deny && h.Verdict != rules.Ask {
			continue
		}
		s.Report.AddAsking(strings.TrimPrefix(h.ID, c.name+"."), h.Where, h.Why, h.Verdict == rules.Ask)
	}
}

// SharedFacts collects the facts of a call once for all guards that share it.
type SharedFacts struct {
	mu    sync.Mutex
	needs facts.Set
	last  sharedEntry
}

// sharedEntry is what was collected last, and for what.
type sharedEntry struct {
	event    *event.Event
	commands []string
	files    int
	needs    facts.Set
	facts    *facts.Facts
}

func (s *SharedFacts) addNeeds(needs facts.Set) {
	s.mu.Lock()
	s.needs |= needs.Without(facts.CountsFact)
	s.mu.Unlock()
}

// collect gathers the facts of a call. Only those of one and the same event are
// kept: files and branches may be others at the next.
func (s *SharedFacts) collect(call *Call, home string, needs facts.Set, opt *Options) *facts.Facts {
	files := len(call.Reads) + len(call.Writes)
	s.mu.Lock()
	last, union := s.last, s.needs
	s.mu.Unlock()
	if call.Event != nil && last.event == call.Event && last.files == files && last.needs&needs == needs &&
		slices.Equal(last.commands, call.Commands) {
		return last.facts
	}
	if !needs.Has(facts.CountsFact) {
		needs |= union
	}
	ev := callEvent(call)
	got := facts.Collect(ev, call.Project, needs, facts.Options{
		Home: home, Parse: opt.Scripts.Parse, Resolve: opt.Resolve, Git: opt.Git, Counts: opt.Counts,
	})
	if call.Event != nil && !needs.Has(facts.CountsFact) {
		s.mu.Lock()
		s.last = sharedEntry{event: call.Event, commands: call.Commands, files: files, needs: needs, facts: got}
		s.mu.Unlock()
	}
	return got
}

// callEvent is the event of a call, or of the part of it that is looked at.
func callEvent(call *Call) *event.Event {
	ev := event.Event{Kind: event.ToolBefore, Agent: call.Agent, Cwd: call.Cwd}
	var tool event.Tool
	if call.Event != nil {
		ev = *call.Event
		ev.Kind = event.ToolBefore
		if ev.Tool != nil {
			tool = *ev.Tool
		}
	}
	tool.Name, tool.Kind, tool.Commands = call.ToolName, event.ToolKind(call.ToolKind), call.Commands
	tool.Reads, tool.Writes, tool.URL, tool.Input, tool.Changed = call.Reads, call.Writes, call.URL, call.Input, nil
	tool.Folder = "" // call.Cwd is where it runs
	ev.Cwd, ev.Tool = call.Cwd, &tool
	return &ev
}
