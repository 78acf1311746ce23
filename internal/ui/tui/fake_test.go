package tui

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/daemontest/golden"
	"github.com/hookmux/hookmux/internal/wire"
)

// fakeDaemon takes answers down.
type fakeDaemon struct {
	terminal string // what the daemon makes of the caller
	replies  []client.InboxReply
	released []string
	sent     []string
	renamed  []string
	forgot   []string
	pin      string // wanted for an answer
	detail   *wire.SessionDetail
	entries  []client.Entry // of the journal
	calls    []string       // other methods, with their parameters
	digest   client.Digest
	fail     error
}

func (f *fakeDaemon) Info(context.Context) (*client.Info, error) { return &client.Info{}, f.fail }
func (f *fakeDaemon) FollowWaiting(ctx context.Context, _ func(client.InboxNote) error) error {
	<-ctx.Done()
	return ctx.Err()
}
func (f *fakeDaemon) Stream(ctx context.Context, _ wire.StreamParams, _ func(client.Note) error) error {
	<-ctx.Done()
	return ctx.Err()
}
func (f *fakeDaemon) Sessions(context.Context, client.SessionsParams) ([]client.SessionInfo, error) {
	return nil, f.fail
}
func (f *fakeDaemon) Session(_ context.Context, name string) (*client.SessionDetail, error) {
	if f.detail == nil || f.detail.ID != name {
		return nil, errors.New("no such session")
	}
	return f.detail, nil
}
func (f *fakeDaemon) Query(_ context.Context, p wire.QueryParams, each func(client.Entry) bool) error {
	for _, entry := range f.entries {
		own := strings.Contains(string(entry.Event), `"hookmux"`)
		if own == slices.Contains(p.Agents, "hookmux") && !each(entry) {
			break
		}
	}
	return f.fail
}
func (f *fakeDaemon) Away(context.Context) error {
	f.calls = append(f.calls, "away")
	return f.fail
}
func (f *fakeDaemon) Back(context.Context) (client.Digest, error) {
	f.calls = append(f.calls, "back")
	return f.digest, f.fail
}
func (f *fakeDaemon) Reply(_ context.Context, r client.InboxReply) (client.InboxResult, error) {
	if f.fail != nil {
		return client.InboxResult{}, f.fail
	}
	if f.pin != "" && r.PIN != f.pin {
		return client.InboxResult{}, &wire.Error{Code: wire.CodePIN, Message: "approvals need the PIN"}
	}
	f.replies = append(f.replies, r)
	item := wire.InboxRequest{ID: r.ID, Decision: &wire.InboxDecision{Choice: r.Choice, Plan: r.Plan, By: "you",
		Outcome: "delivered", Reason: r.Reason}}
	return client.InboxResult{ID: r.ID, Outcome: "delivered", Item: &item, Decided: item.Decision}, nil
}
func (f *fakeDaemon) Skip(_ context.Context, id string) (client.InboxResult, error) {
	f.released = append(f.released, id)
	return client.InboxResult{ID: id, Outcome: "delivered", Why: "left to the agent"}, f.fail
}
func (f *fakeDaemon) RenameSession(_ context.Context, name, title string) (*client.SessionInfo, error) {
	f.renamed = append(f.renamed, name+"="+title)
	return &wire.Session{ID: name, Title: title}, f.fail
}
func (f *fakeDaemon) ForgetSession(_ context.Context, name string) (*client.SessionInfo, error) {
	f.forgot = append(f.forgot, name)
	return &wire.Session{ID: name}, f.fail
}
func (f *fakeDaemon) SendToSession(_ context.Context, name, text string, _ bool) (*client.SessionSent, error) {
	f.sent = append(f.sent, name+"="+text)
	return &wire.SessionSent{Via: "pane"}, f.fail
}
func (f *fakeDaemon) Call(_ context.Context, method string, params, result any) error {
	if method != wire.MethodWhoami {
		f.calls = append(f.calls, method+" "+toJSON(params))
		return f.fail
	}
	outcome := f.terminal
	if outcome == "" {
		outcome = "allowed"
	}
	*result.(*wire.TerminalView) = wire.TerminalView{Outcome: outcome}
	return nil
}

