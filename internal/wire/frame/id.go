package frame

import (
	"math/rand/v2"
	"time"
)

// alphabet is Crockford's base 32 in lower case: digits sort before letters,
// and i, l, o, u are left out.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns an id of 26 characters that sorts by time (a ULID in lower
// case: 48 bits of milliseconds, 80 random ones). The random bits come from the
// runtime's own generator, which the kernel seeds at every program start: ids
// need to be unique, not secret, and crypto/rand would cost the client more
// start-up than the rest of its work.
func NewID() string { return newID(time.Now()) }

func newID(now time.Time) string {
	ms := uint64(max(0, now.UnixMilli()))
	var id [26]byte
	for i := 9; i >= 0; i-- {
		id[i] = alphabet[ms&31]
		ms >>= 5
	}
	a, b := rand.Uint64(), rand.Uint64()
	for i := 10; i < 18; i++ {
		id[i] = alphabet[a&31]
		id[i+8] = alphabet[b&31]
		a, b = a>>5, b>>5
	}
	return string(id[:])
}
