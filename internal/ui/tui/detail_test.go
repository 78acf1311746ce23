package tui

import (
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/wire"
)

// Where not everything fits below a request, no title is the last line.
func TestNoTitleIsAlone(t *testing.T) {
	seen := 0
	for height := 14; height < 44; height++ {
		s := newScreen(t, 80, height)
		states["danger"](s)
		lines := strings.Split(s.text(), "\n")
		for i, line := range lines[:len(lines)-1] {
			for _, title := range []string{"─ Last steps ─", "─ It said ─", "─ About ─"} {
				if !strings.Contains(line, title) {
					continue
				}
				if seen++; strings.TrimSpace(lines[i+1]) == "" {
					t.Errorf("%d lines: nothing is below %q:\n%s", height, title, s.text())
				}
			}
		}
	}
	if seen == 0 {
		t.Error("no title was seen")
	}
}

// A plan's keys are shown once: below it only where the line at the bottom has no room for all.
func TestPlanKeysAreShownOnce(t *testing.T) {
	for width, below := range map[int]bool{40: true, 80: false, 120: false} {
		s := newScreen(t, width, 24)
		states["plan"](s)
		if got := strings.Contains(s.text(), "accept and review each edit"); got != below {
			t.Errorf("%d columns: a list of the keys below the plan: %v, want %v:\n%s", width, got, below, s.text())
		}
		if !below {
			s.mustShow("a accept", "u accept, allow edits", "m accept and review", "d send back")
		}
	}
}

// A span under a second isn't "for now".
func TestStateText(t *testing.T) {
	for _, c := range []struct {
		section section
		age     time.Duration
		want    string
	}{
		{sectionRunning, 0, "just started"},
		{sectionRunning, 3 * time.Second, "running for 3s"},
		{sectionIdle, 0, "now idle"},
		{sectionIdle, time.Hour, "idle for 1h"},
		{sectionDone, 0, "done just now"},
	} {
		since := noon.Add(-c.age)
		r := &row{section: c.section, session: &wire.Session{Since: since, Turn: &wire.Turn{Started: since, Ended: &since}}}
		if got := stateText(r, noon); got != c.want {
			t.Errorf("section %d after %s: %q, want %q", c.section, c.age, got, c.want)
		}
	}
}
