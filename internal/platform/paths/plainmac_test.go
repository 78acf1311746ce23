package paths

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

func TestSumIsTheStandardLibrarys(t *testing.T) {
	for length := range 300 {
		key, text := []byte(strings.Repeat("k", length%65)), strings.Repeat("ab\x00c", length)
		m := hmac.New(sha256.New, key)
		m.Write([]byte(text))
		want := hex.EncodeToString(m.Sum(nil))
		if got := PlainMAC(key, text); got != want || !EqualMAC(got, want) || EqualMAC(got, want[1:]) || EqualMAC(got, "0"+want[:63]) && want[0] != '0' {
			t.Fatalf("of %d bytes: %s, want %s", len(text), got, want)
		}
	}
}
