package tui

import (
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// page is everything about a row, line by line: what stands above a request's text,
// the text, and what stands below.
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

// visible are the lines that stand in so many lines of the screen.
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
	if m.selectedRow() == nil || m.width < 1 {
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

// requestPage is a request in full: who asks, and exactly the text whose hash the
// answer carries; below it what the agent said last.
func requestPage(m *Model, r *row, width int) *page {
	item, now := r.request, m.opts.Now()
	facts := []string{termsafe.Line(item.Agent, 20), "waits " + ageText(now.Sub(item.CreatedAt))}
	if !item.Deadline.IsZero() && !isWindow(item) {
		facts = append(facts, "until "+item.Deadline.Local().Format("15:04:05"))
	}
	p := &page{body: m.bodyOf(item, width), head: []string{
		styleBold.Render(termsafe.Line(r.title(), max(width, 1))), styleFaint.Render(strings.Join(facts, " · ")), ""}}
	if words := lastWords(r.session); words != "" {
		p.tail = append(p.tail, "", styleFaint.Render("it said last"))
		for _, line := range indentWrapped("  ", words, width) {
			p.tail = append(p.tail, styleFaint.Render(line))
		}
	}
	return p
}

// headOfRequest is how many lines of a request's details stand above its text.
const headOfRequest = 3

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

func sessionLines(m *Model, r *row, width int) []string {
	d := &m.details
	switch {
	case d.key == r.key() && d.err != nil:
		return wrapStyled([]string{styleBold.Render(termsafe.Line(r.title(), 0)), "", errorText(d.err)}, width)
	case d.session == nil || d.key != r.key():
		return []string{styleBold.Render(termsafe.Line(r.title(), width)), "", styleFaint.Render("…")}
	}
	now := m.opts.Now()
	if d.lines == nil || d.width != width || now.Sub(d.drawnTime).Abs() >= time.Second {
		var b strings.Builder
		text.Style{Color: true}.Session(&b, d.session, now, "")
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		lines = append(lines, d.timeline.lines...)
		d.lines, d.width, d.drawnTime = wrapStyled(lines, width), width, now
	}
	return d.lines
}
