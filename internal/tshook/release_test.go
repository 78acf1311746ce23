package tshook

import (
	"runtime"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest/await"
)

// What two bad turns took is given back while their engine lives,
// and after one was dropped.
func TestStrainGoes(t *testing.T) {
	strained := make(chan struct{}, 10)
	s := newHarness(t, func(h *Host) { h.Strained = func() { strained <- struct{}{} } })
	m := s.load("attack.ts", attack)
	s.must(m, s.bash("ls"))
	ReleaseMemory()
	before := await.Resident(t)
	for _, command := range []string{"array bomb", "recursion"} {
		if _, err := s.handle(m, s.bash(command)); err == nil {
			t.Fatalf("%s: no error; want an error", command)
		}
		select {
		case <-strained:
		case <-time.After(10 * time.Second):
			t.Fatalf("%s: nobody was told", command)
		}
		if runtime.GOOS == "linux" { // elsewhere memory is taken back only when somebody else needs it
			await.ResidentBelow(t, before+12<<20, ReleaseMemory)
		}
	}
}
