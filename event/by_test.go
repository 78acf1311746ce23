package event

import "testing"

// Journals hold these words: they never change.
func TestWhoSettlesIsFrozen(t *testing.T) {
	for got, want := range map[string]string{
		ByUser: "person", ByHookmux: "hookmux", ByApprovalPolicy: "approvals.policy", BySupposed: "--decision",
		ByPermission("g-1"): "permission g-1",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for by, want := range map[string]string{"permission g-1": "g-1", "permission": "", "person": "", "permissions": ""} {
		id, ok := PermissionOf(by)
		if id != want && ok || ok != (want != "") {
			t.Errorf("PermissionOf(%q) = %q, %v; want %q", by, id, ok, want)
		}
	}
}
