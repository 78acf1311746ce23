package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// A key means what stood on the screen when a person decided to press it. None of these
// may answer what came later.
func TestKeysThatMeantSomethingElse(t *testing.T) {
	hold := func(s *screen, key string, each func()) {
		for range 60 { // two seconds, 30 times a second
			s.press(key)
			each()
			s.wait(33 * time.Millisecond)
		}
	}
	for _, c := range []struct {
		name string
		most int // answers
		do   func(s *screen)
	}{
		{"a page comes while a filter is typed", 0, func(s *screen) {
			s.arrive(s.request("k1", nil))
			s.send(noteMsg{Ready: &client.InboxReady{Attached: true, Away: true}})
			s.wait(time.Second)
			_, late := s.model.Update(tea.KeyPressMsg{Code: 'w', Text: "w"})
			s.press("/", "m")
			for _, m := range runCommand(late) {
				s.send(m)
			}
			s.typeText("aain")
		}},
		{"a is held", 1, func(s *screen) {
			var items []*wire.InboxRequest
			for i := range 4 {
				items = append(items, s.request(fmt.Sprintf("k%d", i), nil))
				s.arrive(items[i])
			}
			s.wait(time.Second)
			ended := 0
			hold(s, "a", func() {
				for ; ended < len(s.daemon.replies); ended++ {
					for _, item := range items {
						if item.ID == s.daemon.replies[ended].ID {
							s.end(item)
						}
					}
				}
			})
		}},
		{"a is held, as slow keyboards repeat", 1, func(s *screen) { holdAsKeyboards(s, 660*time.Millisecond, 100*time.Millisecond) }},
		{"a is held, as fast keyboards repeat", 1, func(s *screen) { holdAsKeyboards(s, 225*time.Millisecond, 15*time.Millisecond) }},
		{"a is held, as most keyboards repeat", 1, func(s *screen) { holdAsKeyboards(s, 500*time.Millisecond, 33*time.Millisecond) }},
		{"B is held", 0, func(s *screen) {
			for i := range 3 {
				s.arrive(s.request(fmt.Sprintf("k%d", i), nil))
			}
			s.wait(time.Second)
			hold(s, "B", func() {})
		}},
		{"a is pressed again half a second later", 1, func(s *screen) {
			one := s.request("k1", nil)
			s.arrive(one)
			s.arrive(s.request("k2", nil))
			s.wait(time.Second)
			s.press("a")
			s.end(one)
			s.wait(450 * time.Millisecond) // the user may still see k1
			s.press("a")
		}},
		{"the rest of a code is typed", 0, func(s *screen) {
			s.arrive(s.request("k1", nil))
			s.send(infoMsg{&client.Info{}})
			s.wait(time.Second)
			s.press("O")
			s.wait(time.Second)
			s.press("enter") // the daemon asks, and gives up
			if s.atTerminal != 1 {
				t.Fatalf("the screen was left to the daemon %d times, want once", s.atTerminal)
			}
			s.press("a")
		}},
		{"a note changes while several are approved", 1, func(s *screen) {
			one := s.request("k1", nil)
			s.arrive(one)
			s.arrive(s.request("k2", nil))
			s.wait(time.Second)
			s.press("B")
			s.wait(time.Second)
			changed := *one
			changed.Note = "the caller of this is not the agent it says"
			s.arrive(&changed)
			s.press("B")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScreen(t, 120, 24)
			c.do(s)
			if n := len(s.daemon.replies); n > c.most {
				t.Errorf("%d answers, want at most %d: %s", n, c.most, toJSON(s.daemon.replies))
			}
		})
	}
}

// holdAsKeyboards holds a for some seconds while four requests wait: a keyboard sends the
// key once, waits, and then repeats it.
func holdAsKeyboards(s *screen, delay, rate time.Duration) {
	items := s.fourRequests()
	s.press("a")
	s.endAnswered(items)
	for pause, left := delay, 4*time.Second; left > 0; pause, left = rate, left-pause {
		s.wait(pause)
		s.press("a")
		s.endAnswered(items)
	}
	s.wait(time.Second)
}

// fourRequests arrive, and are on the screen for a while.
func (s *screen) fourRequests() []*wire.InboxRequest {
	var items []*wire.InboxRequest
	for i := range 4 {
		items = append(items, s.request(fmt.Sprintf("k%d", i), nil))
		s.arrive(items[i])
	}
	s.wait(time.Second)
	return items
}

// endAnswered takes away what was answered, as the daemon does.
func (s *screen) endAnswered(items []*wire.InboxRequest) {
	for _, reply := range s.daemon.replies {
		for _, item := range items {
			if item.ID == reply.ID && s.model.board.findRequest(item.ID) != nil {
				s.end(item)
			}
		}
	}
}

