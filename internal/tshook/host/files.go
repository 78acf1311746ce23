package host

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/selection/accepted"
	"github.com/hookmux/hookmux/internal/selection/trust"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tshook"
)

// fileTable holds the files that are loaded. They come from the user's folder, from projects
// the user trusts, from settings, from registrations and from `hookmux run --hook`. Each of
// these owners says which files it wants; a file that no owner wants any more ends.
type fileTable struct {
	ctx       context.Context
	deps      services.Deps
	newEngine func(timeout time.Duration) *tshook.Engine
	accepted  *accepted.Store // nil: files are used as they are

	version   atomic.Uint64 // changes whenever entries may have to be made again
	changes   changeSignal  // announces a new version
	waitUntil atomic.Int64  // until when a refresh waits for new files, in Unix ns
	releasing atomic.Bool
	unclean   atomic.Bool // files were loaded since memory was last released

	mu      sync.Mutex
	engine  *tshook.Engine
	timeout time.Duration
	loaded  map[string]*loadedFile // by path
	owners  map[string][]string    // owner → paths, in order
	leaving map[string]*loadedFile // by path: no owner wants them, and they end soon
}

// loadedFile is a file that is loaded or being loaded.
type loadedFile struct {
	id      string // its name as a hook
	path    string
	scope   string
	trusted *trust.TrustedContent // of a trusted copy
	ofUser  bool                  // one of the user's settings
	owners  map[string]bool       // owner → whether it wants the file only to log
	ready   chan struct{}         // closed after the first loading, successful or not
	tsHook  *tshook.Hook
	// logOnly is set if every owner wants the file only to log.
	logOnly atomic.Bool
}

// wantedFile is a file an owner wants.
type wantedFile struct {
	id, path, scope string
	trusted         *trust.TrustedContent
	ofUser          bool
	log             bool
}

// A refresh of what applies waits for files that are loaded for the first time: loadPatience
// if nothing was known before, and freshPatience if events would otherwise use outdated
// information, without the new files. What isn't loaded by then is waited for by the events
// themselves and denies until it is, see [Service.registrationsOf].
const (
	loadPatience  = 1200 * time.Millisecond
	freshPatience = 125 * time.Millisecond
)

// unloadAfter is how long a file that no owner wants any more still answers events that were
// unloadAfter is how long a file that no owner wants any more still answers events that are
// on their way to it.
const unloadAfter = 2 * time.Second

func newFileTable(ctx context.Context, deps services.Deps, store *accepted.Store,
	newEngine func(time.Duration) *tshook.Engine) *fileTable {
	return &fileTable{
		ctx: ctx, deps: deps, newEngine: newEngine, accepted: store,
		loaded: map[string]*loadedFile{}, owners: map[string][]string{}, leaving: map[string]*loadedFile{},
	}
}

// noteChange says that hooks may have to be made again.
func (t *fileTable) noteChange() {
	t.version.Add(1)
	t.changes.announceChange()
}

// engineFor returns the engine, made when the first file needs it, and again when the
// time limit of handlers was changed. The caller holds the lock.
func (t *fileTable) engineFor(timeout time.Duration) *tshook.Engine {
	if t.engine != nil && (timeout == 0 || timeout == t.timeout) {
		return t.engine
	}
	if old := t.engine; old != nil {
		t.deps.Background.Go(old.Close)
		clear(t.loaded) // every owner asks again
		clear(t.leaving)
		clear(t.owners)
		t.noteChange()
	}
	t.timeout = timeout
	t.engine = t.newEngine(timeout)
	return t.engine
}

// currentEngine returns the engine, nil while there is none.
func (t *fileTable) currentEngine() *tshook.Engine {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.engine
}

