package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
)

// tell lets an agent report something about a session.
func (w *daemonFixture) tell(agent, event, session string, more map[string]any) {
	w.T.Helper()
	fields := map[string]any{"session_id": session, "cwd": w.Base}
	for k, v := range more {
		fields[k] = v
	}
	if event != "PermissionRequest" {
		w.Send(daemontest.SessionEvent(agent, event, fields))
		return
	}
	before := len(w.items())
	w.startCall(daemontest.SessionEvent(agent, event, fields))
	w.Eventually("it asks", func() bool { return len(w.items()) > before })
}

func (w *daemonFixture) sessions() []wire.Session {
	w.T.Helper()
	var list []wire.Session
	if err := w.h.CallMethod(wire.MethodSessions, wire.SessionsParams{}, &list); err != nil {
		w.T.Fatal(err)
	}
	return list
}

func (w *daemonFixture) session(id string) *wire.SessionDetail {
	w.T.Helper()
	var d wire.SessionDetail
	if err := w.h.CallMethod(wire.MethodSession, wire.SessionParams{Session: id}, &d); err != nil {
		w.T.Fatal(err)
	}
	return &d
}

func (w *daemonFixture) statusIs(id, status string) {
	w.T.Helper()
	if got := w.session(id); got.Status != status {
		w.T.Errorf("%s is %s, want %s (%+v)", id, got.Status, status, got.Session)
	}
}

// besideAgent returns a process table in which a person types while the agent runs.
func besideAgent() *proctest.Table {
	return daemontest.AtTerminal(proctest.Node{PID: daemontest.AgentPID, Name: "claude", Program: "/opt/claude/bin/claude"},
		proctest.Node{PID: os.Getpid(), Name: "hookmux"})
}

// agentAt returns an agent with arguments and an environment of its own.
func agentAt(pid int, args, env []string) *proctest.Table {
	return daemontest.AtTerminal(proctest.Node{PID: pid, Name: "claude", Program: "/opt/claude/bin/claude", Args: args,
		Env: env, Below: []proctest.Node{
			{PID: os.Getpid(), Name: "hookmux-hook", Program: "/usr/bin/hookmux-hook"},
		}}).Readable()
}

func TestASessionFromItsFirstPromptToItsEnd(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.BelowAgent("claude"))
	w.tell("claude", "SessionStart", "s1", map[string]any{"source": "startup"})
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "fix the tests", "permission_mode": "plan"})
	w.statusIs("s1", "running")
	w.tell("claude", "PreToolUse", "s1", map[string]any{"tool_name": "Bash", "tool_use_id": "c1",
		"tool_input": map[string]any{"command": "go test ./..."}})
	if got := w.session("s1"); got.Tool != "Bash: go test ./..." || got.Title != "fix the tests" ||
		got.PID != daemontest.AgentPID || got.TTY != "/dev/pts/77" || got.Mode != "plan" {
		t.Errorf(`got.Session = %+v, want got.Tool = "Bash: go test ./...", got.Title = "fix the tests", got.PID = `+
			`daemontest.AgentPID, got.TTY = "/dev/pts/77" and got.Mode = "plan"`, got.Session)
	}
	w.tell("claude", "PermissionRequest", "s1", map[string]any{"tool_name": "Bash", "tool_use_id": "c1",
		"tool_input": map[string]any{"command": "go test ./..."}})
	w.statusIs("s1", "waiting")
	w.tell("claude", "PostToolUse", "s1", map[string]any{"tool_name": "Bash", "tool_use_id": "c1",
		"tool_input": map[string]any{"command": "go test ./..."}, "tool_response": map[string]any{"stdout": "ok"}})
	w.statusIs("s1", "running")
	w.tell("claude", "Stop", "s1", map[string]any{"last_assistant_message": "All tests pass."})
	d := w.session("s1")
	if d.Status != "done" || d.Turn == nil || d.Turn.Result != "ok" || d.Turn.Summary != "All tests pass." ||
		d.Turn.Tools != 1 {
		t.Errorf(`%+v, turn %+v; want d.Status == "done", d.Turn != nil, d.Turn.Result == "ok", `+
			`d.Turn.Summary == "All tests pass." and d.Turn.Tools == 1`, d.Session, d.Turn)
	}
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "now commit"})
	if d := w.session("s1"); d.LastWords != "All tests pass." {
		t.Errorf("in the next turn the last words are %q, want those of the turn before", d.LastWords)
	}
	w.tell("claude", "SessionEnd", "s1", map[string]any{"reason": "prompt_input_exit"})
	if d := w.session("s1"); d.Ended == nil {
		t.Errorf("it goes on: %+v", d.Session)
	}
}

