package hub

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/selection/registry"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tsmodule"
)

// modules are the TypeScript and JavaScript files that are hooks. They come
// from the user's folder, from projects the person trusts, from settings, from
// registrations and from `hookmux run --hook`. Each owner says which files it
// wants; a file that nobody wants any more ends.
type modules struct {
	deps    services.Deps
	ctx     context.Context // ends when the hub does
	hub     *Hub
	version atomic.Uint64 // moves whenever entries may have to be made anew
	runs    runs
	deeds   *deeds
	closing sync.Once
	tidying atomic.Bool
	untidy  atomic.Bool  // since it was last tidied
	queued  sync.Map     // sessions that words wait for, by agent and session
	news    news         // tells of a new version
	waits   atomic.Int64 // until when a look waits for new files, in Unix ns

	mu      sync.Mutex
	engine  *tsmodule.Engine
	timeout time.Duration
	held    map[string]*held    // by path
	owners  map[string][]string // owner → paths, in order
	leaving map[string]*held    // by path: nobody wants them, and they end soon
	folder  []string            // names in the user's folder, as last seen
}

// held is a file that is loaded or being loaded.
type held struct {
	id     string // its name as a hook
	path   string
	scope  string
	force  *trust.Force // of a trusted copy
	owners map[string]bool
	loaded chan struct{} // closed after the first loading, for better or worse
	module *tsmodule.Module
}

// wanted is a file an owner wants.
type wanted struct {
	id, path, scope string
	force           *trust.Force
}

// A look at what counts waits for files that are loaded for the first time:
// loadPatience where nothing was seen before, and freshPatience where events
// would otherwise go by what was seen last, without the new files. What is not
// loaded by then is waited for by the events themselves and refuses until it
// is, see [modules.registrations].
const (
	loadPatience  = 1200 * time.Millisecond
	freshPatience = patienceKnown / 2
)

// unloadAfter is how long a file that nobody wants any more still answers
// events that go by what was seen last.
const unloadAfter = 2 * time.Second

func newModules(h *Hub) *modules {
	ms := &modules{deps: h.deps, ctx: h.ctx, hub: h, held: map[string]*held{}, owners: map[string][]string{}, leaving: map[string]*held{}}
	ms.deeds = newDeeds(h)
	return ms
}

// running is the engine, made when the first file needs it, and anew when the
// time limit of handlers was changed.
func (ms *modules) running(timeout time.Duration) *tsmodule.Engine {
	if ms.engine != nil && (timeout == 0 || timeout == ms.timeout) {
		return ms.engine
	}
	if old := ms.engine; old != nil {
		go old.Close()
		clear(ms.held) // every owner asks again
		clear(ms.leaving)
		clear(ms.owners)
		ms.moved()
	}
	h := ms.hub
	ms.timeout = timeout
	ms.engine = tsmodule.New(tsmodule.Host{
		Asker: asker{h}, Sender: sender{h}, Recorder: moduleRecorder{h}, Model: models{h},
		ChildEnv: func(path string) []string {
			return []string{handlerVariable + "=" + h.marks.mark(markOf(ms.idOf(path)))}
		},
		Changed:   ms.changed,
		Strained:  ms.tidySoon,
		Catalogue: h.deps.Catalogue, CacheDir: filepath.Join(h.deps.Dirs.State, "modules"), HookTimeout: timeout, Version: h.version,
	})
	return ms.engine
}

// markOf is a hook's id as one word: the variable separates ids by blanks.
func markOf(id string) string { return strings.Join(strings.Fields(id), "_") }

// changed hears that a file was loaded, for the first time or anew.
func (ms *modules) changed(m *tsmodule.Module) {
	ms.moved()
	info := m.Info()
	if len(info.Errors) == 0 && ms.deps.Problems.Any() {
		ms.deps.Problems.MendExcept(problemKey(m.Path()), nil)
		if id := ms.idOf(m.Path()); id != "" {
			ms.hub.rules.dropProblemsOf(id)
		}
	}
}

func (ms *modules) idOf(path string) string {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if one := ms.held[path]; one != nil {
		return one.id
	}
	return ""
}