// setWanted sets which files an owner wants now. It waits a moment for new ones and ends
// those that no owner wants any more.
func (t *fileTable) setWanted(owner string, list []wantedFile, timeout time.Duration) []*loadedFile {
	t.mu.Lock()
	if len(list) == 0 && len(t.owners[owner]) == 0 {
		t.mu.Unlock()
		return nil
	}
	engine := t.engineFor(timeout)
	all, fresh, paths := t.addWanted(owner, list)
	over := t.dropUnwanted(owner, paths)
	t.owners[owner] = paths
	if len(paths) == 0 {
		delete(t.owners, owner)
	}
	t.mu.Unlock()

	for _, one := range over {
		t.deps.Problems.ClearExcept(problemKey(one.path), nil)
		t.deps.Background.After(t.ctx, unloadAfter, func() { t.unloadFile(engine, one) })
	}
	t.loadFiles(engine, fresh)
	return all
}

// addWanted notes the files an owner wants, all of them and the new ones; the
// caller holds the lock.
func (t *fileTable) addWanted(owner string, list []wantedFile) (all, fresh []*loadedFile, paths []string) {
	for _, w := range list {
		if slices.Contains(paths, w.path) {
			continue
		}
		paths = append(paths, w.path)
		one := t.loaded[w.path]
		if one == nil {
			one = &loadedFile{
				id: w.id, path: w.path, scope: w.scope, trusted: w.trusted, ofUser: w.ofUser, owners: map[string]bool{},
				ready: make(chan struct{}),
			}
			t.loaded[w.path] = one
			delete(t.leaving, w.path)
			fresh = append(fresh, one)
		}
		one.owners[owner] = w.log
		one.noteLogOnly()
		all = append(all, one)
	}
	return all, fresh, paths
}

// noteLogOnly works out whether the file only logs; the caller holds the
// table's lock.
func (one *loadedFile) noteLogOnly() {
	all := true
	for _, onlyLogs := range one.owners {
		all = all && onlyLogs
	}
	one.logOnly.Store(all && len(one.owners) > 0)
}

// dropUnwanted removes the files that no owner wants now that owner only wants paths; the
// caller holds the lock.
func (t *fileTable) dropUnwanted(owner string, paths []string) []*loadedFile {
	var over []*loadedFile
	for _, path := range t.owners[owner] {
		one := t.loaded[path]
		if one == nil || slices.Contains(paths, path) {
			continue
		}
		delete(one.owners, owner)
		one.noteLogOnly()
		if len(one.owners) == 0 {
			delete(t.loaded, path)
			t.leaving[path] = one
			over = append(over, one)
		}
	}
	return over
}

// unloadFile ends a file, unless an owner wants it again.
func (t *fileTable) unloadFile(engine *tshook.Engine, one *loadedFile) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.leaving[one.path] == one {
		delete(t.leaving, one.path)
		engine.Unload(one.path)
	}
}

// beginRefresh says that a refresh begins, and whether something was known
// before.
func (t *fileTable) beginRefresh(known bool) {
	span := loadPatience
	if known {
		span = freshPatience
	}
	t.waitUntil.Store(time.Now().Add(span).UnixNano())
}

// awaitLoading waits a moment for all files that are being loaded, and reports
// whether there were any.
func (t *fileTable) awaitLoading(ctx context.Context) (waited bool) {
	ctx, cancel := context.WithTimeout(ctx, loadPatience)
	defer cancel()
	for _, one := range t.allFiles() {
		select {
		case <-one.ready:
		default:
			waited = true
			_ = one.awaitReady(ctx) // what isn't loaded by then is reported later
		}
	}
	return waited
}

// loadFiles begins to load files, two at a time, and waits a moment for them.
func (t *fileTable) loadFiles(engine *tshook.Engine, fresh []*loadedFile) {
	if len(fresh) == 0 {
		return
	}
	next := make(chan *loadedFile, len(fresh))
	for _, one := range fresh {
		next <- one
	}
	close(next)
	var busy sync.WaitGroup
	for range min(2, len(fresh)) {
		busy.Add(1)
		t.deps.Background.Go(func() {
			defer busy.Done()
			for one := range next {
				t.loadFile(engine, one)
			}
		})
	}
	all := make(chan struct{})
	t.deps.Background.Go(func() {
		busy.Wait()
		close(all)
		t.releaseMemory()
	})
	timer := time.NewTimer(time.Until(time.Unix(0, t.waitUntil.Load())))
	defer timer.Stop()
	select {
	case <-all:
	case <-timer.C:
	}
}

