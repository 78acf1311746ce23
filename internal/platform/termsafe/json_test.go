package termsafe

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func TestWriteJSON(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{map[string]string{"a": "plain <text> & more"}, `{"a":"plain <text> & more"}`},
		{"C1 \u009b31m and DEL \x7f", `"C1 \u009b31m and DEL \u007f"`},
		{"bidi \u202egnp.exe\u202c \u2066x\u2069", `"bidi \u202egnp.exe\u202c \u2066x\u2069"`},
		{"esc \x1b[0m", `"esc \u001b[0m"`},
		{"tag \U000e0041", `"tag \udb40\udc41"`},
		{"zero\u200bwidth\ufeff", `"zero\u200bwidth\ufeff"`},
		{"heart ❤️ stays, 漢字 too", `"heart ❤️ stays, 漢字 too"`},
		{json.RawMessage("{\"a\":\"\u009b\"}"), `{"a":"\u009b"}`},
		{json.RawMessage("{\"a\":\"x\xffy\"}"), `{"a":"x\ufffdy"}`},
	} {
		var out bytes.Buffer
		if err := WriteJSON(&out, c.value, false); err != nil || out.String() != c.want+"\n" {
			t.Errorf("%q\n got %s, %v\nwant %s", c.value, out.String(), err, c.want)
		}
	}
	var out bytes.Buffer
	if err := WriteJSON(&out, []string{"\u202e"}, true); err != nil || out.String() != "[\n  \"\\u202e\"\n]\n" {
		t.Errorf("indented: %q, %v; want no error and out.String() == \"[\\n \\\"\\\\u202e\\\"\\n]\\n\"",
			out.String(), err)
	}
	if err := WriteJSON(&out, func() {}, false); err == nil {
		t.Error("a value that is no JSON was written")
	}
}

func FuzzEscapeJSON(f *testing.F) {
	for _, s := range []string{`{"a":"b"}`, "\"\u009b\u202e\x7f\"", "\"\xff\"", "[\r\n1]", "\"\U000e0041❤️\ufe0f\"",
		`"\\u202e"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if !json.Valid(in) {
			t.Skip("no JSON, so nothing to compare")
		}
		out := EscapeJSON(bytes.Clone(in))
		var before, after any
		_ = json.Unmarshal(in, &before)
		if err := json.Unmarshal(out, &after); err != nil || !reflect.DeepEqual(before, after) {
			t.Fatalf("%q -> %q: error %v, want no error and before = %v", in, out, err, after)
		}
		prev := rune(0)
		for _, r := range string(out) {
			if Dangerous(r) && !styles(r, prev) || strings.ContainsRune("\x1b\x7f\u009b\u202e\u2066", r) {
				t.Fatalf("%q -> %q: %U is left; want !Dangerous(r) or styles(r, prev) and "+
					"!strings.ContainsRune(\"\\x1b\\x7f\\u009b\\u202e\\u2066\", r)", in, out, r)
			}
			prev = r
		}
	})
}
