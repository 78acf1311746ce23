package shell

import "testing"

func TestOnlyChecks(t *testing.T) {
	for text, want := range map[string]bool{
		"bash -n x.sh": true, "sh -en": true, "zsh -n -e x": true, "bash -n": true,
		"bash x.sh": false, "bash": false, "bash -c 'a' -n": false, "bash x.sh -n": false, "bash -ni x.sh": false,
		"bash -n +n x.sh": false, "bash --norc -n x.sh": false, "bash $X -n x.sh": false, "bash -no posix x.sh": false,
		"bash - -n": false, "sudo bash -n": true, "script -c 'bash -n'": false,
	} {
		s := Parse(text)
		if got := s.Runs[len(s.Runs)-1].OnlyChecks(); got != want {
			t.Errorf("%s only checks: got %v, want %v", text, got, want)
		}
	}
	if s := Parse("bash -n -c 'rm x'"); len(s.Runs) != 1 {
		t.Errorf("bash -n runs what it is given: %v", s.Runs)
	}
}

func TestFunctionsKeepVariables(t *testing.T) {
	for text, want := range map[string]string{
		`T=a; f() { local T=b; }; f; "$T" x`:              "a x",
		`T=a; f() { T=b; }; "$T" x`:                       "a x",
		`T=a; f() { T=b; }; f; "$T" x`:                    "b x",
		`T=a; f() { declare -g T=b; }; f; "$T" x`:         "b x",
		`T=a; f() { local T; T=b; }; f; "$T" x`:           "a x",
		`T=a; f() { local T=b; g; }; g() { :; }; f; $T x`: "a x",
		`T=(a c); f() { local T=(b d); }; f; $T x`:        "a x",
		`T=a; local T=b; "$T" x`:                          "b x",
	} {
		s := Parse(text)
		if got := s.Runs[len(s.Runs)-1].String(); got != want {
			t.Errorf("%s ends with %q, want %q", text, got, want)
		}
	}
}

func TestEndlessLoops(t *testing.T) {
	for text, want := range map[string]bool{
		"while true; do a & done": true, "while :; do a & b & done": true, "until false; do a & done": true,
		"while [ 1 ]; do a & done": true, "for ((;;)); do a & done": true, "while /bin/true; do a & done": true,
		"while x; do a & done": false, "while true; do a & wait; done": false, "until true; do a & done": false,
		"while false; do a & done": false, "while ! true; do a & done": false, "while true; do a; done": false,
		"for ((;i<3;)); do a & done": false, "while [ 1 -gt 2 ]; do a & done": false, "while true && x; do a & done": false,
	} {
		s := Parse(text)
		got := false
		for _, r := range s.Runs {
			got = got || r.Name() == "a" && r.Endless && r.Background
		}
		if got != want {
			t.Errorf("%s starts a without end: got %v, want %v", text, got, want)
		}
	}
}
