//go:build unix

package releasetest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/await"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/wire"
)

const (
	moments        = 20 // at which programs are replaced, for each version before
	workingAgents  = 3
	turnsOfAnAgent = 5
)

// handover is a home in which agents work while hookmux is replaced.
type handover struct {
	*sandbox.Home
	t       *testing.T
	sameIDs bool   // the version before hands ids of requests on
	ponder  func() // what the user does before they answer; nil: nothing

	calls atomic.Int64 // that were answered

	mu       sync.Mutex
	sent     []string            // ids of all calls
	asked    map[string][]string // what a person was asked, by command: the requests' ids
	approved map[string]int      // how often a person's yes was taken, by command
}

// Programs are replaced at random moments while agents work and a person answers. Every event is in
// the journal once, every request gets its answer, and the user answers each once. At every other moment
// the user restarts the daemon as well, with requests that wait; else it goes by itself. The programs are test
// programs, for which whoever calls is a person: HOOKMUX_HANDOVER_BEFORE has folders with those of versions
// before (name=folder, by commas), HOOKMUX_HANDOVER_NOW the folder with those of now.
func TestHandover(t *testing.T) {
	list, now := os.Getenv("HOOKMUX_HANDOVER_BEFORE"), os.Getenv("HOOKMUX_HANDOVER_NOW")
	if list == "" || now == "" {
		t.Skip("HOOKMUX_HANDOVER_BEFORE is not set; `make release-test` builds programs of the versions before")
	}
	for one := range strings.SplitSeq(list, ",") {
		name, before, _ := strings.Cut(one, "=")
		for seed := range moments {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				h := &handover{Home: sandbox.NewForTest(t, sandbox.Options{InHome: true}), t: t, sameIDs: name == "now",
					asked: map[string][]string{}, approved: map[string]int{}}
				t.Cleanup(func() {
					if err := daemontest.EndDaemon(h.Dirs); err != nil {
						t.Error(err)
					}
				})
				h.workThrough(before, now, rand.New(rand.NewPCG(uint64(seed), 1)), seed%2 == 1)
			})
		}
	}
}

// putPrograms replaces both programs as package managers do: each by renaming.
func (h *handover) putPrograms(from string) {
	h.t.Helper()
	for _, name := range []string{"hookmux", "hookmux-hook"} {
		source, err := os.Open(filepath.Join(from, name))
		if err != nil {
			h.t.Fatal(err)
		}
		temp := h.Program(name) + ".new"
		target, err := os.OpenFile(temp, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o700)
		if err != nil {
			h.t.Fatal(err)
		}
		_, err = io.Copy(target, source)
		if err = firstError(err, source.Close(), target.Close(), os.Rename(temp, h.Program(name))); err != nil {
			h.t.Fatal(err)
		}
	}
}

func firstError(all ...error) error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

// person runs a command as the user.
func (h *handover) person(args ...string) (string, error) {
	cmd := exec.Command(h.Program("hookmux"), args...)
	cmd.Env, cmd.Dir = h.Env, h.Project
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// call makes one hook call of an agent and gives the answer.
func (h *handover) call(id, event string, payload map[string]any) sandbox.Answer {
	payload["hook_event_name"], payload["cwd"], payload["transcript_path"] = event, h.Project, ""
	text, err := json.Marshal(payload)
	if err != nil {
		h.t.Error(err)
		return sandbox.Answer{}
	}
	h.mu.Lock()
	h.sent = append(h.sent, id)
	h.mu.Unlock()
	cmd := h.HookCommand(context.Background(), "claude", event, string(text), "id="+id)
	cmd.Args[3] = "600"
	cmd.Env = slices.Concat(h.Env, []string{"HOOKMUX_TEST_BELOW=claude", "HOOKMUX_DEBUG=1"})
	answer, err := sandbox.RunToEnd(cmd)
	if err != nil || answer.Exit != 0 {
		h.t.Errorf("the hook at %s, %s, ended with %v: %v, want exit code 0", event, id, err, answer)
	}
	h.calls.Add(1)
	return answer
}

// work is one agent: turns with a tool call each that asks for permission.
func (h *handover) work(number int) {
	for turn := range turnsOfAnAgent {
		session, name := fmt.Sprintf("session-%d", number), fmt.Sprintf("%d-%d", number, turn)
		command := "make target-" + name
		tool := func() map[string]any {
			return map[string]any{"session_id": session, "tool_name": "Bash", "tool_use_id": "use-" + name,
				"tool_input": map[string]string{"command": command}}
		}
		h.call("prompt-"+name, "UserPromptSubmit", map[string]any{"session_id": session, "prompt": "make it"})
		h.call("before-"+name, "PreToolUse", tool())
		if got := h.call("ask-"+name, "PermissionRequest", tool()); !strings.Contains(got.Stdout, `"behavior":"allow"`) {
			h.t.Errorf("the request for %q got %v, want the user's yes", command, got)
		}
		h.call("after-"+name, "PostToolUse", tool())
		h.call("stop-"+name, "Stop", map[string]any{"session_id": session, "stop_hook_active": false})
	}
}

// answerRequests approves whatever waits, as a person does who looks again and again.
func (h *handover) answerRequests(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		text, err := h.person("inbox", "--json")
		if err != nil {
			continue // no daemon at this moment
		}
		var requests []struct {
			ID     string
			Status string
			Input  json.RawMessage
		}
		if err := json.Unmarshal([]byte(text), &requests); err != nil {
			var wrapped struct{ Requests json.RawMessage }
			if json.Unmarshal([]byte(text), &wrapped) != nil || json.Unmarshal(wrapped.Requests, &requests) != nil {
				h.t.Errorf("inbox --json printed %q: %v", text, err)
				return
			}
		}
		for _, one := range requests {
			if one.Status != wire.InboxPending { // at the agent's own prompt
				continue
			}
			command := string(one.Input)
			h.mu.Lock()
			if !slices.Contains(h.asked[command], one.ID) {
				h.asked[command] = append(h.asked[command], one.ID)
			}
			h.mu.Unlock()
			if h.ponder != nil {
				h.ponder()
			}
			if _, err := h.person("approve", one.ID, "--yes"); err == nil {
				h.mu.Lock()
				h.approved[command]++
				h.mu.Unlock()
			}
		}
	}
}

