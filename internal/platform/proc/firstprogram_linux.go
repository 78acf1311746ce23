package proc

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// measuring is the name under which a program prints its own count and exits.
const measuring = "hookmux-firstprogram"

// own holds what this process had read when this package was initialised.
var own, errOwn = readOwn()

func readOwn() (uint64, error) {
	count, err := readCount()
	if len(os.Args) == 1 && os.Args[0] == measuring {
		fmt.Println(count)
		os.Exit(0)
	}
	return count, err
}

// readCount reads the count of this process.
func readCount() (uint64, error) {
	fd, err := unix.Open("/proc/self/io", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, fmt.Errorf("/proc/self/io: %w", err)
	}
	defer func() { _ = unix.Close(fd) }() // only read
	var text [256]byte
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return 0, fmt.Errorf("/proc/self/io: %w", err)
	}
	first, _, _ := bytes.Cut(text[:n], []byte("\n"))
	number, ok := bytes.CutPrefix(first, []byte("rchar: "))
	if !ok {
		return 0, ErrFirstUnknown
	}
	return strconv.ParseUint(string(number), 10, 64)
}

// NoteFirstProgram publishes the count of this process for [RanBefore]. It costs a thread
// that sleeps.
func NoteFirstProgram() {
	if errOwn != nil {
		return
	}
	told := make(chan struct{})
	go nameThread(append([]byte(threadPrefix+strconv.FormatUint(min(own, 1e9), 10)), 0), told)
	<-told
}

// nameThread names the thread that it runs on, which is never the first one: the first one's
// name is the name of the process.
func nameThread(name []byte, told chan struct{}) {
	runtime.LockOSThread()
	if unix.Gettid() == unix.Getpid() {
		go nameThread(name, told) // on another thread, as this one is taken
		<-told
		runtime.UnlockOSThread()
		return
	}
	_ = unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&name[0])), 0, 0, 0) // if not, a code is asked for
	close(told)
	select {}
}

// RanBefore reports whether a process that runs this program ran another one before.
// The caller has made sure that it runs this program.
func RanBefore(pid int) (bool, error) {
	need, err := needed()
	if err != nil {
		return true, err
	}
	names, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/task/*/comm")
	if err != nil {
		return true, err
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // a thread that has ended
		}
		number, ok := strings.CutPrefix(strings.TrimSpace(string(text)), threadPrefix)
		if !ok {
			continue
		}
		count, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return true, ErrFirstUnknown
		}
		return count > need+slack, nil
	}
	return true, ErrFirstUnknown
}

// Measured is the program that users run: this one. The system service's daemon runs a file
// that no one may read, whose processes show nothing, and names another one.
var Measured = "/proc/self/exe"

// needed holds what starting this program takes on this machine, found out by starting it.
var needed = sync.OnceValues(func() (uint64, error) {
	cmd := exec.Command(Measured)
	cmd.Args, cmd.Env, cmd.Dir = []string{measuring}, []string{"PATH=/usr/bin:/bin"}, "/"
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("start hookmux to see what that takes: %w", err)
	}
	return strconv.ParseUint(strings.TrimSpace(string(out)), 10, 64)
})
