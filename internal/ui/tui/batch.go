package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// batch is several requests that are approved together: each in full, one below the other, as
// they were when the batch was opened. What comes later isn't part of it.
type batch struct {
	items  []*wire.InboxRequest
	heads  []string // who asks
	left   int      // so many others wait: a yes to each of these is a key of its own
	body   *body
	scroll int
	shown  shown
}

// canBatch reports whether several requests wait that a yes answers.
func canBatch(m *Model) bool {
	if m.opts.Sidebar {
		return false
	}
	n := 0
	for _, item := range m.board.requests {
		if inBatch(item) {
			n++
		}
	}
	return n > 1
}

// inBatch reports whether a request may be approved together with others: it only wants
// a yes, and what it would do isn't dangerous.
func inBatch(item *wire.InboxRequest) bool {
	return !isWindow(item) && slices.Contains(item.Choices, "once") && item.Risk != riskHigh &&
		item.Kind != "plan" && item.Kind != "question" && len(item.Questions) == 0
}

// openBatch shows all requests in the list that may be approved together.
func openBatch(m *Model) tea.Cmd {
	b := &batch{}
	for i := range m.list.rows {
		r := &m.list.rows[i]
		if r.request != nil && inBatch(r.request) {
			b.items = append(b.items, r.request)
			b.heads = append(b.heads, termsafe.Line(r.request.Agent+" · "+r.title(), 200))
		}
	}
	if len(b.items) == 0 {
		m.status = "None of these can be approved together."
		return nil
	}
	b.left = m.list.counts[sectionWaiting] - len(b.items)
	m.mode, m.batch = modeBatch, b
	return nil
}

// bodyFor returns the text of all requests, at this width.
func (b *batch) bodyFor(m *Model, width int) *body {
	if b.body != nil && b.body.width == width {
		return b.body
	}
	b.body = &body{width: width}
	for i, item := range b.items {
		if i > 0 {
			b.body.addLine("", &stylePlain)
		}
		b.body.addLine(fmt.Sprintf("%d of %d  %s", i+1, len(b.items), b.heads[i]), &styleBold)
		if effect := effectOf(item); effect != "" {
			b.body.addLine(text.EscapeMarks(termsafe.Line(effect, 0)), &styleWaiting)
		}
		b.body.addCard(m.readable(item.Shown, item.Agent), item.Kind)
		if item.Note != "" {
			b.body.addLine(termsafe.Line(item.Note, 0), &styleWaiting)
		}
	}
	if b.left > 0 {
		b.body.addLine("", &stylePlain)
		b.body.addLine(b.leftText()+" A dangerous command, a plan or a question needs an answer of its own.", &styleWaiting)
	}
	return b.body
}

// title says how many requests are approved, and how many aren't.
func (b *batch) title() string {
	said := fmt.Sprintf("Approve %d together", len(b.items))
	if b.left > 0 {
		said += fmt.Sprintf(" · %d left for you", b.left)
	}
	return said
}

// countText says how many are approved.
func (b *batch) countText() string {
	if len(b.items) == 2 {
		return "both"
	}
	return fmt.Sprintf("these %d", len(b.items))
}

// leftText says how many requests aren't part of the batch.
func (b *batch) leftText() string {
	if b.left == 1 {
		return "1 other is left for you."
	}
	return fmt.Sprintf("%d others are left for you.", b.left)
}

// hash names exactly these texts.
func (b *batch) hash() string {
	var all strings.Builder
	for _, item := range b.items {
		all.WriteString(item.ID + " " + item.SHA256 + "\n")
	}
	return all.String()
}

// noteShown records what of the batch is on the screen.
func (b *batch) noteShown(m *Model) {
	in := m.popupRoom()
	now, height := m.opts.Now(), in.height
	body := b.bodyFor(m, in.width)
	b.scroll = min(b.scroll, max(0, len(body.lines)-height))
	b.shown.noteText(b.hash(), "")
	if b.shown.appeared.IsZero() && height > 0 && m.width > 0 {
		b.shown.appeared = now
	}
	if m.width > 0 && !b.shown.noteLines(body, b.scroll, b.scroll+height, now) {
		b.scroll = 0 // it is read from the beginning
		b.shown.noteLines(body, 0, height, now)
	}
}

// hidden returns how many lines are below the screen.
func (b *batch) hidden(m *Model) int {
	in := m.popupRoom()
	return max(0, len(b.bodyFor(m, in.width).lines)-b.scroll-in.height)
}

// handleBatchKey returns a key while a batch is read.
func handleBatchKey(m *Model, key string) tea.Cmd {
	b := m.batch
	m.status = ""
	page := max(1, m.popupRoom().height-1)
	switch key {
	case "space", "pgdown", "down", "j":
		// Not past what wasn't drawn; noteShown limits it to the end.
		b.scroll = max(b.scroll, min(b.scroll+page, b.shown.furthest(m.opts.Now())))
	case "b", "pgup", "up", "k":
		b.scroll = max(0, b.scroll-page)
	case "esc", "q":
		m.mode, m.batch, m.status = modeList, nil, "Nothing was approved."
	case "B":
		return approveBatch(m)
	default:
		m.status = "B approves " + b.countText() + ", Esc cancels."
	}
	return nil
}

// approveBatch says yes to each request of the batch that still waits as it was shown.
func approveBatch(m *Model) tea.Cmd {
	b := m.batch
	why := b.shown.whyNotYet(true, m.keyAt)
	switch {
	case m.problem != "":
		why = silentText
	case m.busy:
		why = "An answer is on its way."
	case why == "" && m.pressed.held:
		why = heldText
	}
	if why != "" {
		m.status = why
		return nil
	}
	var replies []client.InboxReply
	for _, item := range b.items {
		if now := m.board.findRequest(item.ID); now != nil && inBatch(now) && now.SHA256 == item.SHA256 &&
			now.Note == item.Note {
			replies = append(replies, replyFor(item, "once"))
		}
	}
	gone := len(b.items) - len(replies)
	m.mode, m.batch = modeList, nil
	if len(replies) == 0 {
		m.status = "Too late: none of them waits any more."
		return nil
	}
	approved, left := 0, b.left
	m.moved = false
	return m.decide(func(ctx context.Context, pin string) (string, error) {
		for len(replies) > 0 {
			reply := replies[0]
			reply.PIN = pin
			result, err := m.opts.Daemon.Reply(ctx, reply)
			if err != nil {
				return "", fmt.Errorf("%d approved; then %s: %w", approved, reply.ID, err)
			}
			replies = replies[1:]
			if result.Outcome == wire.ReplyDelivered {
				approved++
			} else {
				gone++
			}
		}
		said := fmt.Sprintf("Approved %d", approved)
		if gone > 0 {
			said += fmt.Sprintf("; %d had been answered or had changed", gone)
		}
		if left > 0 {
			said += fmt.Sprintf("; %d left for you", left)
		}
		return said + ".", nil
	})
}
