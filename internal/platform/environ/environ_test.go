package environ

import "testing"

func TestLookup(t *testing.T) {
	env := Lookup([]byte("A=1\x00AB=2\x00XA=3\x00E=\x00L=a=b\x00A=later\x00Z=last"))
	for name, want := range map[string]string{"A": "1", "AB": "2", "XA": "3", "E": "", "L": "a=b", "Z": "last", "B": "",
		"X": ""} {
		if got := env(name); got != want {
			t.Errorf("%s is %q, expected %q", name, got, want)
		}
	}
	if got := Lookup([]byte("Z=1\x00"))("Z"); got != "1" {
		t.Errorf("with a NUL at the end Z is %q, expected 1", got)
	}
	if got := Lookup(nil)("Z"); got != "" {
		t.Errorf("in an empty block Z is %q, expected nothing", got)
	}
}
