package tui

import (
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// The view uses the terminal's own sixteen colours: they suit light and dark
// backgrounds, and whatever you chose for them. It never sets a background; bars are
// reversed text.
var (
	styleBold    = lipgloss.NewStyle().Bold(true)
	styleFaint   = lipgloss.NewStyle().Faint(true)
	styleWaiting = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	styleFailed  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	styleRunning = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	styleDone    = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleAccent  = lipgloss.NewStyle().Foreground(lipgloss.BrightBlue).Bold(true) // cursor and keys
	styleAsks    = lipgloss.NewStyle().Foreground(lipgloss.BrightBlue)            // questions and forms
	stylePlan    = lipgloss.NewStyle().Foreground(lipgloss.Magenta)
	styleReverse = lipgloss.NewStyle().Reverse(true)
	styleBadge   = lipgloss.NewStyle().Foreground(lipgloss.BrightBlue).Bold(true).Reverse(true)
	stylePlain   = lipgloss.NewStyle()
	// Bars across the screen.
	styleOffBar  = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true).Reverse(true)
	styleAwayBar = lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true).Reverse(true)
	// In commands and plans.
	styleDanger   = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true)
	styleVariable = lipgloss.NewStyle().Foreground(lipgloss.Blue)
	styleOperator = lipgloss.NewStyle().Foreground(lipgloss.Magenta)
	styleHeading  = lipgloss.NewStyle().Foreground(lipgloss.Magenta).Bold(true)
)

// agentStyle is the agent's own colour, the same as in `hookmux log`.
func agentStyle(name string) lipgloss.Style {
	return lipgloss.NewStyle().Foreground(ansi.BasicColor(text.AgentColour(name)))
}

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

// kindInfo is how a kind of request looks.
type kindInfo struct {
	mark, word string
	style      lipgloss.Style
}

// kindOf is what a request wants: a yes, an answer, a look at a plan, or a form filled in.
func kindOf(item *wire.InboxRequest) kindInfo {
	switch {
	case isWindow(item):
		return kindInfo{"△", "asks in its own terminal", styleWaiting}
	case item.Kind == "plan":
		return kindInfo{"≡", "plan", stylePlan}
	case item.Kind == "question" && item.Tool == "":
		return kindInfo{"✎", "form", styleAsks}
	case item.Kind == "question":
		return kindInfo{"?", "question", styleAsks}
	case item.Risk == riskHigh:
		return kindInfo{"▲", "permission", styleFailed}
	}
	return kindInfo{"▲", "permission", styleWaiting}
}

// The risks of a request ([wire.InboxRequest.Risk]).
const (
	riskHigh = "high"
	riskLow  = "low"
)

// sign is how a row is marked.
func (r *row) sign() (string, lipgloss.Style) {
	if r.request != nil {
		k := kindOf(r.request)
		return k.mark, k.style
	}
	return r.section.sign()
}
