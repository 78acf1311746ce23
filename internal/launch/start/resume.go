package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// Where a session is resumed.
const (
	Here   = "here"
	Pane   = "pane"
	Window = "window"
)

// ErrPaneGone says that a session's old pane cannot be used.
var ErrPaneGone = errors.New("its old pane is gone or not at a shell")

// Resumer resumes sessions: in place of this process, in the tmux pane they were in, or in a new
// tmux window. The only line it passes to a shell is hookmux with the id of a session, never
// anything that a session contains.
type Resumer struct {
	Getenv  func(string) string
	Environ []string
	// Starter returns what starts agents in an environment.
	Starter func(environ []string) *Starter

	taken map[string]bool // panes that a session was resumed in
}

// Label returns what a session is called.
func Label(r *wire.ResumeRecord) string {
	if r.Title != "" {
		return r.Title
	}
	return r.Session
}

// Line returns the command with which you would resume a session by hand.
func Line(r *wire.ResumeRecord) string {
	words := r.Argv
	if r.Run {
		words = append([]string{"hookmux", "run"}, words...)
	}
	if len(r.Env) > 0 {
		words = append(append([]string{"env"}, r.Env...), words...)
	}
	line := shellquote.Line(words)
	if r.Dir != "" {
		line = "cd " + shellquote.Word(r.Dir) + " && " + line
	}
	return line
}

