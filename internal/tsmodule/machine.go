package tsmodule

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"modernc.org/quickjs"
)

//go:embed js
var scripts embed.FS

// parts are the JavaScript that engines start with or take in when they need
// it, as bytecode: each is made once in a process and loaded in a fraction of
// the time. It never leaves memory, because the engine does not check what it
// loads.
var parts = map[string]func() ([]byte, error){
	"core":     sync.OnceValues(func() ([]byte, error) { return compile("core") }),
	"common":   sync.OnceValues(func() ([]byte, error) { return compile("common") }),
	"web":      sync.OnceValues(func() ([]byte, error) { return compile("web") }),
	"node":     sync.OnceValues(func() ([]byte, error) { return compile("node") }),
	"packages": sync.OnceValues(func() ([]byte, error) { return compile("packages") }),
}

// script is one part as text: its files in order, without what a person needs
// to read them, because engines keep the text of every function.
func script(part string) (string, error) {
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
	small := api.Transform(text.String(), api.TransformOptions{MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true, Target: api.ES2023, Sourcefile: part})
	if len(small.Errors) > 0 {
		return "", fmt.Errorf("%s: %s", part, small.Errors[0].Text)
	}
	return string(small.Code), nil
}

func compile(part string) ([]byte, error) {
	text, err := script(part)
	if err != nil {
		return nil, err
	}
	code, err := bytecode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", part, err)
	}
	return code, nil
}

// machine is one engine on one goroutine. Everything that runs JavaScript is a
// job in its queue; jobs never wait for anything but Go's own sync calls.
type machine struct {
	vm    *quickjs.VM
	enter quickjs.Value
	dog   watchdog
	ops   *ops

	mu      sync.Mutex
	jobs    []job
	waiting int // bytes of the jobs
	wake    chan struct{}
	pending map[int]chan<- outcome // who waits for which load or event
	next    int
	ended   error // why it takes no more jobs
	done    chan struct{}
	wrecked bool  // the engine cannot even be closed
	doom    error // set on the goroutine: drop the engine after this job
	worn    bool  // the job took long: its goroutine's stack may have grown deep
	// strained, if not nil, is told of such jobs and of an engine that had to be
	// dropped.
	strained func()
	said     []answerTo
}

type job struct {
	kind string
	id   int
	json string
}

// outcome is what came of a load or an event.
type outcome struct {
	value json.RawMessage
	err   error
}

// jsError is an exception as JavaScript described it.
type jsError struct {
	Name    string `json:"name"`
	Message string `json:"message"`
	Stack   string `json:"stack"`
	Code    any    `json:"code"`
}

func (e *jsError) Error() string {
	if e.Name == "" || e.Name == "Error" {
		return e.Message
	}
	return e.Name + ": " + e.Message
}

var (
	errClosed = errors.New("the hook was unloaded")
	errMemory = errors.New("used up its memory")
	// errNotRun: the engine ended before it looked at the event, which may be
	// put to the next one.
	errNotRun = errors.New("the hook was loaded anew")
)

// errSlice is the end of an engine that did not give way.
type errSlice struct{ slice time.Duration }

func (e errSlice) Error() string {
	return fmt.Sprintf("computed for more than %s without giving way and was interrupted", e.slice)
}

// newMachine makes an engine in which the file called name has the given text.
// It does nothing before begin, and runs until close or until it had to be
// dropped.
func newMachine(limits Limits, o *ops, name, text string) (*machine, error) {
	code, err := parts["core"]()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	vm, err := quickjs.NewVM()
	if err != nil {
		return nil, fmt.Errorf("engine: %w", err)
	}
	m := &machine{vm: vm, ops: o, wake: make(chan struct{}, 1), pending: map[int]chan<- outcome{}, done: make(chan struct{})}
	m.dog = watchdog{interrupt: vm.Interrupt, slice: limits.Slice}
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
	o.machine = m
	if err := m.prepare(code); err != nil {
		_ = vm.Close()
		return nil, fmt.Errorf("engine: %w", err)
	}
	return m, nil
}

