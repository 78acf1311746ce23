package proc

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// maxFiles limits how many descriptors of a process are looked at.
const maxFiles = 4096

// openFiles calls each with number and target of the open files of a process,
// until it says stop.
func openFiles(pid int, each func(fd, target string) bool) error {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	f, err := os.Open(dir)
	if err != nil {
		return goneOr(dir, errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }() // only read
	names, err := f.Readdirnames(maxFiles)
	if err != nil && len(names) == 0 {
		return goneOr(dir, err)
	}
	for _, name := range names {
		target, err := os.Readlink(dir + "/" + name)
		if err == nil && !each(name, target) {
			break
		}
	}
	return nil
}

// HoldsMaster reports whether a process has the master side of a pseudo terminal
// open, which is where the keys of that terminal come from.
func HoldsMaster(pid int, tty string) (bool, error) {
	number, ok := strings.CutPrefix(tty, "/dev/pts/")
	if !ok || pid <= 0 {
		return false, nil
	}
	found := false
	err := openFiles(pid, func(fd, target string) bool {
		if !strings.HasSuffix(target, "/ptmx") {
			return true
		}
		var buf [1024]byte
		n, err := readOnce("/proc/"+strconv.Itoa(pid)+"/fdinfo/"+fd, buf[:])
		found = err == nil && terminalIndex(buf[:n]) == number
		return !found
	})
	return found, err
}

// Masters lists the pseudo terminals whose master side a process has open.
func Masters(pid int) ([]string, error) {
	var ttys []string
	err := openFiles(pid, func(fd, target string) bool {
		var buf [1024]byte
		if strings.HasSuffix(target, "/ptmx") {
			if n, err := readOnce("/proc/"+strconv.Itoa(pid)+"/fdinfo/"+fd, buf[:]); err == nil {
				ttys = append(ttys, "/dev/pts/"+terminalIndex(buf[:n]))
			}
		}
		return true
	})
	return ttys, err
}

// terminalIndex returns the number of the terminal that a master belongs to.
func terminalIndex(info []byte) string {
	const row = "tty-index:"
	for line := range bytes.Lines(info) {
		if rest, ok := bytes.CutPrefix(line, []byte(row)); ok {
			return string(bytes.TrimSpace(rest))
		}
	}
	return ""
}

// OpenFiles lists the targets of a process's descriptors: paths, "socket:[N]".
func OpenFiles(pid int) ([]string, error) {
	var targets []string
	err := openFiles(pid, func(_, target string) bool {
		targets = append(targets, target)
		return true
	})
	return targets, err
}

// AtFile lists the processes that have a file open, of those that may be looked at.
func AtFile(path string) []int {
	var pids []int
	for _, pid := range List() {
		_ = openFiles(pid, func(_, target string) bool { // another user's, or gone
			if target == path {
				pids = append(pids, pid)
			}
			return target != path
		})
	}
	return pids
}

// SocketNumbers lists the sockets of a process by the kernel's numbers.
func SocketNumbers(pid int) (map[uint32]bool, error) {
	numbers := map[uint32]bool{}
	err := openFiles(pid, func(_, target string) bool {
		if rest, ok := strings.CutPrefix(target, "socket:["); ok {
			if n, err := strconv.ParseUint(strings.TrimSuffix(rest, "]"), 10, 32); err == nil {
				numbers[uint32(n)] = true
			}
		}
		return true
	})
	return numbers, err
}

// StdinTerminal returns the terminal that a process has as its standard input, "" if that is
// something else.
func StdinTerminal(pid int) (string, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/fd/0"
	info, err := os.Stat(path)
	if err != nil {
		return "", goneOr(path, errors.Unwrap(err))
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || info.Mode()&os.ModeCharDevice == 0 {
		return "", nil
	}
	major, minor := unix.Major(st.Rdev), unix.Minor(st.Rdev)
	return ttyPath(major<<8 | minor&0xff | (minor&^0xff)<<12), nil
}
