package state

import (
	"testing"
	"time"

	"github.com/hookmux/hookmux/event"
)

// What real agents were seen to do and what must be said about it then.

func TestWordsSentMeanwhileAreNoNewTurn(t *testing.T) {
	w := newWorld(t)
	w.rules = rulesOf(t, "pi")
	w.send(event.TurnStart, native("input"), prompt("first"))
	w.send(event.ToolBefore, native("tool_call"), shell("c1", "make"))
	c := w.send(event.TurnStart, native("input"), prompt("and this"))
	if s := w.get(); c.TurnEnded || s.TurnCount != 1 || s.Tool != "Bash: make" || s.Title.Name() != "first" {
		t.Errorf(`%+v, turn %+v; want !c.TurnEnded, s.TurnCount == 1, s.Tool == "Bash: make" and `+
			`s.Title.Name() == "first"`, s, s.Turn)
	}
	// An end that was sent before them and comes after is not theirs.
	w.rules = rulesOf(t, "pi")
	w.sessions.ApplyNumbered(w.event(event.TurnStart, native("input"), from(5, 1)), 9, w.rules)
	if c := w.sessions.ApplyNumbered(w.event(event.TurnEnd, native("agent_before_settle"), from(5, 1)), 8,
		w.rules); c.Stale == No || c.To != Running {
		t.Errorf("c = %+v, want c.Stale not empty and c.To = Running", c)
	}
	w = newWorld(t)
	w.rules = rulesOf(t, "opencode")
	w.send(event.TurnStart, native("chat.message"), turn("m1"))
	w.send(event.TurnStart, native("chat.message"), turn("m2"))
	w.send(event.ToolBefore, native("tool.execute.before"), turn("m1"), shell("c1", "make"))
	if s := w.get(); s.TurnCount != 1 || s.Tool != "Bash: make" {
		t.Errorf(`s = %+v, want s.TurnCount = 1 and s.Tool = "Bash: make"`, s)
	}
	if c := w.send(event.TurnEnd, native("session.idle")); c.To != Success || c.Turn.N != 1 {
		t.Errorf("c = %+v, want c.To = Success and c.Turn.N = 1", c)
	}
	// Where an agent does not say so, a new prompt ends the turn before it.
	w = newWorld(t)
	w.rules = rulesOf(t, "gemini")
	w.send(event.TurnStart, native("BeforeAgent"))
	if c := w.send(event.TurnStart, native("BeforeAgent")); !c.TurnEnded || c.Turn.Result != Interrupted {
		t.Errorf("c = %+v, want c.TurnEnded and c.Turn.Result = Interrupted", c)
	}
}

func TestARefusedCallWithoutAnIDIsNotShownForEver(t *testing.T) {
	w := newWorld(t)
	w.rules = rulesOf(t, "gemini")
	w.send(event.TurnStart, native("BeforeAgent"))
	w.send(event.ToolBefore, native("BeforeTool"), shell("", "refused"))
	w.send(event.ToolBefore, native("BeforeTool"), shell("", "make"))
	if got := w.get().Tool; got != "Bash: make" {
		t.Errorf(`got %q, want "Bash: make"`, got)
	}
	w.send(event.ToolAfter, native("AfterTool"), shell("", "make"), gives(`{}`))
	if got := w.get().Tool; got != "" {
		t.Errorf("%q is shown, and the model thinks", got)
	}
}

func TestACallThatWasCutOff(t *testing.T) {
	// The agent says that the user stopped it.
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.ToolBefore, turn("p1"), shell("c1", "make"))
	c := w.send(event.ToolAfter, native("PostToolUseFailure"), turn("p1"), shell("c1", "make"), failing(),
		failure("cancelled"), interrupted())
	if !c.TurnEnded || c.To != Idle || c.Turn.Result != Interrupted || c.Turn.Errors != 0 || c.Turn.Summary != "" {
		t.Errorf(`c = %+v, c.Turn = %+v; want c.TurnEnded, c.To = Idle, c.Turn.Result = Interrupted, c.Turn.Errors `+
			`= 0 and c.Turn.Summary = ""`, c, c.Turn)
	}
	// A last message while a call has no result does not count.
	w = newWorld(t)
	w.rules = rulesOf(t, "pi")
	w.send(event.TurnStart, native("input"))
	w.send(event.ToolBefore, native("tool_call"), shell("c1", "make"))
	w.send(event.TurnEnd, native("agent_end"))
	if c := w.send(event.SessionEnd, native("session_shutdown")); c.Turn == nil || c.Turn.Result != Interrupted {
		t.Errorf("c.Turn = %+v, want other than nil and c.Turn.Result = Interrupted", c.Turn)
	}
}

