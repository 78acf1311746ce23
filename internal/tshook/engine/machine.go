package engine

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
)

//go:embed js
var scripts embed.FS

// parts is the JavaScript that engines start with or load when they need it, as bytecode:
// each is compiled once per process. Bytecode is never written to disk, because the engine
// doesn't check what it loads.
var parts = map[string]func() ([]byte, error){
	"core":     sync.OnceValues(func() ([]byte, error) { return compilePart("core") }),
	"common":   sync.OnceValues(func() ([]byte, error) { return compilePart("common") }),
	"web":      sync.OnceValues(func() ([]byte, error) { return compilePart("web") }),
	"node":     sync.OnceValues(func() ([]byte, error) { return compilePart("node") }),
	"packages": sync.OnceValues(func() ([]byte, error) { return compilePart("packages") }),
}

// partText returns the source of one part: its files in order, minified, because engines
// keep the text of every function.
func partText(part string) (string, error) {
	names, err := fs.Glob(scripts, "js/"+part+"/*.js") // in order
	if err != nil {
		return "", err
	}
	var text strings.Builder
	text.WriteString("(() => {\"use strict\";\n")
	for _, name := range names {
		piece, err := scripts.ReadFile(name)
		if err != nil {
			return "", err
		}
		text.Write(piece)
	}
	text.WriteString("\n})();")
	small := api.Transform(text.String(), api.TransformOptions{MinifyWhitespace: true, MinifySyntax: true,
		MinifyIdentifiers: true, Target: api.ES2023, Sourcefile: part})
	if len(small.Errors) > 0 {
		return "", fmt.Errorf("%s: %s", part, small.Errors[0].Text)
	}
	return string(small.Code), nil
}

func compilePart(part string) ([]byte, error) {
	text, err := partText(part)
	if err != nil {
		return nil, err
	}
	code, err := compileBytecode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	return code, nil
}

// Machine is one engine on one goroutine. Everything that runs JavaScript is a job in its
// queue; jobs wait for nothing except Go's own sync calls.
type Machine struct {
	vm       *quickjs.VM
	enter    quickjs.Value
	watchdog watchdog
	rejected *rejections
	ops      Operations

	mu         sync.Mutex
	jobs       []job
	waiting    int // bytes of the jobs
	wake       chan struct{}
	pending    map[int]chan<- Outcome // who waits for which load or event
	next       int
	ended      error // why it takes no more jobs
	done       chan struct{}
	unusable   bool  // the engine cannot even be closed
	dropReason error // set on the goroutine: drop the engine after this job
	deepStack  bool  // the job took long: its goroutine's stack may have grown deep
	// Strained, if not nil, is called after such jobs and after an engine had to be dropped.
	Strained func()
	answers  []answerTo
}

type job struct {
	kind string
	id   int
	json string
}

// Outcome is the result of a load or an event.
type Outcome struct {
	Value json.RawMessage
	Err   error
}

// JSError is an exception as JavaScript described it.
type JSError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Code    any    `json:"code"`
}

