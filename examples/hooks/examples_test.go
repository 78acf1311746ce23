// Package hooks holds example hooks. This test runs each on events that real
// agents sent.
package hooks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/agent/recordings"
	"github.com/hookmux/hookmux/event"
)

// Where the agents tell of the same thing.
var (
	shell = map[string]string{"claude": "PreToolUse.Bash", "codex": "PreToolUse.Bash",
		"gemini": "BeforeTool.run_shell_command", "opencode": "hook.tool.execute.before.bash", "pi": "tool_call.bash"}
	write = map[string]string{"claude": "PreToolUse.Write", "gemini": "BeforeTool.write_file",
		"opencode": "hook.tool.execute.before.write", "pi": "tool_call.write"}
	written = map[string]string{"codex": "PostToolUse.apply_patch", "gemini": "AfterTool.write_file",
		"opencode": "hook.tool.execute.after.write", "pi": "tool_result.write"}
	printed = map[string]string{"claude": "PostToolUse.Bash", "codex": "PostToolUse.Bash",
		"gemini": "AfterTool.run_shell_command", "opencode": "hook.tool.execute.after.bash", "pi": "tool_result.bash"}
	prompts = map[string]string{"claude": "UserPromptSubmit", "codex": "UserPromptSubmit", "gemini": "BeforeAgent",
		"opencode": "hook.chat.message", "pi": "input.interactive"}
	starts = map[string]string{"claude": "SessionStart.startup", "codex": "SessionStart.startup",
		"gemini": "SessionStart.startup", "pi": "session_start.startup"}
	stops = map[string]string{"claude": "Stop", "codex": "Stop", "gemini": "AfterAgent", "pi": "agent_settled"}
)

func TestPermissionGate(t *testing.T) {
	for name, file := range shell {
		s := play(t, "permission-gate.ts")
		want(t, name, s.put(s.recorded(name, file)), event.None, "")
		want(t, name, s.put(s.about(name, file, "sudo true")), event.Deny, "no one is available to approve this")
		s.answers = []string{"No", "Run it"}
		want(t, name, s.put(s.about(name, file, "git push --force")), event.Deny, "the user said no")
		want(t, name, s.put(s.about(name, file, "git push --force")), event.None, "")
		if len(s.asked) != 2 || !strings.Contains(s.asked[0].Title, name+" wants to run") ||
			!strings.Contains(s.asked[0].Title, "git push --force") {
			t.Errorf(`%s: asked %+v; want len(s.asked) == 2, name+" wants to run" in s.asked[0].Title and `+
				`"git push --force" in s.asked[0].Title`, name, s.asked)
		}
	}
}

func TestProtectedPaths(t *testing.T) {
	for name, file := range write {
		s := play(t, "protected-paths.ts")
		want(t, name, s.put(s.recorded(name, file)), event.None, "")
		for _, path := range []string{"sub/../.env", "/somewhere/.git/config", "node_modules/x/y.js"} {
			want(t, name, s.put(s.about(name, file, path)), event.Deny, "is protected")
		}
		want(t, name, s.put(s.about(name, file, "src/environment.ts")), event.None, "")
	}
	s := play(t, "protected-paths.ts")
	want(t, "codex", s.put(s.about("codex", "PreToolUse.apply_patch", ".env")), event.Deny, "environment file")
}

func TestGitCheckpoint(t *testing.T) {
	for name := range prompts {
		s := play(t, "git-checkpoint.ts")
		s.repository()
		s.file("kept.txt", "two\n")
		s.file("untracked.txt", "mine\n")
		status := s.git("status", "--porcelain")
		want(t, name, s.put(s.prompt(name, "change it")), event.None, "")
		if now := s.git("status", "--porcelain"); now != status {
			t.Errorf("%s: the user's index changed: %q, was %q", name, now, status)
		}
		s.file("kept.txt", "spoilt\n")
		s.file("new.txt", "unwanted\n")
		s.file("untracked.txt", "spoilt\n")
		want(t, name, s.put(s.prompt(name, "go on")), event.None, "")
		if d := s.put(s.prompt(name, "/restore 1")); d.Verdict != event.Deny {
			t.Errorf("%s: the agent hears of the restore: %+v", name, d)
		}
		if s.content("kept.txt") != "two\n" || s.content("untracked.txt") != "mine\n" ||
			s.content("new.txt") != "(none)" {
			t.Errorf("%s: kept %q, untracked %q, new %q", name, s.content("kept.txt"), s.content("untracked.txt"),
				s.content("new.txt"))
		}
		if refs := s.git("for-each-ref", "refs/hookmux"); strings.Count(refs, "\n") != 3 {
			t.Errorf("%s: refs %q; want strings.Count(refs, \"\\n\") == 3", name, refs)
		}
		s.put(s.prompt(name, "/restore 9"))
		if !strings.Contains(strings.Join(s.notices, "\n"), "there is no checkpoint 9; 2 are kept") {
			t.Errorf("%s: notices %q; want \"there is no checkpoint 9; 2 are kept\" in "+
				"strings.Join(s.notices, \"\\n\")", name, s.notices)
		}
	}
}