var noon = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

// screen drives a view without a terminal, on a clock of its own.
type screen struct {
	t      *testing.T
	daemon *fakeDaemon
	model  *Model
	now    time.Time

	atTerminal int // how often the screen was left to the daemon
	quiet      []quietTick
}

// quietTick is a key's clock that runs.
type quietTick struct {
	at  time.Time
	msg quietMsg
}

func newScreen(t *testing.T, width, height int) *screen {
	s := &screen{t: t, daemon: &fakeDaemon{}, now: noon}
	s.model = New(t.Context(), Options{Daemon: s.daemon, Now: func() time.Time { return s.now },
		Jump: func(_ context.Context, one *wire.Session) (string, error) { return "went to " + one.Pane, nil }})
	s.model.tick = func(d time.Duration, then func(time.Time) tea.Msg) tea.Cmd {
		if msg, ok := then(s.now).(quietMsg); ok {
			s.quiet = append(s.quiet, quietTick{s.now.Add(d), msg})
		}
		return nil
	}
	s.send(tea.WindowSizeMsg{Width: width, Height: height})
	s.send(noteMsg{Ready: &client.InboxReady{Attached: true}})
	return s
}

// send gives the view a message and runs what it wants done, as Bubble Tea does.
func (s *screen) send(msg tea.Msg) {
	s.t.Helper()
	queue := []tea.Msg{msg}
	for len(queue) > 0 {
		next := queue[0]
		queue = queue[1:]
		_, cmd := s.model.Update(next)
		_ = s.model.View() // as Bubble Tea does after each message
		for _, m := range runCommand(cmd) {
			if ask, ok := m.(askAtTerminalMsg); ok { // Bubble Tea would leave the screen to it
				s.atTerminal++
				err := ask.call.Run()
				m = ask.call.outcome(err)
			}
			queue = append(queue, m)
		}
	}
}

func runCommand(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	switch msg := cmd().(type) {
	case nil:
		return nil
	case tea.BatchMsg:
		var out []tea.Msg
		for _, c := range msg {
			out = append(out, runCommand(c)...)
		}
		return out
	default:
		return []tea.Msg{msg}
	}
}

// wait lets time pass, with the clocks of keys that run out meanwhile.
func (s *screen) wait(d time.Duration) {
	end := s.now.Add(d)
	for len(s.quiet) > 0 && !s.quiet[0].at.After(end) {
		due := s.quiet[0]
		s.quiet = s.quiet[1:]
		s.now = due.at
		s.send(due.msg)
	}
	s.now = end
}

// press presses keys by their names.
func (s *screen) press(keys ...string) {
	s.t.Helper()
	for _, key := range keys {
		s.model.pressed.at = s.model.pressed.at.Add(-burstTime) // nobody is faster
		s.pressAtOnce(key)
	}
}

// pressAtOnce is press without the time that a person needs between two keys.
func (s *screen) pressAtOnce(keys ...string) {
	s.t.Helper()
	for _, key := range keys {
		msg := tea.KeyPressMsg{}
		switch key {
		case "enter":
			msg.Code = tea.KeyEnter
		case "esc":
			msg.Code = tea.KeyEscape
		case "space":
			msg.Code, msg.Text = tea.KeySpace, " "
		case "tab":
			msg.Code = tea.KeyTab
		case "down":
			msg.Code = tea.KeyDown
		case "up":
			msg.Code = tea.KeyUp
		default:
			msg.Code, msg.Text = []rune(key)[0], key
		}
		s.send(msg)
	}
}

func (s *screen) typeText(text string) {
	for _, r := range text {
		s.press(string(r))
	}
}

func (s *screen) text() string { return ansi.Strip(frame{s.model}.render()) }

func (s *screen) mustShow(want ...string) {
	s.t.Helper()
	got := s.text()
	for _, w := range want {
		if !strings.Contains(got, w) {
			s.t.Fatalf("the screen does not show %q:\n%s", w, got)
		}
	}
}

