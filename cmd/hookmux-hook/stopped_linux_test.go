package main

import (
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/platform/daemonstart"
)

// A daemon that is stopped takes connections and never answers. The client must
// not wait for it until its agent gives up.
func TestStoppedDaemonIsNoWayAround(t *testing.T) {
	w := guardedWorld(t)
	defer w.endDaemon()
	if got := w.hook("payload", agent, deciding, "600"); got.stdout != "payload" {
		t.Fatalf("the daemon did not come up: %+v", got)
	}
	pid := daemonstart.DaemonPID(w.dirs)
	if pid == 0 {
		t.Skip("the system does not tell who holds a lock")
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer syscall.Kill(pid, syscall.SIGCONT)
	// The signal takes effect when the process gets to run the next time.
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil {
			t.Fatal(err)
		}
		if isStopped(string(stat)) {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the daemon does not stop: %s", stat)
		}
	}
	got := w.hook("payload", agent, deciding, "600")
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got != evaluated("payload") {
		t.Errorf("got %+v, want what hookmux evaluate said", got)
	}
}

func TestStateOfAProcess(t *testing.T) {
	for stat, want := range map[string]bool{
		"12 (hookmux) T 1 2": true, "12 (a) T b) t 1": true, "12 (T) S 1": false, "12 (x) R 1": false, "": false, "rubbish": false, "12 (x": false,
	} {
		if got := isStopped(stat); got != want {
			t.Errorf("%q: stopped %v, want %v", stat, got, want)
		}
	}
}
