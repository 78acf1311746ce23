package daemon

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

// Programs that speak to cmux's inbox use the same names of events for every
// agent, and the sessions of all follow them: a question waits until it is
// answered, and no longer.
func TestPushedEventsDriveSessions(t *testing.T) {
	for source, tool := range map[string]string{"claude": "Bash", "codex": "Bash", "opencode": "bash", "pi": "bash",
		"gemini": "run_shell_command", "cursor": "Bash", "some-other-agent": "Bash"} {
		t.Run(source, func(t *testing.T) {
			w := open(t)
			w.watchInbox()
			push := func(name string, wait int, more map[string]any) {
				t.Helper()
				e := map[string]any{"session_id": source + "-s1", "hook_event_name": name, "_source": source, "cwd": w.Base}
				for k, v := range more {
					e[k] = v
				}
				if got, code := w.cmux(wire.MethodCmuxPush, map[string]any{"event": e, "wait_timeout_seconds": wait}); code != "" {
					t.Errorf(`%s was refused: %s %s, want ""`, name, got, code)
				}
			}
			push("SessionStart", 0, nil)
			w.statusIs("s1", "idle")
			push("UserPromptSubmit", 0, map[string]any{"tool_input": map[string]any{"prompt": "build it"}})
			w.statusIs("s1", "running")
			if got := w.session("s1").Title; got != "build it" {
				t.Errorf("the title is %q, want the words of the prompt", got)
			}
			ask := map[string]any{"tool_name": tool, "tool_input": map[string]any{"command": "make"},
				"_opencode_request_id": "r1"}
			for _, choice := range []string{"once", "deny"} {
				done := make(chan struct{})
				go func() { defer close(done); push("PermissionRequest", 60, ask) }()
				item := w.waiting()
				w.statusIs("s1", "waiting")
				w.say(wire.InboxReplyParams{ID: item.ID, Choice: choice})
				<-done
				w.statusIs("s1", "running")
			}
			push("PreToolUse", 0, ask)
			w.statusIs("s1", "running")
			push("PostToolUse", 0, ask)
			w.statusIs("s1", "running")
			push("Stop", 0, nil)
			w.statusIs("s1", "done")
			push("UserPromptSubmit", 0, map[string]any{"prompt": "and again"})
			w.statusIs("s1", "running")
			push("SessionEnd", 0, nil)
			if d := w.session("s1"); d.Ended == nil {
				t.Errorf("after SessionEnd the session is %s and has no end", d.Status)
			}
		})
	}
}

// A pushed request ends with the process that asks, also while the program that
// pushed it still listens.
func TestPushedRequestEndsWithItsProcess(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.SetProcesses(besideAgent())
	done := make(chan string, 1)
	go func() {
		request := pushed("claude-s1", "PermissionRequest", "Bash", map[string]any{"command": "make"}, "r1")
		request["event"].(map[string]any)["_ppid"] = daemontest.AgentPID
		got, code := w.cmux(wire.MethodCmuxPush, request)
		done <- string(got) + code
	}()
	w.waiting()
	w.SetProcesses(daemontest.AtTerminal())
	select {
	case got := <-done:
		if !strings.Contains(got, `"timed_out"`) || !strings.Contains(got, "the agent no longer waits") {
			t.Errorf("after the end of its process the request was answered %s", got)
		}
	case <-time.After(daemontest.Patience):
		t.Fatal("the request still waits after the end of its process")
	}
	if list := w.items(); len(list) != 0 {
		t.Errorf("it still stands in the inbox: %+v", list)
	}
}

// cmux's plugin for OpenCode pushes OpenCode's own permission: guards see the call in
// it, the user sees the rules that always would add, and only then is always said.
func TestPushedPermissionOfOpenCode(t *testing.T) {
	w := open(t)
	w.watchInbox()
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "guard.destructive", Value: json.RawMessage(`"block"`)}, nil)
	push := func(command, id string) chan string {
		done := make(chan string, 1)
		request := pushed("opencode-s1", "PermissionRequest", "bash", map[string]any{
			"permission": "bash", "patterns": []string{command}, "always": []string{"git *", "tee *"},
			"metadata": map[string]any{"command": command},
		}, id)
		request["event"].(map[string]any)["_source"] = "opencode"
		go func() {
			got, code := w.cmux(wire.MethodCmuxPush, request)
			done <- string(got) + code
		}()
		return done
	}
	if got := <-push("git push --force origin main", "r1"); !strings.Contains(got, `"mode":"deny"`) {
		t.Errorf("a guarded command in a permission of OpenCode was answered %s, want it refused", got)
	}
	for _, mode := range []string{"once", "always", "all"} { // all: the session asks no more
		want := map[string]string{"once": `"mode":"once"`, "always": `"mode":"always"`, "all": `"mode":"once"`}[mode]
		done := push("git status | tee "+mode, mode)
		item := w.waiting()
		if !strings.Contains(item.Shown, "$ git status | tee "+mode) ||
			!strings.Contains(item.Shown, `own suggestion 1: "git *", "tee *"`) {
			t.Errorf("the user sees %q, want the command and all rules of always together", item.Shown)
		}
		if got, code := w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": mode, "mode": mode}); code != "" {
			t.Errorf(`%s was refused: %s %s, want ""`, mode, got, code)
		}
		if got := <-done; !strings.Contains(got, want) {
			t.Errorf("after %s the plugin hears %s, want %s", mode, got, want)
		}
	}
}

