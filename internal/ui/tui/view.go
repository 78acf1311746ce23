package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// area is a part of the screen.
type area struct{ left, top, width, height int }

func (a area) contains(x, y int) bool {
	return x >= a.left && x < a.left+a.width && y >= a.top && y < a.top+a.height
}

// areas are the parts of the screen: the head line, the list, the details, and
// two lines at the bottom for what happened and for the keys.
type areas struct {
	list, detail area
	side         bool // the details stand beside the list
}

// sideBySide is the width from which the details stand beside the list.
const sideBySide = 100

// headHeight is how many lines the head takes: none on a very small screen.
func (m *Model) headHeight() int {
	if m.height < 8 {
		return 0
	}
	return 2
}

// bodyHeight is how many lines are left between the head and the two at the bottom.
func (m *Model) bodyHeight() int { return max(m.height-m.headHeight()-2, 0) }

// layout is where things really stand on the screen: what has no line in it is
// not seen. Where both do not fit, the details have the screen.
func (m *Model) layout() areas {
	top, height := m.headHeight(), m.bodyHeight()
	if m.width >= sideBySide {
		left := min(max(m.width*2/5, 40), 70)
		return areas{side: true, list: area{0, top, left, height},
			detail: area{left + 3, top, max(m.width-left-3, 10), height}}
	}
	if height < 7 {
		return areas{detail: area{0, top, m.width, height}}
	}
	list := min(max(len(m.listLines()), 1), max(height*2/5, 3))
	return areas{list: area{0, top, m.width, list}, detail: area{0, top + list + 1, m.width, height - list - 1}}
}

// detailVisible tells whether the details of the selected row are on the screen.
func (m *Model) detailVisible() bool {
	return m.width > 0 && m.height > 0 && m.form == nil && (m.mode == modeList || m.mode == modeTyping)
}

// frame draws a model: what stands on the screen, line by line.
type frame struct{ *Model }

// View draws the screen.
func (m *Model) View() tea.View {
	v := tea.NewView(frame{m}.render())
	m.noteDrawn()
	v.AltScreen, v.ReportFocus, v.MouseMode = true, true, tea.MouseModeCellMotion
	v.WindowTitle = frame{m}.windowTitle()
	return v
}

func (f frame) windowTitle() string {
	n := f.countWaiting()
	if n == 0 {
		return "hookmux"
	}
	return fmt.Sprintf("▲%d hookmux", n)
}

func (f frame) countWaiting() int {
	n := 0
	for _, r := range f.board.listRows("", false) {
		if r.section == sectionWaiting {
			n++
		}
	}
	return n
}

func (f frame) render() string {
	if f.width < 1 || f.height < 1 {
		return ""
	}
	lines := []string{f.headLine(), styleFaint.Render(strings.Repeat("─", f.width))}[:f.headHeight()]
	body := f.bodyHeight()
	switch {
	case f.mode == modeHelp:
		lines = append(lines, fill(f.helpLines(), body)...)
	case f.mode == modeConfirm:
		lines = append(lines, fill(f.confirmLines(), body)...)
	case f.form != nil:
		head := []string{styleBold.Render(termsafe.Line(f.form.title, f.width)), ""}
		if body < 8 {
			head = nil
		}
		lines = append(lines, fill(append(head, f.form.visibleLines(f.width, body-len(head))...), body)...)
	case len(f.rows) == 0:
		lines = append(lines, fill(wrapAll(f.emptyLines(), f.width), body)...)
	default:
		lines = append(lines, f.bodyLines(body)...)
	}
	lines = append(lines, f.statusLine(), f.keyLine())
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], f.width, "…")
	}
	return strings.Join(lines[:min(len(lines), f.height)], "\n")
}

// headLine says at a glance how things stand.
func (f frame) headLine() string {
	counts := map[section]int{}
	for _, r := range f.board.listRows("", true) {
		counts[r.section]++
	}
	parts := []string{styleBold.Render("hookmux")}
	for _, s := range []section{sectionWaiting, sectionFailed, sectionRunning, sectionDone, sectionIdle} {
		if counts[s] > 0 {
			mark, style := s.sign()
			parts = append(parts, style.Render(fmt.Sprintf("%s %d %s", mark, counts[s], headWords[s])))
		}
	}
	if f.ready != nil && f.ready.Away {
		parts = append(parts, styleWaiting.Render("away"))
	}
	if f.filter != "" {
		parts = append(parts, "filter: "+termsafe.Line(f.filter, 30))
	}
	return strings.Join(parts, "  ")
}

var headWords = map[section]string{
	sectionWaiting: "need you", sectionFailed: "failed", sectionRunning: "running", sectionDone: "done",
	sectionIdle: "idle",
}

