package tshook

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// Host is what an engine needs from the daemon around it. Everything except CacheDir may be
// left out: the hook then gets a clear error or an empty answer.
type Host struct {
	Asker    Asker
	Sender   Sender
	Recorder Recorder
	// Model lets hooks in pi use pi's models; nil means that they cannot.
	Model Model

	// ChildEnv is added to the environment of processes that a hook starts, so
	// that the daemon recognises them.
	ChildEnv func(tsHook string) []string
	// Changed is called after a file was loaded again, successfully or not: it
	// may listen to other events now. It must not block.
	Changed func(*Hook)

	// Strained is called after a file computed for long or its engine was
	// dropped: unused memory may be left. It must not block.
	Strained func()
	// Go starts what goes on after an event: what closes the engine waits for it. It may be
	// nil; then nothing waits.
	Go func(func())

	// Catalogue says what agents can carry; nil means the shipped one.
	Catalogue *agent.Catalogue
	// CacheDir holds transformed files; it is made 0700. Empty means that
	// nothing is kept.
	CacheDir string
	// HookTimeout limits one handler of the first generation at every event except
	// tool_call; zero means [DefaultHookTimeout].
	HookTimeout time.Duration
	// Limits bound one file's engine; zero fields mean [DefaultLimits].
	Limits Limits
	// Node is the program for files that ask for `runtime: node`; empty means
	// node on PATH.
	Node string
	// Inspect runs every file in Node, which waits for a debugger before it loads the
	// file; what Node says about that is written here. Nil runs files as usual.
	Inspect io.Writer
	// Version is hookmux's version as a hook reads it.
	Version string
}

// DefaultHookTimeout is pi's own.
const DefaultHookTimeout = 30 * time.Second

// Notice is a line that a hook shows the user without waiting.
type Notice struct {
	Event *event.Event
	Hook  string
	Level string // info, warning, error
	Text  string
}

// Asker asks the user wherever they can be reached.
type Asker interface {
	// Ask waits for an answer or until ctx is done; an error means cancelled.
	Ask(ctx context.Context, q Question) (Answer, error)
	// CanAnyoneAnswer reports whether anyone could answer about ev.
	CanAnyoneAnswer(ev *event.Event) bool
	// Notify must not block.
	Notify(n Notice)
}

// Sender sends text to a running session.
type Sender interface {
	// Send reports whether the agent's own channel took the message. When it
	// did not, without an error, the engine keeps it as context for the
	// session's next event; see [Engine.Queued].
	Send(ctx context.Context, m Message) (delivered bool, err error)
}

// Model runs a model inside the agent that has the keys: no provider's key
// enters the daemon.
type Model interface {
	// Complete takes {what, model, context, options} as the hook gave them and
	// returns the assistant message. With what: "act" the agent calls
	// one of its own methods instead: {on, method, args}.
	Complete(ctx context.Context, ev *event.Event, call json.RawMessage) (json.RawMessage, error)
}

// HookAction is an operation that a hook carried out through hookmux.
type HookAction struct {
	Hook    string
	Session string // "" when it was done outside of any session's events
	Agent   string
	Action  string // read, write, remove, list, watch, exec, listen, fetch, send, env, pi
	Detail  string // path, command line, address
	Err     string
}

// Problem is a hook's own failure, once per content of the file.
type Problem struct {
	Hook  string
	Event string // pi's name of the event, "" while loading
	Where string // path:line[:column] in the TypeScript file, "" when unknown
	Text  string // one line
	Stack string // with TypeScript lines
}

// Error returns the problem in one line, path first.
func (p *Problem) Error() string {
	where := p.Where
	if where == "" {
		where = p.Hook
	}
	return where + ": " + p.Text
}

// Recorder records what hooks do. Its methods must not block.
type Recorder interface {
	RecordAction(HookAction)
	Problem(Problem)
	// RecordConsole records what a hook printed: level is log, warn, error, debug.
	RecordConsole(tsHook, level, text string)
}