func (e *JSError) Error() string {
	if e.Name == "" || e.Name == "Error" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

// The messages of QuickJS at its limits, which have no other sign.
const (
	memoryWords    = "out of memory"
	interruptWords = "interrupted"
	drainWords     = "aborted draining"
	internalError  = "InternalError"
)

// IsOutOfMemory reports whether the engine ran out of memory.
func (e *JSError) IsOutOfMemory() bool {
	return e.Name == internalError && strings.Contains(e.Message, memoryWords)
}

// IsInterrupted reports whether the engine was stopped for computing too long.
func (e *JSError) IsInterrupted() bool { return e.Name == internalError && e.Message == interruptWords }

// MemoryMessage returns hookmux's message for an error that [JSError.IsOutOfMemory].
func (e *JSError) MemoryMessage() string {
	return strings.Replace(e.Message, memoryWords, ErrMemory.Error(), 1)
}

// Why an engine ended, or did not run an event.
var (
	ErrClosed = errors.New("the hook was unloaded")
	ErrMemory = errors.New("used up its memory")
	// ErrNotRun: the engine ended before it looked at the event, which may be
	// put to the next one.
	ErrNotRun = errors.New("the hook was reloaded")
)

// SliceError is the error of an engine that didn't yield.
type SliceError struct{ Limit time.Duration }

func (e SliceError) Error() string {
	return fmt.Sprintf("computed for more than %s without giving way and was interrupted", e.Limit)
}

// NewMachine makes an engine in which the file called name has the given text.
// It does nothing before begin, and runs until close or until it had to be
// dropped.
func NewMachine(limits Limits, o Operations, name, text string) (*Machine, error) {
	code, err := parts["core"]()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	m := &Machine{vm: vm, ops: o, wake: make(chan struct{}, 1), pending: map[int]chan<- Outcome{},
		done: make(chan struct{})}
	m.watchdog = watchdog{interrupt: vm.Interrupt, slice: limits.Slice}
	m.rejected = trackRejections(vm)
	vm.SetMemoryLimit(uintptr(limits.Memory))
	vm.SetMaxStackSize(maxDepth)
	vm.SetModuleLoader(
		func(_ *quickjs.VM, wanted string) (string, error) {
			if wanted != name {
				return "", fmt.Errorf("%s cannot be imported here; import it at the top of the file", wanted)
			}
			return text, nil
		},
		func(_ *quickjs.VM, _, wanted string) (string, error) { return wanted, nil },
	)
	o.Attach(m)
	if err := m.prepareVM(code); err != nil {
		m.rejected.stopTracking()
		_ = vm.Close()
		return nil, fmt.Errorf("engine: %w", err)
	}
	return m, nil
}

// Begin runs the first job on the caller's goroutine and the rest on a new one.
// Loading needs a deep stack: a caller that loads many files has grown one already,
// and most engines never need it again.
func (m *Machine) Begin() {
	if m.runNext() {
		go m.runJobs()
	} else {
		m.closeVM()
	}
}

func (m *Machine) prepareVM(code []byte) error {
	if err := m.vm.RegisterHostFunc("__sync", m.callSync); err != nil {
		return err
	}
	if err := m.vm.RegisterHostFunc("__async", m.callAsync); err != nil {
		return err
	}
	if err := m.vm.RegisterHostFunc("__done", m.takeOutcome); err != nil {
		return err
	}
	if _, err := m.vm.EvalBytecode(code); err != nil {
		return err
	}
	var err error
	m.enter, err = m.vm.EvalValue("(() => { const enter = globalThis.__enter; delete globalThis.__enter; "+
		"enter.importFile = (file) => import(file); return enter; })()", quickjs.EvalGlobal)
	return err
}

// LoadPart loads one more part, while JavaScript waits.
func (m *Machine) LoadPart(name string) error {
	compile := parts[name]
	if compile == nil {
		return fmt.Errorf("no part %q", name)
	}
	code, err := compile()
	if err != nil {
		return err
	}
	_, err = m.vm.EvalBytecode(code)
	return err
}

// callSync is JavaScript's question to Go: op and JSON in, JSON out.
func (m *Machine) callSync(args []any) (_ any, err error) {
	defer recoverPanic(&err)
	op, _ := args[0].(string)
	text, _ := args[1].(string)
	return m.ops.Call(op, json.RawMessage(text)), nil
}

// callAsync returns a question that is answered later, by a reply.
func (m *Machine) callAsync(args []any) (_ any, err error) {
	defer recoverPanic(&err)
	id := toInt(args[0])
	op, _ := args[1].(string)
	text, _ := args[2].(string)
	key, _ := args[3].(string)
	m.ops.Start(id, op, json.RawMessage(text), key)
	return nil, nil
}

// takeOutcome receives the outcome of a load or an event: its number, and JSON or
// nothing.
func (m *Machine) takeOutcome(args []any) (_ any, err error) {
	defer recoverPanic(&err)
	text, _ := args[1].(string)
	m.Answered(toInt(args[0]), Outcome{Value: json.RawMessage(text)})
	return nil, nil
}

// recoverPanic turns a panic of hookmux's code into an exception: a fault in one operation
// must not take the daemon down.
func recoverPanic(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("hookmux failed: %v", p)
	}
}

