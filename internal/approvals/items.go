package approvals

import (
	"time"

	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/wire"
)

// mayAnswer reports whether the peer is somebody who could answer: a person
// sees everything they decide about; anybody else gets what the journal gets.
func (s *Service) mayAnswer(peer proc.Cred) bool {
	ok, _ := s.MayAnswer(peer)
	return ok
}

// itemsFor gives the requests that wait, as the peer may see them; with all,
// also those that ended lately.
func itemsFor(s *Service, peer proc.Cred, all bool) []wire.FeedItem {
	items := s.queue.Items(all)
	if !s.mayAnswer(peer) {
		for i := range items {
			items[i] = withoutSecrets(items[i])
		}
	}
	return items
}

// PolledItems is itemsFor for a program that asks for the list. A person's
// own that does so again and again counts as somebody who could answer.
func (s *Service) PolledItems(peer proc.Cred, all bool) []wire.FeedItem {
	if p, err := s.Processes.Lookup(peer.PID); err == nil && s.mayAnswer(peer) &&
		s.attendance.polls.notePoll(watcher{p.PID, p.Start}, time.Now()) {
		time.AfterFunc(pollSpan, func() { letGo(s) })
	}
	return itemsFor(s, peer, all)
}

// WaitingFor gives everything that waits for a person, whether hookmux holds it or
// it stands in an agent's own window, as the peer may see it.
func (s *Service) WaitingFor(peer proc.Cred) []wire.FeedItem {
	// The sessions' list is the one list; it is read first, so that what was
	// answered meanwhile is not shown.
	waiting := s.Sessions.Waiting()
	return joinWaiting(waiting, itemsFor(s, peer, false))
}
