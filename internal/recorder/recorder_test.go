package recorder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type nobodyWatches struct{}

func (nobodyWatches) Publish(string, any) {}
func (nobodyWatches) Watched() bool       { return false }

type noListener struct{}

func (noListener) CaughtUp(context.Context) {}

func testDeps(t *testing.T) services.Deps {
	t.Helper()
	dirs := sandbox.NewForTest(t, sandbox.Options{}).Dirs
	for _, dir := range []string{dirs.State, dirs.Runtime} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	catalogue, _ := agent.Load()
	return services.Deps{
		Dirs: dirs, Catalogue: catalogue, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Problems: services.NewProblems(nil),
		Notes:    nobodyWatches{}, Background: new(services.Background),
	}
}

// openRecorder makes a recorder; start runs it until the test ends or stop is
// called.
func openRecorder(t *testing.T, deps services.Deps) (r *Recorder, start func() (stop func())) {
	t.Helper()
	r = New(Options{
		Deps: deps, Listener: noListener{}, Late: func(*event.Event) {}, Stored: func() {},
		Retention: func() Retention { return Retention{} },
	})
	return r, func() func() {
		done := make(chan struct{})
		go func() { defer close(done); r.Run(t.Context()) }()
		stop := sync.OnceFunc(func() { r.Stop(); <-done; r.Close() })
		t.Cleanup(stop)
		return stop
	}
}

func record(t *testing.T, r *Recorder, ids ...string) {
	t.Helper()
	for _, id := range ids {
		ev := event.Event{ID: id, Agent: "claude", Native: "Notification", Kind: event.UserAttention, Session: "s1"}
		if err := r.RecordEvent(id, time.Now(), &ev, []byte(`{"session_id":"s1"}`)); err != nil {
			t.Fatalf("recording %s: %v", id, err)
		}
	}
	r.Wake()
}

// countStored returns how often each id is in the journal.
func countStored(t *testing.T, r *Recorder) map[string]int {
	t.Helper()
	seen := map[string]int{}
	for ev, err := range r.EventsSince(t.Context(), time.Time{}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[ev.ID]++
	}
	return seen
}

func numbered(prefix string, n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s-%02d", prefix, i)
	}
	return ids
}

func wantOnce(t *testing.T, r *Recorder, ids []string) {
	t.Helper()
	var seen map[string]int
	await.Until(t, "everything is stored", func() bool {
		seen = countStored(t, r)
		return len(seen) == len(ids)
	})
	for _, id := range ids {
		if seen[id] != 1 {
			t.Errorf("%s is stored %d times, expected once", id, seen[id])
		}
	}
}

// A second daemon on the same folder, as after somebody removed the runtime folder,
// leaves alone what the first one still writes to, and stores it once that is
// dead.
func TestASecondDaemonLeavesTheFirstOnesFileAlone(t *testing.T) {
	deps := testDeps(t)
	first, _ := openRecorder(t, deps) // it never stores anything: it is killed before
	t.Cleanup(first.drain.store.close)
	record(t, first, numbered("early", 3)...)
	second, start := openRecorder(t, deps)
	start()
	record(t, second, numbered("second", 2)...)
	await.Until(t, "the second daemon stored its own", func() bool { return len(countStored(t, second)) == 2 })
	second.drain.tidyFiles()
	record(t, first, numbered("late", 3)...)
	if left := second.Undrained(); left < 3 {
		t.Errorf("%d events are left to store, expected the 3 that the first daemon had written when it was counted", left)
	}
	first.Close() // what the death of a process does to its locks
	wantOnce(t, second, slices.Concat(numbered("early", 3), numbered("late", 3), numbered("second", 2)))
}

// follower counts what it hears.
type follower struct {
	mu             sync.Mutex
	stored, missed int64
	since          time.Time
}

func (f *follower) Stored(batch []Observed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stored += int64(len(batch))
}

func (f *follower) Missed(n int64, since time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missed, f.since = f.missed+n, since
}

func (f *follower) Retain(Retention) {}

func (f *follower) counts() (stored, missed int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stored, f.missed
}

