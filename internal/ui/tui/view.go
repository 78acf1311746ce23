package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
)

// frame draws a model, line by line.
type frame struct{ *Model }

// View draws the screen.
func (m *Model) View() tea.View {
	if !m.drawn.valid {
		m.drawn = drawnFrame{m.palette.paint(frame{m}.render()), true}
		m.noteDrawn()
	}
	v := tea.NewView(m.drawn.text)
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

func (f frame) countWaiting() int { return f.list.counts[sectionWaiting] }

func (f frame) render() string {
	if f.width < 1 || f.height < 1 {
		return ""
	}
	body := f.bodyHeight()
	lines := f.headLines()
	if len(f.list.rows) == 0 {
		lines = append(lines, fill(wrapStyled(f.emptyLines(), f.width), body)...)
	} else {
		lines = append(lines, f.bodyLines(body)...)
	}
	for _, p := range f.popups() {
		p.draw(lines, f.width)
	}
	for _, line := range append(f.statusLines(), f.keyLine()) {
		if f.hasAir() {
			line = " " + line
		}
		lines = append(lines, line)
	}
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], f.width, "…")
	}
	return strings.Join(lines[:min(len(lines), f.height)], "\n")
}

// headLines returns the counts and the bars for what you must not miss.
func (f frame) headLines() []string {
	bars := f.bars()
	if f.height < smallScreen {
		return bars[:f.headHeight()]
	}
	return fill(append([]string{f.headLine()}, bars...), f.headHeight())
}

// headLine says how many sessions are in which state, without the names of the states if they
// don't fit.
func (f frame) headLine() string {
	right := f.pausedText()
	if f.filter != "" {
		right = styleFaint.Render(fmt.Sprintf("%d of %d match ", len(f.list.rows), f.list.total)) +
			styleAccent.Render("/"+termsafe.Line(f.filter, 24))
	}
	room := f.width
	if right != "" {
		room -= ansi.StringWidth(right) + 3
	}
	line := f.countsText(!f.opts.Sidebar)
	if ansi.StringWidth(line) > room {
		line = f.countsText(false)
	}
	if gap := room - ansi.StringWidth(line); right != "" && gap >= 0 {
		line += strings.Repeat(" ", gap+2) + right
	}
	return line
}

// countsText counts the sessions by their state.
func (f frame) countsText(words bool) string {
	parts := []string{styleBadge.Render(" hookmux ")}
	if f.opts.Demo {
		parts[0] += styleBold.Render(" demo")
	}
	for _, s := range []section{sectionWaiting, sectionFailed, sectionRunning, sectionDone, sectionUnknown, sectionIdle} {
		n := f.list.counts[s]
		if n == 0 {
			continue
		}
		mark, style := s.sign()
		said := fmt.Sprintf("%s %d", mark, n)
		if words {
			said += " " + headWords[s]
		}
		if s == sectionWaiting {
			style = style.Bold(true)
		}
		parts = append(parts, style.Render(said))
	}
	return strings.Join(parts, "  ")
}

// pausedText says what only logs for a while.
func (f frame) pausedText() string {
	if f.info == nil || len(f.info.Pauses) == 0 || f.opts.Sidebar {
		return ""
	}
	first := f.info.Pauses[0]
	said := termsafe.Line(strings.TrimPrefix(first.Name, "guard."), 24) + " paused · " + leftText(first.Until.Sub(f.opts.Now()))
	if n := len(f.info.Pauses) - 1; n > 0 {
		said = fmt.Sprintf("%d guards and rules paused", n+1)
	}
	return styleWaiting.Bold(true).Reverse(true).Render(" " + said + " ")
}

var headWords = map[section]string{
	sectionWaiting: "waiting", sectionFailed: "failed", sectionRunning: "running", sectionDone: "done",
	sectionUnknown: "unknown", sectionIdle: "idle",
}

// bars say across the whole screen that hookmux is off, or that you're away.
func (f frame) bars() []string {
	var bars []string
	if f.isOff() {
		said := "hookmux is OFF: guards and hooks stop nothing"
		if until := f.info.Off.Until; until != nil {
			said += " · " + leftText(until.Sub(f.opts.Now()))
		}
		bars = append(bars, styleOffBar.Render(barText(f.width, said, "O turns it on", "hookmux is OFF")))
	}
	if f.isAway() {
		bars = append(bars, styleAwayBar.Render(barText(f.width, "You're away: agents wait for you", "w when you're back", "You're away")))
	}
	return bars
}

