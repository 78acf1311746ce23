package text

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// The list of agents fits every terminal from 60 to 240 columns, a line an agent,
// without colours where none are wanted.
func TestAgentsFitTheTerminal(t *testing.T) {
	now := time.Unix(1800000000, 0)
	last := now.Add(-26 * time.Hour)
	list := []AgentRow{
		{Name: "claude", Here: true, Version: "2.1.325", Hooked: "yes", Can: "answer", Last: &last,
			Verified: "2.1.325", Day: "2026-11-15"},
		{Name: "openclaw", Here: true, Version: "2026.11.6", Hooked: "not all", Wrong: true, Can: "observe",
			Verified: "2026.9.6", Day: "2026-11-15", Newer: true},
		{Name: "an-agent-with-a-long-name", Hooked: "no", Can: "block only"},
	}
	for width := 60; width <= 240; width++ {
		var b strings.Builder
		Style{Width: width}.Agents(&b, list, now)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		for _, line := range lines {
			if n := termsafe.Width(line); n > width {
				t.Errorf("at %d columns a line has %d: %q", width, n, line)
			}
		}
		if strings.Contains(b.String(), "\x1b") {
			t.Errorf("at %d columns there are colours, want none:\n%q", width, b.String())
		}
		for _, name := range []string{"claude", "openclaw", "an-agent-with-a-lon"} {
			if !strings.Contains(b.String(), "\n"+name) {
				t.Errorf("at %d columns no line begins with %s:\n%s", width, name, b.String())
			}
		}
	}
	var b strings.Builder
	Style{Color: true}.Agents(&b, list, now)
	if !strings.Contains(b.String(), "\x1b[31mopenclaw") || !strings.Contains(b.String(), "\x1b[2man-agent") {
		t.Errorf("with colours:\n%q\nwant openclaw red and what is not here dim", b.String())
	}
}

// Sections wrap at the terminal's width.
func TestSectionsFitTheTerminal(t *testing.T) {
	for width := 60; width <= 240; width++ {
		var b strings.Builder
		Style{Width: width}.Sections(&b, []Section{
			{"events", [][]string{{"PreToolUse", "✓", "tool.before", strings.Repeat("long words ", 40)}}},
			{"limits", [][]string{{fmt.Sprint("waits 30 s: ", strings.Repeat("SessionStart ", 30))}}},
			{"empty", nil},
		})
		for _, line := range strings.Split(b.String(), "\n") {
			if n := termsafe.Width(line); n > width {
				t.Errorf("at %d columns a line has %d: %q", width, n, line)
			}
		}
		if strings.Contains(b.String(), "empty") {
			t.Errorf("a section without rows is shown:\n%s", b.String())
		}
	}
}
