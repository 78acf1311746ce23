package approvals

import (
	"context"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/sessions/window"
)

// watchAgent ends a request whose agent goes away or is answered in its own
// window, as long as ctx lasts.
func (s *Service) watchAgent(ctx context.Context, ticket *queue.Ticket, ev *event.Event) {
	var gone, decided <-chan struct{}
	if ev.Where.PID > 0 {
		gone = s.WatchExit(ctx, ev.Where.PID, ev.Where.Start)
	}
	a, ok := s.Catalogue.EntryOf(ev.Agent, ev.Native)
	if ok && a.Inbox.PromptAt(ev.Native) == agent.PromptState && ev.Kind != event.ToolBefore {
		// Before a call the agent shows no dialog: the file is about another one.
		decided = window.Answered(ctx, s.Background.Go, a.Inbox.State, ev)
	}
	if gone == nil && decided == nil {
		return
	}
	s.Background.Go(func() {
		select {
		case <-ctx.Done():
		case <-gone:
			s.queue.End(ticket.ID(), queue.AgentGone)
		case <-decided:
			// If a session has several requests, it isn't known which one this was; the next
			// event about each shows it.
			if onlyDialog(s.queue, ev, a.Inbox) {
				s.queue.End(ticket.ID(), queue.AtPrompt)
			}
		}
	})
}

// onlyDialog reports whether no more than one request of the session waits that
// has a dialog in the agent's terminal.
func onlyDialog(requests *queue.Table, ev *event.Event, spec *agent.Inbox) bool {
	n := 0
	for _, item := range requests.Items(false) {
		if item.Agent == ev.Agent && item.Session == ev.Session && spec.PromptAt(item.Event) != agent.PromptHidden {
			n++
		}
	}
	return n <= 1
}