// want says which files an owner wants now. It waits a moment for new ones and
// ends those that nobody wants any more.
func (ms *modules) want(owner string, list []wanted, timeout time.Duration) []*held {
	ms.mu.Lock()
	if len(list) == 0 && len(ms.owners[owner]) == 0 {
		ms.mu.Unlock()
		return nil
	}
	var out, fresh []*held
	var paths []string
	engine := ms.running(timeout)
	for _, w := range list {
		if slices.Contains(paths, w.path) {
			continue
		}
		paths = append(paths, w.path)
		one := ms.held[w.path]
		if one == nil {
			one = &held{id: w.id, path: w.path, scope: w.scope, force: w.force, owners: map[string]bool{}, loaded: make(chan struct{})}
			ms.held[w.path] = one
			delete(ms.leaving, w.path)
			fresh = append(fresh, one)
		}
		one.owners[owner] = true
		out = append(out, one)
	}
	var over []*held
	for _, path := range ms.owners[owner] {
		one := ms.held[path]
		if one == nil || slices.Contains(paths, path) {
			continue
		}
		if delete(one.owners, owner); len(one.owners) == 0 {
			delete(ms.held, path)
			ms.leaving[path] = one
			over = append(over, one)
		}
	}
	ms.owners[owner] = paths
	if len(paths) == 0 {
		delete(ms.owners, owner)
	}
	ms.mu.Unlock()

	for _, one := range over {
		ms.deps.Problems.MendExcept(problemKey(one.path), nil)
		time.AfterFunc(unloadAfter, func() { ms.leave(engine, one) })
	}
	ms.load(engine, fresh)
	return out
}

// leave ends a file, unless somebody wants it again.
func (ms *modules) leave(engine *tsmodule.Engine, one *held) {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if ms.leaving[one.path] == one {
		delete(ms.leaving, one.path)
		engine.Unload(one.path)
	}
}

// patient says that a look begins, and whether something was seen before.
func (ms *modules) patient(known bool) {
	span := loadPatience
	if known {
		span = freshPatience
	}
	ms.waits.Store(time.Now().Add(span).UnixNano())
}

// settle waits a moment for all files that are being loaded, and reports
// whether there were any.
func (ms *modules) settle(ctx context.Context) (waited bool) {
	ctx, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	for _, one := range ms.all() {
		select {
		case <-one.loaded:
		default:
			waited = true
			_ = one.wait(ctx) // what is not loaded by then is told later
		}
	}
	return waited
}

// load begins to load files, two at a time, and waits a moment for them.
func (ms *modules) load(engine *tsmodule.Engine, fresh []*held) {
	if len(fresh) == 0 {
		return
	}
	next := make(chan *held, len(fresh))
	for _, one := range fresh {
		next <- one
	}
	close(next)
	var busy sync.WaitGroup
	for range min(2, len(fresh)) {
		busy.Add(1)
		ms.deps.Background.Add(1)
		go func() {
			defer ms.deps.Background.Done()
			defer busy.Done()
			for one := range next {
				src := tsmodule.Source{Path: one.path, Watch: one.force == nil}
				if one.force != nil {
					src.Read = one.force.ReadCopy
				}
				m, _ := engine.Load(ms.ctx, src) // what is wrong was reported
				ms.mu.Lock()
				one.module = m
				ms.mu.Unlock()
				close(one.loaded)
				ms.moved()
			}
		}()
	}
	all := make(chan struct{})
	go func() {
		busy.Wait()
		close(all)
		ms.tidy()
	}()
	timer := time.NewTimer(time.Until(time.Unix(0, ms.waits.Load())))
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
}

// tidy gives back what loading left behind, which takes many times the memory
// that a file keeps, or a file that used all it could get.
func (ms *modules) tidy() {
	ms.untidy.Store(true)
	if !ms.tidying.CompareAndSwap(false, true) {
		return
	}
	defer ms.tidying.Store(false)
	for ms.untidy.Load() && wait(ms.ctx, tidyAfter) {
		ms.untidy.Store(false)
		tsmodule.GiveBack()
	}
}

func (ms *modules) tidySoon() { go ms.tidy() }

// tidyAfter leaves the way to the events that made the files be loaded.
const tidyAfter = time.Second

// of gives the loaded module of a file, nil while it is still loading.
func (ms *modules) of(one *held) *tsmodule.Module {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return one.module
}

