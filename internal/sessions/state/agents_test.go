package state

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
)

// captured plays payloads that real agents sent, as one session, five seconds
// apart, and gives the statuses after each. A name is a fixture's; "name>id"
// gives it a session id of its own.
func captured(t *testing.T, name string, fixtures ...string) (*Sessions, []Status) {
	t.Helper()
	catalogue := agent.Builtin()
	a, _ := catalogue.Agent(name)
	all, now := NewSessions(), t0
	var statuses []Status
	for i, fixture := range fixtures {
		file, id, child := strings.Cut(fixture, ">")
		payload, err := os.ReadFile(filepath.Join("..", "..", "..", "agent", "testdata", "fixtures", name,
			file+".json"))
		if err != nil {
			t.Fatal(err)
		}
		now = now.Add(5 * time.Second)
		native := file
		for _, prefix := range []string{"event.", "hook.", "pascal."} {
			native = strings.TrimPrefix(native, prefix)
		}
		for _, e := range a.Events {
			if native == e.Name || strings.HasPrefix(native, e.Name+".") || strings.HasPrefix(native, e.Name+"-") {
				native = e.Name
				break
			}
		}
		ev := catalogue.Decode(agent.Input{ID: string(rune('a' + i)), Time: now, Agent: name, Event: native,
			Payload: payload})
		if ev.AgentVersion == "" {
			ev.AgentVersion = a.Tried
		}
		was := ev.Session
		ev.Session = "s1"
		if child {
			ev.Session = id
		}
		if ev.Subagent != nil && ev.Subagent.Parent == was {
			ev.Subagent.Parent = ev.Session
		}
		if ev.Subagent != nil && ev.Subagent.ID == was {
			ev.Subagent.ID = ev.Session
		}
		all.Apply(&ev, Rules{Spec: &a.Status})
		s, ok := all.Get(Key{name, "s1"})
		if !ok {
			statuses = append(statuses, "none")
			continue
		}
		statuses = append(statuses, s.Status)
	}
	return all, statuses
}

func check(t *testing.T, got []Status, want ...Status) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %v of them", got, len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("step %d: %s, should be %s (all: %v)", i+1, got[i], want[i], got)
		}
	}
}

// Kimi: a subagent's Stop looks like the session's.
func TestKimiSubagentStops(t *testing.T) {
	all, got := captured(t, "kimi", "SessionStart", "UserPromptSubmit", "TurnStarted", "TurnStarted.tui-4",
		"SubagentStart.tui",
		"Stop.tui-3", "SubagentStop.tui", "Stop.tui", "PreCompact.tui", "PostCompact.tui", "SessionEnd.tui")
	check(t, got, Idle, Running, Running, Running, Running, Running, Running, Success, Success, Success, Success)
	s, _ := all.Get(Key{"kimi", "s1"})
	if s.TurnCount != 1 || len(s.Subagents) != 1 || s.Subagents[0].Type != "coder" || s.Subagents[0].Ended.IsZero() {
		t.Errorf(`%d turns, %+v; want s.TurnCount == 1, len(s.Subagents) == 1, s.Subagents[0].Type == `+
			`"coder" and !s.Subagents[0].Ended.IsZero()`, s.TurnCount, s.Subagents)
	}
}

func TestKimiPermission(t *testing.T) {
	_, got := captured(t, "kimi", "UserPromptSubmit", "PermissionRequest.tui", "PermissionResult.tui", "Stop.tui",
		"TurnStarted.tui-2", "PermissionRequest.tui-2", "PermissionResult.tui-2", "PostToolUseFailure.tui",
		"Stop.tui-2",
		"TurnStarted.tui-5", "PermissionRequest.tui-3", "Interrupt.tui")
	check(t, got, Running, WaitingForYou, Running, Success, Running, WaitingForYou, Running, Running, Failed, Running,
		WaitingForYou, Idle)
}

// Grok: a second Stop after the end, start and first prompt in either order,
// children under ids of their own.
func TestGrokEnds(t *testing.T) {
	_, got := captured(t, "grok", "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop",
		"SessionEnd.subagent-2", "Stop-2")
	check(t, got, Idle, Running, Running, Running, Success, Success, Success)
	_, got = captured(t, "grok", "UserPromptSubmit", "SessionStart", "PreToolUse", "PostToolUse", "Stop", "Stop-2")
	check(t, got, Running, Running, Running, Running, Success, Success)
	_, got = captured(t, "grok", "UserPromptSubmit", "PreToolUse", "Notification.ask-headless",
		"StopCancelled.ask-headless", "Notification.tui-2")
	check(t, got, Running, Running, WaitingForYou, Idle, Idle)
	_, got = captured(t, "grok", "UserPromptSubmit", "Notification.failure", "StopFailure.failure")
	check(t, got, Running, Running, Failed)
	// Nobody said how it ended: the idle prompt does.
	_, got = captured(t, "grok", "UserPromptSubmit", "PreToolUse", "Notification.tui-2")
	check(t, got, Running, Running, Success)
}

