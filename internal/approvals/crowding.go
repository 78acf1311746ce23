package approvals

import (
	"fmt"
	"sync"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/boundedmap"
	"github.com/hookmux/hookmux/internal/problems"
	"github.com/hookmux/hookmux/internal/services"
)

// crowd is of whom too many requests wait: a session's hooks, programs that
// push for it, or with no session all programs that push.
type crowd struct {
	agent, session string
	pushed         bool
}

func (c crowd) problemKey() string {
	if c.pushed {
		return "crowd-pushed:" + c.agent + ":" + c.session
	}
	return "crowd:" + c.agent + ":" + c.session
}

// maxCrowds bounds how many crowds are remembered.
const maxCrowds = 256

// crowding says once of whom more is asked than anybody reads.
type crowding struct {
	problems *problems.List
	queue    *queue.Table

	mu       sync.Mutex
	reported boundedmap.Map[crowd, struct{}]
}

// reportLimit says that a request could not be opened because of a limit.
func (c *crowding) reportLimit(r *queue.Request, limit services.Skip) {
	who := crowd{r.Event.Agent, r.Event.Session, r.Pushed}
	what := fmt.Sprintf("more than %d requests of one session of %s wait", queue.MaxPending, who.agent)
	if limit == services.PushesCrowded {
		who = crowd{pushed: true}
		what = fmt.Sprintf("more than %d requests wait that programs pushed", queue.MaxPushed)
	}
	c.mu.Lock()
	said := c.reported.Has(who)
	c.reported.Put(who, struct{}{}, maxCrowds)
	c.mu.Unlock()
	if !said {
		c.problems.Raise(who.problemKey(), what+"; further ones are left to the agent's own prompt",
			"answer or release some: `hookmux feed`")
	}
}

// takeBackFor takes that back once none of them waits, and of all that programs
// pushed fewer than half of what may.
func (c *crowding) takeBackFor(r *queue.Request) {
	who := crowd{r.Event.Agent, r.Event.Session, r.Pushed}
	if c.queue.Of(who.agent, who.session, who.pushed) == 0 {
		c.takeBack(who)
	}
	if who.pushed && c.queue.Pushed() < queue.MaxPushed/2 {
		c.takeBack(crowd{pushed: true})
	}
}

func (c *crowding) takeBack(who crowd) {
	c.mu.Lock()
	said := c.reported.Has(who)
	c.reported.Delete(who)
	c.mu.Unlock()
	if said {
		c.problems.Mend(who.problemKey())
	}
}