func TestWhoWaitsStandsOnTop(t *testing.T) {
	w := open(t)
	for _, id := range []string{"idle", "runs", "waits1", "waits2"} {
		w.tell("claude", "UserPromptSubmit", id, map[string]any{"prompt": "title of " + id})
	}
	w.tell("claude", "Stop", "idle", nil)
	for _, id := range []string{"waits1", "waits2"} {
		w.tell("claude", "PermissionRequest", id, map[string]any{"tool_name": "Bash", "tool_use_id": "c",
			"tool_input": map[string]any{"command": "x"}})
	}
	var got []string
	for _, s := range w.sessions() {
		got = append(got, s.ID)
	}
	if strings.Join(got, " ") != "waits1 waits2 runs idle" {
		t.Errorf(`in order: %v; want strings.Join(got, " ") == "waits1 waits2 runs idle"`, got)
	}
}

func TestTwelveHooksOnTwelveSessions(t *testing.T) {
	w := open(t)
	var wg sync.WaitGroup
	for i := range 12 {
		wg.Go(func() { w.tell("claude", "UserPromptSubmit", fmt.Sprint("s", i), map[string]any{"prompt": "go"}) })
	}
	wg.Wait()
	if list := w.sessions(); len(list) != 12 {
		t.Errorf("%d sessions, want 12", len(list))
	}
}

func TestNamesOfSessions(t *testing.T) {
	w := open(t)
	w.tell("claude", "UserPromptSubmit", "0199aa-1", map[string]any{"prompt": "Payment bug"})
	w.tell("codex", "UserPromptSubmit", "0199ab-2", map[string]any{"prompt": "another thing"})
	for name, want := range map[string]string{
		"0199aa-1": "0199aa-1", "0199aa": "0199aa-1", "payment BUG": "0199aa-1", "paym": "0199aa-1", "codex:0199": "0199ab-2", "codex:0199ab-2": "0199ab-2",
	} {
		if got := w.session(name); got.ID != want {
			t.Errorf("%s means %s, want %s", name, got.ID, want)
		}
	}
	for name, code := range map[string]int{"0199": wire.CodeParams, "nobody": wire.CodeGone, "": wire.CodeParams,
		"unknown": wire.CodeGone} {
		_, err := w.Client.Session(context.Background(), name)
		var answer *wire.Error
		if !errors.As(err, &answer) || answer.Code != code {
			t.Errorf("%q: %v, want code %d", name, err, code)
		}
	}
	if _, err := w.Client.RenameSession(context.Background(), "0199aa", "  mine\n now "); err != nil {
		t.Fatal(err)
	}
	w.tell("claude", "UserPromptSubmit", "0199aa-1",
		map[string]any{"prompt": "next", "session_title": "the agent's own"})
	if got := w.session("0199aa"); got.Title != "mine now" || !got.Named {
		t.Errorf("a person's title does not stay: %+v", got.Session)
	}
	if got, err := w.Client.RenameSession(context.Background(), "mine now", ""); err != nil ||
		got.Title == "mine now" || got.Named {
		t.Errorf(`got %+v, error %v; want no error, got.Title other than "mine now" and not got.Named`, got, err)
	}
	if _, err := w.Client.ForgetSession(context.Background(), "0199aa"); err != nil {
		t.Fatal(err)
	}
	if list := w.sessions(); len(list) != 1 || list[0].ID != "0199ab-2" {
		t.Errorf(`list = %+v, want 1 of them and list[0].ID = "0199ab-2"`, list)
	}
}