// BecomeAgent becomes the agent.
func (t *Resumer) BecomeAgent(ctx context.Context, r *wire.ResumeRecord) error {
	if r.Dir != "" {
		if err := os.Chdir(r.Dir); err != nil {
			return fmt.Errorf("%s: its folder is gone: %w", Label(r), err)
		}
	}
	environ := withVariables(t.Environ, append(r.Env[:len(r.Env):len(r.Env)], "PWD="+r.Dir))
	if r.Run {
		name := r.Agent
		if strings.ContainsRune(r.Argv[0], filepath.Separator) {
			name = r.Argv[0]
		}
		starter := t.Starter(environ)
		plan, err := starter.Plan(name, r.Argv[1:], false)
		if err != nil {
			return err
		}
		return starter.Run(ctx, plan)
	}
	program, err := exec.LookPath(r.Argv[0])
	if err != nil {
		text := fmt.Sprintf("%s: %s is not on PATH; install it, or start it by hand: %s", r.Agent, r.Argv[0], Line(r))
		return &Error{Kind: NotFound, Text: text}
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	err = launch.Exec(program, r.Argv, environ)
	return &Error{Kind: NotRunnable, Text: err.Error()}
}

// withVariables sets NAME=value pairs in an environment.
func withVariables(environ, set []string) []string {
	out := make([]string, 0, len(environ)+len(set))
	names := map[string]bool{}
	for _, one := range set {
		name, value, _ := strings.Cut(one, "=")
		names[name] = value != ""
	}
	for _, one := range environ {
		if name, _, _ := strings.Cut(one, "="); !names[name] {
			out = append(out, one)
		}
	}
	for _, one := range set {
		if name, _, _ := strings.Cut(one, "="); names[name] {
			out = append(out, one)
		}
	}
	return out
}

// InTmux resumes a session in its old pane, unless in is [Window], or else in a new window,
// unless in is [Pane]. It returns a description of where that is.
func (t *Resumer) InTmux(ctx context.Context, r *wire.ResumeRecord, in string) (where string, err error) {
	if in != Window {
		if where, err = t.inPane(ctx, r); where != "" || err != nil {
			return where, err
		}
		if in == Pane {
			return "", ErrPaneGone
		}
	}
	return t.inWindow(ctx, r)
}

// inPane has the shell in the old pane resume the session: it is made to run hookmux, so
// nothing of the session has to be quoted for a shell. If the pane is closed, ours, or busy,
// nothing is done and "" is returned.
func (t *Resumer) inPane(ctx context.Context, r *wire.ResumeRecord) (where string, err error) {
	server, pane, ok := t.paneFor(ctx, r)
	if !ok {
		return "", nil
	}
	line, err := t.resumeLine(r)
	if err != nil {
		return "", err
	}
	// A blank in front keeps it out of most histories.
	if err := server.Type(ctx, pane.ID, " "+line, true); err != nil {
		return "", err
	}
	if t.taken == nil {
		t.taken = map[string]bool{}
	}
	t.taken[pane.ID] = true
	if r.Moved {
		return fmt.Sprintf("in pane %s, a shell in its folder", pane.ID), nil
	}
	return fmt.Sprintf("in its old pane %s", pane.ID), nil
}

// paneFor returns a pane at a shell that is the session's own. After a restart of tmux the names of
// panes mean nothing; what restored the windows kept their folders, so a shell in the session's
// folder is used then.
func (t *Resumer) paneFor(ctx context.Context, r *wire.ResumeRecord) (*tmux.Server, tmux.Pane, bool) {
	server, here := &tmux.Server{Socket: r.Server}, tmux.FromEnv(t.Getenv)
	free := func(p *tmux.Pane) bool {
		ours := p.ID == t.Getenv("TMUX_PANE") && here.Socket == server.Socket
		return !ours && !t.taken[p.ID] && tmux.AtShell(proc.System(), *p)
	}
	if r.Pane != "" {
		pane, err := server.Pane(ctx, r.Pane)
		return server, pane, err == nil && free(&pane)
	}
	if !r.Moved || r.Dir == "" {
		return nil, tmux.Pane{}, false
	}
	if here.Socket != "" {
		server = here
	}
	panes, err := server.Panes(ctx)
	if err != nil {
		return nil, tmux.Pane{}, false
	}
	for i := range panes {
		if panes[i].Path == r.Dir && free(&panes[i]) {
			return server, panes[i], true
		}
	}
	return nil, tmux.Pane{}, false
}

// inWindow opens a window for the session. When the agent ends, a shell stays in
// it.
func (t *Resumer) inWindow(ctx context.Context, r *wire.ResumeRecord) (where string, err error) {
	line, err := t.resumeLine(r)
	if err != nil {
		return "", err
	}
	server := &tmux.Server{Socket: r.Server}
	if here := tmux.FromEnv(t.Getenv); here.Socket != "" {
		server = here
	}
	pane, err := server.Open(ctx, "", "", r.Dir, ShellCommand(t.Getenv("SHELL"), line))
	if err != nil {
		return "", err
	}
	// Named as the daemon names windows, so that the window gets tmux's own name back
	// when the session leaves it. A window without the title is no failure.
	_, _ = server.NameWindow(ctx, pane.Window, Label(r))
	return "in pane " + pane.ID, nil
}

// ordinaryShells take -i and -c together, and `exec` with a quoted path.
var ordinaryShells = []string{"sh", "bash", "zsh", "fish", "ksh", "mksh", "dash", "ash"}

// ShellCommand runs a line in the user's own shell, which reads its rc file as in every other
// window: keys and paths that are set there are available to the agent. The shell stays when the
// line ends.
func ShellCommand(shell, line string) []string {
	if !filepath.IsAbs(shell) || !slices.Contains(ordinaryShells, filepath.Base(shell)) {
		return []string{"/bin/sh", "-c", line + `; exec "${SHELL:-/bin/sh}"`}
	}
	return []string{shell, "-ic", line + "; exec " + shellquote.Line([]string{shell})}
}

// resumeLine returns what a shell runs to resume a session: this program with an id, which is
// letters and digits.
func (t *Resumer) resumeLine(r *wire.ResumeRecord) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	words := []string{self, "resume", r.Agent + ":" + r.Session}
	if dir := t.Getenv("HOOKMUX_RUNTIME_DIR"); dir != "" {
		words = append([]string{"env", "HOOKMUX_RUNTIME_DIR=" + dir}, words...)
	}
	return shellquote.Line(words), nil
}
