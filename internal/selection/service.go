package hub

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/edit"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/recorder"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// rules is who has a say: settings, guards and registrations, for the place an
// event comes from. Files are looked at again a few times a second at most, and
// at once after the hub itself changed them.
type rules struct {
	deps     services.Deps
	hub      *Hub
	config   *config.Loader
	registry *registry.Registry
	trust    *trust.Store
	handlers handler.Deps
	extra    []*hook.Entry
	once     allowances
	looks    looks
	editing  sync.Mutex
	gateKeys sync.Map // agent → the setting of its gate

	mu       sync.Mutex
	views    map[places]*view
	folders  map[string]folder     // cwd → project, for a moment
	sessions map[sessionKey]string // the project a session started in
	order    []sessionKey
}

type sessionKey struct{ agent, session string }

// places are the projects whose hooks count for an event: where it happens,
// and where its session started.
type places struct{ here, start string }

// view is everything that counts in one pair of places, made ready.
type view struct {
	settings [2]*config.Settings
	sets     [2]*registry.Set
	forces   [2]*trust.Force
	modules  uint64 // version of the TypeScript hooks it was made of
	entries  []*hook.Entry
	looked   atomic.Int64 // when, in Unix nanoseconds

	mu     sync.Mutex
	byType map[typeKey][]*hook.Entry
}

func (v *view) lookedAt() time.Time { return time.Unix(0, v.looked.Load()) }

type typeKey struct {
	agent, native string
	kind          event.Kind
}

const (
	// lookAgain is how long what was read from files counts without a look.
	lookAgain    = 200 * time.Millisecond
	keepViews    = 128
	keepFolders  = 1024
	keepSessions = 1024
)

func newRules(h *Hub, extra []*hook.Entry, environ []string) *rules {
	r := &rules{
		deps: h.deps, hub: h, extra: extra, once: newAllowances(),
		views: map[places]*view{}, folders: map[string]folder{}, sessions: map[sessionKey]string{},
	}
	r.config = config.New(config.Options{System: h.deps.Dirs.System, User: h.deps.Dirs.Config, State: h.deps.Dirs.State, Environ: environ})
	known := registry.Known{Agent: h.knowsAgent, Type: h.knowsType}
	r.trust = trust.New(trust.Options{State: h.deps.Dirs.State, Parse: func(b []byte) ([]hook.Registration, error) { return parseHooks(b, known) }})
	r.registry = registry.New(registry.Options{
		GlobalFile: h.deps.Dirs.Config + "/" + registry.FileName, State: h.deps.Dirs.State, Home: h.deps.Dirs.Home,
		OwnDirs:      []string{h.deps.Dirs.Config, h.deps.Dirs.State, h.deps.Dirs.Runtime, h.deps.Dirs.Data},
		Known:        known,
		KnownProject: r.trust.Known,
	})
	deps := handler.Deps{
		StateDir: h.deps.Dirs.State, Processes: new(handler.Processes), Mark: h.marks.mark,
		Report: func(id, text string) {
			text = redact.Text(text)
			h.deps.Log.Info("trace", "hook", id, "text", text)
			h.streams.Publish(wire.NoteTrace, wire.Trace{Hook: id, Text: text})
		},
	}
	deps.Builtins = handler.NewBuiltins(deps)
	r.handlers = deps
	return r
}

func (h *Hub) knowsAgent(name string) bool {
	_, ok := h.deps.Catalogue.Agent(name)
	return ok
}

// knowsType: a native name must be one of the agent's, or of any agent's for
// "*".
func (h *Hub) knowsType(name, native string) bool {
	if name != hook.Any {
		return h.knows(name, native)
	}
	for _, a := range h.deps.Catalogue.Agents() {
		if _, ok := a.Event(native); ok {
			return true
		}
	}
	return false
}

// forEvent gives the hooks meant for an event, in order, and its project.
func (r *rules) forEvent(ev *event.Event, busy map[string]bool) ([]*hook.Entry, string, []string) {
	at := r.placesOf(ev)
	list := r.view(at).forType(ev)
	if ev.Nested || busy != nil {
		list = withoutBusy(list, ev, busy)
	}
	project := at.here
	if project == "" {
		project = at.start
	}
	return list, project, at.roots()
}

