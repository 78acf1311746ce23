package tui

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// list is what stands in the list: the rows that are not folded away, and the lines
// they take. It is made anew only when something changed.
type list struct {
	rows   []row
	lines  []listLine
	counts [sectionCount]int // of all rows, shown or not

	changes int // of the board it was made of
	filter  string
	history bool
}

// listLine is a line of the list; row is -1 for a section's title.
type listLine struct {
	row     int
	section section // of a title
	second  bool    // the second line of the row
}

// newList puts the rows in order.
func newList(b *board, filter string, history bool) *list {
	l := &list{changes: b.changes, filter: filter, history: history}
	for _, r := range b.listRows() {
		l.counts[r.section]++
		if r.section >= sectionAnswered && !history || filter != "" && !r.matches(filter) {
			continue
		}
		if n := len(l.rows); n == 0 || l.rows[n-1].section != r.section {
			l.lines = append(l.lines, listLine{row: -1, section: r.section})
		}
		l.lines = append(l.lines, listLine{row: len(l.rows)}, listLine{row: len(l.rows), second: true})
		l.rows = append(l.rows, r)
	}
	if l.counts[sectionEnded] > 0 && !history && filter == "" {
		l.lines = append(l.lines, listLine{row: -1, section: sectionCount})
	}
	return l
}

// isCurrent tells whether nothing changed since the list was made.
func (l *list) isCurrent(b *board, filter string, history bool) bool {
	return l.changes == b.changes && l.filter == filter && l.history == history
}

// titleText is a line above rows, or below all of them.
func (f frame) titleText(line listLine) string {
	if line.section == sectionCount {
		return styleFaint.Render(fmt.Sprintf("%d ended · h shows them", f.list.counts[sectionEnded]))
	}
	return styleFaint.Render(sectionTitles[line.section])
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
	if project := r.project(); project != "" && width >= 60 {
		about = append(about, termsafe.Line(project, 24))
	}
	if doing := doingText(r); doing != "" {
		about = append(about, doing)
	}
	second := cursor + "  " + styleFaint.Render(ansi.Truncate(strings.Join(about, " · "), max(width-4, 4), "…"))
	return first, second
}

// doingText is what a session does now, what it asks, or what was answered.
func doingText(r *row) string {
	switch {
	case r.decided != nil:
		return r.decided.inWords() + ": " + commandOf(r.decided.Shown)
	case r.request == nil:
		return termsafe.Line(text.Doing(r.session), 200)
	case isWindow(r.request):
		return windowAbout(r.request)
	}
	return requestAbout(r.request)
}

// windowAbout is what stands in an agent's own window: what is asked comes first,
// since the line may be cut.
func windowAbout(item *wire.InboxRequest) string {
	if item.Asked != "" {
		return "in its window: " + termsafe.Line(item.Asked, 200)
	}
	return termsafe.Line(item.About(), 200)
}

// requestAbout is what a request is about in a few words: the question, the
// command, or what the first line says. It may be cut: it is no place to decide.
func requestAbout(item *wire.InboxRequest) string {
	if len(item.Questions) > 0 {
		return termsafe.Line(item.Questions[0].Text, 200)
	}
	return commandOf(item.Shown)
}

// commandOf is the first command of a card, or what the card begins with.
func commandOf(card string) string {
	card = card[:min(len(card), 4096)]
	for line := range wire.CardLines(card) {
		if line.Kind == wire.CommandLine {
			return termsafe.Line("$ "+line.Command(), 200)
		}
	}
	return text.Style{}.About(&wire.InboxRequest{Shown: card})
}

// visibleList are the lines of the list that fit, with the selected row among them.
func (f frame) visibleList(place area) []string {
	lines := f.list.lines
	first, last := -1, -1
	for i, l := range lines {
		if l.row >= 0 && f.list.rows[l.row].key() == f.selected {
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
	var top, below string
	for i := f.listTop; i < len(lines) && len(out) < place.height; i++ {
		switch l := lines[i]; {
		case l.row < 0:
			out = append(out, f.titleText(l))
			continue
		case !l.second || i == f.listTop:
			top, below = f.rowLines(&f.list.rows[l.row], place.width)
		}
		if lines[i].second {
			out = append(out, below)
		} else {
			out = append(out, top)
		}
	}
	return fill(out, place.height)
}
