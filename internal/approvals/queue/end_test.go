package queue

import "testing"

// The texts stand in journals and on the wire: they stay as they are, and an
// end is found again by its text.
func TestEndTexts(t *testing.T) {
	for end := Waiting; end < OtherEnd; end++ {
		text := end.String()
		if text == "" && end != Waiting {
			t.Errorf("end %d has no text", end)
		}
		if got := ParseEnd(text); got != end {
			t.Errorf("%q is read as end %d, want %d", text, got, end)
		}
	}
	if got := ParseEnd("a later version's"); got != OtherEnd || got.Status() != Withdrawn {
		t.Errorf("an unknown end is read as %d with status %s, want %d, %s", got, got.Status(), OtherEnd, Withdrawn)
	}
}
