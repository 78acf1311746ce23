package tsmodule

import (
	"runtime"
	"testing"
	"time"
)

// falls waits until ReleaseMemory brought the process's memory below a bound.
func falls(t *testing.T, below int) {
	t.Helper()
	now := 0
	for range 40 {
		ReleaseMemory()
		if now = resident(t); now < below {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("resident %d KiB, want less than %d", now/1024, below/1024)
}

// TestStrainGoes: what two bad turns took is given back while their engine lives,
// and after one was dropped.
func TestStrainGoes(t *testing.T) {
	strained := make(chan struct{}, 10)
	s := newStage(t, func(h *Host) { h.Strained = func() { strained <- struct{}{} } })
	m := s.load("attack.ts", attack)
	s.must(m, s.bash("ls"))
	ReleaseMemory()
	before := resident(t)
	for _, command := range []string{"array bomb", "recursion"} {
		if _, err := s.handle(m, s.bash(command)); err == nil {
			t.Fatalf("%s: no error", command)
		}
		select {
		case <-strained:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: nobody was told", command)
		}
		if runtime.GOOS == "linux" { // elsewhere memory is taken back only when somebody else needs it
			falls(t, before+12<<20)
		}
	}
}
