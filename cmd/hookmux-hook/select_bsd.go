//go:build unix && !linux

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
	if err := syscall.Select(f+1, &set, nil, nil, &tv); err != nil {
		return false, err
	}
	return set.Bits[f/bits]&(1<<(f%bits)) != 0, nil
}
