package member

import (
	"context"
	"log/slog"
	"net"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/services"
)

// watchedRequests counts who looks.
type watchedRequests struct {
	Requests
	looking atomic.Int32
}

func (*watchedRequests) FollowChanges(ctx context.Context, _ func()) { <-ctx.Done() }

func (w *watchedRequests) Watch() (left func()) {
	w.looking.Add(1)
	return func() { w.looking.Add(-1) }
}

// An agent that waited for a daemon that was killed asks the next one at once. That one has
// no connection yet, and lets it wait: an operator may be looking.
func TestAgentsWaitBeforeThereIsAConnection(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts, and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	m := &membership{Servers: []string{silent.Addr().String()}, Fleet: "F"}
	if m.Seed, err = pair.Seed(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	requests := &watchedRequests{}
	s := &Service{Options: Options{Context: ctx, Requests: requests, Deps: services.Deps{Dirs: paths.Dirs{State: t.TempDir()}, Log: slog.New(slog.DiscardHandler),
		Problems: &services.Problems{}, Background: &services.Background{}}}}
	if err := s.store(m); err != nil {
		t.Fatal(err)
	}
	s.Run()
	if n := requests.looking.Load(); n != 1 {
		t.Errorf("%d look at requests when the daemon begins to answer, want 1", n)
	}
	stop()
	_ = silent.Close()
	s.Background.Wait(context.Background())
	if n := requests.looking.Load(); n != 0 {
		t.Errorf("%d look at requests at the end, want none", n)
	}
}
