package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// listLine is a line of the list; row is -1 for a section's title.
type listLine struct {
	text   string // of a title
	row    int
	second bool // the second line of the row
}

// listLines are all lines of the list: a title for each section, two lines for
// each row. Rows are only drawn once they are on the screen.
func (m *Model) listLines() []listLine {
	var out []listLine
	last := section(-1)
	for i := range m.rows {
		r := &m.rows[i]
		if r.section != last {
			last = r.section
			out = append(out, listLine{styleFaint.Render(sectionTitles[last]), -1, false})
		}
		out = append(out, listLine{"", i, false}, listLine{"", i, true})
	}
	if n := m.board.countEnded(); n > 0 && !m.withEnded && m.filter == "" {
		out = append(out, listLine{styleFaint.Render(fmt.Sprintf("%d ended · e shows them", n)), -1, false})
	}
	return out
}

// rowLines are a row's title with its age, and what it is about.
func (f frame) rowLines(r *row, width int) (string, string) {
	mark, style := r.section.sign()
	cursor := "  "
	title := termsafe.Line(r.title(), 200)
	if r.key() == f.selected {
		cursor = styleCursor.Render("▌ ")
		title = styleBold.Render(title)
	}
	age := ageText(f.opts.Now().Sub(r.since()))
	room := max(width-4-len(age)-1, 4)
	first := cursor + style.Render(mark) + " " + padRight(ansi.Truncate(title, room, "…"), room) + " " +
		styleFaint.Render(age)
	about := []string{termsafe.Line(r.agentName(), 20)}
	if doing := f.doingText(r); doing != "" {
		about = append(about, doing)
	}
	second := cursor + "  " + styleFaint.Render(ansi.Truncate(strings.Join(about, " · "), max(width-4, 4), "…"))
	return first, second
}

// doingText is what a session does now, or what it asks.
func (f frame) doingText(r *row) string {
	if r.request == nil {
		return termsafe.Line(text.Doing(r.session), 200)
	}
	if isWindow(r.request) {
		return "in its own window: " + text.Style{}.About(r.request)
	}
	return requestAbout(r.request)
}

// requestAbout is what a request is about in a few words: the question, the
// command, or what the first line says. It may be cut: it is no place to decide.
func requestAbout(item *wire.FeedItem) string {
	if len(item.Questions) > 0 {
		return termsafe.Line(item.Questions[0].Text, 200)
	}
	for line := range strings.SplitSeq(item.Shown[:min(len(item.Shown), 4096)], "\n") {
		if command, ok := strings.CutPrefix(line, "  $ "); ok {
			return termsafe.Line("$ "+command, 200)
		}
	}
	return text.Style{}.About(item)
}

// visibleList are the lines of the list that fit, with the selected row among them.
func (f frame) visibleList(place area) []string {
	lines := f.listLines()
	first, last := -1, -1
	for i, l := range lines {
		if l.row >= 0 && f.rows[l.row].key() == f.selected {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first >= 0 {
		if first > 0 && lines[first-1].row < 0 {
			first-- // with its section's title
		}
		f.Model.listTop = min(f.listTop, first)
		f.Model.listTop = max(f.listTop, last-place.height+1)
	}
	f.Model.listTop = min(max(f.listTop, 0), max(0, len(lines)-place.height))
	out := make([]string, 0, place.height)
	for i := f.listTop; i < len(lines) && len(out) < place.height; i++ {
		one := lines[i].text
		if lines[i].row >= 0 {
			first, second := f.rowLines(&f.rows[lines[i].row], place.width)
			one = first
			if lines[i].second {
				one = second
			}
		}
		out = append(out, one)
	}
	return fill(out, place.height)
}
