package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyText mixes ordinary words, secrets and the bits that secrets are made of,
// so that the generator comes near the edges of the shapes.
func anyText() *rapid.Generator[string] {
	var pieces []string
	for _, c := range allSecrets() {
		pieces = append(pieces, c.text)
	}
	pieces = append(pieces, cleanSamples()...)
	pieces = append(pieces, strings.Split(`sk- ghp_ : = :// @ " ' \ \n -- ----- TOKEN= password: "token": A_KEY= Bearer --password [redacted:key] … eyJ . user : / $ ${ { } [ ] ( ) , a1b2c3d4e5`, " ")...)
	pieces = append(pieces, " ", "\n", "\t", "-----BEGIN ", "-----END ", "PRIVATE KEY-----")
	piece := rapid.OneOf(rapid.SampledFrom(pieces), rapid.SampledFrom(pieces), rapid.String(),
		rapid.StringMatching(`[A-Za-z0-9_:=@/.\-]{0,40}`))
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(piece, 0, 6).Draw(t, "pieces"),
			"")
	})
}

func anyValue(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Map(anyText(), func(s string) any { return s }),
		rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Just[any](nil))
	if depth == 0 {
		return leaf
	}
	key := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"password", "apiKey", "token", "tokens",
		"tool_response", "a", "cookies"}))
	sub := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(depth - 1) })
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(sub, 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(key, sub, 0, 4), func(m map[string]any) any { return m }),
	)
}

func TestTextIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyText().Draw(t, "text")
		once := Text(in)
		if twice := Text(once); twice != once {
			t.Fatalf("in = %q, once = %q, Text(once) = %q; want twice = %q", in, once, twice, once)
		}
	})
}

func TestShapesDontSurviveInAnyText(t *testing.T) {
	samples := shapeSamples()
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(samples).Draw(t, "secret")
		in := anyText().Draw(t, "before") + " " + c.text + " " + anyText().Draw(t, "after")
		if got := Text(in); strings.Contains(got, " "+c.text+" ") {
			t.Fatalf(`in = %q, Text(in) = %q; want no " " + c.text + " " in it`, in, got)
		}
	})
}

func TestJSONStaysJSON(t *testing.T) {
	opt := Limits{String: 400, Output: 120, OutputKeys: Keys("tool_response")}
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(3).Draw(t, "value")
		var buf bytes.Buffer
		enc := json.NewEncoder(&buf)
		enc.SetEscapeHTML(rapid.Bool().Draw(t, "html"))
		if rapid.Bool().Draw(t, "indent") {
			enc.SetIndent(" ", "\t")
		}
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		out, _ := AppendJSON(nil, buf.Bytes(), opt)
		if !json.Valid(out) || !utf8.Valid(out) || bytes.IndexByte(out, '\n') >= 0 {
			t.Fatalf("buf.Bytes() = %s, out = %q; want json.Valid(out), utf8.Valid(out) and bytes.IndexByte(out, "+
				"'\\n') less than 0", buf.Bytes(), out)
		}
		var before, after any
		_ = json.Unmarshal(buf.Bytes(), &before)
		_ = json.Unmarshal(out, &after)
		if !sameShape(before, after) {
			t.Fatalf("structure changed: %s -> %s; want sameShape(before, after)", buf.Bytes(), out)
		}
		again, _ := AppendJSON(nil, out, opt)
		if !json.Valid(again) || len(again) > len(out)+64 {
			t.Fatalf("out = %s, again = %s; want json.Valid(again) and len(again) at most len(out) + 64", out, again)
		}
		noCut := Limits{String: -1, Output: -1}
		once, _ := AppendJSON(nil, buf.Bytes(), noCut)
		twice, rep := AppendJSON(nil, once, noCut)
		if !bytes.Equal(once, twice) || rep != (Report{}) {
			t.Fatalf("not stable: %s\n-> %s\n-> %s; want once equal to twice and rep == (Report{})",
				buf.Bytes(), once, twice)
		}
	})
}

// One Redactor that meets many values gives for each what one without a cache gives.
func TestKnownStringsChangeNothing(t *testing.T) {
	opt := Limits{String: 400, Output: 120, OutputKeys: Keys("tool_response")}
	r := New()
	rapid.Check(t, func(t *rapid.T) {
		in, err := json.Marshal(anyValue(3).Draw(t, "value"))
		if err != nil {
			t.Skip(err)
		}
		r.AppendJSON(nil, in, opt) // what it remembers of the value, both know then
		got, _ := r.AppendJSON(nil, in, opt)
		if want, _ := (&Redactor{mem: r.mem}).AppendJSON(nil, in, opt); !bytes.Equal(got, want) {
			t.Fatalf("%s with known strings is\n%s, without\n%s", in, got, want)
		}
	})
}

// sameShape compares everything but the contents of strings and changed keys.
func sameShape(a, b any) bool {
	switch a := a.(type) {
	case string:
		_, ok := b.(string)
		return ok
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameShape(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(b) > len(a) {
			return false
		}
		for k := range a {
			if v, ok := b[k]; ok && !sameShape(a[k], v) {
				return false
			}
		}
		return true
	}
	return reflect.DeepEqual(a, b)
}

func FuzzAppendJSON(f *testing.F) {
	for _, c := range allSecrets() {
		b, _ := json.Marshal(map[string]any{"a": c.text, "password": []string{c.text}})
		f.Add(b)
		f.Add([]byte(c.text))
	}
	for _, s := range []string{"", "{", `"\ud800"`, "\"\xff\"", `{"token":"x"}`, "[1e5, -0.0 ]", "\ufeff{}"} {
		f.Add([]byte(s))
	}
	opt := Limits{String: 128, Output: 64, OutputKeys: Keys("a")}
	f.Fuzz(func(t *testing.T, in []byte) {
		saved := bytes.Clone(in)
		out, _ := AppendJSON(nil, in, opt)
		if !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("in = %q, out = %q; want json.Valid(out) and utf8.Valid(out)", in, out)
		}
		if !bytes.Equal(in, saved) {
			t.Fatal("the input was written to")
		}
		// A Redactor that knows the strings already gives the same. It starts without
		// remembered values, and what it remembers of this input it knew at its end.
		r := New()
		r.AppendJSON(nil, in, opt)
		known, _ := r.AppendJSON(nil, in, opt)
		if want, _ := (&Redactor{mem: r.mem}).AppendJSON(nil, in, opt); !bytes.Equal(known, want) {
			t.Fatalf("%q with known strings is %q, without %q", in, known, want)
		}
		body := bytes.TrimPrefix(in, []byte("\ufeff"))
		first := byte('"')
		if json.Valid(body) {
			first = bytes.TrimLeft(body, " \t\r\n")[0]
		}
		if out[0] != first {
			t.Fatalf("valid and invalid mixed up: %q -> %q", in, out)
		}
		full, _ := AppendJSON(nil, in, Limits{String: -1, Output: -1})
		if json.Valid(body) {
			if twice, rep := AppendJSON(nil, full, Limits{String: -1, Output: -1}); !bytes.Equal(full, twice) ||
				rep != (Report{}) {
				t.Fatalf("not stable: %q -> %q -> %q; want full equal to twice and rep == (Report{})",
					in, full, twice)
			}
		}
	})
}
