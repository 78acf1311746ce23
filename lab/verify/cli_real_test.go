package verify

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/lab/verify/checks"
	"github.com/hookmux/hookmux/lab/verify/ownconfig/ownconfigtest"
	"github.com/hookmux/hookmux/lab/verify/testbed"
)

// onPath returns a folder with the agent under the name people call it by.
func onPath(t *testing.T, name string) string {
	t.Helper()
	in := agentstest.Require(t, name)
	if len(in.Argv) != 1 {
		t.Skipf("%s is no program of its own here", name)
	}
	dir := t.TempDir()
	if err := os.Symlink(in.Argv[0], filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

type ranCLI struct {
	report struct {
		Isolation string
		Kept      string
		Agents    []struct {
			Agent, Version string
			Notes          []string
			Checks         []Row
		}
	}
	code           int
	stdout, stderr string
}

// runCLI runs the real program as a person would.
func runCLI(t *testing.T, home, cwd, path string, args ...string) ranCLI {
	t.Helper()
	cmd := exec.Command(filepath.Join(builtBin(t), "hookmux"), append([]string{"verify", "--json"}, args...)...)
	cmd.Dir = cwd
	cmd.Env = []string{"HOME=" + home, "PATH=" + path + string(os.PathListSeparator) + "/usr/bin:/bin"}
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	_ = cmd.Run() // the code is looked at
	r := ranCLI{code: cmd.ProcessState.ExitCode(), stdout: out.String(), stderr: errs.String()}
	if err := json.Unmarshal(out.Bytes(), &r.report); err != nil {
		t.Fatalf("code %d, no report: %v\n%s\n%s", r.code, err, testbed.ClipText(r.stdout), testbed.ClipText(r.stderr))
	}
	if r.report.Kept != "" {
		t.Cleanup(func() { testbed.RemoveAll(r.report.Kept) })
	}
	return r
}

// The program itself, on an agent from PATH, touches nothing
// of the user's.
func TestRealCommand(t *testing.T) {
	path := onPath(t, "codex")
	home, cwd := t.TempDir(), t.TempDir()
	was, wasCwd := ownconfigtest.ReadTree(t, home), ownconfigtest.ReadTree(t, cwd)
	r := runCLI(t, home, cwd, path, "codex", "--check", "PreToolUse.deny", "--check", "neutral")
	if r.code != 0 || len(r.report.Agents) != 1 || r.report.Agents[0].Version == "" {
		t.Fatalf("code %d: %s\n%s; want r.code == 0, len(r.report.Agents) == 1 and "+
			"r.report.Agents[0].Version != \"\"", r.code, testbed.ClipText(r.stdout), testbed.ClipText(r.stderr))
	}
	for _, row := range r.report.Agents[0].Checks {
		if row.Mark != checks.Holds {
			t.Errorf("row.Mark = %s, row.ID() = %s, row.Why = %s; want row.Mark = checks.Holds",
				row.Mark, row.ID(), row.Why)
		}
	}
	t.Log(r.report.Isolation)
	if !strings.Contains(r.stderr, "codex: ") {
		t.Errorf(`no progress: %q; want "codex: " in r.stderr`, r.stderr)
	}
	ownconfigtest.CheckTree(t, home, was)
	ownconfigtest.CheckTree(t, cwd, wasCwd)
}

// A person's own config becomes part of the proof, is not
// touched, and no secret of it gets into what is kept.
func TestRealMine(t *testing.T) {
	path := onPath(t, "codex")
	home, cwd := t.TempDir(), t.TempDir()
	secret := "sk-" + "proj-" + strings.Repeat("Zq7", 12)
	put := func(rel, text string) {
		file := filepath.Join(home, rel)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put(".codex/config.toml", "model = \"mine\"\napi_key = \""+secret+"\"\n\n[tui]\nnotifications = "+
		"true\n\n[features]\nhooks = true\n")
	put(".codex/hooks.json", "{\"hooks\": {\"PreToolUse\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"touch "+
		home+"/ran; echo "+secret+"\"}]}]}}\n")
	put(".codex/auth.json", "{\"OPENAI_API_KEY\": \""+secret+"\"}\n")
	was := ownconfigtest.ReadTree(t, home)
	r := runCLI(t, home, cwd, path, "codex", "--mine", "--keep", "--check", "PreToolUse.deny")
	if r.code != 0 {
		t.Fatalf("code %d: %s\n%s, want 0", r.code, testbed.ClipText(r.stdout), testbed.ClipText(r.stderr))
	}
	ownconfigtest.CheckTree(t, home, was) // the hook is not trusted, so Codex does not run it
	if notes := strings.Join(r.report.Agents[0].Notes, "\n"); !strings.Contains(notes, "hooks.json") ||
		strings.Contains(notes, "auth.json") && !strings.Contains(notes, "without") {
		t.Errorf(`notes: %s; want "hooks.json" in notes and no "auth.json" in notes or "without" in notes`, notes)
	}
	found := false
	for file, text := range ownconfigtest.ReadTree(t, r.report.Kept) {
		if strings.Contains(text, secret) {
			t.Errorf("%s holds the secret", file)
		}
		if strings.HasSuffix(file, "auth.json") {
			t.Errorf(`%s was copied; want !strings.HasSuffix(file, "auth.json")`, file)
		}
		found = found || strings.HasSuffix(file, ".codex/hooks.json")
	}
	if !found {
		t.Error("the user's hooks were not part of it")
	}
}
