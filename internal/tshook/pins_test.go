package tshook

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The JavaScript engine and SQLite are made for one version of their
// C library each; another one may crash or, worse, work almost.
func TestPins(t *testing.T) {
	wants := func(tsHook string) string {
		out, err := exec.Command("go", "list", "-m", "-f", "{{.GoMod}}", tsHook).Output()
		if err != nil {
			t.Fatalf("go list: %v", err)
		}
		text, err := os.ReadFile(filepath.Clean(strings.TrimSpace(string(out))))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`modernc\.org/libc (v\S+)`).FindSubmatch(text)
		if m == nil {
			t.Fatalf("%s names no modernc.org/libc", tsHook)
		}
		return string(m[1])
	}
	js, sql := wants("modernc.org/quickjs"), wants("modernc.org/sqlite")
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Version}}", "modernc.org/libc").Output()
	if err != nil {
		t.Fatal(err)
	}
	if used := strings.TrimSpace(string(out)); js != sql || used != js {
		t.Errorf("modernc.org/libc: quickjs wants %s, sqlite wants %s, go.mod has %s; pin versions of both that "+
			"want the same", js, sql, used)
	}
}
