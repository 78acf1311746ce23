package daemonstart

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// lockHolder returns the process that took the lock on a file, as the kernel lists
// it, and the number of the file; 0 when it is not known.
func lockHolder(file string) (pid int, inode uint64) {
	var st syscall.Stat_t
	if syscall.Lstat(file, &st) != nil {
		return 0, 0
	}
	text, err := files.Read("/proc/locks", 4<<20)
	if err != nil {
		return 0, 0
	}
	return holderIn(string(text), st.Dev, st.Ino), st.Ino
}

// holderIn finds the holder of a flock in a list such as
//
//	1: FLOCK  ADVISORY  WRITE 4711 00:2f:1234 0 EOF
func holderIn(list string, device, inode uint64) int {
	want := hexPair(major(device)) + ":" + hexPair(minor(device)) + ":" + strconv.FormatUint(inode, 10)
	for line := range strings.Lines(list) {
		fields := strings.Fields(line)
		if len(fields) >= 6 && fields[1] == "FLOCK" && fields[5] == want {
			if pid, err := strconv.Atoi(fields[4]); err == nil && pid > 0 {
				return pid
			}
		}
	}
	return 0
}

func major(device uint64) uint64 { return device>>8&0xfff | device>>32&^0xfff }
func minor(device uint64) uint64 { return device&0xff | device>>12&^0xff }

func hexPair(n uint64) string {
	text := strconv.FormatUint(n, 16)
	if len(text) < 2 {
		return "0" + text
	}
	return text
}

// programName returns the short name of a process; "" for one that is gone.
func programName(pid int) string {
	text, err := files.Read("/proc/"+strconv.Itoa(pid)+"/comm", 256)
	if err != nil {
		return ""
	}
	// It becomes part of a file's name.
	return strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "/", "_")
}

func fileNumber(file string) uint64 {
	var st syscall.Stat_t
	if syscall.Lstat(file, &st) != nil {
		return 0
	}
	return st.Ino
}
