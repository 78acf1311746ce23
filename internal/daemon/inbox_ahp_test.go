package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/protocols/acp"
	"github.com/hookmux/hookmux/internal/protocols/ahp/provider"
	"github.com/hookmux/hookmux/internal/wire"
)

// playedHarness is an agent that asks hookmux by the Agent Hooks Protocol, at a real daemon.
type playedHarness struct {
	t     *testing.T
	says  io.WriteCloser
	lines <-chan string
}

func playHarness(t *testing.T, w *daemonFixture, name string) *playedHarness {
	t.Helper()
	agentOut, says := io.Pipe()
	hears, agentIn := io.Pipe()
	named := provider.NewName(name)
	daemon := &acp.FrameDaemon{Socket: w.Dirs.Socket(), Agent: named.String, Cwd: w.Project, Env: w.Env,
		DecideTime: daemontest.Patience, Start: func(context.Context) error { return errors.New("there is one") },
		Judge: func(context.Context, string, string, acp.Report) acp.Answer {
			t.Error("the call was judged without the daemon, want the daemon asked")
			return acp.Answer{}
		}}
	daemon.Begin()
	ended := make(chan error, 1)
	go func() { ended <- provider.New(daemon, named).ServeStdio(context.Background(), agentOut, agentIn) }()
	t.Cleanup(func() {
		says.Close()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		daemon.End(context.Background())
		agentIn.Close()
	})
	return &playedHarness{t, says, linesOf(hears)}
}

// ask sends a question about a command, with the effects that the harness can carry.
func (s *playedHarness) ask(version, kind, id, command, effects string) {
	s.t.Helper()
	s.send("hooks/intercept", `"id":"`+id+`",`, version, kind, id, command, `,"capabilities":{"effects":`+effects+`}`)
}

func (s *playedHarness) send(method, request, version, kind, id, command, more string) {
	s.t.Helper()
	input, _ := json.Marshal(map[string]string{"command": command})
	line := `{"jsonrpc":"2.0",` + request + `"method":"` + method + `","params":{"protocolVersion":"` + version +
		`","event":{"id":"` + id + `","source":"urn:x:y","type":"` + kind + `","time":"2026-11-17T12:00:00Z","session":` +
		`{"id":"s1"},"call":{"id":"c-` + id + `"},"tool":{"name":"Bash","kind":"shell","input":` + string(input) + `}}` +
		more + `}}` + "\n"
	if _, err := io.WriteString(s.says, line); err != nil {
		s.t.Fatal(err)
	}
}

func (s *playedHarness) hears() string {
	s.t.Helper()
	select {
	case line := <-s.lines:
		return line
	case <-time.After(daemontest.Patience):
		s.t.Fatal("no answer came, want one")
	}
	return ""
}

func (s *playedHarness) wants(effects string) {
	s.t.Helper()
	if line := s.hears(); !strings.Contains(line, effects) {
		s.t.Errorf("the harness got %q, want %s", line, effects)
	}
}

// A guard's no is a deny, in both versions; what nobody stops gets an empty answer,
// which is no yes.
func TestHarnessIsGuarded(t *testing.T) {
	w := open(t)
	s := playHarness(t, w, "toy")
	for _, version := range hook.AHPVersions() {
		s.ask(version, "tool.before", "a"+version, "hookmux guard off own-files", `["deny"]`)
		s.wants(`"effects":[{"type":"deny","reason":"`)
		s.ask(version, "tool.before", "b"+version, "make", `["deny"]`)
		s.wants(`"id":"b` + version + `","result":{"protocolVersion":"` + version + `","effects":[]}`)
	}
	w.Eventually("the session of the harness", func() bool {
		list := w.sessions()
		return len(list) == 1 && list[0].Agent == "ahp-toy"
	})
}

// A request for permission waits for a person, and what they say is the answer.
func TestHarnessIsHeldForAPerson(t *testing.T) {
	for choice, effects := range map[string]string{"once": `[{"type":"allow"}]`, "deny": `[{"type":"deny","reason":"`} {
		t.Run(choice, func(t *testing.T) {
			w := open(t)
			w.set("approvals.policy", "permission")
			w.watchInbox()
			s := playHarness(t, w, "toy")
			s.ask("draft", "tool.permission.request", "q1", "make test", `["deny","allow"]`)
			item := w.waiting()
			if item.Kind != "permission" || !strings.Contains(item.Shown, "make test") || item.Agent != "ahp-toy" {
				t.Errorf("the inbox shows %+v, want a permission of ahp-toy for make test", item)
			}
			said := w.say(wire.InboxReplyParams{ID: item.ID, Choice: choice, SHA256: item.SHA256})
			if said.Outcome != "delivered" {
				t.Errorf("%s was %q, want delivered", choice, said.Outcome)
			}
			s.wants(`"effects":` + effects)
		})
	}
}

// Where the harness cannot carry a yes, a person's yes is silence.
func TestHarnessThatTakesNoYes(t *testing.T) {
	w := open(t)
	w.set("approvals.policy", "permission")
	w.watchInbox()
	s := playHarness(t, w, "toy")
	s.ask("draft", "tool.permission.request", "q1", "make test", `["deny"]`)
	item := w.waiting()
	w.say(wire.InboxReplyParams{ID: item.ID, Choice: "once", SHA256: item.SHA256})
	s.wants(`"effects":[]`)
}

