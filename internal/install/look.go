package install

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/visible"
	"github.com/hookmux/hookmux/plugins"
)

// Site is a place of an agent as it is.
type Site struct {
	Scope     string
	Path      string
	Ours      int      // handlers of ours, or the plugin
	Events    []string // those that have one
	Stale     []string // what of ours is not as it would be written today
	Twice     []string // events with more than one of ours
	Damaged   []string // what names us and is not as we write it
	Foreign   []string // other people's hooks that answer what we answer
	Untrusted []string // keys of ours the agent does not trust
	Shadowed  bool
	By        string // the file that hides this one
	Err       error  // it cannot be read
}

// Look reads all places of an agent.
func (h *Host) Look(a *agent.Agent) []Site {
	var out []Site
	if a.Install == nil {
		return nil
	}
	for _, p := range a.Install.Places {
		path := h.resolve(p.HookFile)
		if path == "" {
			continue
		}
		s := Site{Scope: p.Scope, Path: path}
		for _, name := range p.Unless {
			if by := filepath.Join(filepath.Dir(path), name); isFile(by) {
				s.Shadowed, s.By = true, by
			}
		}
		src, err := readFile(path)
		if err != nil || src == nil {
			s.Err = err
			out = append(out, s)
			continue
		}
		if a.Install.Way == agent.WayPlugin {
			h.lookPlugin(&s, a, src)
		} else {
			h.lookEntries(&s, a, p, src)
		}
		out = append(out, s)
	}
	return out
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (h *Host) lookPlugin(s *Site, a *agent.Agent, src []byte) {
	of, version, ours := plugins.Recognise(src)
	if !ours || of != a.Install.Plugin.Source {
		s.Err = fmt.Errorf("is not hookmux's; move it away")
		return
	}
	s.Ours = 1
	s.Events = chosenOf(src, plugins.Options{}).Events
	text, err := plugins.Render(of, chosenOf(src, plugins.Options{Version: h.Version, Hook: Shim(h.Dirs)}))
	if err == nil && sameText(text, src) {
		return
	}
	s.Stale = []string{fmt.Sprintf("the plugin is of version %s, or was changed", visible.Line(version, 40))}
}

var (
	pluginEvents = regexp.MustCompile(`(?m)^const EVENTS = "([^"]*)"`)
	pluginDenies = regexp.MustCompile(`(?m)^const UNAVAILABLE = "deny"`)
)

// chosenOf reads back what a person chose when a plugin was written.
func chosenOf(src []byte, o plugins.Options) plugins.Options {
	o.Deny = pluginDenies.Match(src)
	if m := pluginEvents.FindSubmatch(src); m != nil && len(m[1]) > 0 {
		o.Events = strings.Split(string(m[1]), ",")
	}
	return o
}

func (h *Host) lookEntries(s *Site, a *agent.Agent, p agent.InstallPlace, src []byte) {
	t, err := newTarget(s.Path, p, a.Install)
	if err == nil {
		err = h.readEntries(s, t, a, p, src)
	}
	s.Err = err
}

func (h *Host) readEntries(s *Site, t *target, a *agent.Agent, p agent.InstallPlace, src []byte) error {
	r, err := t.parse(src)
	if err != nil {
		return err
	}
	for _, sl := range t.slots(r) {
		e, known := a.Event(sl.event)
		switch {
		case isFor(sl, a):
			s.Ours++
			if slices.Contains(s.Events, sl.event) {
				s.Twice = append(s.Twice, sl.event)
			}
			s.Events = append(s.Events, sl.event)
			if !known || !h.current(t, sl, a, e) {
				s.Stale = append(s.Stale, fmt.Sprintf("line %d: %s", sl.line, sl.event))
			}
		case sl.mentionsUs():
			s.Damaged = append(s.Damaged, fmt.Sprintf("line %d: %s", sl.line, visible.Line(sl.text, 120)))
		case known && answers(e):
			s.Foreign = append(s.Foreign, fmt.Sprintf("line %d: %s: %s", sl.line, sl.event, visible.Line(sl.text, 120)))
		}
	}
	if !byHash(a) || s.Ours == 0 {
		return nil
	}
	keys, err := t.trustKeys(src, a, h.sourceName(s.Path, p))
	if err != nil {
		return err
	}
	state, err := readFile(h.trustFile(a))
	if err != nil {
		return err
	}
	_, s.Untrusted, err = trusted(state, keys)
	return err
}

// current reports whether a handler is as it would be written today.
func (h *Host) current(t *target, sl *slot, a *agent.Agent, e *agent.EventSpec) bool {
	want := Command{Program: Shim(h.Dirs), Agent: a.Name, Event: e.Name, Seconds: Limit(a, e), Deny: sl.command.Deny}
	for _, m := range t.handler(want) {
		if !same(sl.handler[m.key], m.value) {
			return false
		}
	}
	return sl.event == sl.command.Event
}

// DeadTrust are trust entries for hooks of a file that are not there any more.
func (h *Host) DeadTrust(a *agent.Agent) []string {
	state, err := readFile(h.trustFile(a))
	if !byHash(a) || err != nil || state == nil {
		return nil
	}
	r, err := edit.TOML.Parse(state)
	if err != nil {
		return nil
	}
	alive := map[string]bool{}
	sources := map[string]bool{}
	for _, p := range a.Install.Places {
		path := h.resolve(p.HookFile)
		src, err := readFile(path)
		if err != nil || p.Scope != User {
			continue
		}
		source := h.sourceName(path, p)
		sources[source] = true
		t, err := newTarget(path, p, a.Install)
		if err != nil || src == nil {
			continue
		}
		doc, err := t.parse(src)
		if err != nil {
			delete(sources, source)
			continue
		}
		for _, sl := range t.slots(doc) {
			alive[source+":"+snake(sl.event)+":"+sl.group[len(sl.group)-1]+":"+sl.path[len(sl.path)-1]] = true
		}
	}
	var dead []string
	for _, key := range r.Keys("hooks", "state") {
		for source := range sources {
			if len(key) > len(source) && key[:len(source)+1] == source+":" && !alive[key] {
				dead = append(dead, key)
			}
		}
	}
	sort.Strings(dead)
	return dead
}
