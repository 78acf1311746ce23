package tui

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

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
