package tshook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/lazyregexp"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/tshook/bundle"
	"github.com/hookmux/hookmux/internal/tshook/engine"
	"github.com/hookmux/hookmux/internal/tshook/ops"
	"github.com/hookmux/hookmux/internal/tshook/pi"
)

var _ hook.Prompt = (*Hook)(nil)

// Hook is one loaded file. It is a [hook.Handler]; see [Hook.Registrations] for what it wants
// to be called for.
type Hook struct {
	engine *Engine
	path   string

	loading sync.Mutex // one load at a time

	mu       sync.Mutex
	src      Source
	info     Info
	current  *loadedCode   // what runs, nil when nothing does
	broken   error         // why nothing runs
	inputs   []bundle.File // what the running content was made from
	memories map[string]*sessionMemory
	queues   map[string]*sessionQueue
	reported map[problemKey]bool // problems of this content
	lacks    map[string]bool
}

// loadedCode is the file as it was loaded once, with the engine that runs it.
type loadedCode struct {
	runner    runner
	presenter presenter
	inputs    []bundle.File
	busy      sync.WaitGroup // events under way
	mu        sync.Mutex
	asked     map[int]*pendingEvent
}

// runner is an engine: QuickJS inside the daemon or a Node process.
type runner interface {
	Ask(kind, text string, note func(id int)) (int, <-chan engine.Outcome)
	Post(kind string, id int, text string)
	Forget(id int)
	Why() error
	Close()
}

// pendingEvent is an event that a runner is handling.
type pendingEvent struct {
	call   *hook.Call
	ctx    context.Context // ends when open dialogs must close
	cancel context.CancelFunc
	until  time.Time // when that will be, if ever
	// question is the question a file in log mode would have asked the user.
	question string
}

func newTSHook(e *Engine, src Source) *Hook {
	return &Hook{
		engine:   e,
		path:     src.Path,
		src:      src,
		info:     Info{Path: src.Path, Runtime: "quickjs", Files: []string{src.Path}},
		memories: map[string]*sessionMemory{},
		queues:   map[string]*sessionQueue{},
		reported: map[problemKey]bool{},
		lacks:    map[string]bool{},
	}
}

// isLogOnly reports whether the file only logs.
func (m *Hook) isLogOnly() bool {
	m.mu.Lock()
	logOnly := m.src.LogOnly
	m.mu.Unlock()
	return logOnly != nil && logOnly()
}

func (m *Hook) setSource(src Source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.src = src
}

// Path returns the file's.
func (m *Hook) Path() string { return m.path }

// Info returns what is known now.
func (m *Hook) Info() Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	info := m.info
	info.Events, info.Kinds, info.Files = slices.Clone(info.Events), slices.Clone(info.Kinds), slices.Clone(info.Files)
	info.Errors, info.Limits = slices.Clone(info.Errors), slices.Clone(info.Limits)
	return info
}

var asksForEntries = lazyregexp.New(
	`\b(entries|getEntries|getBranch|getLeafEntry|getLeafId|buildSessionContext|messages)\b`,
)

// Reload loads the file again. Running events finish in the old engine. A file that
// no longer loads leaves nothing running: the old content of a guard must not stay
// in force after its owner changed it.
func (m *Hook) Reload(ctx context.Context) error {
	m.loading.Lock()
	defer m.loading.Unlock()
	return m.loadFile(ctx)
}

func (m *Hook) loadFile(ctx context.Context) error {
	began := time.Now()
	m.mu.Lock()
	src, before := m.src, m.current
	m.mu.Unlock()

	content, err := src.Read(m.path)
	text := string(content)
	runtime := pi.RuntimeOf(text)
	if m.engine.host.Inspect != nil {
		runtime = "node"
	}
	info := Info{
		Path:       m.path,
		Runtime:    runtime,
		Generation: pi.GenerationOf(text),
		Files:      []string{m.path},
		Events:     []string{},
	}
	var next *loadedCode
	if err == nil {
		info.Hash = bundle.Hash(content)
		next, err = m.startRunner(ctx, src, content, &info)
	}
	if err != nil {
		info.Events = pi.MentionedEvents(text)
		var p *Problem
		if !errors.As(err, &p) {
			p = &Problem{Hook: m.path, Text: oneLine(err.Error())}
			err = p
		}
		info.Errors = []Problem{*p}
	}
	present := presenterFor(&info, text)
	if next != nil {
		next.presenter = present
	}
	info.Kinds = present.wantedKinds(asksForEntries.MatchString(text))
	info.LoadTime = toMilliseconds(time.Since(began))

	m.mu.Lock()
	info.Runs, info.Total, info.Longest, info.Reloads = m.info.Runs, m.info.Total, m.info.Longest, m.info.Reloads
	if !m.info.LoadedAt.IsZero() || m.broken != nil {
		info.Reloads++
	}
	news := info.Hash != m.info.Hash || info.Hash == ""
	if news {
		m.reported, m.lacks = map[problemKey]bool{}, map[string]bool{}
	} else {
		info.Errors = append(info.Errors, m.info.Errors...)
	}
	info.Limits = append(info.Limits, limitsFor(m.engine.host.Catalogue, &present)...)
	if !news {
		info.Limits = appendNewLimits(info.Limits, m.info.Limits) // found while running
	}
	if err == nil {
		info.LoadedAt = time.Now()
	}
	m.info, m.current, m.broken, m.inputs = info, next, err, nil
	if next != nil {
		m.inputs = next.inputs
	}
	m.mu.Unlock()

	before.closeWhenIdle(m.engine.host.Go)
	if err != nil {
		if p := (*Problem)(nil); errors.As(err, &p) {
			m.tellRecorder(*p)
		}
	}
	if changed := m.engine.host.Changed; changed != nil {
		changed(m)
	}
	return err
}

