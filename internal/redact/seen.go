package redact

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

// This file remembers secret values as keyed hashes, so that they are recognised again where
// nothing else gives them away.

const (
	// MaxValues bounds how many values a memory keeps; the oldest goes first.
	MaxValues = 4096
	// A value of this length is kept: shorter ones are found by chance, and
	// longer ones (a cookie jar, a key file) do not come back as one word.
	MinLength, maxSeen = 12, 512
	// perHead bounds how many values with the same beginning are kept.
	perHead = 8
	headLen = 8
)

// Memory knows the values that were replaced because of their surroundings, so that they are
// also replaced where they are on their own: in the output of a program that was given a
// password. Only keyed hashes are kept, under a key that is made at the start and never leaves
// the process.
type Memory struct {
	key  [32]byte
	mix  uint64 // odd, secret: spreads the first bytes over the filter
	size atomic.Int32
	// noted is the number of values that were ever kept.
	noted atomic.Uint32

	// filter has a bit for the beginning of every value. It is read without the
	// lock: a bit seen too late only means that one text passes the older way.
	filter [1 << 10]atomic.Uint64

	mu     sync.RWMutex
	heads  map[uint64][]seenValue
	recent []uint64 // beginnings in the order they came, a ring
	oldest int
}

type seenValue struct {
	length int
	sum    [16]byte
}

// newSeen returns an empty memory with a key of its own.
func newSeen() *Memory {
	m := &Memory{heads: map[uint64][]seenValue{}}
	_, _ = rand.Read(m.key[:]) // crypto/rand never fails
	m.mix = binary.LittleEndian.Uint64(m.key[:]) | 1
	return m
}

func (m *Memory) headOf(s string) uint64 {
	h := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	h *= m.mix
	h ^= h >> 29
	return h * m.mix
}

func (m *Memory) hashValue(s string) (sum [16]byte) {
	var buf [32 + maxSeen]byte
	n := copy(buf[:], m.key[:])
	n += copy(buf[n:], s)
	full := sha256.Sum256(buf[:n])
	copy(sum[:], full[:])
	return sum
}

// LookUp returns how many bytes at the beginning of s are a known value.
func (m *Memory) LookUp(s string) int {
	if len(s) < MinLength || m.size.Load() == 0 {
		return 0
	}
	head := m.headOf(s)
	if m.filter[head>>54].Load()&(1<<(head>>48&63)) == 0 {
		return 0
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	longest := 0
	for _, v := range m.heads[head] {
		if v.length <= len(s) && v.length > longest && endsSeen(s, v.length) && m.hashValue(s[:v.length]) == v.sum {
			longest = v.length
		}
	}
	return longest
}

// endsSeen reports whether a known value ends here: one that continues as a longer word
// is another word.
func endsSeen(s string, end int) bool {
	return end >= len(s) || !isAlnum(s[end]) || !isAlnum(s[end-1])
}

// Note keeps a value whose length allows it.
func (m *Memory) Note(value string) {
	if len(value) < MinLength || len(value) > maxSeen {
		return
	}
	head, sum := m.headOf(value), m.hashValue(value)
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.heads[head]
	for _, v := range list {
		if v.length == len(value) && v.sum == sum {
			return
		}
	}
	if len(list) >= perHead {
		return
	}
	if len(m.recent) < MaxValues {
		m.recent = append(m.recent, head)
	} else {
		m.forgetOldest()
		m.recent[m.oldest] = head
		m.oldest = (m.oldest + 1) % MaxValues
	}
	m.heads[head] = append(m.heads[head], seenValue{len(value), sum})
	word := &m.filter[head>>54]
	word.Store(word.Load() | 1<<(head>>48&63))
	m.size.Store(int32(len(m.recent)))
	m.noted.Add(1) // last: a reader that sees the count finds the value
}

// forgetOldest removes the oldest value. Its bit in the filter may belong to
// another value too and stays, which costs an occasional lookup.
func (m *Memory) forgetOldest() {
	head := m.recent[m.oldest]
	if list := m.heads[head]; len(list) > 1 {
		m.heads[head] = append([]seenValue(nil), list[1:]...)
	} else {
		delete(m.heads, head)
	}
}

// Noted returns how many values were ever kept. What was found clean is clean for as
// long as it stays the same.
func (m *Memory) Noted() uint32 {
	if m == nil {
		return 0
	}
	return m.noted.Load()
}

// Empty reports whether nothing was noted yet.
func (m *Memory) Empty() bool { return m == nil || m.size.Load() == 0 }

func isAlnum(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' }
