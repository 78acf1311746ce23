package resumeargs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestNotes(t *testing.T) {
	dir := t.TempDir()
	key := "sk-ant-" + "api03-" + strings.Repeat("aB3x", 10)
	a := named1(t, "claude")
	if err := WriteNote(dir, a, Note{PID: 7, Start: 9, Dir: "/p", Given: true},
		[]string{"--model", "opus", "--api-key", key, "an old prompt"}); err != nil {
		t.Fatal(err)
	}
	n, ok := ReadNote(dir, 7, 9)
	if !ok || n.Agent != "claude" || !slices.Equal(n.Args, []string{"--model", "opus"}) || !n.Given || n.Once {
		t.Errorf(`n = %+v, ok = %v; want ok, n.Agent = "claude", n.Args = []string{"--model", "opus"}, n.Given and `+
			`not n.Once`, n, ok)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "launches/7.json")); strings.Contains(string(b), key) ||
		strings.Contains(string(b), "prompt") {
		t.Errorf(`b = %s, want no %q in it and no "prompt" in it`, b, key)
	}
	if _, ok := ReadNote(dir, 7, 10); ok {
		t.Error("a pid that was used again has the old one's note")
	}
	if err := WriteNote(dir, a, Note{PID: 8, Start: 9}, []string{"-p", "hi"}); err != nil {
		t.Fatal(err)
	}
	if n, ok := ReadNote(dir, 8, 9); !ok || !n.Once {
		t.Errorf("n = %+v, ok = %v; want ok and n.Once", n, ok)
	}
	if err := Sweep(dir, func(pid int, _ uint64) bool { return pid == 8 }); err != nil {
		t.Fatal(err)
	}
	if _, ok := ReadNote(dir, 7, 9); ok {
		t.Error("the note about a process that ended stays")
	}
	if _, ok := ReadNote(dir, 8, 9); !ok {
		t.Error("the note about a living process is gone")
	}
}