// barText fills a line: with what is said and the key if all of it fits, else with a short
// form.
func barText(width int, said, key, short string) string {
	line := " " + said + " · " + key + " "
	if len([]rune(line)) > width {
		line = " " + short + " · " + key + " "
	}
	return padRight(ansi.Truncate(line, width, "…"), width)
}

// panelTop returns the upper edge of a panel, with its title and a note.
func panelTop(width int, title, note string) string {
	return styleEdge.Render("╭") + ruleWith(width-2, title, note) + styleEdge.Render("╮")
}

// panelBottom is its lower edge, with a note.
func panelBottom(width int, note string) string {
	if note != "" {
		note = styleFaint.Render(note)
	}
	return styleEdge.Render("╰") + ruleWith(width-2, "", note) + styleEdge.Render("╯")
}

// detailTitle says what the details are about, and how much of a request is still unread, else
// as many facts about it as fit after the title.
func (f frame) detailTitle(width int) (title, note string) {
	r := f.selectedRow()
	if r == nil {
		return "", ""
	}
	mark, style := r.sign()
	title = style.Bold(true).Render(mark) + " " + styleBold.Render(termsafe.Line(r.title(), max(width, 1)))
	if who := styleFaint.Render(" · " + termsafe.Line(r.agentName(), 20)); ansi.StringWidth(title+who) < width/2 {
		title += who
	}
	if note = f.readMark(); note != "" {
		return title, note
	}
	facts := f.facts(r)
	for len(facts) > 0 && ansi.StringWidth(title+strings.Join(facts, " · "))+8 > width {
		facts = facts[1:]
	}
	if len(facts) > 0 {
		note = styleFaint.Render(strings.Join(facts, " · "))
	}
	return title, note
}

// facts returns the secondary facts about a row, the most important last.
func (f frame) facts(r *row) []string {
	now := f.opts.Now()
	var facts []string
	if r.session != nil && !f.isSideBySide() { // a frame has it in its lower edge
		if used := text.UsedInShort(r.session.Usage); used != "" {
			facts = append(facts, used)
		}
	}
	if r.request == nil {
		if r.session != nil && r.decided == nil {
			facts = append(facts, stateText(r, now))
		}
		return facts
	}
	if s := r.session; s != nil && s.Unasked != "" {
		facts = append(facts, termsafe.Line(s.Unasked, 10)+" mode")
	}
	facts = append(facts, "asked "+agoText(now.Sub(r.request.CreatedAt)))
	if !r.request.Deadline.IsZero() && !isWindow(r.request) {
		facts = append(facts, leftText(r.request.Deadline.Sub(now)))
	}
	return facts
}

// readMark says how much of the selected request wasn't on the screen yet: before that it
// can't be approved.
func (f frame) readMark() string {
	item := f.pendingRequest()
	switch {
	case item == nil || !f.detailVisible():
		return ""
	case f.shown.narrow:
		return styleFailed.Render("too narrow to show it all")
	case f.shown.unread() > 0:
		return styleWaiting.Bold(true).Render(fmt.Sprintf("↓ %s · Space", countLines(f.shown.unread())))
	}
	place := f.layout().detail
	page := f.page(place.width)
	if below := len(page.head) + len(page.body.lines) - f.scroll - place.height; below > 0 { // it was read
		return styleFaint.Render(fmt.Sprintf("↓ %s · Space", countLines(below)))
	}
	return ""
}

func countLines(n int) string {
	if n == 1 {
		return "1 more line"
	}
	return fmt.Sprintf("%d more lines", n)
}

// titledRule returns a line across, with a title at its left and a note at its right.
func titledRule(width int, title, note string) string { return ruleWith(width, title, note) }

func ruleWith(width int, title, note string) string {
	if title != "" {
		title = " " + ansi.Truncate(title, max(width-4, 0), "…") + " "
	}
	if note != "" {
		note = " " + note + " "
	}
	rest := width - 2 - ansi.StringWidth(title) - ansi.StringWidth(note)
	if rest < 0 {
		// The note, what is still to read, matters more than the title.
		title = ansi.Truncate(title, max(width-2-ansi.StringWidth(note), 0), "… ")
		rest = max(width-2-ansi.StringWidth(title)-ansi.StringWidth(note), 0)
	}
	return ansi.Truncate(styleEdge.Render("─")+title+styleEdge.Render(strings.Repeat("─", rest))+note+styleEdge.Render("─"), width, "")
}

