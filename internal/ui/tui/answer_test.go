package tui

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

func TestKeysAnswer(t *testing.T) {
	plan := func(r *wire.InboxRequest) {
		r.Kind, r.Choices, r.Shown = "plan", []string{"accept", "auto", "manual", "reject"},
			"Claude has a plan\n  1. test\n"
	}
	ask := func(r *wire.InboxRequest) {
		r.Kind, r.Choices, r.Questions = "question", []string{"answer", "deny"}, question()
	}
	for _, c := range []struct {
		name   string
		change func(*wire.InboxRequest)
		press  func(s *screen)
		want   string // the reply without id and hash
	}{
		{"approve", nil, func(s *screen) { s.press("a") }, `"choice":"once"`},
		{"always", nil, func(s *screen) { s.press("A"); s.wait(time.Second); s.press("A") },
			`"choice":"always","rule":"Bash(go test:*)"`},
		{"deny", nil, func(s *screen) { s.press("d", "enter") }, `"choice":"deny"`},
		{"deny with a reason", nil, func(s *screen) { s.press("d"); s.typeText("not now"); s.press("enter") },
			`"choice":"deny","reason":"not now"`},
		{"accept a plan", plan, func(s *screen) { s.press("a") }, `"choice":"plan","plan":"accept"`},
		{"accept a plan, edits unasked", plan, func(s *screen) { s.press("u") }, `"choice":"plan","plan":"auto"`},
		{"accept a plan, edits asked", plan, func(s *screen) { s.press("m") }, `"choice":"plan","plan":"manual"`},
		{"reject a plan", plan, func(s *screen) { s.press("d"); s.typeText("tests first"); s.press("enter") },
			`"choice":"plan","plan":"reject","feedback":"tests first"`},
		{"choose an option", ask, func(s *screen) { s.press("2") },
			`"choice":"answer","answers":[{"question":"Which database?","options":["SQLite"]}]`},
		{"choose an option in the form", ask, func(s *screen) { s.press("enter"); s.wait(time.Second); s.press("down", "enter") },
			`"choice":"answer","answers":[{"question":"Which database?","options":["SQLite"]}]`},
		{"a digit in the form", ask, func(s *screen) { s.press("enter"); s.wait(time.Second); s.press("1") },
			`"choice":"answer","answers":[{"question":"Which database?","options":["Postgres"]}]`},
		{"own words by arrow", ask, func(s *screen) {
			s.press("enter")
			s.wait(time.Second)
			s.press("down", "down", "enter")
			s.typeText("files")
			s.press("enter")
			s.wait(time.Second)
			s.press("enter")
		}, `"choice":"answer","answers":[{"question":"Which database?","text":"files"}]`},
		{"own words", ask, func(s *screen) {
			s.press("enter", "o")
			s.typeText("files")
			s.press("enter")
			s.wait(time.Second)
			s.press("enter")
		},
			`"choice":"answer","answers":[{"question":"Which database?","text":"files"}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t, 120, 30)
			item := s.request("k1", c.change)
			s.arrive(item)
			s.wait(time.Second)
			c.press(s)
			if len(s.daemon.replies) != 1 {
				t.Fatalf("replies: got %d, want 1; the screen:\n%s", len(s.daemon.replies), s.text())
			}
			want := `{"id":"k1",` + c.want + `,"sha256":"` + item.SHA256 + `"}`
			if got := toJSON(s.daemon.replies[0]); got != want {
				t.Errorf("reply: got %s, want %s", got, want)
			}
			s.mustShow(" · claude · ")
		})
	}
}

// What is dangerous takes the key twice, one right after the other: an approval out of habit
// doesn't delete anything.
func TestDangerousTakesTwoKeys(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Effect, r.Risk = "deletes build/ · runs make", riskHigh }))
	s.wait(time.Second)
	s.press("a")
	s.mustShow("Deletes build/ · runs make. Press a again to approve.")
	s.wait(time.Second)
	s.press("/", "esc", "a")
	if len(s.daemon.replies) != 0 {
		t.Errorf("replies: got %s, want none: another key came in between", toJSON(s.daemon.replies))
	}
	s.wait(time.Second)
	s.press("a")
	if len(s.daemon.replies) != 1 {
		t.Errorf("replies: got %d, want 1:\n%s", len(s.daemon.replies), s.text())
	}
}

func TestNothingIsAnswered(t *testing.T) {
	long := func(r *wire.InboxRequest) {
		r.Shown = "Claude Code wants to run a command with Bash\n" + strings.Repeat("  $ echo line\n", 60) +
			"  $ rm -rf build\n"
	}
	for _, c := range []struct {
		name   string
		change func(*wire.InboxRequest)
		press  func(s *screen, item *wire.InboxRequest)
		says   string
	}{
		{"a key right after it appeared", nil,
			func(s *screen, _ *wire.InboxRequest) { s.press("a", "d", "r", "A") }, "Too soon"},
		{"not all of it was shown", long,
			func(s *screen, _ *wire.InboxRequest) { s.wait(time.Second); s.press("a") }, "More to read"},
		{"a key that repeats too fast to show each page", long, func(s *screen, _ *wire.InboxRequest) {
			s.wait(time.Second)
			for range 30 {
				s.press("space")
			}
			s.wait(time.Second)
			s.press("a")
		}, "More to read"},
		{"its end was shown just now", long, func(s *screen, _ *wire.InboxRequest) {
			s.wait(time.Second)
			for range 4 {
				s.wait(200 * time.Millisecond)
				s.press("space")
			}
			s.press("a")
		}, "Too soon after its end"},
		{"another key than the one shown", nil,
			func(s *screen, _ *wire.InboxRequest) { s.wait(time.Second); s.press("A", "a") }, "Nothing was done"},
		{"the daemon is silent", nil, func(s *screen, _ *wire.InboxRequest) {
			s.wait(time.Second)
			s.send(connectionMsg{"the daemon closed the connection"})
			s.press("a")
		}, "the daemon closed the connection"},
		{"the daemon is silent, and says so to a key", nil, func(s *screen, _ *wire.InboxRequest) {
			s.wait(time.Second)
			s.send(silenceMsg{})
			s.press("a", "d", "r")
		}, "doesn't answer"},
		{"another request slid under the cursor", nil, func(s *screen, item *wire.InboxRequest) {
			s.wait(time.Second)
			s.arrive(s.request("k2", nil))
			s.end(item)
			s.press("a")
		}, "Too soon"},
		{"it changed while it was shown", nil, func(s *screen, _ *wire.InboxRequest) {
			s.wait(time.Second)
			s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Shown = "Claude Code wants\n  $ rm -rf build\n" }))
			s.press("a")
		}, "Too soon"},
		{"pasted text is no key", nil, func(s *screen, _ *wire.InboxRequest) {
			s.wait(time.Second)
			s.send(pasted("aaa"))
		}, ""},
		{"the key that opened a form is pressed twice", func(r *wire.InboxRequest) {
			r.Kind, r.Choices, r.Questions = "question", []string{"answer"}, question()
		}, func(s *screen, _ *wire.InboxRequest) { s.wait(time.Second); s.press("enter", "enter") }, "Too soon"},
		{"the key that opened a form is held", func(r *wire.InboxRequest) {
			r.Kind, r.Choices, r.Questions = "question", []string{"answer"}, question()
		}, func(s *screen, _ *wire.InboxRequest) {
			s.wait(time.Second)
			for range 40 {
				s.press("enter")
				s.wait(33 * time.Millisecond)
			}
		}, "held down"},
		{"a digit right after a form appeared", func(r *wire.InboxRequest) {
			r.Kind, r.Choices, r.Questions = "question", []string{"answer"}, question()
		}, func(s *screen, _ *wire.InboxRequest) { s.wait(time.Second); s.press("enter", "1") }, "Too soon"},
		{"a digit right after a question appeared", func(r *wire.InboxRequest) {
			r.Kind, r.Choices, r.Questions = "question", []string{"answer"}, question()
		}, func(s *screen, _ *wire.InboxRequest) { s.press("1") }, "Too soon"},
		{"a digit without an option", func(r *wire.InboxRequest) {
			r.Kind, r.Choices, r.Questions = "question", []string{"answer"}, question()
		}, func(s *screen, _ *wire.InboxRequest) { s.wait(time.Second); s.press("3") }, "only 2 options"},
		{"a question that ended meanwhile", func(r *wire.InboxRequest) {
			r.Kind, r.Choices, r.Questions = "question", []string{"answer"}, question()
		}, func(s *screen, item *wire.InboxRequest) {
			s.wait(time.Second)
			s.press("enter")
			s.end(item)
			s.wait(time.Second)
			s.press("1")
		}, "Too late"},
		{"it stands at the agent's own prompt", func(r *wire.InboxRequest) { r.Status, r.Choices = wire.InboxPrompt, nil },
			func(s *screen, _ *wire.InboxRequest) { s.wait(time.Second); s.press("a", "d", "r") }, "asks this in its own terminal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t, 120, 24)
			item := s.request("k1", c.change)
			s.arrive(item)
			c.press(s, item)
			if len(s.daemon.replies)+len(s.daemon.released) != 0 {
				t.Fatalf("answered: %s %v; the screen:\n%s", toJSON(s.daemon.replies), s.daemon.released, s.text())
			}
			if c.says != "" {
				s.mustShow(c.says)
			}
		})
	}
}

// What an agent asks at its own prompt is answered here where keys can do that; it cannot
// be skipped, since nobody waits for it here.
func TestWindowIsAnswered(t *testing.T) {
	s := newScreen(t, 120, 24)
	item := s.request("k1", func(r *wire.InboxRequest) {
		r.Status, r.Choices = wire.InboxPrompt, []string{"once", "deny"}
	})
	s.arrive(item)
	s.wait(time.Second)
	s.mustShow("hookmux types your answer")
	s.press("r")
	if len(s.daemon.released) != 0 {
		t.Errorf("released %v, want nothing", s.daemon.released)
	}
	s.press("a")
	if len(s.daemon.replies) != 1 || s.daemon.replies[0].Choice != "once" || s.daemon.replies[0].SHA256 != item.SHA256 {
		t.Errorf("replies = %s, want once for what was seen", toJSON(s.daemon.replies))
	}
}

func TestLongRequestIsApprovedAfterItsEnd(t *testing.T) {
	s := newScreen(t, 80, 20)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Shown = strings.Repeat("  $ echo line\n", 60) }))
	for range 20 {
		s.wait(time.Second)
		s.press("space")
	}
	s.wait(time.Second)
	s.press("a")
	if len(s.daemon.replies) != 1 {
		t.Fatalf("replies: got %d, want 1; the screen:\n%s", len(s.daemon.replies), s.text())
	}
}

func TestPINIsAskedFor(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.daemon.pin = "4711"
	s.arrive(s.request("k1", nil))
	s.wait(time.Second)
	s.press("a")
	s.mustShow("─ PIN ─")
	s.typeText("4711")
	if strings.Contains(s.text(), "4711") {
		t.Fatalf("the PIN is on the screen:\n%s", s.text())
	}
	s.press("enter")
	if len(s.daemon.replies) != 1 || s.daemon.replies[0].PIN != "4711" {
		t.Fatalf("replies: got %s, want one with the PIN", toJSON(s.daemon.replies))
	}
}

func TestCodeIsAskedAtTheTerminal(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.daemon.terminal = "code"
	s.arrive(s.request("k1", nil))
	s.wait(time.Second)
	_, cmd := s.model.Update(keyPress("a"))
	messages := runCommand(cmd)
	if len(messages) != 1 {
		t.Fatalf("messages: got %v, want one that frees the terminal", messages)
	}
	if _, ok := messages[0].(askAtTerminalMsg); !ok {
		t.Fatalf("message: got %T, want askAtTerminalMsg: the daemon asks for a code on a free screen", messages[0])
	}
	if len(s.daemon.replies) != 0 {
		t.Fatal("the reply was sent while the view held the terminal")
	}
}

func TestRefusalIsShown(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.daemon.fail = &client.RefusedError{Message: "refused: claude (pid 7) started this terminal"}
	s.arrive(s.request("k1", nil))
	s.wait(time.Second)
	s.press("a")
	s.mustShow("refused: claude (pid 7) started this terminal")
}

func TestSessionKeys(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.send(sessionsMsg{{ID: "s1", Agent: "claude", Status: "running", Title: "one", Pane: "%7"}})
	s.press("g")
	s.mustShow("went to %7")
	s.press("s")
	s.typeText("go on")
	s.press("enter", "R")
	for range 3 {
		s.send(keyPress("backspace"))
	}
	s.typeText("two")
	s.press("enter", "F")
	s.wait(time.Second)
	s.press("F")
	if got := strings.Join(append(append(s.daemon.sent, s.daemon.renamed...), s.daemon.forgot...),
		" "); got != "s1=go on s1=two s1" {
		t.Errorf("calls: got %q, want %q", got, "s1=go on s1=two s1")
	}
	s.daemon.fail = errors.New("the daemon says no")
	s.press("F")
	s.wait(time.Second)
	s.press("F")
	s.mustShow("the daemon says no")
}

// A text typed into a window that asks for a yes could be that yes.
func TestNoTextIsSentWhereSomethingWaits(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.send(sessionsMsg{{ID: "s1", Agent: "claude", Status: "waiting", Title: "one", Pane: "%7"}})
	s.press("s")
	s.typeText("y")
	s.press("enter")
	if len(s.daemon.sent) != 0 {
		t.Errorf("sent: %v, want nothing", s.daemon.sent)
	}
}

func TestInboxIsFollowedAnew(t *testing.T) {
	s := newScreen(t, 120, 24)
	stays, goes := s.request("k1", nil), s.request("k2", nil)
	s.arrive(stays)
	s.arrive(goes)
	s.send(connectionMsg{"the daemon closed the connection"})
	s.arrive(stays)
	s.send(noteMsg{Ready: &client.InboxReady{Attached: true}})
	if n := len(s.model.board.requests); n != 1 || s.model.board.requests[0].ID != "k1" {
		t.Errorf("requests after the daemon came back: got %s, want k1 alone", toJSON(s.model.board.requests))
	}
	if strings.Contains(s.text(), "closed the connection") {
		t.Errorf("the problem is still shown:\n%s", s.text())
	}
}

func TestFilter(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.fillDay()
	s.press("/")
	s.typeText("gemini changelog")
	s.press("enter")
	s.mustShow("write the changelog")
	if strings.Contains(s.text(), "make the button blue") {
		t.Errorf("the filter lets everything through:\n%s", s.text())
	}
	s.press("esc")
	s.mustShow("make the button blue")
}

// A key that answers requests says why it does nothing where nothing is asked.
func TestKeyThatAnswersNothingSaysWhy(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.fillDay()
	for i, want := range []string{"", "", "The agent asks this in its own terminal; g takes you there.",
		"Nothing is asked here. Tab goes to the next one that waits for you."} {
		s.wait(time.Second)
		if want != "" {
			s.press("a")
			if s.model.status != want {
				t.Errorf("row %d: the view says %q, want %q", i+1, s.model.status, want)
			}
		}
		s.press("down")
	}
}
