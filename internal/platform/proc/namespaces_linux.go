package proc

import (
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// namespaces are those that decide what a process sees of files, users and other processes.
var namespaces = [...]string{"mnt", "user", "pid"}

// ownNamespaces are this process's; they stay what they are.
var ownNamespaces = sync.OnceValue(func() (own [len(namespaces)]string) {
	for i, kind := range namespaces {
		own[i], _ = os.Readlink("/proc/self/ns/" + kind) // "" fits nobody's
	}
	return own
})

// IsElsewhere reports whether a process lives in another mount, user or pid namespace than
// this one: in a container or a sandbox. One that was never seen from here does; of one
// that is gone nothing is known.
func IsElsewhere(pid int) bool {
	if pid <= 0 {
		return true
	}
	process := "/proc/" + strconv.Itoa(pid)
	own := ownNamespaces()
	for i, kind := range namespaces {
		theirs, err := os.Readlink(process + "/ns/" + kind)
		if errors.Is(err, os.ErrPermission) {
			return hidesElsewhere(process) // it keeps its memory from being read, and its links with that
		}
		if errors.Is(err, os.ErrNotExist) {
			return false
		}
		if err != nil || theirs != own[i] {
			return true
		}
	}
	return false
}

// hidesElsewhere is IsElsewhere for a process that hides its links. What is read here the
// kernel shows to everybody.
func hidesElsewhere(process string) bool {
	theirs, err := files.Read(process+"/uid_map", maxShown)
	own, errOwn := files.Read("/proc/self/uid_map", maxShown)
	if err != nil || errOwn != nil || string(theirs) != string(own) {
		return true
	}
	status, err := files.Read(process+"/status", maxShown)
	_, numbers, known := strings.Cut(string(status), "\nNSpid:")
	numbers, _, _ = strings.Cut(numbers, "\n")
	if err != nil || known && len(strings.Fields(numbers)) != 1 {
		return true
	}
	root := rootMount(process)
	return root == "" || root != rootMount("/proc/self")
}

// maxShown is more than the kernel says about users or the state of a process.
const maxShown = 64 << 10

// rootMount is the number of the mount that a process sees as its root. No two mount
// namespaces share one.
func rootMount(process string) string {
	list, err := os.Open(process + "/mountinfo")
	if err != nil {
		return ""
	}
	defer list.Close()
	text, _ := io.ReadAll(io.LimitReader(list, maxShown)) // nothing read is no root; it comes first, or soon
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == "/" {
			return fields[0]
		}
	}
	return ""
}

// Container names the place from which a process sees files: the same name for all of a
// container, and another one for every other. A process can't take another's.
func Container(pid int) string {
	if pid <= 0 {
		return "container"
	}
	return "container" + rootMount("/proc/"+strconv.Itoa(pid))
}