// You approve four requests one after the other, each after a short look. Who is too fast
// for some only has to go on pressing.
func TestFourApprovedInARow(t *testing.T) {
	for _, c := range []struct{ pace, presses int }{{650, 4}, {700, 4}, {800, 4}, {1200, 4}, {500, 9}, {300, 20}} {
		s := newScreen(t, 120, 24)
		items := s.fourRequests()
		for range c.presses {
			s.press("a")
			s.endAnswered(items)
			s.wait(quietTime)
			s.endAnswered(items)
			s.wait(time.Duration(c.pace)*time.Millisecond - quietTime)
		}
		if n := len(s.daemon.replies); n != 4 {
			t.Errorf("a pressed %d times, once in %d ms, approved %d of 4 requests; the screen:\n%s", c.presses, c.pace, n, s.text())
		}
	}
}

// A key that asks to be pressed again is pressed again at once by most people.
func TestConfirmedAtAnyPace(t *testing.T) {
	for _, pace := range []time.Duration{450, 600, 900} {
		s := newScreen(t, 120, 24)
		s.send(sessionsMsg{{ID: "s1", Title: "x", Agent: "claude", Status: "done"}})
		s.press("F")
		s.wait(pace * time.Millisecond)
		s.press("F")
		s.wait(time.Second)
		if len(s.daemon.forgot) != 1 {
			t.Errorf("F pressed twice, %d ms apart, forgot %v, want the session", pace, s.daemon.forgot)
		}
	}
}

// What a terminal sends by itself when a program writes to it, such as its name or the colour
// that the program gave it before, answers nothing.
func TestWhatATerminalSendsAnswersNothing(t *testing.T) {
	plan := func(r *wire.InboxRequest) { r.Kind, r.Choices = "plan", []string{"once", "auto-edit", "deny"} }
	for _, text := range []string{"PuTTY", "xa", "1;2a"} {
		for _, change := range []func(*wire.InboxRequest){nil, plan} {
			s := newScreen(t, 120, 24)
			s.arrive(s.request("k1", change))
			s.wait(time.Second)
			for _, r := range text {
				s.pressAtOnce(string(r))
			}
			s.wait(time.Second)
			if len(s.daemon.replies) > 0 {
				t.Errorf("%q answered: %s", text, toJSON(s.daemon.replies))
			}
			s.press("Y")
			s.press("a")
			s.wait(time.Second)
			if len(s.daemon.replies) != 1 {
				t.Errorf("after %q a key answers no more: %s", text, s.text())
			}
		}
	}
}

func TestHeldKeyForgetsNothing(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.arrive(s.request("k1", nil))
	s.send(sessionsMsg{{ID: "session-k1", Title: "x", Agent: "claude"}})
	s.wait(time.Second)
	for range 20 {
		s.press("F")
		s.wait(33 * time.Millisecond)
	}
	if len(s.daemon.forgot) > 0 {
		t.Errorf("a held F forgot %v, want nothing", s.daemon.forgot)
	}
}

// Characters that terminals draw wider than they look push nothing off the screen that
// is approved then.
func TestWideCharactersHideNothing(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 30}, {200, 50}} {
		for _, sign := range []string{"☰", "䷀", "𝌆", "⚊"} {
			s := newScreen(t, size[0], size[1])
			end := "'; rm -rf ~/work #"
			fill := s.model.layout().detail.width - len("  $ echo '") - len(end)
			s.arrive(s.request("k1", func(r *wire.InboxRequest) {
				r.Shown = "Claude Code wants to run a command with Bash\n  $ echo '" + strings.Repeat(sign, fill) + end + "\n"
			}))
			s.wait(time.Second)
			s.press("a")
			if !strings.Contains(s.text(), "rm -rf") && len(s.daemon.replies) > 0 {
				t.Errorf("%s at %v: approved, and its end was not on the screen:\n%s", sign, size, s.text())
			}
		}
	}
}

// The marks of wrapped lines are the view's own.
func TestMarksAreNotForged(t *testing.T) {
	s := newScreen(t, 60, 30)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) {
		r.Shown = "Claude\n  $ rm -rf " + strings.Repeat("a", 43) + "/build¬ /etc\n"
		r.Note = "↪ and the rest"
	}))
	if text := s.text(); !strings.Contains(text, `\u00ac`) || !strings.Contains(text, `\u21aa`) ||
		strings.Contains(text, "build¬") {
		t.Errorf("marks in an agent's text are not written differently:\n%s", text)
	}
}

// What the agent said before stands below its request, also when that was a turn ago.
func TestLastWordsStandBelowTheRequest(t *testing.T) {
	s := newScreen(t, 120, 30)
	s.arrive(s.request("k1", nil))
	s.send(sessionsMsg{{ID: "session-k1", Title: "x", Agent: "claude", Turn: &wire.Turn{N: 2},
		LastWords: "The tests pass; shall I push?"}})
	s.mustShow("It said")
	s.mustShow("The tests pass; shall I push?")
}
