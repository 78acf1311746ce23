package event

import "testing"

// Journals hold these words: they never change.
func TestWhoSettlesIsFrozen(t *testing.T) {
	for got, want := range map[string]string{
		ByPerson: "person", ByHookmux: "hookmux", ByApprovalLevel: "gate", BySupposed: "--decision",
		ByGrant("g-1"): "grant g-1",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for by, want := range map[string]string{"grant g-1": "g-1", "grant": "", "person": "", "grants": ""} {
		id, ok := GrantOf(by)
		if id != want && ok || ok != (want != "") {
			t.Errorf("GrantOf(%q) = %q, %v; want %q", by, id, ok, want)
		}
	}
}
