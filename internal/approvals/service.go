// Package approvals lets a permission or you decide where that is needed.
//
// The pipeline calls [Service.Decide] after guards and hooks: the policy says whether you
// must be asked; a saved permission may answer for you; otherwise a request is put into the
// queue and the agent waits while someone could answer. Your reply comes in through
// [Service.Reply]; it is recorded in the ledger before the agent gets it.
//
// approve.go shows the way of one request, the agent's side and the user's. Parts:
// policy (pure: must you decide?), queue (requests that wait), ledger (permissions, PIN,
// decisions on disk), memory (which calls were asked about).
package approvals

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Settings holds the user's settings, for the place an event comes from.
type Settings interface {
	// ApprovalLevel is how much of an agent's doing becomes a request, and
	// whether the user said so.
	ApprovalLevel(ev *event.Event) (level string, chosen bool)
	// WaitTime is how long an agent waits whose own prompt cannot be used
	// meanwhile, and whether the user chose that for this very agent.
	WaitTime(ev *event.Event) (waitFor time.Duration, chosen bool)
	// ProjectOf is the project with hooks of its own that a folder is in.
	ProjectOf(folder string) string
	// RepositoryOf is ProjectOf, else the repository the folder is in.
	RepositoryOf(folder string) string
	// PushCommand returns the command that gets each request; "" for none.
	PushCommand() string
	// KeepOwnEvents is how long the journal keeps events of hookmux itself.
	KeepOwnEvents() time.Duration
}

// Recorder writes events down and knows those of earlier daemons.
type Recorder interface {
	// WakeJournal stores what was recorded soon, because it is about to be read.
	WakeJournal()
	// RecordOwn records an event of hookmux itself.
	RecordOwn(name, id string, at time.Time, payload any)
	// PastRequests reads requests and permissions since a moment, the newest first.
	PastRequests(ctx context.Context, since time.Time, limit int, each func(PastRequest)) error
	// LogOnlyCalls reads what only logged hooks would have done since a moment,
	// the newest first.
	LogOnlyCalls(ctx context.Context, since time.Time, limit int, each func(wire.LogOnlyCall)) error
}

// PastRequest is an event that a permission or you decided about, as the journal knows it.
type PastRequest struct {
	ID      string // of the event
	Time    time.Time
	By      string // who decided
	Outcome wire.Outcome
	Event   func() event.Event // reads the event
}

// Sessions knows what the agents are doing.
type Sessions interface {
	// RequestOpened records that a request about an event waits for you.
	RequestOpened(id string, ev *event.Event, at time.Time)
	// RequestEnded records that it no longer waits; settled says that the question is
	// answered for good.
	RequestEnded(id string, settled bool)
	// Waiting returns everything that waits for you: requests in the inbox (pending) and at
	// agents' own prompts (window).
	Waiting() []wire.InboxRequest
	// AnswerAtPrompt answers a request at an agent's own prompt with keys; refused says why
	// none was pressed.
	AnswerAtPrompt(ctx context.Context, id string, choice event.Choice) (refused string, err error)
	// List gives the sessions; with all, also those that ended.
	List(all bool) []wire.Session
}

// Options configures a service.
type Options struct {
	services.Deps
	Settings Settings
	Recorder Recorder
	Sessions Sessions
	// MayAnswer reports whether a process may answer requests, and why not.
	MayAnswer func(peer proc.Cred) (ok bool, why string)
	// FocusPane brings the pane of a session forward, and reports whether
	// anybody looks at that terminal.
	FocusPane func(ctx context.Context, one *wire.Session) (attached bool, err error)
	// Effect describes in a line what guards and rules know a call would do, and its risk; nil:
	// nothing is said about it.
	Effect func(ev *event.Event) (text, risk string)
	// ReachesUser reports whether a working channel notifies you of an agent's requests of a
	// kind; nil means no.
	ReachesUser func(agent, kind string) bool
	// Elsewhere lists what waits on other machines; nil: nothing does.
	Elsewhere Elsewhere
	// Stopping reports whether the daemon stops: those who hang up then come back.
	Stopping func() bool
	// Context ends when the daemon does.
	Context context.Context
	// Started is when the daemon began.
	Started time.Time
}

// Service holds the requests for you, and everything you decided that lasts.
type Service struct {
	Options
	queue        *queue.Table
	answered     Answers
	repeats      Repeats
	laterContext UserNotes
	seenRequests SeenRequests
	permissions  *ledger.Permissions
	decisions    *ledger.Decisions
	proofs       *Proofs

	attendance *attendance
	overload   *overloadReporter
	windows    *promptList
	push       *pushCommand
}

// methods lists the methods of approvals that programs can call.
type methods struct{ *Service }
