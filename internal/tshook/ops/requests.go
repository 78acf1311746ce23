package ops

import "sync"

const (
	// maxHeld is how many bytes of requests one file's servers keep at once: two
	// of the largest.
	maxHeld = 2 * maxBody
	// maxRequests is how many they keep, however small.
	maxRequests = 256
)

// requestLimit limits the requests that wait for a hook's answer. Any program of this
// machine can send them; they must not fill the daemon's memory.
type requestLimit struct {
	mu    sync.Mutex
	bytes int64
	count int
}

// reserve makes room for a request; false when there is none.
func (h *requestLimit) reserve(bytes int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= maxRequests || h.bytes+bytes > maxHeld {
		return false
	}
	h.count++
	h.bytes += bytes
	return true
}

func (h *requestLimit) giveBack(bytes int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
	h.bytes -= bytes
}
