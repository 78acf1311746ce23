// Package cmux takes and gives what cmux's methods do, so that programs written
// for cmux work here. Where cmux says less than is known, members are added.
package cmux

import (
	"context"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Approvals is what cmux's methods need of approvals.
type Approvals interface {
	Reply(p wire.FeedReplyParams, peer proc.Cred) (wire.FeedReplyResult, *wire.Error)
	Request(id string) (queue.Request, bool)
	RequestByKey(key string) (id string, ok bool)
	RequestKey(id string) string
	ItemsFor(peer proc.Cred, all bool) []wire.FeedItem
	Jump(agent, session string, peer proc.Cred) map[string]any
}

// Pipeline takes an event in and lets hooks, grants and a person decide.
type Pipeline interface {
	Push(ctx context.Context, p Pushed) PushResult
}

// Pushed is an event that a program pushed for an agent.
type Pushed struct {
	Agent, Session string // as the program says, whoever pushes
	Name           string // of the event
	Cwd            string
	Payload        []byte
	Peer           proc.Cred
	Wait           time.Duration // how long a person may take; 0: nobody decides
	Key            string        // by which the program knows the request

	// Prepare completes the decoded event and says what a person would be asked;
	// false when nothing is to be decided.
	Prepare func(ev *event.Event) (policy.Need, bool)
	// AfterHooks sees what hooks said, may change it, and reports whether a
	// person must be asked.
	AfterHooks func(d *event.Decision) bool
}

// PushResult is what came of a pushed event.
type PushResult struct {
	ID        string // of the event
	Decided   bool   // else it was only taken in
	Withdrawn bool   // the hub stops: nothing was decided
	Decision  event.Decision
	Outcome   approvals.Outcome
}

// Server offers cmux's methods.
type Server struct {
	services.Deps
	Approvals Approvals
	Pipeline  Pipeline
}
