package jsontext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func FuzzAgainstEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, ` { "a" : [1, 2.5e-3, -0, true, null, "x\u00e9\ud83d\ude00\ud800"] , "b":{"c":{}}} `,
		`{"a":1,"a":"2"}`, `[]`, `"x"`, `{"a":01}`, `{"a":1.}`, "{\"a\":\"\x01\"}", `{"a":"\x"}`, `{"a"`, `{"a":tru`, `{} x`, ``,
		"{\"k\":\"" + strings.Repeat("long text ", 30) + "\\n\"}", "{\"a\":\"\xff\xfe\"}", `{"\u0061":1}`, `[1,2`, `[,]`, `-`, `1e`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		if got, want := Valid(doc), json.Valid(doc); got != want {
			t.Fatalf("Valid(%q) = %v, encoding/json says %v", doc, got, want)
		}
		got := map[string]json.RawMessage{}
		err := Object(doc, func(key, value []byte) bool {
			got[strings.ToValidUTF8(string(key), "\ufffd")] = value
			if !json.Valid(value) {
				t.Fatalf("handed out %q; want json.Valid(value)", value)
			}
			return true
		})
		var want map[string]json.RawMessage
		wantErr := json.Unmarshal(doc, &want)
		isNull := bytes.Equal(bytes.TrimSpace(doc), []byte("null"))
		if !isNull && (err == nil) != (wantErr == nil) {
			t.Fatalf("Object(%q): %v, encoding/json: %v", doc, err, wantErr)
		}
		if err != nil {
			return
		}
		for key, value := range want {
			mine, ok := got[key]
			if !ok {
				if strings.Contains(key, "\ufffd") {
					continue // runs of broken bytes are folded differently
				}
				t.Fatalf("%q: key %q missing; want ok", doc, key)
			}
			var text string
			if json.Unmarshal(value, &text) == nil && value[0] == '"' {
				mineText, ok := String(mine)
				if !ok || !strings.Contains(text, "\ufffd") && mineText != text {
					t.Fatalf("%q: %q, want %q", doc, mineText, text)
				}
			}
		}
		_ = Array(doc, func([]byte) bool { return true })
	})
}

// A byte is judged alike wherever it is in a string.
func TestEveryByteEverywhereInAString(t *testing.T) {
	for at := range 20 {
		for c := range 256 {
			doc := []byte(`"` + strings.Repeat("a", at) + string([]byte{byte(c)}) + strings.Repeat("b", 20-at) + `"`)
			if got, want := Valid(doc), json.Valid(doc); got != want {
				t.Errorf("%q: %v, encoding/json says %v", doc, got, want)
			}
		}
	}
}

func TestObjectStopsEarly(t *testing.T) {
	n := 0
	if err := Object([]byte(`{"a":1,"b":2,"c"`), func(_, _ []byte) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Fatalf("n = %v, error %v; want no error and n = 2", n, err)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for doc, want := range map[string]string{
		``:             "nothing there at byte 0",
		`[1]`:          "not an object at byte 0",
		`{"a":1`:       "cut off at byte 6",
		`{"a":"xy`:     "cut off at byte 8",
		`{"a":nul`:     "cut off at byte 8",
		`{"a" 1}`:      "expected a colon at byte 5",
		`{"a":1} {}`:   "something follows the value at byte 8",
		`{"a":1 "b":2`: "expected a comma or a closing brace at byte 7",
	} {
		err := Object([]byte(doc), func(_, _ []byte) bool { return true })
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", doc, err, want)
		}
	}
}

func TestDepth(t *testing.T) {
	deep := strings.Repeat("[", MaxDepth+5) + strings.Repeat("]", MaxDepth+5)
	if Valid([]byte(deep)) {
		t.Error("accepted a bottomless list")
	}
	fine := strings.Repeat("[", MaxDepth-5) + strings.Repeat("]", MaxDepth-5)
	if !Valid([]byte(fine)) {
		t.Error("refused a deep list")
	}
}

func TestGet(t *testing.T) {
	doc := []byte(`{"a":{"b":{"c":"x"},"b2":1}}`)
	if s, _ := String(Get(doc, "a", "b", "c")); s != "x" {
		t.Errorf(`String(Get(doc, "a", "b", "c")) = %q, want "x"`, s)
	}
	if Get(doc, "a", "nope", "c") != nil || Get(doc, "a", "b2", "c") != nil {
		t.Error(`found something; want Get(doc, "a", "nope", "c") == nil and Get(doc, "a", "b2", "c") == nil`)
	}
	if !IsObject(doc) || IsArray(doc) || !IsArray([]byte(" []")) {
		t.Error(`kinds; want IsObject(doc), !IsArray(doc) and IsArray([]byte(" []"))`)
	}
}

func BenchmarkObject(b *testing.B) {
	doc := []byte(`{"session_id":"a5db4950-bf4e-4707-a65f-440490eeb506","cwd":"/home/user/project","tool_input":{"command":"` + strings.Repeat("echo hello ", 100) + `"}}`)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if err := Object(doc, func(_, _ []byte) bool { return true }); err != nil {
			b.Fatal(err)
		}
	}
}

// Nested finds what Object finds in an object and in a member of it, and refuses what
// Object refuses.
func TestNested(t *testing.T) {
	for _, doc := range []string{`{"a":1,"m":{"b":{"m":2},"m":{"x":1},"c":"}"},"d":[{"m":{}}]}`, `{"m":{}}`, `{"m":3}`, `{"m":null,"m":{"a":1}}`,
		` { "m" : { "a" : "x" } , "b" : 2 } `, `{"m":{"a":1}`, `{"m":{"a":1}}x`, `{"m":{"a"}}`, `{"m":{,}}`, `{"m":{"a":1,}}`, `{"\u006d":{"a":1}}`,
		`{}`, `[]`, ``, `{"m":{"a":01}}`, `{"m":{"a":1}"b":2}`} {
		var want, got []string
		wantErr := Object([]byte(doc), func(key, value []byte) bool {
			if string(key) != "m" || !IsObject(value) {
				want = append(want, string(key)+"="+string(value))
				return true
			}
			want = append(want, "m")
			_ = Object(value, func(key, value []byte) bool {
				want = append(want, "m."+string(key)+"="+string(value))
				return true
			})
			return true
		})
		gotErr := Nested([]byte(doc), "m", func(within bool, key, value []byte) bool {
			switch {
			case within:
				got = append(got, "m."+string(key)+"="+string(value))
			case value == nil:
				got = append(got, string(key))
			default:
				got = append(got, string(key)+"="+string(value))
			}
			return true
		})
		if (wantErr == nil) != (gotErr == nil) || wantErr == nil && fmt.Sprint(want) != fmt.Sprint(got) {
			t.Errorf("%s: %v %v, want %v %v", doc, got, gotErr, want, wantErr)
		}
		n := 0
		_ = Nested([]byte(doc), "m", func(bool, []byte, []byte) bool { n++; return n < 2 })
		if n > 2 {
			t.Errorf("%s: goes on after it was stopped", doc)
		}
	}
}
