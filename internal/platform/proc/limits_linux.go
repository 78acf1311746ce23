package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Unlimited is a limit that isn't set.
const Unlimited = ^uint64(0)

// FileLocks returns the hard limit of a process on file locks, a limit that Linux
// keeps and passes on to children but has not applied since 2.4.25.
func FileLocks(pid int) (uint64, error) {
	if pid <= 0 {
		return 0, ErrGone
	}
	var buf [4096]byte
	path := "/proc/" + strconv.Itoa(pid) + "/limits"
	n, err := readOnce(path, buf[:])
	if err != nil {
		return 0, err
	}
	limit, err := parseFileLocks(buf[:n])
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return limit, nil
}

// parseFileLocks finds the third column of the row for file locks.
func parseFileLocks(b []byte) (uint64, error) {
	const row = "\nMax file locks"
	i := bytes.Index(b, []byte(row))
	if i < 0 {
		return 0, errMalformed
	}
	line, _, _ := bytes.Cut(b[i+len(row):], []byte("\n"))
	words := bytes.Fields(line)
	if len(words) < 2 {
		return 0, errMalformed
	}
	if string(words[1]) == "unlimited" {
		return Unlimited, nil
	}
	limit, err := strconv.ParseUint(string(words[1]), 10, 64)
	if err != nil {
		return 0, errMalformed
	}
	return limit, nil
}

// LimitFileLocks sets both limits on file locks of a process of this user. Only
// root can raise them again.
func LimitFileLocks(pid int, limit uint64) error {
	if pid <= 0 {
		return ErrGone
	}
	r := unix.Rlimit{Cur: limit, Max: limit}
	if err := unix.Prlimit(pid, rlimitLocks, &r, nil); err != nil {
		return goneOr("/proc/"+strconv.Itoa(pid)+"/limits", err)
	}
	return nil
}

// rlimitLocks is RLIMIT_LOCKS on every architecture Go supports.
const rlimitLocks = 10

// maxDescendants limits how many processes Below lists.
const maxDescendants = 4096

// Descendants lists the processes that a process started, directly or through others,
// without itself.
func Descendants(pid int) []int {
	found, seen := []int{}, map[int]bool{pid: true}
	for next := []int{pid}; len(next) > 0 && len(found) < maxDescendants; {
		parent := next[0]
		next = next[1:]
		children, err := childrenOf(parent)
		if err != nil {
			return belowByScan(pid)
		}
		for _, child := range children {
			if !seen[child] {
				seen[child] = true
				found, next = append(found, child), append(next, child)
			}
		}
	}
	return found
}

// childrenOf reads what each thread of a process has started. Kernels without that file
// return an error; a process that is gone has no children.
func childrenOf(pid int) ([]int, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/task"
	threads, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil
	}
	var pids []int
	for _, thread := range threads {
		b, err := os.ReadFile(dir + "/" + thread.Name() + "/children")
		if err != nil {
			if _, gone := os.Stat(dir + "/" + thread.Name()); gone != nil {
				continue
			}
			return nil, err
		}
		for _, word := range bytes.Fields(b) {
			if child, err := strconv.Atoi(string(word)); err == nil {
				pids = append(pids, child)
			}
		}
	}
	return pids, nil
}

// belowByScan looks at every process of the machine.
func belowByScan(top int) []int {
	children := map[int][]int{}
	for _, pid := range List() {
		if p, err := (system{}).LookupWithoutOwner(pid); err == nil {
			children[p.PPID] = append(children[p.PPID], pid)
		}
	}
	var found []int
	for next := []int{top}; len(next) > 0 && len(found) < maxDescendants; {
		list := children[next[0]]
		delete(children, next[0])
		next = append(next[1:], list...)
		found = append(found, list...)
	}
	return found
}
