// Package fleet shows the sessions and requests of other machines next to this one's, and
// takes your answers there.
//
// A [Source] is one other machine: a host over ssh (package remote), or a member of a fleet.
// [Hosts] merges all of them into what sessions and approvals list, notifies watchers of every
// change, and hands answers to the machine that asks. Without a source it holds nothing and
// runs nothing.
//
// Ids are prefixed with the host's name (build/kw4m), so that no machine can speak for another
// one or for this one. What a machine says isn't trusted: [Source] implementations let only
// texts through that are safe to show ([Check]), and within limits.
package fleet

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// Source is another machine. Ids are those of that machine. All methods may be called
// concurrently; those without a context answer from memory.
type Source interface {
	// Name returns the machine's name here ([wire.IsHostName]). It never changes.
	Name() string
	// Link returns how it is reached and whether it is.
	Link() Link
	// Sessions returns its list of sessions. While the link is lost, they are what was known last;
	// Hosts shows them as unknown.
	Sessions() []wire.Session
	// Requests returns those that wait there. While the link is lost there are none: the agents
	// there ask in their own terminals.
	Requests() []wire.InboxRequest
	// Changes receives, some time after, a note that something of the above is different. There is
	// room for one: several changes are one.
	Changes() <-chan struct{}

	// Session returns everything about one session, by its full id there.
	Session(ctx context.Context, id string) (wire.SessionDetail, *wire.Error)
	// Answer answers a request. It was checked here that you may decide; by says who you are. p.ID
	// is the full id there and p.SHA256 what you were shown.
	Answer(ctx context.Context, p wire.InboxReplyParams, by string) (wire.InboxReplyResult, *wire.Error)
	// Skip leaves a request to the agent's own prompt.
	Skip(ctx context.Context, id, by string) (wire.InboxReplyResult, *wire.Error)
	// Send sends a text to a session.
	Send(ctx context.Context, p wire.SessionSendParams, by string) (wire.SessionSent, *wire.Error)
	// Attend says whether someone who may answer looks at the requests here: agents there wait for
	// an answer only then. It never blocks.
	Attend(on bool)
}

// Link is how a machine is reached, and whether it is. Its fields are those of [wire.Host].
type Link struct {
	Kind    string // wire.HostRemote or wire.HostFleet
	Target  string
	Scope   string // wire.ScopeRead or wire.ScopeAnswer
	State   string // wire.HostConnected and the others
	Since   time.Time
	Why     string
	Version string
}

// doctor returns the command that explains why the machine can't be reached.
func (l *Link) doctor(name string) string {
	if l.Kind == wire.HostFleet {
		return "hookmux fleet status"
	}
	return "hookmux remote doctor " + name
}

// Connected reports whether the machine can be reached now.
func (l *Link) Connected() bool { return l.State == wire.HostConnected }
