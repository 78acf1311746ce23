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

// visible are the lines that fit in so many lines of the screen.
func (p *page) visible(scroll, height int) []string {
	top := min(scroll, max(0, p.length()-height))
	var out []string
	for i := top; i < min(p.length(), top+height); i++ {
		out = append(out, p.line(i))
	}
	return fill(out, height)
}

// details is what was read about the selected session.
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

// hiddenLines is how many lines of the details are below the screen.
func (m *Model) hiddenLines() int {
	if m.selectedRow() == nil || m.width < 1 || m.opts.Sidebar {
		return 0
	}
	place := m.layout().detail
	return max(0, m.page(place.width).length()-m.scroll-place.height)
}

// page is everything about the selected row, wrapped.
func (m *Model) page(width int) *page {
	r := m.selectedRow()
	switch {
	case r == nil:
		return &page{}
	case r.request != nil:
		return requestPage(m, r, width)
	case r.decided != nil:
		return &page{head: r.decided.head(m.opts.Now(), width), body: r.decided.bodyFor(width)}
	}
	return &page{head: sessionLines(m, r, width)}
}

// requestPage is a request in full: who asks, what it would do, and exactly the text
// whose hash the answer carries; below it the session's last steps.
func requestPage(m *Model, r *row, width int) *page {
	item, now, height := r.request, m.opts.Now(), m.layout().detail.height
	p := &page{body: m.bodyOf(item, width)}
	facts := []string{"asked " + agoText(now.Sub(item.CreatedAt))}
	if !item.Deadline.IsZero() && !isWindow(item) {
		facts = append(facts, waitText(item.Deadline.Sub(now)))
	}
	if s := r.session; s != nil && s.Unasked != "" {
		facts = append(facts, termsafe.Line(s.Unasked, 10)+" mode")
	}
	facts = m.withUsage(r, facts, width)
	p.head = append(p.head, titleWithFacts(termsafe.Line(r.title(), max(width, 1)), strings.Join(facts, " · "), width, height)...)
	p.head = append(p.head, effectLines(item, width)...)
	if height >= 8 {
		p.head = append(p.head, "")
	}
	if m.layout().aside.width == 0 {
		p.tail = m.tailOf(r, width, height-len(p.head)-len(p.body.lines))
	}
	return p
}

// withUsage puts what the session used before the other facts beside its title, where there
// is room and no panel's edge says it.
func (m *Model) withUsage(r *row, facts []string, width int) []string {
	if r.session == nil || m.layout().side {
		return facts
	}
	with := facts
	if used := text.UsedInShort(r.session.Usage); used != "" {
		with = append([]string{used}, facts...)
	}
	if ansi.StringWidth(termsafe.Line(r.title(), width)+strings.Join(with, " · "))+2 > width {
		return facts
	}
	return with
}

// titleWithFacts is a title with something about it at the right, or below where both
// don't fit in a line.
func titleWithFacts(title, facts string, width, height int) []string {
	width = max(width, 1)
	if gap := width - ansi.StringWidth(title) - ansi.StringWidth(facts); gap >= 2 {
		return []string{styleBold.Render(title) + strings.Repeat(" ", gap) + styleFaint.Render(facts)}
	}
	lines := []string{ansi.Truncate(styleBold.Render(title), width, "…")}
	if height >= 8 {
		lines = append(lines, ansi.Truncate(styleFaint.Render(facts), width, "…"))
	}
	return lines
}

// effectOf is what a request's call would do. That no rule matches is the usual case and
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

// The fewest and the most steps below a request.
const (
	fewSteps  = 4
	manySteps = 20
)

