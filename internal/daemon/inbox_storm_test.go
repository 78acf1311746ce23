package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/approvals/ledger"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// answerRequests gives a request that waits, one after another in any order, to answer,
// until done.
func answerRequests(w *daemonFixture, done *atomic.Bool, answer func(*client.Client, client.Request)) {
	c := &client.Client{Socket: w.Dirs.Socket(), Timeout: daemontest.Patience}
	for !done.Load() {
		list, err := c.Requests(context.Background(), false)
		if err != nil || len(list) == 0 {
			time.Sleep(2 * time.Millisecond)
			continue
		}
		answer(c, list[rand.IntN(len(list))])
	}
}

// stormy returns a hook client in the storm: when it is hung up on it asks the next
// daemon with the same id, as the real one does.
func stormy(w *daemonFixture, r frame.Request, hangUp func() bool) (answer string, left bool) {
	for end := time.Now().Add(daemontest.Patience); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
		conn, err := net.Dial("unix", w.Dirs.Socket())
		if err != nil {
			continue
		}
		_ = conn.SetDeadline(end)
		if hangUp() {
			_, _ = conn.Write(frame.AppendRequest(nil, &r))
			time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
			conn.Close()
			return "", true
		}
		_, err = conn.Write(frame.AppendRequest(nil, &r))
		if err == nil {
			var reply frame.Reply
			if reply, err = frame.ReadReply(bufio.NewReader(conn), frame.Standard); err == nil {
				conn.Close()
				return string(reply.Stdout), false
			}
		}
		conn.Close()
	}
	return "never answered", false
}