func TestDirtyRepoGuard(t *testing.T) {
	for name := range prompts {
		s := play(t, "dirty-repo-guard.ts")
		s.repository()
		s.file("kept.txt", "two\n")
		want(t, name, s.put(s.prompt(name, "begin")), event.Deny, "")
		s.answers = []string{"no", "yes"}
		want(t, name, s.put(s.prompt(name, "begin")), event.Deny, "")
		want(t, name, s.put(s.prompt(name, "begin")), event.None, "")
		want(t, name, s.put(s.prompt(name, "and on")), event.None, "") // not asked again
		if len(s.asked) != 2 || !strings.Contains(s.asked[0].Text, "kept.txt") {
			t.Errorf(`%s: asked %+v; want len(s.asked) == 2 and "kept.txt" in s.asked[0].Text`, name, s.asked)
		}
		clean := play(t, "dirty-repo-guard.ts")
		clean.repository()
		want(t, name, clean.put(clean.prompt(name, "begin")), event.None, "")
		anyway := play(t, "dirty-repo-guard.ts")
		anyway.repository()
		anyway.file("kept.txt", "two\n")
		want(t, name, anyway.put(anyway.prompt(name, "begin anyway")), event.None, "")
	}
	s := play(t, "dirty-repo-guard.ts")
	s.repository()
	s.file("kept.txt", "two\n")
	want(t, "pi", s.put(s.recorded("pi", "session_before_fork")), event.Deny, "")
	want(t, "pi", s.put(s.recorded("pi", "session_before_switch.new")), event.Deny, "")
}

func TestAutoFormat(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "gofmt"), []byte("#!/bin/sh\necho formatted >>\"$2\"\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	for name, file := range written {
		s := play(t, "auto-format.ts")
		s.file("x.go", "package x\n")
		d := s.put(s.about(name, file, filepath.Join(s.cwd, "x.go")))
		if s.content("x.go") != "package x\nformatted\n" {
			t.Errorf("%s: the file is %q", name, s.content("x.go"))
		}
		if !strings.Contains(string(d.Output), "x.go was formatted with gofmt") {
			t.Errorf("%s: the result is %s", name, d.Output)
		}
		s.file("x.rs", "fn x() {}\n")
		if d := s.put(s.about(name, file, filepath.Join(s.cwd, "x.rs"))); d.Output != nil &&
			exec.Command("rustfmt", "--version").Run() != nil {
			t.Errorf("%s: a program that is not there changed the result: %s", name, d.Output)
		}
	}
}

func TestFileTrigger(t *testing.T) {
	for name, file := range starts {
		s := play(t, "file-trigger.ts")
		s.put(s.recorded(name, file))
		s.file(".agent-trigger", "look at the build\n")
		s.eventually("the text is sent to "+name, func() bool {
			return strings.Contains(s.words(),
				"look at the build")
		})
		s.eventually("the file is emptied", func() bool { return s.content(".agent-trigger") == "" })
		s.mu.Lock()
		if m := s.sent[0]; m.Agent != name || m.Session != "session-1" || !m.Turn {
			t.Errorf(`%s: sent %+v; want m.Agent == name, m.Session == "session-1" and m.Turn`, name, m)
		}
		s.mu.Unlock()
	}
}

