//go:build !(linux || darwin)

package module

const emptiedLater = true

// forgetPages leaves it to the allocator.
func forgetPages(_, _ uintptr) {}