// tailOf is what is below a request: what its session did last and said last, as much as
// fits in the room that's left.
func (m *Model) tailOf(r *row, width, room int) []string {
	var tail []string
	var said []string
	if words := lastWords(r.session); words != "" {
		said = append(said, "", titledRule(width, styleFaint.Render("It said"), ""))
		for _, line := range indentWrapped("  ", words, width) {
			said = append(said, styleFaint.Render(line))
		}
	}
	steps := m.details.timeline.steps
	if m.details.timeline.asking && len(steps) > 0 {
		steps = steps[:len(steps)-1] // it's the request itself
	}
	if m.details.key == r.key() && len(steps) > 0 {
		least := fewSteps
		if room >= 3 { // the latest are in sight
			least = min(room-2, fewSteps)
		}
		most := min(max(room-len(said)-2, least), manySteps, len(steps))
		tail = append(tail, "", titledRule(width, styleFaint.Render("Last steps"), ""))
		tail = append(tail, wrapStyled(steps[len(steps)-most:], width)...)
	}
	tail = append(tail, said...)
	if len(tail) > 0 && room > 0 && room < 3 { // a title alone would say nothing
		tail = append(make([]string, room), tail...)
	}
	return tail
}

// lastWords is what a session said last: in this turn, else at the end of an earlier one.
func lastWords(s *wire.Session) string {
	switch {
	case s == nil:
		return ""
	case s.Turn != nil && s.Turn.Summary != "":
		return termsafe.Line(s.Turn.Summary, 600)
	}
	return termsafe.Line(s.LastWords, 600)
}

// sessionLines are what a session does now, its last steps, and everything else that is
// known about it.
func sessionLines(m *Model, r *row, width int) []string {
	d := &m.details
	title := styleBold.Render(termsafe.Line(r.title(), 0))
	switch {
	case d.key == r.key() && d.err != nil:
		return wrapStyled([]string{title, "", errorText(d.err)}, width)
	case d.session == nil || d.key != r.key():
		return []string{ansi.Truncate(title, max(width, 1), "…"), "", styleFaint.Render("…")}
	}
	now := m.opts.Now()
	if d.lines != nil && d.width == width && now.Sub(d.drawnTime).Abs() < time.Second {
		return d.lines
	}
	state := strings.Join(m.withUsage(r, []string{stateText(r, now)}, width), " · ")
	lines := titleWithFacts(termsafe.Line(r.title(), max(width, 1)), state, width, m.layout().detail.height)
	if doing := termsafe.Line(text.Doing(&d.session.Session), 600); doing != "" {
		lines = append(lines, "", "  "+doing)
	}
	if len(d.timeline.steps) > 0 {
		lines = append(lines, "", titledRule(width, styleFaint.Render("Last steps"), ""))
		lines = append(lines, d.timeline.steps...)
	}
	if m.layout().aside.width == 0 {
		lines = append(lines, "", titledRule(width, styleFaint.Render("About"), ""))
		lines = append(lines, d.aboutLines(now)...)
	}
	d.lines, d.width, d.drawnTime = wrapStyled(lines, width), width, now
	return d.lines
}

// aboutLines are everything else that is known about a session.
func (d *details) aboutLines(now time.Time) []string {
	var b strings.Builder
	text.Style{Color: true}.SessionAbout(&b, d.session, now, 2)
	return strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
}

// asideLines are what the session did and said, and what else is known about it.
func (f frame) asideLines(r *row, width, height int) []string {
	if r == nil {
		return nil
	}
	var lines []string
	if r.request != nil {
		if lines = f.tailOf(r, width, height); len(lines) > 0 {
			lines = lines[1:] // it begins with an empty line
		}
	}
	if d := &f.details; d.key == r.key() && d.session != nil {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, titledRule(width, styleFaint.Render("About"), ""))
		lines = append(lines, wrapStyled(d.aboutLines(f.opts.Now()), width)...)
	}
	return lines
}

// stateText says what a session does, and since when.
func stateText(r *row, now time.Time) string {
	age := now.Sub(r.since())
	switch r.section {
	case sectionRunning:
		return "running for " + ageText(age)
	case sectionDone, sectionFailed, sectionEnded:
		return sectionWords[r.section] + " " + agoText(age)
	}
	return sectionWords[r.section] + " for " + ageText(age)
}