func (f frame) bodyLines(height int) []string {
	place := f.layout()
	list := f.visibleList(place.list)
	if f.opts.Sidebar {
		return fill(list, height)
	}
	detail := f.detailLines(place.detail)
	if place.side {
		return f.panelLines(place, list, detail)
	}
	if air := strings.Repeat(" ", place.detail.left); air != "" {
		for i := range detail {
			detail[i] = air + detail[i]
		}
	}
	title, note := f.detailTitle(f.width)
	return fill(append(append(list, titledRule(f.width, title, note)), detail...), height)
}

// detailLines returns the part of the selected row's page that fits, or its questions while you
// answer them.
func (f frame) detailLines(place area) []string {
	if f.formInPlace(place) {
		return fill(f.formPage(place), place.height)
	}
	return f.page(place.width).visible(f.scroll, place.height)
}

// panelLines returns the list and the panels next to it.
func (f frame) panelLines(place areas, list, detail []string) []string {
	width := place.detail.width + 4
	title, note := f.detailTitle(width - 2)
	out := append([]string{panelTop(width, title, note)}, framed(detail, place.detail.width)...)
	used := ""
	if f.height < tallScreen { // else it's among the facts
		used = f.usedText()
	}
	out = append(out, panelBottom(width, used))
	if place.aside.width > 0 {
		aside := fill(f.asideLines(f.selectedRow(), place.aside.width, place.aside.height), place.aside.height)
		more := append([]string{panelTop(place.aside.width+4, styleBold.Render(f.asideTitle()), "")}, framed(aside, place.aside.width)...)
		for i, line := range append(more, panelBottom(place.aside.width+4, "")) {
			out[i] += " " + line
		}
	}
	for i := range out {
		out[i] = padRight(list[i], place.list.width) + out[i]
	}
	return out
}

// asideTitle returns the heading of the third column.
func (f frame) asideTitle() string {
	if r := f.selectedRow(); r != nil && r.request != nil && f.details.key == r.key() && len(f.details.timeline.about(r)) > 0 {
		return "Last steps"
	}
	return "About"
}

// framed puts lines between the sides of a frame.
func framed(lines []string, width int) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = styleEdge.Render("│ ") + padRight(ansi.Truncate(line, width, "…"), width) + styleEdge.Render(" │")
	}
	return out
}

// usedText returns what the selected session used, and what is left of its context.
func (f frame) usedText() string {
	if r := f.selectedRow(); r != nil && r.session != nil {
		return text.UsedInShort(r.session.Usage)
	}
	return ""
}

// confirmLines returns the question of a confirmation, wrapped.
func (f frame) confirmLines(width int) []string {
	out := append(indentWrapped("", f.confirm.question, width), "")
	for _, line := range f.confirm.about {
		out = append(out, wrapMarked("  "+line, width)...)
	}
	out = append(out, "")
	for _, line := range f.confirm.hints {
		out = append(out, indentWrapped("", line, width)...)
	}
	return out
}

// emptyLines say what will appear, and how to get there.
func (f frame) emptyLines() []string {
	switch {
	case f.problem == connectingText:
		return nil // the line at the bottom says it
	case f.problem != "":
		return []string{"", "  " + termsafe.Line(f.problem, 0)}
	case f.filter != "":
		return []string{"", "  Nothing matches " + termsafe.Line(f.filter, 60) + ". Esc shows everything again."}
	}
	lines := []string{"", "  " + styleBold.Render("No agent is running yet.")}
	if f.opts.Sidebar {
		return append(lines, "", "  Sessions appear here as", "  soon as an agent starts.")
	}
	for _, l := range f.opts.Empty {
		lines = append(lines, "  "+l)
	}
	lines = append(lines, "")
	if f.canStart() {
		lines = append(lines, "  Press "+styleAccent.Render("n")+" to start one, or start one in any terminal as usual.")
	} else {
		lines = append(lines, "  Start one in any terminal as usual: it appears here with its first prompt.")
	}
	lines = append(lines, "",
		"  "+styleFaint.Render("What you'll see"))
	for _, one := range []struct {
		kind kindInfo
		says string
	}{
		{kindInfo{"▲", "permission", styleWaiting}, "an agent wants to run or write something: a approves, d denies"},
		{kindInfo{"?", "question", styleAsks}, "an agent asks you something: answer with a digit"},
		{kindInfo{"≡", "plan", stylePlan}, "an agent shows its plan: a accepts, d sends it back"},
		{kindInfo{"●", "running", stylePlain}, "what it's doing right now, and its last steps"},
		{kindInfo{"✓", "done", styleDone}, "what it said at the end"},
	} {
		lines = append(lines, "  "+one.kind.style.Render(one.kind.mark)+"  "+padRight(one.kind.word, 12)+styleFaint.Render(one.says))
	}
	return append(lines, "", "  "+styleFaint.Render("You can't approve anything before all of it was on your screen."))
}

