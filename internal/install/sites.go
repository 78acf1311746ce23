package install

import (
	"fmt"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/hookmux/hookmux/internal/install/hookentry"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/plugins"
)

// Site is a place of an agent as it is.
type Site struct {
	Scope      string
	Path       string
	Ours       int      // handlers of ours, or the plugin
	Events     []string // those that have one
	Stale      []string // what of ours is not as it would be written today
	MayMiss    []string // those of them that may miss what they are there for
	Missing    []string // events that were written here and are gone
	Fresh      []string // events this version would write and that are not there
	Running    []string // events whose hook runs at every call and reaches us
	Duplicated []string // events with more than one of ours
	Damaged    []string // what names us and is not as we write it
	Foreign    []string // other people's hooks on events that we answer
	Untrusted  []string // keys of ours the agent does not trust
	Shadowed   bool
	HiddenBy   string // the file that hides this one
	Err        error  // it cannot be read
}

// siteReader reads the places of one agent.
type siteReader struct {
	host  *Host
	agent *agent.Agent
}

// ReadSites reads all places of an agent, as they are.
func (h *Host) ReadSites(a *agent.Agent) []Site {
	var out []Site
	if a.Install == nil {
		return nil
	}
	m, err := h.load()
	if err != nil {
		m = &Manifest{} // only a help; a doctor says what is wrong with it
	}
	if a.Install.Way == agent.WayScripts {
		return siteReader{h, a}.readScriptSites(m)
	}
	seen := map[string]bool{} // the project may be the home
	for _, p := range a.Install.Places {
		path := h.resolvePath(p.HookFile)
		if path == "" || seen[h.onDisk().realPath(path)+"\x00"+p.At] {
			continue
		}
		seen[h.onDisk().realPath(path)+"\x00"+p.At] = true
		s := Site{Scope: p.Scope, Path: path}
		s.HiddenBy = hiddenBy(h.onDisk(), path, p)
		s.Shadowed = s.HiddenBy != ""
		src, err := h.onDisk().read(path)
		if err != nil || src == nil {
			s.Err = err
			out = append(out, s)
			continue
		}
		if a.Install.Way == agent.WayPlugin {
			siteReader{h, a}.readPlugin(&s, src, m.Files[path])
			siteReader{h, a}.readSettings(&s)
		} else {
			siteReader{h, a}.readFile(&s, p, src)
			siteReader{h, a}.readRequiredFiles(&s)
			siteReader{h, a}.readConsent(&s)
		}
		s.compareWithRecord(a.WithKnownEvents(h.AgentVersion), m.Files[path])
		out = append(out, s)
	}
	return out
}

// readRequiredFiles looks for the files without which the agent passes over ours.
func (l siteReader) readRequiredFiles(s *Site) {
	for _, seed := range l.agent.Install.RequiredFiles {
		file := filepath.Join(filepath.Dir(s.Path), seed.Path)
		if s.Ours == 0 || l.host.onDisk().exists(file) {
			continue
		}
		what := filepath.Base(file) + " beside it is gone"
		s.Stale, s.MayMiss, s.Running = append(s.Stale, what), append(s.MayMiss, what), nil
	}
}

// hiddenBy returns the file because of which the agent passes another one over;
// empty when it does not.
func hiddenBy(in files, path string, p agent.InstallPlace) (by string) {
	for _, name := range p.Unless {
		if other := filepath.Join(filepath.Dir(path), name); in.isFile(other) {
			by = other
		}
	}
	return by
}

// compareWithRecord finds out which events are missing: gone, if a record says that they were
// written, or new in this version.
func (s *Site) compareWithRecord(a *agent.Agent, r *Record) {
	if s.Err != nil || s.Ours == 0 || r == nil || r.Agent != a.Name || a.Install.Way == agent.WayPlugin {
		return
	}
	for _, name := range r.Wrote {
		if !slices.Contains(s.Events, name) {
			s.Missing = append(s.Missing, name)
		}
	}
	if r.Chosen == nil {
		return
	}
	events, err := Pick(a, r.Chosen.withoutRefused(a).Events)
	if err != nil {
		return
	}
	for _, e := range events {
		if !slices.Contains(s.Events, e.Name) && !slices.Contains(s.Missing, e.Name) {
			s.Fresh = append(s.Fresh, e.Name)
		}
	}
}