func TestGrokChildren(t *testing.T) {
	catalogue := agent.Builtin()
	grok, _ := catalogue.Agent("grok")
	b := NewSessions()
	apply := func(e event.Event) Change {
		e.Agent = "grok"
		return b.Apply(&e, Rules{Spec: &grok.Status})
	}
	apply(event.Event{Session: "p", Kind: event.TurnStart, Native: "UserPromptSubmit", Time: sec(0)})
	// A child before its parent announced it: nobody's session.
	early := apply(event.Event{Session: "c", Kind: event.TurnStart, Native: "UserPromptSubmit", Time: sec(1),
		Subagent: &event.Subagent{ID: "c", Type: "explore"}})
	if early.Any() || b.Len() != 1 {
		t.Fatalf("early = %+v, want not early.Any() and b.Len() = 1", early)
	}
	apply(event.Event{Session: "p", Kind: event.SubagentStart, Native: "SubagentStart", Time: sec(2),
		Subagent: &event.Subagent{ID: "c", Type: "explore", Parent: "p"}})
	for i, kind := range []event.Kind{event.TurnStart, event.ToolBefore, event.SubagentEnd, event.SessionEnd} {
		c := apply(event.Event{Session: "c", Kind: kind, Native: "x", Time: sec(3 + float64(i)),
			Subagent: &event.Subagent{ID: "c", Type: "explore"},
			Tool:     &event.Tool{Name: "run_terminal_command", Kind: event.Shell, CallID: "k"}})
		if !c.Subagent || c.Key.ID != "p" || c.To != Running || c.Ended {
			t.Errorf(`%s: c = %+v, want c.Subagent, c.Key.ID = "p", c.To = Running and not c.Ended`, kind, c)
		}
	}
	s, _ := b.Get(Key{"grok", "p"})
	if b.Len() != 1 || len(s.Subagents) != 1 || s.Subagents[0].Tools != 1 || s.Subagents[0].Ended.IsZero() ||
		s.Turn.Tools != 0 {
		t.Errorf("b.Len() = %d, s.Subagents = %+v; want b.Len() = 1, len(s.Subagents) = 1, s.Subagents[0].Tools = "+
			"1, not s.Subagents[0].Ended.IsZero() and s.Turn.Tools = 0", b.Len(), s.Subagents)
	}
	// Stored sessions still knows whose child it is.
	again := NewSessions()
	again.Load(b.Snapshot(), sec(20), nil)
	c := again.Apply(&event.Event{Agent: "grok", Session: "c", Kind: event.ToolAfter, Native: "PostToolUse",
		Time: sec(21)}, Rules{Spec: &grok.Status})
	if c.Key.ID != "p" || !c.Subagent {
		t.Errorf(`c = %+v, want c.Key.ID = "p" and c.Subagent`, c)
	}
}

// A session with very many helpers still knows the latest, and forgets whose
// the oldest were.
func TestManyChildren(t *testing.T) {
	grok, _ := agent.Builtin().Agent("grok")
	rules := Rules{Spec: &grok.Status}
	b := NewSessions()
	b.Apply(&event.Event{Agent: "grok", Session: "p", Kind: event.TurnStart, Native: "UserPromptSubmit", Time: sec(0)},
		rules)
	for i := range 3 * MaxSubagents {
		id := "c" + string(rune('a'+i%26)) + string(rune('a'+i/26))
		b.Apply(&event.Event{Agent: "grok", Session: "p", Kind: event.SubagentStart, Native: "SubagentStart",
			Time: sec(1), Subagent: &event.Subagent{ID: id, Parent: "p"}}, rules)
		c := b.Apply(&event.Event{Agent: "grok", Session: id, Kind: event.ToolBefore, Native: "PreToolUse",
			Time: sec(2), Tool: &event.Tool{Name: "x"}, Subagent: &event.Subagent{ID: id}}, rules)
		if c.Key.ID != "p" || !c.Subagent {
			t.Fatalf(`%d: c = %+v, want c.Key.ID = "p" and c.Subagent`, i, c)
		}
	}
	if len(b.index.children) != MaxSubagents || b.Len() != 1 {
		t.Errorf("%d children, %d sessions; want len(b.index.children) == MaxSubagents and b.Len() == 1",
			len(b.index.children), b.Len())
	}
	b.Forget(Key{"grok", "p"})
	if len(b.index.children) != 0 {
		t.Errorf("%d children of nobody", len(b.index.children))
	}
}

