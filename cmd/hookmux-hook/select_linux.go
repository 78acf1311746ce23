package main

import (
	"syscall"
	"time"
)

// selectRead waits for a descriptor with select(2), which works with every kind of
// descriptor. EINVAL: its number is too large for that.
func selectRead(f int, wait time.Duration) (bool, error) {
	var set syscall.FdSet
	const bits = 8 * int(setWord)
	if f < 0 || f >= len(set.Bits)*bits {
		return false, syscall.EINVAL
	}
	set.Bits[f/bits] |= 1 << (f % bits)
	tv := syscall.NsecToTimeval(int64(wait))
	n, err := syscall.Select(f+1, &set, nil, nil, &tv)
	return n > 0, err
}
