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

// namespaces lists those that decide which files, users and processes a process sees.
var namespaces = [...]string{"mnt", "user", "pid"}

// ownNamespaces returns this process's namespaces, which never change.
var ownNamespaces = sync.OnceValue(func() (own [len(namespaces)]string) {
	for i, kind := range namespaces {
		own[i], _ = os.Readlink("/proc/self/ns/" + kind) // "" matches none
	}
	return own
})

// InOtherNamespace reports whether a process is in another mount, user or pid namespace than
// this one, such as a container's. It is true for a process that was never visible from here,
// and false for one that has ended.
func InOtherNamespace(pid int) bool {
	if pid <= 0 {
		return true
	}
	process := "/proc/" + strconv.Itoa(pid)
	own := ownNamespaces()
	for i, kind := range namespaces {
		theirs, err := os.Readlink(process + "/ns/" + kind)
		if errors.Is(err, os.ErrPermission) {
			return hiddenInOther(process) // it protects its memory from being read, which also hides its links
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

// hiddenInOther is InOtherNamespace for a process that hides its links. It reads what the
// kernel shows to every user.
func hiddenInOther(process string) bool {
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

// maxShown is larger than the kernel's files about a process's users or state.
const maxShown = 64 << 10

// rootMount returns the number of the mount that is a process's root. It is different in
// every mount namespace.
func rootMount(process string) string {
	list, err := os.Open(process + "/mountinfo")
	if err != nil {
		return ""
	}
	defer list.Close()
	text, _ := io.ReadAll(io.LimitReader(list, maxShown)) // a failed read finds no root
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 4 && fields[4] == "/" {
			return fields[0]
		}
	}
	return ""
}

// Container names the place from which a process sees files: all processes of a container
// have the same name, and every other container another one. A process can't take another's.
func Container(pid int) string {
	if pid <= 0 {
		return "container"
	}
	return "container" + rootMount("/proc/"+strconv.Itoa(pid))
}
