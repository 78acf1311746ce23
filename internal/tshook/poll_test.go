package tshook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Files behind links, folders that come back and
// imports that turn up later count as well.
func TestChangesThatNobodyTells(t *testing.T) {
	says := func(word string) string {
		return `export default (h: any) => h.on("tool_call", () => ({ block: true, reason: "` + word + `" }));`
	}
	const imports = `import { word } from "./lib/w"; export default (h: any) => h.on("tool_call", () => ({ block: true, reason: word }));`
	for _, c := range []struct {
		name           string
		before, change func(s *harness)
	}{
		{"a link", func(s *harness) {
			s.must0(os.Symlink(s.file("dots/gate.ts", says("one")), filepath.Join(s.dir, "hooks/gate.ts")))
		}, func(s *harness) { s.file("dots/gate.ts", says("two")) }},
		{"a folder that comes back", func(s *harness) {
			s.file("hooks/lib/w.ts", `export const word = "one";`)
			s.file("hooks/gate.ts", imports)
		}, func(s *harness) {
			s.must0(os.RemoveAll(filepath.Join(s.dir, "hooks/lib")))
			s.file("hooks/lib/w.ts", `export const word = "two";`)
		}},
		{"a folder that is exchanged", func(s *harness) {
			s.file("hooks/gate.ts", says("one"))
			s.file("other/gate.ts", says("two"))
		}, func(s *harness) {
			s.must0(os.Rename(filepath.Join(s.dir, "hooks"), filepath.Join(s.dir, "old")))
			s.must0(os.Rename(filepath.Join(s.dir, "other"), filepath.Join(s.dir, "hooks")))
		}},
		{"an import that turns up", func(s *harness) {
			s.file("hooks/gate.ts", strings.Replace(imports, "./lib/w", "./w", 1))
		}, func(s *harness) { s.file("hooks/w.ts", `export const word = "two";`) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newHarness(t, nil)
			s.must0(os.MkdirAll(filepath.Join(s.dir, "hooks"), 0o755))
			c.before(s)
			m, err := s.engine.Load(t.Context(), Source{Path: filepath.Join(s.dir, "hooks/gate.ts"), Watch: true})
			if m == nil {
				t.Fatalf("error %v, want m other than nil", err)
			}
			c.change(s)
			for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
				d, err := s.handle(m, s.bash("x"))
				if d.Reason == "two" {
					return
				}
				if time.Now().After(end) {
					t.Fatalf("the module still answers %+v, error %v; want the reason \"two\"", d, err)
				}
			}
		})
	}
}

func (s *harness) must0(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}
