package queue

import "testing"

// The codes stand in journals and on the wire: an end is found again by its code.
func TestEndCodes(t *testing.T) {
	for end := Waiting; end < OtherEnd; end++ {
		code := end.Code()
		if code == "" && end != Waiting {
			t.Errorf("end %d has no code", end)
		}
		if got := ParseEnd(code); got != end {
			t.Errorf("%q is read as end %d, want %d", code, got, end)
		}
	}
	if got := ParseEnd("a later version's"); got != OtherEnd || got.Status() != Withdrawn {
		t.Errorf("an unknown end is read as %d with status %s, want %d, %s", got, got.Status(), OtherEnd, Withdrawn)
	}
}
