package tui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

func startScreen(t *testing.T, width, height int, started *[]Work) *screen {
	s := newScreen(t, width, height)
	s.model.opts.Agents, s.model.opts.Folder = []string{"claude", "codex", "gemini"}, "/home/me/shop"
	s.model.opts.Start = func(_ context.Context, w Work) (string, error) {
		*started = append(*started, w)
		if w.Worktree == "taken" {
			return "", errors.New("worktree taken already exists")
		}
		return w.Agent + " started in tmux pane %7", nil
	}
	return s
}

func TestStartAnAgent(t *testing.T) {
	var started []Work
	s := startScreen(t, 80, 24, &started)
	s.mustShow("Press n to start one")
	s.press("n")
	s.mustShow("Start an agent", "‹ claude ›", "/home/me/shop")
	s.press("c", "enter", "enter") // codex, in this folder
	s.typeText("login")
	s.press("enter")
	s.typeText("fix the form")
	s.press("enter")
	want := Work{Agent: "codex", Folder: "/home/me/shop", Worktree: "login", Prompt: "fix the form"}
	if len(started) != 1 || started[0] != want {
		t.Fatalf("started %+v, want %+v", started, want)
	}
	s.mustShow("codex started in tmux pane %7")
	s.press("n", "enter", "enter")
	s.typeText("taken")
	s.press("enter", "enter")
	s.mustShow("worktree taken already exists")
	s.press("n", "esc")
	if len(started) != 2 || s.model.mode != modeList || s.model.status != "" {
		t.Errorf("started %d times, want twice; Esc leaves mode %d and %q", len(started), s.model.mode, s.model.status)
	}
}

// The folder and the agent are those of the session that is selected.
func TestStartBesideASession(t *testing.T) {
	var started []Work
	s := startScreen(t, 120, 30, &started)
	s.send(sessionsMsg{{ID: "s1", Agent: "gemini", Status: "running", Title: "one", Cwd: "/home/me/docs"}})
	s.press("n")
	s.mustShow("‹ gemini ›", "/home/me/docs")
}

// While an agent is about to be started, nothing behind the popup is answered.
func TestStartAnswersNothing(t *testing.T) {
	var started []Work
	s := startScreen(t, 120, 30, &started)
	s.arrive(s.request("k1", nil))
	s.wait(time.Second)
	s.press("n", "a", "d", "A")
	if len(s.daemon.replies) != 0 {
		t.Errorf("answered %s, want nothing", toJSON(s.daemon.replies))
	}
}

// A sidebar shows who waits, answers nothing itself, and opens requests elsewhere.
func TestSidebar(t *testing.T) {
	opened := 0
	s := newScreen(t, 32, 40)
	s.model.opts.Sidebar = true
	s.model.opts.Answer = func(context.Context) error { opened++; return nil }
	s.fillDay()
	s.wait(time.Second)
	s.mustShow("▲ 3", "▌ ▲ fix the failing tests", "Which databa")
	if strings.Contains(s.text(), "asked ") {
		t.Errorf("a sidebar shows details:\n%s", s.text())
	}
	s.press("a", "d", "A", "r", "B")
	s.wait(time.Second)
	s.press("B")
	if len(s.daemon.replies)+len(s.daemon.released) != 0 || opened != 1 {
		t.Errorf("answered %s %v, opened %d times; want nothing answered and one opened", toJSON(s.daemon.replies),
			s.daemon.released, opened)
	}
	s.press("end", "g")
	s.mustShow("went to")
}

// Kinds of requests are told apart at a glance, and what is dangerous is red.
func TestKindsAreToldApart(t *testing.T) {
	marks := map[string]bool{}
	for _, item := range []wire.InboxRequest{
		{Kind: "permission", Tool: "Bash"}, {Kind: "question", Tool: "AskUserQuestion"}, {Kind: "question"},
		{Kind: "plan"}, {Status: wire.InboxPrompt},
	} {
		k := kindOf(&item)
		if marks[k.mark] || k.word == "" {
			t.Errorf("%+v is marked %q (%s), as another kind is", item, k.mark, k.word)
		}
		marks[k.mark] = true
	}
	s := newScreen(t, 120, 30)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) {
		r.Effect, r.Risk = "deletes build/ · runs make · no rule matches", "high"
	}))
	s.mustShow(" !  deletes build/ · runs make", "▌ ! shop")
	if kindOf(s.model.board.requests[0]).style.GetForeground() != styleFailed.GetForeground() {
		t.Error("a dangerous request isn't red")
	}
}

// The rule above a request says how much of it is still to be read, and the key that
// approves it isn't offered before.
func TestWhatIsUnreadIsSaid(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Shown = strings.Repeat("  $ echo line\n", 40) }))
	s.mustShow("more lines · Space", "Space read on")
	if s.text(); !strings.HasPrefix(strings.Split(s.text(), "\n")[23], " Space read on") {
		t.Errorf("reading on isn't the first key:\n%s", s.text())
	}
	for range 4 {
		s.wait(time.Second)
		s.press("space")
	}
	if text := s.text(); strings.Contains(text, "more line") {
		t.Errorf("something is said to be unread:\n%s", text)
	}
}