// maxStatus is how many lines a message takes at most.
const maxStatus = 3

// statusLines says what happened last or what is wrong, in as many lines as it takes. A
// decision gets one line: its middle is left out if necessary.
func (f frame) statusLines() []string {
	most := maxStatus
	if f.height < 16 {
		most = 1
	}
	if f.mode == modeTyping && f.typing.inline {
		return []string{styleBold.Render(f.typing.title+": ") + f.typing.input.render(f.bottomWidth()-ansi.StringWidth(f.typing.title)-2)}
	}
	line := f.statusText()
	if line == "" {
		return []string{""}
	}
	width := max(f.bottomWidth(), 1)
	for mark, style := range map[string]lipgloss.Style{"✓ ": styleDone, "✗ ": styleFailed} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			return []string{style.Bold(true).Render(mark) + cutMiddle(rest, width-2)}
		}
	}
	lines := wrapStyled([]string{line}, width)
	if len(lines) > most {
		lines = lines[:most]
		lines[most-1] = ansi.Truncate(lines[most-1], max(f.bottomWidth()-1, 0), "") + "…"
	}
	return lines
}

// cutMiddle leaves out the middle of a text that is too long.
func cutMiddle(s string, width int) string {
	n := ansi.StringWidth(s)
	if n <= width || width < 10 {
		return ansi.Truncate(s, max(width, 0), "…")
	}
	tail := width / 4
	return ansi.Truncate(s, width-tail-3, "") + " … " + ansi.TruncateLeft(s, n-tail, "")
}

// statusText must not depend on the layout: it has a part in it.
func (f frame) statusText() string {
	switch {
	case f.problem == connectingText && f.status == "":
		return styleFaint.Render(connectingText)
	case f.problem != "":
		line := termsafe.Line(f.problem, 0)
		if f.status == silentText { // a key was pressed
			line = "Nothing was decided: " + line
		}
		return styleFailed.Render("✗ " + line)
	case f.status != "":
		return f.status
	case f.ready != nil && !f.ready.Attached && f.ready.Why != "":
		return styleWaiting.Render("Agents don't wait for this view: " + termsafe.Line(strings.TrimPrefix(f.ready.Why, "refused: "), 0))
	case f.hasProblems():
		what := termsafe.Line(f.info.Problems[0].What, 0)
		if n := len(f.info.Problems); n > 1 {
			return styleWaiting.Render(fmt.Sprintf("! %d problems (p shows them): %s", n, what))
		}
		return styleWaiting.Render("! 1 problem (p shows it): " + what)
	case f.isOtherVersion(f.opts.Version):
		return styleWaiting.Render(fmt.Sprintf("The daemon is hookmux %s, this is %s. `hookmux daemon restart` updates it.",
			termsafe.Line(f.info.Version, 20), termsafe.Line(f.opts.Version, 20)))
	}
	return ""
}

// keyLine returns the keys that do something now.
func (f frame) keyLine() string {
	key := func(name, does string) binding { return binding{name: name, does: does} }
	switch f.mode {
	case modeTyping:
		return f.joinKeys([]binding{key("Enter", f.typing.does), key("Esc", f.typing.leaves())}, "")
	case modeConfirm:
		return f.joinKeys([]binding{key(f.confirm.yes, f.confirm.does), key("Esc", "cancel")}, "")
	case modeBatch:
		return f.joinKeys(append([]binding{{name: "B", does: "approve " + f.batch.countText(), approves: true, dim: f.batch.shown.unread() > 0}},
			pageKeys(f.batch.hidden(f.Model) > 0, f.batch.scroll > 0, "cancel")...), "")
	case modePage:
		return f.joinKeys(pageKeys(f.reading.hidden(f.Model) > 0, f.reading.scroll > 0, "close"), "")
	case modeForm:
		return f.joinKeys(f.form.keys(), "")
	case modeStart:
		return f.joinKeys(f.starting.keys(), "")
	}
	var shown []binding
	unread := f.pendingRequest() != nil && f.shown.unread() > 0
	for _, b := range bindings() {
		if (!b.always || b.told != nil && b.told(f.Model)) && b.when(f.Model) && (!b.decides || f.problem == "") {
			b.dim = b.approves && unread
			b.name = f.keyName(&b)
			shown = append(shown, b)
		}
	}
	if item := f.pendingRequest(); item != nil && item.Risk == riskHigh { // no comes first
		slices.SortStableFunc(shown, func(x, y binding) int {
			return cmp.Compare(btoi(y.refuses), btoi(x.refuses))
		})
	}
	if unread { // first things first
		slices.SortStableFunc(shown, func(x, y binding) int {
			switch {
			case x.name == "Space" && y.name != "Space":
				return -1
			case y.name == "Space" && x.name != "Space":
				return 1
			}
			return 0
		})
	}
	return f.joinKeys(shown, keysHint())
}

