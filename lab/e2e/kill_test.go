//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/recorder/spool"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// Whatever was acknowledged is in the journal exactly once, however often the
// daemon is killed, and whenever: at any millisecond, and right after it has
// acknowledged something that the drain cannot have stored yet.
func TestAcknowledgedEventsSurviveKills(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 20
	}
	w := newWorld(t)
	w.guard("")
	w.up()

	var (
		over      atomic.Bool
		killNext  atomic.Bool // by the next who is acknowledged
		daemon    atomic.Int64
		acks      atomic.Int64
		mu        sync.Mutex
		acked     []string // ids
		processes []string // sessions of real hooks that ended well
		workers   sync.WaitGroup
	)
	struck := make(chan struct{}, 1)
	acknowledged := func(id string) {
		if killNext.CompareAndSwap(true, false) {
			_ = syscall.Kill(int(daemon.Load()), syscall.SIGKILL)
			struck <- struct{}{}
		}
		acks.Add(1)
		mu.Lock()
		acked = append(acked, id)
		mu.Unlock()
	}
	// Six clients as quick as can be, two real hooks: eight at a time.
	for n := range 6 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := 0; !over.Load(); i++ {
				r := frame.Request{ID: fmt.Sprintf("own-%d-%d", n, i), Agent: "claude", Deadline: patience}
				if n%2 == 0 {
					r.Event, r.Payload = "PreToolUse", []byte(before("own", "make test"))
				} else {
					r.Event, r.Payload = "Notification", []byte(note("own"))
				}
				// Asked again under the same id until it is acknowledged, as
				// the real client does.
				for !over.Load() {
					if err := w.send(&r); err == nil {
						acknowledged(r.ID)
						break
					}
					time.Sleep(time.Millisecond)
				}
				time.Sleep(time.Millisecond)
			}
		}()
	}
	for n := range 2 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for i := 0; !over.Load(); i++ {
				session := fmt.Sprintf("hook-%d-%d", n, i)
				event, payload := "PreToolUse", before(session, "make test")
				if i%2 == 0 {
					event, payload = "Notification", note(session)
				}
				// Its event is with the daemon or in the spool when it ends.
				if a, err := w.call(w.Env, event, payload); err != nil || a.Exit != 0 {
					t.Errorf("%s: exit %d, %v; want no error and a.Exit == 0", session, a.Exit, err)
					continue
				}
				mu.Lock()
				processes = append(processes, session)
				mu.Unlock()
			}
		}()
	}

	random := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	for k := range kills {
		pid := w.up()
		daemon.Store(int64(pid))
		time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
		if k%2 == 0 {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			continue
		}
		killNext.Store(true)
		select {
		case <-struck:
		case <-time.After(patience):
			t.Fatal("nobody is acknowledged any more")
		}
	}
	over.Store(true)
	workers.Wait()
	w.settle()

	ids, sessions := w.stored()
	for _, id := range acked {
		if ids[id] != 1 {
			t.Errorf("%s was acknowledged and is stored %d times", id, ids[id])
		}
	}
	for _, session := range processes {
		if sessions[session] != 1 {
			t.Errorf("the event of %s is stored %d times", session, sessions[session])
		}
	}
	for id, n := range ids {
		if n != 1 {
			t.Errorf("%s is stored %d times", id, n)
		}
	}
	if aside, _ := spool.Sweep(w.Dirs.State + "/aside"); len(aside) > 0 {
		t.Errorf("%d good records were set aside", len(aside))
	}
	if len(acked) < kills || len(processes) == 0 {
		t.Errorf("only %d acknowledged, %d hooks", len(acked), len(processes))
	}
	t.Logf("%d kills, %d daemons, %d acknowledged, %d hook processes, %d stored", kills, w.started(), len(acked),
		len(processes), len(ids))
}