// roots are the folders that paths in a match are relative to, besides the
// cwd.
func (at places) roots() []string {
	var roots []string
	for _, root := range []string{at.here, at.start} {
		if root != "" {
			roots = append(roots, root)
		}
	}
	return roots
}

// forType is the entries meant for events of one type, found once.
func (v *view) forType(ev *event.Event) []*hook.Entry {
	key := typeKey{ev.Agent, ev.Native, ev.Kind}
	v.mu.Lock()
	defer v.mu.Unlock()
	list, ok := v.byType[key]
	if !ok {
		list = hook.Select(v.entries, &event.Event{Agent: ev.Agent, Native: ev.Native, Kind: ev.Kind}, nil)
		if len(v.byType) < 4096 { // native names come from outside
			v.byType[key] = list
		}
	}
	return list
}

func withoutBusy(list []*hook.Entry, ev *event.Event, busy map[string]bool) []*hook.Entry {
	if ev.Nested {
		// From below a handler of ours, by its ancestry: locked guards only,
		// and never the one that is running.
		// hookmux's own guards run nothing that could come back here, so the
		// variable does not keep them away.
		return hook.Select(list, ev, func(id string) bool { return busy[id] && !isOwnGuard(id) })
	}
	var out []*hook.Entry
	for _, e := range list {
		if e.ModeFor(ev.Kind) == hook.Guard || !busy[e.ID] {
			out = append(out, e)
		}
	}
	return out
}

// began remembers the project that a session is first heard of in.
func (r *rules) began(ev *event.Event) {
	if ev.Session == "" {
		return
	}
	key := sessionKey{ev.Agent, ev.Session}
	r.mu.Lock()
	_, known := r.sessions[key]
	r.mu.Unlock()
	if known {
		return
	}
	here := r.projectOf(ev.Cwd)
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.sessions[key]; known {
		return
	}
	r.sessions[key] = here
	if r.order = append(r.order, key); len(r.order) > keepSessions {
		delete(r.sessions, r.order[0])
		r.order = r.order[1:]
	}
}

// placesOf finds the projects of an event.
func (r *rules) placesOf(ev *event.Event) places {
	at := places{here: r.projectOf(ev.Cwd)}
	r.mu.Lock()
	defer r.mu.Unlock()
	if start, ok := r.sessions[sessionKey{ev.Agent, ev.Session}]; ok && start != at.here {
		at.start = start
	}
	return at
}

// view gives what counts in some places, read again when files changed. A
// folder that does not answer (a dead network disk) costs its own events a
// moment and nobody else's anything: what counted last goes on counting, and a
// place never seen gets what counts everywhere.
func (r *rules) view(at places) *view {
	r.mu.Lock()
	v := r.views[at]
	r.mu.Unlock()
	if v != nil && time.Since(v.lookedAt()) < lookAgain {
		return v
	}
	return r.viewAfresh(at, v)
}

// viewAfresh is view where it is time to look again; v is what was seen last.
func (r *rules) viewAfresh(at places, v *view) *view {
	old := v // the look may go on behind, when v is another one
	done := r.looks.do("view:"+at.here+"\x00"+at.start, v != nil, func() { r.look(at, old) })
	r.mu.Lock()
	now := r.views[at]
	r.mu.Unlock()
	switch {
	case now != nil:
		v = now
	case v == nil && at != (places{}):
		v = r.view(places{})
	case v == nil:
		// Not even the user's own settings can be read: guards as they come.
		plain := [2]*config.Settings{config.New(config.Options{}).Settings()}
		v = &view{settings: plain, entries: r.guards(plain, at), byType: map[typeKey][]*hook.Entry{}}
	}
	key := "slow:" + at.here + ":" + at.start
	if !done {
		r.deps.Problems.Raise(key, "the folder "+at.here+" does not answer; hooks and settings as they were last seen count for it", "")
	} else if r.deps.Problems.Any() {
		r.deps.Problems.Mend(key)
	}
	return v
}

