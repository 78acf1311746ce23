//go:build linux

package daemoncmd

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// limitVariable makes the test program say what checkLimits says, under the
// limits that it was started with.
const limitVariable = "HOOKMUX_TEST_LIMITS"

func TestMain(m *testing.M) {
	if os.Getenv(limitVariable) != "" {
		if err := checkLimits(); err != nil {
			os.Stdout.WriteString(err.Error())
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestDaemonNeedsRoomToWork(t *testing.T) {
	if err := checkLimits(); err != nil {
		t.Skipf("the limits here are too small for a daemon: %v", err)
	}
	for limit, want := range map[string]string{
		"-n 32": "open files is 32", "-f 8": "the size of files is", "-n 128": "", "-f 1000000": "",
	} {
		cmd := exec.Command("/bin/sh", "-c", "ulimit "+limit+" && exec "+os.Args[0])
		cmd.Env = append(os.Environ(), limitVariable+"=1")
		out, err := cmd.Output()
		if err != nil || (want == "") != (len(out) == 0) || !strings.Contains(string(out), want) {
			t.Errorf("ulimit %s: said %q, %v; want %q in it", limit, out, err, want)
		}
	}
}