func TestAnAgentMayLookAndNothingElse(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.BelowAgent("claude"))
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go"})
	ctx := context.Background()
	if got, err := w.Client.Session(ctx, "s1"); err != nil || got.Status != "running" {
		t.Errorf(`got %+v, error %v; want no error and got.Status = "running"`, got, err)
	}
	var refused *client.RefusedError
	for what, try := range map[string]func() error{
		"rename": func() error { _, err := w.Client.RenameSession(ctx, "s1", "x"); return err },
		"forget": func() error { _, err := w.Client.ForgetSession(ctx, "s1"); return err },
		"send":   func() error { _, err := w.Client.SendToSession(ctx, "s1", "x", true); return err },
	} {
		if err := try(); !errors.As(err, &refused) {
			t.Errorf("%s below an agent: %v", what, err)
		}
	}
}

// files returns what a machine finds after kill -9: the files as they are now.
func (w *daemonFixture) files() map[string]string {
	w.T.Helper()
	found := map[string]string{}
	for _, dir := range []string{w.Dirs.State, w.Dirs.Runtime} {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() { // it may go while we look
				if b, err := os.ReadFile(path); err == nil {
					found[path] = string(b)
				}
			}
			return nil
		})
	}
	return found
}

// crash puts the files of an earlier moment in the place of what a daemon leaves
// that ends in peace.
func (w *daemonFixture) crash(files map[string]string) {
	w.T.Helper()
	w.Down()
	for _, dir := range []string{w.Dirs.State, w.Dirs.Runtime} {
		if err := os.RemoveAll(dir); err != nil {
			w.T.Fatal(err)
		}
	}
	for path, text := range files {
		w.Write(path, text)
	}
}

func TestSessionsSurviveTheDaemon(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.BelowAgent("claude"))
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "fix the tests"})
	w.tell("claude", "Stop", "s1", map[string]any{"last_assistant_message": "Done."})
	w.tell("claude", "UserPromptSubmit", "s2", map[string]any{"prompt": "go on"})

	// Killed at once: what was acknowledged is on disk in some file.
	w.crash(w.files())
	w.Up()
	w.Eventually("both sessions are back", func() bool { return len(w.sessions()) == 2 })
	w.Eventually("the turn's end is back", func() bool { return w.session("s1").Status == "done" })
	if d := w.session("s1"); d.Title != "fix the tests" || d.Turn == nil || d.Turn.Summary != "Done." {
		t.Errorf(`d.Session = %+v, d.Turn = %+v; want d.Title = "fix the tests", d.Turn other than nil and `+
			`d.Turn.Summary = "Done."`, d.Session, d.Turn)
	}
	w.statusIs("s2", "running")

	// Stopped and started again.
	w.SetProcesses(besideAgent())
	if _, err := w.Client.RenameSession(context.Background(), "s1", "mine"); err != nil {
		t.Fatal(err)
	}
	w.SetProcesses(daemontest.BelowAgent("claude"))
	w.Down()
	w.Up()
	if d := w.session("s1"); d.Status != "done" || d.Title != "mine" || !d.Named || d.Turns != 1 {
		t.Errorf(`d.Session = %+v, want d.Status = "done", d.Title = "mine", d.Named and d.Turns = 1`, d.Session)
	}
	w.statusIs("s2", "running")

	// The process ended while no daemon was there.
	w.Down()
	w.Table.Set(daemontest.AtTerminal())
	w.Up()
	if d := w.session("s2"); d.Ended == nil || d.Status == "running" {
		t.Errorf("a session without a process: %+v", d.Session)
	}
}

