package statusline

import (
	"strings"
	"testing"
)

// What Add wrote, Remove takes out again: the same bytes, and your own command runs with
// the same words.
func TestInAndOut(t *testing.T) {
	for _, settings := range []string{
		"", "{}", "{\n  \"model\": \"opus\" // mine\n}\n", `{"statusLine":{"type":"command","command":"~/.claude/s.sh","padding":0}}`,
		`{"statusLine": {"type": "command", "command": "jq -r '.model | \"a b\"' | tr a 'b'"}, "x": [1]}`,
		`{"statusLine":{"type":"command","command":"echo 'it'\\''s'"}}`, "{\r\n\t\"statusLine\": {\r\n\t\t\"type\": \"command\", \"command\": \"a\"}}\r\n",
	} {
		for _, program := range []string{"hookmux", "/usr/bin/hookmux", "/home/o'neil/my programs/hookmux"} {
			added, err := Add([]byte(settings), program)
			if err != nil {
				t.Errorf("%s: %v", settings, err)
				continue
			}
			if !Has(added) || Has([]byte(settings)) {
				t.Errorf("%s became %s; want hookmux in the second alone", settings, added)
			}
			if again, err := Add(added, program); err != nil || string(again) != string(added) {
				t.Errorf("%s: a second time: %s, error %v; want no change", added, again, err)
			}
			back, was, err := Remove(added)
			if want := settings; err != nil || !was || string(back) != want && (settings != "" || strings.TrimSpace(string(back)) != "{}") {
				t.Errorf("%s became %s, and then %q (%v, error %v)", settings, added, back, was, err)
			}
		}
	}
}

// What can't be put back as it was is left alone.
func TestRefused(t *testing.T) {
	for _, settings := range []string{
		`{"statusLine":"x"}`, `{"statusLine":{"type":"other"}}`, `{"statusLine":{"type":"command","command":7}}`,
		`{"statusLine":{"type":"command","command":"\u0061 b"}}`, `{"statusLine":`,
	} {
		if added, err := Add([]byte(settings), "hookmux"); err == nil {
			t.Errorf("%s became %s; want an error", settings, added)
		}
	}
	for _, settings := range []string{`{"statusLine":{"type":"command","command":"a hookmux usage statusline"}}`,
		`{"statusLine":{"type":"command","command":"other usage statusline"}}`, `{}`, ``, `{"statusLine":3}`} {
		if back, was, err := Remove([]byte(settings)); was || err != nil || string(back) != settings {
			t.Errorf("%s: removed %v, error %v: %s; want nothing changed", settings, was, err, back)
		}
	}
	// Written by hand, as the docs had it.
	back, was, err := Remove([]byte(`{"statusLine":{"type":"command","command":"hookmux usage statusline -- ~/s.sh -a"}}`))
	if want := `{"statusLine":{"type":"command","command":"~/s.sh -a"}}`; err != nil || !was || string(back) != want {
		t.Errorf("%s, %v, %v; want %s", back, was, err, want)
	}
}
