package realagents_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hookmux/hookmux/internal/realagents"
	"github.com/hookmux/hookmux/internal/realagents/agentstest"
	"github.com/hookmux/hookmux/internal/realagents/model"
)

// TestRealNames catches a misspelt name, which would otherwise just run nothing.
func TestRealNames(t *testing.T) {
	for _, name := range strings.Fields(os.Getenv("HOOKMUX_VERIFY")) {
		if _, ok := realagents.Find(name); !ok && name != "all" {
			t.Errorf("HOOKMUX_VERIFY names %q; known are %s", name, strings.Join(realagents.Names(), " "))
		}
	}
}

// TestRealVersion asks each installed agent who it is.
func TestRealVersion(t *testing.T) {
	for _, name := range realagents.Names() {
		t.Run(name, func(t *testing.T) {
			in := agentstest.Require(t, name)
			a, _ := realagents.Find(name)
			want := a.Version
			if a.Prints != "" {
				want = a.Prints
			}
			home := filepath.Join(t.TempDir(), "home")
			env, err := realagents.WriteHome(name, home, "http://127.0.0.1:9", agentstest.Project(t))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			defer realagents.EndLeftovers(in, home)
			r, err := realagents.Run(ctx, in, env, home, "--version")
			if err != nil || !strings.Contains(r.Stdout+r.Stderr, want) {
				t.Fatalf("exit %d, %v, want %s in %q %q", r.Exit, err, want, r.Stdout, r.Stderr)
			}
			t.Logf("%s in %s", strings.TrimSpace(r.Stdout), r.Took.Round(time.Millisecond))
			if size := folderSize(t, in.Dir); (size >= realagents.LargeFrom) != a.Large {
				t.Errorf("installed it takes %d MB, want Large = %v in its entry", size>>20, !a.Large)
			}
		})
	}
}

// folderSize returns how many bytes the files of a folder take.
func folderSize(t *testing.T, dir string) (bytes int64) {
	t.Helper()
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			bytes += info.Size()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}

// TestRealHeadlessTurn runs one scripted command through each agent: the
// command really ran, and the model was told its result.
func TestRealHeadlessTurn(t *testing.T) {
	agentstest.Repeats(t, "the acts of TestRealChecks")
	for _, name := range realagents.Names() {
		t.Run(name, func(t *testing.T) {
			a, _ := realagents.Find(name)
			s := agentstest.NewTestBed(t, name, model.Scenario{Steps: []model.Step{
				{Calls: []model.ToolCall{a.Shell.Call("echo hi > proof.txt; printf 'told-%s' 42")}},
				{Say: "The scripted turn is over."},
			}})
			before := strays(t)
			r := s.Headless(t, "Run it "+model.Mark(""))
			if r.Exit != 0 {
				t.Errorf("exit code %d, want 0", r.Exit)
			}
			if b, err := os.ReadFile(filepath.Join(s.Project, "proof.txt")); err != nil ||
				strings.TrimSpace(string(b)) != "hi" {
				t.Errorf("the command did not run: %q %v", b, err)
			}
			told := false
			for _, m := range s.Model.Results(s.Run) {
				told = told || strings.Contains(m.Text, "told-42")
			}
			if !told {
				t.Error("the model was not told the result")
			}
			if !s.Model.Reached(s.Run, "", 1) {
				t.Error("the turn did not go on after the tool")
			}
			for _, q := range s.Model.Requests(s.Run) {
				if q.Kind == model.ReqScripted && q.API != a.API {
					t.Errorf("speaks %s, the table says %s", q.API, a.API)
				}
				if q.Kind == model.ReqUnknown {
					t.Logf("asked for something the model does not serve: %s %s", q.Method, q.Path)
				}
			}
			if after := strays(t); after != before {
				t.Errorf("left behind in the temp folder: %s", after)
			}
			if left := realagents.EndLeftovers(s.In, s.Home); len(left) > 0 {
				t.Logf("left %d processes behind, ended now", len(left))
			}
			t.Logf("one turn in %s", r.Took.Round(10*time.Millisecond))
		})
	}
}

// strays lists what sandboxes are known to leave beside a project in /tmp.
func strays(t *testing.T) string {
	t.Helper()
	var found []string
	for _, dir := range []string{"/tmp", os.TempDir()} {
		for _, n := range []string{".git", ".agents", ".aws", ".codex"} {
			if _, err := os.Lstat(filepath.Join(dir, n)); err == nil {
				found = append(found, filepath.Join(dir, n))
			}
		}
	}
	return strings.Join(found, " ")
}
