package bounded

import (
	"maps"
	"slices"
	"testing"
	"testing/quick"
)

// model is the same map without any cleverness.
type model struct {
	limit  int
	keys   []byte
	values map[byte]int
}

func (m *model) put(key byte, value int) (byte, bool) {
	defer func() { m.values[key] = value }()
	if slices.Contains(m.keys, key) {
		return 0, false
	}
	m.keys = append(m.keys, key)
	if len(m.keys) <= m.limit {
		return 0, false
	}
	oldest := m.keys[0]
	m.keys = m.keys[1:]
	delete(m.values, oldest)
	return oldest, true
}

func (m *model) drop(key byte) {
	m.keys = slices.DeleteFunc(m.keys, func(k byte) bool { return k == key })
	delete(m.values, key)
}

// Whatever is put in and deleted, the map holds what the simple one holds, in its
// order, and its memory stays bounded.
func TestMapIsLikeASimpleOne(t *testing.T) {
	same := func(limit uint8, steps []uint16) bool {
		size := int(limit%7) + 1
		m, want := Map[byte, int]{}, &model{limit: size, values: map[byte]int{}}
		for i, step := range steps {
			key := byte(step % 11)
			if step>>8%3 == 0 {
				m.Delete(key)
				want.drop(key)
			} else {
				oldest, _, full := m.Put(key, i, size)
				wantOldest, wantFull := want.put(key, i)
				if full != wantFull || full && oldest != wantOldest {
					t.Logf("step %d: %d went (%v), want %d (%v)", i, oldest, full, wantOldest, wantFull)
					return false
				}
			}
			var keys []byte
			values := map[byte]int{}
			for k, v := range m.All() {
				keys, values[k] = append(keys, k), v
			}
			var backward []byte
			for k := range m.Backward() {
				backward = append(backward, k)
			}
			slices.Reverse(backward)
			if !slices.Equal(keys, want.keys) || !slices.Equal(backward, want.keys) ||
				!maps.Equal(values, want.values) ||
				m.Len() != len(want.keys) || len(m.order) > 2*size {
				t.Logf("step %d: %v %v, want %v %v; %d places in the order of a map of %d", i, keys, values, want.keys,
					want.values, len(m.order), size)
				return false
			}
		}
		return true
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}

func TestEmptyMap(t *testing.T) {
	var m Map[string, int]
	if _, ok := m.Get("a"); ok || m.Has("a") || m.Len() != 0 {
		t.Errorf("an empty map has %d entries, and a: %v", m.Len(), ok)
	}
	m.Delete("a")
	m.Clear()
	m.Put("a", 1, 2)
	if v, ok := m.Get("a"); !ok || v != 1 {
		t.Errorf("a is %d (%v), want 1", v, ok)
	}
	m.Clear()
	if m.Has("a") {
		t.Error("a is there after everything was taken out")
	}
}
