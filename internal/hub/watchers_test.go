package hub

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/hubtest"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// returnsFor has those who followed be waited for so long, and these alone if
// any are named.
func (w *house) returnsFor(span time.Duration, who ...watcher) {
	s := w.h.desk.watchers
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.until = time.Now().Add(span); len(who) > 0 {
		s.due = who
	}
}

// What an agent asks a new hub waits for those who followed the old one.
func TestWhoFollowedTheHubBeforeIsWaitedFor(t *testing.T) {
	w := open(t)
	w.watchFeed()
	w.Down()
	w.Up()
	w.returnsFor(hubtest.Patience)
	call := w.hold(permission("s", "make"))
	time.Sleep(100 * time.Millisecond)
	if len(call.reply) != 0 || len(w.items()) != 0 {
		t.Fatal("decided while somebody is on the way")
	}
	w.watchFeed()
	w.say(wire.FeedReplyParams{ID: w.waiting().ID, Choice: "once"})
	if got, _ := call.answer(); !strings.Contains(got, `"allow"`) {
		t.Error(got)
	}
}

// The list on disk holds nobody who does not come, is gone, or could not
// answer; and a hook that has little time is not kept over it.
func TestWhoIsNotWaitedFor(t *testing.T) {
	w := newHouse(t)
	me, _ := w.Table.Lookup(os.Getpid())
	begin := func(list ...watcher) {
		t.Helper()
		b, _ := json.Marshal(list)
		w.Write(w.Dirs.Runtime+"/watchers.json", string(b))
		w.Up()
		w.returnsFor(hubtest.Patience / 2)
	}
	quick := func(what string) {
		t.Helper()
		start := time.Now()
		w.MustPass(permission("s", "make"))
		if took := time.Since(start); took > hubtest.Patience/4 {
			t.Errorf("%s: %s", what, took)
		}
		w.Down()
	}
	begin(watcher{me.PID, me.Start + 1}, watcher{PID: 1 << 30})
	quick("gone, and another process of the same number")
	begin(watcher{me.PID, me.Start})
	w.SetProcesses(hubtest.BelowAgent("claude"))
	again, _ := w.Table.Lookup(os.Getpid())
	w.returnsFor(hubtest.Patience/2, watcher{again.PID, again.Start})
	quick("an agent's child")
	w.SetProcesses(hubtest.AtTerminal())
	begin(watcher{me.PID, me.Start})
	w.returnsFor(50 * time.Millisecond)
	quick("nobody came in time")
	begin(watcher{me.PID, me.Start})
	r := permission("s", "make")
	r.Deadline = 200 * time.Millisecond
	if got := w.Send(r); len(got.Stdout) != 0 {
		t.Errorf("%s", got.Stdout)
	}
	w.Down()
	w.Write(w.Dirs.Runtime+"/watchers.json", "{")
	w.Up()
	quick("a broken file")
}

// Who is hung up on because they lag comes back, too; who leaves does not.
func TestLeavingAndLagging(t *testing.T) {
	w := open(t)
	conn := w.Dial()
	_, _ = conn.Write([]byte(`{"jsonrpc":"2.0","id":1,"method":"feed.stream"}` + "\n"))
	w.Eventually("somebody follows", func() bool { return w.h.desk.someone() })
	conn.Close()
	w.Eventually("nobody follows", func() bool { return !w.h.desk.someone() })
	w.Eventually("the file is gone", func() bool { _, err := os.Stat(w.Dirs.Runtime + "/watchers.json"); return os.IsNotExist(err) })
	w.MustPass(permission("s", "make"))

	w.h.desk.watchers.begin(proc.Cred{UID: os.Getuid(), PID: os.Getpid()})(true)
	w.returnsFor(hubtest.Patience)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	w.h.desk.watchers.await(ctx, hubtest.Patience)
	if ctx.Err() == nil {
		t.Error("not waited for")
	}
}
