package tsmodule

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// resident is the process's memory in bytes; where the system does not tell,
// the test goes without.
func resident(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("this system does not tell a process's memory")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
