package hub

import "testing"

func TestLookupInAnEnvironment(t *testing.T) {
	env := lookupIn([]byte("A=1\x00AB=2\x00XA=3\x00E=\x00L=a=b\x00A=later\x00Z=last"))
	for name, want := range map[string]string{"A": "1", "AB": "2", "XA": "3", "E": "", "L": "a=b", "Z": "last", "B": "", "X": ""} {
		if got := env(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if got := lookupIn([]byte("Z=1\x00"))("Z"); got != "1" {
		t.Errorf("with an end: %q", got)
	}
	if got := lookupIn(nil)("Z"); got != "" {
		t.Errorf("in nothing: %q", got)
	}
}