// begin takes the first job here and leaves the rest to a goroutine of the
// engine's own. Loading goes deep: who loads many files has the stack for it
// already, and most engines will not need one as deep again.
func (m *machine) begin() {
	if m.turn() {
		go m.loop()
	} else {
		m.over()
	}
}

func (m *machine) prepare(code []byte) error {
	if err := m.vm.RegisterHostFunc("__sync", m.sync); err != nil {
		return err
	}
	if err := m.vm.RegisterHostFunc("__async", m.async); err != nil {
		return err
	}
	if err := m.vm.RegisterHostFunc("__done", m.told); err != nil {
		return err
	}
	if _, err := m.vm.EvalBytecode(code); err != nil {
		return err
	}
	var err error
	m.enter, err = m.vm.EvalValue("(() => { const enter = globalThis.__enter; delete globalThis.__enter; enter.importFile = (file) => import(file); return enter; })()", quickjs.EvalGlobal)
	return err
}

// part takes in more of the world; JavaScript stands still meanwhile.
func (m *machine) part(name string) error {
	make := parts[name]
	if make == nil {
		return fmt.Errorf("no part %q", name)
	}
	code, err := make()
	if err != nil {
		return err
	}
	_, err = m.vm.EvalBytecode(code)
	return err
}

// sync is JavaScript's question to Go: op and JSON in, JSON out.
func (m *machine) sync(args []any) (_ any, err error) {
	defer survive(&err)
	op, _ := args[0].(string)
	text, _ := args[1].(string)
	return m.ops.call(op, json.RawMessage(text)), nil
}

// async is a question that is answered later, by a reply.
func (m *machine) async(args []any) (_ any, err error) {
	defer survive(&err)
	id := number(args[0])
	op, _ := args[1].(string)
	text, _ := args[2].(string)
	key, _ := args[3].(string)
	m.ops.start(id, op, json.RawMessage(text), key)
	return nil, nil
}

// told hears what came of a load or an event: its number, and JSON unless there
// is nothing to say.
func (m *machine) told(args []any) (_ any, err error) {
	defer survive(&err)
	text, _ := args[1].(string)
	m.answered(number(args[0]), outcome{value: json.RawMessage(text)})
	return nil, nil
}

// survive turns a panic of ours into an exception: a fault in one operation
// must not take the hub along.
func survive(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("hookmux failed: %v", p)
	}
}

func number(v any) int {
	switch v := v.(type) {
	case int:
		return v
	case float64:
		return int(v)
	}
	return 0
}

