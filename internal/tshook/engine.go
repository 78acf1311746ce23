package tshook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/tshook/bundle"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/ops"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

// Engine holds every loaded file. It may be used from any goroutine.
type Engine struct {
	host Host

	mu      sync.Mutex
	tsHooks map[string]*Hook            // by path
	queued  bounded.Map[string, *queue] // texts for a session's next event
	closed  bool
	watcher *watcher
}

// queue holds texts sent to a session whose agent has no channel for them.
type queue struct {
	texts []string
}

// maxQueued limits the texts kept for one session, maxQueues the sessions.
const (
	maxQueued = 32
	maxQueues = 256
)

// New makes an engine.
func New(host Host) *Engine {
	if host.Catalogue == nil {
		host.Catalogue = agent.Builtin()
	}
	if host.HookTimeout <= 0 {
		host.HookTimeout = DefaultHookTimeout
	}
	if host.Go == nil {
		host.Go = func(f func()) { go f() }
	}
	l, d := &host.Limits, DefaultLimits
	if l.Slice <= 0 {
		l.Slice = d.Slice
	}
	if l.Memory == 0 {
		l.Memory = d.Memory
	}
	if l.Load <= 0 {
		l.Load = d.Load
	}
	if l.Sessions <= 0 {
		l.Sessions = d.Sessions
	}
	return &Engine{host: host, tsHooks: map[string]*Hook{}}
}

// Source is a file to load.
type Source struct {
	Path string // absolute
	// Read returns a file's content; nil reads the disk. A daemon that trusts content rather
	// than files returns the trusted copies here, for the file itself and for everything it
	// imports by a relative path.
	Read func(path string) ([]byte, error)
	// Watch reloads the file whenever it, or a file it imports, changes.
	Watch bool
	// LogOnly reports whether the file only logs: then it reaches neither the agent nor the
	// user. If it is nil, the file doesn't only log.
	LogOnly func() bool
}

// CheckSyntax reads a file and what it imports without running it, and says what
// is wrong with them.
func CheckSyntax(path string) error {
	content, err := ops.ReadRegular(path)
	if err != nil {
		return err
	}
	_, err = bundle.Make(path, content, ops.ReadRegular, "", pi.RuntimeOf(string(content)))
	if at := (*bundle.Error)(nil); errors.As(err, &at) && at.Where != "" {
		return fmt.Errorf("%s: %w", at.Where, err)
	}
	return err
}

// Load loads a file, or returns what is wrong with it. It returns a hook in both cases: a
// hook that didn't load denies what it would have decided. Loading a path again keeps its
// hook and reloads the file.
func (e *Engine) Load(ctx context.Context, src Source) (*Hook, error) {
	if !filepath.IsAbs(src.Path) {
		return nil, errors.New(src.Path + ": the path of a hook must be absolute")
	}
	if src.Read == nil {
		src.Read = ops.ReadRegular
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, engine.ErrClosed
	}
	m := e.tsHooks[src.Path]
	if m == nil {
		m = newTSHook(e, src)
		e.tsHooks[src.Path] = m
	} else {
		m.setSource(src)
	}
	e.mu.Unlock()
	err := m.Reload(ctx)
	if src.Watch {
		e.watchTSHook(m)
	}
	return m, err
}

// Hook returns the hook of a path, nil when none was loaded from there.
func (e *Engine) Hook(path string) *Hook {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.tsHooks[path]
}

// TSHooks returns all of them, by path.
func (e *Engine) TSHooks() []*Hook {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := make([]*Hook, 0, len(e.tsHooks))
	for _, m := range e.tsHooks {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b *Hook) int { return strings.Compare(a.path, b.path) })
	return list
}

// Unload ends a hook. Events it is looking at are still answered.
func (e *Engine) Unload(path string) {
	e.mu.Lock()
	m := e.tsHooks[path]
	delete(e.tsHooks, path)
	e.mu.Unlock()
	if m != nil {
		m.endWhenIdle()
	}
}

// Close ends everything, without waiting for handlers.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	tsHooks, w := e.tsHooks, e.watcher
	e.tsHooks, e.watcher = map[string]*Hook{}, nil
	e.mu.Unlock()
	if w != nil {
		w.stopWatching()
	}
	for _, m := range tsHooks {
		m.endNow()
	}
}

// Forget drops what is kept about a session that ended without an event.
func (e *Engine) Forget(agent, session string) {
	e.mu.Lock()
	e.queued.Delete(sessionKey(agent, session))
	e.mu.Unlock()
	for _, m := range e.TSHooks() {
		m.forgetSession(sessionKey(agent, session))
	}
}

// Queued returns a handler that passes a session the texts that wait for it, as context. The
// daemon registers it once, for every event that can carry context.
func (e *Engine) Queued() hook.Handler {
	return hook.HandlerFunc(func(_ context.Context, call *hook.Call) (event.Decision, error) {
		if !call.Carries.Context {
			return event.Decision{}, nil
		}
		return event.Decision{Context: e.takeQueued(call.Event.Agent, call.Event.Session)}, nil
	})
}

func (e *Engine) takeQueued(agent, session string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	q, ok := e.queued.Get(sessionKey(agent, session))
	if !ok {
		return ""
	}
	e.queued.Delete(sessionKey(agent, session))
	return strings.Join(q.texts, "\n\n")
}

func (e *Engine) queueText(key, text string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	q, ok := e.queued.Get(key)
	if !ok {
		q = &queue{}
		e.queued.Put(key, q, maxQueues)
	}
	if len(q.texts) >= maxQueued {
		return errors.New("send: too many messages wait for this session's next event")
	}
	q.texts = append(q.texts, text)
	return nil
}

func sessionKey(agent, session string) string { return agent + "\x00" + session }
