package daemonstart

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/files"
)

var (
	errOtherNamespace = errors.New("the process on the daemon's socket runs in another namespace, where settings and " +
		"programs may be other files")
	errHiddenNamespace = errors.New("the namespace of the process on the daemon's socket cannot be looked at")
	errConfined        = errors.New("the process on the daemon's socket runs in a sandbox (seccomp, no_new_privs) that " +
		"this program doesn't run in, and that can show it other files")
)

// maxMap is more than a map of users ever has.
const maxMap = 64 << 10

// checkNamespaces rejects a process in another user or mount namespace: the installed
// hookmux itself may run there, with different files under the same names.
//
// A daemon hides its links in /proc/PID/ns together with its memory, and then only root can
// read them. The map of its users is visible to everyone, in the numbers of the reader, and
// in another user namespace it can't be the reader's own; without a user namespace of its
// own, a program of the user gets no mount namespace of its own.
func checkNamespaces(process string) error {
	theirs, err := files.Read(process+"/uid_map", maxMap)
	if err != nil {
		return errHiddenNamespace
	}
	own, err := files.Read("/proc/self/uid_map", maxMap)
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

// checkConfinement rejects a process that is confined more than this one: by filters of
// system calls (seccomp), whose owner can answer them in the system's place, or without a way
// to new privileges, as bwrap runs programs among other files, with no user namespace if it
// is set-uid. Neither can be undone, and everyone may read both. What confines a container
// confines this process, too.
func checkConfinement(process string) error {
	theirs, known := readConfinement(process)
	if !known || theirs == (confinement{}) {
		return nil
	}
	if own, known := readConfinement("/proc/self"); !known || theirs.noNewPrivileges > own.noNewPrivileges ||
		theirs.seccomp > own.seccomp || theirs.filters > own.filters {
		return errConfined
	}
	return nil
}

// confinement is what /proc/PID/status says about it; filters stays 0 before Linux 5.9.
type confinement struct{ noNewPrivileges, seccomp, filters int }

func readConfinement(process string) (c confinement, known bool) {
	text, err := files.Read(process+"/status", maxMap)
	if err != nil {
		return c, false
	}
	fields := map[string]*int{"NoNewPrivs": &c.noNewPrivileges, "Seccomp": &c.seccomp, "Seccomp_filters": &c.filters}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		if field := fields[name]; field != nil {
			if *field, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return c, false
			}
			known = true
		}
	}
	return c, known
}

// IsConfinedElsewhere reports whether a process is known to be in another user or mount
// namespace, or confined more than this one.
func IsConfinedElsewhere(pid int) bool {
	process := "/proc/" + strconv.Itoa(pid)
	return errors.Is(checkNamespaces(process), errOtherNamespace) || checkConfinement(process) != nil
}

// checkUnseen rejects a process whose pid can't be seen.
func checkUnseen() error { return errHiddenNamespace }