func TestCIWebhook(t *testing.T) {
	source, err := os.ReadFile("ci-webhook.ts")
	if err != nil {
		t.Fatal(err)
	}
	for name, file := range starts {
		port := freePort(t)
		path := filepath.Join(t.TempDir(), "ci-webhook.ts")
		if err := os.WriteFile(path, bytes.Replace(source, []byte("PORT = 8787"), fmt.Appendf(nil, "PORT = %d", port),
			1), 0o600); err != nil {
			t.Fatal(err)
		}
		s := playFile(t, path)
		s.put(s.recorded(name, file))
		post := func(body string) (code int, said string) {
			response, err := http.Post(fmt.Sprintf("http://127.0.0.1:%d/ci", port), "application/json",
				strings.NewReader(body))
			if err != nil {
				return 0, err.Error()
			}
			defer response.Body.Close()
			b, _ := io.ReadAll(response.Body)
			return response.StatusCode, string(b)
		}
		s.eventually("the server answers", func() bool { code, _ := post("no json"); return code == 400 })
		if _, said := post(`{"status":"failed","text":"TestLogin broke"}`); said != "told 1 sessions\n" {
			t.Errorf(`%s: said = %q, want "told 1 sessions\n"`, name, said)
		}
		if _, said := post(`{"status":"failed","cwd":"/elsewhere"}`); said != "told 0 sessions\n" {
			t.Errorf(`%s: said = %q, want "told 0 sessions\n"`, name, said)
		}
		s.eventually("the session hears of it", func() bool {
			return strings.Contains(s.words(),
				"CI says: failed\nTestLogin broke")
		})
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("no loopback: %v", err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestCustomCompaction(t *testing.T) {
	compacted := map[string]string{"claude": "PostCompact.manual", "codex": "PostCompact.manual",
		"opencode": "event.session.compacted"}
	for name, after := range compacted {
		s := play(t, "custom-compaction.ts")
		s.put(s.prompt(name, "make it blue"))
		s.put(s.about(name, map[string]string{"claude": "PreToolUse.Write", "codex": "PreToolUse.apply_patch",
			"opencode": "hook.tool.execute.before.write"}[name], "blue.css"))
		s.put(s.recorded(name, after))
		s.eventually("the words are kept", func() bool {
			return strings.Contains(s.words(), "- make it blue") && strings.Contains(s.words(), "blue.css")
		})
	}
	s := play(t, "custom-compaction.ts")
	s.put(s.prompt("pi", "make it blue"))
	ev := s.recorded("pi", "session_before_compact")
	var raw map[string]any
	if err := json.Unmarshal(ev.Raw, &raw); err != nil {
		t.Fatal(err)
	}
	raw["event"].(map[string]any)["preparation"] = map[string]any{"firstKeptEntryId": "abc", "tokensBefore": 1234}
	ev.Raw, _ = json.Marshal(raw)
	d := s.put(ev)
	var extra struct {
		Compaction struct {
			Summary          string
			FirstKeptEntryID string `json:"firstKeptEntryId"`
			TokensBefore     int
		}
	}
	if err := json.Unmarshal(d.Extra, &extra); err != nil ||
		!strings.Contains(extra.Compaction.Summary, "- make it blue") || extra.Compaction.FirstKeptEntryID != "abc" ||
		extra.Compaction.TokensBefore != 1234 {
		t.Errorf(`pi: %s %v; want no error, "- make it blue" in extra.Compaction.Summary, `+
			`extra.Compaction.FirstKeptEntryID == "abc" and extra.Compaction.TokensBefore == 1234`, d.Extra, err)
	}
}

func TestRedactSecrets(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2", 10)
	for name, file := range printed {
		s := play(t, "redact-secrets.ts")
		plain := s.recorded(name, file)
		if d := s.put(plain); d.Output != nil {
			t.Errorf("%s: a harmless result was changed: %s", name, d.Output)
		}
		ev := s.recorded(name, file)
		ev.Tool.Output, _ = json.Marshal("token: " + secret + "\nAll done.")
		if pi, _ := s.catalogue.Agent(name); pi.Dialect == "pi" {
			ev.Tool.Output = json.RawMessage(`[{"type":"text","text":"token: ` + secret + `\nAll done."}]`)
		}
		d := s.put(ev)
		if out := string(d.Output); strings.Contains(out, secret) || !strings.Contains(out, "taken out]") ||
			!strings.Contains(out, "All done.") {
			t.Errorf("%s: the result is %s", name, out)
		}
	}
}

func TestDesktopNotice(t *testing.T) {
	bin := t.TempDir()
	log := filepath.Join(bin, "log")
	program := "notify-send"
	if _, err := os.Stat("/usr/bin/osascript"); err == nil {
		program = "osascript"
	}
	if err := os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\nprintf '%s\\n' \"$@\" >>'"+log+"'\n"),
		0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	for name, file := range stops {
		_ = os.Remove(log)
		s := play(t, "desktop-notice.ts")
		ev := s.recorded(name, file)
		ev.Message = "Done\x1b[31m; $(touch x)"
		s.put(ev)
		got, _ := os.ReadFile(log)
		if text := string(got); !strings.Contains(text, name+" in ") || !strings.Contains(text, " is done\n") ||
			strings.Contains(text, "\x1b") {
			t.Errorf("%s: shown %q; want name+\" in \" in text, \" is done\\n\" in text and no \"\\x1b\" in "+
				"text", name, text)
		}
		if _, err := os.Stat(filepath.Join(s.cwd, "x")); err == nil {
			t.Errorf("%s: what the agent said was run", name)
		}
	}
}

// Every example takes every recorded event of every agent without a mistake.
func TestEveryExampleOnEveryRecording(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // nothing is to be started
	files, err := filepath.Glob("*.ts")
	if err != nil || len(files) != 10 {
		t.Fatalf("%d examples: %v; want no error and len(files) == 10", len(files), err)
	}
	for _, file := range files {
		if file == "ci-webhook.ts" {
			continue // has a port of its own
		}
		s := play(t, file)
		for _, name := range recordings.Agents() {
			if _, known := s.catalogue.Agent(name); !known {
				continue
			}
			lines, err := recordings.Events(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				ev := s.catalogue.Decode(agent.Input{ID: "x", Time: time.Now(), Agent: name, Event: line.Event,
					Payload: line.Payload, Env: func(string) string { return "" }})
				ev.Cwd = s.cwd
				s.put(&ev)
				if t.Failed() {
					t.Fatalf("%s on %s %s; want !t.Failed()", file, name, line.Event)
				}
			}
		}
	}
}
