package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// grokCall is Grok's report of a call, by the command in one agent's file.
func grokCall(by, id, callID, command string) frame.Request {
	payload := map[string]any{
		"hookEventName": "pre_tool_use", "hook_event_name": "PreToolUse", "sessionId": "s", "session_id": "s",
		"toolName": "run_terminal_command", "toolInput": map[string]string{"command": command}, "timestamp": time.Now().Format(time.RFC3339Nano),
	}
	if callID != "" {
		payload["toolUseId"] = callID
	}
	b, _ := json.Marshal(payload)
	return frame.Request{ID: id, Agent: by, Event: "PreToolUse", Payload: b, Deadline: daemontest.Patience}
}

// counting returns a guard that counts and says which time it was.
func counting(t *testing.T, asked *atomic.Int32) *hook.Entry {
	return daemontest.Entry(t, "counting", hook.Guard, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			return event.Decision{Verdict: event.Deny, Reason: fmt.Sprintf("time %d", asked.Add(1))}, nil
		})
}

func TestDuplicates(t *testing.T) {
	type arrival struct {
		by, callID, command string
		after               time.Duration // since the one before
		elsewhere           bool          // another process of the agent
		says                string        // which time of asking it hears of
	}
	for _, c := range []struct {
		what  string
		agent string
		came  []arrival
		asked int32
	}{
		{"once for both", "grok", []arrival{{by: "claude", callID: "1", command: "x", says: "time 1"}, {by: "grok", callID: "1", command: "x", says: "time 1"}}, 1},
		{"the other way round", "grok", []arrival{{by: "grok", callID: "1", command: "x", says: "time 1"}, {by: "claude", callID: "1", command: "x", says: "time 1"}}, 1},
		{"one command twice is two questions", "grok", []arrival{{by: "grok", callID: "1", command: "x", says: "time 1"}, {by: "grok", callID: "1", command: "x", says: "time 2"}}, 2},
		{"a third arrival by a command that asked", "grok", []arrival{
			{by: "grok", command: "x", says: "time 1"}, {by: "claude", command: "x", says: "time 1"}, {by: "claude", command: "x", says: "time 2"}}, 2},
		{"another call", "grok", []arrival{{by: "claude", callID: "1", command: "x", says: "time 1"}, {by: "grok", callID: "2", command: "x", says: "time 2"}}, 2},
		{"another input", "grok", []arrival{{by: "claude", command: "x", says: "time 1"}, {by: "grok", command: "y", says: "time 2"}}, 2},
		{"another process", "grok", []arrival{{by: "claude", callID: "1", command: "x", says: "time 1"}, {by: "grok", callID: "1", command: "x", elsewhere: true, says: "time 2"}}, 2},
		{"an agent that reads nobody's files", "codex", []arrival{{by: "claude", callID: "1", command: "x", says: "time 1"}, {by: "codex", callID: "1", command: "x", says: "time 2"}}, 2},
		{"a file it does not read", "grok", []arrival{{by: "codex", callID: "1", command: "x", says: "time 1"}, {by: "grok", callID: "1", command: "x", says: "time 2"}}, 2},
		{"after a refusal the agent does not ask on, and tries again", "grok", []arrival{
			{by: "claude", command: "x", says: "time 1"}, {by: "claude", command: "x", says: "time 2"}, {by: "grok", command: "x", says: "time 2"}}, 2},
		{"too late without an id", "grok", []arrival{{by: "claude", command: "x", says: "time 1"}, {by: "grok", command: "x", after: 10*time.Second + time.Second, says: "time 2"}}, 2},
		{"an id waits longer", "grok", []arrival{{by: "claude", callID: "1", command: "x", says: "time 1"}, {by: "grok", callID: "1", command: "x", after: 10*time.Second + time.Second, says: "time 1"}}, 1},
		{"but not for ever", "grok", []arrival{{by: "claude", callID: "1", command: "x", says: "time 1"}, {by: "grok", callID: "1", command: "x", after: 2*time.Minute + time.Second, says: "time 2"}}, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			var asked atomic.Int32
			w := newFixture(t)
			w.Make(counting(t, &asked))
			var skipped atomic.Int64
			w.h.pipeline.SetDedupeClock(func() time.Time { return time.Now().Add(time.Duration(skipped.Load())) })
			w.Start()
			for i, a := range c.came {
				skipped.Add(int64(a.after))
				pid := daemontest.AgentPID
				if a.elsewhere {
					pid += 1000
				}
				w.SetProcesses(daemontest.AtTerminal(proctest.Node{PID: pid, Name: c.agent, Program: "/opt/" + c.agent,
					Below: []proctest.Node{
						{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"}}}))
				got := w.Send(grokCall(a.by, fmt.Sprintf("arrival-%d", i), a.callID, a.command))
				if !daemontest.Denies(got) || !json.Valid(got.Stdout) || !contains(got, a.says) {
					t.Errorf("%d by %s: %s, want %s", i, a.by, got.Stdout, a.says)
				}
			}
			if asked.Load() != c.asked {
				t.Errorf("hooks were asked %d times, want %d", asked.Load(), c.asked)
			}
		})
	}
}

// An agent that `hookmux run` gave hooks hears of each call twice once hookmux is installed while it is open.
func TestDuplicatesOfALaunch(t *testing.T) {
	const launched, installed = "/opt/hookmux-hook", "/home/me/.local/share/hookmux/bin/hookmux-hook"
	for _, c := range []struct {
		what  string
		env   string
		paths []string // by which the hook client is run, call by call
		asked int32
	}{
		{"once for both", "HOOKMUX_RUN_ACTIVE=claude:1:0:x:/opt/claude\x00A=b", []string{launched, installed}, 1},
		{"two questions by each", "HOOKMUX_RUN_ACTIVE=claude:1:0:x:/opt/claude", []string{launched, installed, launched, installed}, 2},
		{"one command twice is two questions", "HOOKMUX_RUN_ACTIVE=claude:1:0:x:/opt/claude", []string{launched, launched}, 2},
		{"no launch", "A=b", []string{launched, installed}, 2},
	} {
		t.Run(c.what, func(t *testing.T) {
			var asked atomic.Int32
			w := newFixture(t)
			w.Make(counting(t, &asked))
			w.Start()
			for i, path := range c.paths {
				w.SetProcesses(daemontest.AtTerminal(proctest.Node{PID: daemontest.AgentPID, Name: "claude", Program: "/opt/claude",
					Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook", Program: launched, Args: []string{path}}}}))
				got := w.Send(frame.Request{
					ID: fmt.Sprintf("arrival-%d", i), Agent: "claude", Event: "PreToolUse", Deadline: daemontest.Patience, Env: []byte(c.env),
					Payload: []byte(`{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"x"}}`),
				})
				if !daemontest.Denies(got) {
					t.Errorf("%d: %s, want a refusal", i, got.Stdout)
				}
			}
			if asked.Load() != c.asked {
				t.Errorf("hooks were asked %d times, want %d", asked.Load(), c.asked)
			}
		})
	}
}

func contains(r frame.Reply, text string) bool {
	return strings.Contains(string(r.Stdout), " stopped this: "+text+". ")
}

func TestADuplicateIsKeptAndCountedOnce(t *testing.T) {
	var asked atomic.Int32
	var told atomic.Int32
	watch := daemontest.Entry(t, "watch", hook.Observe, event.ToolBefore,
		func(context.Context, *hook.Call) (event.Decision, error) {
			told.Add(1)
			return event.Decision{}, nil
		})
	w := open(t, counting(t, &asked), watch)
	w.SetProcesses(daemontest.BelowAgent("grok"))
	w.Send(grokCall("claude", "one", "7", "x"))
	w.Send(grokCall("grok", "two", "7", "x"))
	one, two := w.Row("one", true), w.Row("two", true)
	if one.Outcome.Duplicate != "" || two.Outcome.Duplicate != "one" {
		t.Errorf(`marked %q and %q; want one.Outcome.Duplicate == "" and two.Outcome.Duplicate == "one"`,
			one.Outcome.Duplicate, two.Outcome.Duplicate)
	}
	if one.Agent != "grok" || two.Agent != "grok" || two.Verdict() != "deny" || len(two.Outcome.Steps) != 0 {
		t.Errorf(`one.Outcome = %+v, two.Outcome = %+v; want one.Agent = "grok", two.Agent = "grok", two.Verdict() `+
			`= "deny" and len(two.Outcome.Steps) = 0`, one.Outcome, two.Outcome)
	}
	w.SetProcesses(daemontest.AtTerminal())
	info, err := w.Client.Info(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range info.Agents {
		if a.Name == "grok" && a.Events != 1 {
			t.Errorf("grok has %d events", a.Events)
		}
	}
	w.Down() // observers are done then
	if asked.Load() != 1 || told.Load() != 1 {
		t.Errorf("guards were asked %d times, observers told %d times", asked.Load(), told.Load())
	}
}

func TestADuplicateWaitsForTheSameDecision(t *testing.T) {
	entered, decide := make(chan struct{}, 4), make(chan struct{})
	slow := daemontest.Entry(t, "slow", hook.Guard, event.ToolBefore,
		func(ctx context.Context, _ *hook.Call) (event.Decision, error) {
			entered <- struct{}{}
			select {
			case <-decide:
				return event.Decision{Verdict: event.Deny, Reason: "after a while"}, nil
			case <-ctx.Done():
				return event.Decision{}, ctx.Err()
			}
		})
	w := open(t, slow)
	w.SetProcesses(daemontest.BelowAgent("grok"))
	answers := make(chan frame.Reply, 2)
	ask := func(r frame.Request) {
		got, err := w.TrySend(r)
		if err != nil {
			t.Error(err)
		}
		answers <- got
	}
	go ask(grokCall("claude", "one", "7", "x"))
	<-entered
	go ask(grokCall("grok", "two", "7", "x"))
	w.Eventually("both are open", func() bool { return w.h.pipeline.UndecidedCalls() == 2 })
	close(decide)
	for range 2 {
		if got := <-answers; !daemontest.Denies(got) || !contains(got, "after a while") {
			t.Errorf(`answered %q; want daemontest.Denies(got) and contains(got, "after a while")`, got.Stdout)
		}
	}
	if len(entered) != 0 {
		t.Error("the hook was asked again")
	}
}

func TestADuplicateOutOfTimeSaysNothing(t *testing.T) {
	entered := make(chan struct{}, 4)
	never := daemontest.Entry(t, "never", hook.Guard, event.ToolBefore,
		func(ctx context.Context, _ *hook.Call) (event.Decision, error) {
			entered <- struct{}{}
			<-ctx.Done()
			return event.Decision{}, ctx.Err()
		})
	w := open(t, never)
	w.SetProcesses(daemontest.BelowAgent("grok"))
	over := make(chan struct{})
	go func() { defer close(over); _, _ = w.TrySend(grokCall("claude", "one", "7", "x")) }()
	<-entered
	hasty := grokCall("grok", "two", "7", "x")
	hasty.Deadline = 50 * time.Millisecond
	if got := w.Send(hasty); len(got.Stdout) != 0 || got.Exit != 0 {
		t.Errorf("answered %q; want len(got.Stdout) == 0 and got.Exit == 0", got.Stdout)
	}
	if r := w.Row("two", true); r.Outcome.Neutral != services.DuplicateUndecided.Code() || r.Outcome.Duplicate != "one" {
		t.Errorf(`r.Outcome = %+v, want r.Outcome.Neutral = services.DuplicateUndecided.Code() and r.Outcome.Duplicate = "one"`,
			r.Outcome)
	}
	w.Down()
	<-over
}

func TestADuplicateIsOnItsOwnWhenTheFirstLeft(t *testing.T) {
	entered := make(chan string, 4)
	first := make(chan struct{})
	guard := daemontest.Entry(t, "guard", hook.Guard, event.ToolBefore,
		func(ctx context.Context, c *hook.Call) (event.Decision, error) {
			entered <- c.Event.ID
			if c.Event.ID == "one" {
				close(first)
				<-ctx.Done()
				return event.Decision{}, ctx.Err()
			}
			return event.Decision{Verdict: event.Deny, Reason: "asked anew"}, nil
		})
	w := open(t, guard)
	w.SetProcesses(daemontest.BelowAgent("grok"))
	r := grokCall("claude", "one", "7", "x")
	conn := w.Dial()
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		t.Fatal(err)
	}
	<-first
	answer := make(chan frame.Reply, 1)
	go func() {
		got, err := w.TrySend(grokCall("grok", "two", "7", "x"))
		if err != nil {
			t.Error(err)
		}
		answer <- got
	}()
	w.Eventually("both are open", func() bool { return w.h.pipeline.UndecidedCalls() == 2 })
	conn.Close()
	if got := <-answer; !daemontest.Denies(got) || !contains(got, "asked anew") {
		t.Errorf(`answered %q; want daemontest.Denies(got) and contains(got, "asked anew")`, got.Stdout)
	}
}

// The same call reaches Claude's form of a file under
// other names.
func TestCopilotsTwoForms(t *testing.T) {
	var asked atomic.Int32
	w := open(t, counting(t, &asked))
	w.SetProcesses(daemontest.BelowAgent("copilot"))
	own := frame.Request{ID: "own", Agent: "copilot", Event: "preToolUse", Deadline: daemontest.Patience, Payload: []byte(
		`{"sessionId":"s","timestamp":1794709840085,"cwd":"/p","toolName":"bash","toolArgs":{"command":"make","description":"lab"}}`)}
	read := frame.Request{ID: "read", Agent: "claude", Event: "PreToolUse", Deadline: daemontest.Patience, Payload: []byte(
		`{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-15T02:29:32.840Z","cwd":"/p","tool_name":"Bash","tool_input":{"description":"lab","command":"make"}}`)}
	one, two := w.Send(own), w.Send(read)
	if asked.Load() != 1 || !contains(one, "time 1") || !contains(two, "time 1") {
		t.Errorf("asked %d times\n%s\n%s; want asked.Load() == 1, contains(one, \"time 1\") and "+
			"contains(two, \"time 1\")", asked.Load(), one.Stdout, two.Stdout)
	}
}

// A turn that is told twice is one turn.
func TestASessionSeesADuplicateOnce(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.BelowAgent("grok"))
	say := func(by, event, more string) {
		payload := fmt.Sprintf(`{"hook_event_name":%q,"session_id":"s","sessionId":"s","cwd":"/p"%s}`, event, more)
		w.Send(frame.Request{Agent: by, Event: event, Payload: []byte(payload), Deadline: daemontest.Patience})
	}
	for range 2 {
		for _, by := range []string{"claude", "grok"} {
			say(by, "UserPromptSubmit", `,"prompt":"go"`)
		}
		for _, by := range []string{"claude", "grok"} {
			say(by, "Stop", `,"reason":"end_turn"`)
		}
	}
	w.SetProcesses(daemontest.AtTerminal())
	list, err := w.Client.Sessions(context.Background(), wire.SessionsParams{})
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || list[0].Agent != "grok" || list[0].Turns != 2 {
		t.Errorf(`list = %+v, want 1 of them, list[0].Agent = "grok" and list[0].Turns = 2`, list)
	}
}

// recordedCall returns a real report of a call before it runs, and its event's name;
// empty where none was recorded.
func recordedCall(t *testing.T, a *agent.Agent) (payload []byte, native string) {
	t.Helper()
	for _, e := range a.Events {
		files, err := filepath.Glob(filepath.Join("../../agent/testdata/fixtures", a.Name, e.Name+".*json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			ev := agent.Builtin().Decode(agent.Input{Agent: a.Name, Event: e.Name, Payload: b})
			if ev.Kind == event.ToolBefore && ev.Malformed == "" && ev.Tool != nil {
				return b, e.Name
			}
		}
	}
	return nil, ""
}

// nativeBefore returns what an agent calls the event before a tool.
func nativeBefore(a *agent.Agent) string {
	for _, e := range a.Events {
		if e.Kind == event.ToolBefore {
			return e.Name
		}
	}
	return ""
}

// processOf returns an agent's process, known by its name or else by where its program
// is, with our client below it.
func processOf(a *agent.Agent) proctest.Node {
	node := proctest.Node{PID: daemontest.AgentPID, Name: "MainThread", Below: []proctest.Node{
		{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"}}}
	if len(a.Marks.Programs) > 0 {
		node.Name = a.Marks.Programs[0]
		node.Program = "/opt/" + node.Name
	} else {
		node.Program = "/opt" + a.Marks.Paths[0] + "1/agent"
	}
	return node
}

// Whoever of the catalogue reads another agent's file tells of each call twice, and
// hooks are asked once; an agent that does not is another question.
func TestEveryFileThatTwoAgentsRead(t *testing.T) {
	pairs := 0
	for _, a := range agent.Builtin().Agents() {
		payload, native := recordedCall(t, a)
		if a.Install == nil || payload == nil {
			continue
		}
		for _, other := range agent.Builtin().Agents() {
			reads := slices.Contains(a.Install.Reads, other.Name)
			if other == a || nativeBefore(other) == "" || !reads && other.Name != "codex" {
				continue // one that is not read stands for all
			}
			pairs++
			t.Run(a.Name+" and "+other.Name, func(t *testing.T) {
				var asked atomic.Int32
				w := newFixture(t)
				w.Make(counting(t, &asked))
				w.Start()
				w.SetProcesses(daemontest.AtTerminal(processOf(a)))
				for i, by := range []struct{ agent, event string }{{a.Name, native}, {other.Name, nativeBefore(other)}} {
					w.Send(frame.Request{ID: fmt.Sprintf("%s-%d", by.agent, i), Agent: by.agent, Event: by.event,
						Payload: payload, Deadline: daemontest.Patience})
				}
				want := int32(2)
				if reads {
					want = 1
				}
				if got := asked.Load(); got != want {
					t.Errorf("hooks were asked %d times, want %d: %s reads the file of %s is %v", got, want, a.Name,
						other.Name, reads)
				}
			})
		}
	}
	if pairs == 0 {
		t.Error("no agent of the catalogue was asked, want those that read others' files")
	}
}

// Cline's extension has no process of its own: its calls come from VS Code's, and
// are Cline's all the same.
func TestClineInsideVSCode(t *testing.T) {
	cline, _ := agent.Builtin().Agent("cline")
	payload, native := recordedCall(t, cline)
	heard := make(chan string, 1)
	w := newFixture(t)
	w.Make(daemontest.Entry(t, "hears", hook.Guard, event.ToolBefore,
		func(_ context.Context, call *hook.Call) (event.Decision, error) {
			heard <- call.Event.Agent
			return event.Decision{}, nil
		}))
	w.Start()
	w.SetProcesses(daemontest.AtTerminal(proctest.Node{PID: daemontest.AgentPID, Name: "code",
		Program: "/usr/share/code/code", Args: []string{"/usr/share/code/code", "--type=utility"},
		Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"}}}))
	w.Send(frame.Request{ID: "in-code", Agent: "cline", Event: native, Payload: payload, Deadline: daemontest.Patience})
	select {
	case got := <-heard:
		if got != "cline" {
			t.Errorf("the call is of %q, want cline", got)
		}
	default:
		t.Error("no hook heard of the call, want one")
	}
}

// An editor's process is no agent's: people type in its terminals. Its hooks are known by their variables, and what it
// tells through its own file and others' is asked, told and counted once, and answered alike.
func TestEditorsTellThroughSeveralFiles(t *testing.T) {
	for _, c := range []struct {
		editor  string
		env     string
		through []string
	}{
		{"vscode", "COPILOT_AGENT=1", []string{"vscode", "copilot", "claude"}},
		{"vscode", "COPILOT_AGENT=1", []string{"claude", "vscode"}},
		{"trae", "TRAE_PROJECT_DIR=/home/user/project", []string{"trae", "claude"}},
		{"cursor", "CURSOR_VERSION=3.1.0", []string{"cursor", "claude"}},
	} {
		t.Run(c.editor+" "+strings.Join(c.through, " "), func(t *testing.T) {
			a, _ := agent.Builtin().Agent(c.editor)
			payload, native := recordedCall(t, a)
			var asked atomic.Int32
			w := open(t, counting(t, &asked))
			send := func(id, by string, from int) frame.Reply {
				w.SetProcesses(daemontest.AtTerminal(proctest.Node{PID: from, Name: "MainThread",
					Program: "/usr/share/editor/editor", Args: []string{"/usr/share/editor/editor", "--type=utility"},
					Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"}}}))
				event := native
				if named, _ := agent.Builtin().Agent(by); by != c.editor {
					event = nativeBefore(named)
				}
				return w.Send(frame.Request{ID: id, Agent: by, Event: event, Payload: payload, Env: []byte(c.env + "\x00"),
					Deadline: daemontest.Patience})
			}
			var first frame.Reply
			for i, by := range c.through {
				got := send(by, by, daemontest.AgentPID)
				if i == 0 {
					first = got
				}
				if string(got.Stdout) != string(first.Stdout) || got.Exit != first.Exit || !contains(got, "time 1") {
					t.Errorf("by %s: %s, exit code %d; want as by %s: %s, %d", by, got.Stdout, got.Exit, c.through[0],
						first.Stdout, first.Exit)
				}
				if row := w.Row(by, true); row.Agent != c.editor || (row.Outcome.Duplicate != "") != (i > 0) {
					t.Errorf("by %s: of %s, a duplicate of %q; want of %s, and one: %v", by, row.Agent, row.Outcome.Duplicate,
						c.editor, i > 0)
				}
			}
			if got := asked.Load(); got != 1 {
				t.Errorf("hooks were asked %d times, want once", got)
			}
			send("elsewhere", c.through[1], daemontest.AgentPID+1000)
			if got := asked.Load(); got != 2 {
				t.Errorf("with the same from another window hooks were asked %d times, want 2", got)
			}
		})
	}
}
