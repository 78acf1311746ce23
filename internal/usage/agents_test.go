package usage

import (
	"database/sql"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/hookmux/hookmux/agent"
)

// captured are records that real agents wrote, with numbers counted by hand.
const captured = "../sessions/transcript/testdata"

func (w *world) copyOf(from, to string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(captured, from))
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(to, strings.TrimSuffix(string(data), "\n"))
}

const piSession = "01a1dcfc-b611-732a-87b9-d67b7e10b65a"

var capturedRecords = []struct {
	agent, from, to string
	want            Tokens
	session         string
}{
	{"claude", "claude/transcript-headless-bash.jsonl", ".claude/projects/p/s.jsonl", Tokens{Input: 2400, Output: 84},
		"52f8b6da-cfdb-4674-be5f-29b1a9dec252"},
	{"claude", "claude/transcript-subagent.jsonl", ".claude/projects/p/s/subagents/a.jsonl",
		Tokens{Input: 2400, Output: 84}, "6615fb49-ab90-4498-8fdf-f196126e6224"},
	{"codex", "../../../usage/testdata/codex.jsonl", ".codex/sessions/2026/11/15/rollout-1.jsonl",
		Tokens{Input: 2400, Output: 84}, "01a1dcf0-0299-7e22-a2df-ab16e87bc456"},
	{"gemini", "gemini/session.chats.jsonl", ".gemini/tmp/x/chats/session.jsonl", Tokens{Input: 3600, Output: 60},
		"f3f6ae15-94a0-4e0a-908a-831bda72c0d9"},
	{"qwen", "qwen/session.chat.jsonl", ".qwen/projects/x/chats/s.jsonl", Tokens{Input: 20400, Output: 340},
		"ec97fbbd-876a-4667-81d8-208afb2622de"},
	{"pi", "pi/session.jsonl", ".pi/agent/sessions/x/1.jsonl", Tokens{Input: 6000, Output: 100}, piSession},
	{"omp", "../../../usage/testdata/omp.jsonl", ".omp/agent/sessions/x/1.jsonl", Tokens{Input: 3600, Output: 60},
		"01a1f4d8-cb22-712b-b60e-0034f6fc59e0"},
	{"openclaw", "pi/session.jsonl", ".openclaw/agents/a/sessions/1.jsonl.reset.2", Tokens{Input: 6000, Output: 100},
		piSession},
	{"copilot", "copilot/session.events.jsonl", ".copilot/session-state/x/events.jsonl",
		Tokens{Input: 10800, Output: 180}, "7b8f6a41-2578-4f6b-85f6-782112b76600"},
	{"kimi", "kimi/wire.failed-command.jsonl", ".kimi-code/sessions/x/y/agents/main/wire.jsonl",
		Tokens{Input: 3600, Output: 60}, "y"},
	{"kimi", "kimi/wire.cancelled.jsonl", ".kimi-code/sessions/x/y/agents/main/wire.jsonl",
		Tokens{Input: 1200, Output: 20}, "y"},
	{"grok", "grok/updates.failed-command.jsonl", ".grok/sessions/x/y/updates.jsonl",
		Tokens{Input: 8400, Output: 140}, "01a1debb-6cf6-7453-9547-84ab3a1dfc94"},
}

