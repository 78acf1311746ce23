package shell

import "testing"

// What declare -n says is followed, and circles end.
func TestNameReferences(t *testing.T) {
	for src, want := range map[string]string{
		`declare -n r=c; c='rm -rf /'; $r`:           "rm -rf /",
		`declare -n r=c; r='rm -rf /'; $c`:           "rm -rf /",
		`declare -n a=b; declare -n b=c; c=ls; $a x`: "ls x",
		`declare -n a=b; declare -n b=a; a=ls; $a x`: "ls x",
		`export -n c=ls; $c x`:                       "ls x",
	} {
		script := Parse(src)
		if last := script.Runs[len(script.Runs)-1]; last.String() != want {
			t.Errorf("%s: runs %q at last, want %q", src, last.String(), want)
		}
	}
}