func (h *handover) daemonVersion() string {
	info, err := (&client.Client{Socket: h.Dirs.Socket()}).Info(context.Background())
	if err != nil {
		return ""
	}
	return info.Version
}

func (h *handover) workThrough(before, now string, random *rand.Rand, restart bool) {
	t := h.t
	h.putPrograms(before)
	if _, err := h.person("daemon", "start"); err != nil {
		t.Fatal(err)
	}
	first := h.daemonVersion()
	if _, err := h.person("away"); err != nil { // requests wait for them
		t.Fatal(err)
	}
	var agents, others sync.WaitGroup
	done := make(chan struct{})
	for number := range workingAgents {
		agents.Go(func() { h.work(number) })
	}
	others.Go(func() { h.answerRequests(done) })
	moment := random.Int64N(workingAgents * turnsOfAnAgent * 5 * 2 / 3)
	await.Until(t, fmt.Sprintf("%d calls are answered", moment), func() bool { return h.calls.Load() >= moment })
	h.putPrograms(now)
	if restart {
		if out, err := h.person("daemon", "restart"); err != nil {
			t.Errorf("daemon restart ended with %v: %s", err, out)
		}
	}
	agents.Wait()
	close(done)
	others.Wait()

	h.awaitOtherVersion(first)
	if err := daemontest.EndDaemon(h.Dirs); err != nil {
		t.Fatal(err)
	}
	h.compareRecords()
}

// awaitOtherVersion waits until the new daemon is there, with the next hooks at the
// latest.
func (h *handover) awaitOtherVersion(first string) {
	number := 0
	await.Until(h.t, "the daemon is of another version than "+first, func() bool {
		number++
		h.call(fmt.Sprintf("late-%d", number), "PostToolUse", map[string]any{"session_id": "session-0",
			"tool_name": "Bash", "tool_use_id": fmt.Sprintf("late-%d", number), "tool_input": map[string]string{"command": "ls"}})
		version := h.daemonVersion()
		return version != "" && version != first
	})
}

// compareRecords compares what was sent and asked with what the journal has.
func (h *handover) compareRecords() {
	t := h.t
	stored, _, err := daemontest.CountStored(context.Background(), h.Dirs)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range h.sent {
		if stored[id] != 1 {
			t.Errorf("the event %s is %d times in the journal, want once", id, stored[id])
		}
	}
	h.compareAnswers(workingAgents * turnsOfAnAgent)
}

// compareAnswers wants the user to have been asked about so many commands, about
// each once.
func (h *handover) compareAnswers(want int) {
	t := h.t
	if len(h.asked) != want {
		t.Errorf("the user was asked about %d commands, want %d: %v", len(h.asked), want, h.asked)
	}
	for command, ids := range h.asked {
		// A daemon of 1cb22c92 leaves no ids to the next one. Then it is a second question only
		// where the first was answered.
		if h.sameIDs && len(ids) != 1 {
			t.Errorf("the user was asked about %q by the requests %v, want one id", command, ids)
		}
		if h.approved[command] != 1 {
			t.Errorf("the user was asked about %q by the requests %v and said yes %d times, want one yes", command, ids,
				h.approved[command])
		}
	}
}