func TestCapturedRecords(t *testing.T) {
	for _, one := range capturedRecords {
		t.Run(one.from+" of "+one.agent, func(t *testing.T) {
			w := newWorld(t)
			w.copyOf(one.from, one.to)
			w.scan()
			w.wants("captured", one.want)
			if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
				if c.Agent != one.agent || c.Model == "" && one.agent != "kimi" || c.At.Year() != 2026 || c.Session != one.session {
					t.Errorf("%+v", c)
				}
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestEveryStoreIsOfAKnownAgent(t *testing.T) {
	catalogue := agent.Builtin()
	for _, name := range Agents() {
		if _, ok := catalogue.Agent(name); !ok {
			t.Errorf("there's no agent %q", name)
		}
	}
}

func execAll(t *testing.T, path string, statements ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
}

// writtenByHand are records of agents that need an account, in the form that others read.
var writtenByHand = []struct {
	name, path string
	lines      []string
	want       Tokens
}{
	{"a chat of Gemini's that is one document", ".gemini/tmp/x/chats/session-1.json", []string{
		`{"sessionId":"s","messages":[{"id":"a","type":"user"},{"id":"b","type":"gemini","model":"gemini-2.5-pro",` +
			`"timestamp":"2026-11-10T10:00:00Z","tokens":{"input":100,"output":5,"cached":40,"thoughts":7,"tool":3,"total":115}}]}`,
	}, Tokens{Input: 63, Output: 12, CacheRead: 40}},
	{"Qwen's cached tokens are in the prompt", ".qwen/projects/x/chats/s.jsonl", []string{
		`{"uuid":"u","type":"assistant","model":"m","usageMetadata":{"promptTokenCount":100,"candidatesTokenCount":10,` +
			`"cachedContentTokenCount":60,"thoughtsTokenCount":4,"totalTokenCount":110}}`,
	}, Tokens{Input: 40, Output: 10, CacheRead: 60}},
	{"Droid's totals", ".factory/sessions/p/s.settings.json", []string{
		`{"model":"claude-opus-4-6","tokenUsage":{"inputTokens":5,"outputTokens":6,"cacheCreationTokens":7,` +
			`"cacheReadTokens":8,"thinkingTokens":1}}`,
	}, Tokens{Input: 5, Output: 7, CacheRead: 8, CacheWrite: 7}},
	{"a thread of Amp's", ".local/share/amp/threads/T-1.json", []string{
		`{"messages":[{"messageId":2,"usage":{"inputTokens":5,"cacheReadInputTokens":9,"cacheCreationInputTokens":3}}],` +
			`"usageLedger":{"events":[{"timestamp":"2026-11-10T10:00:00Z","model":"claude-opus-4-6","credits":1,` +
			`"tokens":{"input":5,"output":6},"toMessageId":2}]}}`,
	}, Tokens{Input: 5, Output: 6, CacheRead: 9, CacheWrite: 3}},
	{"Kimi before 2", ".kimi/sessions/h/s/wire.jsonl", []string{
		`{"timestamp":1794738356.0,"message":{"type":"StatusUpdate","payload":{"token_usage":{"input_other":1,"output":2,` +
			`"input_cache_read":3,"input_cache_creation":4},"message_id":"m"}}}`,
		`{"timestamp":1794738357.0,"message":{"type":"StatusUpdate","payload":{"token_usage":{"input_other":1,"output":2,` +
			`"input_cache_read":3,"input_cache_creation":4},"message_id":"m"}}}`,
	}, Tokens{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4}},
	{"Copilot: totals count beyond the calls", ".copilot/session-state/x/events.jsonl", []string{
		`{"type":"session.start","data":{"sessionId":"s","context":{"cwd":"/p"}}}`,
		`{"type":"session.usage_record","id":"1","timestamp":"2026-11-10T10:00:00Z","data":{"usage":{"model":"m",` +
			`"inputTokens":10,"outputTokens":1,"apiCallId":"a"}}}`,
		`{"type":"session.shutdown","timestamp":"2026-11-10T10:00:01Z","data":{"modelMetrics":{"m":{"usage":{` +
			`"inputTokens":15,"outputTokens":2,"cacheReadTokens":5}}}}}`,
		`{"type":"session.shutdown","timestamp":"2026-11-11T10:00:01Z","data":{"modelMetrics":{"m":{"usage":{` +
			`"inputTokens":20,"outputTokens":3,"cacheReadTokens":5}}}}}`,
		`{"type":"session.usage_record","id":"2","timestamp":"2026-11-11T11:00:00Z","data":{"usage":{"model":"m",` +
			`"inputTokens":10,"outputTokens":1,"apiCallId":"b"}}}`,
	}, Tokens{Input: 25, Output: 4, CacheRead: 5}},
}

func TestWrittenByHand(t *testing.T) {
	for _, one := range writtenByHand {
		t.Run(one.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(one.path, one.lines...)
			w.scan()
			w.wants("first", one.want)
			w.reopen()
			w.add(one.path, "\n")
			w.scan()
			w.wants("again", one.want)
		})
	}
}

func TestForksOfPi(t *testing.T) {
	w := newWorld(t)
	w.copyOf("pi/session.jsonl", ".pi/agent/sessions/x/1.jsonl")
	w.copyOf("pi/session.jsonl", ".pi/agent/sessions/x/1/forks/2.jsonl")
	w.copyOf("pi/session.jsonl", ".pi/agent/sessions/x/1/subagent-artifacts/3_transcript.jsonl")
	w.write(".pi/agent/sessions/x/1/r/run-0/session.jsonl", `{"type":"session","id":"fresh","cwd":"/p"}`,
		`{"type":"message","id":"abcd","message":{"role":"assistant","model":"m","timestamp":1,"usage":{"input":7,"output":1,`+
			`"cacheRead":0,"cacheWrite":0,"cost":{"total":0.5,"totalFromProvider":0.75}}}}`)
	w.scan()
	w.wants("with a fresh subagent", Tokens{Input: 6007, Output: 101})
	if _, cost, _ := w.sum(); cost != 0.75 {
		t.Errorf("cost %v, want what the provider billed", cost)
	}
}

func TestOpenCode(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.home, ".local/share/opencode/opencode.db")
	const row = `{"role":"assistant","modelID":"claude-opus-4-6","providerID":"anthropic","cost":0.25,"time":{"created":` +
		`1794711519085,"completed":1794711520000},"path":{"cwd":"/p"},"tokens":{"input":10,"output":5,"reasoning":2,` +
		`"cache":{"read":3,"write":4}}}`
	execAll(t, path, "PRAGMA journal_mode = WAL", "CREATE TABLE session (id TEXT, directory TEXT)",
		"CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)",
		"INSERT INTO session VALUES ('s', '/p')", "INSERT INTO message VALUES ('a', 's', '"+row+"')",
		"INSERT INTO message VALUES ('b', 'fork', '"+row+"')",
		`INSERT INTO message VALUES ('c', 's', '{"role":"assistant","tokens":{"input":9},"time":{"created":1}}')`)
	// The agent goes on writing while its database is read.
	agents, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer agents.Close()
	agents.SetMaxOpenConns(1)
	if _, err := agents.Exec("BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	if _, err := agents.Exec("INSERT INTO session VALUES ('t', '/q')"); err != nil {
		t.Fatal(err)
	}
	w.scan()
	if _, err := agents.Exec("COMMIT"); err != nil {
		t.Fatal(err)
	}
	w.wants("once", Tokens{Input: 10, Output: 7, CacheRead: 3, CacheWrite: 4})
	if _, cost, _ := w.sum(); cost != 0.25 {
		t.Errorf("cost %v, want the recorded one", cost)
	}
}

func TestGoose(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.home, ".local/share/goose/sessions/sessions.db")
	execAll(t, path, "CREATE TABLE sessions (id TEXT, working_dir TEXT, updated_at TIMESTAMP, accumulated_input_tokens "+
		"INTEGER, accumulated_output_tokens INTEGER, model_config_json TEXT)",
		`INSERT INTO sessions VALUES ('s', '/p', '2026-11-10 10:00:00', 100, 10, '{"model_name":"gpt-5"}')`,
		`INSERT INTO sessions VALUES ('t', '/p', '2026-11-10 10:00:00', NULL, NULL, NULL)`)
	w.scanner.now = func() time.Time { return time.Date(2026, 11, 10, 11, 0, 0, 0, time.UTC) }
	w.scan()
	w.wants("first", Tokens{Input: 100, Output: 10})
	w.scanner.now = func() time.Time { return time.Date(2026, 11, 12, 11, 0, 0, 0, time.UTC) }
	execAll(t, path, "UPDATE sessions SET accumulated_input_tokens = 150, updated_at = '2026-11-12 10:00:00' WHERE id = 's'")
	w.scan()
	w.wants("grown", Tokens{Input: 150, Output: 10})
	days := map[int]int64{}
	if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) { days[c.At.Day()] += c.Tokens.Input }); err != nil {
		t.Fatal(err)
	}
	if days[10] != 100 || days[12] != 50 {
		t.Errorf("by day: %v, want each day's own", days)
	}
	execAll(t, path, "UPDATE sessions SET accumulated_input_tokens = 1")
	w.scan()
	if got, _, _ := w.sum(); got.Input < 150 {
		t.Errorf("it dropped to %v", got)
	}
}

