package usage

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each agent's session is found by the id that its hooks report, with what its records say:
// lists, the live view and tmux show that.
func TestEveryAgentsSessionIsShown(t *testing.T) {
	shown := map[string]bool{}
	check := func(t *testing.T, w *world, agent, session string, want Tokens) {
		t.Helper()
		l := newLedger(time.Now, BuiltinPrices)
		if err := l.load(t.Context(), w.store); err != nil {
			t.Fatal(err)
		}
		s := &Service{ledger: l}
		u := s.SessionUsage(agent, session)
		if u == nil || u.Tokens != want.Total() || u.UnpricedTokens < u.Tokens == (u.CostUSD == nil) {
			t.Errorf("%s %s: shown is %+v, want %d tokens, and a cost where a part has a price", agent, session, u, want.Total())
		}
		shown[agent] = true
	}
	for _, one := range capturedRecords {
		t.Run(one.agent+" "+one.from, func(t *testing.T) {
			w := newWorld(t)
			data, err := os.ReadFile(filepath.Join(captured, one.from))
			if err != nil {
				t.Fatal(err)
			}
			// A session that's at work: lists forget what was used long ago.
			w.write(one.to, strings.TrimSuffix(string(data), "\n"))
			w.scanner.now = func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) }
			w.scan()
			check(t, w, one.agent, one.session, one.want)
		})
	}
	for _, one := range []struct{ agent, path, session, line string }{
		{"droid", ".factory/sessions/p/6eff962c.settings.json", "6eff962c", `{"model":"claude-opus-4-6","tokenUsage":{"inputTokens":5,"outputTokens":7}}`},
		{"amp", ".local/share/amp/threads/T-1.json", "T-1", `{"usageLedger":{"events":[{"model":"claude-opus-4-6","tokens":{"input":5,"output":7},"toMessageId":2}]}}`},
	} {
		w := newWorld(t)
		w.write(one.path, one.line)
		w.scan()
		check(t, w, one.agent, one.session, Tokens{Input: 5, Output: 7})
	}
	for agent, path := range map[string]string{"opencode": ".local/share/opencode/opencode.db", "kilo": ".local/share/kilo/kilo.db"} {
		w := newWorld(t)
		execAll(t, filepath.Join(w.home, path), "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)",
			`INSERT INTO message VALUES ('a', 'ses_1', '{"role":"assistant","modelID":"claude-opus-4-6","time":{"created":1794711519085,"completed":1794711520000},`+
				`"tokens":{"input":5,"output":7}}')`)
		w.scan()
		check(t, w, agent, "ses_1", Tokens{Input: 5, Output: 7})
	}
	w := newWorld(t)
	execAll(t, filepath.Join(w.home, ".local/share/goose/sessions/sessions.db"),
		"CREATE TABLE sessions (id TEXT, accumulated_input_tokens INTEGER, accumulated_output_tokens INTEGER)", "INSERT INTO sessions VALUES ('20261115_6', 5, 7)")
	w.scan()
	check(t, w, "goose", "20261115_6", Tokens{Input: 5, Output: 7})
	w = newWorld(t)
	rows, err := os.ReadFile("testdata/openclaw.sql")
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, filepath.Join(w.home, ".openclaw/agents/main/agent/openclaw-agent.sqlite"), string(rows))
	w.scan()
	check(t, w, "openclaw", "agent:main:main", Tokens{Input: 3600, Output: 60})
	for _, agent := range Agents() {
		if !shown[agent] {
			t.Errorf("no session of %s is shown", agent)
		}
	}
	if len(shown) < 15 || !slices.Contains(Agents(), "claude") {
		t.Errorf("shown are %v; want 15 agents", shown)
	}
}

// What is left of the context is that of the last call, of the model's window, where one of
// both says how large it is.
func TestContextLeft(t *testing.T) {
	w := newWorld(t)
	w.write(".codex/sessions/1.jsonl", meta("a", ""), turn("t1"),
		strings.NewReplacer("2026-11-10T", time.Now().UTC().Format("2006-01-02T"), `"info":{`, `"info":{"model_context_window":1000,`).
			Replace(tokenCount("00:00:02", 0, 200, 0, 50)))
	w.write(".claude/projects/p/1.jsonl", nowMessage("m", 100_000, 0))
	w.scan()
	own, err := ReadPrices([]byte("prices: [{models: [claude-opus-4-6], input: 5, output: 25, window: 200000}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	l := newLedger(time.Now, func() *Prices { return own })
	if err := l.load(t.Context(), w.store); err != nil {
		t.Fatal(err)
	}
	s := &Service{ledger: l}
	if u := s.SessionUsage("codex", "a"); u == nil || u.ContextLeft == nil || *u.ContextLeft != 75 {
		t.Errorf("codex: %+v, want 75%% of the context left", u)
	}
	u := s.SessionUsage("claude", "s")
	if u == nil || u.ContextLeft == nil || *u.ContextLeft != 50 || u.Plan {
		t.Errorf("claude: %+v, want half of the context left, and no plan", u)
	}
	// Where a plan pays, dollars are list prices.
	l.noteWindow(Window{Agent: "claude", Name: "5h", Length: 5 * time.Hour, Used: 1, Resets: time.Now().Add(time.Hour), Learned: time.Now()})
	if u := s.SessionUsage("claude", "s"); !u.Plan || u.Cell() != "$0.50 list price, 100.0k tok, 50% left" {
		t.Errorf("with a known window of a plan, lists show %q", u.Cell())
	}
}
