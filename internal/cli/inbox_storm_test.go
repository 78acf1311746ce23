//go:build unix

package cli

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
	"github.com/hookmux/hookmux/internal/approvals/ledger"
)

// Real hook processes and real daemons, killed twice and stopped once while people
// answer, follow the inbox and leave, and some hooks are killed, too. No request
// is lost: every hook that stays hears the user's answer. None is doubled: the
// journal has each once. None is answered twice: what a hook hears is the last
// that is on record for its very call, and beyond it is on record only what was
// under way when a daemon was killed.
func TestInboxStormWithKills(t *testing.T) {
	for _, why := range []string{"away", "watched"} { // why agents wait
		t.Run(why, func(t *testing.T) {
			t.Parallel()
			(&killStorm{t: t, watched: why == "watched"}).run()
		})
	}
}

type killStorm struct {
	t       *testing.T
	watched bool
	env     []string
	c       *client.Client

	mu        sync.Mutex
	heard     map[string]string // by session, of hooks that stayed
	delivered map[string]int    // replies that were said to be delivered
	unreached map[string]bool   // hooks that found no daemon in time
}

const (
	stormHooks = 30
	stormKills = 2 // a third death within a minute would keep daemons from starting
	stormEnds  = 3
	stormLeft  = 2 // hooks that a busy machine may leave to the agent's own prompt
)

func (s *killStorm) run() {
	t := s.t
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
	dirs := h.Dirs
	s.env = append(append(os.Environ(), h.env()...), "HOOKMUX_DEBUG=1")
	s.c = &client.Client{Socket: dirs.Socket(), Timeout: 5 * time.Second}
	s.heard, s.delivered, s.unreached = map[string]string{}, map[string]int{}, map[string]bool{}
	if s.watched {
		stop := s.watch()
		defer stop()
	} else if out, err := s.program("hookmux", "away").CombinedOutput(); err != nil {
		t.Fatalf(`%v: s.program("hookmux", "away").CombinedOutput() = %s, want no error`, err, out)
	}
	var work, people sync.WaitGroup
	var done atomic.Bool
	for i := range stormHooks {
		work.Go(func() { s.hook(i) })
	}
	for range 3 {
		people.Go(func() {
			for !done.Load() {
				s.answerOne()
			}
		})
	}
	if s.watched { // somebody looks in now and then
		people.Go(func() {
			for !done.Load() {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(200))*time.Millisecond)
				_ = s.c.Inbox(ctx, func(client.InboxNote) error { return nil })
				cancel()
			}
		})
	}
	for i := range stormEnds {
		time.Sleep(time.Duration(300+rand.IntN(300)) * time.Millisecond)
		if i%2 == 0 {
			if info, err := s.c.Info(context.Background()); err == nil {
				_ = syscall.Kill(info.PID, syscall.SIGKILL)
			}
		} else if out, err := s.program("hookmux", "daemon", "stop").CombinedOutput(); err != nil {
			t.Logf("daemon stop: %v: %s", err, out)
		}
	}
	work.Wait()
	done.Store(true)
	people.Wait()
	// the last one may have been stopped
	if out, err := s.program("hookmux", "daemon", "start").CombinedOutput(); err != nil {
		t.Fatalf("%v: out = %s, want no error", err, out)
	}
	if list, err := s.c.Requests(context.Background(), false); err != nil || len(list) != 0 {
		t.Errorf("%d requests still wait, %v", len(list), err)
	}
	s.compare(filepath.Join(dirs.State, "decisions.jsonl"))
	s.countRows()
	if len(s.unreached) > stormHooks/2 {
		t.Errorf("%d of %d hooks reached no daemon, want at most half of them", len(s.unreached), stormHooks)
	}
}

func (s *killStorm) program(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Env = s.env
	return cmd
}

