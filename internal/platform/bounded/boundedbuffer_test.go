package bounded

import (
	"io"
	"strings"
	"testing"
)

func TestBufferKeepsTheBeginning(t *testing.T) {
	for _, c := range []struct {
		written string
		kept    string
		over    bool
	}{
		{"", "", false},
		{"ab", "ab", false},
		{"abcd", "abcd", false},
		{"abcde", "abcd", true},
	} {
		b := NewBuffer(4)
		if n, err := b.Write([]byte(c.written)); n != len(c.written) || err != nil {
			t.Errorf("Write(%q): want %d bytes taken, got %d, %v", c.written, len(c.written), n, err)
		}
		if got := string(b.Bytes()); got != c.kept || b.Overflowed() != c.over {
			t.Errorf("%q written: want %q, over %v; got %q, over %v", c.written, c.kept, c.over, got, b.Overflowed())
		}
	}
}

// io.Copy goes past Write where a writer has a ReadFrom.
func TestCopyIsBounded(t *testing.T) {
	b := NewBuffer(1000)
	n, err := io.Copy(b, io.LimitReader(strings.NewReader(strings.Repeat("x", 5<<20)), 5<<20))
	if n != 5<<20 || err != nil || len(b.Bytes()) != 1000 || !b.Overflowed() {
		t.Errorf("want 1000 of %d bytes kept, got %d of %d, over %v, %v", 5<<20, len(b.Bytes()), n, b.Overflowed(), err)
	}
}
