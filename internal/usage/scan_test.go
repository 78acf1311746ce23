package usage

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"go.uber.org/goleak"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a home with agents' records and a store.
type world struct {
	t       *testing.T
	home    string
	store   *Store
	scanner *Scanner
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, home: t.TempDir()}
	w.reopen()
	return w
}

// reopen does what a new daemon does.
func (w *world) reopen() {
	w.t.Helper()
	if w.store != nil {
		w.store.Close()
	}
	var err error
	if w.store, err = OpenStore(filepath.Join(w.home, "state", Database), BuiltinPrices); err != nil {
		w.t.Fatal(err)
	}
	store := w.store
	w.t.Cleanup(func() { store.Close() })
	w.scanner, err = NewScanner(w.t.Context(), w.store, w.home, func(string) string { return "" })
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) write(path string, lines ...string) {
	w.t.Helper()
	path = filepath.Join(w.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) add(path, text string) {
	w.t.Helper()
	f, err := os.OpenFile(filepath.Join(w.home, path), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) scan() {
	w.t.Helper()
	if err := w.scanner.Scan(w.t.Context(), nil, nil); err != nil {
		w.t.Fatal(err)
	}
}

// sum returns everything in the store: tokens, dollars, and models without a price.
func (w *world) sum() (t Tokens, cost float64, unpriced string) {
	w.t.Helper()
	if err := w.store.Each(w.t.Context(), time.Time{}, func(c *Call) {
		t.Add(c.Tokens)
		if one, ok := BuiltinPrices().Cost(c); ok {
			cost += one
		} else {
			unpriced += c.Model + " "
		}
	}); err != nil {
		w.t.Fatal(err)
	}
	return t, cost, strings.TrimSpace(unpriced)
}

func (w *world) wants(what string, want Tokens) {
	w.t.Helper()
	if got, _, _ := w.sum(); got != want {
		w.t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

// message returns a line of Claude Code's.
func message(id, request string, more string, input, output int) string {
	if request != "" {
		request = fmt.Sprintf(`"requestId":%q,`, request)
	}
	if id != "" {
		id = fmt.Sprintf(`"id":%q,`, id)
	}
	return fmt.Sprintf(`{"type":"assistant","timestamp":"2026-11-10T10:00:00Z","sessionId":"s","cwd":"/p",%s%s"message":{%s`+
		`"model":"claude-opus-4-6","usage":{"input_tokens":%d,"output_tokens":%d}}}`, request, more, id, input, output)
}

func TestClaudeCountsACallOnce(t *testing.T) {
	const side, background = `"isSidechain":true,`, `"sessionKind":"bg",`
	for _, one := range []struct {
		name  string
		files [][]string
		want  Tokens
	}{
		{"pieces of a streamed message", [][]string{{message("m", "r", "", 10, 1), message("m", "r", "", 10, 50),
			message("m", "r", "", 10, 20)}}, Tokens{Input: 10, Output: 50}},
		{"pieces without a request id", [][]string{{message("m", "", "", 10, 1), message("m", "", "", 10, 50)}},
			Tokens{Input: 10, Output: 50}},
		{"another request with the same message id", [][]string{{message("m", "r", "", 10, 1), message("m", "q", "", 10, 1)}},
			Tokens{Input: 20, Output: 2}},
		{"a side chain that repeats a message", [][]string{{message("m", "r", "", 10, 5)},
			{message("m", "q", side, 10, 5)}}, Tokens{Input: 10, Output: 5}},
		{"a side chain first, then both pieces of the original", [][]string{{message("m", "q", side, 10, 5),
			message("m", "r", "", 10, 1), message("m", "r", "", 10, 5), message("m", "q", side, 10, 5)}},
			Tokens{Input: 10, Output: 5}},
		{"a session that went to the background", [][]string{{message("m", "r", "", 10, 5)},
			{message("m", "r", background, 10, 5), message("n", "s", background, 1, 2)}}, Tokens{Input: 11, Output: 7}},
		{"a resumed session", [][]string{{message("m", "r", "", 10, 5)}, {message("m", "r", "", 10, 5),
			message("n", "s", "", 1, 2)}}, Tokens{Input: 11, Output: 7}},
		{"lines without an id", [][]string{{message("", "", "", 10, 5), message("", "", "", 10, 5)}},
			Tokens{Input: 20, Output: 10}},
		{"a space after the colon", [][]string{{strings.ReplaceAll(message("m", "r", "", 10, 5), ":", ": ")}},
			Tokens{Input: 10, Output: 5}},
		{"no call of a model", [][]string{{strings.Replace(message("m", "r", "", 10, 5), "claude-opus-4-6", noModel, 1)}},
			Tokens{}},
	} {
		t.Run(one.name, func(t *testing.T) {
			w := newWorld(t)
			for i, lines := range one.files {
				w.write(fmt.Sprintf(".claude/projects/p/%d.jsonl", i), lines...)
			}
			w.scan()
			w.wants("first", one.want)
			w.reopen()
			w.scan()
			w.wants("after a restart", one.want)
		})
	}
}

func TestTheOriginalNamesTheSession(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/projects/p/1.jsonl", strings.Replace(message("m", "r", `"sessionKind":"bg",`, 1, 1), `"s"`, `"copy"`, 1))
	w.write(".claude/projects/p/2.jsonl", message("m", "r", "", 1, 1))
	w.scan()
	if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
		if c.Session != "s" {
			t.Errorf("session %q, want that of the original", c.Session)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// rollout makes lines of Codex's.
func meta(id, more string) string {
	return fmt.Sprintf(`{"timestamp":"2026-11-10T10:00:00Z","type":"session_meta","payload":{"id":%q,"cwd":"/p",`+
		`"timestamp":"2026-11-10T10:00:00Z"%s}}`, id, more)
}

func turn(id string) string {
	return fmt.Sprintf(`{"timestamp":"2026-11-10T10:00:01Z","type":"turn_context","payload":{"turn_id":%q,"model":"gpt-5"}}`, id)
}

// tokens has what the thread used before and what the last call used.
func tokenCount(at string, before, input, cached, output int) string {
	usage := func(i, c, o int) string {
		return fmt.Sprintf(`{"input_tokens":%d,"cached_input_tokens":%d,"output_tokens":%d}`, i, c, o)
	}
	return fmt.Sprintf(`{"timestamp":"2026-11-10T%sZ","type":"event_msg","payload":{"type":"token_count","info":{`+
		`"total_token_usage":%s,"last_token_usage":%s}}}`, at, usage(before+input, cached, output), usage(input, cached, output))
}

func TestCodexCountsACallOnce(t *testing.T) {
	first := []string{meta("a", ""), turn("t1"), tokenCount("10:00:02", 0, 100, 40, 10)}
	fork := `,"forked_from_id":"a"`
	spawned := `,"source":{"subagent":{"thread_spawn":{"parent_thread_id":"a"}}}`
	oldTurn := strings.Replace(turn("t1"), `"turn_id":"t1",`, "", 1)
	later := meta("f", fork)
	later = strings.Replace(later, `10:00:00Z"`+fork, `12:00:00Z"`+fork, 1)
	want, both := Tokens{Input: 60, Output: 10, CacheRead: 40}, Tokens{Input: 160, Output: 30, CacheRead: 40}
	own := tokenCount("12:00:05", 100, 100, 0, 20)
	// The sums go on from those of the copied history.
	own = strings.Replace(own, `"cached_input_tokens":0,"output_tokens":20},"last`, `"cached_input_tokens":40,"output_tokens":30},"last`, 1)
	for _, one := range []struct {
		name  string
		files map[string][]string
		want  Tokens
	}{
		{"the same sums again", map[string][]string{"sessions/1.jsonl": append(first[:3:3], first[2])}, want},
		{"an archived copy", map[string][]string{"sessions/2026/11/10/1.jsonl": first, "archived_sessions/1.jsonl": first}, want},
		{"a fork beside its parent", map[string][]string{"sessions/1.jsonl": first, "sessions/2.jsonl": {
			later, turn("t1"), first[2], turn("t2"), own}}, both},
		{"a fork whose parent is gone, with the old times", map[string][]string{"sessions/2.jsonl": {
			later, oldTurn, first[2], turn("t2"), own}}, Tokens{Input: 100, Output: 20}},
		{"a fork whose parent is gone, with new times", map[string][]string{"sessions/2.jsonl": {
			later, meta("a", ""), oldTurn, tokenCount("12:00:01", 0, 100, 40, 10), meta("a", ""), turn("t2"), own}},
			Tokens{Input: 100, Output: 20}},
		{"a fork with settings between two sums", map[string][]string{"sessions/1.jsonl": first, "sessions/2.jsonl": {
			later, meta("a", ""), turn("t1"), first[2], `{"type":"event_msg","payload":{"type":"thread_settings_applied"}}`,
			first[2], meta("a", ""), turn("t2"), own}}, both},
		{"a subagent with a copy of the history", map[string][]string{"sessions/1.jsonl": first, "sessions/2.jsonl": {
			meta("s", spawned), meta("a", ""), turn("t1"), first[2], meta("a", ""), turn("t2"), own}}, both},
		{"a subagent that says where its own begins", map[string][]string{"sessions/2.jsonl": {
			meta("s", `,"subagent_history_start_ordinal":5`), turn("t1"),
			strings.Replace(first[2], `"type"`, `"ordinal":3,"type"`, 1), turn("t2"),
			strings.Replace(own, `"type"`, `"ordinal":6,"type"`, 1)}}, Tokens{Input: 100, Output: 20}},
		{"a page that refers to another file", map[string][]string{"sessions/1.jsonl": first, "sessions/2.jsonl": {
			meta("a", `,"history_mode":"paginated","history_base":{"id":"x"}`), turn("t2"), own}}, both},
		{"only limits", map[string][]string{"sessions/1.jsonl": {meta("a", ""),
			`{"type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":null}}`}}, Tokens{}},
		{"a line that is missing", map[string][]string{"sessions/1.jsonl": {first[0], first[1], first[2],
			strings.Replace(own, `"input_tokens":200`, `"input_tokens":300`, 1)}}, Tokens{Input: 260, Output: 30, CacheRead: 40}},
	} {
		t.Run(one.name, func(t *testing.T) {
			w := newWorld(t)
			for name, lines := range one.files {
				w.write(filepath.Join(".codex", name), lines...)
			}
			w.scan()
			w.wants("first", one.want)
			w.reopen()
			w.scan()
			w.wants("after a restart", one.want)
		})
	}
}

func TestCompressedRollouts(t *testing.T) {
	w := newWorld(t)
	lines := []string{meta("a", ""), turn("t1"), tokenCount("10:00:02", 0, 100, 40, 10)}
	w.write(".codex/sessions/2026/11/10/rollout-1.jsonl", lines...)
	w.scan()
	var packed bytes.Buffer
	z, err := zstd.NewWriter(&packed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write([]byte(strings.Join(append(lines, turn("t2"), tokenCount("10:00:09", 100, 50, 40, 10)), "\n") + "\n")); err != nil {
		t.Fatal(err)
	}
	z.Close()
	path := filepath.Join(w.home, ".codex/sessions/2026/11/10/rollout-1.jsonl")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".zst", packed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	w.scan()
	w.wants("packed", Tokens{Input: 60 + 10, Output: 20, CacheRead: 80})
}

func TestSpendNeverDrops(t *testing.T) {
	const file = ".claude/projects/p/1.jsonl"
	expensive := message("m", "r", "", 1000, 500)
	for _, one := range []struct {
		name   string
		change func(w *world)
		more   Tokens
	}{
		{"the file is gone", func(w *world) { os.Remove(filepath.Join(w.home, file)) }, Tokens{}},
		{"the line is gone and the file longer than before", func(w *world) {
			w.write(file, strings.Repeat(" ", 4096), message("n", "q", "", 7, 1))
		}, Tokens{Input: 7, Output: 1}},
		{"smaller numbers", func(w *world) { w.write(file, message("m", "r", "", 1, 1)) }, Tokens{}},
		{"a cheaper model", func(w *world) {
			w.write(file, strings.Replace(expensive, "opus-4-6", "haiku-4-5", 1))
		}, Tokens{}},
		{"a model without a price", func(w *world) {
			w.write(file, strings.Replace(expensive, "claude-opus-4-6", "nobody-knows", 1))
		}, Tokens{}},
		{"a cost of nothing", func(w *world) {
			w.write(file, strings.Replace(expensive, `"type"`, `"costUSD":0.000001,"type"`, 1))
		}, Tokens{}},
		{"numbers below zero and beyond every sum", func(w *world) {
			w.write(file, expensive, strings.Replace(message("m", "r", "", 0, 0), `"output_tokens":0`, `"output_tokens":-9223372036854775807`, 1),
				strings.Replace(message("m", "r", "", 0, 0), `"output_tokens":0`, `"output_tokens":9223372036854775807`, 1))
		}, Tokens{}},
		{"another day", func(w *world) { w.write(file, strings.Replace(expensive, "2026-11-10", "2026-10-01", 1)) }, Tokens{}},
		{"moved behind a link", func(w *world) {
			elsewhere := filepath.Join(w.home, "elsewhere.jsonl")
			if err := os.Rename(filepath.Join(w.home, file), elsewhere); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(elsewhere, filepath.Join(w.home, file)); err != nil {
				t.Fatal(err)
			}
			w.add("elsewhere.jsonl", message("n", "q", "", 7, 1)+"\n")
		}, Tokens{Input: 7, Output: 1}},
		{"the folder moved behind a link", func(w *world) {
			if err := os.Rename(filepath.Join(w.home, ".claude/projects"), filepath.Join(w.home, "there")); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(filepath.Join(w.home, "there"), filepath.Join(w.home, ".claude/projects")); err != nil {
				t.Fatal(err)
			}
			w.add("there/p/1.jsonl", message("n", "q", "", 7, 1)+"\n")
		}, Tokens{Input: 7, Output: 1}},
		{"a line that is completed later", func(w *world) {
			line := message("n", "q", "", 7, 1)
			w.add(file, line[:len(line)/2])
			w.scan()
			w.add(file, line[len(line)/2:]+"\n")
		}, Tokens{Input: 7, Output: 1}},
		{"a line without an end", func(w *world) { w.add(file, message("n", "q", "", 7, 1)) }, Tokens{Input: 7, Output: 1}},
	} {
		t.Run(one.name, func(t *testing.T) {
			w := newWorld(t)
			w.write(file, expensive)
			w.scan()
			_, before, _ := w.sum()
			one.change(w)
			w.scan()
			want := Tokens{Input: 1000, Output: 500}
			want.Add(one.more)
			w.wants("changed", want)
			if _, cost, unpriced := w.sum(); cost < before || unpriced != "" {
				t.Errorf("the cost went from %v to %v, without a price: %q", before, cost, unpriced)
			}
			if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
				if c.ID == "m" && c.At.UTC().Day() != 10 {
					t.Errorf("the call moved to %v", c.At)
				}
			}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// What a side chain or a background session used stays with its session and project: a
// line that claims to be the original, and comes once it's counted, moves nothing. After
// a restart as little.
func TestSpendStaysWhereItIs(t *testing.T) {
	const file = ".claude/projects/p/1.jsonl"
	w := newWorld(t)
	w.write(file, message("m", "r", `"isSidechain":true,`, 1000, 500))
	w.scan()
	forged := strings.NewReplacer(`"s"`, `"another"`, `"/p"`, `"/elsewhere"`).Replace(message("m", "q", "", 1000, 500))
	w.add(file, forged+"\n")
	w.scan()
	w.reopen()
	l := newLedger(time.Now, BuiltinPrices)
	if err := l.load(t.Context(), w.store); err != nil {
		t.Fatal(err)
	}
	if got := l.InSession("claude", "s").Tokens; got != 1500 {
		t.Errorf("the session used %d tokens, want 1500", got)
	}
	if err := w.store.Each(t.Context(), time.Time{}, func(c *Call) {
		if c.Project != "/p" {
			t.Errorf("the call moved to the project %s", c.Project)
		}
	}); err != nil {
		t.Fatal(err)
	}
}

// A database of an agent's may have any numbers in it.
func TestNumbersOfADatabaseAreBounded(t *testing.T) {
	var got []Call
	out := &sink{agent: "goose", calls: func(c Call) { got = append(got, c) }}
	for _, n := range []int64{-1 << 62, -1, 1 << 62, math.MaxInt64} {
		out.add(Call{ID: "a", Cost: 1, Tokens: Tokens{n, n, n, n, n}})
	}
	out.add(Call{ID: "a", Cost: math.NaN(), Tokens: Tokens{Input: 1}})
	out.add(Call{ID: "a", Cost: math.Inf(-1), Tokens: Tokens{Input: 1}})
	var sum budget.Spend
	for range 3 {
		for _, c := range got {
			before := sum
			sum.Add(budget.Spend{Tokens: c.Tokens.Total(), Dollars: c.Cost})
			if sum.Tokens < before.Tokens || !(sum.Dollars >= before.Dollars) || c.Tokens.Total() < 0 {
				t.Errorf("%+v brings the sum from %+v to %+v", c, before, sum)
			}
		}
	}
	sum = budget.Spend{Tokens: math.MaxInt64 - 1}
	if sum.Add(budget.Spend{Tokens: 5}); sum.Tokens != math.MaxInt64 {
		t.Errorf("the sum overflows to %d", sum.Tokens)
	}
	if len(got) != 6 {
		t.Errorf("%d calls, want 6", len(got))
	}
}

func TestALongLineDoesNotHideTheNext(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/projects/p/1.jsonl", strings.Repeat("x", 3*firstBuffer), message("m", "r", "", 10, 5),
		`{"type":"user","text":"`+strings.Repeat("y", 2*firstBuffer)+`"}`, message("n", "r", "", 10, 5))
	w.scan()
	w.wants("both", Tokens{Input: 20, Output: 10})
}

// What an agent's records lose after they were read makes budgets ask, for the day, and
// in the session it's about, also after a restart.
func TestRewrittenRecordsRaiseDoubts(t *testing.T) {
	const file = ".claude/projects/p/1.jsonl"
	first, second := message("m", "r", "", 1000, 500), message("n", "q", "", 7, 1)
	for name, change := range map[string]func(w *world, path string){
		"a line removed": func(w *world, _ string) { w.write(file, first) },
		"another one in its place": func(w *world, _ string) {
			w.write(file, first, strings.Replace(second, `"output_tokens":1`, `"output_tokens":0`, 1))
		},
		"padded":  func(w *world, _ string) { w.write(file, strings.Repeat(" ", 9999), first, second) },
		"emptied": func(w *world, _ string) { w.write(file) },
		"another file in its place, as sed -i makes one": func(w *world, path string) {
			w.write(file+".new", first, second)
			if err := os.Rename(path+".new", path); err != nil {
				t.Fatal(err)
			}
		},
		"removed":       func(w *world, path string) { os.Remove(path) },
		"only added to": nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(file, first, second)
			w.scan()
			now := time.Now()
			l := newLedger(func() time.Time { return now }, BuiltinPrices)
			w.scanner.rewritten = l.noteRewritten
			path := filepath.Join(w.home, file)
			if change == nil {
				w.add(file, message("o", "p", "", 3, 1)+"\n")
			} else {
				change(w, path)
			}
			w.scan()
			w.scanner.lookFor(&wire.Session{Agent: "claude", ID: "s", Transcript: path})
			session := w.scanner.positions[path].State.Session
			want := change != nil
			if got := l.InSession("claude", session).Doubt != ""; got != want {
				t.Errorf("in its session: %v", got)
			}
			if got := l.Today("", "").Doubt != ""; got != want {
				t.Errorf("today: %v", got)
			}
			if l.InSession("claude", "another").Doubt != "" || l.Today("codex", "").Doubt != "" {
				t.Error("other sessions are doubted, too")
			}
			if name == "removed" {
				return // known again with the next look
			}
			w.reopen()
			later := newLedger(func() time.Time { return now }, BuiltinPrices)
			w.scanner.rewritten = later.noteRewritten
			w.scanner.tellEarlier()
			if got := later.InSession("claude", session).Doubt != ""; got != want {
				t.Errorf("after a restart: %v", got)
			}
		})
	}
}

// A session that makes many calls of which nothing comes on record is doubted.
func TestSilentSessions(t *testing.T) {
	now := time.Now()
	l := newLedger(func() time.Time { return now }, BuiltinPrices)
	l.setKnown(false)
	calls := func(n int) {
		for range n {
			l.NoteEvent(&event.Event{Kind: event.ToolBefore, Agent: "claude", Session: "s"})
			l.NoteEvent(&event.Event{Kind: event.ToolBefore, Agent: "gemini", Session: "s"})
		}
	}
	calls(silentCalls)
	if l.InSession("claude", "s").Doubt != "" {
		t.Error("a burst of calls is doubted")
	}
	now = now.Add(silentFor)
	if l.InSession("claude", "s").Doubt == "" || l.InSession("gemini", "s").Doubt != "" {
		t.Error("silence isn't seen, or seen where records come late")
	}
	l.note(nil, &Call{Agent: "claude", Session: "s", At: now, Tokens: Tokens{Input: 1}})
	calls(1)
	if l.InSession("claude", "s").Doubt != "" {
		t.Error("usage doesn't end it")
	}
}

// A marker is found where bytes.Index finds it, in text where its rare byte is rare,
// frequent, or everything.
func TestMarkers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, text := range []string{`"usage"`, `"token_count"`, `"tokens"`, `"session_meta"`} {
		m := newMarker(text)
		for _, letters := range []string{"ab", "g", `"usage`, `"token_cu`, "xk_g", "a"} {
			piece := make([]byte, 3000)
			for i := range piece {
				piece[i] = letters[r.IntN(len(letters))]
			}
			for range r.IntN(4) {
				copy(piece[r.IntN(len(piece)):], text)
			}
			for from := 0; from < len(piece); from += 1 + r.IntN(200) {
				want := bytes.Index(piece[from:], []byte(text))
				if want < 0 {
					want = len(piece) - from
				}
				if got := m.index(piece, from) - from; got != want {
					t.Fatalf("%s among %q, from %d: found after %d bytes; want %d", text, letters, from, got, want)
				}
			}
		}
	}
}

// The last line break is found wherever it is, among bytes that are almost one.
func TestLastBreak(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for size := range 150 {
		piece := make([]byte, size)
		for range 20 {
			for i := range piece {
				piece[i] = "a\x0b\x8a\t"[r.IntN(4)]
			}
			for range r.IntN(3) {
				if size > 0 {
					piece[r.IntN(size)] = '\n'
				}
			}
			if got, want := lastBreak(piece), bytes.LastIndexByte(piece, '\n'); got != want {
				t.Fatalf("in %q at %d, want %d", piece, got, want)
			}
		}
	}
}

// A hole of many gigabytes is read piece by piece, with one large buffer for all of them.
func TestAHoleNeedsOneBuffer(t *testing.T) {
	hole, err := os.Create(filepath.Join(t.TempDir(), "hole"))
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	const pieces, piece = 6, maxPiece
	if err := hole.Truncate(pieces * piece); err != nil {
		t.Fatal(err)
	}
	lines := newLineReader([]string{`"usage"`})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for n := range int64(pieces) {
		offset, err := lines.read(io.NewSectionReader(hole, n*piece, piece), n*piece, func([]byte, int64, bool) {})
		if err != nil || offset != (n+1)*piece || !lines.tooLong {
			t.Fatalf("piece %d: offset %d, %v", n, offset, err)
		}
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 2*maxLine {
		t.Errorf("%d pieces took %d MB of buffers", pieces, took>>20)
	}
}
