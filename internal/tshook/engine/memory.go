package engine

import (
	"math/bits"
	"os"
	"runtime/debug"
	"unsafe"

	"modernc.org/libc"
)

// Engines use two kinds of memory in addition to Go's: an allocator that all of them share,
// and one stack each. Neither returns memory to the system, so one bad turn would keep many
// times what a daemon needs.

// ReleaseMemory returns unused memory of engines to the system. It costs a garbage
// collection, so it is called only after a strain.
func ReleaseMemory() {
	debug.FreeOSMemory()
	discardFreed(uint(DefaultLimits.Memory))
}

// The allocator keeps freed blocks by size, each a power of two from smallestBlock
// on. Of each size the blocks freed last stay resident: hotBytes of them, and at
// least one.
const (
	smallestBlock = 64 << 10
	hotBytes      = 4 << 20
)

// discardFreed discards those blocks' pages, up to the given size. The allocator
// has no call for it, so this allocates the blocks, discards their pages and frees
// them again. It makes no page resident.
func discardFreed(largest uint) {
	header := uint(unsafe.Sizeof(uintptr(0))) * 16 // the allocator's own is shorter
	for size := uint(smallestBlock); size <= 1<<bits.Len(largest-1); size *= 2 {
		taken := make([]uintptr, 0, max(hotBytes/size, 1))
		for range cap(taken) {
			block := libc.Xmalloc(nil, libc.Tsize_t(size-header))
			if block == 0 {
				break // no room means that no block of this size is kept
			}
			discardPages(block, block+uintptr(libc.UsableSize(block)))
			taken = append(taken, block)
		}
		// The one freed last is the first to be used again.
		for i := len(taken) - 1; i >= 0; i-- {
			libc.Xfree(nil, taken[i])
		}
	}
}

// discardPages drops the content of the whole pages of a block.
func discardPages(from, to uintptr) {
	page := uintptr(os.Getpagesize())
	from, to = (from+page-1)&^(page-1), to&^(page-1)
	if from < to {
		forgetPages(from, to-from)
	}
}
