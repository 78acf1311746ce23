package tui

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// list is the visible part of the list: the rows that aren't folded away, and the lines they
// take. It is only made again when something changed.
type list struct {
	rows   []row
	lines  []listLine
	counts [sectionCount]int // of all rows, shown or not
	total  int               // of the rows that a filter leaves out or not
	tall   int               // so many lines a row has

	changes int // of the board it was made of
	listOptions
}

// compact reports whether a row has one line.
func (l *list) compact() bool { return l.tall == 1 }

// listOptions say what a list shows, and how.
type listOptions struct {
	filter  string
	history bool
	most    int // so many lines a row has at most
	room    int // how many lines there are: if they aren't enough, rows have fewer
}

// listLine is a line of the list; row is -1 for a section's title.
type listLine struct {
	row     int
	section section // of a title
	part    int     // of the row's lines
	more    int     // so many more rows need the user than fit
	above   []row   // hidden between this title and the line before it
}

// newList puts the rows in order.
func newList(b *board, opts listOptions) *list {
	rows := b.listRows()
	for tall := opts.most; ; tall-- {
		if l := layRows(rows, b.changes, opts, tall); tall <= 1 || len(l.lines) <= opts.room {
			return l
		}
	}
}

func layRows(rows []row, changes int, opts listOptions, tall int) *list {
	l := &list{changes: changes, listOptions: opts, tall: tall}
	space := func() {
		if tall > 1 && len(l.lines) > 0 && l.lines[len(l.lines)-1].row >= 0 {
			l.lines = append(l.lines, listLine{row: -1, section: noSection})
		}
	}
	for _, r := range rows {
		l.counts[r.section]++
		if r.section >= sectionAnswered && !opts.history {
			continue
		}
		l.total++
		if opts.filter != "" && !r.matches(opts.filter) {
			continue
		}
		if n := len(l.rows); n == 0 || l.rows[n-1].section != r.section {
			space()
			l.lines = append(l.lines, listLine{row: -1, section: r.section})
		} else if tall > 2 {
			space()
		}
		lines := tall
		if tall > 2 && doingText(&r) == "" {
			lines = 2
		}
		for part := range lines {
			l.lines = append(l.lines, listLine{row: len(l.rows), part: part})
		}
		l.rows = append(l.rows, r)
	}
	if l.counts[sectionEnded] > 0 && !opts.history && opts.filter == "" {
		space()
		l.lines = append(l.lines, listLine{row: -1, section: sectionCount})
	}
	return l
}

// isCurrent reports whether nothing changed since the list was made.
func (l *list) isCurrent(b *board, opts listOptions) bool {
	return l.changes == b.changes && l.listOptions == opts
}

// waitingLines returns the lines at the top that show what needs the user.
func (l *list) waitingLines() []listLine {
	for i, line := range l.lines {
		if line.row < 0 && line.section != sectionWaiting || line.row >= 0 && l.rows[line.row].section != sectionWaiting {
			return l.lines[:i]
		}
	}
	return l.lines
}

// visible returns the lines that fit, with the selected row among them and leaving out as
// little as possible above it. What needs the user stays on top, wherever the cursor is.
func (l *list) visible(selected string, height int) []listLine {
	pinned := l.waitingLines()
	rest := l.lines[len(pinned):]
	first, last := l.linesOf(selected, rest)
	if first < 0 {
		_, last = l.linesOf(selected, l.lines)
		return l.linesDownTo(l.lines, last, height)
	}
	room := height - (last - first + 1) - 1 // one is for its section's title
	if len(pinned) == room+1 && pinned[0].row < 0 {
		pinned = pinned[1:] // the rows' marks say that they wait
	}
	if len(pinned) > room {
		pinned = l.cutWaiting(pinned, max(room, 0))
	}
	return append(slices.Clip(pinned), l.linesDownTo(rest, last, height-len(pinned))...)
}

// cutWaiting leaves room lines of those that need the user, and says in the last how many
// don't fit.
func (l *list) cutWaiting(lines []listLine, room int) []listLine {
	if room == 0 {
		return nil
	}
	kept := slices.Clone(lines[:room])
	shown := 0
	for _, line := range kept[:room-1] {
		if line.row >= 0 && line.part == 0 {
			shown++
		}
	}
	kept[room-1] = listLine{row: -1, section: sectionWaiting, more: l.shownWaiting() - shown}
	return kept
}

// shownWaiting returns how many rows of the list need the user.
func (l *list) shownWaiting() int {
	n := 0
	for n < len(l.rows) && l.rows[n].section == sectionWaiting {
		n++
	}
	return n
}

// linesOf returns where the lines of a row are, from the first to the last; -1 for nowhere.
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