// Under replies, hang-ups and restarts at random no request is lost, doubled or
// answered twice: every hook that stays hears one answer; what it hears is on
// record as decided for its very call, once; and nobody hears a yes that a
// person did not give.
func TestInboxStorm(t *testing.T) {
	w := newFixture(t)
	w.Up()
	w.MustCall(wire.MethodAway, nil, nil)
	const hooks = 80
	var (
		work, repliers sync.WaitGroup
		answers        sync.Map // event id → what the hook heard
		mu             sync.Mutex
		delivered      = map[string]int{} // by event
		done           atomic.Bool
	)
	for i := range hooks {
		work.Go(func() {
			r := permission(fmt.Sprint("s", i%8), fmt.Sprint("command ", i%20))
			r.ID = fmt.Sprintf("storm-%03d", i)
			time.Sleep(time.Duration(rand.IntN(600)) * time.Millisecond)
			leaves := i%9 == 0
			answer, left := stormy(w, r, func() bool { return leaves })
			if !left {
				answers.Store(r.ID, answer)
			}
		})
	}
	for who := range 4 {
		repliers.Go(func() {
			answerRequests(w, &done, func(c *client.Client, item client.Request) {
				if who == 3 && rand.IntN(3) == 0 {
					_, _ = c.Skip(context.Background(), item.ID)
					return
				}
				choice := []string{"once", "deny"}[rand.IntN(2)]
				result, err := c.Reply(context.Background(),
					client.InboxReply{ID: item.ID, Choice: choice, Reason: "no"})
				if err == nil && result.Outcome == "delivered" {
					mu.Lock()
					delivered[item.EventID]++
					mu.Unlock()
				}
			})
		})
	}
	for range 3 {
		time.Sleep(150 * time.Millisecond)
		w.Down()
		w.Up()
	}
	work.Wait()
	done.Store(true)
	repliers.Wait()
	if list := w.items(); len(list) != 0 {
		t.Errorf("%d requests still wait", len(list))
	}
	decided := map[string][]ledger.Record{}
	b, err := os.ReadFile(filepath.Join(w.Dirs.State, "decisions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimRight(string(b), "\n")) { // what follows is room for more
		var r ledger.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		decided[r.EventID] = append(decided[r.EventID], r)
	}
	heard := 0
	answers.Range(func(id, answer any) bool {
		word := ""
		switch text := answer.(string); {
		case strings.Contains(text, `"allow"`):
			word = "allow"
		case strings.Contains(text, `"deny"`):
			word = "deny"
		case text != "":
			t.Errorf("%s: answered %q, want allow, deny or nothing", id, text)
		}
		if n := delivered[id.(string)]; word == "" && n != 0 || word != "" && n != 1 {
			t.Errorf("%s heard %q, and %d answers to it were delivered", id, word, n)
		}
		if word == "" {
			return true // released
		}
		heard++
		if !slices.ContainsFunc(decided[id.(string)], func(r ledger.Record) bool { return r.Verdict == word }) {
			t.Errorf("%s heard %s, and on record is %+v", id, word, decided[id.(string)])
		}
		return true
	})
	if heard == 0 {
		t.Error("nobody heard anything")
	}
}

// The store of decisions breaks and comes back while several people answer:
// nobody is told that somebody was first unless somebody was, no hook hears a
// yes that is not on record, and each request ends with one answer.
func TestInboxStormOverAFailingStore(t *testing.T) {
	w := open(t)
	w.MustCall(wire.MethodAway, nil, nil)
	const hooks = 60
	var (
		work, repliers, breaker sync.WaitGroup
		answers, firsts         sync.Map // by event: what the hook heard; who was said to be first
		delivered               sync.Map // by event: who was said to have delivered
		failed                  atomic.Int64
		done                    atomic.Bool
	)
	decisions := filepath.Join(w.Dirs.State, "decisions.jsonl")
	breaker.Go(func() { // a folder in its place cannot be written to, by root neither
		for n := 0; !done.Load(); n++ {
			_ = os.Rename(decisions, fmt.Sprint(decisions, ".", n))
			_ = os.Mkdir(decisions, 0o700)
			time.Sleep(time.Duration(2+rand.IntN(10)) * time.Millisecond)
			if info, err := os.Stat(decisions); err == nil && info.IsDir() {
				_ = os.Remove(decisions)
			}
			time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
		}
	})
	for i := range hooks {
		work.Go(func() {
			r := permission(fmt.Sprint("s", i%8), fmt.Sprint("command ", i))
			r.ID = fmt.Sprintf("broken-%03d", i)
			time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
			answer, _ := stormy(w, r, func() bool { return false })
			answers.Store(r.ID, answer)
		})
	}
	for who := range 6 {
		repliers.Go(func() {
			answerRequests(w, &done, func(c *client.Client, item client.Request) {
				choice := "once"
				if rand.IntN(5) == 0 {
					choice = "deny"
				}
				result, err := c.Reply(context.Background(),
					client.InboxReply{ID: item.ID, Choice: choice, Reason: fmt.Sprint("replier ", who)})
				switch {
				case err != nil:
					failed.Add(1)
				case result.Outcome == "delivered":
					if before, twice := delivered.LoadOrStore(item.EventID, choice); twice {
						t.Errorf("%s was answered twice: %v, %s", item.EventID, before, choice)
					}
				case result.Outcome == "already":
					if result.By == "" || result.Decided == nil {
						t.Errorf("told that somebody was first, and nobody was: %+v", result)
					} else {
						firsts.Store(item.EventID, result.Decided.Choice)
					}
				default:
					t.Errorf("result %+v, want it delivered or already answered", result)
				}
			})
		})
	}
	work.Wait()
	done.Store(true)
	repliers.Wait()
	breaker.Wait()
	if failed.Load() == 0 {
		t.Error("the store never failed")
	}
	onRecord := map[string]string{}
	files, _ := filepath.Glob(decisions + "*")
	for _, file := range files {
		b, _ := os.ReadFile(file)
		for line := range strings.Lines(strings.TrimRight(string(b), "\n")) {
			var r ledger.Record
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			onRecord[r.EventID] += r.Verdict + " "
		}
	}
	firsts.Range(func(id, choice any) bool {
		if got, ok := delivered.Load(id); !ok || got != choice {
			t.Errorf("%v: %v was said to be first, delivered is %v", id, choice, got)
		}
		return true
	})
	answers.Range(func(id, answer any) bool {
		choice, ok := delivered.Load(id)
		text := answer.(string)
		switch {
		case !ok || strings.Contains(text, `"allow"`) != (choice == "once") ||
			strings.Contains(text, `"deny"`) != (choice == "deny"):
			t.Errorf("%v heard %s, and %v was delivered", id, text, choice)
		case choice == "once" && !strings.Contains(onRecord[id.(string)], "allow"):
			t.Errorf("%v heard a yes, and on record is %q", id, onRecord[id.(string)])
		}
		return true
	})
}
