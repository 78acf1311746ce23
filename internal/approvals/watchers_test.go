package approvals

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
)

// followerPID is a process that no system has.
const followerPID = 5_000_001

// patience is how long a test waits for what must come.
const patience = 20 * time.Second

// testWatchers returns a daemon's list of followers, with what the one before left.
func testWatchers(t *testing.T, mayAnswer bool, left string) *watchers {
	t.Helper()
	file := filepath.Join(t.TempDir(), "watchers.json")
	if left != "" {
		if err := os.WriteFile(file, []byte(left), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	processes := proctest.New(proctest.Node{PID: followerPID, Name: "hookmux"})
	return newWatchers(file, processes, func(proc.Cred) (bool, string) { return mayAnswer, "" },
		func() bool { return false })
}

func follower(t *testing.T, w *watchers) watcher {
	t.Helper()
	p, err := w.processes.Lookup(followerPID)
	if err != nil {
		t.Fatal(err)
	}
	return watcher{p.PID, p.Start}
}

func asJSON(list ...watcher) string {
	b, _ := json.Marshal(list)
	return string(b)
}

// The list on disk holds nobody up who is gone or could not answer, and nobody
// for longer than they have.
func TestWhoIsNotWaitedFor(t *testing.T) {
	me := follower(t, testWatchers(t, true, ""))
	for _, c := range []struct {
		name      string
		mayAnswer bool
		left      string
		grace     time.Duration
		limit     time.Duration
	}{
		{"no list", true, "", patience, patience},
		{"a broken list", true, "{", patience, patience},
		{"another process of the same number", true, asJSON(watcher{me.PID, me.Start + 1}), patience, patience},
		{"a process that is gone", true, asJSON(watcher{PID: 1 << 30}), patience, patience},
		{"a process that may not answer", false, asJSON(me), patience, patience},
		{"nobody came in time", true, asJSON(me), time.Millisecond, patience},
		{"a hook that has little time", true, asJSON(me), patience, time.Millisecond},
	} {
		w := testWatchers(t, c.mayAnswer, c.left)
		w.setGrace(c.grace)
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		w.awaitReturn(ctx, c.limit)
		if ctx.Err() != nil {
			t.Errorf("%s: still waited for after %s", c.name, patience)
		}
		cancel()
	}
}

func TestWhoIsWaitedFor(t *testing.T) {
	peer := proc.Cred{UID: os.Getuid(), PID: followerPID}
	left := testWatchers(t, true, "")
	left.arrived(peer)(true) // the daemon let them go
	for name, w := range map[string]*watchers{
		"followed the daemon before": testWatchers(t, true, asJSON(follower(t, left))),
		"was hung up on for lagging": left,
	} {
		w.setGrace(patience)
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		w.awaitReturn(ctx, patience)
		if ctx.Err() == nil {
			t.Errorf("%s, and is not waited for", name)
		}
		cancel()
		done := make(chan struct{})
		go func() { w.awaitReturn(context.Background(), patience); close(done) }()
		w.arrived(peer)
		select {
		case <-done:
		case <-time.After(patience):
			t.Errorf("%s: still waited for when they are back", name)
		}
	}
}

// Who leaves takes the file with them.
func TestTheListOfFollowersOnDisk(t *testing.T) {
	w := testWatchers(t, true, "")
	end := w.arrived(proc.Cred{UID: os.Getuid(), PID: followerPID})
	if b, err := os.ReadFile(w.file); err != nil || string(b) != asJSON(follower(t, w)) {
		t.Errorf("the file holds %s (error %v), want the one who follows", b, err)
	}
	end(false)
	if _, err := os.Stat(w.file); !os.IsNotExist(err) {
		t.Errorf("the file is still there after the last one left: %v", err)
	}
}
