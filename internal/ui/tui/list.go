package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// list is what stands in the list: the rows that are not folded away, and the lines
// they take. It is made anew only when something changed.
type list struct {
	rows   []row
	lines  []listLine
	counts [sectionCount]int // of all rows, shown or not

	compact bool // a row has one line

	changes int // of the board it was made of
	listOptions
}

// listOptions are what a list shows, and how.
type listOptions struct {
	filter  string
	history bool
	room    int // so many lines there are: where they aren't enough, a row has one line instead of two
}

// listLine is a line of the list; row is -1 for a section's title.
type listLine struct {
	row     int
	section section // of a title
	second  bool    // the second line of the row
	more    int     // so many more rows need the user than fit
}

// newList puts the rows in order.
func newList(b *board, opts listOptions) *list {
	rows := b.listRows()
	l := layRows(rows, b.changes, opts, opts.room == 0)
	if len(l.lines) > opts.room && !l.compact {
		l = layRows(rows, b.changes, opts, true)
	}
	return l
}

func layRows(rows []row, changes int, opts listOptions, compact bool) *list {
	l := &list{changes: changes, listOptions: opts, compact: compact}
	for _, r := range rows {
		l.counts[r.section]++
		if r.section >= sectionAnswered && !opts.history || opts.filter != "" && !r.matches(opts.filter) {
			continue
		}
		if n := len(l.rows); n == 0 || l.rows[n-1].section != r.section {
			if n > 0 && !compact {
				l.lines = append(l.lines, listLine{row: -1, section: noSection})
			}
			l.lines = append(l.lines, listLine{row: -1, section: r.section})
		}
		l.lines = append(l.lines, listLine{row: len(l.rows)})
		if !compact {
			l.lines = append(l.lines, listLine{row: len(l.rows), second: true})
		}
		l.rows = append(l.rows, r)
	}
	if l.counts[sectionEnded] > 0 && !opts.history && opts.filter == "" {
		if !compact {
			l.lines = append(l.lines, listLine{row: -1, section: noSection})
		}
		l.lines = append(l.lines, listLine{row: -1, section: sectionCount})
	}
	return l
}

// isCurrent reports whether nothing changed since the list was made.
func (l *list) isCurrent(b *board, opts listOptions) bool {
	return l.changes == b.changes && l.listOptions == opts
}

// waitingLines are the lines at the top that show what needs the user.
func (l *list) waitingLines() []listLine {
	for i, line := range l.lines {
		if line.row < 0 && line.section != sectionWaiting || line.row >= 0 && l.rows[line.row].section != sectionWaiting {
			return l.lines[:i]
		}
	}
	return l.lines
}

// visible are the lines that fit, with the selected row among them and as little as
// possible above it left out. What needs the user stays on top, wherever the cursor is.
func (l *list) visible(selected string, height int) []listLine {
	pinned := l.waitingLines()
	rest := l.lines[len(pinned):]
	first, last := l.linesOf(selected, rest)
	if first < 0 {
		_, last = l.linesOf(selected, l.lines)
		return linesDownTo(l.lines, last, height)
	}
	if room := height - (last - first + 1); len(pinned) > room {
		pinned = l.cutWaiting(pinned, max(room, 0))
	}
	return append(slices.Clip(pinned), linesDownTo(rest, last, height-len(pinned))...)
}

// cutWaiting leaves so many lines of those that need the user, and says in the last
// how many do not fit.
func (l *list) cutWaiting(lines []listLine, room int) []listLine {
	if room == 0 {
		return nil
	}
	kept := slices.Clone(lines[:room])
	shown := 0
	for _, line := range kept[:room-1] {
		if line.row >= 0 && !line.second {
			shown++
		}
	}
	kept[room-1] = listLine{row: -1, section: sectionWaiting, more: l.shownWaiting() - shown}
	return kept
}

// shownWaiting is how many rows of the list need the user.
func (l *list) shownWaiting() int {
	n := 0
	for n < len(l.rows) && l.rows[n].section == sectionWaiting {
		n++
	}
	return n
}