func toInt(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return 0
}

// Ask starts a load or an event; the channel gets its outcome. note is called with its
// number before anything runs.
func (m *Machine) Ask(kind, text string, note func(id int)) (int, <-chan Outcome) {
	answer := make(chan Outcome, 1)
	m.mu.Lock()
	if m.ended != nil {
		m.mu.Unlock()
		answer <- Outcome{Err: ErrNotRun}
		return 0, answer
	}
	m.next++
	id := m.next
	m.pending[id] = answer
	if note != nil {
		note(id)
	}
	m.jobs = append(m.jobs, job{kind, id, text})
	m.waiting += len(text)
	m.mu.Unlock()
	select {
	case m.wake <- struct{}{}:
	default:
	}
	return id, answer
}

// Post posts something without waiting for it.
func (m *Machine) Post(kind string, id int, text string) { m.postJob(job{kind, id, text}) }

// Forget gives up on an answer, on both sides.
func (m *Machine) Forget(id int) {
	m.mu.Lock()
	delete(m.pending, id)
	m.mu.Unlock()
	m.Post("abandon", id, "")
}

// Answered records the outcome of a load or an event. It is called during a turn and
// delivered when the turn is over: an outcome of an interrupted engine is not
// reliable.
func (m *Machine) Answered(id int, o Outcome) { m.answers = append(m.answers, answerTo{id, o}) }

type answerTo struct {
	id int
	Outcome
}

func (m *Machine) deliverAnswers() {
	for _, a := range m.answers {
		m.mu.Lock()
		answer := m.pending[a.id]
		delete(m.pending, a.id)
		m.mu.Unlock()
		if answer != nil {
			answer <- a.Outcome
		}
	}
	clear(m.answers)
	m.answers = m.answers[:0]
}

func (m *Machine) runJobs() {
	for m.runNext() {
		if m.deepStack {
			// A goroutine's stack shrinks slowly. A new goroutine and a new engine
			// stack free the megabytes of a deep recursion at once.
			m.deepStack = false
			renewStack(m.vm)
			go m.runJobs()
			m.tellStrained()
			return
		}
	}
	m.closeVM()
}

func (m *Machine) tellStrained() {
	if m.Strained != nil {
		m.Strained()
	}
}

// runNext does the next job, or waits for one; false means that the engine is to
// be dropped.
func (m *Machine) runNext() bool {
	m.mu.Lock()
	if m.ended != nil {
		m.mu.Unlock()
		return false
	}
	if len(m.jobs) == 0 {
		m.jobs = nil
		m.mu.Unlock()
		<-m.wake
		return true
	}
	j := m.jobs[0]
	m.jobs = m.jobs[1:]
	m.waiting -= len(j.json)
	m.mu.Unlock()
	m.runJob(j)
	if m.dropReason != nil {
		m.refuseJobs(m.dropReason)
		return false
	}
	m.deliverAnswers()
	return true
}

// closeVM frees the engine.
func (m *Machine) closeVM() {
	defer close(m.done)
	if m.dropReason != nil {
		defer m.tellStrained()
	}
	m.ops.Close()
	if m.unusable {
		trackers.Delete(m.rejected.id)
		return // closing a broken engine could crash the program
	}
	m.rejected.stopTracking()
	m.enter.Free()
	_ = m.vm.Close()
}

