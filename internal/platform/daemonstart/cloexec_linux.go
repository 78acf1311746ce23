package daemonstart

import (
	"os"
	"strconv"
	"syscall"
)

// closeOnExec marks every descriptor from 3 up: an agent may have left its own pipes open in
// this process, and a daemon that inherited them would keep it waiting.
func closeOnExec() {
	// close_range has the same number on every architecture; kernels before
	// 5.11 don't know the flag that only marks.
	const closeRange, flagCloexec = 436, 4
	if _, _, errno := syscall.RawSyscall(closeRange, 3, ^uintptr(0)>>32, flagCloexec); errno == 0 {
		return
	}
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		markRange(1024)
		return
	}
	defer func() { _ = dir.Close() }() // only read from
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if fd, err := strconv.Atoi(name); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
