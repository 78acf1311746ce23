package redact

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// payload returns what an agent sends before a tool call: some ids and paths, a
// command, and a piece of a file with line ends and quotes.
func payload(size int) []byte {
	code := strings.Repeat("func (w *walker) number() bool {\n\tif !w.digits() { // see \"the grammar\"\n\t\treturn "+
		"false\n\t}\n\treturn true\n}\n\n", 1+size/90)
	m := map[string]any{
		"session_id": "123e4567-e89b-12d3-a456-426614174000", "transcript_path": "/home/user/.claude/projects/x/123e4567.jsonl",
		"cwd": "/home/user/project", "hook_event_name": "PreToolUse", "tool_name": "Write", "permission_mode": "default",
		"tool_input": map[string]any{"file_path": "/home/user/project/internal/x/number.go", "content": code[:size-450], "command": "go test ./... 2>&1 | head -20"},
	}
	b, _ := json.Marshal(m)
	return b
}

func benchJSON(b *testing.B, src []byte) {
	opt := DefaultLimits()
	dst := make([]byte, 0, 2*len(src))
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		dst, _ = AppendJSON(dst[:0], src, opt)
	}
}

func BenchmarkJSONClean2K(b *testing.B)  { benchJSON(b, payload(2048)) }
func BenchmarkJSONClean12K(b *testing.B) { benchJSON(b, payload(12<<10)) }
func BenchmarkJSONCut1M(b *testing.B)    { benchJSON(b, payload(1<<20)) }

func BenchmarkJSONSecret2K(b *testing.B) {
	p := payload(2048)
	benchJSON(b, []byte(strings.Replace(string(p), "go test", join("gh", "p_", alnum36)+" go", 1)))
}

func BenchmarkJSONPretty2K(b *testing.B) {
	var v any
	_ = json.Unmarshal(payload(2048), &v)
	p, _ := json.MarshalIndent(v, "", "  ")
	benchJSON(b, p)
}

// BenchmarkJSONRecorded is a whole recorded session, as the journal gets it.
func BenchmarkJSONRecorded(b *testing.B) {
	var all [][]byte
	for _, name := range []string{"SessionStart.startup", "UserPromptSubmit", "PreToolUse.Read", "PreToolUse.Bash",
		"PostToolUse.Bash", "PreToolUse.Edit", "PostToolUse.Edit", "PreToolUse.mcp", "PostToolUse.mcp",
		"Notification.idle_prompt", "PreToolUse.Write", "Stop"} {
		text, err := os.ReadFile(filepath.Join("../../agent/testdata/fixtures/claude", name+".json"))
		if err != nil {
			b.Fatal(err)
		}
		var line bytes.Buffer
		if err := json.Compact(&line, text); err != nil {
			b.Fatal(err)
		}
		all = append(all, line.Bytes())
	}
	opt := DefaultLimits()
	dst := make([]byte, 0, 64<<10)
	n := 0
	r := New()
	for _, text := range all {
		n += len(text)
	}
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		for _, text := range all {
			dst, _ = r.AppendJSON(dst[:0], text, opt)
		}
	}
}
