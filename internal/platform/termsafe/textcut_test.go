package termsafe

import "testing"

func TestCuts(t *testing.T) {
	for _, c := range []struct {
		text          string
		most          int
		bytes, marked string
	}{
		{"", 0, "", ""}, {"abc", 3, "abc", "abc"}, {"abc", 2, "ab", "ab…"}, {"aä", 2, "a", "a…"}, {"ää", 2, "ä", "ä…"},
		{"世界", 5, "世", "世…"}, {"世", 2, "", "…"}, {"abc", 0, "", "…"}, {"\x80\x80", 1, "", "…"},
	} {
		if got := CutBytes(c.text, c.most); got != c.bytes {
			t.Errorf("Bytes(%q, %d) = %q, want %q", c.text, c.most, got, c.bytes)
		}
		if got := CutMarked(c.text, c.most); got != c.marked {
			t.Errorf("Marked(%q, %d) = %q, want %q", c.text, c.most, got, c.marked)
		}
	}
}
