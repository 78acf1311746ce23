package packstore

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// repository is a git repository of a test, in which the test commits.
type repository struct {
	t   *testing.T
	dir string
}

func newRepository(t *testing.T, files map[string]string) *repository {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not there")
	}
	r := &repository{t, writePack(t, files)}
	r.git("init", "-q", "-b", "main")
	r.git("add", "-A")
	r.commit("v1.0.0")
	return r
}

func (r *repository) git(args ...string) string { return r.gitWith("", args...) }

func (r *repository) gitWith(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Stdin = r.dir, strings.NewReader(stdin)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + r.t.TempDir(), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("git %v: want it done, got %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repository) commit(tag string) {
	r.t.Helper()
	r.git("commit", "-q", "--allow-empty", "-m", tag)
	if tag != "" {
		r.git("tag", "-f", tag)
	}
}

func (r *repository) origin(ref string) Origin { return Origin{URL: "file://" + r.dir, Ref: ref} }

func fetcher() *Git { return &Git{Environ: os.Environ()} }

func (r *repository) fetch(ref string) (*Pack, Origin, error) {
	return fetcher().Fetch(context.Background(), r.origin(ref))
}

func TestFetch(t *testing.T) {
	r := newRepository(t, goodPack())
	head := r.git("rev-parse", "HEAD")
	r.git("tag", "-a", "-m", "x", "annotated")
	folder, err := ReadFolder(r.dir)
	if err != nil {
		t.Fatalf("the working tree: want a pack, got %v", err)
	}
	for ref, is := range map[string]RefKind{"v1.0.0": Tag, "annotated": Tag, "main": Branch, head: Commit} {
		pack, origin, err := r.fetch(ref)
		if err != nil || pack.Hash() != folder.Hash() || origin.Commit != head || origin.Is != is {
			t.Errorf("%s: want a %s of %s with the content of the folder, got %+v, %v", ref, is, head, origin, err)
		}
	}
	if _, _, err := r.fetch("v9"); err == nil || !strings.Contains(err.Error(), "neither a tag nor a branch") {
		t.Errorf("a version that is not there: want it said, got %v", err)
	}
	if _, _, err := fetcher().Fetch(context.Background(), Origin{URL: "file:///no/such/repository", Ref: "v1"}); err == nil {
		t.Error("a repository that is not there: want an error, got none")
	}
}

func TestRefusedRepositories(t *testing.T) {
	for what, c := range map[string]struct {
		change func(r *repository)
		want   string
	}{
		"a symbolic link": {func(r *repository) {
			link(r.t, "/etc/passwd", r.dir, "rules/passwd.yaml")
			r.git("add", "-A")
		}, "symbolic link"},
		"a link beside the rules": {func(r *repository) {
			link(r.t, "../../x", r.dir, "docs")
			r.git("add", "-A")
		}, "symbolic link"},
		"a submodule": {func(r *repository) {
			r.git("update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "HEAD")+",lib")
		}, "submodule"},
		"a list of submodules": {func(r *repository) {
			r.git("update-index", "--add", "--cacheinfo",
				"100644,"+r.gitWith("[submodule \"x\"]\n", "hash-object", "-w", "--stdin")+",.gitmodules")
		}, "submodule"},
		"a large file": {func(r *repository) {
			big := r.gitWith("# "+strings.Repeat("x", maxFile), "hash-object", "-w", "--stdin")
			r.git("update-index", "--add", "--cacheinfo", "100644,"+big+",rules/big.yaml")
		}, "too large"},
		"a folder below rules": {func(r *repository) {
			blob := r.gitWith(goodRules, "hash-object", "-w", "--stdin")
			r.git("update-index", "--add", "--cacheinfo", "100644,"+blob+",rules/a/b.yaml")
		}, "is a folder"},
	} {
		t.Run(what, func(t *testing.T) {
			r := newRepository(t, goodPack())
			c.change(r)
			r.commit("v2")
			if _, _, err := r.fetch("v2"); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want it refused with %q, got %v", c.want, err)
			}
		})
	}
}

// A tree whose names lead out of it is refused, by git or by us.
func TestNamesThatLeadOut(t *testing.T) {
	for _, name := range []string{"..", ".git", ".GIT"} {
		r := newRepository(t, goodPack())
		blob := r.gitWith(goodRules, "hash-object", "-w", "--stdin")
		inner := r.gitWith("100644 blob "+blob+"\tx.yaml\n", "mktree")
		tree := r.gitWith("040000 tree "+inner+"\t"+name+"\n", "mktree")
		commit := r.git("commit-tree", "-m", "x", tree)
		r.git("tag", "-f", "bad", commit)
		if pack, _, err := r.fetch("bad"); err == nil {
			t.Errorf("a folder called %q: want it refused, got %v", name, pack)
		}
	}
}

func TestMovedTag(t *testing.T) {
	r := newRepository(t, goodPack())
	s := New(t.TempDir())
	pack, origin, err := r.fetch("v1.0.0")
	if err != nil {
		t.Fatalf("want the pack, got %v", err)
	}
	kept, err := s.Add(pack, origin, "", time.Now())
	if err != nil {
		t.Fatalf("want it added, got %v", err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "README.md"), []byte("other"), 0o644); err != nil {
		t.Fatalf("want the file changed, got %v", err)
	}
	r.git("add", "-A")
	r.commit("v1.0.0") // moves it
	moved, now, err := r.fetch("v1.0.0")
	if err != nil {
		t.Fatalf("want the pack, got %v", err)
	}
	if _, err := s.Add(moved, now, kept.Hash, time.Now()); err == nil || !strings.Contains(err.Error(), "was moved") {
		t.Errorf("a tag that was moved: want it refused, got %v", err)
	}
	r.commit("v1.1.0")
	newest, err := fetcher().Newest(context.Background(), kept.Origin)
	if err != nil || newest.Ref != "v1.1.0" {
		t.Errorf("newest: want v1.1.0, got %+v, %v", newest, err)
	}
	// Branches go on.
	main, origin, err := r.fetch("main")
	if err != nil {
		t.Fatalf("want the branch, got %v", err)
	}
	if _, err := s.Add(main, origin, kept.Hash, time.Now()); err != nil {
		t.Errorf("a branch: want it taken in, got %v", err)
	}
}

// Nothing that a user or a repository configured runs.
func TestGitRunsNothingOfOthers(t *testing.T) {
	r := newRepository(t, goodPack())
	mark := filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\ntouch '" + mark + "'\nexit 1\n"
	home := t.TempDir()
	program := filepath.Join(home, "evil")
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatalf("want a program, got %v", err)
	}
	config := "[core]\n\tfsmonitor = " + program + "\n\tsshCommand = " + program + "\n\thooksPath = " + home +
		"\n[uploadpack]\n\tpackObjectsHook = " + program + "\n[url \"ext::" + program + " \"]\n\tinsteadOf = file://\n" +
		"[credential]\n\thelper = " + program + "\n"
	for _, file := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(r.dir, ".git", "config2")} {
		if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
			t.Fatalf("want a configuration, got %v", err)
		}
	}
	r.git("config", "include.path", "config2")
	t.Setenv("HOME", home)
	for name, value := range map[string]string{"GIT_SSH_COMMAND": program, "GIT_EXTERNAL_DIFF": program,
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": program,
		"GIT_PROXY_COMMAND": program, "GIT_DIR": r.dir} {
		t.Setenv(name, value)
	}
	pack, _, err := (&Git{Environ: os.Environ()}).Fetch(context.Background(), r.origin("v1.0.0"))
	if err != nil || pack.Name != "team" {
		t.Errorf("want the pack, got %v, %v", pack, err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program that others configured: want it not run, got it run")
	}
}

