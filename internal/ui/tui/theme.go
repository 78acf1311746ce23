package tui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/hookmux/hookmux/internal/wire"
)

// The view draws with the terminal's own sixteen colours; a palette makes them readable on the
// background if that's known. A hue has one meaning: amber wants a yes, red is dangerous or
// went wrong, blue is a question, purple a plan, green went well; teal is hookmux's own, such
// as keys and the cursor.
var (
	styleBold    = lipgloss.NewStyle().Bold(true)
	styleFaint   = lipgloss.NewStyle().Faint(true)
	styleEdge    = lipgloss.NewStyle().Faint(true).Foreground(lipgloss.BrightBlack)
	styleWaiting = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	styleFailed  = lipgloss.NewStyle().Foreground(lipgloss.Red)
	styleDone    = lipgloss.NewStyle().Foreground(lipgloss.Green)
	styleAccent  = lipgloss.NewStyle().Foreground(lipgloss.Cyan).Bold(true) // cursor and keys
	styleAsks    = lipgloss.NewStyle().Foreground(lipgloss.Blue)            // questions and forms
	styleAdded   = lipgloss.NewStyle().Foreground(lipgloss.Green).Background(lipgloss.Green)
	styleGone    = lipgloss.NewStyle().Foreground(lipgloss.Red).Background(lipgloss.Red)
	stylePlan    = lipgloss.NewStyle().Foreground(lipgloss.Magenta)
	styleBadge   = lipgloss.NewStyle().Foreground(lipgloss.Cyan).Bold(true).Reverse(true)
	stylePlain   = lipgloss.NewStyle()
	styleCaret   = lipgloss.NewStyle().Reverse(true)
	// Bars across the screen.
	styleOffBar  = lipgloss.NewStyle().Foreground(lipgloss.Red).Bold(true).Reverse(true)
	styleAwayBar = lipgloss.NewStyle().Foreground(lipgloss.Yellow).Bold(true).Reverse(true)
	// In commands and plans.
	styleLiteral = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
)

const (
	edgeCodes = "2;90" // of styleEdge
	// Backgrounds, which only a palette has: of the selected row, and of changed lines.
	chosenCode, addedCode, goneCode = 100, 42, 41
)

// onChosen draws a line on the selected row's background.
func onChosen(line string, width int) string {
	const begin, end = "\x1b[100m", "\x1b[m"
	return begin + strings.ReplaceAll(padRight(line, width), end, end+begin) + end
}

// sign returns how a section marks its rows.
func (s section) sign() (string, lipgloss.Style) {
	switch s {
	case sectionWaiting:
		return "▲", styleWaiting
	case sectionFailed:
		return "✗", styleFailed
	case sectionRunning:
		return "●", stylePlain
	case sectionDone:
		return "✓", styleDone
	case sectionUnknown:
		return "?", styleFaint
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

// kindOf returns what a request wants: a yes, an answer, a look at a plan, or a form filled in.
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
		return kindInfo{"!", "permission", styleFailed.Bold(true)}
	}
	return kindInfo{"▲", "permission", styleWaiting}
}

// The risks of a request ([wire.InboxRequest.Risk]).
const (
	riskHigh = "high"
	riskLow  = "low"
)

// sign returns how a row is marked.
func (r *row) sign() (string, lipgloss.Style) {
	if r.decided != nil {
		if r.decided.Verdict == "deny" {
			return "✗", styleFailed
		}
		return "✓", styleDone
	}
	if r.request != nil {
		k := kindOf(r.request)
		return k.mark, k.style
	}
	return r.section.sign()
}
