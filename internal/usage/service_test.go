package usage

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/policy/budget"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/wire"
)

// run runs a service in the world's home until the test ends or the result is called.
func (w *world) run(sessions ...wire.Session) (*Service, func()) {
	w.t.Helper()
	s := New(Options{
		Deps: services.Deps{
			Dirs: paths.Dirs{Home: w.home, State: filepath.Join(w.home, "state"), Config: filepath.Join(w.home, "config")},
			Log:  slog.New(slog.NewTextHandler(io.Discard, nil)), Problems: services.NewProblems(func(wire.Problem) {}),
		},
		Getenv: func(string) string { return "" }, HasBudgets: func() bool { return true },
		Sessions:  func(bool) []wire.Session { return sessions },
		OwnPrices: func() ([]byte, error) { return LoadPrices(filepath.Join(w.home, "config")) },
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.Run(ctx) }()
	stop := func() { cancel(); <-done }
	w.t.Cleanup(stop)
	return s, stop
}

func nowMessage(id string, input, output int) string {
	return strings.Replace(message(id, "r", "", input, output), "2026-11-10T10:00:00Z", time.Now().UTC().Format(time.RFC3339), 1)
}

func TestServiceFollowsLiveSessions(t *testing.T) {
	w := newWorld(t)
	const file = ".claude/projects/p/1.jsonl"
	w.write(file, nowMessage("m", 1_000_000, 0))
	s, stop := w.run(wire.Session{Agent: "claude", ID: "s", Status: wire.StatusRunning,
		Transcript: filepath.Join(w.home, file), LastEvent: time.Now()})
	s.refresh(t.Context())
	if got := s.InSession("claude", "s"); got.Dollars != 5 || !s.Known(t.Context()) {
		t.Fatalf("after the first look: %+v", got)
	}
	w.add(file, nowMessage("n", 1_000_000, 0)+"\n")
	began := time.Now()
	for s.Today("", "/p").Dollars != 10 {
		if time.Since(began) > 20*time.Second { // two seconds on a machine that has nothing else to do
			t.Fatalf("a live session's number is %+v", s.Today("", "/p"))
		}
		s.Poke()
		time.Sleep(10 * time.Millisecond)
	}
	for agent, want := range map[string]float64{"": 10, "claude": 10, "codex": 0} {
		if got := s.Today(agent, "").Dollars; got != want {
			t.Errorf("today of %q: %v, want %v", agent, got, want)
		}
	}
	if got := s.Today("", "/other"); got.Tokens != 0 {
		t.Errorf("another project used %+v", got)
	}
	// Another daemon knows the same, also when the record is gone.
	stop()
	if err := os.Remove(filepath.Join(w.home, file)); err != nil {
		t.Fatal(err)
	}
	s, _ = w.run()
	s.refresh(t.Context())
	if got := s.Today("", ""); got.Dollars != 10 {
		t.Errorf("after a restart: %+v", got)
	}
	if u := s.SessionUsage("claude", "s"); u == nil || u.CostUSD == nil || *u.CostUSD != 10 || u.Tokens != 2_000_000 {
		t.Errorf("session: %+v", u)
	}
	if u := s.SessionUsage("claude", "nobody"); u != nil {
		t.Errorf("an unknown session used %+v", u)
	}
}

// A look at everything that takes long, as the first one of a long history, doesn't keep the
// numbers of live sessions waiting.
func TestLiveNumbersInALongLook(t *testing.T) {
	w := newWorld(t)
	const file = ".claude/projects/live/s.jsonl"
	for i := range 3*commitFiles + 1 {
		w.write(fmt.Sprintf(".claude/projects/old/%d.jsonl", i), strings.Replace(message(fmt.Sprint("o", i), "r", "", 1, 0), `"s"`, `"old"`, 1))
	}
	w.write(file, nowMessage("m", 10, 0))
	l := newLedger(time.Now, BuiltinPrices)
	w.scanner.changed = l.note
	w.scanner.live = func() ([]string, map[string][]string) {
		return nil, map[string][]string{"claude": {filepath.Join(w.home, ".claude/projects/live")}}
	}
	pieces, want := 0, int64(10)
	w.scanner.progress = func(p Progress) {
		if pieces > 0 && l.InSession("claude", "s").Tokens != want {
			t.Errorf("after piece %d (%+v) the live session used %d tokens, want %d", pieces, p, l.InSession("claude", "s").Tokens, want)
		}
		pieces++
		want++
		w.add(file, nowMessage(fmt.Sprint("n", pieces), 1, 0)+"\n")
	}
	w.scan()
	if pieces < 4 {
		t.Errorf("it was read in %d pieces: the test proves nothing", pieces)
	}
	w.wants("each call once", Tokens{Input: 3*commitFiles + 1 + 10 + int64(pieces)})
	if got := l.InSession("claude", "s").Tokens; got != want {
		t.Errorf("in the end the live session used %d tokens, want %d", got, want)
	}
}

// Where records can't be counted, as on a full disk, budgets ask: an agent can fill a disk.
func TestBudgetsAskWhileNothingCanBeCounted(t *testing.T) {
	w := newWorld(t)
	w.store.Close()
	w.store = nil
	blocked := filepath.Join(w.home, "state", Database+"-wal")
	if err := os.MkdirAll(filepath.Join(blocked, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.write(".claude/projects/p/1.jsonl", nowMessage("m", 10, 0))
	s, _ := w.run()
	s.refresh(t.Context())
	b, err := budget.Parse("day=1000tokens block=100%")
	if err != nil {
		t.Fatal(err)
	}
	ev := &event.Event{Kind: event.ToolBefore, Agent: "claude", Session: "s"}
	if f, found := b.Check(t.Context(), ev, s); !found || f.Verdict != event.Ask || !strings.Contains(f.Reason, "isn't counted right now") {
		t.Errorf("the budget says %+v", f)
	}
	for what, one := range map[string]budget.Spend{"the day": s.Today("", ""), "the project": s.Today("", "/p")} {
		if one.Doubt == "" {
			t.Errorf("%s isn't doubted", what)
		}
	}
	if err := os.RemoveAll(blocked); err != nil {
		t.Fatal(err)
	}
	s.refresh(t.Context())
	if f, found := b.Check(t.Context(), ev, s); found || s.Today("", "").Tokens != 10 {
		t.Errorf("once there's room the budget says %+v, and %+v was used", f, s.Today("", ""))
	}
}

// The record that a session names is followed wherever it is, within a second, also where
// its agent was told to keep its records elsewhere.
func TestRecordsElsewhereAreFollowed(t *testing.T) {
	for _, one := range []struct{ agent, path, line string }{
		{"claude", "elsewhere/projects/p/s.jsonl", nowMessage("m", 1000, 5)},
		{"qwen", "elsewhere/projects/x/chats/s.jsonl", `{"uuid":"u","sessionId":"s","type":"assistant","model":"m","usageMetadata":{"promptTokenCount":1000,` +
			`"candidatesTokenCount":5,"totalTokenCount":1005}}`},
		{"gemini", "elsewhere/tmp/x/chats/session.jsonl", `{"sessionId":"s","id":"b","type":"gemini","model":"m","tokens":{"input":1000,"output":5}}`},
	} {
		w := newWorld(t)
		w.write(one.path, one.line)
		s, stop := w.run(wire.Session{Agent: one.agent, ID: "s", Status: wire.StatusRunning,
			Transcript: filepath.Join(w.home, one.path), LastEvent: time.Now()})
		s.refresh(t.Context())
		if got := s.Today(one.agent, "").Tokens; got != 1005 {
			t.Errorf("%s used %d tokens, want 1005", one.agent, got)
		}
		stop()
	}
}

func TestReport(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/projects/p/1.jsonl", nowMessage("m", 1_000_000, 0),
		strings.Replace(nowMessage("x", 7, 1), "claude-opus-4-6", "nobody-knows", 1))
	w.write(".codex/sessions/1.jsonl", meta("a", ""), turn("t1"), tokenCount("10:00:02", 0, 100, 40, 10))
	s, _ := w.run()
	params, _ := json.Marshal(wire.UsageParams{By: []string{wire.ByAgent, wire.ByModel}})
	answer, bad := s.reportMethod(t.Context(), params, proc.Cred{})
	if bad != nil {
		t.Fatal(bad)
	}
	report := answer.(wire.UsageReport)
	if len(report.Rows) != 3 || report.Rows[0].Model != "claude-opus-4-6" || *report.Rows[0].CostUSD != 5 ||
		len(report.Unpriced) != 1 || report.Unpriced[0] != "nobody-knows" || report.Totals.UnpricedTokens != 8 {
		t.Errorf("%+v", report)
	}
	for _, row := range report.Rows {
		if row.Model == "nobody-knows" && row.CostUSD != nil {
			t.Errorf("a model without a price costs %v", *row.CostUSD)
		}
	}
	params, _ = json.Marshal(wire.UsageParams{By: []string{"colour"}})
	if _, bad := s.reportMethod(t.Context(), params, proc.Cred{}); bad == nil {
		t.Error("divided by colour")
	}
}

// What can't be counted, or is nobody's, makes a budget ask.
func TestWhatBudgetsCannotCount(t *testing.T) {
	l := newLedger(time.Now, BuiltinPrices)
	l.setKnown(false)
	for agent, counted := range map[string]bool{"": true, "claude": true, "goose": true, "cursor": false, "amp": false, "my-own": false} {
		if doubt := l.InSession(agent, "s").Doubt; (doubt == "") != counted {
			t.Errorf("%s: doubt %q, counted %v", agent, doubt, counted)
		}
	}
	l.note(nil, &Call{Agent: "amp", Session: "s", Project: "/p", At: time.Now(), Tokens: Tokens{Input: 1}})
	if doubt := l.InSession("amp", "s").Doubt; doubt != "" {
		t.Errorf("an Amp whose thread is here: %q", doubt)
	}
	l.note(nil, &Call{Agent: "gemini", Session: "g", At: time.Now(), Tokens: Tokens{Input: 5}})
	for _, one := range []struct {
		agent, project string
		doubt          bool
	}{{"", "/p", true}, {"gemini", "/p", true}, {"amp", "/p", false}, {"", "", false}} {
		if got := l.Today(one.agent, one.project); (got.Doubt != "") != one.doubt {
			t.Errorf("%+v: %+v", one, got)
		}
	}
}

func TestWindows(t *testing.T) {
	now := time.Now()
	l := newLedger(func() time.Time { return now }, BuiltinPrices)
	resets := now.Add(time.Hour)
	five := Window{Agent: "codex", Name: "5h", Length: 5 * time.Hour, Used: 40, Resets: resets, Learned: now}
	if _, known := l.OfWindow("codex", five.Length); known {
		t.Error("known before anything was said")
	}
	l.noteWindow(five)
	less := five
	less.Used = 1
	l.noteWindow(less)
	for what, forged := range map[string]Window{
		"with another reset":     {Used: 1, Resets: resets.Add(3 * time.Hour)},
		"without a reset":        {Used: 1},
		"that is over at once":   {Used: 1, Resets: now.Add(time.Millisecond)},
		"that was over long ago": {Used: 1, Resets: now.Add(-time.Hour)},
	} {
		forged.Agent, forged.Name, forged.Length, forged.Learned = five.Agent, five.Name, five.Length, now.Add(time.Second)
		l.noteWindow(forged)
		now = now.Add(time.Second)
		if used, known := l.OfWindow("codex", five.Length); used != 40 || !known {
			t.Errorf("a window %s brings it to %v, known %v", what, used, known)
		}
	}
	l.noteWindow(Window{Agent: "codex", Name: "5h", Length: five.Length, Used: 40, Resets: now.AddDate(1, 0, 0), Learned: now})
	if got := l.Windows()[0].Resets; got.After(now.Add(five.Length)) {
		t.Errorf("a window of five hours begins again in %v", got.Sub(now))
	}
	l = newLedger(func() time.Time { return now }, BuiltinPrices)
	l.noteWindow(five)
	if used, known := l.OfWindow("codex", five.Length); used != 40 || !known {
		t.Errorf("the window went to %v", used)
	}
	if _, known := l.OfWindow("codex", 7*24*time.Hour); known {
		t.Error("a window that nobody mentioned is known")
	}
	now = now.Add(2 * time.Hour)
	if _, known := l.OfWindow("codex", five.Length); known {
		t.Error("the window began again, and it's still known")
	}
	next := Window{Agent: "codex", Name: "5h", Length: 5 * time.Hour, Used: 2, Resets: now.Add(5 * time.Hour), Learned: now}
	l.noteWindow(next)
	if used, _ := l.OfWindow("codex", five.Length); used != 2 {
		t.Errorf("the next window is used to %v", used)
	}
}

// While a look at the records takes long, what was used isn't known: something large may
// have been put in its way. Neither is it where there are too many files.
func TestSlowLooks(t *testing.T) {
	now := time.Now()
	l := newLedger(func() time.Time { return now }, BuiltinPrices)
	l.setKnown(false)
	l.setLooking(true)
	if !l.Known(t.Context()) {
		t.Error("a look that just began makes what's known unknown")
	}
	now = now.Add(slowLook + time.Second)
	if l.Known(t.Context()) {
		t.Error("a slow look isn't noticed")
	}
	l.setLooking(false)
	if !l.Known(t.Context()) {
		t.Error("it's still unknown when the look is over")
	}
	l.noteRewritten(rewrite{Agent: "claude", Session: everySession, At: now, Why: "too many files"})
	for what, one := range map[string]budget.Spend{"a session": l.InSession("claude", "s"), "the day": l.Today("", ""),
		"the project": l.Today("", "/p")} {
		if one.Doubt != "too many files" {
			t.Errorf("%s: doubt %q", what, one.Doubt)
		}
	}
	if l.InSession("codex", "s").Doubt != "" {
		t.Error("another agent's session is doubted")
	}
	if now = now.Add(time.Hour); l.InSession("claude", "s").Doubt != "" {
		t.Error("it's doubted when the files are gone")
	}
}

// A project that is behind a link, or that an agent moves there, is the same project.
func TestProjectsBehindLinks(t *testing.T) { synctest.Test(t, projectsBehindLinks) }

func projectsBehindLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.MkdirAll(filepath.Join(real, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	l := newLedger(time.Now, BuiltinPrices)
	for i, project := range []string{real, link, filepath.Join(link, "sub"), filepath.Join(dir, "other")} {
		l.note(nil, &Call{Agent: "claude", ID: string(rune('a' + i)), Session: "s", Project: project, At: time.Now(), Tokens: Tokens{Input: 10}})
	}
	check := func(when string) {
		t.Helper()
		for _, project := range []string{real, link} {
			if got := l.Today("", project).Tokens; got != 30 {
				t.Errorf("%s, %s used %d tokens, want 30", when, filepath.Base(project), got)
			}
			b := &budget.Budget{Period: budget.Day, Tokens: 1, Block: 100, Project: project}
			for cwd, want := range map[string]bool{real: true, link: true, filepath.Join(link, "sub"): true, dir: false} {
				if b.Covers(&event.Event{Agent: "claude", Cwd: cwd}) != want {
					t.Errorf("%s, the budget of %s covers %s: %v", when, filepath.Base(project), cwd, !want)
				}
			}
		}
	}
	check("behind a link")
	// The agent moves the project, and leaves a link.
	moved := filepath.Join(dir, "moved")
	if err := os.Rename(real, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, real); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Second) // where a folder leads is known that long
	check("moved")
	l.note(nil, &Call{Agent: "claude", ID: "e", Session: "s", Project: moved, At: time.Now(), Tokens: Tokens{Input: 10}})
	if got := l.Today("", real).Tokens; got != 40 {
		t.Errorf("what is used there later: %d tokens, want 40", got)
	}
}

// An agent works in a project by a link, and lets it lead elsewhere before and after: each
// call counts where the link led when it was counted.
func TestLinksThatAreTurned(t *testing.T) {
	dir := t.TempDir()
	real, other, link := filepath.Join(dir, "real"), filepath.Join(dir, "other"), filepath.Join(dir, "link")
	for _, folder := range []string{real, other} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	l := newLedger(time.Now, BuiltinPrices)
	for i, one := range []struct {
		to   string
		want int64
	}{{other, 0}, {real, 10}, {other, 10}, {real, 20}} {
		_ = os.Remove(link)
		if err := os.Symlink(one.to, link); err != nil {
			t.Fatal(err)
		}
		l.note(nil, &Call{Agent: "claude", ID: fmt.Sprint(i), Session: "s", Project: link, At: time.Now(), Tokens: Tokens{Input: 10}})
		if got := l.Today("", real).Tokens; got != one.want {
			t.Errorf("call %d, in a link to %s: the project used %d tokens, want %d", i, filepath.Base(one.to), got, one.want)
		}
	}
}

func TestDaysAreLocal(t *testing.T) {
	zone := time.FixedZone("east", 9*3600)
	old := time.Local
	time.Local = zone
	defer func() { time.Local = old }()
	now := time.Date(2026, 11, 18, 23, 50, 0, 0, zone)
	l := newLedger(func() time.Time { return now }, BuiltinPrices)
	call := Call{Agent: "claude", Session: "s", Model: "claude-opus-4-6", At: now, Tokens: Tokens{Input: 1_000_000}}
	l.note(nil, &call)
	if got := l.Today("", ""); got != (budget.Spend{Dollars: 5, Tokens: 1_000_000}) {
		t.Errorf("today: %+v", got)
	}
	now = now.Add(20 * time.Minute)
	if got := l.Today("", ""); got.Tokens != 0 {
		t.Errorf("after midnight: %+v", got)
	}
	if got := l.InSession("claude", "s"); got.Dollars != 5 {
		t.Errorf("the session after midnight: %+v", got)
	}
}

func TestCodexLimits(t *testing.T) {
	w := newWorld(t)
	var got []Window
	w.scanner.window = func(one Window) Window { got = append(got, one); return one }
	w.write(".codex/sessions/1.jsonl", meta("a", ""), `{"timestamp":"2026-11-10T10:00:00Z","type":"event_msg","payload":{`+
		`"type":"token_count","info":null,"rate_limits":{"primary":{"used_percent":12.5,"window_minutes":300,"resets_at":1794711519},`+
		`"secondary":null,"plan_type":"pro"}}}`)
	w.scan()
	if len(got) != 1 || got[0].Name != "5h" || got[0].Used != 12.5 || got[0].Plan != "pro" || got[0].Resets.Unix() != 1794711519 {
		t.Errorf("%+v", got)
	}
	stored, err := w.store.Windows(t.Context())
	if err != nil || len(stored) != 1 || stored[0].Agent != "codex" {
		t.Errorf("stored: %+v %v", stored, err)
	}
}

// A store that can't be opened right now, as on a full disk, keeps what was counted.
func TestAStoreThatCannotBeOpenedIsKept(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/projects/p/1.jsonl", message("m", "r", "", 1, 1))
	w.scan()
	w.store.Close()
	w.store = nil
	path := filepath.Join(w.home, "state", Database)
	if err := os.MkdirAll(path+"-wal", 0o700); err != nil { // in the place of its log
		t.Fatal(err)
	}
	if _, err := OpenStore(path, BuiltinPrices); err == nil {
		t.Fatal("it's opened without a log")
	}
	if err := os.Remove(path + "-wal"); err != nil {
		t.Fatal(err)
	}
	os.Remove(filepath.Join(w.home, ".claude/projects/p/1.jsonl"))
	w.reopen()
	w.scan()
	w.wants("as it was", Tokens{Input: 1, Output: 1})
}

func TestABrokenStoreIsBegunAgain(t *testing.T) {
	w := newWorld(t)
	w.write(".claude/projects/p/1.jsonl", message("m", "r", "", 1, 1))
	w.store.Close()
	if err := os.WriteFile(filepath.Join(w.home, "state", Database), []byte(strings.Repeat("no database ", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	w.store = nil
	w.reopen()
	w.scan()
	w.wants("read again", Tokens{Input: 1, Output: 1})
}
