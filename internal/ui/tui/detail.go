package tui

import (
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// page is everything about a row, line by line: what is above a request's text, the
// text, and what is below.
type page struct {
	head []string
	body *body
	tail []string
}

func (p *page) length() int {
	n := len(p.head) + len(p.tail)
	if p.body != nil {
		n += len(p.body.lines)
	}
	return n
}

// line draws one line.
func (p *page) line(i int) string {
	if i < len(p.head) {
		return p.head[i]
	}
	i -= len(p.head)
	if p.body != nil {
		if i < len(p.body.lines) {
			return p.body.lines[i].render()
		}
		i -= len(p.body.lines)
	}
	return p.tail[i]
}

// visible returns the lines that fit on height lines of the screen.
func (p *page) visible(scroll, height int) []string {
	top := min(scroll, max(0, p.length()-height))
	var out []string
	for i := top; i < min(p.length(), top+height); i++ {
		out = append(out, p.line(i))
	}
	return fill(out, height)
}

// details holds what was read about the selected session.
type details struct {
	key      string // of the row it belongs to
	session  *wire.SessionDetail
	timeline timeline
	err      error
	read     time.Time
	stale    bool // it did something since

	lines     []string // as they were drawn last
	width     int
	drawnTime time.Time
}

// note takes over what the daemon said about the session; the rest is read again.
func (d *details) note(session *wire.Session) {
	d.stale = true
	if d.session != nil {
		d.session.Session, d.lines = *session, nil
	}
}

// detailPause is how often the details of a session at work are read.
const detailPause = time.Second

// hiddenLines returns how many lines of the details are below the screen.
func (m *Model) hiddenLines() int {
	if m.selectedRow() == nil || m.width < 1 || m.opts.Sidebar {
		return 0
	}
	place := m.layout().detail
	return max(0, m.page(place.width).length()-m.scroll-place.height)
}

// page returns everything about the selected row, wrapped.
func (m *Model) page(width int) *page {
	r := m.selectedRow()
	switch {
	case r == nil:
		return &page{}
	case r.request != nil:
		return requestPage(m, r, width)
	case r.decided != nil:
		return &page{head: r.decided.head(m.opts.Now(), width), body: r.decided.bodyFor(m, width)}
	}
	return &page{head: sessionLines(m, r, width)}
}

// requestPage returns a request in full: what it would do, and exactly the text whose hash the
// answer carries; below it the session's last steps.
func requestPage(m *Model, r *row, width int) *page {
	item, height := r.request, m.layout().detail.height
	p := &page{head: effectLines(item, width), body: m.bodyOf(item, width)}
	if len(p.head) > 0 && height >= 8 {
		p.head = append(p.head, "")
	}
	p.tail = m.planKeys(item)
	if m.mode == modeTyping && !m.typing.inline && m.isSideBySide() { // what's below the popup moves down
		p.tail = append(p.tail, make([]string, max(lowHeight-len(p.tail), 0))...)
	}
	p.tail = append(p.tail, m.tailOf(r, width, height-p.length())...)
	return p
}

// planKeys say which key answers a plan how, as a question's options do in its text; nothing if
// the line at the bottom has room for all of them.
func (m *Model) planKeys(item *wire.InboxRequest) []string {
	if item.Kind != "plan" || m.opts.Sidebar {
		return nil
	}
	var lines []string
	var keys []binding
	for _, b := range bindings() {
		if (b.approves || b.refuses) && b.group == groupAnswer && b.when(m) {
			keys = append(keys, b)
			lines = append(lines, "  "+styleAccent.Render(b.name)+"  "+b.helpText())
		}
	}
	if _, cut := (frame{m}).fitKeys(keys, keysHint()); cut == 0 {
		return nil
	}
	return append([]string{""}, lines...)
}

// effectOf describes what a request's call would do. That no rule matches is the usual case and
// isn't said.
func effectOf(item *wire.InboxRequest) string {
	const none = "no rule matches"
	effect := strings.TrimSuffix(item.Effect, " · "+none)
	if effect == none {
		return ""
	}
	return effect
}

// effectLines say what the call would do, as guards and rules see it.
func effectLines(item *wire.InboxRequest, width int) []string {
	effect := effectOf(item)
	if effect == "" {
		return nil
	}
	mark, style := "▸ ", styleWaiting
	switch item.Risk {
	case riskHigh:
		mark, style = " !  ", styleFailed.Bold(true)
	case riskLow:
		style = styleDone
	}
	lines := indentWrapped(mark, termsafe.Line(effect, 0), width)
	for i := range lines {
		if said, ok := strings.CutPrefix(lines[i], " !  "); ok && i == 0 && item.Risk == riskHigh {
			lines[i] = styleOffBar.Render(" ! ") + " " + style.Render(said)
			continue
		}
		lines[i] = style.Render(lines[i])
	}
	return lines
}

// manyLines are the most lines of steps below a request; fewSteps the fewest steps.
const (
	fewSteps  = 4
	manyLines = 40
)

// latestSteps returns the last steps that fit, with their results if all of them fit. The last few
// are there in any case.
func latestSteps(steps []step, width, room int) []string {
	for _, lines := range []int{maxResult, 3, 0} {
		var out []string
		first := len(steps)
		for first > 0 {
			drawn := steps[first-1].draw(width, lines)
			if len(out)+len(drawn) > room && len(steps)-first >= min(fewSteps, room) {
				break
			}
			out = append(drawn, out...)
			first--
		}
		if first == 0 || lines == 0 {
			return out
		}
	}
	return nil
}

// tailOf returns what is below a request: what its session did and said last, as much as fits
// in the remaining space.
func (m *Model) tailOf(r *row, width, room int) []string {
	if m.layout().aside.width > 0 {
		return frame{m}.othersWaiting(r, width, room)
	}
	var tail []string
	var said []string
	if words := lastWords(r.session); words != "" {
		said = append(said, "", titledRule(width, styleFaint.Render("It said"), ""))
		for _, line := range indentWrapped("  ", words, width) {
			said = append(said, styleFaint.Render(line))
		}
	}
	if m.details.key == r.key() {
		if steps := m.details.timeline.about(r); len(steps) > 0 {
			tail = append(tail, "", titledRule(width, styleFaint.Render("Last steps"), ""))
			tail = append(tail, latestSteps(steps, width, min(max(room-len(said)-2, 1), manyLines))...)
		}
	}
	if m.details.key == r.key() && m.details.session != nil && m.layout().aside.width == 0 {
		about := wrapStyled(m.details.aboutLines(m), width)
		if len(tail)+len(said)+len(about)+2 <= room {
			said = append(append(said, "", titledRule(width, styleFaint.Render("About"), "")), about...)
		}
	}
	if rest := room - len(tail); len(tail) > 0 && rest > 0 && rest < 3 {
		tail = append(tail, make([]string, rest)...) // a title alone would say nothing
	}
	tail = append(tail, said...)
	if len(tail) > 0 && room > 0 && room < 3 { // a title alone would say nothing
		tail = append(make([]string, room), tail...)
	}
	return tail
}

// lastWords returns what a session said last: in this turn, else at the end of an earlier one.
func lastWords(s *wire.Session) string {
	switch {
	case s == nil:
		return ""
	case s.Turn != nil && s.Turn.Summary != "":
		return termsafe.Line(s.Turn.Summary, 600)
	}
	return termsafe.Line(s.LastWords, 600)
}

// sessionLines returns what a session does now, its last steps, and everything else that is
// known about it.
func sessionLines(m *Model, r *row, width int) []string {
	d := &m.details
	switch {
	case d.key == r.key() && d.err != nil:
		return wrapStyled([]string{errorText(d.err)}, width)
	case d.session == nil || d.key != r.key():
		return []string{styleFaint.Render("…")}
	}
	now := m.opts.Now()
	if d.lines != nil && d.width == width && now.Sub(d.drawnTime).Abs() < time.Second {
		return d.lines
	}
	lines := []string{joinFacts(frame{m}.whoText(r), m.shortFolder(termsafe.Line(r.session.Cwd, 0)))}
	if doing := termsafe.Line(text.Doing(&d.session.Session), 600); doing != "" {
		lines = append(lines, "", doing)
	}
	if steps := d.timeline.about(r); len(steps) > 0 {
		lines = append(lines, "", titledRule(width, styleFaint.Render("Last steps"), ""))
		for i := range steps {
			lines = append(lines, steps[i].draw(width, maxResult)...)
		}
	}
	if m.layout().aside.width == 0 {
		lines = append(lines, "", titledRule(width, styleFaint.Render("About"), ""))
		lines = append(lines, d.aboutLines(m)...)
	}
	d.lines, d.width, d.drawnTime = wrapStyled(lines, width), width, now
	return d.lines
}

// aboutLines returns everything else that is known about a session.
func (d *details) aboutLines(m *Model) []string {
	shown, now := *d.session, m.opts.Now()
	shown.Cwd = m.shortFolder(shown.Cwd)
	var b strings.Builder
	text.Style{Color: true}.SessionAbout(&b, &shown, now, true)
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// asideLines returns the session's last steps, and what is known about it.
func (f frame) asideLines(r *row, width, height int) []string {
	d := &f.details
	if r == nil || d.key != r.key() || d.session == nil {
		return nil
	}
	about := wrapStyled(d.aboutLines(f.Model), width)
	var lines []string
	if steps := d.timeline.about(r); r.request != nil && len(steps) > 0 {
		lines = latestSteps(steps, width, max(height-len(about)-2, fewSteps))
		lines = append(lines, "", titledRule(width, styleFaint.Render("About"), ""))
	}
	return append(lines, about...)
}

// othersWaiting returns the other requests, each in full if all of them fit.
func (f frame) othersWaiting(r *row, width, room int) []string {
	for _, most := range []int{1 << 10, 12, 6, 3} {
		if lines := f.othersIn(r, width, most); len(lines) <= room {
			return lines
		}
	}
	return nil
}

// othersIn returns the other requests with at most most lines each.
func (f frame) othersIn(r *row, width, most int) []string {
	var lines []string
	for i := range f.list.rows {
		other := &f.list.rows[i]
		if other.request == nil || other.key() == r.key() {
			continue
		}
		if lines == nil {
			lines = []string{"", titledRule(width, styleFaint.Render("Also waiting · Tab goes there"), "")}
		}
		mark, style := other.sign()
		title := style.Bold(true).Render(mark) + " " + styleBold.Render(termsafe.Line(other.title(), width))
		lines = append(lines, ansi.Truncate(title+styleFaint.Render(" · "+termsafe.Line(other.agentName(), 20)), width, "…"))
		about := effectLines(other.request, width-2)
		card := newBody(f.Model, other.request, width-2).lines
		for len(card) > 1 && card[1].goesOn { // of its first line
			card = card[1:]
		}
		for i := 1; i < len(card); i++ {
			if card[i].text != "" {
				about = append(about, card[i].render())
			}
		}
		if cut := len(about) - most; cut > 0 {
			about = append(about[:most], styleFaint.Render("  ↓ "+countLines(cut)))
		}
		for _, line := range about {
			lines = append(lines, "  "+line)
		}
		lines = append(lines, "")
	}
	return lines
}

// shortFolder writes the home folder as ~.
func (m *Model) shortFolder(path string) string {
	rest, ok := strings.CutPrefix(path, m.opts.Home)
	if m.opts.Home == "" || !ok || rest != "" && rest[0] != '/' {
		return path
	}
	return "~" + rest
}

// longFolder returns a folder that was shortened, or typed with ~.
func (m *Model) longFolder(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && m.opts.Home != "" && (rest == "" || rest[0] == '/') {
		return m.opts.Home + rest
	}
	return path
}

// stateText says what a session does, and since when.
func stateText(r *row, now time.Time) string {
	age := now.Sub(r.since())
	switch r.section {
	case sectionDone, sectionFailed, sectionEnded:
		return sectionWords[r.section] + " " + agoText(age)
	}
	switch {
	case age < time.Second && r.section == sectionRunning:
		return "just started"
	case age < time.Second:
		return "now " + sectionWords[r.section]
	}
	return sectionWords[r.section] + " for " + ageText(age)
}
