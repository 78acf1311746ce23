package feed

import "github.com/hookmux/hookmux/internal/wire"

// Answer is what a reply came to.
type Answer struct {
	Outcome Outcome
	Item    wire.FeedItem
}

// Reply answers a request. commit writes the answer down and may complete it;
// it runs outside of every lock, and when it fails nothing was answered and
// the request goes on waiting. While it runs, another reply is told that
// somebody was first.
func (t *Table) Reply(id string, said Said, commit func(r *Request, said *Said) error) (Answer, error) {
	t.mu.Lock()
	e := t.byID[id]
	if e == nil {
		t.mu.Unlock()
		return Answer{Outcome: Unknown}, nil
	}
	if e.end != Waiting || e.claimed {
		defer t.mu.Unlock()
		return Answer{lost(e), e.item()}, nil
	}
	e.claimed = true
	t.mu.Unlock()

	err := commit(&e.request, &said)

	t.mu.Lock()
	defer t.mu.Unlock()
	e.claimed = false
	if err != nil {
		return Answer{Item: e.item()}, err
	}
	if e.end != Waiting {
		// It ended while the answer was written down: nobody hears it.
		return Answer{lost(e), e.item()}, nil
	}
	t.finish(e, Answered, said)
	return Answer{Delivered, e.item()}, nil
}

// lost is what a reply hears that came too late.
func lost(e *entry) Outcome {
	if e.end == Answered || e.end == InWindow || e.claimed {
		return Already
	}
	return Gone
}