// The messages of captured sessions, whose own rows say what all of them used.
func TestCapturedDatabases(t *testing.T) {
	for _, one := range []struct {
		agent, path, model string
		want               Tokens
	}{
		{"opencode", ".local/share/opencode/opencode.db", "lab-model", Tokens{Input: 7200, Output: 120}},
		{"kilo", ".local/share/kilo/kilo.db", "scripted", Tokens{Input: 14_400 + 2400, Output: 240 + 40}},
	} {
		rows, err := os.ReadFile("testdata/" + one.agent + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t)
		statements := []string{"CREATE TABLE session (id TEXT, directory TEXT)", "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)"}
		for i, row := range strings.Split(strings.TrimSpace(string(rows)), "\n") {
			statements = append(statements, fmt.Sprintf("INSERT INTO message VALUES ('%d', 'ses', '%s')", i, strings.ReplaceAll(row, "'", "''")))
		}
		execAll(t, filepath.Join(w.home, one.path), statements...)
		w.scan()
		w.wants(one.agent, one.want)
		if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
			if c.Agent != one.agent || c.Model != one.model || c.Project != "/home/user/project" || c.Session != "ses" {
				t.Errorf("%+v", c)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
}

// Totals that agents captured with a scripted model wrote down: each call used 1,200 tokens in
// and 20 out. Goose made 28 of them, Droid 14.
func TestCapturedTotals(t *testing.T) {
	w := newWorld(t)
	goose, err := os.ReadFile("testdata/goose.sql")
	if err != nil {
		t.Fatal(err)
	}
	execAll(t, filepath.Join(w.home, ".local/share/goose/sessions/sessions.db"), string(goose))
	w.copyOf("../../../usage/testdata/droid.settings.json", ".factory/sessions/-home-user-project/e7a0d935.settings.json")
	w.scan()
	got := map[string]Call{}
	if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
		got[c.Agent] = Call{Session: c.Session, Project: c.Project, Model: c.Model, Tokens: c.Tokens}
	}); err != nil {
		t.Fatal(err)
	}
	want := map[string]Call{
		"goose": {Session: "20261119_1", Project: "/home/user/project", Model: "scripted", Tokens: Tokens{Input: 28 * 1200, Output: 28 * 20}},
		"droid": {Session: "e7a0d935", Model: "custom:Scripted-0", Tokens: Tokens{Input: 14 * 1200, Output: 14 * 20}},
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Some agents don't write down with a call where they worked. What the real ones have beside
// their records says it.
func TestFoldersBesideRecords(t *testing.T) {
	const numbers = "../../../usage/testdata/"
	for _, one := range []struct{ agent, from, to, beside, says string }{
		{"gemini", "gemini/session.chats.jsonl", ".gemini/tmp/project/chats/s.jsonl", ".gemini/tmp/project/.project_root", "/home/user/project"},
		{"kimi", "kimi/wire.failed-command.jsonl", ".kimi-code/sessions/wd_project_26/session_ac/agents/main/wire.jsonl",
			".kimi-code/sessions/wd_project_26/session_ac/state.json", `{"id":"session_ac","version":2,"cwd":"/home/user/project"}`},
		{"droid", numbers + "droid.settings.json", ".factory/sessions/-home-user-project/8170.settings.json",
			".factory/sessions/-home-user-project/8170.jsonl",
			`{"type":"session_start","id":"8170","version":2,"cwd":"/home/user/project"}` + "\n" + `{"type":"message"}`},
		{"grok", "grok/updates.failed-command.jsonl", ".grok/sessions/%2Fhome%2Fuser%2Fproject/01a1/updates.jsonl", "", ""},
	} {
		t.Run(one.agent, func(t *testing.T) {
			w := newWorld(t)
			if one.beside != "" {
				w.write(one.beside, one.says)
			}
			w.copyOf(one.from, one.to)
			w.scan()
			calls := 0
			if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
				if calls++; c.Agent != one.agent || c.Project != "/home/user/project" {
					t.Errorf("%+v", c)
				}
			}); err != nil || calls == 0 {
				t.Fatal(calls, err)
			}
		})
	}
}