// request makes a request that arrives now.
func (s *screen) request(id string, change func(*wire.InboxRequest)) *wire.InboxRequest {
	item := &wire.InboxRequest{ID: id, Status: wire.InboxPending, Kind: "permission", Agent: "claude",
		Session: "session-" + id,
		Cwd:     "/home/me/shop", Tool: "Bash", Choices: []string{"once", "always", "deny"}, Rule: "Bash(go test:*)",
		Shown:     "Claude Code wants to run a command with Bash\nin /home/me/shop\n  $ go test ./...\n",
		CreatedAt: s.now.Add(-12 * time.Second), Deadline: s.now.Add(10 * time.Minute)}
	if change != nil {
		change(item)
	}
	sum := sha256.Sum256([]byte(item.Shown))
	item.SHA256 = hex.EncodeToString(sum[:])
	return item
}

func (s *screen) arrive(item *wire.InboxRequest) {
	s.t.Helper()
	method := wire.NoteInboxReceived
	if isWindow(item) {
		method = wire.NoteInboxPrompt
	}
	s.send(noteMsg{Method: method, Item: item})
}

func (s *screen) end(item *wire.InboxRequest) {
	s.t.Helper()
	s.send(noteMsg{Method: wire.NoteInboxWithdrawn, Item: item})
}

func question() []event.Inquiry {
	return []event.Inquiry{{Text: "Which database?", Header: "Store", Free: true, Options: []event.Option{
		{Label: "Postgres", Description: "known here"}, {Label: "SQLite", Description: "one file"}}}}
}

// fillDay shows a screen with a bit of everything.
func (s *screen) fillDay() {
	s.t.Helper()
	ended := s.now.Add(-time.Hour)
	turn := func(summary, result string) *wire.Turn {
		end := s.now.Add(-time.Minute)
		return &wire.Turn{N: 1, Started: s.now.Add(-3 * time.Minute), Ended: &end, Summary: summary, Result: result}
	}
	list := []wire.Session{
		{ID: "session-k1", Agent: "claude", Status: "waiting", Title: "fix the failing tests", Cwd: "/home/me/shop"},
		{ID: "session-k2", Agent: "codex", Status: "waiting", Title: "add a health endpoint", Cwd: "/home/me/api"},
		{ID: "s3", Agent: "gemini", Status: "running", Title: "write the changelog", Cwd: "/home/me/docs",
			Tool: "Edit CHANGELOG.md", Turn: &wire.Turn{N: 2, Started: s.now.Add(-95 * time.Second)}},
		{ID: "s4", Agent: "opencode", Status: "failed", Title: "update the dependencies", Cwd: "/home/me/web",
			Turn: turn("npm could not reach the registry.", "toolErrors"), Since: s.now.Add(-4 * time.Minute)},
		{ID: "s5", Agent: "claude", Status: "done", Title: "make the button blue", Cwd: "/home/me/web",
			Turn: turn("The button is blue now.", "ok"), Since: s.now.Add(-9 * time.Minute)},
		{ID: "s6", Agent: "pi", Status: "idle", Cwd: "/home/me/notes", Since: s.now.Add(-26 * time.Hour)},
		{ID: "s7", Agent: "codex", Status: "idle", Title: "old", Ended: &ended, Cwd: "/home/me/old"},
	}
	for i := range list {
		list[i].StartedAt = s.now.Add(-time.Hour)
	}
	s.send(sessionsMsg(list))
	s.arrive(s.request("k1", nil))
	s.arrive(s.request("k2", func(r *wire.InboxRequest) {
		r.Agent, r.Kind, r.Questions, r.Choices = "codex", "question", question(), []string{"answer", "deny"}
		r.Shown = "Codex asks\nin /home/me/api\nStore: Which database? (or type your own answer)\n  1) Postgres: " +
			"known here\n" +
			"  2) SQLite: one file\n"
	}))
	s.arrive(s.request("w3", func(r *wire.InboxRequest) {
		r.Choices = nil
		r.Status, r.Session, r.Agent, r.Shown = wire.InboxPrompt, "s9", "gemini", "Gemini CLI asks in %5: run a command"
		r.Asked = "run a command"
	}))
}

// mustMatchGolden compares a frame with its golden file.
func mustMatchGolden(t *testing.T, name, got string) {
	t.Helper()
	golden.Match(t, filepath.Join("testdata", name+".golden"), got)
}

func toJSON(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
