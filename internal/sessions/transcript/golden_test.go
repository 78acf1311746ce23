package transcript

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/golden"
)

// readers say which format a captured file is in, and whose facts are wanted.
var readers = []struct{ file, format, session string }{
	{"claude/transcript-ai-title.jsonl", "claude", ""},
	{"claude/transcript-headless-bash.jsonl", "claude", ""},
	{"claude/transcript-hook-title.jsonl", "claude", ""},
	{"claude/transcript-interactive-rename-compact.jsonl", "claude", ""},
	{"claude/transcript-interrupted.jsonl", "claude", ""},
	{"claude/transcript-subagent.jsonl", "claude", ""},
	{"claude/transcript-user-rejected-permission.jsonl", "claude", ""},
	{"codebuddy/transcript-api-error.jsonl", "codebuddy", ""},
	{"codebuddy/transcript-interrupted.jsonl", "codebuddy", ""},
	{"codebuddy/transcript-kept-going.jsonl", "codebuddy", ""},
	{"codebuddy/transcript-user-rejected.jsonl", "codebuddy", ""},
	{"codex/session_index.jsonl", "codex-index", "01a1dcf6-ab3d-7530-98a4-bb227d095116"},
	{"codex/transcript-auto-review.jsonl", "codex", ""},
	{"codex/transcript-failed-command.jsonl", "codex", ""},
	{"codex/transcript-interactive.jsonl", "codex", ""},
	{"copilot/session.events.jsonl", "copilot", ""},
	{"copilot/session.workspace.yaml", "copilot-workspace", ""},
	{"droid/session.jsonl", "droid", ""},
	{"gemini/session.chats.jsonl", "gemini", ""},
	{"gemini/session.with-summary.chats.jsonl", "gemini", ""},
	{"grok/chat_history.jsonl", "grok-history", ""},
	{"grok/summary.json", "grok-summary", ""},
	{"grok/updates.api-error.jsonl", "grok", ""},
	{"grok/updates.cancelled.jsonl", "grok", ""},
	{"grok/updates.failed-command.jsonl", "grok", ""},
	{"kimi/wire.api-error.jsonl", "kimi", ""},
	{"kimi/wire.cancelled.jsonl", "kimi", ""},
	{"kimi/wire.failed-command.jsonl", "kimi", ""},
	{"pi/session.jsonl", "pi", ""},
	{"qwen/session.chat.jsonl", "qwen", ""},
}

// What real agents wrote down reads as these facts.
func TestCapturedRecords(t *testing.T) {
	for _, r := range readers {
		path := filepath.Join("testdata", r.file)
		root, err := filepath.Abs("testdata")
		if err != nil {
			t.Fatal(err)
		}
		if root, err = filepath.EvalSymlinks(root); err != nil {
			t.Fatal(err)
		}
		tail := newTail(filepath.Join(root, r.file), root, formats[r.format], r.session)
		facts, err := tail.Read()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, f := range facts {
			if !f.First || f.Early {
				t.Errorf("%s: f = %+v, want f.First and not f.Early", r.file, f)
			}
			fmt.Fprintln(&b, line(f))
		}
		golden.Match(t, strings.TrimSuffix(path, filepath.Ext(path))+".facts", b.String())
		if again, err := tail.Read(); err != nil || len(again) != 0 {
			t.Errorf("%s: read again: %v %v; want no error and len(again) == 0", r.file, again, err)
		}
	}
}

// line returns a fact on one line.
func line(f Fact) string {
	out := string(f.Kind)
	for _, part := range []struct{ name, value string }{
		{"source", f.Source}, {"turn", f.Turn}, {"call", f.Call}, {"tool", f.Tool}, {"input", string(f.Input)}, {"text", f.Text},
		{"reviewer", string(f.Reviewer)},
	} {
		if part.value != "" {
			value, _ := json.Marshal(part.value)
			out += " " + part.name + "=" + string(value)
		}
	}
	if f.Failed {
		out += " failed"
	}
	if f.Denied {
		out += " denied"
	}
	if f.Exit != 0 {
		out += fmt.Sprintf(" exit=%d", f.Exit)
	}
	return out
}