func (t *fileTable) loadFile(engine *tshook.Engine, one *loadedFile) {
	src := tshook.Source{Path: one.path, Watch: one.trusted == nil, LogOnly: one.logOnly.Load}
	if one.trusted != nil {
		src.Read = one.trusted.ReadCopy
	}
	if one.ofUser && t.accepted != nil {
		src.Read = t.accepted.CodeReader(one.path)
	}
	m, _ := engine.Load(t.ctx, src) // what is wrong was reported
	t.mu.Lock()
	one.tsHook = m
	t.mu.Unlock()
	close(one.ready)
	t.noteChange()
}

// releaseMemory releases what loading left behind, which takes many times the memory that a
// file keeps, or a file that used all it could get.
func (t *fileTable) releaseMemory() {
	t.unclean.Store(true)
	if !t.releasing.CompareAndSwap(false, true) {
		return
	}
	defer t.releasing.Store(false)
	for t.unclean.Load() && !services.Pause(releaseAfter, t.ctx.Done()) {
		t.unclean.Store(false)
		tshook.ReleaseMemory()
	}
}

// releaseAfter lets the events that caused files to be loaded go first.
const releaseAfter = time.Second

// tsHookOf returns the loaded hook of a file, nil while it is still loading.
func (t *fileTable) tsHookOf(one *loadedFile) *tshook.Hook {
	t.mu.Lock()
	defer t.mu.Unlock()
	return one.tsHook
}

func (t *fileTable) idOf(path string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one := t.loaded[path]; one != nil {
		return one.id
	}
	return ""
}

// folderOwner is the owner of the files in the user's folder.
const folderOwner = "folder"

// isDeleted reports whether a file is no longer a hook: it was deleted from the user's
// folder, or no owner wants it. Then its failures aren't faults. A file that settings, a
// registration or a launch names must be there.
func (t *fileTable) isDeleted(path string) bool {
	t.mu.Lock()
	one := t.loaded[path]
	folderOnly := false
	if one != nil && len(one.owners) == 1 {
		_, folderOnly = one.owners[folderOwner]
	}
	t.mu.Unlock()
	if one == nil {
		return true
	}
	if !folderOnly {
		return false
	}
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// goneNote says how a file that is gone but still runs as it was accepted can be ended; ""
// for every other file.
func (t *fileTable) goneNote(path string) string {
	if t.accepted == nil {
		return ""
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return filepath.Base(path) + " was deleted and keeps running as you accepted it until you run `hookmux config accept`"
}

// showPaths returns a text with the project's paths instead of its trusted copy's.
func (t *fileTable) showPaths(path, text string) string {
	t.mu.Lock()
	one := t.loaded[path]
	t.mu.Unlock()
	if one == nil {
		return text
	}
	return one.trusted.Shown(text)
}

// allFiles returns the files that are loaded, by path.
func (t *fileTable) allFiles() []*loadedFile {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.SortedFunc(maps.Values(t.loaded),
		func(a, b *loadedFile) int { return strings.Compare(a.path, b.path) })
}

// sourceFiles returns the paths of everything the files are made of, except trusted copies,
// which are out of reach.
func (t *fileTable) sourceFiles() []string {
	var list []string
	for _, one := range t.allFiles() {
		if one.trusted != nil {
			continue
		}
		list = append(list, one.path)
		if m := t.tsHookOf(one); m != nil {
			list = append(list, m.Info().Files...)
		}
	}
	return list
}

func (t *fileTable) closeAll() {
	t.mu.Lock()
	engine := t.engine
	t.engine = nil
	clear(t.loaded)
	clear(t.owners)
	clear(t.leaving)
	t.mu.Unlock()
	if engine != nil {
		engine.Close()
	}
}

// awaitReady waits until a file was loaded for the first time.
func (one *loadedFile) awaitReady(ctx context.Context) error {
	select {
	case <-one.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// problemKey begins the keys of a file's problems.
func problemKey(path string) string { return "ts:" + path + ":" }
