package notify

import (
	"cmp"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

const (
	// toldApart is how many requests are told one by one; those that wait besides
	// are told of together, in one notice.
	toldApart = 3
	// crowdRest is how long nobody hears again, where a notice cannot be replaced,
	// that still more wait.
	crowdRest = time.Minute
	// crowdSettle is how long more may come before those hear of it: many come at once.
	crowdSettle = 2 * time.Second
	// crowdID names that notice.
	crowdID = "more"
)

// crowd is the notice of the requests that are told together.
type crowd struct {
	channels []string  // it was told on; nil: it is not there
	count    int       // it says
	grew     time.Time // first since it was told everywhere; zero: it did not
	told     time.Time // everywhere, not only where it is replaced
}

// countApart is how many waiting requests have a notice of their own.
func (b *board) countApart() (n int) {
	for _, w := range b.waiting {
		if w.shown != nil {
			n++
		}
	}
	return n
}

// crowdItems are the requests that are told together, the oldest first, and the
// channels they are told on.
func (b *board) crowdItems() (items []*wire.FeedItem, channels []string) {
	var members []*waitingRequest
	for _, w := range b.waiting {
		if w.crowd != nil {
			members = append(members, w)
		}
	}
	slices.SortFunc(members, func(x, y *waitingRequest) int {
		return cmp.Or(x.came.Compare(y.came), cmp.Compare(x.item().ID, y.item().ID))
	})
	for _, w := range members {
		items = append(items, w.item())
		for _, name := range w.crowd {
			if !slices.Contains(channels, name) {
				channels = append(channels, name)
			}
		}
	}
	return items, channels
}

// updateCrowd has the notice of many say how many wait now.
func (b *board) updateCrowd(now time.Time) []task {
	c := &b.crowd
	items, channels := b.crowdItems()
	switch {
	case len(items) == 0 && c.channels == nil, len(items) == c.count && c.channels != nil:
		return nil
	case len(items) == 0:
		gone := task{withdraw: true, id: crowdID, crowd: items, channels: c.channels}
		*c = crowd{told: c.told}
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
	return []task{{again: true, id: crowdID, crowd: items, channels: c.channels}}
}

// crowdDue is when the notice of many may be told everywhere again; zero: it need not.
func (b *board) crowdDue() time.Time {
	c := &b.crowd
	if c.grew.IsZero() || c.channels == nil {
		return time.Time{}
	}
	due := c.grew.Add(crowdSettle)
	if rested := c.told.Add(crowdRest); rested.After(due) {
		return rested
	}
	return due
}

// judgeCrowd tells that still more wait, where that was put off.
func (b *board) judgeCrowd(r *rules, now time.Time) []task {
	c := &b.crowd
	due := b.crowdDue()
	if due.IsZero() || due.After(now) {
		return nil
	}
	c.told = now
	if !r.on || r.isQuiet(now) {
		return nil
	}
	c.grew = time.Time{}
	items, _ := b.crowdItems()
	return []task{{id: crowdID, crowd: items, channels: c.channels}}
}
