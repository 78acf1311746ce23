package tui

import (
	"strings"
	"testing"
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
