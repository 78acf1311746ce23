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
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// promptSettle is how long a question must stay in an agent's own terminal before it's shown
// to a user that agents wait for: usually the same question comes as a request right after
// it.
const promptSettle = 400 * time.Millisecond

// inboxFollower keeps track of what a follower of the inbox has been shown.
type inboxFollower struct {
	settle time.Duration
	mu     sync.Mutex
	late   map[string]*time.Timer // windows that are not shown yet
	app    *cmdutil.App
	asJSON bool
	style  text.Style
	open   map[string]*client.Request // shown, and not known to have ended
	fresh  map[string]bool            // reported on this connection
	ready  *client.InboxReady         // as said last
}

// followInbox shows requests as they come and go, over restarts of the daemon.
func followInbox(ctx context.Context, app *cmdutil.App, host string, asJSON bool) error {
	c, err := app.ConnectDaemon(ctx)
	if err != nil {
		return err
	}
	f := &inboxFollower{app: app, asJSON: asJSON, style: app.Style(), settle: promptSettle,
		open: map[string]*client.Request{}, late: map[string]*time.Timer{}}
	return cmdutil.FollowStream(ctx, func() error {
		f.fresh = map[string]bool{}
		return c.FollowWaiting(ctx, func(n client.InboxNote) error {
			if n.Item != nil && !cmdutil.OnHost(host, n.Item.Host) {
				return nil
			}
			return f.handleNote(n)
		})
	})
}

func (f *inboxFollower) handleNote(n client.InboxNote) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case n.Ready != nil:
		f.showReady(n.Ready)
	case n.Item == nil:
	case n.Method == wire.NoteInboxReceived, n.Method == wire.NoteInboxPrompt:
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

// showOpen shows what waits; a question in an agent's own prompt only once it stays
// there. The caller holds the lock.
func (f *inboxFollower) showOpen(item *client.Request) {
	show := func() { fmt.Fprint(f.app.Stdout, f.style.Request(item, time.Now())+"\n") }
	if item.Status != wire.InboxPrompt || f.ready == nil || !f.ready.Attached {
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

// showReady is called once the daemon has sent what waits. What was shown before and isn't
// among it went with an earlier daemon.
func (f *inboxFollower) showReady(now *client.InboxReady) {
	ids := []string{}
	for id := range f.open {
		if !f.fresh[id] {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		gone := *f.open[id]
		if gone.Status == wire.InboxPrompt {
			f.showEnded(wire.NoteInboxPromptOver, &gone)
			continue
		}
		gone.Status, gone.End = wire.InboxWithdrawn, wire.EndDaemonStopped
		f.showEnded(wire.NoteInboxWithdrawn, &gone)
	}
	before := f.ready
	f.ready = now
	switch {
	case f.asJSON:
		f.app.PrintJSONLine(map[string]any{"change": "ready", "attached": now.Attached, "away": now.Away})
	case before != nil && before.Attached == now.Attached:
	case now.Attached:
		fmt.Fprintln(f.app.Stderr, "following the inbox; agents wait for you now (Ctrl-C to stop)")
	default:
		fmt.Fprintln(f.app.Stderr, "read-only, agents won't wait for you: "+termsafe.Line(now.Why, 0))
	}
}

func (f *inboxFollower) showEnded(method string, item *client.Request) {
	delete(f.open, item.ID)
	timer := f.late[item.ID]
	delete(f.late, item.ID)
	switch {
	case timer != nil:
		timer.Stop() // it was never shown
	case f.asJSON:
		f.printChange(method, item)
	case item.Status == wire.InboxPrompt:
		f.app.Say("%s", f.style.PromptOver(item))
	default:
		f.app.Say("%s  %s", item.ID, f.style.Ended(item))
	}
}

func (f *inboxFollower) printChange(method string, item *client.Request) {
	f.app.PrintJSONLine(map[string]any{"change": strings.TrimPrefix(method, "inbox."), "item": item})
}
