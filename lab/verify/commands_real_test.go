package verify

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/realagents/model"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// shellOf is a person's own tmux beside the agent's: one window follows the
// inbox, so that agents wait for it, and in others commands are typed.
type shellOf struct {
	t    *testing.T
	st   *testbed.TestBed
	term *testbed.Terminal
	n    int
}

func besideAgent(t *testing.T, st *testbed.TestBed) *shellOf {
	t.Helper()
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed")
	}
	p := &shellOf{t: t, st: st, term: testbed.NewTerminal(st, tmux, "person")}
	ctx := context.Background()
	if _, err := p.term.RunTmux(ctx, "-f", "/dev/null", "new-session", "-d", "-x", "200", "-y", "50",
		p.command("watched", "inbox", "-f")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.term.StopAll)
	for range 200 {
		if strings.Contains(p.said("watched"), "agents wait for you now") {
			return p
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("nobody follows the inbox: %s", p.said("watched"))
	return nil
}

func (p *shellOf) file(name string) string { return filepath.Join(p.st.Base, "person-"+name) }

func (p *shellOf) said(name string) string {
	b, _ := os.ReadFile(p.file(name))
	return string(b)
}

// command runs hookmux as a person's shell would, and keeps what it says.
func (p *shellOf) command(name string, args ...string) string {
	words := []string{"env"}
	for _, v := range p.st.Env {
		if strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "XDG_") || strings.HasPrefix(v, "HOOKMUX_") {
			words = append(words, v)
		}
	}
	words = append(append(words, filepath.Join(p.st.Bin, "hookmux")), args...)
	return shellquote.Line(words) + " >" + p.file(name) + " 2>&1; echo \"exit $?\" >>" + p.file(name)
}

