package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// However short the list is, it counts the requests that don't fit.
func TestShortListCountsWaiting(t *testing.T) {
	for height := 12; height < 26; height++ {
		s := newScreen(t, 60, height)
		for i := range 6 {
			s.arrive(s.request(fmt.Sprintf("k%d", i), nil))
		}
		for range 6 {
			lines, hidden := frame{s.model}.shownLines(s.model.layout().list.height)
			shown, said := 0, len(hidden)
			for _, line := range lines {
				if line.row >= 0 && line.part == 0 {
					shown++
				}
				said += line.more + len(line.above)
			}
			if room := s.model.layout().list.height; len(lines) > room {
				t.Fatalf("%d lines in a list of %d", len(lines), room)
			}
			if shown < 1 || shown+said != 6 {
				t.Errorf("60×%d: %d shown and %d counted, want 6 in all:\n%s", height, shown, said, s.text())
			}
			s.press("down")
		}
	}
	s := newScreen(t, 60, 15)
	for i := range 4 {
		s.arrive(s.request(fmt.Sprintf("k%d", i), nil))
	}
	s.mustShow("more waiting")
}

// A title's count names the rows above it if they're in another section.
func TestTitleCountsBySection(t *testing.T) {
	s := newScreen(t, 80, 16)
	var list []wire.Session
	for i, status := range []string{"running", "running", "running", "done", "done", "done", "done", "done"} {
		list = append(list, wire.Session{ID: fmt.Sprint("s", i), Agent: "claude", Status: status, Title: fmt.Sprint(status, i),
			StartedAt: noon, Since: noon, Turn: &wire.Turn{Started: noon, Ended: &noon}})
	}
	s.send(sessionsMsg(list))
	seen := 0
	for range list {
		for line := range strings.SplitSeq(s.text(), "\n") {
			if strings.HasPrefix(line, " Done  ↑ 3 running") {
				seen++
			}
			if strings.HasPrefix(line, " Done  ↑ 3 more") {
				t.Errorf("running rows are counted as done:\n%s", s.text())
			}
		}
		s.press("down")
	}
	if seen == 0 {
		t.Errorf("no title counts the running rows above it:\n%s", s.text())
	}
}

// Esc says nothing: that nothing happened is what it's for.
func TestEscSaysNothing(t *testing.T) {
	s := newScreen(t, 80, 24)
	s.arrive(s.request("k1", nil))
	s.wait(time.Second)
	s.press("A")
	if s.model.mode != modeConfirm {
		t.Fatalf("A leads to mode %d, want a confirmation", s.model.mode)
	}
	s.press("esc")
	if s.model.mode != modeList || s.model.status != "" {
		t.Errorf("Esc leaves mode %d and says %q", s.model.mode, s.model.status)
	}
	s.press("B")
	s.mustShow("B needs at least two harmless requests.")
}
