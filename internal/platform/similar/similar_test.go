package similar

import "testing"

func TestNearest(t *testing.T) {
	commands := []string{"setup", "stats", "status", "up", "ps", "log", "guard", "approve"}
	for name, want := range map[string]string{
		"sttus": "status", "stauts": "status", "STATUS": "status", "statuss": "status", "setpu": "setup", "gaurd": "guard",
		"aprove": "approve", "appr": "approve", "pss": "ps", "lgo": "log", "xyzzy": "", "nope": "", "ls": "ps",
	} {
		if got := Nearest(name, commands); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
	if got := Nearest("cluade", []string{"claude", "cline", "codex"}); got != "claude" {
		t.Errorf("Nearest(cluade) = %q, want claude", got)
	}
}
