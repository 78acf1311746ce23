// Package ops implements everything a file may ask of Go: Node's API (files, processes,
// servers, addresses, hashes) and what only hookmux has (dialogs, messages, models). There
// is no other way out of an engine, and each operation reports to its [Owner] what was done.
package ops

import (
	"context"
	"crypto/hmac"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/tshook/engine"
	"modernc.org/quickjs"
)

// Operations is everything a file may ask of Go, on behalf of one engine. There is no
// other way out of an engine.
type Operations struct {
	owner  Owner
	engine engine.Runtime
	born   time.Time
	ctx    context.Context // ends with the engine
	cancel context.CancelFunc

	mu           sync.Mutex
	closed       bool
	stoppers     map[int]func() // what lasts: timers, watches, servers, processes, dialogs
	children     map[int]*child
	requests     map[int]chan<- httpAnswer
	requested    int
	requestLimit requestLimit // of requests to its servers
}

// Owner is the part of a hook that ops need.
type Owner interface {
	File() string
	Version() string
	ChildEnv() []string // marks what runs below a hook
	RecordAction(key, action, detail string, err error)
	RecordConsole(level, text string)
	ReportError(event string, e *engine.JSError, dispatch int)
	ReportLimit(agent, what string)
	Ask(ctx context.Context, dispatch int, q Question) Answer
	Notify(dispatch int, text, level string)
	Send(key string, m Message) error
	Entries(key string) any
	Model(ctx context.Context, dispatch int, args json.RawMessage) (json.RawMessage, error)
	RunAgentAction(key string, args json.RawMessage)
}

// New makes the operations of one engine.
func New(o Owner) *Operations {
	ctx, cancel := context.WithCancel(context.Background())
	return &Operations{owner: o, born: time.Now(), ctx: ctx, cancel: cancel, stoppers: map[int]func(){},
		children: map[int]*child{}, requests: map[int]chan<- httpAnswer{}}
}

// Attach says which engine asks.
func (o *Operations) Attach(r engine.Runtime) { o.engine = r }

// Cancel ends the operation that the engine waits for.
func (o *Operations) Cancel() { o.cancel() }

// Close ends whatever the engine started.
func (o *Operations) Close() {
	o.mu.Lock()
	o.closed = true
	stoppers := o.stoppers
	o.stoppers = map[int]func(){}
	o.mu.Unlock()
	o.cancel()
	for _, stop := range stoppers {
		stop()
	}
}

// keepStopper notes how to end something that lasts; it is ended at once when the
// engine is gone already.
func (o *Operations) keepStopper(id int, stop func()) {
	o.mu.Lock()
	if !o.closed {
		o.stoppers[id] = stop
		o.mu.Unlock()
		return
	}
	o.mu.Unlock()
	stop()
}

func (o *Operations) dropStopper(id int) (stop func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	stop = o.stoppers[id]
	delete(o.stoppers, id)
	return stop
}

type answer struct {
	Value any        `json:"value"`
	Error *hostError `json:"error,omitempty"`
}

func encodeAnswer(value any, err error) []byte {
	a := answer{Value: value}
	if err != nil {
		a.Error = describeError(err)
	}
	b, err := json.Marshal(a)
	if err != nil {
		b, _ = json.Marshal(answer{Error: &hostError{Message: err.Error()}})
	}
	return b
}

func readArgs[T any](args json.RawMessage) (v T, err error) {
	err = json.Unmarshal(args, &v)
	return v, err
}

// Call answers at once, on the engine's goroutine.
func (o *Operations) Call(op string, args json.RawMessage) string {
	var value any
	var err error
	switch op {
	case "done":
		o.takeDone(args)
	case "clock":
		value = float64(time.Since(o.born).Microseconds()) / 1000
	default:
		o.engine.RunUnwatched(func() { value, err = o.answerNow(op, args) })
	}
	if value == nil && err == nil {
		return `{"value":null}`
	}
	return string(encodeAnswer(value, err))
}

func (o *Operations) takeDone(args json.RawMessage) {
	var said struct {
		ID    int             `json:"id"`
		Value json.RawMessage `json:"value"`
		Error *engine.JSError `json:"error"`
	}
	if err := json.Unmarshal(args, &said); err != nil {
		return
	}
	if said.Error != nil {
		o.explainLimit(said.Error)
		o.engine.Answered(said.ID, engine.Outcome{Err: said.Error})
		return
	}
	o.engine.Answered(said.ID, engine.Outcome{Value: said.Value})
}

