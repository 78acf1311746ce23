package recorder

import "sync"

const (
	queueItems = 16 << 10
	queueBytes = 64 << 20
	batchItems = 512
)

// queue keeps items in memory, in the order in which they were written down,
// until the drain takes them. Putting something in does not wake the drain.
type queue struct {
	mu    sync.Mutex
	items []item
	bytes int64 // in the queue and in the batch being stored
}

// putItem takes an item without ever waiting. False means that there is no room
// and it must be read back from disk.
func (q *queue) putItem(i item) bool {
	size := i.sizeInMemory()
	i.known = true
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) >= queueItems || q.bytes+size > queueBytes {
		return false
	}
	q.bytes += size
	q.items = append(q.items, i)
	return true
}

// takeBatch takes what is there, up to a batch.
func (q *queue) takeBatch(batch []item) []item {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(batchItems-len(batch), len(q.items))
	batch = append(batch, q.items[:n]...)
	left := copy(q.items, q.items[n:])
	clear(q.items[left:])
	q.items = q.items[:left]
	if left == 0 && cap(q.items) > 4*batchItems {
		q.items = nil // a flood is over
	}
	return batch
}

// releaseBatch frees the room of a batch that is stored.
func (q *queue) releaseBatch(batch []item) {
	var freed int64
	for i := range batch {
		freed += batch[i].sizeInMemory()
		batch[i] = item{}
	}
	q.mu.Lock()
	q.bytes -= freed
	q.mu.Unlock()
}

func (q *queue) waiting() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items)
}