// types has a person type a command, and gives what it said.
func (p *shellOf) types(args ...string) string {
	p.t.Helper()
	p.n++
	name := strconv.Itoa(p.n)
	if _, err := p.term.RunTmux(context.Background(), "new-window", "-d", p.command(name, args...)); err != nil {
		p.t.Fatal(err)
	}
	for range 600 {
		if said := p.said(name); exited.MatchString(said) {
			p.t.Logf("hookmux %s\n%s", strings.Join(args, " "), said)
			return said
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("hookmux %s does not end: %s", strings.Join(args, " "), p.said(name))
	return ""
}

var exited = regexp.MustCompile(`(?m)^exit \d+$`)

// next returns the request that waits, of a kind and after others.
func (p *shellOf) next(kind string, done map[string]bool) wire.InboxRequest {
	p.t.Helper()
	for range 900 {
		var items []wire.InboxRequest
		if err := p.st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{}, &items); err != nil {
			p.t.Fatal(err)
		}
		for _, item := range items {
			if item.Kind == kind && !done[item.ID] {
				done[item.ID] = true
				return item
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.t.Fatalf("no %s came to the inbox", kind)
	return wire.InboxRequest{}
}

// A headless agent that waits for whoever follows the inbox is
// let go when they leave, and goes by its own rules: it does not run the call.
func TestRealLeaving(t *testing.T) {
	st := realTestBed(t, "claude")
	terminalPerson(st, personSocket)
	st.SetScript([]model.Step{{Calls: []model.ToolCall{st.TaggedCall("left")}}, {Say: testbed.LastWords}})
	if err := st.StartDaemonWithHooks(nil); err != nil {
		t.Fatal(err)
	}
	p := besideAgent(t, st)
	ended := make(chan error, 1)
	go func() {
		ended <- st.RunHeadless(context.Background(), st.AgentCommand(),
			[]string{"-p", "--permission-mode", "default", "--", testbed.MarkedPrompt("Run it")})
	}()
	item := p.next("permission", map[string]bool{})
	if _, err := p.term.RunTmux(context.Background(), "send-keys", "-t", ":0", "C-c"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	var items []wire.InboxRequest
	if err := st.Daemon.CallMethod(wire.MethodInboxItems, wire.InboxListParams{ID: item.ID}, &items); err != nil ||
		len(items) != 1 || items[0].End != queue.Abandoned.Code() {
		t.Errorf("the request ended as %+v %v", items, err)
	}
	if st.LeftItsFile("left") {
		t.Error(`it ran; want !st.LeftItsFile("left")`)
	}
}

// What a person types in a terminal of their own reaches a
// real agent: approve, deny, answer and plan, with nothing but the commands.
func TestRealCommands(t *testing.T) {
	t.Run("permissions", func(t *testing.T) {
		st := realTestBed(t, "claude")
		terminalPerson(st, personSocket)
		st.SetScript([]model.Step{
			{Calls: []model.ToolCall{st.EscalatedCall("typed-yes")}},
			{Calls: []model.ToolCall{st.EscalatedCall("typed-no")}},
			{Say: testbed.LastWords},
		})
		if err := st.StartDaemonWithHooks(nil); err != nil {
			t.Fatal(err)
		}
		p, done := besideAgent(t, st), map[string]bool{}
		err := st.AtTerminal(context.Background(), st.Driver.TUI(testbed.MarkedPrompt("Run it"), true),
			func(ctx context.Context, _ *testbed.Terminal) error {
				item := p.next("permission", done)
				if said := p.types("approve", item.ID, "--note", "then look at the log"); !strings.Contains(said,
					"typed-yes") || !strings.Contains(said, "exit 0") {
					t.Errorf(`approve: %s; want "typed-yes" in said and "exit 0" in said`, said)
				}
				item = p.next("permission", done)
				if said := p.types("deny", item.ID[:4],
					"not before the freeze ends"); !strings.Contains(said,
					"exit 0") {
					t.Errorf(`deny: %s; want "exit 0" in said`, said)
				}
				st.Watcher.WaitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd })
				if said := p.types("approve", item.ID); !strings.Contains(said, "too late") ||
					strings.Contains(said, "exit 0") {
					t.Errorf("a second answer: %s", said)
				}
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if !st.LeftItsFile("typed-yes") || st.LeftItsFile("typed-no") {
			t.Errorf("approved ran: %v, denied ran: %v", st.LeftItsFile("typed-yes"), st.LeftItsFile("typed-no"))
		}
		if told := (testbed.Evidence{Told: st.Model.Told(st.Run)}); !told.Saw("not before the freeze ends") ||
			!told.Saw("then look at the log") {
			t.Error("the model did not read the reason, or the note")
		}
	})
	t.Run("questions and plans", func(t *testing.T) {
		st := realTestBed(t, "claude")
		terminalPerson(st, personSocket)
		q := st.Driver.Questions
		option := func(label string) map[string]any { return map[string]any{"label": label, "description": label} }
		ask := model.Call(q.Tool, map[string]any{"questions": []any{
			map[string]any{"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": []any{option("red"), option("blue")}},
			map[string]any{"question": "Which shapes?", "header": "Shapes", "multiSelect": true, "options": []any{option("round"), option("flat")}},
		}})
		calls := append([]model.ToolCall{ask}, q.PlanCalls("# Plan\n\n1. Do it well\n", 1)...)
		st.SetScript(append(testbed.CallSteps(calls...), model.Step{Say: testbed.LastWords}))
		if err := st.StartDaemonWithHooks(nil); err != nil {
			t.Fatal(err)
		}
		p, done := besideAgent(t, st), map[string]bool{}
		err := st.AtTerminal(context.Background(), q.Args(testbed.MarkedPrompt("Ask me")),
			func(ctx context.Context, _ *testbed.Terminal) error {
				if said := p.types("approve", p.next("question", done).ID, "1=blue", "2=round",
					"2=flat"); !strings.Contains(said, "exit 0") {
					t.Errorf(`answer: %s; want "exit 0" in said`, said)
				}
				if said := p.types("deny", p.next("plan", done).ID,
					"smaller steps please"); !strings.Contains(said, "exit 0") {
					t.Errorf(`plan reject: %s; want "exit 0" in said`, said)
				}
				again := p.next("plan", done)
				mode := ""
				for _, x := range st.Watcher.AllSeen() {
					if x.Event.ID == again.EventID {
						mode = x.Event.Mode
					}
				}
				if mode != "plan" {
					t.Errorf("after a rejected plan the agent is in mode %q", mode)
				}
				if said := p.types("approve", again.ID, "--auto-edit"); !strings.Contains(said, "exit 0") {
					t.Errorf(`plan auto: %s; want "exit 0" in said`, said)
				}
				st.Watcher.WaitForOne(ctx, func(ev *event.Event) bool { return ev.Kind == event.TurnEnd })
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		told := testbed.Evidence{Told: st.Model.Told(st.Run)}
		for _, words := range []string{`"Which colour?"="blue"`, "round, flat", "smaller steps please",
			"User has approved"} {
			if !told.Saw(words) {
				t.Errorf("the model did not read %q", words)
			}
		}
	})
}