// linesDownTo returns that many lines, from the first on if line last is among them. Otherwise
// they begin with a title that counts the rows left out above: no row is without its section's
// title.
func (l *list) linesDownTo(lines []listLine, last, height int) []listLine {
	if last < height || height < 2 {
		top := max(0, last-height+1)
		return lines[top:min(len(lines), top+height)]
	}
	top := last - height + 2
	for top < last && (lines[top].part > 0 || lines[top].row < 0 && lines[top].section == noSection) {
		top++
	}
	title := lines[top]
	if title.row < 0 {
		top++
	} else {
		title = listLine{row: -1, section: l.rows[title.row].section}
	}
	for _, line := range lines[:top] {
		if line.row >= 0 && line.part == 0 {
			title.above = append(title.above, l.rows[line.row])
		}
	}
	return append([]listLine{title}, lines[top:min(len(lines), top+height-1)]...)
}

// titleText returns a line above rows, or below all of them.
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
	above := ""
	if n := len(line.above); n > 0 && line.above[0].section == line.section {
		above = styleFaint.Render(fmt.Sprintf("  ↑ %d more", n))
	} else if n > 0 {
		above = styleFaint.Render("  ↑ " + hiddenText(line.above))
	}
	if line.section == sectionWaiting {
		return styleBold.Render(" "+sectionTitles[line.section]) + above
	}
	return styleFaint.Render(" "+sectionTitles[line.section]) + above
}

// columns are the widths of the columns of a compact list; zero if it has none. A narrow list
// has only titles and agents.
type columns struct {
	title, agent, folder int
	narrow               bool
}

func (c columns) isSet() bool { return c.title > 0 }

// cell returns a text in a column, with the space after it.
func (c columns) cell(text string, width int) string {
	if width == 0 {
		return ""
	}
	return padRight(ansi.Truncate(text, width, "…"), width) + "  "
}

// columnsOf measures the columns of the rows that are shown: titles, agents and folders as wide
// as the widest, up to a limit.
func (f frame) columnsOf(lines []listLine, width int) columns {
	if !f.list.compact() {
		return columns{}
	}
	c := columns{}
	for _, line := range lines {
		if line.row < 0 {
			continue
		}
		r := &f.list.rows[line.row]
		c.title = max(c.title, ansi.StringWidth(termsafe.Line(r.title(), 200)))
		c.agent = max(c.agent, min(ansi.StringWidth(f.whoText(r)), 16))
		c.folder = max(c.folder, min(ansi.StringWidth(termsafe.Line(r.project(), 24)), 10))
	}
	most := width / 2
	if c.narrow = width < 70; c.narrow { // a title says more than a folder
		most = max(width-c.agent-12, 8)
	}
	c.title = max(min(c.title, most), 1)
	return c
}

// whoText returns the agent of a row, with its mode and its machine.
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

// rowLines returns a row's title with its age, its agent, and what it does: as many lines as a
// row has.
func (f frame) rowLines(r *row, width int, columns columns) []string {
	mark, style := r.sign()
	chosen := r.key() == f.selected
	cursor, title, titleStyle := "  ", termsafe.Line(r.title(), 200), stylePlain
	switch {
	case chosen:
		cursor, titleStyle = styleAccent.Render("▌ "), styleBold
	case r.section >= sectionIdle:
		titleStyle = styleFaint
	}
	who, doing := f.whoText(r), doingText(r)
	project := termsafe.Line(r.project(), 24)
	age := fmt.Sprintf("%4s", ageText(f.opts.Now().Sub(r.since())))
	room := max(width-5, 4)
	if f.list.tall < 3 { // its age is beside its title
		room = max(width-6-len(age), 4)
	}
	first := f.ink(title, titleStyle)
	if f.list.compact() {
		share := room * 3 / 5
		if columns.isSet() {
			share = columns.title
		}
		first = f.ink(ansi.Truncate(title, share, "…"), titleStyle)
		if columns.narrow {
			first = padRight(first, share) + "  " + f.ink(ansi.Truncate(who, columns.agent, "…"), stylePlain)
		} else if columns.isSet() {
			first = padRight(first, share) + "  " + f.ink(columns.cell(who, columns.agent), stylePlain) +
				f.ink(columns.cell(project, columns.folder), styleFaint) + f.ink(doing, styleFaint)
		} else {
			first += "  " + f.ink(joinFacts(who, project, doing), styleFaint)
		}
	}
	lines := []string{cursor + style.Render(mark) + " " + padRight(ansi.Truncate(first, room, "…"), room)}
	if f.list.tall < 3 {
		lines[0] += " " + styleFaint.Render(age)
	}
	switch f.list.tall {
	case 2:
		lines = append(lines, cursor+"  "+f.ink(joinFacts(who, project, doing), styleFaint))
	case 3:
		room := max(width-2-len(age), 0)
		second := ansi.Truncate(cursor+"  "+f.ink(joinFacts(who, project), styleFaint), max(room-1, 0), "…")
		lines = append(lines, padRight(second, room)+" "+styleFaint.Render(age), cursor+"  "+f.ink(doing, styleFaint))
	}
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], max(width-1, 0), "…")
		if chosen {
			lines[i] = onChosen(lines[i], width-1)
		}
	}
	return lines
}

func joinFacts(facts ...string) string {
	return strings.Join(slices.DeleteFunc(facts, func(s string) bool { return s == "" }), " · ")
}