// linesOf is where the lines of a row are, from the first to the last; -1 for nowhere.
func (l *list) linesOf(key string, lines []listLine) (first, last int) {
	first, last = -1, -1
	for i, line := range lines {
		if line.row >= 0 && l.rows[line.row].key() == key {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	return first, last
}

// linesDownTo are so many lines, from the first on if the line last is among them then.
func linesDownTo(lines []listLine, last, height int) []listLine {
	top := max(0, last-height+1)
	return lines[top:min(len(lines), top+height)]
}

// titleText is a line above rows, or below all of them.
func (f frame) titleText(line listLine) string {
	switch line.section {
	case noSection:
		return ""
	case sectionCount:
		return styleFaint.Render(fmt.Sprintf(" %d ended · h shows them", f.list.counts[sectionEnded]))
	}
	mark, style := line.section.sign()
	if line.more > 0 {
		return style.Render(fmt.Sprintf(" %s %d more waiting · Tab goes there", mark, line.more))
	}
	if line.section == sectionWaiting {
		return style.Bold(true).Render(" " + sectionTitles[line.section])
	}
	return styleFaint.Render(" " + sectionTitles[line.section])
}

// columns are how wide the columns of a compact list are; zero where it has none.
type columns struct{ title, agent, folder int }

func (c columns) isSet() bool { return c.title > 0 }

// cell is a text in a column, with the space behind it.
func (c columns) cell(text string, width int) string {
	if width == 0 {
		return ""
	}
	return padRight(ansi.Truncate(text, width, "…"), width) + "  "
}

// columnsOf measures the columns of the rows that are shown: agents and folders as wide as
// the widest, up to a limit.
func (f frame) columnsOf(lines []listLine, width int) columns {
	if !f.list.compact || width < 60 {
		return columns{}
	}
	c := columns{title: width * 2 / 5}
	for _, line := range lines {
		if line.row < 0 {
			continue
		}
		r := &f.list.rows[line.row]
		c.agent = max(c.agent, min(ansi.StringWidth(f.whoText(r)), 16))
		c.folder = max(c.folder, min(ansi.StringWidth(termsafe.Line(r.project(), 24)), 10))
	}
	return c
}

// whoText is the agent of a row, with its mode and its machine.
func (f frame) whoText(r *row) string {
	name := termsafe.Line(r.agentName(), 20)
	if r.session != nil {
		name = text.AgentWithMode(r.session)
	}
	if host := r.host(); host != "" {
		name += " on " + termsafe.Line(host, 32)
	}
	return name
}

// rowLines are a row's title with its age, and what it is about: two lines, or one where
// the list is compact.
func (f frame) rowLines(r *row, width int, columns columns) (string, string) {
	mark, style := r.sign()
	cursor := "  "
	title := termsafe.Line(r.title(), 200)
	name := termsafe.Line(r.agentName(), 20)
	if r.session != nil {
		name = text.AgentWithMode(r.session)
	}
	says := agentStyle(r.agentName()).Render(name)
	if host := r.host(); host != "" {
		says += styleFaint.Render(" on " + termsafe.Line(host, 32))
	}
	project := termsafe.Line(r.project(), 24)
	if columns.isSet() {
		says = columns.cell(says, columns.agent) + styleFaint.Render(columns.cell(project, columns.folder)+doingText(r))
	} else {
		for _, part := range []string{project, doingText(r)} {
			if part != "" {
				says += styleFaint.Render(" · " + part)
			}
		}
	}
	age := ageText(f.opts.Now().Sub(r.since()))
	room := max(width-4-len(age)-1, 4)
	if f.list.compact {
		share := room * 3 / 5
		if columns.isSet() {
			share = columns.title
		}
		title = ansi.Truncate(title, share, "…")
		if columns.isSet() {
			title = padRight(title, share)
		}
	}
	switch {
	case r.key() == f.selected:
		cursor = styleAccent.Render("▌ ")
		title = styleBold.Render(title)
	case r.section >= sectionIdle:
		title = styleFaint.Render(title)
	}
	if f.list.compact {
		title += "  " + ansi.Truncate(says, max(room-ansi.StringWidth(title)-2, 0), "…")
	}
	first := cursor + style.Render(mark) + " " + padRight(ansi.Truncate(title, room, "…"), room) + " " +
		styleFaint.Render(age)
	used := r.used()
	if used != "" && width-4-len(used) < 24 {
		used = ""
	}
	second := ansi.Truncate(says, max(width-5-len(used), 4), "…")
	return first, cursor + "  " + padRight(second, max(width-4-len(used), 0)) + styleFaint.Render(used)
}

// used is what the row's session cost, as `hookmux ps` shows it; "" where that's unknown.
func (r *row) used() string {
	if r.session == nil {
		return ""
	}
	return r.session.Usage.Short()
}

// doingText is what a session does now, what it asks, or what was answered.
func doingText(r *row) string {
	switch {
	case r.decided != nil:
		return r.decided.inWords() + ": " + commandOf(r.decided.Shown)
	case r.request == nil:
		return termsafe.Line(text.Doing(r.session), 200)
	case isWindow(r.request):
		return promptAbout(r.request)
	}
	return requestAbout(r.request)
}

// promptAbout is what an agent asks in its own terminal: what is asked comes first,
// since the line may be cut.
func promptAbout(item *wire.InboxRequest) string {
	if item.Asked != "" {
		return "in its terminal: " + termsafe.Line(item.Asked, 200)
	}
	return termsafe.Line(item.About(), 200)
}

// requestAbout is what a request is about in a few words: the question, the plan's
// title, the command, or what the card says. It may be cut: it is no place to decide.
func requestAbout(item *wire.InboxRequest) string {
	if len(item.Questions) > 0 {
		return termsafe.Line(item.Questions[0].Text, 200)
	}
	if item.Kind == "plan" {
		for line := range wire.CardLines(item.Shown[:min(len(item.Shown), 4096)]) {
			if said := strings.TrimLeft(strings.TrimSpace(line.Text), "# "); line.Kind != wire.OwnLine && said != "" {
				return termsafe.Line(said, 200)
			}
		}
	}
	if said := commandOf(item.Shown); item.Effect == "" || strings.HasPrefix(said, "$ ") {
		return said
	}
	effect, _, _ := strings.Cut(item.Effect, " · ")
	return termsafe.Line(effect, 200)
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

// visibleList draws the lines of the list that fit.
func (f frame) visibleList(place area) []string {
	out := make([]string, 0, place.height)
	lines := f.list.visible(f.selected, place.height)
	columns := f.columnsOf(lines, place.width)
	for i, line := range lines {
		if i == place.height-1 && line.row < 0 && line.more == 0 && line.section < sectionCount {
			break // a title whose rows don't fit
		}
		if line.row < 0 {
			out = append(out, f.titleText(line))
			continue
		}
		top, below := f.rowLines(&f.list.rows[line.row], place.width, columns)
		if line.second {
			top = below
		}
		out = append(out, top)
	}
	return fill(out, place.height)
}
