package proc

import (
	"fmt"
	"testing"
)

func TestLookupEnv(t *testing.T) {
	env := LookupEnv([]byte("A=1\x00AB=2\x00XA=3\x00E=\x00L=a=b\x00A=later\x00Z=last"))
	for name, want := range map[string]string{"A": "1", "AB": "2", "XA": "3", "E": "", "L": "a=b", "Z": "last", "B": "",
		"X": ""} {
		if got := env(name); got != want {
			t.Errorf("%s is %q, expected %q", name, got, want)
		}
	}
	if got := LookupEnv([]byte("Z=1\x00"))("Z"); got != "1" {
		t.Errorf("with a NUL at the end Z is %q, expected 1", got)
	}
	if got := LookupEnv(nil)("Z"); got != "" {
		t.Errorf("in an empty block Z is %q, expected nothing", got)
	}
}

// A name that stands in values and in longer names is not found there.
func TestLookupEnvPassesOverValues(t *testing.T) {
	env := LookupEnv([]byte("X=A=1\x00BA=A=2\x00A=3\x00AA=4\x00"))
	if got := env("A"); got != "3" {
		t.Errorf("A is %q, expected 3", got)
	}
}

func BenchmarkLookupEnv(b *testing.B) {
	var block []byte
	for i := range 80 {
		block = fmt.Appendf(block, "SOME_VARIABLE_%d=/some/path/of/usual/length:%d\x00", i, i)
	}
	env := LookupEnv(block)
	for b.Loop() {
		env("CLAUDECODE")
	}
}
