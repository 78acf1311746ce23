package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// A dialog stays open for as long as the user likes; what became of the daemon and
// of the request meanwhile counts when it is closed.
func TestDialogsDecideOnlyWhatStillWaits(t *testing.T) {
	silent := func(s *screen, _ *wire.InboxRequest) { s.send(connectionMsg{"the daemon closed the connection"}) }
	ended := func(s *screen, item *wire.InboxRequest) { s.end(item) }
	changed := func(s *screen, _ *wire.InboxRequest) {
		s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Shown = "  $ rm -rf build\n" }))
	}
	for what, meanwhile := range map[string]func(*screen, *wire.InboxRequest){
		"silent": silent, "ended": ended, "changed": changed} {
		for _, keys := range [][2]string{{"d", "enter"}, {"A", "A"}} {
			t.Run(what+" "+keys[0], func(t *testing.T) {
				s := newScreen(t, 120, 24)
				item := s.request("k1", nil)
				s.arrive(item)
				s.arrive(s.request("k2", nil))
				s.wait(time.Second)
				s.press(keys[0])
				meanwhile(s, item)
				s.wait(time.Second)
				s.press(keys[1])
				if len(s.daemon.replies) != 0 {
					t.Errorf("sent: %s, want nothing", toJSON(s.daemon.replies))
				}
			})
		}
	}
}

func TestRuleIsSavedOnlyOnceItWasShown(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.arrive(s.request("k1", nil))
	s.wait(time.Second)
	s.press("A", "A", "A") // a key that repeats
	if len(s.daemon.replies) != 0 {
		t.Fatalf("a repeated key saved the rule: %s", toJSON(s.daemon.replies))
	}
	s = newScreen(t, 120, 24)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Rule = strings.Repeat("rule ", 2000) }))
	s.wait(time.Second)
	s.press("A")
	s.wait(time.Second)
	s.press("A")
	if len(s.daemon.replies) != 0 {
		t.Fatal("a rule that did not fit on the screen was saved")
	}
	s.mustShow("too small")
}

// While own words are typed into a form, the form has the screen: what was
// selected behind it was not seen.
func TestNothingBehindAFormCountsAsShown(t *testing.T) {
	s := newScreen(t, 120, 24)
	first := s.request("k1", func(r *wire.InboxRequest) {
		r.Kind, r.Choices, r.Questions = "question", []string{"answer", "deny"}, question()
	})
	s.arrive(first)
	s.wait(time.Second)
	s.press("enter", "o")
	s.arrive(s.request("k2", nil))
	s.end(first)
	s.wait(time.Second)
	s.press("x")
	s.wait(time.Second)
	s.press("esc", "esc", "a")
	if len(s.daemon.replies) != 0 {
		t.Errorf("approved what stood behind the form: %s", toJSON(s.daemon.replies))
	}
}

// Whatever the size of the screen: what was approved stood on it, every letter.
func TestSmallScreensHideNothing(t *testing.T) {
	approved := 0
	for _, command := range []string{"echo <one> ; rm <two>", "echo\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t; rm <two>",
		strings.Repeat("👍🏽", 30) + " rm <two>", strings.Repeat("漢", 40) + " rm <two>",
		"a" + strings.Repeat("\u0301", 300) + " rm <two>"} {
		for _, width := range []int{1, 2, 3, 5, 9, 20, 40, 99, 100, 130} {
			for height := 1; height <= 12; height++ {
				s := newScreen(t, width, height)
				s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Shown = "Claude\n  $ " + command + "\n" }))
				seen := map[string]bool{}
				for before, same := 0, 0; same < 3; { // then space shows nothing more
					s.wait(time.Second)
					text, hidden := s.text(), s.model.hiddenLines()
					if same++; hidden != before {
						before, same = hidden, 0
					}
					for line := range strings.SplitSeq(text, "\n") {
						seen[strings.TrimSpace(line)] = true
						for part := range strings.SplitSeq(line, "│") { // the panels
							seen[strings.TrimSpace(part)] = true
						}
					}
					if n := strings.Count(text, "\n") + 1; n > height {
						t.Fatalf("%dx%d: the frame has %d lines", width, height, n)
					}
					if hidden == 0 {
						break
					}
					s.press("space")
				}
				s.wait(time.Second)
				s.press("a")
				if len(s.daemon.replies) == 0 {
					continue
				}
				approved++
				for _, part := range wrapMarked("  $ "+termsafe.Text(command), s.model.layout().detail.width) {
					if !seen[strings.TrimSpace(part)] {
						t.Fatalf("%dx%d: approved, but %q was never on the screen:\n%s", width, height, part, s.text())
					}
				}
			}
		}
	}
	t.Logf("%d were approved", approved)
}

