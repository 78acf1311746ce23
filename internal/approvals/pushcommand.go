package hub

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/recorder/redact"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// sink tells a person elsewhere of each request, with the command of the
// setting feed.push. While there is one that works, agents are held: somebody
// could answer, through ssh or a program of theirs.
type sink struct {
	deps      services.Deps
	hub       *Hub
	processes handler.Processes
	failed    atomic.Int64 // when the command failed last, in Unix nanoseconds; 0 when it works
}

const (
	// sinkTime is how long the command may take; sinkRests how long one that
	// failed is not counted on.
	sinkTime  = 30 * time.Second
	sinkRests = time.Minute
	// maxSinks bounds the commands under way.
	maxSinks = 8
)

func (s *sink) command() string { return s.hub.rules.config.Settings().Choice(config.FeedPush) }

// works reports whether a person hears of requests this way.
func (s *sink) works() bool {
	return s.command() != "" && time.Since(time.Unix(0, s.failed.Load())) > sinkRests
}

// run follows the feed until ctx ends.
func (s *sink) run(ctx context.Context) {
	places := make(chan struct{}, maxSinks)
	_, next := s.hub.desk.table.Watch()
	for {
		changes, after, wake, ok := s.hub.desk.table.Next(next)
		if next = after; ok && len(changes) > 0 {
			for _, c := range changes {
				if c.Note != wire.NoteFeedReceived || s.command() == "" {
					continue
				}
				select {
				case places <- struct{}{}:
					go func() { defer func() { <-places }(); s.push(ctx, c.Item) }()
				case <-ctx.Done():
					return
				}
			}
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
	}
}

// push tells of one request. One of which nobody heard, and nobody else could
// have, is left to the agent's own prompt.
func (s *sink) push(hubEnds context.Context, item wire.FeedItem) {
	text, err := json.Marshal(withoutSecrets(item))
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(hubEnds, sinkTime)
	defer cancel()
	out, err := s.processes.Shell(ctx, s.command(), "/", append(os.Environ(), "HOOKMUX_REQUEST="+item.ID), append(text, '\n'))
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("exit code %d: %s", out.Exit, firstLine(string(out.Stderr)))
	}
	d := s.hub.desk
	if err == nil {
		s.failed.Store(0)
		s.deps.Problems.Mend("feed.push")
		return
	}
	if hubEnds.Err() != nil {
		return
	}
	s.failed.Store(time.Now().UnixNano())
	s.deps.Problems.Raise("feed.push", "you are not told of requests: "+redact.Text(err.Error()), "try the command of `hookmux config get feed.push` by hand")
	if !d.someone() {
		d.table.End(item.ID, queue.Released)
	}
}
