package daemoncmd

import (
	"testing"
)

func TestGarbageIsTheSameAtAnySize(t *testing.T) {
	for live, want := range map[uint64]int{0: 300, 1 << 20: 300, 5 << 20: 280, 7 << 20: 200, 14 << 20: 100,
		28 << 20: 50, 1 << 40: 50} {
		if got := percentFor(live); got != want {
			t.Errorf("%d bytes: %d, not %d; want got == want", live, got, want)
		}
	}
}
