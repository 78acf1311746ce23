package tui

import (
	tea "charm.land/bubbletea/v2"
	"github.com/hookmux/hookmux/internal/termsafe"
)

// reading is a text that has the screen for a while: what is wrong, what happened
// while the person was away.
type reading struct {
	title  string
	lines  []string
	scroll int
}

func (m *Model) openPage(title string, lines []string) {
	m.mode, m.reading = modePage, reading{title: title, lines: lines}
}

// wrapped are the lines for so many columns.
func (r *reading) wrapped(width int) []string {
	return wrapStyled(append([]string{styleBold.Render(r.title), ""}, r.lines...), width)
}

// handlePageKey is a key while something is read: it turns the page, or goes back.
func handlePageKey(m *Model, key string) tea.Cmd {
	last := max(0, len(m.reading.wrapped(m.width))-m.bodyHeight())
	step := max(1, m.bodyHeight()-1)
	switch key {
	case "space", "pgdown", "down", "j":
		m.reading.scroll = min(m.reading.scroll+step, last)
	case "b", "pgup", "up", "k":
		m.reading.scroll = max(m.reading.scroll-step, 0)
	default:
		m.mode = modeList
	}
	return nil
}

// showProblems shows what `hookmux status` calls problems, each with its remedy.
func showProblems(m *Model) tea.Cmd {
	var lines []string
	for _, p := range m.info.Problems {
		lines = append(lines, styleWaiting.Render("! ")+termsafe.Line(p.What, 0))
		if p.Fix != "" {
			lines = append(lines, "  → "+termsafe.Line(p.Fix, 0))
		}
		lines = append(lines, "")
	}
	m.openPage("What is wrong", lines)
	return nil
}
