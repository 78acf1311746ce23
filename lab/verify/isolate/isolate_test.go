package isolate

import (
	"testing"
)

func TestOutsideHidesItself(t *testing.T) {
	if Inside(func(string) string { return "" }) || !Inside(func(string) string { return "1" }) {
		t.Error("inside or not?")
	}
	if got := Outside([]string{"A=1", insideVariable + "=1"}); len(got) != 1 {
		t.Errorf(`Outside([]string{"A=1", insideVariable + "=1"}) = %q, want 1 of them`, got)
	}
}
