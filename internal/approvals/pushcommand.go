package approvals

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/handler"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/redact"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// pushCommand passes each request to the command of the setting notify.command. While that
// works, agents wait: someone could answer, through ssh or a program of their own.
type pushCommand struct {
	problems        *services.Problems
	queue           *queue.Table
	command         func() string // the setting; "" for none
	canAnyoneAnswer func() bool   // anybody else could answer
	processes       handler.Processes
	failed          atomic.Int64 // when the command failed last, in Unix nanoseconds; 0 when it works
}

const (
	// pushTime is how long the command may take; pushRests how long one that
	// failed is not counted on.
	pushTime  = 30 * time.Second
	pushRests = time.Minute
	// maxPushes bounds the commands under way.
	maxPushes = 8
)

// isWorking reports whether requests reach you this way.
func (p *pushCommand) isWorking() bool {
	return p.command() != "" && time.Since(time.Unix(0, p.failed.Load())) > pushRests
}

// followQueue passes on the inbox's requests until ctx ends.
func (p *pushCommand) followQueue(ctx context.Context) {
	places := make(chan struct{}, maxPushes)
	var telling sync.WaitGroup // a command that is under way ends with ctx
	defer telling.Wait()
	followRequests(ctx, p.queue, func(note string, item wire.InboxRequest) {
		if note != wire.NoteInboxReceived || p.command() == "" {
			return
		}
		select {
		case places <- struct{}{}:
			telling.Go(func() { defer func() { <-places }(); p.tellUser(ctx, item) })
		case <-ctx.Done():
		}
	})
}

// tellUser passes on one request. If that fails and nothing else shows it, the request is
// left to the agent's own prompt.
func (p *pushCommand) tellUser(daemonEnds context.Context, item wire.InboxRequest) {
	text, err := json.Marshal(item)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(daemonEnds, pushTime)
	defer cancel()
	out, err := p.processes.Shell(ctx, p.command(), "/", append(os.Environ(), "HOOKMUX_REQUEST="+item.ID),
		append(text, '\n'))
	if err == nil && out.Exit != 0 {
		err = fmt.Errorf("exit code %d: %s", out.Exit, termsafe.FirstLine(string(out.Stderr)))
	}
	if err == nil {
		p.failed.Store(0)
		p.problems.Clear("notify.command")
		return
	}
	if daemonEnds.Err() != nil {
		return
	}
	p.failed.Store(time.Now().UnixNano())
	p.problems.Raise("notify.command", "you aren't notified of requests: "+redact.Text(err.Error()),
		"try the command of `hookmux config get notify.command` by hand")
	if !p.canAnyoneAnswer() {
		p.queue.End(item.ID, queue.Skipped)
	}
}
