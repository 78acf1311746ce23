package usage

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeHistory makes records of Claude Code's of about size bytes, a quarter of which
// are lines with usage.
func writeHistory(tb testing.TB, home string, size int64) (written int64, calls int) {
	tb.Helper()
	dir := filepath.Join(home, ".claude/projects/p")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	other := `{"type":"user","message":{"content":"` + strings.Repeat("text of a tool's result, \\\"quoted\\\" here ", 90) + `"}}` + "\n"
	words := strings.Repeat("what the model said ", 30)
	for file := 0; written < size; file++ {
		var b strings.Builder
		for i := 0; b.Len() < 4<<20; i++ {
			b.WriteString(other)
			for piece := range 1 {
				fmt.Fprintf(&b, `{"parentUuid":"ec495593-9a8b-48ce-ad52-ae96f7ba5b9f","isSidechain":false,"message":{"id":"msg_%d_%d",`+
					`"type":"message","role":"assistant","model":"claude-opus-5-5","content":[{"type":"text","text":"%s"}],`+
					`"stop_reason":"end_turn","usage":{"input_tokens":1200,"cache_creation_input_tokens":10,`+
					`"cache_read_input_tokens":9000,"output_tokens":%d,"service_tier":"standard","cache_creation":`+
					`{"ephemeral_1h_input_tokens":0,"ephemeral_5m_input_tokens":10},"speed":"standard"}},"requestId":"req_%d_%d",`+
					`"type":"assistant","uuid":"b03e63a2-%d-%d","timestamp":"2026-11-15T01:40:56.499Z","cwd":"/home/user/project",`+
					`"sessionId":"session-%d","version":"2.1.325","gitBranch":"main"}`+"\n", file, i, words, piece+1, file, i, file, i, file)
			}
			calls++
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.jsonl", file)), []byte(b.String()), 0o600); err != nil {
			tb.Fatal(err)
		}
		written += int64(b.Len())
	}
	return written, calls
}

// BenchmarkImport imports records into a new store, a quarter of whose bytes are lines
// with usage.
func BenchmarkImport(b *testing.B) {
	home := b.TempDir()
	written, _ := writeHistory(b, home, 256<<20)
	b.SetBytes(written)
	for b.Loop() {
		b.StopTimer()
		store, err := OpenStore(filepath.Join(b.TempDir(), Database), BuiltinPrices)
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		scanner, err := NewScanner(b.Context(), store, home, func(string) string { return "" })
		if err != nil {
			b.Fatal(err)
		}
		if err := scanner.Scan(b.Context(), nil, nil); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		store.Close()
		b.StartTimer()
	}
}
