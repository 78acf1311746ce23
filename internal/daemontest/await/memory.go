package await

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Resident returns the memory of this process in bytes. Where the system does not tell (it
// needs /proc), the test is left out.
func Resident(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("this system does not tell a process's memory:", err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// ResidentBelow waits until release has brought the memory of this process below a
// bound.
func ResidentBelow(t testing.TB, below int, release func()) {
	t.Helper()
	now := 0
	for range 40 {
		release()
		if now = Resident(t); now < below {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("%d KiB are resident, want less than %d", now/1024, below/1024)
}
