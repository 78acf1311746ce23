//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/consent"
)

// Real hook processes and a real hub that is killed twice while people answer:
// every hook ends, hears one answer at most, and hears no yes that is not on
// record for its very call.
func TestFeedStormWithKills(t *testing.T) {
	t.Parallel()
	buildHookClient(t)
	h, err := newHome(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.end(); err != nil {
			t.Error(err)
		}
	}()
	dirs, err := h.dirs()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), h.env()...)
	program := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Env = env
		return cmd
	}
	if out, err := program("hookmux", "away").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	c := &client.Client{Socket: dirs.Socket(), Timeout: 5 * time.Second}
	const hooks, kills = 24, 2 // a third death within a minute would keep hubs from starting
	var (
		work, people sync.WaitGroup
		done         atomic.Bool
		mu           sync.Mutex
		heard        = map[string]string{}
	)
	for i := range hooks {
		work.Go(func() {
			session := fmt.Sprintf("storm-%02d", i)
			time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
			hook := program("hookmux-hook", "claude", "PermissionRequest", "120")
			hook.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"command %d"}}`, session, i%5))
			var out bytes.Buffer
			hook.Stdout = &out
			err := hook.Run()
			mu.Lock()
			defer mu.Unlock()
			heard[session] = out.String()
			if err != nil {
				t.Errorf("%s: %v", session, err)
			}
		})
	}
	for range 3 {
		people.Go(func() {
			for !done.Load() {
				list, err := c.Requests(context.Background(), false)
				if err != nil || len(list) == 0 {
					time.Sleep(10 * time.Millisecond)
					continue
				}
				item := list[rand.IntN(len(list))]
				_, _ = c.Reply(context.Background(), client.FeedReply{ID: item.ID, Choice: []string{"once", "deny"}[rand.IntN(2)], Reason: "no", SHA256: item.SHA256})
				time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
			}
		})
	}
	for range kills {
		time.Sleep(600 * time.Millisecond)
		if info, err := c.Info(context.Background()); err == nil {
			_ = syscall.Kill(info.PID, syscall.SIGKILL)
		}
	}
	work.Wait()
	done.Store(true)
	people.Wait()
	if list, err := c.Requests(context.Background(), false); err != nil || len(list) != 0 {
		t.Errorf("%d requests still wait, %v", len(list), err)
	}
	record := map[string][]string{}
	b, err := os.ReadFile(filepath.Join(dirs.State, "decisions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var r consent.Record
		if json.Unmarshal([]byte(line), &r) == nil {
			record[r.Session] = append(record[r.Session], r.Verdict)
		}
	}
	answered := 0
	for session, text := range heard {
		word := ""
		switch {
		case strings.Contains(text, `"allow"`):
			word = "allow"
		case strings.Contains(text, `"deny"`):
			word = "deny"
		case text != "":
			t.Errorf("%s heard %s", session, text)
		}
		if word == "" {
			continue
		}
		answered++
		// An answer that was under way when the hub was killed is on record and
		// reached nobody: the hook asked the next hub, and heard the last.
		if r := record[session]; len(r) == 0 || len(r) > kills+1 || r[len(r)-1] != word {
			t.Errorf("%s heard %s, and on record is %v", session, word, r)
		}
	}
	if len(heard) != hooks || answered == 0 {
		t.Errorf("%d of %d hooks ended, %d were answered", len(heard), hooks, answered)
	}
}
