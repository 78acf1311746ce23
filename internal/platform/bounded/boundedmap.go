package bounded

import "iter"

// This file is a map that keeps a limited number of entries: first in, first out. It is for
// what a daemon remembers while it runs.

// Map holds at most as many entries as the limit passed to [Map.Put]. The zero value is an
// empty map. It isn't safe for concurrent use.
type Map[K comparable, V any] struct {
	entries map[K]numbered[V]
	// order has every entry once, oldest first, and what is left of deleted ones.
	order []orderItem[K]
	last  uint64
}

// numbered is a value with the number that its key has in the order.
type numbered[V any] struct {
	value  V
	number uint64
}

type orderItem[K comparable] struct {
	key    K
	number uint64
}

// Len returns how many entries there are.
func (m *Map[K, V]) Len() int { return len(m.entries) }

// Get returns the value of a key.
func (m *Map[K, V]) Get(key K) (V, bool) {
	e, ok := m.entries[key]
	return e.value, ok
}

// Has reports whether there is an entry of that key.
func (m *Map[K, V]) Has(key K) bool {
	_, ok := m.entries[key]
	return ok
}

// Put sets the value of a key. An existing key keeps its place. For a new one the oldest
// entry is removed once there are limit entries, and returned.
func (m *Map[K, V]) Put(key K, value V, limit int) (oldest K, dropped V, full bool) {
	if e, ok := m.entries[key]; ok {
		m.entries[key] = numbered[V]{value, e.number}
		return oldest, dropped, false
	}
	if m.entries == nil {
		m.entries = map[K]numbered[V]{}
	}
	if len(m.entries) >= limit {
		oldest, dropped, full = m.dropOldest()
	}
	if len(m.order) >= 2*limit {
		m.compactOrder()
	}
	m.last++
	m.entries[key] = numbered[V]{value, m.last}
	m.order = append(m.order, orderItem[K]{key, m.last})
	return oldest, dropped, full
}

// Delete takes an entry out.
func (m *Map[K, V]) Delete(key K) {
	delete(m.entries, key)
	if len(m.entries) == 0 {
		m.order = m.order[:0]
	}
}

// Clear takes all entries out.
func (m *Map[K, V]) Clear() {
	clear(m.entries)
	m.order = nil
}

// All iterates over the entries, oldest first. Entries may be deleted in the meantime, but
// none added.
func (m *Map[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, item := range m.order {
			if e, ok := m.entries[item.key]; ok && e.number == item.number && !yield(item.key, e.value) {
				return
			}
		}
	}
}

// Backward iterates over the entries, newest first. Entries may be deleted in the meantime,
// but none added.
func (m *Map[K, V]) Backward() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := len(m.order) - 1; i >= 0; i-- {
			item := m.order[i]
			if e, ok := m.entries[item.key]; ok && e.number == item.number && !yield(item.key, e.value) {
				return
			}
		}
	}
}

func (m *Map[K, V]) dropOldest() (key K, value V, dropped bool) {
	for len(m.order) > 0 {
		item := m.order[0]
		m.order = m.order[1:]
		if e, ok := m.entries[item.key]; ok && e.number == item.number {
			delete(m.entries, item.key)
			return item.key, e.value, true
		}
	}
	return key, value, false
}

// compactOrder forgets what is left of deleted entries.
func (m *Map[K, V]) compactOrder() {
	kept := make([]orderItem[K], 0, len(m.entries)+1)
	for _, item := range m.order {
		if e, ok := m.entries[item.key]; ok && e.number == item.number {
			kept = append(kept, item)
		}
	}
	m.order = kept
}
