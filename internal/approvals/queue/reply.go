package queue

import "github.com/hookmux/hookmux/internal/wire"

// Answer is the result of a reply.
type Answer struct {
	Outcome Outcome
	Item    wire.InboxRequest
}

// Reply answers a request. commit records the answer and may complete it; it runs outside
// of every lock, and if it fails, nothing was answered and the request keeps waiting.
// Another reply waits meanwhile: the first one wins only if its answer is on record;
// otherwise it's this one's turn.
func (t *Table) Reply(id string, said UserAnswer, commit func(r *Request, said *UserAnswer) error) (Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	e := t.byID[id]
	if e == nil {
		return Answer{Outcome: Unknown}, nil
	}
	for e.end == Waiting && e.claim != nil {
		first := e.claim
		t.whileUnlocked(func() {
			select {
			case <-first:
			case <-e.over: // it ended for another reason
			}
		})
	}
	if e.end != Waiting {
		return Answer{lateOutcome(e), e.asItem()}, nil
	}
	claim := make(chan struct{})
	e.claim = claim
	defer func() { // also when commit panics: nobody may wait for ever
		e.claim = nil
		close(claim)
	}()
	var err error
	t.whileUnlocked(func() { err = commit(&e.request, &said) })
	if err != nil {
		return Answer{Item: e.asItem()}, err
	}
	if e.end != Waiting {
		// It ended while the answer was recorded: nothing waits for it any more.
		return Answer{lateOutcome(e), e.asItem()}, nil
	}
	t.endEntry(e, Answered, said)
	return Answer{Delivered, e.asItem()}, nil
}

// whileUnlocked lets go of the table while do runs.
func (t *Table) whileUnlocked(do func()) {
	t.mu.Unlock()
	defer t.mu.Lock()
	do()
}

// lateOutcome returns the outcome of a reply that came too late.
func lateOutcome(e *entry) Outcome {
	if e.end == Answered || e.end == AtPrompt {
		return Already
	}
	return Gone
}
