package daemon

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/protocols/acp"
	"github.com/hookmux/hookmux/internal/wire"
)

// A request for permission of an editor's agent waits at a real daemon: the editor is asked meanwhile, and what a
// person says in the inbox is the agent's answer, by its own options.
func TestEditorsAgentIsHeldForAPerson(t *testing.T) {
	for choice, option := range map[string]string{"once": "a", "deny": "r"} {
		t.Run(choice, func(t *testing.T) {
			w := open(t)
			w.watchInbox()
			s := playEditor(t, w)
			s.say(`{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"s","toolCall":` +
				`{"toolCallId":"c1","name":"Bash","kind":"execute","rawInput":{"command":"make test"},"title":"make test"},` +
				`"options":[{"optionId":"a","name":"Yes","kind":"allow_once"},{"optionId":"r","name":"No","kind":"reject_once"}]}}`)
			if line := s.editorHears(); !strings.Contains(line, "session/request_permission") {
				t.Fatalf("the editor got %q, want the request while it waits", line)
			}
			item := w.waiting()
			if item.Kind != "permission" || !strings.Contains(item.Shown, "make test") {
				t.Errorf("the inbox shows %+v, want a permission for make test", item)
			}
			if said := w.say(wire.InboxReplyParams{ID: item.ID, Choice: choice, SHA256: item.SHA256}); said.Outcome != "delivered" {
				t.Errorf("%s was %q, want delivered", choice, said.Outcome)
			}
			for line := s.editorHears(); !strings.Contains(line, "$/cancel_request"); line = s.editorHears() {
				if !strings.Contains(line, "session/update") {
					t.Fatalf("the editor got %q, want its question taken back", line)
				}
			}
			var answer struct {
				ID     int
				Result struct {
					Outcome struct{ Outcome, OptionID string }
				}
			}
			line := s.agentHears()
			if err := json.Unmarshal([]byte(line), &answer); err != nil || answer.ID != 7 ||
				answer.Result.Outcome.Outcome != "selected" || answer.Result.Outcome.OptionID != option {
				t.Errorf("the agent got %q, %v; want option %s selected", line, err, option)
			}
		})
	}
}

// Whoever reports under the session of an editor's agent, as its hooks would, takes
// neither guards nor the session away: not from elsewhere, and not from below the proxy.
func TestForgedHooksOfAnEditorsAgent(t *testing.T) {
	for where, table := range map[string]*proctest.Table{
		"from elsewhere": daemontest.BelowAgent("claude"), "from below the proxy": daemontest.AtTerminal(),
	} {
		t.Run(where, func(t *testing.T) {
			w := open(t, daemontest.NoDeploys(t))
			s := playEditor(t, w)
			danger := func(id, command string) {
				t.Helper()
				s.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"terminal/create","params":{"sessionId":"s","command":"` +
					command + `"}}`)
				if line := s.agentHears(); !strings.Contains(line, `"error"`) {
					t.Errorf("the agent got %q, want an error", line)
				}
			}
			danger("1", "deploy now")
			w.SetProcesses(table)
			w.Send(daemontest.SessionEvent("claude", "SessionStart", map[string]any{"session_id": "s"}))
			w.Send(daemontest.ToolBefore("claude", "s", w.Project, "ls"))
			w.SetProcesses(daemontest.AtTerminal())
			danger("2", "deploy again")
		})
	}
}

// playedEditor is a proxy between a played editor and a played agent, at a real daemon.
type playedEditor struct {
	t             *testing.T
	agentSays     io.Writer
	editor, agent <-chan string // the lines that each hears
}

func playEditor(t *testing.T, w *daemonFixture) *playedEditor {
	t.Helper()
	editorIn, _ := io.Pipe()
	editorHears, editorOut := io.Pipe()
	agentOut, agentSays := io.Pipe()
	agentHears, agentIn := io.Pipe()
	talk := &acp.Conversation{Naming: acp.NameAgent(agent.Builtin(), "", []string{"claude-agent-acp"})}
	daemon := &acp.FrameDaemon{Socket: w.Dirs.Socket(), Agent: talk.AgentName, Cwd: w.Project, Env: w.Env,
		Start: func(context.Context) error { return errors.New("there is one") },
		Evaluate: func(context.Context, string, string, acp.Report) acp.Answer {
			t.Error("the call was evaluated without the daemon, want the daemon asked")
			return acp.Answer{}
		}}
	daemon.Begin()
	ended := make(chan struct{})
	p := &acp.Proxy{Conversation: talk, Daemon: daemon, FromEditor: editorIn, ToEditor: editorOut, FromAgent: agentOut,
		ToAgent: agentIn}
	go func() { defer close(ended); _ = p.Run(context.Background()) }()
	t.Cleanup(func() {
		agentSays.Close()
		editorIn.Close()
		<-ended
		daemon.End(context.Background())
		editorOut.Close()
		agentIn.Close()
	})
	return &playedEditor{t, agentSays, linesOf(editorHears), linesOf(agentHears)}
}

func linesOf(from io.Reader) <-chan string {
	lines := make(chan string, 64)
	go func() {
		defer close(lines)
		for r := bufio.NewScanner(from); r.Scan(); {
			lines <- r.Text()
		}
	}()
	return lines
}

func (s *playedEditor) say(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.agentSays, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *playedEditor) editorHears() string { s.t.Helper(); return s.next(s.editor) }
func (s *playedEditor) agentHears() string  { s.t.Helper(); return s.next(s.agent) }

func (s *playedEditor) next(lines <-chan string) string {
	s.t.Helper()
	select {
	case line, open := <-lines:
		if !open {
			s.t.Fatal("the proxy hung up, want a line")
		}
		return line
	case <-time.After(daemontest.Patience):
		s.t.Fatal("no line came, want one")
	}
	return ""
}