// ask starts a load or an event; the channel gets its outcome. note hears its
// number before anything runs.
func (m *machine) ask(kind, text string, note func(id int)) (int, <-chan outcome) {
	answer := make(chan outcome, 1)
	m.mu.Lock()
	if m.ended != nil {
		m.mu.Unlock()
		answer <- outcome{err: errNotRun}
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

// tell posts something nobody waits for.
func (m *machine) tell(kind string, id int, text string) { m.post(job{kind, id, text}) }

// forget gives up on an answer, on both sides.
func (m *machine) forget(id int) {
	m.mu.Lock()
	delete(m.pending, id)
	m.mu.Unlock()
	m.tell("abandon", id, "")
}

// answered notes what came of a load or an event. It is called while a turn
// runs, and told when the turn is over: what an engine said that had to be
// interrupted is not to be relied on.
func (m *machine) answered(id int, o outcome) { m.said = append(m.said, answerTo{id, o}) }

type answerTo struct {
	id int
	outcome
}

func (m *machine) deliver() {
	for _, a := range m.said {
		m.mu.Lock()
		answer := m.pending[a.id]
		delete(m.pending, a.id)
		m.mu.Unlock()
		if answer != nil {
			answer <- a.outcome
		}
	}
	clear(m.said)
	m.said = m.said[:0]
}

func (m *machine) loop() {
	for m.turn() {
		if m.worn {
			// Stacks shrink by and by, and only while something else happens: a
			// recursion's megabytes are given back with their goroutine, and with the
			// engine's own stack.
			m.worn = false
			renewStack(m.vm)
			go m.loop()
			m.strain()
			return
		}
	}
	m.over()
}

func (m *machine) strain() {
	if m.strained != nil {
		m.strained()
	}
}

// turn does the next job, or waits for one; false means that the engine is to
// be dropped.
func (m *machine) turn() bool {
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
	m.run(j)
	if m.doom != nil {
		m.end(m.doom)
		return false
	}
	m.deliver()
	return true
}

// over gives back what the engine has.
func (m *machine) over() {
	defer close(m.done)
	if m.doom != nil {
		defer m.strain()
	}
	m.ops.close()
	if m.wrecked {
		return // taking apart what stumbled could end the whole program
	}
	m.enter.Free()
	_ = m.vm.Close()
}

// run does one turn: enter JavaScript, then everything that became due.
func (m *machine) run(j job) {
	began := time.Now()
	defer func() {
		// Seldom the engine itself stumbles when it has no memory left to say so.
		if p := recover(); p != nil {
			m.dog.stop()
			m.wrecked, m.doom = true, errMemory
		}
	}()
	m.dog.start()
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
	if m.dog.stop() {
		m.doom = errSlice{m.dog.slice}
		return
	}
	m.worn = time.Since(began) > wearing
	switch {
	case err == nil:
	case outOfMemory(err):
		m.doom = errMemory
	case strings.Contains(err.Error(), "aborted draining"):
		m.doom = errSlice{m.dog.slice}
	default:
		// The world catches what handlers throw; this is its own.
		m.ops.trouble("", &jsError{Name: "InternalError", Message: err.Error()})
	}
	// Without memory nobody can say that there is none: exceptions need some,
	// and a handler's promise may be lost for ever. A turn that took its time
	// is asked whether the engine is still well.
	if m.doom == nil && time.Since(began) > unwell {
		if _, err := m.enter.Call(quickjs.UndefinedValue, "well", 0, ""); err != nil {
			m.doom = errMemory
		}
	}
}

// maxDepth is how deep calls may be nested, about as deep as in Node.
const maxDepth = 8000

const unwell = 5 * time.Millisecond

// wearing is far beyond what handlers need for themselves.
const wearing = 20 * time.Millisecond

// outOfMemory knows both forms: the second is an exception for which there was
// no memory left.
func outOfMemory(err error) bool {
	text := err.Error()
	return strings.Contains(text, "out of memory") || text == "null"
}

// end refuses further jobs and tells everybody who waits why.
func (m *machine) end(why error) {
	m.mu.Lock()
	if m.ended != nil {
		m.mu.Unlock()
		return
	}
	m.ended = why
	pending, jobs := m.pending, m.jobs
	m.pending, m.jobs = map[int]chan<- outcome{}, nil
	m.mu.Unlock()
	for _, j := range jobs {
		if answer := pending[j.id]; answer != nil && (j.kind == "event" || j.kind == "call") {
			answer <- outcome{err: errNotRun}
			delete(pending, j.id)
		}
	}
	for _, answer := range pending {
		answer <- outcome{err: why}
	}
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// close ends the engine and waits until its memory is given back. A turn under
// way is interrupted.
func (m *machine) close() {
	m.end(errClosed)
	m.ops.cancel() // a process the turn stands still for
	m.dog.hurry()
	<-m.done
}

// why is what ended the engine, nil while it runs.
func (m *machine) why() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.ended
}

func (m *machine) condemn(why error)    { m.doom = why }
func (m *machine) outside(f func())     { m.dog.outside(f) }
func (m *machine) limit() time.Duration { return m.dog.slice }
