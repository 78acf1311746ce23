//go:build !(linux || darwin)

package module

// forgetPages leaves it to the allocator.
func forgetPages(_, _ uintptr) {}