func (f frame) bodyLines(height int) []string {
	place := f.layout()
	list, detail := f.visibleList(place.list), f.visibleDetail(place.detail)
	if place.list.height == 0 {
		return fill(detail, height)
	}
	if !place.side {
		rule := styleFaint.Render(strings.Repeat("─", f.width))
		return fill(append(append(list, rule), detail...), height)
	}
	out := make([]string, height)
	for i := range out {
		out[i] = padRight(list[i], place.list.width) + styleFaint.Render(" │ ") + detail[i]
	}
	return out
}

// confirmLines are the question of a confirmation, wrapped.
func (f frame) confirmLines() []string {
	var out []string
	for _, line := range f.confirm.lines {
		out = append(out, wrapPlain(line, f.width)...)
	}
	return out
}

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

func (f frame) visibleDetail(place area) []string {
	lines := f.detailLines(place.width)
	top := min(f.scroll, max(0, len(lines)-place.height))
	return fill(slices.Clone(lines[top:min(len(lines), top+place.height)]), place.height)
}

// hiddenLines is how many lines of the details are below the screen.
func (m *Model) hiddenLines() int {
	if m.selectedRow() == nil || m.width < 1 {
		return 0
	}
	place := m.layout().detail
	return max(0, len(m.detailLines(place.width))-m.scroll-place.height)
}

// detailLines are everything about the selected row, wrapped.
func (m *Model) detailLines(width int) []string {
	r := m.selectedRow()
	switch {
	case r == nil:
		return nil
	case r.request != nil:
		return frame{m}.requestLines(r, width)
	}
	return frame{m}.sessionLines(r, width)
}

// requestLines are a request in full: who asks, and exactly the text whose hash
// the answer carries.
func (f frame) requestLines(r *row, width int) []string {
	item := r.request
	now := f.opts.Now()
	out := []string{styleBold.Render(termsafe.Line(r.title(), max(width, 1)))}
	facts := []string{termsafe.Line(item.Agent, 20), "waits " + ageText(now.Sub(item.CreatedAt))}
	if !item.Deadline.IsZero() && !isWindow(item) {
		facts = append(facts, "until "+item.Deadline.Local().Format("15:04:05"))
	}
	out = append(out, styleFaint.Render(strings.Join(facts, " · ")), "")
	return append(out, f.bodyOf(item, width).lines...)
}

// headOfRequest is how many lines of a request's details stand above its text.
const headOfRequest = 3

// body is the text of a request, wrapped. It is kept: a request may have megabytes.
type body struct {
	hash, note, status string
	width              int
	lines              []string
	tooNarrow          bool // a character is wider than the screen
}

func (m *Model) bodyOf(item *wire.FeedItem, width int) *body {
	if b := &m.body; b.lines != nil && b.hash == item.SHA256 && b.note == item.Note && b.status == item.Status &&
		b.width == width {
		return b
	}
	b := body{hash: item.SHA256, note: item.Note, status: item.Status, width: width}
	add := func(style lipgloss.Style, line string) {
		for _, part := range wrapMarked(line, width) {
			b.tooNarrow = b.tooNarrow || ansi.StringWidth(part) > width
			b.lines = append(b.lines, style.Render(part))
		}
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(termsafe.Text(item.Shown), "\n"), "\n") {
		add(lineStyle(line), line)
	}
	if item.Note != "" {
		b.lines = append(b.lines, "")
		add(styleWaiting, termsafe.Line(item.Note, 0))
	}
	if isWindow(item) {
		b.lines = append(b.lines, "")
		add(stylePlain, "It stands in the agent's own window; only there can it be answered.")
	}
	m.body = b
	return &m.body
}

// lineStyle colours a line of a request by its mark: a command, an added line, a
// removed line. The text itself stays as it is.
func lineStyle(line string) lipgloss.Style {
	switch {
	case strings.HasPrefix(line, "  $ "):
		return styleBold
	case strings.HasPrefix(line, "  + "):
		return styleDone
	case strings.HasPrefix(line, "  - "):
		return styleFailed
	}
	return stylePlain
}

func (f frame) sessionLines(r *row, width int) []string {
	if f.detailOf == r.key() && f.detailError != nil {
		return wrapAll([]string{styleBold.Render(termsafe.Line(r.title(), 0)), "", errorText(f.detailError)}, width)
	}
	if f.detail == nil || f.detailOf != r.key() {
		return []string{styleBold.Render(termsafe.Line(r.title(), width)), "", styleFaint.Render("…")}
	}
	var b strings.Builder
	text.Style{Color: true}.Session(&b, f.detail, f.opts.Now(), "")
	return wrapAll(strings.Split(strings.TrimRight(b.String(), "\n"), "\n"), width)
}

func (f frame) emptyLines() []string {
	switch {
	case f.problem != "":
		return []string{"", "  " + termsafe.Line(f.problem, 0)}
	case f.filter != "":
		return []string{"", "  Nothing fits the filter " + termsafe.Line(f.filter, 60) + "; Esc takes it off."}
	}
	lines := []string{"", "  No agent works here now."}
	for _, l := range f.opts.Empty {
		lines = append(lines, "  "+l)
	}
	return lines
}