// startRunner starts an engine with the given content.
func (m *Hook) startRunner(ctx context.Context, src Source, content []byte, info *Info) (*loadedCode, error) {
	host := &m.engine.host
	b, err := bundle.Make(m.path, content, src.Read, host.CacheDir, info.Runtime)
	if wrong := (*bundle.Error)(nil); errors.As(err, &wrong) {
		return nil, &Problem{Hook: m.path, Where: wrong.Where, Text: wrong.Text}
	}
	if err != nil {
		return nil, err
	}
	info.Cached = b.Cached
	info.Files = info.Files[:0]
	for _, in := range b.Inputs {
		info.Files = append(info.Files, in.Path)
	}
	g := &loadedCode{asked: map[int]*pendingEvent{}, inputs: b.Inputs}
	who := &fileOwner{
		m:      m,
		g:      g,
		places: sync.OnceValue(func() *bundle.SourceMap { return bundle.ReadMap([]byte(b.Map), dirOf(m.path)) }),
	}
	if info.Runtime == "node" {
		var side *sidecar
		if side, err = startSidecar(host, who, b); err == nil {
			g.runner = side
		}
	} else {
		var own *engine.Machine
		if own, err = engine.NewMachine(host.Limits, ops.New(who), bundle.NameInEngine, b.Code); err == nil {
			g.runner = own
		}
	}
	if err != nil {
		return nil, err
	}
	settings, _ := json.Marshal(
		map[string]any{
			"file":       bundle.NameInEngine,
			"generation": info.Generation,
			"timeout":    host.HookTimeout.Milliseconds(),
			"sessions":   host.Limits.Sessions,
		},
	)
	ctx, cancel := context.WithTimeout(ctx, host.Limits.Load)
	defer cancel()
	_, answer := g.runner.Ask("load", string(settings), nil)
	if own, ok := g.runner.(*engine.Machine); ok {
		own.Strained = host.Strained
		own.Begin()
	}
	var o engine.Outcome
	select {
	case o = <-answer:
	case <-ctx.Done():
		o.Err = fmt.Errorf("not loaded within %s; something at its top waits for ever", host.Limits.Load)
	}
	if o.Err != nil {
		g.runner.Close()
		return nil, who.describeProblem("", o.Err)
	}
	var loaded struct {
		Events, Lacks   []string
		Tools, Commands []json.RawMessage
	}
	if err := json.Unmarshal(o.Value, &loaded); err != nil {
		g.runner.Close()
		return nil, err
	}
	info.Events, info.Tools, info.Commands = loaded.Events, loaded.Tools, loaded.Commands
	for _, what := range loaded.Lacks {
		info.Limits = append(info.Limits, Limit{Agent: hook.Any, Event: "", Text: what})
	}
	return g, nil
}

func presenterFor(info *Info, text string) presenter {
	p := presenter{
		generation: info.Generation,
		listens:    map[string]bool{},
		newReasons: strings.Contains(text, "before_new") && !strings.Contains(text, "before_clear"),
	}
	for _, name := range info.Events {
		p.listens[name] = true
	}
	return p
}

// closeWhenIdle closes the runner once its events are answered.
func (g *loadedCode) closeWhenIdle(run func(func())) {
	if g != nil {
		run(func() { g.busy.Wait(); g.runner.Close() })
	}
}

func (m *Hook) endWhenIdle() { m.takeCurrent().closeWhenIdle(m.engine.host.Go) }

func (m *Hook) endNow() {
	if g := m.takeCurrent(); g != nil {
		g.runner.Close()
	}
}

// takeCurrent takes the loading out that answers events; nil for none.
func (m *Hook) takeCurrent() *loadedCode {
	m.mu.Lock()
	defer m.mu.Unlock()
	g := m.current
	m.current, m.broken = nil, engine.ErrClosed
	return g
}

// acquireLoading returns the loading that answers an event, marked as busy. It loads
// the file again if the engine was dropped.
func (m *Hook) acquireLoading(ctx context.Context) (*loadedCode, error) {
	for range 2 {
		m.mu.Lock()
		g, err := m.current, m.broken
		if g != nil && g.runner.Why() == nil {
			g.busy.Add(1)
			m.mu.Unlock()
			return g, nil
		}
		m.mu.Unlock()
		if g == nil {
			return nil, err
		}
		// The reload continues after this event's deadline: the next event
		// needs it too.
		revived := make(chan error, 1)
		m.engine.host.Go(func() { revived <- m.reloadDropped(context.WithoutCancel(ctx), g) })
		select {
		case err := <-revived:
			if err != nil {
				return nil, err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("%s: %w", filepath.Base(m.path), errNoAnswer)
		}
	}
	return nil, engine.ErrClosed
}

// reloadDropped reloads a dropped engine, unless another event already did.
func (m *Hook) reloadDropped(ctx context.Context, dropped *loadedCode) error {
	m.loading.Lock()
	defer m.loading.Unlock()
	m.mu.Lock()
	current := m.current
	m.mu.Unlock()
	if current != dropped {
		return nil
	}
	return m.loadFile(ctx)
}

func toMilliseconds(d time.Duration) Milliseconds {
	return Milliseconds(float64(d.Microseconds()) / 1000)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
