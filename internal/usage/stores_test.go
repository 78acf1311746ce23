package usage

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestEntriesNameFormats(t *testing.T) {
	if len(stores()) < 15 {
		t.Errorf("%d agents have records that are read, want 15 or more", len(stores()))
	}
	for _, one := range stores() {
		if len(one.files) == 0 || len(one.roots) == 0 {
			t.Errorf("%s: %d kinds of files in %d folders; its entry's usage must name a format and folders", one.agent,
				len(one.files), len(one.roots))
		}
	}
}

// A first import asks the store for an id that may be known: never too seldom, or a call
// would be counted twice, and hardly ever for nothing.
func TestIDsOfAFirstImport(t *testing.T) {
	const ids = 200_000
	known, asked := newKnownIDs(), 0
	for n := range ids {
		if !known.addNew(keyBase("claude", fmt.Sprint("msg_", n), 0)) {
			asked++
		}
	}
	if asked > ids/1000 {
		t.Errorf("%d of %d ids that are new look known", asked, ids)
	}
	for n := range ids {
		if known.addNew(keyBase("claude", fmt.Sprint("msg_", n), 0)) {
			t.Fatalf("msg_%d looks new the second time", n)
		}
	}
}

// Where every id looks known, an import counts the same.
func TestAFullFilterChangesNoNumber(t *testing.T) {
	w := newWorld(t)
	full := newKnownIDs()
	for i := range full {
		full[i] = ^uint64(0)
	}
	for range 2 { // the second batch has what the first one wrote
		b, err := w.store.begin(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b.known = full
		for n := range 3 * 500 {
			c := Call{Agent: "claude", ID: fmt.Sprint("msg_", n%500), Tokens: Tokens{Input: 2}, At: time.Unix(1, 0)}
			if err := b.add(c); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.commit(); err != nil {
			t.Fatal(err)
		}
	}
	w.wants("each id once", Tokens{Input: 1000})
}

// Agents whose records were moved by a variable, as each vendor names it.
func TestMovedRecords(t *testing.T) {
	const moved = "/moved"
	for _, one := range []struct{ agent, variable, record string }{
		{"claude", "CLAUDE_CONFIG_DIR", "projects/p/s.jsonl"},
		{"codex", "CODEX_HOME", "sessions/2026/11/15/rollout-1.jsonl"},
		{"codex", "CODEX_HOME", "archived_sessions/rollout-1.jsonl.zst"},
		{"gemini", "GEMINI_CLI_HOME", ".gemini/tmp/x/chats/session.jsonl"},
		{"qwen", "QWEN_HOME", "projects/x/chats/s.jsonl"},
		{"pi", "PI_CODING_AGENT_DIR", "sessions/x/1.jsonl"},
		{"pi", "PI_CODING_AGENT_SESSION_DIR", "x/1.jsonl"},
		{"openclaw", "OPENCLAW_STATE_DIR", "agents/a/sessions/1.jsonl"},
		{"openclaw", "OPENCLAW_HOME", ".openclaw/agents/a/sessions/1.jsonl"},
		{"copilot", "COPILOT_HOME", "session-state/x/events.jsonl"},
		{"kimi", "KIMI_CODE_HOME", "sessions/x/y/agents/main/wire.jsonl"},
		{"kimi", "KIMI_SHARE_DIR", "sessions/x/wire.jsonl"},
		{"droid", "DROID_SESSIONS_DIR", "p/s.settings.json"},
		{"grok", "GROK_HOME", "sessions/x/y/updates.jsonl"},
		{"opencode", "XDG_DATA_HOME", "opencode/opencode.db"},
		{"kilo", "XDG_DATA_HOME", "kilo/kilo.db"},
		{"goose", "XDG_DATA_HOME", "goose/sessions/sessions.db"},
		{"goose", "GOOSE_PATH_ROOT", "data/sessions/sessions.db"},
		{"amp", "XDG_DATA_HOME", "amp/threads/T-1.json"},
	} {
		getenv := func(name string) string {
			if name == one.variable {
				return moved
			}
			return ""
		}
		at := slices.IndexFunc(stores(), func(s store) bool { return s.agent == one.agent })
		found := slices.ContainsFunc(stores()[at].rootsOf("/home/user", getenv), func(root string) bool {
			rel, err := filepath.Rel(root, filepath.Join(moved, one.record))
			return err == nil && filepath.IsLocal(rel) && stores()[at].kindOf(rel) != nil
		})
		if !found {
			t.Errorf("%s isn't looked for in $%s/%s", one.agent, one.variable, one.record)
		}
	}
}
