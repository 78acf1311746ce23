package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"strings"
	"testing"
)

func TestModules(t *testing.T) {
	m := &modules{done: map[string]bool{}, read: func(name string) []byte {
		return []byte(map[string]string{
			"first.js": "import { b } from './two.js'\nuse(b)\n",
			"app.js":   "import { a } from './one.js'\nimport * as two from './two.js'\nuse(a, two.b)\n",
			"one.js":   "import { b } from './two.js'\nexport const a = b\n",
			"two.js":   "export const b = 1\nexport class C {}\n",
		}[name])
	}}
	module := func(name, text, exports string) string {
		return "const $" + name + " = (() => {\n\"use strict\"\n" + text + "\nreturn { " + exports + " }\n})()\n"
	}
	// What's in the first script isn't in the second.
	for _, one := range [][2]string{
		{"first", module("two", "const b = 1\nclass C {}\n", "b, C") + module("first", "const { b } = $two\nuse(b)\n", "")},
		{"app", module("one", "const { b } = $two\nconst a = b\n", "a") + module("app", "const { a } = $one\nconst two = $two\nuse(a, two.b)\n", "")},
	} {
		if got := m.script(one[0]); got != one[1] {
			t.Errorf("%s:\n%s\nwant:\n%s", one[0], got, one[1])
		}
	}
}

// The page has everything in it, small, and its policy allows exactly that.
func TestPage(t *testing.T) {
	m := &modules{read: pageFile, done: map[string]bool{}}
	joined := m.script("boot") + m.script("app")
	if left := regexp.MustCompile(`(?m)^\s*(import|export)\b.*`).FindString(joined); left != "" {
		t.Errorf("a form of import or export that isn't known: %s", left)
	}
	entries, _ := pageFiles.ReadDir("page")
	for _, entry := range entries {
		name := strings.TrimSuffix(entry.Name(), ".js")
		if name != entry.Name() && name != "sw" && !strings.Contains(joined, "const $"+name+" = ") {
			t.Errorf("%s.js isn't part of the page", name)
		}
	}
	d, page := document(), pageFor("abc")
	if !bytes.Contains(page.plain, []byte(`data-instance="abc"`)) {
		t.Error("the page doesn't say what to sign for")
	}
	var scripts, styles, script string
	for _, one := range regexp.MustCompile(`(?s)<(script|style)([^>]*)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(string(page.plain), -1) {
		if one[2] != "" {
			t.Errorf("a file of its own: <%s%s>", one[1], one[2])
		}
		sum := sha256.Sum256([]byte(one[3]))
		hash := " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		if one[1] == "style" {
			styles += hash
		} else {
			scripts += hash
			script += one[3]
		}
	}
	if scripts != d.scripts || styles != d.style || strings.Count(scripts, "sha256") != 2 || strings.Count(styles, "sha256") != 1 {
		t.Errorf("the page has the scripts%s and styles%s, its policy allows%s and%s", scripts, styles, d.scripts, d.style)
	}
	if strings.Contains(d.html, `rel="stylesheet"`) {
		t.Error("the style isn't in the page")
	}
	if z, err := gzip.NewReader(bytes.NewReader(page.zipped)); err != nil || z.Close() != nil {
		t.Errorf("the page isn't compressed: %v", err)
	}
	const most = 45_000 // on fast 3G, a quarter of a second
	if len(page.zipped) > most {
		t.Errorf("the page has %d bytes compressed, want at most %d", len(page.zipped), most)
	}
	if len(script) >= len(joined) {
		t.Errorf("the script isn't shortened: %d bytes of %d", len(script), len(joined))
	}
	t.Logf("%d bytes of script; page and all: %d, %d compressed", len(script), len(page.plain), len(page.zipped))
}
