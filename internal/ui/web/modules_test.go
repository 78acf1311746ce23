package web

import (
	"bytes"
	"compress/gzip"
	"regexp"
	"strings"
	"testing"
)

func TestJoinTSHooks(t *testing.T) {
	got := joinModules(func(name string) []byte {
		return []byte(map[string]string{
			"app.js": "import { a } from './one.js'\nimport * as two from './two.js'\nuse(a, two.b)\n",
			"one.js": "import { b } from './two.js'\nexport const a = b\n",
			"two.js": "export const b = 1\nexport class C {}\n",
		}[name])
	})
	want := "const $two = (() => {\nconst b = 1\nclass C {}\n\nreturn { b, C }\n})()\n" +
		"const $one = (() => {\nconst { b } = $two\nconst a = b\n\nreturn { a }\n})()\n" +
		"const $app = (() => {\nconst { a } = $one\nconst two = $two\nuse(a, two.b)\n\nreturn {  }\n})()\n"
	if got != want {
		t.Errorf("joined:\n%s\nwant:\n%s", got, want)
	}
}

// Nothing of the page's modules is left that only a module could say, and all of it is small.
func TestPageScript(t *testing.T) {
	script, joined := files()["/app.js"], joinModules(pageFile)
	if left := regexp.MustCompile(`(?m)^\s*(import|export)\b.*`).FindString(joined); left != "" {
		t.Errorf("a form of import or export that joinModules doesn't know: %s", left)
	}
	entries, _ := pageFiles.ReadDir("page")
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".js")
		if name != entry.Name() && name != "sw" && !strings.Contains(joined, "const $"+name+" = ") {
			t.Errorf("%s.js isn't part of the page", name)
		}
	}
	if z, err := gzip.NewReader(bytes.NewReader(script.zipped)); err != nil || z.Close() != nil {
		t.Errorf("the script isn't compressed: %v", err)
	}
	const most = 150_000
	if len(script.zipped) > most {
		t.Errorf("the script has %d bytes compressed, want at most %d", len(script.zipped), most)
	}
	if len(script.plain) >= len(joined) {
		t.Errorf("the script isn't shortened: %d bytes of %d", len(script.plain), len(joined))
	}
	t.Logf("%d bytes of script, %d compressed", len(script.plain), len(script.zipped))
}
