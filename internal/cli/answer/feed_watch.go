package answer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// windowSettle is how long a question must stand in an agent's own window before it is
// shown to somebody for whom agents wait: mostly the same question comes as a request
// right after it.
const windowSettle = 400 * time.Millisecond

// feedWatch is what somebody who follows the feed has been shown.
type feedWatch struct {
	settle time.Duration
	mu     sync.Mutex
	late   map[string]*time.Timer // windows that are not shown yet
	app    *cmdutil.App
	asJSON bool
	style  text.Style
	open   map[string]*client.Request // shown, and not known to have ended
	fresh  map[string]bool            // told of on this connection
	ready  *client.FeedReady          // as said last
}

// watchFeed shows requests as they come and go, over restarts of the hub.
func watchFeed(ctx context.Context, app *cmdutil.App, asJSON bool) error {
	c, err := app.ConnectHub(ctx)
	if err != nil {
		return err
	}
	f := &feedWatch{app: app, asJSON: asJSON, style: app.Style(), settle: windowSettle,
		open: map[string]*client.Request{}, late: map[string]*time.Timer{}}
	return cmdutil.FollowStream(ctx, func() error {
		f.fresh = map[string]bool{}
		return c.FollowWaiting(ctx, f.handleNote)
	})
}

func (f *feedWatch) handleNote(n client.FeedNote) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case n.Ready != nil:
		f.showReady(n.Ready)
	case n.Item == nil:
	case n.Method == wire.NoteFeedReceived, n.Method == wire.NoteFeedWindow:
		before, shown := f.open[n.Item.ID]
		shown = shown && before.Status == n.Item.Status
		f.open[n.Item.ID], f.fresh[n.Item.ID] = n.Item, true
		if f.asJSON {
			f.printChange(n.Method, n.Item)
		} else if !shown {
			f.showOpen(n.Item)
		}
	default:
		f.showEnded(n.Method, n.Item)
	}
	return nil
}

// showOpen shows what waits; a question in an agent's own window only once it stays
// there. The caller holds the lock.
func (f *feedWatch) showOpen(item *client.Request) {
	show := func() { fmt.Fprint(f.app.Stdout, f.style.Request(item, time.Now())+"\n") }
	if item.Status != wire.FeedWindow || f.ready == nil || !f.ready.Attached {
		show()
		return
	}
	f.late[item.ID] = time.AfterFunc(f.settle, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.late[item.ID] != nil {
			delete(f.late, item.ID)
			show()
		}
	})
}

// showReady is told once the hub has sent what waits. What was shown before and is
// not among it went with an earlier hub.
func (f *feedWatch) showReady(now *client.FeedReady) {
	ids := []string{}
	for id := range f.open {
		if !f.fresh[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		gone := *f.open[id]
		if gone.Status == wire.FeedWindow {
			f.showEnded(wire.NoteFeedWindowOver, &gone)
			continue
		}
		gone.Status, gone.End = wire.FeedWithdrawn, wire.EndHubStopped
		f.showEnded(wire.NoteFeedWithdrawn, &gone)
	}
	before := f.ready
	f.ready = now
	switch {
	case f.asJSON:
		f.app.PrintJSONLine(map[string]any{"change": "ready", "attached": now.Attached, "away": now.Away})
	case before != nil && before.Attached == now.Attached:
	case now.Attached:
		fmt.Fprintln(f.app.Stderr, "watching the feed; agents wait for you now (Ctrl-C ends)")
	default:
		fmt.Fprintln(f.app.Stderr, "watching the feed, but agents do not wait for it: "+termsafe.Line(now.Why, 0))
	}
}

func (f *feedWatch) showEnded(method string, item *client.Request) {
	delete(f.open, item.ID)
	timer := f.late[item.ID]
	delete(f.late, item.ID)
	switch {
	case timer != nil:
		timer.Stop() // it was never shown
	case f.asJSON:
		f.printChange(method, item)
	case item.Status == wire.FeedWindow:
		f.app.Say("%s", f.style.WindowOver(item))
	default:
		f.app.Say("%s  %s", item.ID, f.style.Ended(item))
	}
}

func (f *feedWatch) printChange(method string, item *client.Request) {
	f.app.PrintJSONLine(map[string]any{"change": strings.TrimPrefix(method, "feed."), "item": item})
}