// What is beside a record may come after it was read first.
func TestAFolderThatIsSaidLater(t *testing.T) {
	const chat = ".gemini/tmp/p/chats/s.jsonl"
	row := func(id string) string {
		return `{"id":"` + id + `","timestamp":"2026-11-15T02:09:31Z","type":"gemini","tokens":{"input":10,"output":1},"model":"m"}`
	}
	w := newWorld(t)
	w.write(chat, `{"sessionId":"s"}`, row("a"))
	w.scan()
	w.write(".gemini/tmp/p/.project_root", "/home/user/project")
	w.add(chat, row("b")+"\n")
	w.scan()
	projects := map[string]string{}
	if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) { projects[c.ID] = c.Project }); err != nil {
		t.Fatal(err)
	}
	if len(projects) != 2 || projects["a"] != "" || projects["b"] != "/home/user/project" {
		t.Errorf("projects %q", projects)
	}
}

// A session of the real OpenClaw: three calls, of 1,200 tokens in and 20 out each. Its hooks named
// the session by its key.
func TestOpenClaw(t *testing.T) {
	captured, err := os.ReadFile("testdata/openclaw.sql")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	path := filepath.Join(w.home, ".openclaw/agents/main/agent/openclaw-agent.sqlite")
	execAll(t, path, string(captured))
	w.scan()
	w.wants("captured", Tokens{Input: 3600, Output: 60})
	if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
		if c.Agent != "openclaw" || c.Model != "scripted" || c.Project != "/home/user/project" || c.Session != "agent:main:main" ||
			c.At.Year() != 2026 {
			t.Errorf("%+v", c)
		}
	}); err != nil {
		t.Fatal(err)
	}
	// The same rows as a file of an older version has them, and as they are compressed later, count once.
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query("SELECT event_json FROM transcript_events ORDER BY seq")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	rows.Close()
	packer, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for seq, line := range lines[1:] {
		if _, err := db.Exec("UPDATE transcript_events SET event_json = NULL, event_zstd = ? WHERE seq = ?", packer.EncodeAll([]byte(line), nil), seq+1); err != nil {
			t.Fatal(err)
		}
	}
	w.write(".openclaw/agents/main/sessions/295f3c71.jsonl", lines...)
	w.scan()
	w.wants("compressed, and from a file", Tokens{Input: 3600, Output: 60})
	// What can't be unpacked may be a call.
	var doubts []rewrite
	w.scanner.rewritten = func(r rewrite) { doubts = append(doubts, r) }
	if _, err := db.Exec("UPDATE transcript_events SET event_zstd = x'00' WHERE seq = 11"); err != nil {
		t.Fatal(err)
	}
	w.scan()
	if len(doubts) != 1 || doubts[0].Session != "agent:main:main" || doubts[0].Why != unreadable {
		t.Errorf("doubts %+v", doubts)
	}
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fresh := newWorld(t)
	fresh.write(".openclaw/agents/main/agent/openclaw-agent.sqlite", string(packed))
	fresh.scan()
	fresh.wants("compressed alone, without the broken one", Tokens{Input: 2400, Output: 40})
}

