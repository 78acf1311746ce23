package redact

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const (
	// maxSeen bounds how many values a memory keeps; the oldest goes first.
	maxSeen = 4096
	// A value of this length is kept: shorter ones are found by chance, and
	// longer ones (a cookie jar, a key file) do not come back as one word.
	minSeen, maxSeenLen = 12, 512
	// perHead bounds how many values with the same beginning are kept.
	perHead = 8
	headLen = 8
)

// memory knows the values that were replaced because of what stood around them,
// so that they are also replaced where they stand alone: the output of a program
// that was given a password. Only keyed hashes are kept, under a key that is
// made at the start and never leaves the process.
type memory struct {
	key   [32]byte
	mix   uint64 // odd, secret: spreads the first bytes over the filter
	size  atomic.Int32
	epoch atomic.Uint32 // counts additions; a text is looked at again after one

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

func newMemory() *memory {
	m := &memory{heads: map[uint64][]seenValue{}}
	_, _ = rand.Read(m.key[:]) // crypto/rand never fails
	m.mix = binary.LittleEndian.Uint64(m.key[:]) | 1
	return m
}

func (m *memory) headOf(s string) uint64 {
	h := uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
	h *= m.mix
	h ^= h >> 29
	return h * m.mix
}

func (m *memory) hashValue(s string) (sum [16]byte) {
	var buf [32 + maxSeenLen]byte
	n := copy(buf[:], m.key[:])
	n += copy(buf[n:], s)
	full := sha256.Sum256(buf[:n])
	copy(sum[:], full[:])
	return sum
}

// lookUp returns how many bytes at the beginning of s are a known value.
func (m *memory) lookUp(s string) int {
	if len(s) < minSeen || m.size.Load() == 0 {
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

// endsSeen: a known value that goes on as a longer word is another word.
func endsSeen(s string, end int) bool {
	return end >= len(s) || !isAlnum(s[end]) || !isAlnum(s[end-1])
}

// noteValue keeps a value that was replaced, if it is long and random enough to be
// known again.
func (m *memory) noteValue(value string) {
	for value != "" && !isAlnum(value[0]) {
		value = value[1:]
	}
	if !worthKeeping(value) {
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
	if len(m.recent) < maxSeen {
		m.recent = append(m.recent, head)
	} else {
		m.forgetOldest()
		m.recent[m.oldest] = head
		m.oldest = (m.oldest + 1) % maxSeen
	}
	m.heads[head] = append(m.heads[head], seenValue{len(value), sum})
	word := &m.filter[head>>54]
	word.Store(word.Load() | 1<<(head>>48&63))
	m.size.Store(int32(len(m.recent)))
	m.epoch.Add(1)
}

// forgetOldest takes the oldest value out. Its bit in the filter may belong to
// another value too and stays, which costs a look now and then.
func (m *memory) forgetOldest() {
	head := m.recent[m.oldest]
	if list := m.heads[head]; len(list) > 1 {
		m.heads[head] = append([]seenValue(nil), list[1:]...)
	} else {
		delete(m.heads, head)
	}
}

// worthKeeping tells values that are only found again when they are meant:
// long, random, one word, and neither an id, a path nor a version.
func worthKeeping(s string) bool {
	if len(s) < minSeen || len(s) > maxSeenLen || isUUID(s) || runEnd(s, 0, setDark) != len(s) {
		return false
	}
	if isMark(s) || isHarmless(s) || hasPathForm(s) || hasVersionForm(s) {
		return false
	}
	var have [128]bool
	distinct, digits, upper, lower, other := 0, 0, 0, 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !have[c] {
			have[c] = true
			distinct++
		}
		switch {
		case isDigit(c):
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case c >= 'a' && c <= 'z':
			lower++
		default:
			other++
		}
	}
	letters := upper + lower
	if digits == 0 && (upper < 2 || lower < 2 || other == 0) || letters == 0 {
		return false
	}
	return distinct >= 8
}

// hasPathForm tells a path or a host name: small words between slashes or dots.
func hasPathForm(s string) bool {
	slashes, dots := 0, 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '/':
			slashes++
		case '.':
			dots++
		}
	}
	return slashes >= 2 && !isDense(s) || dots >= 2 && !isDense(s)
}

// hasVersionForm tells 1.22.3-alpine and v0.0.0-20240101000000-abcdef.
func hasVersionForm(s string) bool {
	if s[0] == 'v' {
		s = s[1:]
	}
	i := 0
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	return i > 0 && i+1 < len(s) && s[i] == '.' && isDigit(s[i+1])
}
