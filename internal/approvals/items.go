package approvals

import (
	"context"
	"slices"
	"time"

	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// mayAnswer reports whether the peer could answer: you see everything you decide about,
// everything else gets what the journal gets.
func (s *Service) mayAnswer(peer proc.Cred) bool {
	ok, _ := s.MayAnswer(peer)
	return ok
}

// itemsFor gives the requests that wait, as the peer may see them; with all,
// also those that ended lately.
func itemsFor(s *Service, peer proc.Cred, all bool) []wire.InboxRequest {
	items := s.queue.Items(all)
	if !s.mayAnswer(peer) {
		for i := range items {
			items[i] = withoutSecrets(items[i])
		}
	}
	return append(items, s.waitingElsewhere(false)...)
}

// PolledItems is itemsFor for a program that asks for the list. If one of your own does so
// repeatedly, it counts as someone who could answer.
func (s *Service) PolledItems(peer proc.Cred, all bool) []wire.InboxRequest {
	if p, err := s.Processes.Lookup(peer.PID); err == nil && s.mayAnswer(peer) &&
		s.attendance.polls.notePoll(watcher{p.PID, p.Start}, time.Now()) {
		s.Background.After(s.Context, pollSpan, s.attendance.abandonIfAlone)
	}
	return itemsFor(s, peer, all)
}

// WaitingFor returns everything that waits for you, in the inbox or at an agent's own
// prompt, as the peer may see it.
func (s *Service) WaitingFor(peer proc.Cred) []wire.InboxRequest {
	// The sessions' list is the one list; it is read first, so that what was
	// answered meanwhile is not shown.
	waiting := s.Sessions.Waiting()
	if !s.mayAnswer(peer) {
		for i := range waiting {
			waiting[i] = withoutSecrets(waiting[i])
		}
	}
	list := joinWaiting(waiting, itemsFor(s, peer, false))
	for _, item := range s.waitingElsewhere(true) {
		if item.Status == wire.InboxPrompt {
			list = append(list, item)
		}
	}
	return list
}

// sessionReporter reports every request that starts or stops waiting to the sessions, so
// that there is one list of what waits for you.
type sessionReporter struct{ sessions Sessions }

func (n sessionReporter) RequestOpened(id string, r *queue.Request) {
	n.sessions.RequestOpened(id, r.Event, r.Opened)
}

func (n sessionReporter) RequestEnded(id string, r *queue.Request, why queue.End) {
	n.sessions.RequestEnded(id, why.IsFinal() && !r.ByHook)
}

// joinWaiting returns everything that waits for you, from the sessions' list. Requests in
// the inbox are complete, as the queue knows them.
func joinWaiting(waiting, queued []wire.InboxRequest) []wire.InboxRequest {
	list, known := []wire.InboxRequest{}, map[string]bool{}
	for _, item := range waiting {
		if item.Status == wire.InboxPrompt {
			list = append(list, item)
			continue
		}
		known[item.ID] = true
		i := slices.IndexFunc(queued, func(h wire.InboxRequest) bool { return h.ID == item.ID })
		if i >= 0 {
			list = append(list, queued[i])
		}
	}
	for _, item := range queued {
		if !known[item.ID] { // of a session that a person had forgotten
			list = append(list, item)
		}
	}
	return list
}

// PromptsChanged records which of a session's requests are at the agent's own prompt.
func (s *Service) PromptsChanged(agent, session string, items []wire.InboxRequest) {
	s.windows.setItems(promptKey{agent, session}, items)
}

// jumpTime is how long a terminal may take to bring a pane forward.
const jumpTime = 3 * time.Second

// Jump says where a session runs and brings its pane to the front. A peer that may not
// decide only learns where: an agent that moved your windows could make you type into
// another one.
func (s *Service) Jump(agent, session string, peer proc.Cred) map[string]any {
	out := map[string]any{"matched": false, "focused": false}
	matched := func(cwd, pane string) {
		out["matched"], out["agent"], out["session"], out["cwd"], out["pane"] = true, agent, session, cwd, pane
	}
	for _, item := range s.queue.Items(true) {
		if item.Agent == agent && item.Session == session {
			matched(item.Cwd, item.Pane)
			out["why"] = "it is not known where the session runs"
		}
	}
	for _, one := range s.Sessions.List(true) {
		if one.Agent != agent || one.ID != session {
			continue
		}
		matched(one.Cwd, one.Pane)
		if why := s.bringForward(&one, peer); why != "" {
			out["why"] = why
		} else {
			out["focused"] = true
			delete(out, "why")
		}
		break
	}
	return out
}

// bringForward says why a session's pane could not be shown, "" when it is.
func (s *Service) bringForward(one *wire.Session, peer proc.Cred) string {
	switch {
	case one.Ended != nil:
		return "the session has ended"
	case one.Mux == "" || one.Pane == "" || one.Pane == "unknown":
		return "the session sits in no pane or window that is known"
	case !s.mayAnswer(peer):
		return "only a program that you started may move windows"
	}
	ctx, cancel := context.WithTimeout(s.Context, jumpTime)
	defer cancel()
	attached, err := s.FocusPane(ctx, one)
	switch {
	case err != nil:
		return err.Error()
	case !attached:
		return "no client is attached to that tmux; the pane is selected for the next one"
	}
	return ""
}
