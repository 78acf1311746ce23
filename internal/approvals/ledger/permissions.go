package ledger

import (
	"crypto/rand"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/platform/sealed"
)

const permissionsFile = "permissions.json"

// maxPermissions bounds the list: with more of them, no one knows any longer what they
// allowed.
const maxPermissions = 1000

// Permissions are your saved permissions. The file is read once; later changes by other
// programs have no effect.
type Permissions struct {
	dir string

	mu   sync.Mutex
	list []policy.SavedPermission
	used map[string]uint64
	hits uint64
}

// OpenPermissions reads the permissions. With an error none count.
func OpenPermissions(dir string) (*Permissions, error) {
	g := &Permissions{dir: dir, used: map[string]uint64{}}
	err := sealed.Load(dir, permissionsFile, &g.list)
	if err != nil {
		g.list = nil
	}
	return g, err
}

// Add saves a permission and gives it an id.
func (g *Permissions) Add(permission policy.SavedPermission) (policy.SavedPermission, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := g.validPermissions(time.Now())
	for _, old := range list {
		if old.Agent == permission.Agent && old.Scope == permission.Scope && old.Session == permission.Session &&
			old.Project == permission.Project &&
			old.Asked == permission.Asked && old.Expires.Equal(permission.Expires) && old.Rule.Text() == permission.Rule.Text() {
			return old, nil // saved already
		}
	}
	if len(list) >= maxPermissions {
		return policy.SavedPermission{},
			fmt.Errorf("there are %d permissions already; `hookmux permissions list` shows them, `hookmux permissions remove` "+
				"drops them", len(list))
	}
	for permission.ID == "" || slices.ContainsFunc(list, func(old policy.SavedPermission) bool { return old.ID == permission.ID }) {
		permission.ID = newID()
	}
	list = append(list, permission)
	if err := sealed.Store(g.dir, permissionsFile, list); err != nil {
		return policy.SavedPermission{}, err
	}
	g.list = list
	return permission, nil
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

// Revoke drops a permission.
func (g *Permissions) Revoke(id string) (policy.SavedPermission, bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.IndexFunc(g.list, func(one policy.SavedPermission) bool { return one.ID == id })
	if at < 0 {
		return policy.SavedPermission{}, false, nil
	}
	gone := g.list[at]
	list := slices.Delete(slices.Clone(g.list), at, at+1)
	// It counts no more at once, whatever the disk says: a yes that was taken
	// back must not be given once more.
	g.list = list
	return gone, true, sealed.Store(g.dir, permissionsFile, list)
}

// EndSession drops what was permitted for one session.
func (g *Permissions) EndSession(agent, session string) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	mine := func(one policy.SavedPermission) bool {
		return one.Scope == policy.InSession && one.Agent == agent && one.Session == session
	}
	if !slices.ContainsFunc(g.list, mine) {
		return nil
	}
	g.list = slices.DeleteFunc(slices.Clone(g.list), mine)
	return sealed.Store(g.dir, permissionsFile, g.list)
}

// Match returns the permission that answers a request, if any, and counts that it did.
func (g *Permissions) Match(ev *event.Event, project string, need policy.Need, now time.Time) (policy.SavedPermission, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	one, ok := g.findPermission(ev, project, need, now)
	if ok {
		g.used[one.ID]++
		g.hits++
	}
	return one, ok
}

// Find returns what Match would give.
func (g *Permissions) Find(ev *event.Event, project string, need policy.Need, now time.Time) (policy.SavedPermission, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.findPermission(ev, project, need, now)
}

func (g *Permissions) findPermission(ev *event.Event, project string, need policy.Need, now time.Time) (policy.SavedPermission, bool) {
	for _, one := range g.list {
		if one.Covers(ev, project, need, now) {
			return one, true
		}
	}
	return policy.SavedPermission{}, false
}

// List returns what counts now, oldest first, with how often each was used since
// the daemon came up.
func (g *Permissions) List(now time.Time) ([]policy.SavedPermission, map[string]uint64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	used := map[string]uint64{}
	for id, n := range g.used {
		used[id] = n
	}
	return g.validPermissions(now), used
}

// Hits counts the calls that permissions let pass.
func (g *Permissions) Hits() uint64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.hits
}

func (g *Permissions) validPermissions(now time.Time) []policy.SavedPermission {
	return slices.DeleteFunc(slices.Clone(g.list), func(one policy.SavedPermission) bool {
		return !one.Expires.IsZero() && !now.Before(one.Expires)
	})
}
