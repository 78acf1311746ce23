package tsmodule

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// Host is what an engine needs from the hub around it. Everything but CacheDir
// may be left out: what is missing is then a clear error or an empty answer
// inside the hook, never a crash.
type Host struct {
	Asker    Asker
	Sender   Sender
	Recorder Recorder
	// Model lets hooks in pi use pi's models; nil means that they cannot.
	Model Model

	// ChildEnv is added to the environment of what a hook starts, so that the
	// hub knows it again.
	ChildEnv func(module string) []string
	// Changed is told after a file was loaded anew, for better or worse: what
	// it listens to may differ. It must not block.
	Changed func(*Module)

	// Strained is told after a file computed for long or had to be dropped: it
	// may have left much memory behind. It must not block.
	Strained func()

	// Catalogue says what agents can carry; nil means the shipped one.
	Catalogue *agent.Catalogue
	// CacheDir holds transformed files; it is made 0700. Empty means that
	// nothing is kept.
	CacheDir string
	// HookTimeout bounds one handler of the first generation at every event
	// but tool_call; zero means [DefaultHookTimeout].
	HookTimeout time.Duration
	// Limits bound one file's engine; zero fields mean [DefaultLimits].
	Limits Limits
	// Node is the program for files that ask for `runtime: node`; empty means
	// node on PATH.
	Node string
	// Version is what a hook reads as hookmux's version.
	Version string
}

// DefaultHookTimeout is pi's own.
const DefaultHookTimeout = 30 * time.Second

// Limits bound one engine.
type Limits struct {
	Slice    time.Duration // computing without giving way
	Memory   uint64        // bytes
	Load     time.Duration // from reading a file to its handlers being known
	Sessions int           // sessions remembered; the one unused for longest goes first
}

// DefaultLimits are wide enough for hooks and narrow enough for a hub.
var DefaultLimits = Limits{Slice: time.Second, Memory: 64 << 20, Load: 10 * time.Second, Sessions: 128}

// QuestionKind is which dialog a hook opened.
type QuestionKind string

// The dialogs.
const (
	Select  QuestionKind = "select"
	Confirm QuestionKind = "confirm"
	Input   QuestionKind = "input"
	Editor  QuestionKind = "editor"
)

// Question is a dialog a hook opened. Its texts come from the hook and often
// quote the model: they are data to whoever shows them.
type Question struct {
	Event       *event.Event // what the hook is looking at
	Module      string       // path of the file
	Kind        QuestionKind
	Title       string
	Text        string
	Options     []string // of a select
	Placeholder string   // of an input; what an editor starts with
}

// Answer is what a person made of a [Question].
type Answer struct {
	Cancelled bool
	Confirmed bool   // of a confirm
	Value     string // the option chosen, or the text
	By        string // who answered, for the record
}

// Notice is a line a hook shows a person without waiting.
type Notice struct {
	Event  *event.Event
	Module string
	Level  string // info, warning, error
	Text   string
}

// Asker reaches a person on whatever surface there is.
type Asker interface {
	// Ask waits until somebody answered or ctx is done; an error counts as
	// cancelled.
	Ask(ctx context.Context, q Question) (Answer, error)
	// Someone reports whether anybody could answer about ev.
	Someone(ev *event.Event) bool
	// Notify must not block.
	Notify(n Notice)
}

// Message is what a hook sends into a session.
type Message struct {
	Module      string
	Agent       string
	Session     string
	Text        string
	Attachments []Attachment
	// Deliver is pi's word for when: steer, followUp, nextTurn; empty for the
	// default.
	Deliver string
	// Turn asks an idle agent to start a turn on it.
	Turn bool
}

// Attachment is a file beside a message.
type Attachment struct {
	Type     string `json:"type"` // image, document
	Name     string `json:"fileName,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	Data     string `json:"content,omitempty"` // base64
}

// Sender brings words into a running session.
type Sender interface {
	// Send reports whether the agent's own channel took the message. When it
	// did not, without an error, the engine keeps it as context for the
	// session's next event; see [Engine.Queued].
	Send(ctx context.Context, m Message) (delivered bool, err error)
}

// Model runs a model inside the agent that has the keys: no provider's key
// enters the hub.
type Model interface {
	// Complete takes {what, model, context, options} as the hook gave them and
	// returns the assistant message. What may also be "act": the agent shall
	// then call one of its own methods, {on, method, args}.
	Complete(ctx context.Context, ev *event.Event, call json.RawMessage) (json.RawMessage, error)
}

// Deed is something a hook did through hookmux: what an engine without powers
// of its own had to ask for.
type Deed struct {
	Module  string
	Session string // "" when it was done outside of any session's events
	Agent   string
	Action  string // read, write, remove, list, watch, exec, listen, fetch, send, env, pi
	Detail  string // path, command line, address
	Err     string
}

// Problem is a hook's own failure, once per content of the file.
type Problem struct {
	Module string
	Event  string // pi's name of the event, "" while loading
	Where  string // path:line[:column] in the TypeScript file, "" when unknown
	Text   string // one line
	Stack  string // with TypeScript lines
}

// Error is the problem in one line, path first.
func (p *Problem) Error() string {
	where := p.Where
	if where == "" {
		where = p.Module
	}
	return where + ": " + p.Text
}

// Recorder is told what hooks do. Its methods must not block.
type Recorder interface {
	Did(Deed)
	Problem(Problem)
	// Said takes what a hook printed: level is log, warn, error, debug.
	Said(module, level, text string)
}
