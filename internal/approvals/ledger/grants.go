package ledger

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

const grantsFile = "grants.json"

// maxGrants bounds the list: whoever has more of them no longer knows what
// they allowed.
const maxGrants = 1000

// Grants are the standing grants of the user. The file is read once; what
// somebody does to it afterwards changes nothing.
type Grants struct {
	dir string

	mu   sync.Mutex
	list []policy.Grant
	used map[string]uint64
	hits uint64
}

// OpenGrants reads the grants. With an error none count.
func OpenGrants(dir string) (*Grants, error) {
	g := &Grants{dir: dir, used: map[string]uint64{}}
	err := loadSealed(dir, grantsFile, &g.list)
	if err != nil {
		g.list = nil
	}
	return g, err
}

// Add saves a grant and gives it an id.
func (g *Grants) Add(grant policy.Grant) (policy.Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.validGrants(time.Now())
	for _, old := range list {
		if old.Agent == grant.Agent && old.Scope == grant.Scope && old.Session == grant.Session &&
			old.Project == grant.Project &&
			old.Asked == grant.Asked && old.Expires.Equal(grant.Expires) && old.Rule.Text() == grant.Rule.Text() {
			return old, nil // saved already
		}
	}
	if len(list) >= maxGrants {
		return policy.Grant{},
			fmt.Errorf("there are %d grants already; `hookmux allow list` shows them, `hookmux allow revoke` "+
				"drops them", len(list))
	}
	for grant.ID == "" || slices.ContainsFunc(list, func(old policy.Grant) bool { return old.ID == grant.ID }) {
		grant.ID = newID()
	}
	list = append(list, grant)
	if err := storeSealed(g.dir, grantsFile, list); err != nil {
		return policy.Grant{}, err
	}
	g.list = list
	return grant, nil
}

func newID() string {
	const alphabet = "abcdefghjkmnpqrstuvwxyz23456789"
	var b [5]byte
	_, _ = rand.Read(b[:])
	for i := range b {
		b[i] = alphabet[int(b[i])%len(alphabet)]
	}
	return "g" + string(b[1:])
}

// Revoke drops a grant.
func (g *Grants) Revoke(id string) (policy.Grant, bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.list, func(one policy.Grant) bool { return one.ID == id })
	if at < 0 {
		return policy.Grant{}, false, nil
	}
	gone := g.list[at]
	list := slices.Delete(slices.Clone(g.list), at, at+1)
	// It counts no more at once, whatever the disk says: a yes that was taken
	// back must not be given once more.
	g.list = list
	return gone, true, storeSealed(g.dir, grantsFile, list)
}

// EndSession drops what was granted for one session.
func (g *Grants) EndSession(agent, session string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	mine := func(one policy.Grant) bool {
		return one.Scope == policy.InSession && one.Agent == agent && one.Session == session
	}
	if !slices.ContainsFunc(g.list, mine) {
		return nil
	}
	g.list = slices.DeleteFunc(slices.Clone(g.list), mine)
	return storeSealed(g.dir, grantsFile, g.list)
}

// Match is the grant that answers a request, if any, and counts that it did.
func (g *Grants) Match(ev *event.Event, project string, need policy.Need, now time.Time) (policy.Grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one, ok := g.findGrant(ev, project, need, now)
	if ok {
		g.used[one.ID]++
		g.hits++
	}
	return one, ok
}

// Find is what Match would give.
func (g *Grants) Find(ev *event.Event, project string, need policy.Need, now time.Time) (policy.Grant, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.findGrant(ev, project, need, now)
}

func (g *Grants) findGrant(ev *event.Event, project string, need policy.Need, now time.Time) (policy.Grant, bool) {
	for _, one := range g.list {
		if one.Covers(ev, project, need, now) {
			return one, true
		}
	}
	return policy.Grant{}, false
}

// List is what counts now, oldest first, with how often each was used since
// the hub came up.
func (g *Grants) List(now time.Time) ([]policy.Grant, map[string]uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	used := map[string]uint64{}
	for id, n := range g.used {
		used[id] = n
	}
	return g.validGrants(now), used
}

// Hits counts the calls that grants let pass.
func (g *Grants) Hits() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hits
}

func (g *Grants) validGrants(now time.Time) []policy.Grant {
	return slices.DeleteFunc(slices.Clone(g.list), func(one policy.Grant) bool {
		return !one.Expires.IsZero() && !now.Before(one.Expires)
	})
}