func TestAProcessThatEnds(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.BelowAgent("claude"))
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go"})
	w.statusIs("s1", "running")
	w.SetProcesses(daemontest.AtTerminal()) // kill -9: no hook tells
	w.Eventually("the session is over", func() bool { return w.session("s1").Ended != nil })
	if d := w.session("s1"); d.Status == "running" || d.Turn.Result != "interrupted" {
		t.Errorf(`d.Session = %+v, d.Turn = %+v; want d.Status other than "running" and d.Turn.Result = "interrupted"`,
			d.Session, d.Turn)
	}
}

func TestWhatOnlyTheTranscriptTells(t *testing.T) {
	w := open(t)
	file := filepath.Join(w.Dirs.Home, ".claude/projects/-w/s1.jsonl")
	row := func(v map[string]any) string {
		v["timestamp"], v["sessionId"] = time.Now().UTC().Format(time.RFC3339Nano), "s1"
		b, _ := json.Marshal(v)
		return string(b) + "\n"
	}
	w.Write(file, row(map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": "fix it"}}))
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "fix it", "transcript_path": file})
	w.statusIs("s1", "running")
	add := func(text string) {
		f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	add(row(map[string]any{"type": "ai-title", "aiTitle": "Mending it"}))
	w.Eventually("its title is read", func() bool { return w.session("s1").Title == "Mending it" })
	add(row(map[string]any{"type": "user", "message": map[string]any{"role": "user",
		"content": []any{map[string]any{"type": "text", "text": "[Request interrupted by user]"}}}}))
	w.Eventually("Esc is noticed", func() bool { return w.session("s1").Status != "running" })
	if d := w.session("s1"); d.Turn.Result != "interrupted" || d.Ended != nil {
		t.Errorf(`d.Session = %+v, d.Turn = %+v; want d.Turn.Result = "interrupted" and d.Ended = nil`,
			d.Session, d.Turn)
	}
}

func TestMux0LinesAreSessions(t *testing.T) {
	w := open(t)
	id := "5B9C1C2E-0000-4000-8000-00000000000A"
	line := func(more string) {
		conn := w.Dial()
		if _, err := conn.Write([]byte(`{"terminalId":"` + id + `","agent":"claude",` + more + "}\n")); err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	now := float64(time.Now().UnixMilli()) / 1000
	line(fmt.Sprintf(`"event":"running","at":%f,"toolDetail":"Bash: ls","sessionTitle":"From mux0"`, now))
	w.Eventually("it runs", func() bool { l := w.sessions(); return len(l) == 1 && l[0].Status == "running" })
	if s := w.sessions()[0]; s.Tool != "Bash: ls" || s.Title != "From mux0" {
		t.Errorf(`s = %+v, want s.Tool = "Bash: ls" and s.Title = "From mux0"`, s)
	}
	line(fmt.Sprintf(`"event":"needsInput","at":%f`, now+1))
	w.Eventually("it waits", func() bool { return w.sessions()[0].Status == "waiting" })
	line(fmt.Sprintf(`"event":"finished","at":%f,"exitCode":1,"summary":"no luck"`, now+2))
	w.Eventually("it failed", func() bool {
		s := w.sessions()[0]
		return s.Status == "failed" &&
			s.Turn.Summary == "no luck"
	})
}

func TestTheSharedDaemonHasNoPane(t *testing.T) {
	w := open(t)
	r := daemontest.SessionEvent("codex", "UserPromptSubmit", map[string]any{"session_id": "s1", "prompt": "go"})
	r.Env = []byte("PATH=/x/app-server-daemon/releases/1:/bin\x00TMUX=/tmp/tmux-0/default,1,0\x00TMUX_PANE=%5\x00")
	w.SetProcesses(daemontest.BelowAgent("codex"))
	w.Send(r)
	if s := w.session("s1"); s.Pane != "unknown" || s.TTY != "unknown" || s.PID != 0 {
		t.Errorf(`s.Session = %+v, want s.Pane = "unknown", s.TTY = "unknown" and s.PID = 0`, s.Session)
	}
}

func TestOtherMultiplexersAreNamed(t *testing.T) {
	w := open(t)
	r := daemontest.SessionEvent("claude", "UserPromptSubmit", map[string]any{"session_id": "s1", "prompt": "go"})
	r.Env = []byte("ZELLIJ_PANE_ID=4\x00ZELLIJ_SESSION_NAME=work\x00")
	w.Send(r)
	if s := w.session("s1"); s.Mux != "zellij" || s.Pane != "4" || s.Server != "work" {
		t.Errorf(`s.Session = %+v, want s.Mux = "zellij", s.Pane = "4" and s.Server = "work"`, s.Session)
	}
}

func TestStreamsHearOfSessions(t *testing.T) {
	w := open(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ready, changes := make(chan struct{}), make(chan wire.SessionChange, 64)
	others := make(chan string, 64)
	go func() {
		_ = w.Client.Stream(ctx, wire.StreamParams{Sessions: wire.SessionsOnly}, func(n client.Note) error {
			switch {
			case n.Ready != nil:
				close(ready)
			case n.Session != nil:
				changes <- *n.Session
			default:
				others <- n.Method
			}
			return nil
		})
	}()
	<-ready
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go"})
	var seen []string
	for !slices.Contains(seen, "status") {
		select {
		case c := <-changes:
			seen = append(seen, c.What...)
			if c.Session.ID != "s1" || c.Session.Status != "running" {
				t.Errorf(`c = %+v, want c.Session.ID = "s1" and c.Session.Status = "running"`, c)
			}
		case <-time.After(daemontest.Patience):
			t.Fatalf("only heard of %v", seen)
		}
	}
	select {
	case m := <-others:
		t.Errorf("heard of %s, too", m)
	default:
	}
}

func TestSecretsStayInside(t *testing.T) {
	w := open(t)
	key := "sk-ant-" + "api03-" + strings.Repeat("aB3x", 10)
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "use " + key})
	w.tell("claude", "PreToolUse", "s1", map[string]any{"tool_name": "Bash", "tool_use_id": "c",
		"tool_input": map[string]any{"command": "curl -H " + key}})
	b, _ := json.Marshal(w.session("s1"))
	if strings.Contains(string(b), key) {
		t.Errorf("b = %s, want no %q in it", b, key)
	}
	w.Eventually("it is written down", func() bool {
		b,
			_ := os.ReadFile(w.Dirs.State + "/sessions.log")
		return len(b) > 0
	})
	w.Down()
	if b, _ := os.ReadFile(w.Dirs.State + "/sessions.log"); strings.Contains(string(b), key) {
		t.Errorf("b = %s, want no %q in it", b, key)
	}
}

func TestATextGoesThroughThePlugin(t *testing.T) {
	w := open(t)
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go"}) // any agent whose plugin asks
	ctx := context.Background()
	got := make(chan string, 1)
	go func() { // the plugin
		var first wire.OutboxResult
		if w.Call(wire.MethodOutbox, wire.OutboxParams{Agent: "claude", Poller: "p", Sessions: []string{"s1"},
			Wait: 20}, &first) != nil || len(first.Texts) != 1 {
			got <- ""
			return
		}
		got <- first.Texts[0].Text
		_ = w.Call(wire.MethodOutbox, wire.OutboxParams{Agent: "claude", Poller: "p", Sessions: []string{"s1"},
			Wait: 0.1, Done: []wire.OutboxDone{{ID: first.Texts[0].ID}}}, nil)
	}()
	w.Eventually("the plugin listens", func() bool { return w.h.outbox.Listens("claude", "s1") })
	sent, err := w.Client.SendToSession(ctx, "s1", "run the tests", false)
	if err != nil || sent.Via != "plugin" || <-got != "run the tests" {
		t.Errorf(`sent = %+v, error %v; want no error, sent.Via = "plugin" and <-got = "run the tests"`, sent, err)
	}
}
