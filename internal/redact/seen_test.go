package redact

import (
	"fmt"
	"testing"
)

func TestMemoryIsBounded(t *testing.T) {
	m := newSeen()
	value := func(i int) string { return fmt.Sprintf("%08xSecret%dZ", i*2654435761%(1<<32), i) }
	if !m.Empty() || m.LookUp(value(0)) != 0 {
		t.Error("a new memory knows something")
	}
	const last = 2 * MaxValues
	for i := range last + 1 {
		m.Note(value(i))
	}
	total := 0
	for _, list := range m.heads {
		total += len(list)
	}
	if total > MaxValues || len(m.recent) > MaxValues {
		t.Errorf("%d values and %d in the ring, at most %d are allowed", total, len(m.recent), MaxValues)
	}
	if n := m.LookUp(value(0)); n != 0 {
		t.Errorf("the oldest value is still known: %d", n)
	}
	if n := m.LookUp(value(last) + " and more"); n != len(value(last)) {
		t.Errorf("the newest value is known with %d bytes, expected %d", n, len(value(last)))
	}
	if n := m.LookUp(value(last) + "more"); n != 0 {
		t.Errorf("a longer word is taken for the value: %d", n)
	}
}
