package daemon

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/platform/proc/proctest"
	"github.com/hookmux/hookmux/internal/wire"
)

const mux0Terminal = "5B9C1C2E-0000-4000-8000-00000000000A"

// mux0 sends a line about Claude Code as mux0's clients do: one connection, no answer.
func (w *daemonFixture) mux0(event string, more map[string]any) {
	w.T.Helper()
	line := map[string]any{"terminalId": mux0Terminal, "agent": "claude", "event": event,
		"at": float64(time.Now().UnixMicro()) / 1e6}
	for k, v := range more {
		line[k] = v
	}
	b, _ := json.Marshal(line)
	conn := w.Dial()
	defer conn.Close()
	if _, err := conn.Write(append(b, '\n')); err != nil {
		w.T.Fatal(err)
	}
}

// What a line names as the way to take the session up again is kept as a command of
// the agent, in the folder of its process; a line for a shell is never kept.
func TestMux0ResumeCommand(t *testing.T) {
	w := open(t)
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: "resume.claude", Value: json.RawMessage(`"on"`)}, nil)
	w.SetProcesses(agentAt(daemontest.AgentPID, []string{"claude", "--model", "opus"}, []string{"PWD=" + w.Base}))
	w.mux0("running", map[string]any{"resumeCommand": "claude --resume abc-1; touch x"})
	w.Eventually("it runs", func() bool { l := w.sessions(); return len(l) == 1 && l[0].Status == "running" })
	detail := w.session(mux0Terminal)
	if want := "none named a command that resumes it"; detail.Resume != nil ||
		!strings.Contains(detail.NoResume, want) {
		t.Errorf("after a line with a strange command: resume %+v, reason %q; want the reason %q", detail.Resume,
			detail.NoResume, want)
	}
	w.mux0("finished", map[string]any{"exitCode": 0})
	w.Eventually("it is done", func() bool { return w.sessions()[0].Status == "done" })
	w.mux0("running", map[string]any{"resumeCommand": "claude --resume abc-1"})
	w.Eventually("how it is resumed is kept", func() bool { return w.session(mux0Terminal).Resume != nil })
	got := w.session(mux0Terminal).Resume
	if want := []string{"/opt/claude/bin/claude", "--resume", "abc-1", "--model", "opus"}; !slices.Equal(got.Argv, want) &&
		!slices.Equal(got.Argv, append([]string{"claude"}, want[1:]...)) || got.Dir != w.Base {
		t.Errorf("it is resumed with %q in %q, want %q in %q", got.Argv, got.Dir, want, w.Base)
	}
	if list := w.sessions(); len(list) != 1 {
		t.Errorf("%d rows for one session: %+v", len(list), list)
	}
	w.Down()
	w.SetProcesses(daemontest.AtTerminal())
	w.Up()
	var records []wire.ResumeRecord
	w.MustCall(wire.MethodSessionResume, wire.SessionResumeParams{}, &records)
	if len(records) != 1 || records[0].Session != "abc-1" || records[0].Live != "" {
		t.Errorf("after a restart these can be resumed: %+v, want abc-1", records)
	}
}

// An agent that has hookmux's own hooks and mux0's clients is one row.
func TestHooksAndMux0AreOneRow(t *testing.T) {
	for name, more := range map[string]map[string]any{
		"by the process": nil,
		"by the id":      {"resumeCommand": "claude --resume s1"},
	} {
		t.Run(name, func(t *testing.T) {
			w := open(t)
			if more == nil {
				w.SetProcesses(daemontest.BelowAgent("claude"))
			}
			w.mux0("running", more)
			w.Eventually("the terminal's row is there", func() bool { return len(w.sessions()) == 1 })
			w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go"})
			w.mux0("needsInput", more)
			w.Eventually("one row is left", func() bool {
				l := w.sessions()
				return len(l) == 1 && l[0].ID == "s1" && l[0].Status == "running"
			})
			w.tell("claude", "SessionEnd", "s1", nil)
			w.mux0("running", more)
			w.Eventually("without its own events the terminal's row is back", func() bool {
				return slices.ContainsFunc(w.sessions(), func(s wire.Session) bool { return s.ID == mux0Terminal })
			})
		})
	}
}

// A session whose agent's process nobody knows ends with its terminal.
func TestSessionEndsWithItsTerminal(t *testing.T) {
	w := open(t)
	w.SetProcesses(daemontest.AtTerminal())
	w.mux0("running", nil)
	w.Eventually("it runs", func() bool { l := w.sessions(); return len(l) == 1 && l[0].Status == "running" })
	w.SetProcesses(proctest.New(proctest.Node{PID: os.Getpid(), Name: "hookmux", Session: true, TTY: "/dev/pts/78"}))
	w.Eventually("it is over with the terminal's first process", func() bool {
		l := w.sessions()
		return len(l) == 1 && l[0].Ended != nil
	})
}
