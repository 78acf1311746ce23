package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/wire"
)

func (w *daemonFixture) set(key, value string) {
	w.T.Helper()
	b, _ := json.Marshal(value)
	w.MustCall(wire.MethodConfigSet, wire.ConfigSetParams{Key: key, Value: b}, nil)
}

func (w *daemonFixture) records(name string, claim bool) ([]wire.ResumeRecord, error) {
	var list []wire.ResumeRecord
	err := w.h.CallMethod(wire.MethodSessionResume, wire.SessionResumeParams{Session: name, Claim: claim}, &list)
	return list, err
}

func (w *daemonFixture) mustRecord(name string) wire.ResumeRecord {
	w.T.Helper()
	var list []wire.ResumeRecord
	w.Eventually("how "+name+" is taken up is known", func() bool {
		var err error
		list, err = w.records(name, false)
		return err == nil && len(list) == 1
	})
	return list[0]
}

func TestHowASessionIsTakenUpAgain(t *testing.T) {
	w := open(t)
	agent := agentAt(daemontest.AgentPID, []string{"claude", "--model", "opus", "--settings",
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/opt/hookmux-hook","args":["claude","Stop","600"],"timeout":600}]}]}}`, "old prompt"},
		[]string{"CLAUDE_CONFIG_DIR=/c", "ANTHROPIC_API_KEY=k", "PATH=/bin"})

	// Off by default.
	w.SetProcesses(agent)
	w.tell("claude", "UserPromptSubmit", "before", map[string]any{"prompt": "go"})
	if list, err := w.records("", false); err != nil || len(list) != 0 {
		t.Errorf("recorded without being asked: %+v %v", list, err)
	}
	w.SetProcesses(daemontest.AtTerminal())
	w.set("resume.claude", "on")
	w.SetProcesses(agent)
	w.tell("claude", "UserPromptSubmit", "s1", map[string]any{"prompt": "go", "permission_mode": "plan"})
	r := w.mustRecord("s1")
	if got := strings.Join(r.Argv, " "); got != "claude --resume s1 --permission-mode plan --model opus" || !r.Run ||
		r.Dir != w.Base || strings.Join(r.Env, " ") != "CLAUDE_CONFIG_DIR=/c" {
		t.Errorf(`r = %+v, want "claude --resume s1 --permission-mode plan --model opus", r.Run, r.Dir = w.Base and `+
			`strings.Join(r.Env, " ") = "CLAUDE_CONFIG_DIR=/c"`, r)
	}
	if r.Live == "" {
		t.Error("it runs and could be taken up twice")
	}
	if info, err := os.Stat(filepath.Join(w.Dirs.State, "resume/claude.s1.json")); err != nil ||
		info.Mode().Perm() != 0o600 {
		t.Errorf("info = %v, error %v; want no error and info.Mode().Perm() = 0o600", info, err)
	}

	// After a restart, the process gone: free, claimed once.
	w.Down()
	w.Table.Set(daemontest.AtTerminal())
	w.Up()
	if r := w.mustRecord("s1"); r.Live != "" {
		t.Errorf("it is not free: %s", r.Live)
	}
	if list, err := w.records("s1", true); err != nil || list[0].Live != "" {
		t.Errorf(`list = %+v, error %v; want no error and list[0].Live = ""`, list, err)
	}
	if list, err := w.records("s1", true); err != nil || list[0].Live == "" {
		t.Errorf("taken up twice: %+v %v", list, err)
	}
	if len(w.mustRecord("s1").Argv) == 0 {
		t.Error("taking it up used it up")
	}

	// A newer session in the same place replaces it.
	w.SetProcesses(agent)
	w.tell("claude", "UserPromptSubmit", "s2", map[string]any{"prompt": "go"})
	w.mustRecord("s2")
	if list, _ := w.records("", false); len(list) != 1 || list[0].Session != "s2" {
		t.Errorf(`list = %+v, want 1 of them and list[0].Session = "s2"`, list)
	}

	// forget deletes it, switching off purges.
	w.tell("claude", "UserPromptSubmit", "s2", map[string]any{"prompt": "go"})
	w.SetProcesses(daemontest.AtTerminal())
	if _, err := w.Client.ForgetSession(context.Background(), "s2"); err != nil {
		t.Fatal(err)
	}
	if list, _ := w.records("", false); len(list) != 0 {
		t.Errorf("not forgotten: %+v; want len(list) == 0", list)
	}
	w.SetProcesses(agent)
	w.tell("claude", "UserPromptSubmit", "s3", map[string]any{"prompt": "go"})
	w.mustRecord("s3")
	w.SetProcesses(daemontest.AtTerminal())
	w.set("status.claude", "off")
	if files, _ := os.ReadDir(filepath.Join(w.Dirs.State, "resume")); len(files) != 0 {
		t.Errorf("switching off left %v", files)
	}
	_, err := w.records("s3", false)
	var answer *wire.Error
	if !errors.As(err, &answer) || !strings.Contains(answer.Message, "status.claude on") {
		t.Errorf(`error %v, want errors.As(err, &answer) and "status.claude on" in answer.Message`, err)
	}
}

func TestWhatIsNeverTakenUpAgain(t *testing.T) {
	w := open(t)
	w.set("resume", "on")
	w.SetProcesses(agentAt(daemontest.AgentPID, []string{"claude", "-p", "hi"}, nil))
	w.tell("claude", "UserPromptSubmit", "headless", map[string]any{"prompt": "go"})
	w.SetProcesses(agentAt(daemontest.AgentPID+10, []string{"claude"}, nil))
	w.tell("claude", "UserPromptSubmit", "a;b", map[string]any{"prompt": "go"})
	w.tell("claude", "UserPromptSubmit", "good", map[string]any{"prompt": "go"})
	w.mustRecord("good")
	if list, _ := w.records("", false); len(list) != 1 {
		t.Errorf(`w.records("", false) = %+v, want 1 of them`, list)
	}
}
