package tui

import "charm.land/lipgloss/v2"

// The view uses the terminal's own sixteen colours: they fit a light and a dark
// background alike, and whatever the person chose for them.
var (
	styleBold    = lipgloss.NewStyle().Bold(true)
	styleFaint   = lipgloss.NewStyle().Faint(true)
	styleWaiting = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	styleFailed  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	styleRunning = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	styleDone    = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleCursor  = lipgloss.NewStyle().Foreground(lipgloss.Blue).Bold(true)
	styleReverse = lipgloss.NewStyle().Reverse(true)
	stylePlain   = lipgloss.NewStyle()
	// In commands.
	styleVariable = lipgloss.NewStyle().Foreground(lipgloss.Blue)
	styleOperator = lipgloss.NewStyle().Foreground(lipgloss.Magenta)
)

// sign is how a section marks its rows.
func (s section) sign() (string, lipgloss.Style) {
	switch s {
	case sectionWaiting:
		return "▲", styleWaiting
	case sectionFailed:
		return "✗", styleFailed
	case sectionRunning:
		return "●", styleRunning
	case sectionDone:
		return "✓", styleDone
	case sectionEnded, sectionAnswered:
		return "-", styleFaint
	}
	return "○", stylePlain
}