// readPlugin finds out what a plugin file is.
func (l siteReader) readPlugin(s *Site, src []byte, r *Record) {
	h, a := l.host, l.agent
	of, version, ours := plugins.Recognise(src)
	if !ours || of != a.Name {
		s.Err = fmt.Errorf("is not hookmux's; move it away")
		return
	}
	s.Ours = 1
	s.Events = plugins.ChosenIn(src, plugins.Options{}).Events
	changed := r != nil && r.Kind == KindPlugin && r.After != hash(src)
	if !changed {
		events, _ := Pick(a, s.Events)
		for _, e := range events {
			s.Running = append(s.Running, e.Name)
		}
	}
	text, err := plugins.Render(a.Install.Plugin.Source,
		plugins.ChosenIn(src, plugins.Options{Agent: of, Version: h.Version, Hook: Shim(h.Dirs)}))
	if err == nil && SameText(text, src) {
		return
	}
	switch {
	case changed:
		s.Stale = []string{"the plugin was changed since hookmux wrote it"}
		s.MayMiss = s.Stale
	case version != h.Version:
		s.Stale = []string{fmt.Sprintf("the plugin is of version %s, this is %s", termsafe.Line(version, 40),
			h.Version)}
	default:
		s.Stale = []string{"the plugin is not as this hookmux writes it"}
	}
}

// readFile finds out which hooks are in a file.
func (l siteReader) readFile(s *Site, p agent.InstallPlace, src []byte) {
	t, err := l.host.target(s.Path, p, l.host.installSpec(l.agent, strings.Contains(string(src), hookentry.DenyFlag)))
	if err == nil {
		err = l.readEntries(s, t, p, src)
	}
	s.Err = err
}

func (l siteReader) readEntries(s *Site, t *hookentry.Target, p agent.InstallPlace, src []byte) error {
	h, a := l.host, l.agent
	r, err := t.ParseText(src)
	if err != nil {
		return err
	}
	if err := t.WhyDropped(a, src); err != nil {
		s.MayMiss = append(s.MayMiss, err.Error())
		s.Stale = append(s.Stale, err.Error())
	}
	whole := map[string]string{} // trust key → event
	for _, sl := range t.Handlers(r) {
		e, known := a.Event(sl.Event)
		switch {
		case hookentry.IsFor(sl, a):
			s.Ours++
			if slices.Contains(s.Events, sl.Event) {
				s.Duplicated = append(s.Duplicated, sl.Event)
			}
			s.Events = append(s.Events, sl.Event)
			mayMiss := !h.onDisk().runnable(sl.Command.Program)
			var what []string
			for _, f := range l.findFlaws(t, r, sl) {
				what, mayMiss = append(what, f.what), mayMiss || f.mayMiss
			}
			if len(what) > 0 {
				text := fmt.Sprintf("line %d: %s: %s", sl.Line, sl.Event, strings.Join(what, "; "))
				s.Stale = append(s.Stale, text)
				if mayMiss {
					s.MayMiss = append(s.MayMiss, text)
				}
			}
			if !mayMiss {
				whole[t.TrustKey(sl, h.trustOf(a).sourceName(s.Path, p))] = sl.Event
			}
		case sl.MentionsUs():
			s.Damaged = append(s.Damaged, fmt.Sprintf("line %d: %s", sl.Line, termsafe.Line(sl.Text, 120)))
		case known && hookentry.CanContradict(e):
			s.Foreign = append(s.Foreign, fmt.Sprintf("line %d: %s: %s", sl.Line, sl.Event,
				termsafe.Line(sl.Text, 120)))
		}
	}
	defer func() {
		for key, event := range whole {
			if !slices.Contains(s.Untrusted, key) && !slices.Contains(s.Running, event) {
				s.Running = append(s.Running, event)
			}
		}
		sort.Strings(s.Running)
	}()
	if !byHash(a) || s.Ours == 0 {
		return nil
	}
	keys, err := t.TrustKeys(src, a, h.trustOf(a).sourceName(s.Path, p))
	if err != nil {
		return err
	}
	state, err := h.onDisk().read(h.trustOf(a).file())
	if err != nil {
		return err
	}
	_, s.Untrusted, err = hookentry.ReadTrusted(state, keys)
	return err
}
