package approvals

import (
	"fmt"
	"sync"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/services"
)

// requestSource is where requests come from: a session's hooks, programs that
// push for it, or with no session all programs that push.
type requestSource struct {
	agent, session string
	pushed         bool
}

func (c requestSource) problemKey() string {
	if c.pushed {
		return "crowd-pushed:" + c.agent + ":" + c.session
	}
	return "crowd:" + c.agent + ":" + c.session
}

// maxReported bounds how many sources are remembered.
const maxReported = 256

// overloadReporter reports once that a source asks more than anybody reads.
type overloadReporter struct {
	problems *services.Problems
	queue    *queue.Table

	mu       sync.Mutex
	reported bounded.Map[requestSource, struct{}]
}

// reportLimit says that a request could not be opened because of a limit.
func (c *overloadReporter) reportLimit(r *queue.Request, limit services.Skip) {
	who := requestSource{r.Event.Agent, r.Event.Session, r.Pushed}
	what := fmt.Sprintf("more than %d requests of one session of %s wait", queue.MaxPending, who.agent)
	if limit == services.TooManyPushed {
		who = requestSource{pushed: true}
		what = fmt.Sprintf("more than %d requests wait that programs pushed", queue.MaxPushed)
	}
	c.mu.Lock()
	said := c.reported.Has(who)
	c.reported.Put(who, struct{}{}, maxReported)
	c.mu.Unlock()
	if !said {
		c.problems.Raise(who.problemKey(), what+"; further ones are put to the agent's own prompt, or refused where it has none",
			"answer or skip some: `hookmux inbox`")
	}
}

// clearReportFor clears the report when none of that source's requests wait. The
// report about all programs that push is cleared when fewer than half of the allowed
// requests wait.
func (c *overloadReporter) clearReportFor(r *queue.Request) {
	who := requestSource{r.Event.Agent, r.Event.Session, r.Pushed}
	if c.queue.CountOf(who.agent, who.session, who.pushed) == 0 {
		c.clearReport(who)
	}
	if who.pushed && c.queue.Pushed() < queue.MaxPushed/2 {
		c.clearReport(requestSource{pushed: true})
	}
}

func (c *overloadReporter) clearReport(who requestSource) {
	c.mu.Lock()
	said := c.reported.Has(who)
	c.reported.Delete(who)
	c.mu.Unlock()
	if said {
		c.problems.Clear(who.problemKey())
	}
}