// explainLimit recognises the errors of an engine that hit a limit, and describes
// them.
func (o *Operations) explainLimit(e *engine.JSError) {
	switch {
	case e == nil:
	case e.IsOutOfMemory():
		o.engine.DropAfter(engine.ErrMemory)
		*e = engine.JSError{Message: e.MemoryMessage(), Stack: e.Stack}
	case e.IsInterrupted():
		*e = engine.JSError{Message: engine.SliceError{Limit: o.engine.Slice()}.Error(), Stack: e.Stack}
	}
}

func (o *Operations) ReportError(event string, e *engine.JSError) { o.owner.ReportError(event, e, 0) }

func (o *Operations) answerNow(op string, args json.RawMessage) (any, error) {
	switch op {
	case "part":
		name, err := readArgs[string](args)
		if err != nil {
			return nil, err
		}
		return nil, o.engine.LoadPart(name)
	case "about":
		return o.processInfo(), nil
	case "said":
		v, err := readArgs[struct{ Level, Text string }](args)
		o.owner.RecordConsole(v.Level, v.Text)
		return nil, err
	case "problem":
		v, err := readArgs[struct {
			Dispatch int
			Event    string
			Error    engine.JSError
		}](args)
		o.explainLimit(&v.Error)
		o.owner.ReportError(v.Event, &v.Error, v.Dispatch)
		return nil, err
	case "lacking":
		v, err := readArgs[struct{ Agent, What string }](args)
		o.owner.ReportLimit(v.Agent, v.What)
		return nil, err
	case "notify":
		v, err := readArgs[struct {
			Dispatch    int
			Text, Level string
		}](args)
		o.owner.Notify(v.Dispatch, v.Text, v.Level)
		return nil, err
	case "send":
		return o.sendMessage(args)
	case "entries":
		v, err := readArgs[struct{ Key string }](args)
		return o.owner.Entries(v.Key), err
	case "stop":
		id, err := readArgs[int](args)
		if stop := o.dropStopper(id); stop != nil {
			stop()
		}
		return nil, err
	case "random":
		n, err := readArgs[int](args)
		if err != nil || n < 0 || n > 1<<20 {
			return nil, errors.New("randomBytes: between 0 and 1048576 bytes, please")
		}
		b := make([]byte, n)
		_, err = rand.Read(b)
		return b, err
	case "bytes": // of a text
		v, err := readArgs[string](args)
		return nonNil([]byte(v)), err
	case "words": // of bytes, if they are any
		v, err := readArgs[[]byte](args)
		return decodeText(v, true), err
	case "hash":
		return hashOf(args)
	case "zlib":
		return compressData(args)
	case "url":
		return parseURL(args)
	case "kill":
		v, err := readArgs[struct {
			ID     int
			Signal string
		}](args)
		return o.killChild(v.ID, v.Signal), err
	case "input":
		return nil, o.writeInput(args)
	case "respond":
		return nil, o.respondHTTP(args)
	case "execsync":
		return o.execSync(args)
	}
	if f, ok := fileOps[op]; ok {
		return o.onFile(op, f, args, "")
	}
	return nil, fmt.Errorf("%s: no such operation", op)
}

// Start answers later, through the machine's queue.
func (o *Operations) Start(id int, op string, args json.RawMessage, key string) {
	finish := func(value any, err error) { o.engine.Reply(id, encodeAnswer(value, err)) }
	data := func(v any) {
		if b, err := json.Marshal(map[string]any{"data": v}); err == nil {
			o.engine.Reply(id, b)
		}
	}
	switch op {
	case "timer":
		ms, _ := readArgs[float64](args)
		timer := time.AfterFunc(time.Duration(ms*float64(time.Millisecond)), func() {
			o.dropStopper(id)
			finish(nil, nil)
		})
		o.keepStopper(id, func() { timer.Stop() })
	case "act":
		o.owner.RunAgentAction(key, args)
		finish(nil, nil)
	case "ask", "model", "fetch":
		ctx, cancel := context.WithCancel(o.ctx)
		o.keepStopper(id, cancel)
		go func() {
			defer cancel()
			value, err := o.answerLater(ctx, op, args, key)
			o.dropStopper(id)
			finish(value, err)
		}()
	case "exec":
		o.execCommand(id, args, key, finish)
	case "spawn":
		o.spawnChild(id, args, key, data, finish)
	case "watch":
		o.watchPath(id, args, key, data, finish)
	case "listen":
		o.listenHTTP(id, args, key, data, finish)
	default:
		f, ok := fileOps[op]
		if !ok {
			finish(nil, fmt.Errorf("%s: no such operation", op))
			return
		}
		go func() { finish(o.onFile(op, f, args, key)) }()
	}
}

