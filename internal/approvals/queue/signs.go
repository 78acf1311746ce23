package queue

import (
	"slices"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
)

// keepExpected bounds how many answers are followed.
const keepExpected = 512

func newSigns() signs {
	return signs{byKey: map[policy.Key][]*entry{}, byNumber: map[string]*entry{},
		byWorker: map[policy.Worker][]*entry{}}
}

func numberKey(e *event.Event, number string) string {
	return e.Agent + "\x00" + e.Session + "\x00" + number
}

func (s *signs) addEntry(e *entry) {
	for _, k := range e.keys {
		s.byKey[k] = append(s.byKey[k], e)
	}
	if n := e.request.Number; n != "" {
		s.byNumber[numberKey(e.request.Event, n)] = e
	}
	s.byWorker[e.worker] = append(s.byWorker[e.worker], e)
}

func (s *signs) dropEntry(e *entry) {
	for _, k := range e.keys {
		s.byKey[k] = removeEntry(s.byKey[k], e)
		if len(s.byKey[k]) == 0 {
			delete(s.byKey, k)
		}
	}
	if n := e.request.Number; n != "" {
		if key := numberKey(e.request.Event, n); s.byNumber[key] == e {
			delete(s.byNumber, key)
		}
	}
	s.byWorker[e.worker] = removeEntry(s.byWorker[e.worker], e)
	if len(s.byWorker[e.worker]) == 0 {
		delete(s.byWorker, e.worker)
	}
}

func removeEntry(list []*entry, e *entry) []*entry {
	if i := slices.Index(list, e); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// expectEffect follows an answer; it returns one that is no longer followed.
func (s *signs) expectEffect(e *entry) *entry {
	oldest, _, _ := s.expected.Put(e, struct{}{}, keepExpected)
	return oldest
}
