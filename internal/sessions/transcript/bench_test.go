package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/agent"
)

// record returns a Claude record of the given size with a real end. What lies
// before it is a hole, where the file system has holes.
func record(b *testing.B, size int64) (*agent.TranscriptSpec, string, string) {
	b.Helper()
	claude, _ := agent.Builtin().Agent("claude")
	home, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(home, ".claude", "projects", "-p", "s1.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var rows strings.Builder
	for rows.Len() < 512<<10 {
		rows.WriteString(`{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"` + strings.Repeat("x", 800) + `"}]}}` + "\n")
		rows.WriteString(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
			strings.Repeat("y", 400) + `"}]}}` + "\n")
	}
	body := []byte(rows.String())
	if _, err := file.WriteAt(body[:headWindow], 0); err != nil {
		b.Fatal(err)
	}
	if _, err := file.WriteAt(append([]byte("\n"), body...), size-int64(len(body))-1); err != nil {
		b.Fatal(err)
	}
	return &claude.Status.Transcript, home, path
}

// The first look at a record and a look at one that grew by a row must cost
// the same whether it has 1 MB or 500 MB.
func BenchmarkFirstRead1MB(b *testing.B)         { benchFirst(b, 1<<20) }
func BenchmarkFirstReadSparse500MB(b *testing.B) { benchFirst(b, 500<<20) }
func BenchmarkGrown1MB(b *testing.B)             { benchGrown(b, 1<<20) }
func BenchmarkGrownSparse500MB(b *testing.B)     { benchGrown(b, 500<<20) }

func benchFirst(b *testing.B, size int64) {
	spec, home, path := record(b, size)
	for b.Loop() {
		r, err := Open(spec, "s1", path, Env{Home: home})
		if err != nil {
			b.Fatal(err)
		}
		if facts, err := r.Read(); err != nil || len(facts) == 0 {
			b.Fatalf("len(facts) = %v, error %v; want no error and len(facts) other than 0", len(facts), err)
		}
	}
}

func benchGrown(b *testing.B, size int64) {
	spec, home, path := record(b, size)
	r, err := Open(spec, "s1", path, Env{Home: home})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := r.Read(); err != nil {
		b.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	row := []byte(`{"type":"assistant","message":{"role":"assistant","content":"more"}}` + "\n")
	for b.Loop() {
		if _, err := file.Write(row); err != nil {
			b.Fatal(err)
		}
		if facts, err := r.Read(); err != nil || len(facts) != 1 {
			b.Fatalf("len(facts) = %v, error %v; want no error and len(facts) = 1", len(facts), err)
		}
	}
}
