package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install/hookentry"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// scriptsOf looks for the programs of an agent that takes one per event.
func scriptsOf(h *Host, a *agent.Agent) ScriptFinder {
	return ScriptFinder{Agent: a, Resolve: h.resolvePath, Read: h.onDisk().read, Glob: h.onDisk().glob}
}

// scripts plans a program for each command, and removes what else of ours is in the folders of the
// scope.
func (d *draft) scripts(a *agent.Agent, commands []hookentry.Command, o Options, one *AgentPlan) error {
	var written []string
	one.Events = nil
	for _, c := range commands {
		e, _ := a.Event(c.Event)
		path, err := scriptsOf(d.host, a).Own(o.Scope, e)
		if err != nil {
			return err
		}
		if path == "" {
			one.Notes = append(one.Notes, fmt.Sprintf("%s is left out: every name that a program of it could have is "+
				"taken; move one of them away", c.Event))
			continue
		}
		f, err := d.openFile(path, a.Name, o.Scope, KindScript)
		if err != nil {
			return err
		}
		if f.now == nil {
			f.record.Dirs = d.foldersFor(path, path)
		}
		f.record.Chosen = &Choice{Events: o.Events, Deny: o.Deny}
		if st := f.setContent(OpWrite, ScriptText(c)); st != nil {
			st.runs = true
		}
		written, one.Events = append(written, path), append(one.Events, c.Event)
	}
	if len(written) > 0 {
		one.Path = written[0]
	}
	for _, p := range a.Install.Places {
		if p.Scope != o.Scope {
			continue
		}
		if err := d.takeOutScripts(a, p, o.Scope, written); err != nil {
			return err
		}
	}
	return nil
}

// takeOutScripts removes our programs from a place, but for some.
func (d *draft) takeOutScripts(a *agent.Agent, p agent.InstallPlace, scope string, but []string) error {
	for _, e := range a.Events {
		found, err := scriptsOf(d.host, a).InPlace(p, e)
		if err != nil {
			return err
		}
		for _, s := range found {
			switch {
			case slices.Contains(but, s.Path) || s.Text == nil && d.next.Files[s.Path] == nil:
			case s.MentionsUs():
				d.shim = d.shim || strings.Contains(string(s.Text), Shim(d.host.Dirs))
				d.notes = append(d.notes, fmt.Sprintf("%s: names %s and is not in the form that hookmux writes, so it "+
					"is left alone; take it out by hand", s.Path, hookentry.HookName))
				delete(d.next.Files, s.Path)
			case s.Ours || s.Text == nil:
				f, err := d.openFile(s.Path, a.Name, scope, KindScript)
				if err != nil {
					return err
				}
				d.dropFile(f, nil)
			default:
				delete(d.next.Files, s.Path) // another program has been put there since
			}
		}
	}
	return nil
}

// chosenScripts returns what was chosen for an agent, as records or the programs say.
func chosenScripts(scripts ScriptFinder, scope string, m *Manifest) *Choice {
	a := scripts.Agent
	var c *Choice
	var events []string
	for _, e := range a.Events {
		found, err := scripts.InScope(scope, e)
		if err != nil {
			continue // reported when it is written
		}
		for _, s := range found {
			if r := m.Files[s.Path]; r != nil && r.Kind == KindScript && r.Agent == a.Name && r.Chosen != nil {
				return r.Chosen
			}
			if s.Ours {
				if c == nil {
					c = &Choice{}
				}
				c.Deny, events = c.Deny || s.Command.Deny, append(events, e.Name)
			}
		}
	}
	if c != nil {
		c.Events = chosenAmong(a, events)
	}
	return c
}

// readScriptSites reads the folders of an agent; each is a place.
func (l siteReader) readScriptSites(m *Manifest) []Site {
	h, a := l.host, l.agent
	var out []Site
	seen := map[string]bool{} // the project may be the home
	for _, p := range a.Install.Places {
		path := h.resolvePath(p.HookFile)
		if path == "" || seen[h.onDisk().realPath(filepath.Dir(path))] {
			continue
		}
		s := Site{Scope: p.Scope, Path: filepath.Dir(path)}
		seen[h.onDisk().realPath(s.Path)] = true
		for _, e := range a.Events {
			found, err := scriptsOf(h, a).InPlace(p, e)
			if err != nil {
				s.Err = err
				break
			}
			for _, one := range found {
				l.readScriptSite(&s, one, m.Files[one.Path])
			}
		}
		l.addFreshScripts(&s, m)
		out = append(out, s)
	}
	return out
}

// readScriptSite finds out what one program is.
func (l siteReader) readScriptSite(s *Site, one Script, r *Record) {
	h, a, name := l.host, l.agent, one.Event.Name
	switch {
	case one.Text == nil:
		if r != nil && r.Kind == KindScript && r.Agent == a.Name {
			s.Missing = append(s.Missing, name)
		}
		return
	case one.MentionsUs():
		s.Damaged = append(s.Damaged, filepath.Base(one.Path))
		return
	case !one.Ours:
		if hookentry.CanContradict(one.Event) {
			s.Foreign = append(s.Foreign, filepath.Base(one.Path))
		}
		return
	}
	s.Ours++
	if slices.Contains(s.Events, name) {
		s.Duplicated = append(s.Duplicated, name)
	}
	s.Events = append(s.Events, name)
	want := hookentry.Command{Program: Shim(h.Dirs), Agent: a.Name, Event: name,
		Seconds: hookentry.Limit(a, one.Event), Deny: one.Command.Deny}
	wrong, mayMiss := "", !h.onDisk().runnable(one.Command.Program)
	switch {
	case one.Command.Event != name:
		wrong, mayMiss = name+": reports as "+termsafe.Line(one.Command.Event, 40), true
	case !h.onDisk().runnable(one.Path):
		wrong, mayMiss = name+": cannot be run; chmod u+x it", true
	case !SameText(one.Text, ScriptText(want)):
		wrong = name + ": its text differs"
	}
	if wrong != "" {
		s.Stale = append(s.Stale, wrong)
	}
	if wrong != "" && mayMiss {
		s.MayMiss = append(s.MayMiss, wrong)
	}
	if !mayMiss {
		s.Running = append(s.Running, name)
	}
}

// addFreshScripts names the events that this version would write and that are not there.
func (l siteReader) addFreshScripts(s *Site, m *Manifest) {
	chosen := chosenScripts(scriptsOf(l.host, l.agent), s.Scope, m).withoutRefused(l.agent)
	if s.Ours == 0 || s.Err != nil || chosen == nil {
		return
	}
	events, err := Pick(l.agent, chosen.Events)
	if err != nil {
		return
	}
	for _, e := range events {
		free, err := scriptsOf(l.host, l.agent).Unused(s.Scope, e)
		if err == nil && free != "" && !slices.Contains(s.Events, e.Name) && !slices.Contains(s.Missing, e.Name) {
			s.Fresh = append(s.Fresh, e.Name)
		}
	}
}

// strangeScripts returns other people's programs that answer the events we answer, in those
// folders of an agent that hold none of ours.
func strangeScripts(folders []Site) []ForeignHook {
	var out []ForeignHook
	for _, s := range folders {
		for _, name := range s.Foreign {
			if s.Err == nil && s.Ours == 0 {
				out = append(out, ForeignHook{s.Path, name})
			}
		}
	}
	return out
}
