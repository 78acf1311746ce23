package tui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// popup is drawn above the list and the details.
type popup struct {
	room
	title string
	lines []string
	low   bool // below the request: what it's about stays on the screen
}

// popups returns those that are open, one above the other: a form stays in sight while an
// answer to it is typed.
func (f frame) popups() []*popup {
	var open []*popup
	if f.formInPlace(f.layout().detail) {
		return nil
	}
	if f.mode == modeTyping && f.form != nil {
		return append(open, f.popupOf(modeForm)) // the answer is typed in it
	}
	if p := f.popupOf(f.mode); p != nil {
		open = append(open, p)
	}
	return open
}

// popupOf returns the popup of a mode; nil for none.
func (f frame) popupOf(mode mode) *popup {
	switch mode {
	case modeTyping:
		if f.typing.inline {
			return nil
		}
		p := &popup{room: f.lowRoom(), title: f.typing.title, low: true}
		if f.typing.label != "" {
			p.lines = append(indentWrapped("", f.typing.label, p.width), "")
		}
		p.lines = append(p.lines, "› "+f.typing.input.render(p.width-2))
		return p
	case modeConfirm:
		r := f.popupRoom()
		return &popup{room: r, title: f.confirm.title, lines: f.confirmLines(r.width)}
	case modeForm:
		r := f.popupRoom()
		return &popup{room: r, title: termsafe.Line(f.form.title, r.width), lines: f.form.visibleLines(r.width, r.height, f.typed())}
	case modeBatch:
		r := f.popupRoom()
		p := page{body: f.batch.bodyFor(f.Model, r.width)}
		return &popup{room: r, title: f.batch.title(), lines: p.visible(f.batch.scroll, min(r.height, p.length()))}
	case modePage:
		r := f.popupRoom()
		p := page{head: f.reading.wrapped(r)}
		return &popup{room: r, title: f.reading.title, lines: p.visible(f.reading.scroll, min(r.height, p.length()))}
	case modeStart:
		r := f.popupRoom()
		return &popup{room: r, title: "Start an agent", lines: f.starting.lines(r.width)}
	}
	return nil
}

// draw puts the popup over the lines of a screen.
func (p *popup) draw(screen []string, width int) {
	content := p.lines[:min(len(p.lines), p.height)]
	if !p.framed && p.low {
		content = append([]string{titledRule(width, styleBold.Render(p.title), "")}, content...)
		for i, line := range content {
			if y := p.top + p.height - len(content) + i; y >= 0 && y < len(screen) {
				screen[y] = line
			}
		}
		return
	}
	if !p.framed {
		for i := range p.height {
			if y := p.top + i; y < len(screen) {
				screen[y] = ""
				if i < len(content) {
					screen[y] = content[i]
				}
			}
		}
		return
	}
	top, bottom := p.top-1, p.top+p.height // of the frame at its largest
	first := top + (p.height-len(content))/3
	if p.low {
		first = max(bottom-len(content)-1, 0)
	} else {
		for y := range screen {
			screen[y] = styleEdge.Render(ansi.Strip(screen[y]))
		}
	}
	box := p.box(content)
	for i, line := range box {
		if y := first + i; y < len(screen) {
			screen[y] = overlay(screen[y], line, p.left-2, width)
		}
	}
}

// box frames lines.
func (p *popup) box(content []string) []string {
	title := ansi.Truncate(p.title, max(p.width-4, 0), "…")
	edge := styleAccent.Render
	out := []string{edge("╭─ ") + styleBold.Render(title) + edge(" "+strings.Repeat("─", max(0, p.width-1-ansi.StringWidth(title)))+"╮")}
	for _, line := range content {
		out = append(out, edge("│ ")+padRight(ansi.Truncate(line, p.width, "…"), p.width)+edge(" │"))
	}
	return append(out, edge("╰"+strings.Repeat("─", p.width+2)+"╯"))
}

// overlay puts a line over another, from a column on.
func overlay(under, over string, left, width int) string {
	before := padRight(ansi.Truncate(under, left, ""), left)
	after := ansi.TruncateLeft(under, left+ansi.StringWidth(over), "")
	return before + "\x1b[m" + over + ansi.Truncate(after, max(0, width-left-ansi.StringWidth(over)), "")
}