// Gemini: PreCompress before every model call, SessionEnd three times.
func TestGeminiNoise(t *testing.T) {
	all, got := captured(t, "gemini", "SessionStart.startup", "PreCompress.manual", "BeforeAgent",
		"PreCompress.manual", "BeforeTool.run_shell_command",
		"Notification.ToolPermission.exec", "AfterTool.run_shell_command", "PreCompress.manual", "AfterAgent",
		"SessionEnd.exit", "SessionEnd.exit", "SessionEnd.exit")
	check(t, got, Idle, Idle, Running, Running, Running, WaitingForYou, Running, Running, Success, Success, Success,
		Success)
	s, _ := all.Get(Key{"gemini", "s1"})
	if s.TurnCount != 1 || s.Tool != "" || s.EndReason == "" {
		t.Errorf(`s = %+v, want s.TurnCount = 1, s.Tool = "" and s.EndReason not empty`, s)
	}
}

func TestGeminiTopic(t *testing.T) {
	gemini, _ := agent.Builtin().Agent("gemini")
	b := NewSessions()
	ev := event.Event{Agent: "gemini", Session: "s1", Kind: event.ToolBefore, Native: "BeforeTool", Time: sec(0),
		Tool: &event.Tool{Name: "update_topic", Input: []byte(`{"title":"My Topic","summary":"x"}`)}}
	if c := b.Apply(&ev, Rules{Spec: &gemini.Status}); c.Session.Title.Name() != "My Topic" {
		t.Errorf(`c.Session.Title = %+v, want c.Session.Title.Name() = "My Topic"`, c.Session.Title)
	}
}

// Qwen: UserPromptSubmit again for every tool round.
func TestQwenRounds(t *testing.T) {
	all, got := captured(t, "qwen", "SessionStart.startup", "UserPromptSubmit", "PreToolUse.run_shell_command",
		"PostToolUse.run_shell_command",
		"UserPromptSubmit.tool-result-send", "PermissionRequest.run_shell_command", "Notification.permission_prompt",
		"Notification.idle_prompt")
	check(t, got, Idle, Running, Running, Running, Running, WaitingForYou, WaitingForYou, Idle)
	s, _ := all.Get(Key{"qwen", "s1"})
	if s.TurnCount != 1 || s.Turn.Result != Interrupted {
		t.Errorf("s.TurnCount = %d, s.Turn = %+v; want s.TurnCount = 1 and s.Turn.Result = Interrupted",
			s.TurnCount, s.Turn)
	}
}

// CodeBuddy: a call and its question come again once the user said yes.
func TestCodeBuddyAsksAgain(t *testing.T) {
	all, got := captured(t, "codebuddy", "UserPromptSubmit", "SessionStart", "PreToolUse.sdk-allow",
		"PermissionRequest.sdk-allow",
		"PreToolUse.sdk-allow-2", "PermissionRequest.sdk-allow", "Stop")
	check(t, got, Running, Running, Running, WaitingForYou, Running, Running, Success)
	if s, _ := all.Get(Key{"codebuddy", "s1"}); s.TurnCount != 1 || s.Turn.Tools != 1 {
		t.Errorf("s.TurnCount = %d, s.Turn = %+v; want s.TurnCount = 1 and s.Turn.Tools = 1", s.TurnCount, s.Turn)
	}
}

