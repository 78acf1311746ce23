package tui

import (
	"slices"
	"strings"
	"unicode"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// lineInput is a line of text being typed. The one of the bubbles library looks
// for clipboard programs whenever a program that links it starts; hookmux starts
// too often for that.
type lineInput struct {
	runes  []rune
	cursor int
	secret bool // shown as dots
}

// maxInput is the longest text that you can type here.
const maxInput = 4000

func newLineInput(value string) lineInput {
	runes := []rune(value)
	return lineInput{runes: runes, cursor: len(runes)}
}

func (l *lineInput) value() string { return string(l.runes) }

// insertText adds typed or pasted text; line breaks become spaces.
func (l *lineInput) insertText(s string) {
	var clean []rune
	for _, r := range strings.ReplaceAll(s, "\r\n", "\n") {
		switch {
		case r == '\n' || r == '\r' || r == '\t':
			clean = append(clean, ' ')
		case !unicode.IsControl(r):
			clean = append(clean, r)
		}
	}
	clean = clean[:min(len(clean), max(0, maxInput-len(l.runes)))]
	l.runes = slices.Insert(l.runes, l.cursor, clean...)
	l.cursor += len(clean)
}

// handleKey takes one key.
func (l *lineInput) handleKey(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "left", "ctrl+b":
		l.cursor = max(l.cursor-1, 0)
	case "right", "ctrl+f":
		l.cursor = min(l.cursor+1, len(l.runes))
	case "home", "ctrl+a":
		l.cursor = 0
	case "end", "ctrl+e":
		l.cursor = len(l.runes)
	case "backspace", "ctrl+h":
		l.deleteBack(max(l.cursor-1, 0))
	case "delete", "ctrl+d":
		if l.cursor < len(l.runes) {
			l.runes = slices.Delete(l.runes, l.cursor, l.cursor+1)
		}
	case "ctrl+w", "alt+backspace":
		l.deleteBack(l.wordStart())
	case "ctrl+u":
		l.deleteBack(0)
	case "ctrl+k":
		l.runes = l.runes[:l.cursor]
	default:
		l.insertText(msg.Text)
	}
}

func (l *lineInput) deleteBack(from int) {
	l.runes = slices.Delete(l.runes, from, l.cursor)
	l.cursor = from
}

func (l *lineInput) wordStart() int {
	i := l.cursor
	for i > 0 && l.runes[i-1] == ' ' {
		i--
	}
	for i > 0 && l.runes[i-1] != ' ' {
		i--
	}
	return i
}

// render shows the text with its cursor in at most width columns.
func (l *lineInput) render(width int) string {
	shown := slices.Clone(l.runes)
	if l.secret {
		for i := range shown {
			shown[i] = '•'
		}
	}
	before, at, after := string(shown[:l.cursor]), " ", ""
	if l.cursor < len(shown) {
		at, after = string(shown[l.cursor]), string(shown[l.cursor+1:])
	}
	before, after = termsafe.Line(before, 0), termsafe.Line(after, 0)
	for termsafe.Width(before) > max(width-2, 1) {
		_, rest, _ := cutFirstRune(before)
		before = rest
	}
	return before + styleCaret.Render(termsafe.Line(at, 0)) + after
}

func cutFirstRune(s string) (string, string, bool) {
	for i := range s {
		if i > 0 {
			return s[:i], s[i:], true
		}
	}
	return s, "", false
}
