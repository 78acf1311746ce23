package launch

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newRepository returns a repository, with a commit unless it's to be empty.
func newRepository(t *testing.T, empty bool) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "shop")
	if dir, _ = filepath.Abs(dir); os.MkdirAll(dir, 0o755) != nil {
		t.Fatal("no folder")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	t.Setenv("GIT_CONFIG_SYSTEM", "/dev/null")
	runGit(t, dir, "init", "-q", "-b", "main")
	if !empty {
		runGit(t, dir, "-c", "user.name=me", "-c", "user.email=me@example.com", "commit", "-q", "--allow-empty", "-m", "first")
	}
	return dir
}

func runGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestCreate(t *testing.T) {
	dir := newRepository(t, false)
	if err := os.WriteFile(filepath.Join(dir, "new.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := CreateWorktree(t.Context(), dir, "fix/login")
	if err != nil {
		t.Fatal(err)
	}
	if want := dir + ".worktrees/fix-login"; w.Path != want || w.Branch != "fix/login" {
		t.Errorf("the worktree is %+v, want it in %s", w, want)
	}
	if !strings.HasPrefix(w.Note, "1 uncommitted change in ") {
		t.Errorf("the note is %q, want it to say what stays behind", w.Note)
	}
	if got := runGit(t, w.Path, "branch", "--show-current"); got != "fix/login" {
		t.Errorf("the branch there is %q, want fix/login", got)
	}
	// Inside of a worktree the next one is beside the repository, too.
	if next, err := CreateWorktree(t.Context(), w.Path, "second"); err != nil || next.Path != dir+".worktrees/second" {
		t.Errorf("from a worktree: %+v, %v", next, err)
	}
	// A branch that exists is taken.
	runGit(t, dir, "branch", "old")
	if w, err := CreateWorktree(t.Context(), dir, "old"); err != nil || runGit(t, w.Path, "branch", "--show-current") != "old" {
		t.Errorf("an existing branch: %+v, %v", w, err)
	}
}

func TestCreateFails(t *testing.T) {
	dir := newRepository(t, false)
	if _, err := CreateWorktree(t.Context(), dir, "taken"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, folder, worktree, want string }{
		{"exists", dir, "taken", "already exists in " + dir + ".worktrees/taken; choose another name"},
		{"no repository", t.TempDir(), "x", "isn't in a git repository"},
		{"no folder", dir + "/none", "x", "there's no folder"},
		{"no commit", newRepository(t, true), "x", "has no commit yet"},
		{"bad name", dir, "a..b", "can't be the name of a worktree"},
		{"a flag", dir, "--force", "can't be the name of a worktree"},
		{"checked out", dir, "main", "no worktree was made: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			if w, err := CreateWorktree(t.Context(), c.folder, c.worktree); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the worktree is %+v, the error %v; want one that says %q", w, err, c.want)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := CreateWorktree(t.Context(), dir, "x"); err == nil || !strings.Contains(err.Error(), "git isn't installed") {
		t.Errorf("without git the error is %v", err)
	}
}