// Decisions for which neither the disk nor memory has room are counted, and followers
// hear of them.
func TestLostDecisionsAreCounted(t *testing.T) {
	deps := testDeps(t)
	if err := os.WriteFile(deps.Dirs.Intake(), nil, 0o600); err != nil { // no folder can be there
		t.Fatal(err)
	}
	heard := &follower{}
	r := New(Options{Deps: deps, Listener: noListener{}, Late: func(*event.Event) {}, Stored: func() {},
		Retention: func() Retention { return Retention{} }, Followers: []Follower{heard}})
	at := time.Now().Truncate(time.Second)
	decide := func(id string, at time.Time) {
		r.RecordOutcome(&wire.Outcome{ID: id, Time: at, Agent: "claude", Decision: []byte(`{"verdict":"deny"}`)})
	}
	decide("kept", at)
	r.queue.bytes += queueBytes // as if the drain were far behind
	decide("lost-1", at.Add(time.Second))
	decide("lost-2", at.Add(2*time.Second))
	r.queue.bytes -= queueBytes
	done := make(chan struct{})
	go func() { defer close(done); r.Run(t.Context()) }()
	r.Wake()
	await.Until(t, "what was kept is stored, and what was lost is heard of", func() bool {
		stored, missed := heard.counts()
		return stored == 1 && missed == 2
	})
	r.Stop()
	<-done
	r.Close()
	if !heard.since.Equal(at.Add(time.Second)) {
		t.Errorf("lost since %v, want %v", heard.since, at.Add(time.Second))
	}
}

// What does not fit into memory is read back from disk.
func TestAFloodIsReadBackFromDisk(t *testing.T) {
	deps := testDeps(t)
	r, start := openRecorder(t, deps)
	r.queue.bytes = queueBytes // as if the drain were far behind
	ids := numbered("flood", 50)
	record(t, r, ids...)
	r.queue.bytes = 0
	start()
	record(t, r, "after")
	wantOnce(t, r, append(ids, "after"))
	await.Until(t, "nothing is undrained", func() bool { return r.Undrained() == 0 })
	await.Until(t, "the intake is empty", func() bool { return filesWithText(t, deps.Dirs.Intake()) == 0 })
}

// What was recorded and never stored is stored by the next recorder, once.
func TestTheNextRecorderStoresWhatIsLeft(t *testing.T) {
	deps := testDeps(t)
	first, _ := openRecorder(t, deps)
	ids := numbered("left", 20)
	record(t, first, ids...)
	first.Close() // it never ran, as if it was killed
	first.drain.store.close()
	second, start := openRecorder(t, deps)
	start()
	wantOnce(t, second, ids)
	await.Until(t, "the intake is empty", func() bool { return filesWithText(t, deps.Dirs.Intake()) == 0 })
}

// Outcomes come back with their events.
func TestAnOutcomeIsStoredWithItsEvent(t *testing.T) {
	r, start := openRecorder(t, testDeps(t))
	start()
	record(t, r, "one")
	r.RecordOutcome(&wire.Outcome{
		ID: "one", Agent: "claude", Native: "Notification", Time: time.Now(),
		Decision: []byte(`{"verdict":"deny","reason":"no"}`),
	})
	r.Wake()
	await.Until(t, "the outcome is stored", func() bool {
		result, err := r.Query(t.Context(), wire.QueryParams{Filter: wire.Filter{Verdict: "deny"}})
		return err == nil && len(result.Entries) == 1 && result.Entries[0].Outcome != nil
	})
}

// The last events come in pages too, however many are asked for.
func TestTheLastEventsComeInPages(t *testing.T) {
	r, start := openRecorder(t, testDeps(t))
	start()
	ids := numbered("page", 7)
	record(t, r, ids...)
	wantOnce(t, r, ids)
	var got []string
	q := wire.QueryParams{Limit: 3, Newest: true}
	for range len(ids) {
		page, err := r.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var cursors []string
		for _, e := range page.Entries {
			cursors = append(cursors, e.Cursor)
		}
		got = append(cursors, got...)
		if page.Next == "" {
			break
		}
		q.Before = page.Next
	}
	if want := []string{"1", "2", "3", "4", "5", "6", "7"}; !slices.Equal(got, want) {
		t.Errorf("the pages hold %v, expected %v", got, want)
	}
	if _, err := r.Query(t.Context(), wire.QueryParams{Newest: true, Before: "x"}); !errors.Is(err, ErrCursor) {
		t.Errorf("a bad cursor gives %v, expected %v", err, ErrCursor)
	}
}