// statusLine is what happened last, what is wrong, or the text being typed.
func (f frame) statusLine() string {
	switch {
	case f.mode == modeTyping:
		return styleBold.Render(f.typing.label+": ") +
			f.typing.input.render(f.width-ansi.StringWidth(f.typing.label)-2)
	case f.problem != "":
		return styleFailed.Render("✗ " + termsafe.Line(f.problem, 0))
	case f.status != "":
		return f.status
	case f.ready != nil && !f.ready.Attached && f.ready.Why != "":
		return styleWaiting.Render("agents do not wait for this view: " + termsafe.Line(f.ready.Why, 0))
	case f.hiddenLines() > 0:
		return styleWaiting.Render(fmt.Sprintf("%d more lines below", f.hiddenLines()))
	}
	if f.info != nil && len(f.info.Problems) > 0 {
		return styleWaiting.Render("! " + termsafe.Line(f.info.Problems[0].What, 0) + " · `hookmux status` shows more")
	}
	return ""
}

// keyLine are the keys that do something now.
func (f frame) keyLine() string {
	switch f.mode {
	case modeTyping:
		return styleFaint.Render("Enter takes it · Esc leaves it")
	case modeHelp, modeConfirm:
		return ""
	case modeForm:
		return styleFaint.Render("1–9 choose · o own words · Tab next · Enter sends · Esc leaves it")
	}
	last := styleBold.Render("?") + " keys"
	line := ""
	for _, b := range bindings() {
		if b.always || !b.when(f.Model) || b.decides && f.problem != "" {
			continue
		}
		part := styleBold.Render(b.name) + " " + b.does + "  "
		if ansi.StringWidth(line+part+last) > f.width {
			break // the help has them all
		}
		line += part
	}
	return line + last
}

// helpLines are all keys, in two columns where they fit. A key that says several
// things, each where it applies, has one line.
func (f frame) helpLines() []string {
	var names []string
	does := map[string][]string{}
	for _, b := range bindings() {
		if does[b.name] == nil {
			names = append(names, b.name)
		}
		does[b.name] = append(does[b.name], b.does)
	}
	var entries []string
	for _, name := range names {
		entries = append(entries, "  "+padRight(name, 8)+strings.Join(does[name], " or "))
	}
	out := []string{"", styleBold.Render("  Keys") + styleFaint.Render("  (any key goes back)"), ""}
	half := (len(entries) + 1) / 2
	if f.width < 80 {
		return append(out, entries...)
	}
	for i := range half {
		line := padRight(entries[i], 40)
		if i+half < len(entries) {
			line += entries[i+half]
		}
		out = append(out, line)
	}
	return out
}

func ageText(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}

// wrapLine breaks a line at the width; nothing of it is lost, spaces included.
func wrapLine(line string, width int) []string {
	if ansi.StringWidth(line) <= width {
		return []string{line}
	}
	return strings.Split(ansi.Hardwrap(line, max(width, 1), true), "\n")
}

// wrapPlain breaks text without styles at the width. Each character counts as wide
// as any terminal may draw it: what is counted too narrow would be cut off at the
// edge unseen. A tab becomes blanks first, for the same reason.
func wrapPlain(line string, width int) []string {
	width = max(width, 1)
	line = strings.ReplaceAll(line, "\t", "    ")
	var out []string
	start, used := 0, 0
	for i, r := range line {
		columns := 1
		if r >= 0x300 {
			columns = termsafe.Width(string(r))
		}
		if r == 0xfe0f {
			columns = 1 // it may make the symbol before it wide
		}
		if used+columns > width && i > start {
			out = append(out, line[start:i])
			start, used = i, 0
		}
		used += columns
	}
	return append(out, line[start:])
}

// wrapMarked is wrapPlain with a mark before each further line: a padded line of an
// agent cannot pass for the next one.
func wrapMarked(line string, width int) []string {
	const mark = "↪ "
	parts := wrapPlain(line, width)
	if len(parts) == 1 || width < 10 {
		return parts
	}
	rest := strings.Join(parts[1:], "")
	parts = parts[:1]
	for _, part := range wrapPlain(rest, width-2) {
		parts = append(parts, mark+part)
	}
	return parts
}

func wrapAll(lines []string, width int) []string {
	var out []string
	for _, line := range lines {
		out = append(out, wrapLine(line, width)...)
	}
	return out
}

// indentWrapped wraps text behind a mark; further lines are indented as far.
func indentWrapped(mark, line string, width int) []string {
	indent := ansi.StringWidth(mark)
	parts := wrapPlain(line, max(width-indent, 1))
	for i := range parts {
		if i == 0 {
			parts[i] = mark + parts[i]
		} else {
			parts[i] = strings.Repeat(" ", indent) + parts[i]
		}
	}
	return parts
}

func padRight(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

// fill makes the lines exactly as many as fit.
func fill(lines []string, height int) []string {
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines[:height]
}