// Copilot: agentStop of a subagent, a failed model call, another name for the
// tool that is asked about.
func TestCopilotStops(t *testing.T) {
	_, got := captured(t, "copilot", "sessionStart.new", "userPromptSubmitted", "preToolUse.task", "subagentStart",
		"agentStop.subagent", "subagentStop", "agentStop", "sessionEnd.complete")
	check(t, got, Idle, Running, Running, Running, Running, Running, Success, Success)
	all, got := captured(t, "copilot", "userPromptSubmitted", "errorOccurred", "sessionEnd.error")
	check(t, got, Running, Failed, Failed)
	if s, _ := all.Get(Key{"copilot", "s1"}); s.Turn.Result != APIError || s.Turn.Error == "" {
		t.Errorf("s.Turn = %+v, want s.Turn.Result = APIError and s.Turn.Error not empty", s.Turn)
	}
	all, got = captured(t, "copilot", "userPromptSubmitted", "errorOccurred", "preToolUse.bash", "postToolUse.bash",
		"agentStop")
	check(t, got, Running, Failed, Running, Running, Success)
	if s, _ := all.Get(Key{"copilot", "s1"}); s.TurnCount != 1 || s.Turn.Error != "" {
		t.Errorf(`s.Turn = %+v, want s.TurnCount = 1 and s.Turn.Error = ""`, s.Turn)
	}
	_, got = captured(t, "copilot", "userPromptSubmitted", "preToolUse.create", "permissionRequest.edit",
		"notification.permission_prompt", "postToolUse.create")
	check(t, got, Running, Running, Running, WaitingForYou, Running) // a permissionRequest comes with no dialog as well
}

// OpenCode: the end is told several times, a failure first.
func TestOpenCodeEnds(t *testing.T) {
	all, got := captured(t, "opencode", "event.session.created", "hook.chat.message", "event.session.status.busy",
		"event.session.status.retry",
		"event.session.error.APIError", "event.session.status.idle", "event.session.idle")
	check(t, got, Idle, Running, Running, Running, Failed, Failed, Failed)
	if s, _ := all.Get(Key{"opencode", "s1"}); s.Turn.Result != APIError || s.Turn.Error != "scripted error" ||
		s.TurnCount != 1 {
		t.Errorf(`s.Turn = %+v, want s.Turn.Result = APIError, s.Turn.Error = "scripted error" and s.TurnCount = 1`,
			s.Turn)
	}
	_, got = captured(t, "opencode", "hook.chat.message", "event.permission.asked.bash",
		"event.permission.replied.once", "event.session.error.MessageAbortedError", "event.session.idle")
	check(t, got, Running, WaitingForYou, Running, Idle, Idle)
	_, got = captured(t, "opencode", "hook.chat.message", "event.question.asked", "event.question.rejected",
		"event.session.idle", "event.session.status.idle")
	check(t, got, Running, WaitingForYou, Running, Idle, Idle) // it stops at a question that gets no answer
	all, _ = captured(t, "opencode", "event.session.updated.untitled", "hook.chat.message")
	if s, _ := all.Get(Key{"opencode", "s1"}); s.Title.Source != agent.TitlePrompt {
		t.Errorf("s.Title = %+v, want s.Title.Source = agent.TitlePrompt", s.Title)
	}
	all, _ = captured(t, "opencode", "hook.chat.message", "event.session.updated.titled",
		"event.session.updated.untitled")
	if s, _ := all.Get(Key{"opencode", "s1"}); s.Title.Source != agent.TitlePayload ||
		strings.HasPrefix(s.Title.Name(), "New session") {
		t.Errorf(`s.Title = %+v, want s.Title.Source = agent.TitlePayload and not strings.HasPrefix(s.Title.Name(), `+
			`"New session")`, s.Title)
	}
}

// pi: agent_end once per retry; one that is about to settle is done, and what
// follows changes nothing.
func TestPiBecomesIdle(t *testing.T) {
	all, got := captured(t, "pi", "session_start.startup", "input.interactive", "agent_start", "agent_end",
		"agent_start", "agent_end", "agent_before_settle.error", "agent_settled")
	check(t, got, Idle, Running, Running, Running, Running, Running, Failed, Failed)
	if s, _ := all.Get(Key{"pi", "s1"}); s.Turn.Result != APIError || s.TurnCount != 1 {
		t.Errorf("s.Turn = %+v, want s.Turn.Result = APIError and s.TurnCount = 1", s.Turn)
	}
	all, got = captured(t, "pi", "input.interactive", "tool_call.bash", "tool_result.bash.error",
		"tool_execution_end.bash.error", "ui_prompt_start.select", "ui_prompt_end.select", "agent_end",
		"agent_before_settle.completed", "agent_settled", "session_shutdown.quit")
	check(t, got, Running, Running, Running, Running, WaitingForYou, Running, Running, Failed, Failed, Failed)
	if s, _ := all.Get(Key{"pi", "s1"}); s.Turn.Result != ToolErrors {
		t.Errorf("s.Turn = %+v, want s.Turn.Result = ToolErrors", s.Turn)
	}
	// Before 0.87 there is nothing but agent_end.
	pi, _ := agent.Builtin().Agent("pi")
	b := NewSessions()
	for i, e := range []event.Event{{Kind: event.TurnStart, Native: "input"},
		{Kind: event.TurnEnd, Native: "agent_end"}} {
		e.Agent, e.Session, e.Time, e.AgentVersion = "pi", "s1", sec(float64(i)), "0.74.2"
		b.Apply(&e, Rules{Spec: &pi.Status})
	}
	if s, _ := b.Get(Key{"pi", "s1"}); s.Status != Success {
		t.Errorf("s.Status = %q, want Success", s.Status)
	}
}

