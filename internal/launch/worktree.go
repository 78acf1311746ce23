package launch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/platform/shellquote"
)

// This file creates git worktrees for agents: a folder and a branch of their own, next to the
// repository.

// Worktree is one that was made.
type Worktree struct {
	Path   string
	Branch string
	// Note says what is missing from it; "" if it has everything.
	Note string
}

// CreateWorktree creates a worktree of the repository that folder is in. It has the name's branch,
// which is created from the current commit unless it exists, and is in REPOSITORY.worktrees next to
// the repository.
func CreateWorktree(ctx context.Context, folder, name string) (*Worktree, error) {
	if _, err := exec.LookPath("git"); err != nil {
		return nil, errors.New("git isn't installed, so there's no worktree; start the agent in a folder instead")
	}
	g := git{ctx, folder}
	if err := g.checkName(name); err != nil {
		return nil, err
	}
	root, err := g.mainRoot()
	if err != nil {
		return nil, err
	}
	if _, err := g.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err != nil {
		return nil, fmt.Errorf("%s has no commit yet, and a worktree starts from one; commit something first", root)
	}
	path := filepath.Join(filepath.Dir(root), filepath.Base(root)+".worktrees", strings.ReplaceAll(name, "/", "-"))
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("worktree %s already exists in %s; choose another name, or work in it: cd %s", name, path,
			shellquote.Argument(path))
	}
	args := []string{"worktree", "add", "--quiet", "-b", name, path}
	if _, err := g.run("show-ref", "--verify", "--quiet", "refs/heads/"+name); err == nil {
		args = []string{"worktree", "add", "--quiet", path, name}
	}
	if _, err := g.run(args...); err != nil {
		return nil, fmt.Errorf("no worktree was made: %w", err)
	}
	return &Worktree{Path: path, Branch: name, Note: g.dirtyNote()}, nil
}

// git runs git in a folder.
type git struct {
	ctx    context.Context
	folder string
}

func (g git) run(args ...string) (string, error) {
	cmd := exec.CommandContext(g.ctx, "git", append([]string{"-C", g.folder}, args...)...)
	cmd.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
		if line = strings.TrimPrefix(line, "fatal: "); line != "" {
			return "", errors.New(line)
		}
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

func (g git) checkName(name string) error {
	if name == "" || strings.HasPrefix(name, "-") {
		return fmt.Errorf("%q can't be the name of a worktree", name)
	}
	cmd := exec.CommandContext(g.ctx, "git", "check-ref-format", "refs/heads/"+name)
	if cmd.Run() != nil {
		return fmt.Errorf("%q can't be the name of a worktree: it's also the branch's, so no spaces, no .., and none of ~^:?*[\\", name)
	}
	return nil
}

// mainRoot returns the folder of the repository itself, also from inside of another worktree.
func (g git) mainRoot() (string, error) {
	if _, err := os.Stat(g.folder); err != nil {
		return "", fmt.Errorf("there's no folder %s", g.folder)
	}
	common, err := g.run("rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return "", fmt.Errorf("%s isn't in a git repository, so there's no worktree; leave the worktree out, or run "+
			"`git init` and commit something", g.folder)
	}
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common), nil
	}
	return common, nil // a bare repository
}

// dirtyNote describes how much of the folder's own changes the worktree doesn't have.
func (g git) dirtyNote() string {
	out, err := g.run("status", "--porcelain")
	if err != nil || out == "" {
		return ""
	}
	n := strings.Count(out, "\n") + 1
	what := "uncommitted changes"
	if n == 1 {
		what = "uncommitted change"
	}
	return fmt.Sprintf("%d %s in %s stay there; the worktree starts from the last commit", n, what, g.folder)
}