// Threads that Amp kept on this machine, with a ledger until January 2026 and without it until March.
// The scripted model said of the three answers that they used 1,200, 1,201 and 1,202 tokens besides
// the cache, wrote 300 there and read 4,000, and had 20 out.
func TestAmp(t *testing.T) {
	for _, one := range []struct{ name, model string }{
		{"ledger", "claude-opus-4-5-20251101"}, {"messages", "claude-opus-4-6"},
	} {
		t.Run(one.name, func(t *testing.T) {
			w := newWorld(t)
			w.copyOf("../../../usage/testdata/amp."+one.name+".json", ".local/share/amp/threads/T-1.json")
			w.scan()
			w.wants("captured", Tokens{Input: 1200 + 1201 + 1202, Output: 3 * 20, CacheRead: 3 * 4000, CacheWrite: 3 * 300})
			if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
				if c.Agent != "amp" || c.Model != one.model || c.Project != "/home/user/project" || c.Session != "T-1" ||
					c.At.Year() != 2026 {
					t.Errorf("%+v", c)
				}
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Amp's ledger has calls of helpers too, and goes away where a newer version goes on with the thread.
func TestAmpsLedger(t *testing.T) {
	const thread = ".local/share/amp/threads/T-1.json"
	const messages = `"messages":[{"messageId":1,"usage":{"model":"m","inputTokens":5,"outputTokens":6,"cacheReadInputTokens":9}}]`
	w := newWorld(t)
	w.write(thread, `{`+messages+`,"usageLedger":{"events":[{"model":"m","tokens":{"input":5,"output":6},"toMessageId":1},`+
		`{"model":"m","tokens":{"input":50,"output":60},"operationType":"tool","toMessageId":1}]}}`)
	w.scan()
	w.wants("with a helper's call", Tokens{Input: 55, Output: 66, CacheRead: 9})
	w.write(thread, `{`+messages+`}`)
	w.scan()
	w.wants("without the ledger", Tokens{Input: 55, Output: 66, CacheRead: 9})
}

// OpenCode 2 has other tables. A fork has copies of its parent's messages with new ids.
func TestForksOfOpenCode2(t *testing.T) {
	w := newWorld(t)
	row := func(created, input int) string {
		return fmt.Sprintf(`{"type":"assistant","model":{"id":"claude-opus-4-6","providerID":"anthropic"},"time":{"created":%d,"completed":%d},`+
			`"tokens":{"input":%d,"output":5,"reasoning":0,"cache":{"read":0,"write":0}}}`, created, created+100, input)
	}
	execAll(t, filepath.Join(w.home, ".local/share/opencode/opencode.db"),
		"CREATE TABLE session_v2 (id TEXT, directory TEXT, fork_session_id TEXT, fork_boundary INTEGER)",
		"CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, seq INTEGER, data TEXT)",
		"INSERT INTO session_v2 VALUES ('s', '/p', NULL, NULL), ('fork', '/p', 's', 2)",
		"INSERT INTO session_message VALUES ('a', 's', 1, '"+row(1794711519085, 10)+"'), ('b', 's', 2, '"+row(1794711529085, 20)+"'), "+
			"('c', 'fork', 1, '"+row(1794711519085, 10)+"'), ('d', 'fork', 2, '"+row(1794711529085, 20)+"'), "+
			"('e', 'fork', 3, '"+row(1794711539085, 40)+"')")
	w.scan()
	w.wants("each once", Tokens{Input: 70, Output: 15})
	of := map[string]int64{}
	if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
		of[c.Session] += c.Tokens.Input
		if c.Project != "/p" {
			t.Errorf("project %q", c.Project)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if of["s"] != 30 || of["fork"] != 40 {
		t.Errorf("by session: %v, want 30 of the parent and 40 of the fork", of)
	}
}

// Between looks at everything, only the end of a database is read: rows that aren't complete
// are read again, and a row that changed all the same with the next look at everything.
func TestDatabasesAreReadFromWhereTheyEnded(t *testing.T) {
	w := newWorld(t)
	path := filepath.Join(w.home, ".local/share/opencode/opencode.db")
	row := func(created, completed, input int) string {
		done := ""
		if completed > 0 {
			done = fmt.Sprintf(`,"completed":%d`, completed)
		}
		return fmt.Sprintf(`{"role":"assistant","modelID":"m","time":{"created":%d%s},"tokens":{"input":%d,"output":0}}`, created, done, input)
	}
	live := func() {
		t.Helper()
		if err := w.scanner.Scan(t.Context(), []string{"opencode"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	execAll(t, path, "CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)",
		"INSERT INTO message VALUES ('a', 's', '"+row(1, 2, 10)+"'), ('b', 's', '"+row(3, 0, 0)+"'), ('c', 's', '"+row(5, 6, 30)+"')")
	w.scan()
	w.wants("what is complete", Tokens{Input: 40})
	execAll(t, path, "UPDATE message SET data = '"+row(3, 4, 20)+"' WHERE id = 'b'", "INSERT INTO message VALUES ('d', 's', '"+row(7, 8, 40)+"')",
		"UPDATE message SET data = '"+row(1, 2, 11)+"' WHERE id = 'a'")
	live()
	w.wants("completed later, and a new one", Tokens{Input: 100})
	w.scan()
	w.wants("changed all the same", Tokens{Input: 101})
}