// Codex: an interrupt, a failed model call.
func TestCodexEnds(t *testing.T) {
	codex, _ := agent.Builtin().Agent("codex")
	play := func(events ...event.Event) *Session {
		b := NewSessions()
		for i, e := range events {
			e.Agent, e.Session, e.Time, e.Turn = "codex", "s1", sec(float64(5*i)), "t1"
			b.Apply(&e, Rules{Spec: &codex.Status})
		}
		s, _ := b.Get(Key{"codex", "s1"})
		return s
	}
	start := event.Event{Kind: event.TurnStart, Native: "UserPromptSubmit"}
	if s := play(start, event.Event{Kind: event.TurnEnd, Native: "Interrupt",
		Detail: "interrupted"}); s.Status != Idle || s.Turn.Result != Interrupted {
		t.Errorf("s.Status = %s, s.Turn = %+v; want s.Status = Idle and s.Turn.Result = Interrupted", s.Status, s.Turn)
	}
	if s := play(start, event.Event{Kind: event.ModelAfter, Native: "PostModelRequest", Detail: "failed",
		Error: "503"}); s.Status != Failed || s.Turn.Result != APIError {
		t.Errorf("s.Status = %s, s.Turn = %+v; want s.Status = Failed and s.Turn.Result = APIError", s.Status, s.Turn)
	}
	// It retried and got through: what happens next says so.
	if s := play(start, event.Event{Kind: event.ModelAfter, Native: "PostModelRequest", Detail: "failed", Error: "503"},
		event.Event{Kind: event.ModelAfter, Native: "PostModelRequest", Detail: "completed"},
		event.Event{Kind: event.TurnEnd, Native: "Stop", Message: "Got through."}); s.Status != Success ||
		s.TurnCount != 1 {
		t.Errorf("s.Status = %s, s.Turn = %+v; want s.Status = Success and s.TurnCount = 1", s.Status, s.Turn)
	}
	if s := play(start, event.Event{Kind: event.ToolBefore, Native: "PreToolUse",
		Tool: &event.Tool{Name: "request_user_input", Kind: event.Question, CallID: "q"}}); s.Status != WaitingForYou {
		t.Errorf("s.Status = %q, want WaitingForYou", s.Status)
	}
}

// Claude: tasks in the background keep it running; its own report about them
// is no new turn and no title.
func TestClaudeBackground(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"), prompt("Look around"))
	busy := `{"background_tasks":[{"id":"a"}],"session_crons":[]}`
	stop := func(raw string, n int, opts ...option) Change {
		return w.send(event.TurnEnd, append([]option{rawBytes(raw), func(e *event.Event) { e.Background = n },
			message("Waiting.")}, opts...)...)
	}
	c := stop(busy, 1, turn("p1"))
	w.is(Running)
	if c.TurnEnded || w.get().Tool != "1 background task" {
		t.Errorf(`c = %+v, w.get().Tool = %q; want not c.TurnEnded and w.get().Tool = "1 background task"`,
			c, w.get().Tool)
	}
	w.send(event.UserAttention, detail("idle_prompt"))
	w.is(Running)
	w.send(event.TurnStart, turn("p2"), prompt("<task-notification>\n<task-id>a</task-id>"))
	w.is(Running)
	stop(`{"background_tasks":[],"session_crons":[]}`, 0, turn("p2"), message("Done."))
	w.is(Success)
	s := w.get()
	if s.TurnCount != 1 || s.Turn.Summary != "Done." || s.Title.Name() != "Look around" ||
		s.Turn.Duration(w.now) != 40*time.Second {
		t.Errorf(`s.Turn = %+v, s.Title = %+v; want s.TurnCount = 1, s.Turn.Summary = "Done.", s.Title.Name() = `+
			`"Look around" and s.Turn.Duration(w.now) = 40 * time.Second`, s.Turn, s.Title)
	}
	// A cron alone will wake it some day; it does not run until then.
	w.send(event.TurnStart, turn("p3"))
	stop(`{"background_tasks":[],"session_crons":[{"id":"c"}]}`, 1, turn("p3"))
	w.is(Success)
}