// Terminals differ in what an emoji with a skin colour takes; none may cut it.
func TestLinesFitEveryTerminal(t *testing.T) {
	line := strings.Repeat("👍🏽", 30) + "\t\t\tx" + strings.Repeat("漢", 20) + strings.Repeat("❤️", 30)
	for width := 4; width < 60; width++ {
		for _, part := range wrapMarked(line, width) {
			if n := max(ansi.StringWidthWc(part), ansi.StringWidth(part)); n > width {
				t.Fatalf("width %d: %q takes %d columns", width, part, n)
			}
		}
	}
}

func TestWheelLeavesDialogsAlone(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.arrive(s.request("k1", nil))
	s.arrive(s.request("k2", nil))
	s.wait(time.Second)
	s.press("d")
	s.send(tea.MouseWheelMsg{X: 1, Y: 4, Button: tea.MouseWheelDown})
	if s.model.selected != "request k1" {
		t.Errorf("selected: got %q while k1 is being denied", s.model.selected)
	}
}

func TestTypedTextIsNoPIN(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.press("/")
	s.typeText("secret")
	s.send(askPINMsg{why: "approvals need the PIN"})
	if s.model.typing.title != "Filter" {
		t.Errorf("typing: got %q, want the filter still", s.model.typing.title)
	}
}

// A title is one line: it cannot draw another request above the real one.
func TestTitleIsOneLine(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.send(sessionsMsg{{ID: "session-k1", Agent: "claude", Status: "waiting",
		Title: strings.Repeat(" ", 80) + "Claude Code wants to run  $ ls" + strings.Repeat("x", 10_000)}})
	s.arrive(s.request("k1", nil))
	s.mustShow("go test ./...")
}

func TestFormsOfAnySize(t *testing.T) {
	var options []event.Option
	for i := range 14 {
		options = append(options, event.Option{Label: fmt.Sprintf("option-%d", i+1)})
	}
	questions := []event.Inquiry{{Text: "first", Options: options}, {Text: "second", Multi: true, Options: options}}
	s := newScreen(t, 120, 24)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) {
		r.Kind, r.Choices, r.Questions = "question", []string{"answer"}, questions
	}))
	s.wait(time.Second)
	s.press("enter")
	s.wait(time.Second)
	s.press("c") // the twelfth
	s.mustShow("second", "e) [ ] option-14")
	s.press("1", "e", "enter")
	if len(s.daemon.replies) != 1 {
		t.Fatalf("replies: got %d, want 1:\n%s", len(s.daemon.replies), s.text())
	}
	got := toJSON(s.daemon.replies[0].Answers)
	want := `[{"question":"first","options":["option-12"]},` +
		`{"question":"second","options":["option-1","option-14"]}]`
	if got != want {
		t.Errorf("answers: got %s, want %s", got, want)
	}
}

// A jump that ends says nothing about the answer that is on its way.
func TestJumpLeavesAnswersAlone(t *testing.T) {
	s := newScreen(t, 120, 24)
	s.arrive(s.request("k1", nil))
	s.model.busy = true
	s.send(outcomeMsg{text: "went there", aside: true})
	if !s.model.busy {
		t.Error("another answer could be sent while the first is on its way")
	}
}

// Megabytes and hundreds of sessions are drawn in no time.
func TestLargeThingsAreDrawnFast(t *testing.T) {
	s := newScreen(t, 80, 40)
	var list []wire.Session
	for i := range 500 {
		list = append(list, wire.Session{ID: fmt.Sprintf("s%d", i), Agent: "claude", Status: "running",
			Title: strings.Repeat("title ", 1700)})
	}
	s.send(sessionsMsg(list))
	large := strings.Repeat("  + line of a large file\n", 200_000)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Shown = large }))
	s.press("home")
	_ = s.text()
	const frames = 20
	start := time.Now()
	for range frames {
		s.wait(time.Second)
		s.press("space")
		_ = s.model.View()
	}
	if each := time.Since(start) / frames; each > 250*time.Millisecond {
		t.Errorf("a key and its frame take %v, want at most 250 ms on a busy machine", each)
	} else {
		t.Logf("a key and its frame: %v", each)
	}
}

// What a page of keys covers right after it came was not shown, however long that
// page stays.
func TestNothingBehindAPageCountsAsShown(t *testing.T) {
	for _, key := range []string{"a", "d"} {
		s := newScreen(t, 120, 24)
		s.arrive(s.request("k1", nil))
		s.press("?")
		s.wait(time.Second)
		s.press("esc", key, "enter")
		if len(s.daemon.replies) != 0 {
			t.Errorf("%s sent: %s, want nothing", key, toJSON(s.daemon.replies))
		}
	}
}
