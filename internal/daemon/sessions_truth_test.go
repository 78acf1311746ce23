package daemon

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/sessions/window"
	"github.com/hookmux/hookmux/internal/wire"
)

func TestAProbeIsNoSession(t *testing.T) {
	w := open(t)
	w.tell("claude", wire.ProbeEvent, "probe-1-x", nil)
	if list := w.sessions(); len(list) != 0 {
		t.Errorf("w.sessions() = %+v, want none", list)
	}
}

func TestAStatusThatIsNotFollowedIsNotShown(t *testing.T) {
	w := open(t)
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go"})
	w.statusIs("s1", "running")
	w.set("status.claude", "off")
	w.Eventually("nobody claims to know", func() bool { return w.session("s1").Status == "unknown" })
	w.Down()
	w.Up()
	w.statusIs("s1", "unknown")
}

func TestAnAnswerInTheWindowShowsBeforeTheCommandEnds(t *testing.T) {
	w := open(t)
	store := filepath.Join(w.Base, "claude")
	for _, d := range []string{"projects/p", "sessions"} {
		if err := os.MkdirAll(filepath.Join(store, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	is := func(status string) {
		file := filepath.Join(store, "sessions", "9001.json")
		if err := os.WriteFile(file+".tmp", []byte(`{"sessionId":"s1","status":"`+status+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".tmp", file); err != nil {
			t.Fatal(err)
		}
	}
	w.SetProcesses(agentAt(9001, []string{"claude"}, nil))
	call := map[string]any{"transcript_path": filepath.Join(store, "projects/p/s1.jsonl"), "tool_name": "Bash",
		"tool_use_id": "c1", "tool_input": map[string]any{"command": "sleep 99"}}
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go",
		"transcript_path": call["transcript_path"]})
	is("waiting")
	w.tell("claude", "PreToolUse", "s1", call)
	w.tell("claude", "PermissionRequest", "s1", call)
	w.statusIs("s1", "waiting")
	// Once more where the daemon was too slow to see that it waited.
	w.Eventually("it runs", func() bool {
		is("waiting")
		time.Sleep(3 * window.PollInterval)
		is("busy")
		time.Sleep(window.SettleTime + 3*window.PollInterval)
		got := w.session("s1")
		return got.Status == "running" && got.Tool == "Bash: sleep 99"
	})
}

func TestWhoeverTakesASessionUpIsIt(t *testing.T) {
	w := open(t)
	w.set("resume.claude", "on")
	w.SetProcesses(agentAt(daemontest.AgentPID, []string{"claude"}, nil))
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go"})
	w.mustRecord("s1")
	w.SetProcesses(daemontest.AtTerminal())
	w.Eventually("it is over", func() bool { return w.session("s1").Ended != nil })
	if list, err := w.records("s1", true); err != nil || list[0].Live != "" {
		t.Fatalf(`list = %+v, error %v; want no error and list[0].Live = ""`, list, err)
	}
	// The caller becomes the agent, which may say nothing for long.
	if s := w.session("s1"); s.Ended != nil || s.Status != "idle" || s.PID != os.Getpid() {
		t.Errorf(`s.Session = %+v, want s.Ended = nil, s.Status = "idle" and s.PID = os.Getpid()`, s.Session)
	}
	if r := w.mustRecord("s1"); r.Live == "" {
		t.Error("it could be taken up twice")
	}
	// It could not start the agent: the next may try at once.
	w.SetProcesses(daemontest.AtTerminal(proctest.Node{PID: daemontest.ToolPID, Name: "sh"}))
	w.Eventually("it is free", func() bool { return w.mustRecord("s1").Live == "" })
}

func TestAPaneOfAnotherServerIsNotItsOwn(t *testing.T) {
	w := open(t)
	w.set("resume.claude", "on")
	server := proctest.Node{PID: 4000, Name: "tmux: server"}
	agent := proctest.Node{PID: daemontest.AgentPID, Name: "claude", Program: "/opt/claude/bin/claude",
		Args: []string{"claude"}, Below: []proctest.Node{{PID: os.Getpid(), Name: "hookmux-hook"}}}
	w.SetProcesses(daemontest.AtTerminal(server, agent).Readable())
	r := daemontest.SessionEvent("claude", "UserPromptSubmit", map[string]any{"session_id": "s1", "prompt": "go"})
	r.Env = []byte("TMUX=" + filepath.Join(w.Base, "no-such-tmux") + ",4000,0\x00TMUX_PANE=%3\x00")
	w.Send(r)
	if got := w.mustRecord("s1"); got.Moved {
		t.Errorf("got %+v, want not got.Moved", got)
	}
	w.SetProcesses(daemontest.AtTerminal())
	w.Eventually("its pane is gone with the server",
		func() bool { got := w.mustRecord("s1"); return got.Pane == "" && got.Moved })
}
