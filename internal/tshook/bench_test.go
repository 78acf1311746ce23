package tshook

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/daemontest/await"
)

const threeRegexes = `
export default function (hooks) {
  const patterns = [/\bshred\s+(-u|--remove)/i, /\bsudo\b/i, /\b(chmod|chown)\b.*777/i];
  hooks.on("tool_call", async (event, ctx) => {
    if (event.toolName !== "bash") return undefined;
    if (patterns.some((p) => p.test(event.input.command))) return { block: true, reason: "no" };
    return undefined;
  });
}
`

func newBenchHarness(b *testing.B) (*Engine, string) {
	dir := b.TempDir()
	e := New(Host{CacheDir: filepath.Join(dir, "cache")})
	b.Cleanup(e.Close)
	return e, dir
}

func BenchmarkDispatch(b *testing.B) {
	e, dir := newBenchHarness(b)
	path := filepath.Join(dir, "gate.ts")
	m, err := e.Load(context.Background(), Source{Path: path,
		Read: func(string) ([]byte, error) { return []byte(threeRegexes), nil }})
	if err != nil {
		b.Fatal(err)
	}
	ev := &event.Event{Agent: "claude", Native: "PreToolUse", Kind: event.ToolBefore, Session: "s", Cwd: dir,
		Tool: &event.Tool{Name: "Bash", Kind: event.Shell, Commands: []string{"go test ./..."},
			Input: []byte(`{"command":"go test ./...","description":"x"}`)}}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for b.Loop() {
		if d, err := m.Handle(ctx, &hook.Call{Event: ev}); err != nil || d.Verdict != event.None {
			b.Fatalf("d = %+v, error %v; want no error and d.Verdict = event.None", d, err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	e, dir := newBenchHarness(b)
	n := 0
	for b.Loop() {
		n++
		path := filepath.Join(dir, fmt.Sprintf("gate%d.ts", n%50))
		if _, err := e.Load(context.Background(), Source{Path: path,
			Read: func(string) ([]byte, error) { return []byte(threeRegexes), nil }}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestMemory measures what one more hook costs.
func TestMemory(t *testing.T) {
	s := newHarness(t, nil)
	s.load("first.ts", threeRegexes)
	before := await.Resident(t)
	const n = 50
	for i := range n {
		s.load(fmt.Sprintf("gate%d.ts", i), threeRegexes)
	}
	runtime.GC()
	each := (await.Resident(t) - before) / n / 1024
	t.Logf("%d KiB for each module", each)
	if each > 1200 {
		t.Errorf("each module costs %d KiB", each)
	}
}