// look reads what counts in some places.
func (r *rules) look(at places, old *view) {
	var sets [2]*registry.Set
	var forces [2]*trust.Force
	sets[0], forces[0] = r.hooksOf(at.here)
	if at.start != "" {
		sets[1], forces[1] = r.hooksOf(at.start)
	}
	// Guards that the project of the start tightened stay so when the agent
	// changes its folder.
	settings := [2]*config.Settings{r.config.For(at.here, forces[0] != nil && forces[0].Status == trust.Trusted)}
	if at.start != "" {
		settings[1] = r.config.For(at.start, forces[1] != nil && forces[1].Status == trust.Trusted)
	}
	r.hub.modules.ReadFolder()
	modules := r.hub.modules.Version()
	if old != nil && old.settings == settings && old.sets == sets && old.forces == forces && old.modules == modules {
		old.looked.Store(time.Now().UnixNano())
		r.mu.Lock()
		r.views[at] = old // somebody may have made us forget it meanwhile
		r.mu.Unlock()
		return
	}
	v := &view{settings: settings, sets: sets, forces: forces, modules: modules, byType: map[typeKey][]*hook.Entry{}}
	v.looked.Store(time.Now().UnixNano())
	r.hub.modules.BeginRefresh(old != nil)
	v.entries = r.makeEntries(settings, sets, forces, at)
	r.mu.Lock()
	if len(r.views) > keepViews {
		clear(r.views)
	}
	r.views[at] = v
	r.mu.Unlock()
	r.report(settings, sets, at)
}

// forget makes the next event look at the files.
func (r *rules) forget() {
	r.mu.Lock()
	clear(r.views)
	clear(r.folders)
	r.mu.Unlock()
}

// makeEntries makes guards and registrations ready. Where two projects have a
// hook of the same id, the one the event happens in counts.
func (r *rules) makeEntries(settings [2]*config.Settings, sets [2]*registry.Set, forces [2]*trust.Force, at places) []*hook.Entry {
	var entries []*hook.Entry
	seen := map[string]bool{}
	for i, set := range sets {
		if set == nil {
			continue
		}
		for _, reg := range set.Hooks {
			if seen[reg.ID] || i == 1 && reg.Scope == registry.Global {
				continue
			}
			seen[reg.ID] = true
			if reg.Handler == "module" {
				own, err := r.hub.modules.Registered(reg, forces[i], settings[0])
				if err != nil {
					own = r.brokenEntry(reg, err)
				}
				entries = append(entries, own...)
				continue
			}
			if e := r.makeEntry(reg, forces[i], settings[0]); e != nil {
				entries = append(entries, e)
			}
		}
	}
	entries = append(entries, r.hub.modules.Entries(settings[0], forces)...)
	// Guards last, because they keep agents from the files of the others;
	// first in order.
	entries = slices.Concat(r.guards(settings, at), r.extra, entries)
	hook.Sort(entries)
	return entries
}

// dropProblemsOf forgets what was wrong with a hook that is changed or gone;
// if it still is, the next event says so.
func (r *rules) dropProblemsOf(id string) {
	r.deps.Problems.Mend("hook:" + id)
	r.deps.Problems.Mend("hook-load:" + id)
}

func (r *rules) makeEntry(reg registry.Entry, force *trust.Force, settings *config.Settings) *hook.Entry {
	h := r.hub
	if reg.Timeout == 0 {
		if span := settings.Span(config.HooksTimeout); span > 0 {
			reg.Timeout = hook.Duration(span)
		}
	}
	ready := reg.Registration
	ready.Agent = h.deps.AgentName(ready.Agent)
	for i, name := range ready.SkipAgents {
		ready.SkipAgents = slices.Clone(ready.SkipAgents)
		ready.SkipAgents[i] = h.deps.AgentName(name)
	}
	var err error
	if reg.Scope == registry.Project && force != nil {
		ready, err = force.Rewrite(ready) // runs the trusted copy, never the project's file
	}
	var run hook.Handler
	if err == nil && reg.Scope == registry.Global {
		err = notOfTheProject(ready)
	}
	if err == nil {
		run, err = handler.New(ready, r.handlers)
	}
	if err == nil {
		var e *hook.Entry
		if e, err = hook.NewEntry(ready, run, reg.Scope); err == nil {
			h.deps.Problems.Mend("hook-load:" + reg.ID)
			e.Inline = handler.Shipped(ready)
			return e
		}
	}
	for _, e := range r.brokenEntry(reg, err) {
		return e
	}
	return nil
}

