package install

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/programs"
)

var documents = flag.Int("documents", 0, "how many documents per shape the property tests try; 0 is few")

// builtPrograms are for tests with real agents.
var builtPrograms programs.Shared

// TestMain is also the process that tests kill in the middle of an installation.
func TestMain(m *testing.M) {
	if order := os.Getenv("HOOKMUX_TEST_KILL"); order != "" {
		if err := beKilled(order); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	debug.SetGCPercent(800) // many small texts: much of the time would go there
	code := m.Run()
	builtPrograms.Remove()
	os.Exit(code)
}
