package tui

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/internal/wire"
)

func sessionsAt(status string, ids ...string) sessionsMsg {
	var list sessionsMsg
	for _, id := range ids {
		list = append(list, wire.Session{ID: id, Agent: "claude", Status: status, Title: "task " + id, Cwd: "/repo",
			StartedAt: noon, Since: noon})
	}
	return list
}

// ofSession makes a request one of a session.
func ofSession(id string) func(*wire.InboxRequest) {
	return func(r *wire.InboxRequest) { r.Session = id }
}

// A cursor that nobody moved goes to what needs the user, and stays there.
func TestUnmovedCursorFollowsTheFirstWaiter(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.send(sessionsAt("running", "s1", "s2", "s3"))
	s.arrive(s.request("k1", ofSession("s3")))
	if s.model.selected != "request k1" {
		t.Fatalf("selected is %q, want the request", s.model.selected)
	}
	s.arrive(s.request("k2", ofSession("s1")))
	if s.model.selected != "request k1" {
		t.Errorf("selected is %q once another asks, want the first", s.model.selected)
	}
	s.press("end")
	chosen := s.model.selected
	s.arrive(s.request("k3", ofSession("other")))
	if s.model.selected != chosen {
		t.Errorf("selected is %q, want %q, where the user went", s.model.selected, chosen)
	}
}

// The cursor stays on a session when it begins to ask, whoever else asks.
func TestCursorStaysOnASessionThatAsks(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.send(sessionsAt("running", "s1", "s2", "s3"))
	s.press("down")
	if s.model.selected != "session s2" {
		t.Fatalf("selected is %q, want session s2", s.model.selected)
	}
	s.arrive(s.request("k1", ofSession("s1")))
	waiting := sessionsAt("waiting", "s2")[0]
	s.send(daemonMsg{sessionMsg(wire.SessionChange{Session: waiting}), noteMsg{Method: wire.NoteInboxReceived,
		Item: s.request("k2", ofSession("s2"))}})
	if s.model.selected != "request k2" {
		t.Errorf("selected is %q, want what session s2 asks", s.model.selected)
	}
}

// Wherever the cursor is, what needs the user is on the screen; where not all of them
// fit, the list says how many more there are.
func TestWaitersAreNeverHidden(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {41, 14}, {60, 30}, {120, 36}, {120, 12}} {
		s := newScreen(t, size[0], size[1])
		var ids []string
		for i := range 40 {
			ids = append(ids, fmt.Sprintf("s%02d", i))
		}
		s.send(sessionsAt("idle", ids...))
		s.press("end")
		s.arrive(s.request("k1", ofSession("s00")))
		s.arrive(s.request("k2", ofSession("s01")))
		for _, key := range []string{"", "up", "up", "home", "down", "down", "down", "end"} {
			if key != "" {
				s.press(key)
			}
			text := s.text()
			if !strings.Contains(text, "▌") {
				t.Errorf("%v after %q: the cursor is not on the screen:\n%s", size, key, text)
			}
			rows := len(regexp.MustCompile(`▲ task s0[01]`).FindAllString(text, -1))
			if more := strings.Contains(text, "more waiting"); rows < 1 || rows < 2 && !more {
				t.Errorf("%v after %q: %d of 2 that wait are shown:\n%s", size, key, rows, text)
			}
		}
	}
}

// A list in which everything fits begins with its first line, whatever size it had before.
func TestListBeginsAtItsTopWhenItFits(t *testing.T) {
	s := newScreen(t, 60, 14)
	s.send(sessionsAt("idle", "s1", "s2", "s3", "s4", "s5"))
	s.press("end")
	s.send(tea.WindowSizeMsg{Width: 60, Height: 40})
	if text := s.text(); !strings.Contains(text, "task s1") || !strings.Contains(text, "task s5") {
		t.Errorf("not all rows are shown:\n%s", text)
	}
}

// Two requests at agents' own prompts have the same hash, none: each shows its own text.
func TestEachWindowShowsItsOwnText(t *testing.T) {
	s := newScreen(t, 120, 36)
	for _, id := range []string{"k1", "k2"} {
		item := s.request(id, nil)
		item.Choices = nil
		item.Status, item.SHA256, item.Shown = wire.InboxPrompt, "", "asks at its own prompt: make "+id+"\n"
		s.arrive(item)
	}
	s.press("home")
	for _, id := range []string{"k1", "k2", "k1"} {
		if text := s.text(); !strings.Contains(text, "own prompt: make "+id) {
			t.Errorf("the text of %s is not shown:\n%s", id, text)
		}
		if id == "k1" {
			s.press("down")
		} else {
			s.press("up")
		}
	}
}

// What happened is said for a while, and then no more.
func TestStatusLineIsForAWhile(t *testing.T) {
	s := newScreen(t, 120, 36)
	s.send(sessionsAt("idle", "s1"))
	s.send(outcomeMsg{text: "typed into its window"})
	s.wait(5 * time.Second)
	s.send(tickMsg{})
	if text := s.text(); !strings.Contains(text, "typed into its window") {
		t.Errorf("after 5 s it is not said:\n%s", text)
	}
	s.wait(6 * time.Second)
	s.send(tickMsg{})
	if text := s.text(); strings.Contains(text, "typed into its window") {
		t.Errorf("after 11 s it is still said:\n%s", text)
	}
}

