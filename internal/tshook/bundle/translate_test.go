package bundle

import "testing"

// A file that needs another one, or asks where it lies, is
// bundled.
func TestStandsAlone(t *testing.T) {
	for text, want := range map[string]bool{
		"export default () => {};": true,
		"import type { HookAPI } from \"hookmux\";\nexport default (h: HookAPI) => {};": true,
		"import type {\n  A,\n  B,\n} from 'x'\nexport default () => {};":               true,
		"import { readFileSync } from \"node:fs\";":                                     false,
		"import type { A } from \"a\"; import b from \"b\";":                            false,
		"const fs = require(\"fs\");":                                                   false,
		"export * from \"./other\";":                                                    false,
		"const x = await import(\"./x\");":                                              false,
		"console.log(__dirname);":                                                       false,
		"console.log(import.meta.url);":                                                 false,
	} {
		if got := standsAlone([]byte(text)); got != want {
			t.Errorf("%s: standsAlone([]byte(text)) = %t, want %v", text, got, want)
		}
	}
}
