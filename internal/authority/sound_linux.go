package authority

import (
	"os"
	"strconv"
)

// programFile returns a path that opens the file a process runs, wherever that file is.
func programFile(pid int, _ string) string { return "/proc/" + strconv.Itoa(pid) + "/exe" }

// runsFile compares the running file with the one at its path: in a mount
// namespace of its own, which needs no privileges, a process can lay any file
// over any path. A file replaced by an upgrade is gone from its path; then it
// must be root's.
func runsFile(pid int, program string) bool {
	running, err := os.Stat("/proc/" + strconv.Itoa(pid) + "/exe")
	if err != nil {
		return false
	}
	if there, err := os.Stat(program); err == nil && os.SameFile(running, there) {
		return true
	}
	link, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
	return err == nil && link == program+deletedSuffix && ownedByRoot(running)
}
