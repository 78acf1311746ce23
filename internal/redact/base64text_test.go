package redact

import (
	"encoding/base64"
	"testing"
)

func TestDecode(t *testing.T) {
	for _, text := range []string{"a plain line of text", "two\nlines and a tab\t", "x?>~ needs both alphabets ~~??"} {
		for _, coding := range []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding,
			base64.RawURLEncoding} {
			coded := coding.EncodeToString([]byte(text))
			if got := Decode(coded); got != text || !Begins(coded[:16]) {
				t.Errorf("%s is decoded to %q, expected %q", coded, got, text)
			}
		}
	}
	for _, coded := range []string{"TestSecretsAreReplaced", "/home/user/project/x", "AAAAAAAAAAAAAAAAAAAA", "!!!!"} {
		if Begins(coded) && Decode(coded) != "" {
			t.Errorf("%s is taken for text: %q", coded, Decode(coded))
		}
	}
}