// The details of a session follow its status at once.
func TestDetailsFollowTheStatus(t *testing.T) {
	s := newScreen(t, 160, 36)
	running := sessionsAt("running", "s1")[0]
	s.daemon.detail = &wire.SessionDetail{Session: running}
	s.send(sessionsAt("running", "s1"))
	before := s.text()
	done := running
	done.Status = wire.StatusDone
	s.send(sessionMsg(wire.SessionChange{Session: done}))
	if text := s.text(); strings.Contains(text, "just started") || !strings.Contains(before, "just started") {
		t.Errorf("it is said to run:\n%s\nwant done; before:\n%s", text, before)
	}
}

// What the agent would save is shown before it is told to.
func TestOwnRuleOfTheAgent(t *testing.T) {
	s := newScreen(t, 120, 36)
	s.arrive(s.request("k1", func(r *wire.InboxRequest) {
		r.Suggestions = append(r.Suggestions, []byte(`["git push:*"]`), []byte(`["git:*"]`))
	}))
	s.wait(2 * time.Second)
	s.press("S", "2", "enter")
	if text := s.text(); !strings.Contains(text, "git:*") {
		t.Fatalf("what would be saved is not shown:\n%s", text)
	}
	s.wait(2 * time.Second)
	s.press("S")
	if len(s.daemon.replies) != 1 || s.daemon.replies[0].Suggestion != 2 || s.daemon.replies[0].Choice != "always" {
		t.Errorf("the daemon was told %+v, want always by the second rule", s.daemon.replies)
	}
}

// After an answer the cursor goes to the next one who waits, also where the session it
// was about still says for a moment that it waits, and also after a form was closed.
func TestCursorGoesOnAfterAnAnswer(t *testing.T) {
	for _, keys := range [][]string{{"1"}, {"enter", "esc", "1"}} {
		s := newScreen(t, 80, 24)
		s.send(sessionsAt("waiting", "s1", "s2", "s3"))
		s.arrive(s.request("k1", ofSession("s1")))
		item := s.request("k2", func(r *wire.InboxRequest) {
			r.Session, r.Kind, r.Choices, r.Questions = "s2", "question", []string{"answer"}, question()
		})
		s.arrive(item)
		s.press("down")
		for _, key := range keys {
			s.wait(time.Second)
			s.press(key)
		}
		if len(s.daemon.replies) != 1 {
			t.Fatalf("%v: %d answers, want one", keys, len(s.daemon.replies))
		}
		s.end(item)
		running := sessionsAt("running", "s2")[0]
		s.send(sessionMsg(wire.SessionChange{Session: running}))
		if s.model.selected != "request k1" && s.model.selected != "session s3" {
			t.Errorf("%v: selected is %q, want another that waits", keys, s.model.selected)
		}
	}
}

// The filter finds what the list shows, and nothing that it doesn't.
func TestFilterMatchesWhatIsShown(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.send(sessionsAt("running", "s1"))
	s.arrive(s.request("k1", func(r *wire.InboxRequest) { r.Agent, r.Session = "codex", "s2" }))
	s.arrive(s.request("k2", ofSession("s1"))) // its text begins with "Claude Code wants"
	for filter, want := range map[string]int{"cod": 1, "CODEX": 1, "task s1": 2, "wants": 0} {
		s.press("/")
		s.typeText(filter)
		s.press("enter")
		if got := len(s.model.list.rows); got != want {
			t.Errorf("%q finds %d rows, want %d", filter, got, want)
		}
		s.press("esc")
	}
}

// However little of the list fits, each row is below the title of its section, and what is left
// out above is counted there.
func TestRowsAreBelowTheirTitles(t *testing.T) {
	s := newScreen(t, 80, 24)
	list := slices.Concat(sessionsAt("running", "r1", "r2"), sessionsAt("done", "d1", "d2", "d3"), sessionsAt("idle", "i1", "i2", "i3"))
	s.send(sessionsMsg(list))
	s.arrive(s.request("k1", nil))
	s.arrive(s.request("k2", nil))
	l := s.model.list
	for height := 5; height <= len(l.lines); height++ {
		for i := range l.rows {
			section, rows, above := noSection, 0, 0
			for _, line := range l.visible(l.rows[i].key(), height) {
				switch {
				case line.row < 0 && line.section != noSection:
					section = line.section
					above += len(line.above) + line.more
				case line.row >= 0:
					if got := l.rows[line.row].section; got != section && got != sectionWaiting {
						t.Errorf("height %d, cursor on %s: %s is below %q", height, l.rows[i].key(), l.rows[line.row].key(), sectionTitles[section])
					}
					rows++
					if line.row != rows+above-1 {
						t.Errorf("height %d, cursor on %s: %d rows and %d counted above row %d", height, l.rows[i].key(), rows-1, above, line.row)
					}
				}
			}
		}
	}
}

// A session of which nobody knows whether it works isn't shown as one at its prompt, and rows
// that say nothing in their last line don't take it.
func TestUnknownIsNotIdle(t *testing.T) {
	s := newScreen(t, 120, 36)
	s.send(append(sessionsAt("idle", "s1", "s2"), sessionsAt("unknown", "s3")...))
	text := s.text()
	for _, want := range []string{"? 1 unknown", "○ 2 idle", "? task s3"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q isn't shown:\n%s", want, text)
		}
	}
	lines := strings.Split(text, "\n")
	for i := range lines[:len(lines)-3] {
		if strings.Contains(lines[i], "task s1") && !strings.Contains(lines[i+3], "task s2") {
			t.Errorf("between two rows of two lines there's more than an empty line:\n%s", text)
		}
	}
}
