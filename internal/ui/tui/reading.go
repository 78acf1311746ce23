package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// reading is a text in a popup: the keys, what is wrong, what happened while you were
// away.
type reading struct {
	title  string
	lines  []string
	scroll int
}

func (m *Model) openPage(title string, lines []string) {
	m.mode, m.reading = modePage, reading{title: title, lines: lines}
}

// wrapped returns the lines for a popup. One without a frame has its title above the text.
func (r *reading) wrapped(in room) []string {
	lines := r.lines
	if !in.framed {
		lines = append([]string{styleBold.Render(r.title), ""}, lines...)
	}
	return wrapStyled(lines, in.width)
}

// hidden returns how many lines are below the popup.
func (r *reading) hidden(m *Model) int {
	in := m.popupRoom()
	return max(0, len(r.wrapped(in))-r.scroll-in.height)
}

// handlePageKey returns a key while something is read: it turns the page, or closes it.
func handlePageKey(m *Model, key string) tea.Cmd {
	in := m.popupRoom()
	last := max(0, len(m.reading.wrapped(in))-in.height)
	page := max(1, in.height-1)
	move := func(n int) { m.reading.scroll = min(max(m.reading.scroll+n, 0), last) }
	switch key {
	case "space", "pgdown":
		move(page)
	case "b", "pgup":
		move(-page)
	case "down", "j":
		move(1)
	case "up", "k":
		move(-1)
	default:
		m.mode = modeList
	}
	return nil
}

// showProblems shows what `hookmux status` calls problems, each with its remedy.
func showProblems(m *Model) tea.Cmd {
	if !m.hasProblems() {
		m.status = "Nothing is wrong."
		return nil
	}
	var lines []string
	for i, p := range m.info.Problems {
		if i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, styleWaiting.Render("! ")+termsafe.Line(p.What, 0))
		if p.Fix != "" {
			lines = append(lines, "  → "+termsafe.Line(p.Fix, 0))
		}
	}
	m.openPage("Problems", lines)
	return nil
}