func TestCallingForAPersonIsNoLastWord(t *testing.T) {
	w := newWorld(t)
	w.rules = rulesOf(t, "qwen")
	idle := []option{native("Notification"), detail("idle_prompt"), message("Qwen Code is waiting for your input")}
	w.send(event.TurnStart)
	c := w.send(event.UserAttention, idle...)
	if c.To != Idle || c.Turn == nil || c.Turn.Result != Interrupted || c.Turn.Summary != "" {
		t.Errorf(`c = %+v, c.Turn = %+v; want c.To = Idle, c.Turn other than nil, c.Turn.Result = Interrupted and `+
			`c.Turn.Summary = ""`, c, c.Turn)
	}
	w.send(event.TurnStart)
	w.send(event.TurnEnd, message("Done."))
	w.send(event.UserAttention, idle...)
	if s := w.get(); s.Status != Success || s.Turn.Summary != "Done." {
		t.Errorf(`s.Status = %s, s.Turn = %+v; want s.Status = Success and s.Turn.Summary = "Done."`, s.Status, s.Turn)
	}
	// It crossed the next prompt.
	w.send(event.TurnStart)
	w.send(event.UserAttention, append(idle, at(w.now.Add(time.Second)))...)
	w.is(Running)
	// Results on their way to the model: nobody is asked any more.
	w.send(event.PermissionRequest, shell("c1", "make"))
	w.is(WaitingForYou)
	w.send(event.Other, native("UserPromptSubmit"))
	w.is(Running)
}

func TestUnfollowedSessionsClaimNothing(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart)
	w.send(event.PermissionRequest, shell("c1", "make"))
	w.send(event.TurnStart, session("runs"))
	w.send(event.TurnStart, session("done"))
	w.send(event.TurnEnd, session("done"))
	w.sessions.Unfollow("codex", w.now)
	w.is(WaitingForYou)
	if got := w.sessions.Unfollow("claude", w.now); len(got) != 2 {
		t.Errorf(`w.sessions.Unfollow("claude", w.now) = %+v, want 2 of them`, got)
	}
	w.is(Unsure)
	if s, _ := w.sessions.Get(Key{"claude", "done"}); s.Status != Success || len(w.sessions.Waiting()) != 0 {
		t.Errorf("s.Status = %s, want Success and len(w.sessions.Waiting()) = 0", s.Status)
	}
	w.send(event.TurnEnd) // switched on again
	w.is(Success)
}

func TestTakenUpBeforeItSpeaks(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, from(5, 1))
	w.sessions.ProcessGone(5, 1, w.now)
	where := event.Place{PID: 6, Start: 2, Pane: "%3", Mux: "tmux"}
	if c := w.sessions.Resumed(key, w.now.Add(time.Second), where, "", ""); !c.Revived || c.To != Idle ||
		c.Session.Place != where || c.Session.TurnCount != 1 {
		t.Errorf("c = %+v, want c.Revived, c.To = Idle, c.Session.Place = %+v and c.Session.TurnCount = 1", c, where)
	}
	if got := w.sessions.ProcessGone(6, 2, w.now.Add(2*time.Second)); len(got) != 1 || !got[0].Ended {
		t.Errorf("got %+v, want 1 of them and got[0].Ended", got)
	}
	// One that was forgotten.
	c := w.sessions.Resumed(Key{"codex", "old"}, w.now, where, "/src", "an old one")
	if !c.Created || c.To != Idle || c.Session.Title.Name() != "an old one" || c.Session.Cwd != "/src" ||
		c.Session.LastEvent.IsZero() {
		t.Errorf(`c.Session = %+v, want c.Created, c.To = Idle, c.Session.Title.Name() = "an old one", `+
			`c.Session.Cwd = "/src" and not c.Session.LastEvent.IsZero()`, c.Session)
	}
}

func TestASearchInPartsFoundNothing(t *testing.T) {
	ev := &event.Event{Tool: &event.Tool{Name: "bash", Kind: event.Shell, Commands: []string{"grep x f"}, Failed: true,
		Output: []byte(`[{"type":"text","text":"(no output)\n\nCommand exited with code 1"}]`)}}
	if failed, _, _ := Failing(ev); failed {
		t.Error("a search that found nothing is a failure")
	}
	ev.Tool.Commands = []string{"make"}
	if failed, _, exit := Failing(ev); !failed || exit != 1 {
		t.Errorf("failed = %v, exit = %v; want failed and exit = 1", failed, exit)
	}
}

func TestWhatAHookAddsIsNoTitle(t *testing.T) {
	for prompt, want := range map[string]string{
		"<system_notification>\nShell command has completed":                      "",
		"<hook_context>You are tested.</hook_context> Fix it":                     "Fix it",
		"<hook_context>a</hook_context>\n<hook_context>b</hook_context>Fix":       "Fix",
		"<hook_context>never closed":                                              "<hook_context>never closed",
		"<hook_context>a</hook_context> <task-notification>x</task-notification>": "",
	} {
		if got := PromptTitle(prompt); got != want {
			t.Errorf("%q: PromptTitle(prompt) = %q, want %q", prompt, got, want)
		}
	}
}

// A call for the user that names a turn which is over comes late: nobody waits.
func TestAttentionOfAFinishedTurn(t *testing.T) {
	w := newWorld(t)
	w.send(event.TurnStart, turn("p1"))
	w.send(event.TurnEnd, turn("p1"), message("Done."))
	c := w.send(event.UserAttention, turn("p1"), detail("permission_prompt"), message("Claude needs your permission"))
	if c.Waiting || w.get().Waits() || w.get().Status != Success {
		t.Errorf("after a late call for the user the session is %s and waits: %t; want the turn's result", w.get().Status,
			w.get().Waits())
	}
	w.send(event.TurnStart, turn("p2"))
	if c = w.send(event.UserAttention, turn("p2"), detail("permission_prompt"), message("again")); !c.Waiting {
		t.Error("a call for the user in an open turn does not wait")
	}
}
