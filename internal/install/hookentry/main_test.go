package hookentry_test

import (
	"flag"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
)

var documents = flag.Int("documents", 0, "how many documents per shape the property tests try; 0 is few")

// TestMain sets how many documents are tried.
func TestMain(m *testing.M) {
	flag.Parse()
	n := 8
	if *documents > 0 {
		n = *documents
	}
	if err := flag.Set("rapid.checks", strconv.Itoa(n)); err != nil {
		panic(err)
	}
	debug.SetGCPercent(800) // many small texts: much of the time would go there
	os.Exit(m.Run())
}