func FuzzParseTree(f *testing.F) {
	object := strings.Repeat("a", 40)
	for _, seed := range []string{"100644 blob " + object + "      12\tpack.yaml\x00",
		"120000 blob " + object + " 3\trules/a.yaml\x00", "160000 commit " + object + " -\tlib\x00",
		"100644 blob " + object + " 1\t../../etc/passwd\x00", "100644 blob " + object + " 1\t/etc/passwd\x00",
		"100644 blob " + object + " 1\trules/../../a.yaml\x00", "100644 blob " + object + " 1\trules\\a.yaml\x00",
		"100644 blob " + object + " 1\ta/.git/config\x00", "", "\x00\x00", "100644 blob x y\tz"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, listed []byte) {
		entries, err := parseTree(listed)
		if err != nil {
			return
		}
		root := t.TempDir()
		for _, e := range entries {
			full := filepath.Join(root, e.name)
			if !filepath.IsLocal(e.name) || !strings.HasPrefix(full, root+"/") {
				t.Errorf("%q: want a name below the pack or a refusal, got %q", listed, full)
			}
			if e.size > maxFile && isContent(e.name) {
				t.Errorf("%q: want at most %d bytes, got %d", listed, maxFile, e.size)
			}
		}
	})
}

// A repository whose list is too long is refused, and
// only its beginning is kept.
func TestWhatGitPrintsIsBounded(t *testing.T) {
	r := newRepository(t, map[string]string{"pack.yaml": ""})
	object := r.gitWith(strings.Repeat("x", maxListed+1), "hash-object", "-w", "--stdin")
	w, err := fetcher().open()
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	printed, err := w.run(context.Background(), "--git-dir="+filepath.Join(r.dir, ".git"), "cat-file", "blob", object)
	if err == nil || !strings.Contains(err.Error(), "too many files") {
		t.Errorf("want a refusal of %d bytes, got %d bytes and %v", maxListed+1, len(printed), err)
	}
}
