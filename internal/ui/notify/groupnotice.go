package notify

import (
	"cmp"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

const (
	// maxSingleNotices is how many requests get a notice each; the others that wait share
	// one notice.
	maxSingleNotices = 3
	// groupRest is how long, on a channel whose notices can't be replaced, no further notice
	// says that still more wait.
	groupRest = time.Minute
	// groupSettle is how long those channels wait for more requests first: many come at once.
	groupSettle = 2 * time.Second
	// groupID names that notice.
	groupID = "more"
)

// groupNotice is the notice that several requests share.
type groupNotice struct {
	channels []string  // it was shown on; nil: it isn't there
	count    int       // it says
	grew     time.Time // first since it was shown everywhere; zero: it didn't
	told     time.Time // everywhere, not only where it is replaced
}

// countApart returns how many waiting requests have a notice of their own.
func (b *noticePlan) countApart() (n int) {
	for _, w := range b.waiting {
		if w.shown != nil {
			n++
		}
	}
	return n
}

// groupItems returns the requests that are shown together, the oldest first, and the
// channels they are shown on.
func (b *noticePlan) groupItems() (items []*wire.InboxRequest, channels []string) {
	var members []*waitingRequest
	for _, w := range b.waiting {
		if w.group != nil {
			members = append(members, w)
		}
	}
	slices.SortFunc(members, func(x, y *waitingRequest) int {
		return cmp.Or(x.came.Compare(y.came), cmp.Compare(x.item().ID, y.item().ID))
	})
	for _, w := range members {
		items = append(items, w.item())
		for _, name := range w.group {
			if !slices.Contains(channels, name) {
				channels = append(channels, name)
			}
		}
	}
	return items, channels
}

// updateGroup has the notice of many say how many wait now.
func (b *noticePlan) updateGroup(now time.Time) []task {
	c := &b.group
	items, channels := b.groupItems()
	switch {
	case len(items) == 0 && c.channels == nil, len(items) == c.count && c.channels != nil:
		return nil
	case len(items) == 0:
		gone := task{withdraw: true, id: groupID, group: items, channels: c.channels}
		*c = groupNotice{told: c.told}
		return []task{gone}
	}
	if c.grew.IsZero() && len(items) > c.count {
		c.grew = now
	}
	c.count = len(items)
	for _, name := range channels {
		if !slices.Contains(c.channels, name) {
			c.channels = append(c.channels, name)
		}
	}
	return []task{{again: true, id: groupID, group: items, channels: c.channels}}
}

// groupDue returns when the group notice may be shown everywhere again; zero if it need not
// be.
func (b *noticePlan) groupDue() time.Time {
	c := &b.group
	if c.grew.IsZero() || c.channels == nil {
		return time.Time{}
	}
	due := c.grew.Add(groupSettle)
	if rested := c.told.Add(groupRest); rested.After(due) {
		return rested
	}
	return due
}

// planGroup shows that still more wait, if that was put off.
func (b *noticePlan) planGroup(r *rules, now time.Time) []task {
	c := &b.group
	due := b.groupDue()
	if due.IsZero() || due.After(now) {
		return nil
	}
	c.told = now
	if !r.on || r.isQuiet(now) {
		return nil
	}
	c.grew = time.Time{}
	items, _ := b.groupItems()
	return []task{{id: groupID, group: items, channels: c.channels}}
}
