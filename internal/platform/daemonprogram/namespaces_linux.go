package daemonprogram

import (
	"errors"
	"os"
	"strconv"

	"github.com/hookmux/hookmux/internal/platform/smallfile"
)

var (
	errOtherNamespace = errors.New("the process on the daemon's socket runs in another namespace, where settings and " +
		"programs may be other files")
	errHiddenNamespace = errors.New("the namespace of the process on the daemon's socket cannot be looked at")
)

// maxMap is more than a map of users ever has.
const maxMap = 64 << 10

// checkNamespaces refuses a process in another user or mount namespace: the installed
// hookmux itself may run there, with other files under the names of its own.
//
// A daemon hides its links in /proc/PID/ns together with its memory, and only root reads
// them then. The map of its users is shown to everybody, in the numbers of whoever
// reads it, and cannot be the own one in another user namespace; and without one of its
// own a program of the user gets no mount namespace of its own.
func checkNamespaces(process string) error {
	theirs, err := smallfile.Read(process+"/uid_map", maxMap)
	if err != nil {
		return errHiddenNamespace
	}
	own, err := smallfile.Read("/proc/self/uid_map", maxMap)
	switch {
	case err != nil:
		return errHiddenNamespace
	case string(own) != string(theirs):
		return errOtherNamespace
	}
	for _, kind := range []string{"/ns/mnt", "/ns/user"} {
		theirs, err := os.Readlink(process + kind)
		if err != nil {
			return nil // it is hidden, as a daemon's is
		}
		if own, err := os.Readlink("/proc/self" + kind); err != nil || own != theirs {
			return errOtherNamespace
		}
	}
	return nil
}

// IsElsewhere reports whether a process is known to be in another user or mount
// namespace.
func IsElsewhere(pid int) bool {
	return errors.Is(checkNamespaces("/proc/"+strconv.Itoa(pid)), errOtherNamespace)
}

// checkUnseen refuses a process whose number cannot be seen.
func checkUnseen() error { return errHiddenNamespace }