// look sees whether the user's folder has other files than last time.
func (ms *modules) look() {
	entries, err := os.ReadDir(ms.dir())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		// A folder nobody can read is no reason to leave guards out.
		ms.deps.Problems.Raise("modules-folder", "hooks in TypeScript are as they were last seen: "+err.Error(), "make "+ms.dir()+" readable")
		return
	}
	if ms.deps.Problems.Any() {
		ms.deps.Problems.Mend("modules-folder")
	}
	var names []string
	for _, e := range entries {
		if trust.IsModuleName(e.Name()) && !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	ms.mu.Lock()
	defer ms.mu.Unlock()
	if !slices.Equal(names, ms.folder) {
		ms.folder = names
		ms.moved()
	}
}

func (ms *modules) dir() string { return filepath.Join(ms.deps.Dirs.Config, "hooks") }

// inFolder are the files of the user's folder.
func (ms *modules) inFolder() []wanted {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	var list []wanted
	for _, name := range ms.folder {
		list = append(list, wanted{id: "module:" + name, path: filepath.Join(ms.dir(), name), scope: registry.Global})
	}
	return list
}

// inProject are the files of a project's folder, as they were trusted.
func (ms *modules) inProject(f *trust.Force) []wanted {
	if f == nil {
		return nil
	}
	var list []wanted
	for _, path := range f.Modules() {
		list = append(list, wanted{id: "module:" + trust.ModuleDir + "/" + filepath.Base(path), path: path, scope: registry.Project, force: f})
	}
	return list
}

// inSettings are the files the setting modules names.
func (ms *modules) inSettings(s *config.Settings) []wanted {
	var list []wanted
	for _, written := range s.Strings(config.Modules) {
		path := ms.expand(written)
		if !filepath.IsAbs(path) {
			key := "place:modules:" + written
			ms.deps.Problems.Raise(key, "modules: "+written+" is relative, and nobody knows to what", "write it with an absolute path or ~/: `hookmux config set modules …`")
			continue
		}
		list = append(list, wanted{id: "module:" + written, path: path, scope: registry.Global})
	}
	return list
}

func (ms *modules) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(ms.deps.Dirs.Home, rest)
	}
	return filepath.Clean(path)
}

// shown is a text with the project's paths instead of its trusted copy's.
func (ms *modules) shown(path, text string) string {
	ms.mu.Lock()
	one := ms.held[path]
	ms.mu.Unlock()
	if one == nil {
		return text
	}
	return one.force.Shown(text)
}

// all are the files that are loaded, by path.
func (ms *modules) all() []*held {
	ms.mu.Lock()
	defer ms.mu.Unlock()
	return slices.SortedFunc(maps.Values(ms.held), func(a, b *held) int { return strings.Compare(a.path, b.path) })
}

// files are every file that hooks are made of and that counts as soon as it
// changes. An agent that writes to one rewrites its own guard.
func (ms *modules) files() []string {
	var list []string
	for _, one := range ms.all() {
		if one.force != nil {
			continue // a copy out of reach
		}
		list = append(list, one.path)
		if m := ms.of(one); m != nil {
			list = append(list, m.Info().Files...)
		}
	}
	return list
}

// forget drops what is kept about a session that ended without saying so.
func (ms *modules) forget(agent, session string) {
	ms.queued.Delete(sessionKey{agent, session})
	ms.mu.Lock()
	engine := ms.engine
	ms.mu.Unlock()
	if engine != nil {
		engine.Forget(agent, session)
	}
}

func (ms *modules) close() { ms.closing.Do(ms.end) }

func (ms *modules) end() {
	ms.runs.close()
	ms.mu.Lock()
	engine := ms.engine
	ms.engine = nil
	clear(ms.held)
	clear(ms.owners)
	clear(ms.leaving)
	ms.mu.Unlock()
	if engine != nil {
		engine.Close()
	}
	ms.deeds.close()
}

// wait waits until a file was loaded for the first time.
func (one *held) wait(ctx context.Context) error {
	select {
	case <-one.loaded:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait is a pause that ends with ctx.
func wait(ctx context.Context, span time.Duration) bool {
	t := time.NewTimer(span)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