// brokenEntry reports a registration that cannot be made ready. A guard that
// cannot is a guard that fails.
func (r *rules) brokenEntry(reg registry.Entry, err error) []*hook.Entry {
	r.deps.Problems.Raise("hook-load:"+reg.ID, edit.Problem{File: reg.File, Line: reg.Line, Text: reg.ID + ": " + err.Error()}.String(),
		"correct it; until then it does not run")
	if !reg.IsEnabled() || reg.ModeFor(event.ToolBefore) != hook.Guard {
		return nil
	}
	if e, err := hook.NewEntry(reg.Registration, hook.HandlerFunc(brokenGuard(err)), reg.Scope); err == nil {
		return []*hook.Entry{e}
	}
	return nil
}

// notOfTheProject refuses a user's own script or command that begins with a
// relative path: it would run whatever file of that name an untrusted project
// has.
func notOfTheProject(reg hook.Registration) error {
	if reg.Handler != "script" && reg.Handler != "command" {
		return nil
	}
	words, err := handler.Split(reg.Target)
	if err != nil || len(words) == 0 {
		if reg.Handler == "command" {
			return nil // the shell knows better
		}
		return err
	}
	program := words[0].In("/home")
	if reg.Handler == "command" && strings.ContainsAny(program, "=$`({") {
		return nil // an assignment, a variable: not a plain path
	}
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		return fmt.Errorf("target %q is relative, so it would run a file of whatever project an agent is in; write it with an absolute path or ~/", program)
	}
	return nil
}

// report shows what is wrong with settings, registrations and trust, and takes
// back what is mended. Problems of a project stand under its folder, so that
// an event elsewhere does not make them look mended.
func (r *rules) report(settings [2]*config.Settings, sets [2]*registry.Set, at places) {
	stay := map[string]bool{}
	prefix := "place:" + at.here + ":" + at.start + ":"
	say := func(list []edit.Problem) {
		for _, p := range list {
			key := prefix + p.String()
			stay[key] = true
			r.deps.Problems.Raise(key, p.String(), "")
		}
	}
	for _, s := range settings {
		if s != nil {
			say(s.Problems())
		}
	}
	for i, root := range []string{at.here, at.start} {
		if sets[i] != nil {
			say(sets[i].Problems)
		}
		if root == "" {
			continue
		}
		if text, first := r.trust.Notice(root); first {
			r.deps.Notes.Publish(wire.NoteTrace, wire.Trace{Hook: "trust", Text: text})
		}
		if f := r.trust.InForce(root); f.Problem != "" {
			key := prefix + "trust:" + root
			stay[key] = true
			r.deps.Problems.Raise(key, f.Problem, "")
		}
	}
	r.deps.Problems.MendExcept(prefix, stay)
}

// withProblems is what is wrong, having looked at the user's own files just
// now.
func (r *rules) withProblems() []wire.Problem {
	r.view(places{})
	return r.deps.Problems.All()
}

// retention is how much of the journal the settings keep.
func (r *rules) retention() recorder.Retention {
	s := r.config.Settings()
	keep := recorder.Retention{
		Age: s.Span(config.JournalKeep), MaxBytes: s.Size(config.JournalMaxSize), AgentAge: map[string]time.Duration{},
	}
	for _, a := range r.deps.Catalogue.Agents() {
		if own := s.Keep(a.Name); own != keep.Age {
			keep.AgentAge[a.Name] = own
		}
	}
	return keep
}
