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

// batch is several requests that are approved together: each in full, one below the
// other, as they were when the batch was opened. What comes later is no part of it.
type batch struct {
	items  []*wire.InboxRequest
	heads  []string // who asks
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
		if offersOnce(item) {
			n++
		}
	}
	return n > 1
}

func offersOnce(item *wire.InboxRequest) bool {
	return !isWindow(item) && slices.Contains(item.Choices, "once")
}

// openBatch shows all requests that a yes answers.
func openBatch(m *Model) tea.Cmd {
	b := &batch{}
	for i := range m.list.rows {
		r := &m.list.rows[i]
		if r.request != nil && offersOnce(r.request) {
			b.items = append(b.items, r.request)
			b.heads = append(b.heads, termsafe.Line(r.request.Agent+" · "+r.title(), 200))
		}
	}
	if len(b.items) == 0 {
		m.status = "None of these can be approved together."
		return nil
	}
	m.mode, m.batch = modeBatch, b
	return nil
}

// bodyFor is the text of all requests for so many columns.
func (b *batch) bodyFor(width int) *body {
	if b.body != nil && b.body.width == width {
		return b.body
	}
	b.body = &body{width: width}
	for i, item := range b.items {
		if i > 0 {
			b.body.addLine("", &stylePlain)
		}
		b.body.addLine(fmt.Sprintf("%d of %d  %s", i+1, len(b.items), b.heads[i]), &styleBold)
		if item.Effect != "" {
			mark, style := "▸ ", &styleWaiting
			if item.Risk == riskHigh {
				mark, style = "! ", &styleDanger
			}
			b.body.addLine(mark+text.EscapeMarks(termsafe.Line(item.Effect, 0)), style)
		}
		b.body.addCard(item.Shown, item.Kind == "plan")
		if item.Note != "" {
			b.body.addLine(termsafe.Line(item.Note, 0), &styleWaiting)
		}
	}
	return b.body
}

// hash names exactly these texts.
func (b *batch) hash() string {
	var all strings.Builder
	for _, item := range b.items {
		all.WriteString(item.ID + " " + item.SHA256 + "\n")
	}
	return all.String()
}

// noteShown takes down what of the batch is on the screen.
func (b *batch) noteShown(m *Model) {
	in := m.popupRoom(widePopup)
	now, height := m.opts.Now(), in.height
	body := b.bodyFor(in.width)
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

// hidden is how many lines are below the screen.
func (b *batch) hidden(m *Model) int {
	in := m.popupRoom(widePopup)
	return max(0, len(b.bodyFor(in.width).lines)-b.scroll-in.height)
}

// handleBatchKey is a key while a batch is read.
func handleBatchKey(m *Model, key string) tea.Cmd {
	b := m.batch
	m.status = ""
	page := max(1, m.popupRoom(widePopup).height-1)
	switch key {
	case "space", "pgdown", "down", "j":
		// Not past what was not drawn; noteShown bounds it by the end.
		b.scroll = max(b.scroll, min(b.scroll+page, b.shown.furthest(m.opts.Now())))
	case "b", "pgup", "up", "k":
		b.scroll = max(0, b.scroll-page)
	case "esc", "q":
		m.mode, m.batch, m.status = modeList, nil, "Nothing was approved."
	case "B":
		return approveBatch(m)
	default:
		m.status = "B approves all of them, Esc cancels."
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
		if now := m.board.findRequest(item.ID); now != nil && !isWindow(now) && now.SHA256 == item.SHA256 &&
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
	approved := 0
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
		return said + ".", nil
	})
}
