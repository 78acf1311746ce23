// Package cmux implements cmux's methods, so that programs written for cmux work here. If
// cmux says less than is known, members are added.
package cmux

import (
	"context"

	"github.com/hookmux/hookmux/internal/approvals"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// Approvals is the part of approvals that cmux's methods need.
type Approvals interface {
	Reply(ask services.Asking, p wire.InboxReplyParams, peer proc.Cred) (wire.InboxReplyResult, *wire.Error)
	Request(id string) (queue.Request, bool)
	RequestByKey(key string) (id string, ok bool)
	RequestKey(id string) string
	PolledItems(peer proc.Cred, all bool) []wire.InboxRequest
	Jump(agent, session string, peer proc.Cred) map[string]any
}

// Pipeline processes an event and lets hooks, permissions and the user decide.
type Pipeline interface {
	Push(ctx context.Context, p approvals.Pushed) approvals.PushResult
}

// Server offers cmux's methods.
type Server struct {
	services.Deps
	Approvals Approvals
	Pipeline  Pipeline
	Journal   Journal
}
