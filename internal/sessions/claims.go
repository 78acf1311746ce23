package sessions

import (
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/sessions/state"
)

// claimList lists the sessions that are being resumed right now.
type claimList struct {
	mu  sync.Mutex
	all map[state.Key]claim
}

// claim says who resumes a session, and since when.
type claim struct {
	at time.Time
	by processKey
}

const (
	// claimLasts is how long it may take an agent until it reports itself.
	claimLasts = time.Minute
	maxClaims  = 1024
)

// isClaimed reports whether the session is being resumed. A process that ended meanwhile has
// given up.
func (c *claimList) isClaimed(key state.Key, table proc.Table) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[key].isValid(table)
}

func (c claim) isValid(table proc.Table) bool {
	return time.Since(c.at) < claimLasts && (c.by.pid <= 0 || processLife(table, c.by) != state.Gone)
}

// claimSession claims a session; false if another process has.
func (c *claimList) claimSession(key state.Key, by processKey, table proc.Table) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.all[key].isValid(table) {
		return false
	}
	if c.all == nil || len(c.all) > maxClaims {
		c.all = map[state.Key]claim{}
	}
	c.all[key] = claim{time.Now(), by}
	return true
}

func (c *claimList) dropClaim(key state.Key) {
	c.mu.Lock()
	delete(c.all, key)
	c.mu.Unlock()
}