// answerLater answers the questions that wait for the user or the network.
func (o *Operations) answerLater(ctx context.Context, op string, args json.RawMessage, key string) (any, error) {
	switch op {
	case "ask":
		v, err := readArgs[struct {
			Dispatch                       int
			Kind, Title, Text, Placeholder string
			Options                        []string
		}](args)
		if err != nil {
			return nil, err
		}
		a := o.owner.Ask(ctx, v.Dispatch, Question{Kind: QuestionKind(v.Kind), Title: v.Title, Text: v.Text,
			Placeholder: v.Placeholder, Options: v.Options})
		return map[string]any{"cancelled": a.Cancelled, "confirmed": a.Confirmed, "value": a.Value}, nil
	case "model":
		v, err := readArgs[struct{ Dispatch int }](args)
		if err != nil {
			return nil, err
		}
		return o.owner.Model(ctx, v.Dispatch, args)
	}
	return o.fetchURL(ctx, args, key)
}

// sendMessage returns a failure as a value, which the hook gets as an error.
func (o *Operations) sendMessage(args json.RawMessage) (any, error) {
	v, err := readArgs[struct {
		Key, Text, Deliver string
		Turn               bool
		Attachments        []Attachment
	}](args)
	if err != nil {
		return nil, err
	}
	if err := o.owner.Send(v.Key, Message{Text: v.Text, Deliver: v.Deliver, Turn: v.Turn,
		Attachments: v.Attachments}); err != nil {
		return err.Error(), nil
	}
	return nil, nil
}

func (o *Operations) processInfo() any {
	env := map[string]string{}
	for _, pair := range os.Environ() {
		if name, value, ok := strings.Cut(pair, "="); ok && name != "" {
			env[name] = value
		}
	}
	home, _ := os.UserHomeDir()
	cwd, _ := os.Getwd()
	host, _ := os.Hostname()
	return map[string]any{
		"env": env, "home": home, "tmp": strings.TrimRight(os.TempDir(), "/"), "cwd": cwd, "host": host,
		"user": env["USER"], "pid": os.Getpid(), "ppid": os.Getppid(), "uid": os.Getuid(),
		"platform": runtime.GOOS, "arch": nodeArchitecture(),
		"cpus": runtime.NumCPU(), "file": o.owner.File(), "engine": quickjs.Version(), "version": o.owner.Version(),
	}
}

// nodeArchitecture returns what Node calls this machine's architecture.
func nodeArchitecture() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x64"
	case "386":
		return "ia32"
	}
	return runtime.GOARCH
}

func hashOf(args json.RawMessage) (any, error) {
	v, err := readArgs[struct {
		Algorithm string
		Data      []byte
		Key       *[]byte
	}](args)
	if err != nil {
		return nil, err
	}
	makers := map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New,
		"sha384": sha512.New384, "sha512": sha512.New}
	maker := makers[v.Algorithm]
	if maker == nil {
		return nil, fmt.Errorf("hash %q is not known here; use sha256", v.Algorithm)
	}
	h := maker()
	if v.Key != nil {
		h = hmac.New(maker, *v.Key)
	}
	h.Write(v.Data)
	return h.Sum(nil), nil
}

func parseURL(args json.RawMessage) (any, error) {
	v, err := readArgs[struct{ URL, Base string }](args)
	if err != nil {
		return nil, err
	}
	bad := &namedError{"TypeError", "ERR_INVALID_URL", "Invalid URL"}
	u, err := url.Parse(strings.TrimSpace(v.URL))
	if err != nil {
		return nil, bad
	}
	if v.Base != "" {
		base, err := url.Parse(v.Base)
		if err != nil || base.Scheme == "" {
			return nil, bad
		}
		u = base.ResolveReference(u)
	}
	if u.Scheme == "" {
		return nil, bad
	}
	port := u.Port()
	if (u.Scheme == "http" && port == "80") || (u.Scheme == "https" && port == "443") {
		port = ""
	}
	path := u.EscapedPath()
	if u.Opaque != "" {
		path = u.Opaque
	} else if path == "" && u.Host != "" {
		path = "/"
	}
	password, _ := u.User.Password()
	parts := map[string]any{"protocol": u.Scheme + ":", "hostname": strings.ToLower(u.Hostname()), "port": port,
		"pathname": path, "search": "", "hash": "", "slashes": u.Opaque == "", "username": u.User.Username(),
		"password": password}
	if u.RawQuery != "" {
		parts["search"] = "?" + u.RawQuery
	}
	if u.Fragment != "" {
		parts["hash"] = "#" + u.EscapedFragment()
	}
	return parts, nil
}
