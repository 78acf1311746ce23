package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

// What a page gets first is compressed, and what follows can be read as soon as it comes.
func TestCompressedStream(t *testing.T) {
	h := &audience{}
	for range 2 { // one compressor serves every page
		first := `data: {"sessions":[` + strings.Repeat(`{"title":"Fix the cart"},`, 1000) + "{}]}\n\n"
		begin := h.zip([]byte(first))
		if len(begin) > len(first)/10 {
			t.Errorf("%d bytes of %d", len(begin), len(first))
		}
		from, to := io.Pipe()
		send := func(text []byte) { go func() { _, _ = to.Write(text) }() }
		send(begin)
		reader, err := gzip.NewReader(from)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{first, "data: {}\n\n", strings.Repeat("x", 200_000), string(alive)} {
			if want != first {
				send(storedBlocks([]byte(want)))
			}
			got := make([]byte, len(want))
			if _, err := io.ReadFull(reader, got); err != nil || !bytes.Equal(got, []byte(want)) {
				t.Fatalf("read %.40q, want %.40q, error %v", got, want, err)
			}
		}
		to.Close()
	}
}
