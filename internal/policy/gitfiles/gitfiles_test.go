package gitfiles

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runGit runs the real git in dir.
func runGit(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// newRepository returns a repository with a commit, made by the real git.
func newRepository(t *testing.T, version string) string {
	dir := t.TempDir()
	runGit(t, dir, "init", "-q", "-b", "main")
	runGit(t, dir, "config", "index.version", version)
	writeFile(t, filepath.Join(dir, "a.txt"), "one")
	writeFile(t, filepath.Join(dir, "src/b.go"), "two")
	writeFile(t, filepath.Join(dir, "src/deep/c.go"), "three")
	runGit(t, dir, "add", ".")
	runGit(t, dir, "commit", "-qm", "x")
	return dir
}

func find(t *testing.T, dir string) *Repository {
	t.Helper()
	r := Find(dir)
	if r == nil {
		t.Fatalf("no repository found around %s", dir)
	}
	r.limit = time.Minute
	return r
}

func TestWhatGitSays(t *testing.T) {
	for _, version := range []string{"2", "3", "4"} {
		t.Run("index version "+version, func(t *testing.T) {
			dir := newRepository(t, version)
			r := find(t, filepath.Join(dir, "src"))
			if r.Root() != dir {
				t.Errorf("root %s, want %s", r.Root(), dir)
			}
			if name, ok := r.Branch(); name != "main" || !ok {
				t.Errorf("branch %q %v, want main", name, ok)
			}
			for path, want := range map[string]bool{"a.txt": true, "src": true, "src/b.go": true, "src/deep": true,
				"src/deep/c.go": true, "src/x.go": false, "sr": false, "..": false} {
				if got, ok := r.Tracked(filepath.Join(dir, path)); got != want || !ok {
					t.Errorf("%s tracked: %v %v, want %v", path, got, ok, want)
				}
			}
			if dirty, ok := r.Dirty(); dirty || !ok {
				t.Errorf("after a commit dirty is %v %v, want false", dirty, ok)
			}
			writeFile(t, filepath.Join(dir, "new.txt"), "not tracked")
			if dirty, ok := find(t, dir).Dirty(); dirty || !ok {
				t.Errorf("with a file that is not tracked dirty is %v %v, want false", dirty, ok)
			}
			writeFile(t, filepath.Join(dir, "src/b.go"), "changed")
			if dirty, ok := find(t, dir).Dirty(); !dirty || !ok {
				t.Errorf("with a changed file dirty is %v %v, want true", dirty, ok)
			}
			runGit(t, dir, "add", "src/b.go")
			if dirty, ok := find(t, dir).Dirty(); !dirty || !ok {
				t.Errorf("with an added file dirty is %v %v, want true", dirty, ok)
			}
		})
	}
}

func TestBranchesAndRemotes(t *testing.T) {
	dir := newRepository(t, "2")
	if address, ok := find(t, dir).Remote(); address != "" || !ok {
		t.Errorf("without a remote: %q %v, want none", address, ok)
	}
	runGit(t, dir, "remote", "add", "origin", "https://example.com/a.git")
	runGit(t, dir, "remote", "add", "fork", "git@example.org:b.git")
	if address, _ := find(t, dir).Remote(); address != "https://example.com/a.git" {
		t.Errorf("remote %q, want origin's", address)
	}
	runGit(t, dir, "config", "branch.main.remote", "fork")
	if address, _ := find(t, dir).Remote(); address != "git@example.org:b.git" {
		t.Errorf("remote %q, want the branch's own", address)
	}
	runGit(t, dir, "config", "include.path", "../other")
	if _, ok := find(t, dir).Remote(); ok {
		t.Error("a configuration that includes another is taken as known")
	}
	tree := filepath.Join(t.TempDir(), "tree")
	runGit(t, dir, "worktree", "add", "-q", "-b", "feature/x", tree)
	if name, ok := find(t, tree).Branch(); name != "feature/x" || !ok {
		t.Errorf("branch of a further work tree: %q %v, want feature/x", name, ok)
	}
	runGit(t, dir, "checkout", "-q", "--detach")
	if name, ok := find(t, dir).Branch(); name != "" || !ok {
		t.Errorf("without a branch: %q %v, want none", name, ok)
	}
}

// Files that are no files of git's are not believed, and nothing hangs on them.
func TestStrangeRepositories(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, ".git/HEAD"), "nonsense")
	writeFile(t, filepath.Join(dir, ".git/index"), "DIRC nonsense that is long enough to be read")
	r := find(t, dir)
	if name, ok := r.Branch(); ok {
		t.Errorf("branch of nonsense is %q, want unknown", name)
	}
	if dirty, ok := r.Dirty(); ok {
		t.Errorf("nonsense is dirty: %v, want unknown", dirty)
	}
	if _, ok := r.Tracked(filepath.Join(dir, "a")); ok {
		t.Error("a damaged index says what is tracked")
	}
	link := filepath.Join(dir, ".git/config")
	if err := os.Symlink("/dev/zero", link); err != nil {
		t.Fatal(err)
	}
	if _, ok := r.Remote(); ok {
		t.Error("a configuration that is a link is read")
	}
}

func FuzzParseIndex(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + strings.Repeat("x", 80)))
	f.Fuzz(func(_ *testing.T, b []byte) {
		if in := parseIndex(b); in != nil {
			in.holds("a/b")
		}
	})
}
