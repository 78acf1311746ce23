//go:build unix

package transcript

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// welcome are screens that stand before the prompt, and what to press.
var welcome = map[string][]string{"Use existing model": {"Down", "Enter"}}

// Real agents at a terminal: a person presses Esc while a tool runs, or at the
// agent's own question. No hook need tell; the record does.
func TestRealInterruptsAreWrittenDown(t *testing.T) {
	agentstest.Repeats(t, "the row status-esc")
	for _, c := range []struct {
		name, when string
		args       []string // without them it asks before it runs a command
		question   string   // on the screen, when it asks
		keys       []string
	}{
		{"claude", "tool", []string{"--permission-mode", "default", "--allowedTools", "Bash", "--", "{prompt}"}, "", []string{"Escape"}},
		{"claude", "question", []string{"--permission-mode", "default", "--", "{prompt}"}, "Do you want to", []string{"Escape"}},
		{"codex", "tool", []string{"--no-daemon", "-a", "never", "-s", "danger-full-access", "--", "{prompt}"}, "", []string{"Escape"}},
		{"gemini", "question", []string{"-i", "{prompt}"}, "Allow", []string{"Escape"}},
		{"qwen", "question", []string{"--approval-mode", "default", "-i", "{prompt}"}, "Allow execution", []string{"Escape"}},
		{"copilot", "question", []string{"-i", "{prompt}"}, "Do you want to", []string{"Escape", "Escape"}},
		{"pi", "tool", []string{"--provider", "scripted", "--model", "scripted", "{prompt}"}, "", []string{"Escape"}},
	} {
		t.Run(c.name+"/"+c.when, func(t *testing.T) {
			agentstest.Require(t, c.name)
			tmux, err := exec.LookPath("tmux")
			if err != nil {
				t.Skip("needs tmux")
			}
			entry, _ := realagents.Find(c.name)
			marker := filepath.Join(t.TempDir(), "began")
			testBed := agentstest.NewTestBed(t, c.name, model.Scenario{Steps: []model.Step{
				{Calls: []model.ToolCall{entry.Shell.Call("touch " + marker + "; sleep 60")}}, {Say: "done"},
			}})
			ctx, cancel := context.WithTimeout(context.Background(), agentstest.Timeout)
			defer cancel()
			socket := filepath.Join(t.TempDir(), "tmux")
			do := func(args ...string) string {
				cmd := exec.CommandContext(ctx, tmux, append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
				cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + testBed.Home, "TERM=xterm-256color",
					"LANG=C.UTF-8", "SHELL=/bin/sh"}
				out, err := cmd.CombinedOutput()
				if err != nil && ctx.Err() == nil {
					t.Logf("tmux %v: %v %s", args, err, out)
				}
				return string(out)
			}
			argv := append(append([]string{"env", "-i"}, append(testBed.Env, testBed.In.Env...)...), testBed.In.Argv...)
			for _, arg := range c.args {
				argv = append(argv, strings.ReplaceAll(arg, "{prompt}", "Run it "+model.Mark("")))
			}
			start := filepath.Join(t.TempDir(), "start.sh")
			if err := os.WriteFile(start, []byte("cd "+shellquote.Word(testBed.Project)+" && exec "+shellquote.Line(argv)+"\n"),
				0o600); err != nil {
				t.Fatal(err)
			}
			do("new-session", "-d", "-x", "160", "-y", "50", "/bin/sh "+shellquote.Word(start))
			defer func() {
				do("kill-server")
				realagents.EndLeftovers(testBed.In, testBed.Home)
			}()
			screen := func() string { return strings.Join(strings.Fields(do("capture-pane", "-p", "-J")), " ") }
			until := func(what string, f func() bool) bool {
				for range 300 {
					for text, keys := range welcome {
						if strings.Contains(screen(), text) {
							do(append([]string{"send-keys"}, keys...)...)
							time.Sleep(time.Second)
						}
					}
					if f() {
						return true
					}
					time.Sleep(100 * time.Millisecond)
				}
				t.Errorf("%s did not come; the screen shows:\n%s", what, do("capture-pane", "-p"))
				return false
			}
			if c.question != "" {
				if !until("the question", func() bool { return strings.Contains(screen(), c.question) }) {
					return
				}
			} else if !until("the tool", func() bool { _, err := os.Stat(marker); return err == nil }) {
				return
			}
			time.Sleep(500 * time.Millisecond)
			a, _ := agent.Builtin().Agent(c.name)
			root := filepath.Join(testBed.Home, strings.TrimPrefix(a.Status.Transcript.Root, "~/"))
			path := newest(root, a.Status.Transcript.Find)
			if path == "" {
				t.Fatalf("no record below %s", root)
			}
			r, err := Open(&a.Status.Transcript, "x", path, Env{Home: testBed.Home})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Read(); err != nil {
				t.Fatal(err)
			}
			pressed := time.Now()
			for _, key := range c.keys {
				do("send-keys", key)
				time.Sleep(300 * time.Millisecond)
			}
			if !until("the interrupt", func() bool {
				facts, _ := r.Read()
				for _, f := range facts {
					if f.Kind == Interrupted {
						return true
					}
				}
				return false
			}) {
				text, _ := os.ReadFile(path)
				t.Logf("%s ends with:\n%s", path, text[max(0, len(text)-3000):])
				return
			}
			t.Logf("%s %s: written down after %s", entry.Title, entry.Version,
				time.Since(pressed).Round(10*time.Millisecond))
		})
	}
}

// newest returns the record that was written last below root.
func newest(root, find string) string {
	base := filepath.Base(find)
	var path string
	var at time.Time
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(p) != ".jsonl" ||
			find != "" && !strings.HasPrefix(filepath.Base(p), strings.SplitN(base, "-", 2)[0]) {
			return nil
		}
		if info, err := d.Info(); err == nil && info.ModTime().After(at) {
			path, at = p, info.ModTime()
		}
		return nil
	})
	return path
}
