//go:build !(linux || darwin)

package engine

const emptiedLater = true

// forgetPages leaves it to the allocator.
func forgetPages(_, _ uintptr) {}
