package redact

import (
	"hash/maphash"
	"sync/atomic"
)

// This file remembers short texts in which nothing was found, so that what every event
// repeats (ids, folders, the names of members) is searched for secrets once. It keeps
// keyed hashes, not the texts. Two texts with one hash of 64 bits under a random key are
// what it takes to be wrong.

// maxCleanText is the longest text that is worth a place.
const maxCleanText = 512

const slots = 1 << 12

// Cache is safe for concurrent use. A nil one knows nothing.
type Cache struct {
	seed maphash.Seed
	keys [slots]atomic.Uint64
}

// newCleanTexts returns an empty cache with a key of its own.
func newCleanTexts() *Cache { return &Cache{seed: maphash.MakeSeed()} }

// Key returns a key for a text, what was asked about it, and how much was known at the time: an
// answer is only valid for the same knowledge.
func (c *Cache) Key(text string, asked uint8, knowledge uint32) uint64 {
	mixed := maphash.String(c.seed, text) ^ (uint64(knowledge)<<8|uint64(asked))*0x9e3779b97f4a7c15
	return max(mixed, 1) // an empty place is 0
}

// Has reports whether a text is known to be clean.
func (c *Cache) Has(key uint64) bool { return c.keys[key%slots].Load() == key }

// Add remembers that a text is clean; whatever had its slot is forgotten.
func (c *Cache) Add(key uint64) { c.keys[key%slots].Store(key) }
