package jsontext

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

func FuzzStrings(f *testing.F) {
	for _, s := range []string{"", "plain", "a\"b\\c\n\r\t\b\f\x00\x1f\x7f", "ümläut 日本", "\xff\xfe", "\U0001f600"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := AppendQuoted(nil, s)
		if string(quoted) != string(AppendQuoted(nil, []byte(s))) {
			t.Error("text and bytes are quoted differently")
		}
		if back := AppendUnescaped(nil, quoted[1:len(quoted)-1]); string(back) != s {
			t.Errorf("%q came back as %q", s, back)
		}
		var std string
		if utf8.ValidString(s) && (json.Unmarshal(quoted, &std) != nil || std != s) {
			t.Errorf("%s is %q for others", quoted, std)
		}
	})
}

func TestUnescapedAsEverybodyReadsIt(t *testing.T) {
	for _, body := range []string{
		`\u0041\b\f\n\r\t\/\"\\`, `\ud83d\ude00`, `\ud83d`, `\ude00`, `\ud83dx`, `\ud83d\n`, `\ud83d\u0041`, `\uD83D\uDE00 \u00e9`,
	} {
		var want string
		if err := json.Unmarshal([]byte(`"`+body+`"`), &want); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendUnescaped(nil, body)); got != want {
			t.Errorf("%s is %q, want %q", body, got, want)
		}
	}
	for _, broken := range []string{`\`, `\u`, `\u12`, `\ud83d\u`, `\ud83d\u12`} {
		AppendUnescaped(nil, broken) // whatever it gives, it ends
	}
}

func TestHex4(t *testing.T) {
	for s, want := range map[string]rune{"00e9": 0xe9, "ABCDx": 0xabcd, "12": -1, "12g4": -1, "": -1} {
		if got := Hex4(s); got != want {
			t.Errorf("%q is %x, want %x", s, got, want)
		}
	}
}

func TestEscapeBreaks(t *testing.T) {
	for doc, want := range map[string]string{
		"{\n \"a\": \"b\"\n}":                 "{\n \"a\": \"b\"\n}",
		"{\"a\":\"one\ntwo\tthree\"}":         `{"a":"one\ntwo\tthree"}`,
		"{\"a\":\"\x01\",\n\"b\":\"\\\"\n\"}": "{\"a\":\"\\u0001\",\n\"b\":\"\\\"\\n\"}",
		"\"open\nend":                         `"open\nend`,
		"":                                    "",
	} {
		if got := string(EscapeBreaks([]byte(doc))); got != want {
			t.Errorf("%q became %q, want %q", doc, got, want)
		}
	}
}