// A harness is itself, whatever it calls itself and whose session it names: the other's
// session, hooks and answers are not its own.
func TestHarnessIsNobodyElse(t *testing.T) {
	w := open(t)
	w.set("approvals.policy", "permission")
	w.watchInbox()
	w.tell("claude", "SessionStart", "s1", nil)
	claude := w.hold(permission("s1", "make test"))
	first := w.waiting()
	for _, name := range []string{"claude", "person", ""} {
		s := playHarness(t, w, name)
		s.send("hooks/observe", "", "draft", "turn.end", "e-"+name, "", "")
		s.ask("draft", "tool.permission.request", "q-"+name, "make test", `["deny","allow"]`)
		w.Eventually("its own request", func() bool { return len(w.items()) == 2 })
		for _, item := range w.items() {
			if item.ID == first.ID {
				continue
			}
			if !strings.HasPrefix(item.Agent, "ahp-") {
				t.Errorf("%q asks as %s, want an agent of its own", name, item.Agent)
			}
			w.say(wire.InboxReplyParams{ID: item.ID, Choice: "deny", SHA256: item.SHA256})
		}
		s.wants(`"type":"deny"`)
	}
	for _, one := range w.sessions() {
		if one.Agent == "claude" && one.Status != "waiting" {
			t.Errorf("Claude's session is %s, want it untouched by another's end", one.Status)
		}
	}
	w.say(wire.InboxReplyParams{ID: first.ID, Choice: "once", SHA256: first.SHA256})
	if got, ok := claude.answer(); !ok || !strings.Contains(got, `"allow"`) {
		t.Errorf("Claude got %q, want the yes that was meant for it", got)
	}
}

// A frame may carry any name beside the protocol's events: it is no agent of the
// catalogue all the same.
func TestForgedNameBesideTheProtocol(t *testing.T) {
	w := open(t)
	call := daemontest.ToolBefore("claude", "s9", "", "make")
	call.Event = "ahp:tool.before"
	call.Payload = []byte(`{"session":"s9","version":"0.1","offered":["deny"],"toolName":"Bash","toolKind":"shell",` +
		`"toolCallId":"c1","toolInput":{"command":"make"}}`)
	w.Send(call)
	w.Eventually("the session", func() bool { return len(w.sessions()) == 1 })
	if got := w.sessions()[0].Agent; got != "ahp-claude" {
		t.Errorf("the session is %s's, want ahp-claude's", got)
	}
}

// A backend that is a hook is asked by the daemon: its no counts, its yes does not count
// against a guard, and a call that it changes is looked at once more.
func TestBackendOfADaemon(t *testing.T) {
	w := open(t)
	file := filepath.Join(w.Base, "backend.sh")
	text := `#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/^{"jsonrpc":"2.0","id":"\([^"]*\)".*/\1/')
  case $line in
    *'"command":"deploy"'*) effects='{"type":"deny","reason":"the backend says no"}';;
    *'"command":"swap"'*) effects='{"type":"modify","target":"input","operation":"merge","value":{"command":"hookmux guard off own-files"}}';;
    *) effects='{"type":"allow"}';;
  esac
  echo '{"jsonrpc":"2.0","id":"'"$id"'","result":{"protocolVersion":"draft","effects":['"$effects"']}}'
done
`
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	reg, _ := json.Marshal(hook.Registration{ID: "policy", Agent: "*", HookType: "tool.before", Handler: hook.HandlerAHP,
		Target: file})
	w.MustCall(wire.MethodHooksAdd, wire.HooksEditParams{Scope: "global", Cwd: w.Project, Registration: reg}, nil)
	for command, want := range map[string]string{
		"deploy":                      "the backend says no",
		"make":                        `"permissionDecision":"allow"`,
		"hookmux guard off own-files": `"permissionDecision":"deny"`,
		"swap":                        `"permissionDecision":"deny"`,
	} {
		got, ok := w.hold(daemontest.ToolBefore("claude", "s1", "", command)).answer()
		if !ok || !strings.Contains(got, want) {
			t.Errorf("%s: Claude got %q, want %s", command, got, want)
		}
	}
}

// A call of a harness that a backend changes is looked at once more, by the kind that the
// harness told: nobody else knows its tool.
func TestBackendChangesTheCallOfAHarness(t *testing.T) {
	w := open(t)
	file := filepath.Join(w.Base, "backend.sh")
	text := `#!/bin/sh
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/^{"jsonrpc":"2.0","id":"\([^"]*\)".*/\1/')
  effects='{"type":"modify","target":"input","operation":"merge","value":{"script":"hookmux guard off own-files"}}'
  echo '{"jsonrpc":"2.0","id":"'"$id"'","result":{"protocolVersion":"draft","effects":['"$effects"']}}'
done
`
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	reg, _ := json.Marshal(hook.Registration{ID: "policy", Agent: "*", HookType: "tool.before", Handler: hook.HandlerAHP,
		Target: file})
	w.MustCall(wire.MethodHooksAdd, wire.HooksEditParams{Scope: "global", Cwd: w.Project, Registration: reg}, nil)
	s := playHarness(t, w, "toy")
	line := `{"jsonrpc":"2.0","id":"q1","method":"hooks/intercept","params":{"protocolVersion":"draft","event":` +
		`{"id":"q1","source":"urn:x:y","type":"tool.before","time":"2026-11-17T12:00:00Z","session":{"id":"s1"},"call":{"id":"c1"},` +
		`"tool":{"name":"run","kind":"shell","input":{"script":"make"}}},"capabilities":{"effects":["deny","modify"],` +
		`"modify":{"input":{"replace":false,"merge":true}}}}}` + "\n"
	if _, err := io.WriteString(s.says, line); err != nil {
		t.Fatal(err)
	}
	s.wants(`own-files.control stopped this`)
}