// runJob does one turn: enter JavaScript, then everything that became due.
func (m *Machine) runJob(j job) {
	began := time.Now()
	defer func() {
		// The engine itself can crash when it has no memory left.
		if p := recover(); p != nil {
			m.watchdog.stopTurn()
			m.unusable, m.dropReason = true, ErrMemory
		}
	}()
	m.watchdog.startTurn()
	var err error
	if j.kind == "call" {
		about, rest, _ := strings.Cut(j.json, "\n")
		own, text, _ := strings.Cut(rest, "\n")
		_, err = m.enter.Call(quickjs.UndefinedValue, j.kind, j.id, about, own, text)
	} else {
		_, err = m.enter.Call(quickjs.UndefinedValue, j.kind, j.id, j.json)
	}
	if err == nil {
		_, err = m.vm.ExecutePendingJobs()
	}
	if m.watchdog.stopTurn() {
		m.dropReason = SliceError{m.watchdog.slice}
		return
	}
	if err == nil && m.dropReason == nil && len(m.rejected.list) > 0 && !m.loadFailed() {
		if m.reportRejections() {
			return
		}
	}
	m.deepStack = time.Since(began) > longTurn
	switch {
	case err == nil:
	case outOfMemory(err):
		m.dropReason = ErrMemory
	case strings.Contains(err.Error(), drainWords):
		m.dropReason = SliceError{m.watchdog.slice}
	default:
		// hookmux's JavaScript catches what handlers throw, so this is its own error.
		m.ops.ReportError("", &JSError{Name: internalError, Message: err.Error()})
	}
	// Without memory no exception can be made, and a handler's promise may never
	// settle. After a long turn the engine is checked for free memory.
	if m.dropReason == nil && time.Since(began) > checkAfter {
		if _, err := m.enter.Call(quickjs.UndefinedValue, "well", 0, ""); err != nil {
			m.dropReason = ErrMemory
		}
	}
}

// reportRejections is a turn of its own; it returns whether the turn was interrupted.
func (m *Machine) reportRejections() (interrupted bool) {
	m.watchdog.startTurn()
	m.rejected.report(func() {
		if _, err := m.enter.Call(quickjs.UndefinedValue, "rejected", 0, ""); err != nil && outOfMemory(err) {
			m.dropReason = ErrMemory
		}
	})
	if m.watchdog.stopTurn() {
		m.dropReason = SliceError{m.watchdog.slice}
		return true
	}
	return false
}

// loadID is the number of the first job, which loads the file.
const loadID = 1

// loadFailed reports whether this turn ended the loading with an error. The promise
// of the import is then rejected as well, and the error is known already.
func (m *Machine) loadFailed() bool {
	return slices.ContainsFunc(m.answers, func(a answerTo) bool { return a.id == loadID && a.Err != nil })
}

// maxDepth is how deep calls may be nested, about as deep as in Node.
const maxDepth = 8000

const checkAfter = 5 * time.Millisecond

// longTurn is far beyond what handlers need for themselves.
const longTurn = 20 * time.Millisecond

// outOfMemory knows both forms: the second is an exception that could not be
// allocated.
func outOfMemory(err error) bool {
	text := err.Error()
	return strings.Contains(text, memoryWords) || text == "null"
}

// refuseJobs rejects further jobs and lets everything that waits know why.
func (m *Machine) refuseJobs(why error) {
	m.mu.Lock()
	if m.ended != nil {
		m.mu.Unlock()
		return
	}
	m.ended = why
	pending, jobs := m.pending, m.jobs
	m.pending, m.jobs = map[int]chan<- Outcome{}, nil
	m.mu.Unlock()
	for _, j := range jobs {
		if answer := pending[j.id]; answer != nil && (j.kind == "event" || j.kind == "call") {
			answer <- Outcome{Err: ErrNotRun}
			delete(pending, j.id)
		}
	}
	for _, answer := range pending {
		answer <- Outcome{Err: why}
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// Close ends the engine and waits until its memory is given back. A turn under
// way is interrupted.
func (m *Machine) Close() {
	m.refuseJobs(ErrClosed)
	m.ops.Cancel() // a process the turn is blocked on
	m.watchdog.endSlice()
	<-m.done
}

// Why returns what ended the engine, nil while it runs.
func (m *Machine) Why() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

// DropAfter has the engine dropped after this turn.
func (m *Machine) DropAfter(why error) { m.dropReason = why }

// RunUnwatched runs f off the engine's time.
func (m *Machine) RunUnwatched(f func()) { m.watchdog.runOutside(f) }

// Slice returns how long a turn may compute without giving way.
func (m *Machine) Slice() time.Duration { return m.watchdog.slice }
