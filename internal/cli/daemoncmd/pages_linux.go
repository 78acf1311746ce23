package daemoncmd

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A new daemon has read your settings and its guards after settleTime, and opened what else
// it needs after five times as long. From then on, pages are looked at every pagesTime.
const (
	settleTime = time.Second
	pagesTime  = 5 * time.Minute
)

// releasePages releases what the daemon no longer needs, until ctx ends: after the start its
// garbage, and from time to time the pages of program code that ran once. The kernel reads a
// page again when the daemon comes back to it.
func releasePages(ctx context.Context) {
	for round := 0; ; round++ {
		wait := pagesTime
		if round < 2 {
			wait = settleTime * time.Duration(1+3*round)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if round < 2 {
			debug.FreeOSMemory()
		}
		releaseProgram()
	}
}

// releaseProgram releases the pages of the program's file.
func releaseProgram() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range unchangedMappings(f) {
		// Nothing depends on it: a page that stays costs memory only.
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
	}
}

// mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// unchangedMappings returns the mappings of files in a smaps that can't be written to and in
// which nothing was ever changed: the file has all of their bytes.
func unchangedMappings(smaps io.Reader) (list []mapping) {
	var (
		current  mapping
		readable bool // current is a file's and can't be written to
	)
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) >= 5 && strings.Contains(words[0], "-") {
			_, err := fmt.Sscanf(words[0], "%x-%x", &current.start, &current.end)
			readable = err == nil && len(words) == 6 && strings.HasPrefix(words[5], "/") &&
				(words[1] == "r-xp" || words[1] == "r--p")
		} else if readable && len(words) == 3 && words[0] == "Anonymous:" && words[1] == "0" {
			list = append(list, current)
		}
	}
	return list
}
