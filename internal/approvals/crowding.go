package hub

import (
	"errors"
	"fmt"

	"github.com/hookmux/hookmux/internal/approvals/queue"
)

// crowd is of whom too many requests wait: a session's hooks, programs that
// push for it, or with no session all programs that push.
type crowd struct {
	agent, session string
	pushed         bool
}

// Pushed requests hold conversations with the hub; half of those stay free for
// people.
const _ = uint(maxTalks - 2*queue.MaxPushed)

func (c crowd) key() string {
	if c.pushed {
		return "crowd-pushed:" + c.agent + ":" + c.session
	}
	return "crowd:" + c.agent + ":" + c.session
}

// crowd says once that more is asked than anybody reads.
func (d *desk) crowd(r *queue.Request, why error) {
	who := crowd{r.Event.Agent, r.Event.Session, r.Pushed}
	what := fmt.Sprintf("more than %d requests of one session of %s wait", queue.MaxPending, who.agent)
	if errors.Is(why, queue.ErrFlooded) {
		who = crowd{pushed: true}
		what = fmt.Sprintf("more than %d requests wait that programs pushed", queue.MaxPushed)
	}
	d.mu.Lock()
	said := d.crowded[who]
	if len(d.crowded) > 256 {
		clear(d.crowded)
	}
	d.crowded[who] = true
	d.mu.Unlock()
	if !said {
		d.deps.Problems.Raise(who.key(), what+"; further ones are left to the agent's own prompt", "answer or release some: `hookmux feed`")
	}
}

// thinned takes that back once none of them waits, and of all that programs
// pushed fewer than half of what may.
func (d *desk) thinned(r *queue.Request) {
	who := crowd{r.Event.Agent, r.Event.Session, r.Pushed}
	if d.table.Of(who.agent, who.session, who.pushed) == 0 {
		d.uncrowd(who)
	}
	if who.pushed && d.table.Pushed() < queue.MaxPushed/2 {
		d.uncrowd(crowd{pushed: true})
	}
}

func (d *desk) uncrowd(who crowd) {
	d.mu.Lock()
	said := d.crowded[who]
	delete(d.crowded, who)
	d.mu.Unlock()
	if said {
		d.deps.Problems.Mend(who.key())
	}
}