// A secret that was told by the option it was given with is also gone from the
// output of the program, where nothing tells it.
func TestASecretIsKnownAgainInLaterEvents(t *testing.T) {
	r, start := openRecorder(t, testDeps(t))
	start()
	value := "n4Vq" + "8zKw2" + "Lx7Rt"
	for i, payload := range []string{
		`{"session_id":"s1","command":"sshpass -p ` + value + ` ssh host"}`,
		`{"session_id":"s1","tool_response":"login with ` + value + ` failed"}`,
	} {
		ev := event.Event{ID: fmt.Sprint("e", i), Agent: "claude", Native: "Notification", Kind: event.UserAttention,
			Session: "s1"}
		if err := r.RecordEvent(ev.ID, time.Now(), &ev, []byte(payload)); err != nil {
			t.Fatal(err)
		}
	}
	r.Wake()
	var page wire.QueryResult
	await.Until(t, "both events are stored", func() bool {
		var err error
		page, err = r.Query(t.Context(), wire.QueryParams{})
		return err == nil && len(page.Entries) == 2
	})
	for _, e := range page.Entries {
		if strings.Contains(string(e.Event), value) || !strings.Contains(string(e.Event), "[redacted:") {
			t.Errorf("the journal holds %s", e.Event)
		}
	}
}

func filesWithText(t *testing.T, dir string) int {
	t.Helper()
	files, err := filepath.Glob(dir + "/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, f := range files {
		if info, err := os.Stat(f); err == nil && info.Size() > 0 {
			n++
		}
	}
	return n
}

// storeAll stores what was recorded, as the drain does.
func storeAll(t *testing.T, r *Recorder) {
	t.Helper()
	if !r.drain.storeBatch(r.drain.queue.takeBatch(nil), nil) {
		t.Fatal("not stored")
	}
	r.drain.tidyFiles()
}

func removeFolder(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

// Somebody removed the state folder while the intake's file was empty. Once a new
// journal is there, an event that is acknowledged survives the death of the daemon before
// the drain comes to it.
func TestEventsSurviveAfterTheStateFolderWasRemoved(t *testing.T) {
	for name, remove := range map[string]func(t *testing.T, r *Recorder, state string){
		"once": func(t *testing.T, r *Recorder, state string) {
			removeFolder(t, state)
			r.drain.tidyFiles() // begins a new journal
		},
		"renamed": func(t *testing.T, r *Recorder, state string) {
			if err := os.Rename(state, state+"-was"); err != nil {
				t.Fatal(err)
			}
			r.drain.tidyFiles()
		},
		"again, before the journal could be opened": func(t *testing.T, r *Recorder, state string) {
			removeFolder(t, state)
			if err := os.MkdirAll(filepath.Join(state, "journal.db"), 0o700); err != nil {
				t.Fatal(err)
			}
			r.drain.tidyFiles() // a new file of the intake, and no journal
			removeFolder(t, state)
			record(t, r, "during")
			if !r.drain.storeBatch(r.drain.queue.takeBatch(nil), nil) { // begins a new journal
				t.Fatal("not stored")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			deps := testDeps(t)
			r, _ := openRecorder(t, deps)
			record(t, r, "before")
			storeAll(t, r)
			remove(t, r, deps.Dirs.State)
			if _, err := os.Stat(filepath.Join(deps.Dirs.State, "journal.db")); err != nil {
				t.Fatalf("no new journal: %v", err)
			}
			record(t, r, "after")
			r.drain.store.close()
			r.Close() // it dies: nothing more is stored

			next, start := openRecorder(t, deps)
			stop := start()
			await.Until(t, "the event that was acknowledged is stored", func() bool { return countStored(t, next)["after"] == 1 })
			stop()
		})
	}
}
