package hub

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// piCall is a call of an agent that has no prompt of its own.
func piCall(ui bool) frame.Request {
	mode := "tui"
	if !ui {
		mode = "print"
	}
	b, _ := json.Marshal(map[string]any{
		"event": map[string]any{"type": "tool_call", "toolName": "bash", "toolCallId": "c1", "input": map[string]any{"command": "make"}},
		"ctx":   map[string]any{"mode": mode, "hasUI": ui, "cwd": "/repo", "sessionId": "s"},
	})
	return frame.Request{Agent: "pi", Event: "tool_call", Payload: b, Deadline: patience}
}

// An agent without a prompt of its own asks the person who sits at it, when
// nobody elsewhere could be asked.
func TestNobodyElsewhereAndNoPrompt(t *testing.T) {
	w := open(t)
	w.mustPass(piCall(true))
	w.set("gate.pi", "side-effects")
	if got := string(w.ask(piCall(true)).Stdout); !strings.Contains(got, `"ask"`) {
		t.Errorf("it runs unasked: %s", got)
	}
	w.mustPass(piCall(false)) // nobody sits there: its own default
}

// Events that anything of the user may report are no approval before a call.
func TestAFeignedTurnEndIsNoYes(t *testing.T) {
	w := open(t)
	w.watchFeed()
	w.set("gate.claude", "side-effects")
	call := w.hold(before("claude", "s", "", "make"))
	w.waiting()
	w.ask(said("claude", "Stop", map[string]any{"session_id": "s"}))
	if got, _ := call.answer(); !strings.Contains(got, `"deny"`) {
		t.Errorf("it runs: %q", got)
	}
	// At the agent's own request its own prompt is still there.
	call = w.hold(permission("s", "make"))
	w.waiting()
	w.ask(said("claude", "Stop", map[string]any{"session_id": "s"}))
	if got, _ := call.answer(); got != "" {
		t.Errorf("%q", got)
	}
}

// What a program pushes as cmux does goes the same way as a hook's call.
func TestPushedRequestsGoTheSameWay(t *testing.T) {
	w := open(t)
	w.watchFeed()
	push := func(command, id string) chan string {
		done := make(chan string, 1)
		go func() {
			got, code := w.cmux(wire.MethodFeedPush, pushed("claude-s1", "PermissionRequest", "Bash", map[string]any{"command": command}, id))
			done <- string(got) + code
		}()
		return done
	}
	one := push("git push --force", "p1")
	item := w.waiting()
	w.say(wire.FeedReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "everywhere"})
	<-one
	if got := <-push("git push --force", "p2"); !strings.Contains(got, `"resolved"`) {
		t.Fatalf("the grant does not count: %s", got)
	}
	// A guard that asks is not answered by a grant that was given without it.
	w.set("guard.destructive", "ask")
	two := push("git push --force", "p3")
	item = w.waiting()
	if item.AskedBy == "" || !strings.Contains(item.Shown, "wants you to look") || strings.Contains(strings.Join(item.Choices, " "), "all ") {
		t.Errorf("%+v", item)
	}
	w.say(wire.FeedReplyParams{ID: item.ID, Choice: "deny", Reason: "no"})
	if got := <-two; !strings.Contains(got, `"deny"`) {
		t.Error(got)
	}
	w.set("guard.destructive", "off")
	w.set("gate.claude", "off")
	if got := <-push("make", "p4"); !strings.Contains(got, `"timed_out"`) {
		t.Error(got)
	}
}

// A grant for the project counts in an ordinary repository.
func TestAProjectIsARepository(t *testing.T) {
	w := open(t)
	w.watchFeed()
	repo := t.TempDir()
	deep := filepath.Join(repo, "a", "b")
	for _, dir := range []string{filepath.Join(repo, ".git"), deep} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.write(filepath.Join(repo, ".git", "HEAD"), "ref: refs/heads/main\n")
	at := func(session, cwd string) frame.Request {
		r := permission(session, "npm test")
		r.Cwd = cwd
		r.Payload = []byte(strings.Replace(string(r.Payload), `"cwd":""`, `"cwd":`+string(quote(cwd)), 1))
		return r
	}
	call := w.hold(at("s", deep))
	item := w.waiting()
	w.say(wire.FeedReplyParams{ID: item.ID, Choice: "always", Rule: item.Rule, Scope: "project"})
	call.answer()
	if got := string(w.ask(at("t", repo)).Stdout); !strings.Contains(got, `"allow"`) {
		t.Errorf("not in its own project: %q", got)
	}
	other := w.hold(at("t", t.TempDir()))
	w.mustCall(wire.MethodFeedRelease, wire.FeedIDParams{ID: w.waiting().ID}, nil)
	if got, _ := other.answer(); got != "" {
		t.Errorf("elsewhere: %q", got)
	}
}

func quote(s string) []byte { b, _ := json.Marshal(s); return b }