// keysHint ends the line of keys: it has only some of them.
func keysHint() string { return styleAccent.Render("?") + " keys" }

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// keyName returns how a key is shown: of the digits only those that mean something.
func (f frame) keyName(b *binding) string {
	if b.name == digitKeys && f.pendingRequest() != nil {
		return digitNames(len(f.pendingRequest().Questions[0].Options))
	}
	return b.name
}

// pageKeys returns the keys of a text that is read.
func pageKeys(more, back bool, leave string) []binding {
	var keys []binding
	if more {
		keys = append(keys, binding{name: "Space", does: "more"})
	}
	if back {
		keys = append(keys, binding{name: "b", does: "back"})
	}
	return append(keys, binding{name: "Esc", does: leave})
}

// bottomWidth returns how many columns the lines at the bottom have.
func (f frame) bottomWidth() int {
	if f.hasAir() {
		return f.width - 2
	}
	return f.width
}

// joinKeys are as many keys as fit, and what comes at the end; the help has them all.
func (f frame) joinKeys(list []binding, last string) string {
	line, _ := f.fitKeys(list, last)
	return line
}

// fitKeys is joinKeys, and says how many keys didn't fit.
func (f frame) fitKeys(list []binding, last string) (line string, cut int) {
	for i, b := range list {
		ink := styleAccent
		switch {
		case b.approves:
			ink = styleDone.Bold(true)
		case b.refuses:
			ink = styleFailed.Bold(true)
		}
		part := ink.Render(b.name) + " " + b.does + "  "
		if b.dim {
			part = styleFaint.Render(b.name+" "+b.does) + "  "
		}
		if ansi.StringWidth(line+part+last) > f.bottomWidth() {
			return line + last, len(list) - i
		}
		line += part
	}
	return line + last, 0
}

// helpLines returns all keys by what they are for. A key that does several things, each in its
// place, has one line.
func helpLines(width int) []string {
	var groups [][]string
	for _, g := range keyGroups {
		var names []string
		does := map[string][]string{}
		for _, b := range bindings() {
			if b.group != g || b.help == hidden {
				continue
			}
			if does[b.name] == nil {
				names = append(names, b.name)
			}
			does[b.name] = append(does[b.name], strings.TrimSuffix(b.helpText(), " …"))
		}
		lines := []string{styleBold.Render(string(g))}
		for _, name := range names {
			lines = append(lines, " "+styleAccent.Render(padRight(name, 7))+strings.Join(does[name], " / "))
		}
		groups = append(groups, lines)
	}
	legend := indentWrapped("", "▲ permission  ! dangerous  ? question  ≡ plan  ✎ form  △ in its own terminal", width)
	for i := range legend {
		legend[i] = styleFaint.Render(legend[i])
	}
	if width < 68 {
		return joinGroups(append(groups, legend))
	}
	left, right := joinGroups([][]string{groups[0], groups[3]}), joinGroups(groups[1:3])
	half := width / 2
	out := make([]string, max(len(left), len(right)))
	for i := range out {
		line := ""
		if i < len(left) {
			line = ansi.Truncate(left[i], half-2, "…")
		}
		if i < len(right) {
			line = padRight(line, half) + right[i]
		}
		out[i] = line
	}
	return append(out, legend...)
}

func joinGroups(groups [][]string) []string {
	var out []string
	for i, g := range groups {
		if i > 0 {
			out = append(out, "")
		}
		out = append(out, g...)
	}
	return out
}

// leftText returns how much time is left.
func leftText(d time.Duration) string {
	if d <= 0 {
		return "time's up"
	}
	return spanText(d) + " left"
}

func spanText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", (int(d.Seconds())+9)/10*10) // a calm screen
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", int(d.Round(time.Minute).Minutes()))
	}
	return fmt.Sprintf("%dh", int(d.Hours()))
}

// agoText returns how long ago something was.
func agoText(d time.Duration) string {
	if d < time.Second {
		return "just now"
	}
	return ageText(d) + " ago"
}

func ageText(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < 10*time.Second:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds())/5*5) // a calm screen
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d.Hours()/24))
}