// watch follows the inbox as a person would, through everything.
func (s *killStorm) watch() (stop func()) {
	cmd := s.program("hookmux", "inbox", "-f", "--json")
	var why bytes.Buffer
	cmd.Stderr = &why
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	line := make([]byte, 4096)
	if n, err := out.Read(line); err != nil || !strings.Contains(string(line[:n]), `"attached":true`) {
		s.t.Fatalf(`line[:n] = %s, error %v; want no error and "attached":true in string(line[:n])`, line[:n], err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for {
			if _, err := out.Read(line); err != nil {
				return
			}
		}
	}()
	return func() {
		select {
		case <-drained:
			s.t.Errorf("who watches gave up: %s", why.String())
		default:
		}
		_ = cmd.Process.Signal(os.Interrupt)
		<-drained
		_ = cmd.Wait()
	}
}

// hook is one agent's call; every sixth is killed while it may wait.
func (s *killStorm) hook(i int) {
	session := fmt.Sprintf("storm-%02d", i)
	time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond)
	hook := s.program("hookmux-hook", "claude", "PermissionRequest", "120")
	hook.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id":%q,"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"command %d"}}`, session, i%5))
	var out, why bytes.Buffer
	hook.Stdout, hook.Stderr = &out, &why
	if err := hook.Start(); err != nil {
		s.t.Error(err)
		return
	}
	if i%6 == 0 {
		time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond)
		_ = hook.Process.Kill()
		_ = hook.Wait()
		return
	}
	err := hook.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard[session] = out.String()
	// on a slow machine no daemon may come up in time: the agent's own rules then
	if strings.Contains(why.String(), "connect ") {
		s.unreached[session] = true
		s.t.Logf("%s: %s", session, why.String())
	}
	if err != nil {
		s.t.Errorf("%s: error %v, want no error", session, err)
	}
}

func (s *killStorm) answerOne() {
	list, err := s.c.Requests(context.Background(), false)
	if err != nil || len(list) == 0 {
		time.Sleep(10 * time.Millisecond)
		return
	}
	item := list[rand.IntN(len(list))]
	result, err := s.c.Reply(context.Background(),
		client.InboxReply{ID: item.ID, Choice: []string{"once", "deny"}[rand.IntN(2)], Reason: "no",
			SHA256: item.SHA256})
	if err == nil && result.Outcome == "delivered" {
		s.mu.Lock()
		s.delivered[item.Session]++
		s.mu.Unlock()
	}
	time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
}

// compare holds what hooks heard against the record.
func (s *killStorm) compare(decisions string) {
	record := map[string][]string{}
	b, err := os.ReadFile(decisions)
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range strings.Lines(strings.TrimRight(string(b), "\n")) { // behind the last one, empty lines are room for more
		var r ledger.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			s.t.Errorf("%s: error %v, want no error", line, err) // each is written with one write
		}
		record[r.Session] = append(record[r.Session], r.Verdict)
	}
	more, left := 0, 0
	for session, text := range s.heard {
		if s.unreached[session] {
			if text != "" {
				s.t.Errorf("%s found no daemon and said %q", session, text)
			}
			continue
		}
		word := ""
		switch {
		case strings.Contains(text, `"allow"`):
			word = "allow"
		case strings.Contains(text, `"deny"`):
			word = "deny"
		}
		r, n := record[session], s.delivered[session]
		if s.watched && text == "" && len(r)+n == 0 && left < stormLeft {
			// Who watches was not back within the daemon's patience: then nobody
			// may keep the agent, and its own prompt takes over.
			left++
			s.t.Logf("%s was left to the agent's own prompt", session)
			continue
		}
		if word == "" || len(r) == 0 || r[len(r)-1] != word || n > 1+stormKills {
			s.t.Errorf("%s heard %q, on record is %v, and %d answers were said to be delivered", session, text, r, n)
		}
		more += len(r) - 1
	}
	// Three people answer one request each at a time, so no more than that can
	// be under way when a daemon dies or stops.
	if limit := 3 * stormEnds; more > limit {
		s.t.Errorf("%d decisions are on record that no hook heard", more)
	}
	if want := stormHooks - (stormHooks+5)/6; len(s.heard) != want {
		s.t.Errorf("%d of %d hooks ended", len(s.heard), want)
	}
}

// countRows wants each call in the journal once, however often it was asked about.
func (s *killStorm) countRows() {
	rows := map[string]int{}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end) &&
		len(rows) < len(s.heard); time.Sleep(20 * time.Millisecond) {
		clear(rows)
		err := s.c.Query(context.Background(), client.QueryParams{Filter: client.Filter{Kinds: []string{"PermissionRequest"}}}, func(e client.Entry) bool {
			var ev struct{ Session string }
			if json.Unmarshal(e.Event, &ev) == nil {
				if _, stayed := s.heard[ev.Session]; stayed {
					rows[ev.Session]++
				}
			}
			return true
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	for session := range s.heard {
		if rows[session] != 1 {
			s.t.Errorf("%s is in the journal %d times", session, rows[session])
		}
	}
}
