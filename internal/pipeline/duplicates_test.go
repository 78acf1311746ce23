package pipeline

import (
	"fmt"
	"github.com/hookmux/hookmux/internal/services"
	"testing"
	"time"
)

func TestDuplicatesAreForgotten(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	list := newDuplicates()
	list.now = func() time.Time { return now }
	for i := range 3 * keepDuplicates {
		one, first := list.findOrAdd(dedupeKey{pid: i}, fmt.Sprint(i), "grok")
		if !first {
			t.Fatal("a duplicate of nothing")
		}
		(&call{Call: &services.Call{}, dedupe: one}).publishDecision()
	}
	if list.count > 2*keepDuplicates {
		t.Errorf("%d are remembered; want list.count <= 2*keepDuplicates", list.count)
	}
	now = now.Add(time.Hour)
	list.findOrAdd(dedupeKey{pid: -1}, "last", "grok")
	if list.count != 1 || len(list.open) != 1 {
		t.Errorf("%d are remembered after an hour", list.count)
	}
}