// What a person says to a pushed request goes to the program that pushed it: only
// words beside a yes are lost.
func TestAnswersToPushedRequestsAreHeard(t *testing.T) {
	w := open(t)
	w.watchInbox()
	for i, c := range []struct {
		reply wire.InboxReplyParams
		lost  string
	}{
		{reply: wire.InboxReplyParams{Choice: "once"}},
		{reply: wire.InboxReplyParams{Choice: "deny", Reason: "not now"}},
		{reply: wire.InboxReplyParams{Choice: "once", Note: "quickly"}, lost: "your note is dropped"},
	} {
		request := pushed("opencode-s1", "PermissionRequest", "bash", map[string]any{"command": "make"}, fmt.Sprint(i))
		request["event"].(map[string]any)["_source"] = "opencode"
		done := make(chan struct{})
		go func() { defer close(done); w.cmux(wire.MethodCmuxPush, request) }()
		c.reply.ID = w.waiting().ID
		got := strings.Join(w.say(c.reply).Degraded, "; ")
		if c.lost == "" && got != "" || !strings.Contains(got, c.lost) {
			t.Errorf("%+v: the user is told %q, want %q", c.reply, got, c.lost)
		}
		<-done
	}
}

// cmux's own view asks for the list every second. Whoever does so looks at the inbox:
// requests wait for them without a stream.
func TestWhoAsksForTheListIsThere(t *testing.T) {
	w := open(t)
	push := func() chan string {
		done := make(chan string, 1)
		go func() {
			got, code := w.cmux(wire.MethodCmuxPush,
				pushed("claude-s1", "PermissionRequest", "Bash", map[string]any{"command": "make"}, "r1"))
			done <- string(got) + code
		}()
		return done
	}
	if got := <-push(); !strings.Contains(got, `"timed_out"`) || !strings.Contains(got, "nobody is there to answer") {
		t.Errorf("with nobody there a request was answered %s", got)
	}
	look := func() string {
		got, _ := w.cmux(wire.MethodCmuxList, map[string]any{"pending_only": true})
		return string(got)
	}
	look()
	if got := <-push(); !strings.Contains(got, `"timed_out"`) {
		t.Errorf("after a single look a request was answered %s, want that nobody is there", got)
	}
	look()
	done := push()
	w.Eventually("the card is in the list", func() bool { return strings.Contains(look(), `"request_id":"r1"`) })
	if got, code := w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": "r1", "mode": "once"}); code != "" {
		t.Errorf("the reply was refused: %s %s", got, code)
	}
	if got := <-done; !strings.Contains(got, `"mode":"once"`) {
		t.Errorf("the reply arrived as %s", got)
	}
}

// cmux's plugins send everything over one connection: what is reported or asked while
// a request waits is taken in at once, and each answer has its request's id.
func TestCmuxConversationWhileARequestWaits(t *testing.T) {
	w := open(t)
	w.watchInbox()
	k := w.talk()
	send := func(id string, params map[string]any) {
		b, _ := json.Marshal(map[string]any{"id": id, "method": wire.MethodCmuxPush, "params": params})
		k.say(string(b) + "\n")
	}
	ask := func(n string) map[string]any {
		return pushed("claude-s1", "PermissionRequest", "Bash", map[string]any{"command": "make " + n}, n)
	}
	send("first", ask("r1"))
	w.Eventually("the first waits", func() bool { return len(w.items()) == 1 })
	send("told", map[string]any{"event": map[string]any{"session_id": "claude-s2", "hook_event_name": "UserPromptSubmit",
		"_source": "claude", "cwd": w.Base}})
	if got := k.line(); !strings.Contains(got, `"id":"told"`) {
		t.Errorf("while a request waits, a report was answered %s", got)
	}
	w.statusIs("s2", "running")
	send("second", ask("r2"))
	w.Eventually("both wait", func() bool { return len(w.items()) == 2 })
	for _, c := range []struct{ key, id string }{{"r2", "second"}, {"r1", "first"}} {
		if got, code := w.cmux(wire.MethodCmuxPermit, map[string]string{"request_id": c.key, "mode": "once"}); code != "" {
			t.Errorf("the reply to %s was refused: %s %s", c.key, got, code)
		}
		if got := k.line(); !strings.Contains(got, `"id":"`+c.id+`"`) || !strings.Contains(got, `"mode":"once"`) {
			t.Errorf("after %s the program hears %s", c.key, got)
		}
	}
	send("third", ask("r3"))
	w.Eventually("the third waits", func() bool { return len(w.items()) == 1 })
	k.conn.Close()
	w.Eventually("who hangs up waits no more", func() bool { return len(w.items()) == 0 })
}