// ink styles a text of a row and underlines what the filter found in it.
func (f frame) ink(s string, style lipgloss.Style) string {
	var b strings.Builder
	for s != "" {
		at, n := findWord(s, f.filter)
		if n == 0 {
			break
		}
		if at > 0 {
			b.WriteString(style.Render(s[:at]))
		}
		b.WriteString(style.Underline(true).Render(s[at : at+n]))
		s = s[at+n:]
	}
	if s != "" {
		b.WriteString(style.Render(s))
	}
	return b.String()
}

// findWord returns where the first of the filter's words is in a text; n is 0 for nowhere.
func findWord(s, filter string) (at, n int) {
	low := strings.ToLower(s)
	if len(low) != len(s) {
		return 0, 0 // a letter is longer in lower case
	}
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if i := strings.Index(low, word); i >= 0 && (n == 0 || i < at) {
			at, n = i, len(word)
		}
	}
	return at, n
}

// doingText returns what a session does now, what it asks, or what was answered.
func doingText(r *row) string {
	switch {
	case r.decided != nil:
		return r.decided.inWords() + ": " + r.decided.about()
	case r.request == nil:
		return termsafe.Line(text.Doing(r.session), 200)
	case isWindow(r.request):
		return promptAbout(r.request)
	}
	return requestAbout(r.request)
}

// promptAbout says what an agent asks in its own terminal: the question comes first, because
// the line may be cut.
func promptAbout(item *wire.InboxRequest) string {
	if item.Asked != "" {
		return "in its terminal: " + termsafe.Line(item.Asked, 200)
	}
	return termsafe.Line(item.About(), 200)
}

// requestAbout says what a request is about in a few words: the question, the plan's title,
// the command, or what the card says. It may be cut: you don't decide by it.
func requestAbout(item *wire.InboxRequest) string {
	if len(item.Questions) > 0 {
		return termsafe.Line(item.Questions[0].Text, 200)
	}
	if item.Kind == "plan" {
		if title := planTitle(item.Shown); title != "" {
			return title
		}
	}
	if said := commandOf(item.Shown); item.Effect == "" || strings.HasPrefix(said, "$ ") {
		return said
	}
	effect, _, _ := strings.Cut(item.Effect, " · ")
	return termsafe.Line(effect, 200)
}

// planTitle returns the first line of a card's plan, without the marks of a heading.
func planTitle(card string) string {
	for line := range wire.CardLines(card[:min(len(card), 4096)]) {
		if said := strings.TrimLeft(strings.TrimSpace(line.Text), "# "); line.Kind != wire.OwnLine && said != "" {
			return termsafe.Line(said, 200)
		}
	}
	return ""
}

// commandOf returns the first command of a card, or what the card begins with.
func commandOf(card string) string {
	card = card[:min(len(card), 4096)]
	for line := range wire.CardLines(card) {
		if line.Kind == wire.CommandLine {
			return termsafe.Line("$ "+line.Command(), 200)
		}
	}
	return text.Style{}.About(&wire.InboxRequest{Shown: card})
}

// visibleList draws the lines of the list that fit. If rows are hidden below, its last line
// says so.
func (f frame) visibleList(place area) []string {
	lines, hidden := f.shownLines(place.height)
	out := make([]string, 0, place.height)
	columns := f.columnsOf(lines, place.width)
	for _, line := range lines {
		if line.row < 0 {
			out = append(out, f.titleText(line))
		} else {
			out = append(out, f.rowLines(&f.list.rows[line.row], place.width, columns)[line.part])
		}
	}
	if len(hidden) > 0 && len(out) < place.height {
		out = append(out, styleFaint.Render("  ↓ "+hiddenText(hidden)))
	}
	return fill(out, place.height)
}

// shownLines returns the lines of the list that fit, and the rows that are hidden below them.
func (f frame) shownLines(height int) (lines []listLine, hidden []row) {
	lines = f.list.visible(f.selected, height)
	below := func() []row {
		for i := len(lines) - 1; i >= 0; i-- {
			if lines[i].row >= 0 {
				return f.list.rows[lines[i].row+1:]
			}
			if lines[i].more > 0 {
				return nil // the line says it
			}
		}
		return nil
	}
	next := below()
	switch {
	case len(next) == 0 || height < 2:
		return lines, nil
	case height >= 5:
	case next[0].section != sectionWaiting:
		return lines, nil // in so short a list only what needs the user is worth a line
	default:
		lines = f.list.visible(f.selected, height-1)
		more := listLine{row: -1, section: sectionWaiting}
		for _, r := range below() {
			if r.section == sectionWaiting {
				more.more++
			}
		}
		return append(slices.Clip(lines), more), nil
	}
	if len(lines) == height {
		lines = f.list.visible(f.selected, height-1)
	}
	for n := len(lines); n > 0 && lines[n-1].row < 0 && lines[n-1].more == 0; n-- {
		lines = lines[:n-1] // a title whose rows don't fit
	}
	return lines, below()
}

// hiddenText counts rows by what they are.
func hiddenText(rows []row) string {
	var parts []string
	for s := range sectionCount {
		n := 0
		for i := range rows {
			if rows[i].section == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, sectionWords[s]))
		}
	}
	return strings.Join(parts, " · ")
}
