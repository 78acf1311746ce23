//go:build !linux

package authority

import "os"

// programFile returns the file that a process runs, by its path.
func programFile(pid int, program string) string {
	if pid == os.Getpid() && program == "" {
		program, _ = os.Executable() // "" cannot be opened
	}
	return program
}

// runsFile has nothing to compare here: the path comes from the kernel, and
// there are no mounts of one's own to bend it with.
func runsFile(int, string) bool { return true }
