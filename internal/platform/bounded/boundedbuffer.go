package bounded

import "sync"

// This file keeps the beginning of what a program prints.

// Buffer keeps the first bytes that are written to it and drops the rest. It doesn't embed a
// [bytes.Buffer]: io.Copy would use its ReadFrom and never call Write.
type Buffer struct {
	most int

	mu   sync.Mutex
	kept []byte
	over bool
}

// NewBuffer makes a buffer that keeps at most this many bytes.
func NewBuffer(most int) *Buffer { return &Buffer{most: most} }

// Write keeps what there is room for. It never fails: a program that prints too much
// runs to its end.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fits := min(len(p), b.most-len(b.kept))
	b.kept = append(b.kept, p[:fits]...)
	b.over = b.over || fits < len(p)
	return len(p), nil
}

// Bytes returns what was kept, which the caller must not change while writing goes on.
func (b *Buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.kept
}

// Overflowed reports whether anything was dropped.
func (b *Buffer) Overflowed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.over
}
