package runcmd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/launch/start"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/tmux"
)

// Work is an agent to start, and where.
type Work struct {
	Agent    string
	Args     []string // the agent's own
	Folder   string
	Worktree string // the name of a new one of the folder's repository; "" for none
	Prompt   string // the first; "" for none
}

// promptArgs returns the arguments that begin a session with a prompt.
func promptArgs(a *agent.Agent, prompt string) ([]string, error) {
	switch flag := a.Launch.FirstPrompt; {
	case prompt == "":
		return nil, nil
	case flag == "":
		return nil, cmdutil.UsageError("hookmux doesn't know how to give %s a first prompt; leave it out and type it there",
			a.Title)
	case strings.HasPrefix(prompt, "-"):
		return nil, cmdutil.UsageError("the prompt begins with a dash, and %s would take it for a flag; begin with a word",
			a.Title)
	case flag == "-":
		return []string{prompt}, nil
	default:
		return []string{flag, prompt}, nil
	}
}

// prepare checks everything that can go wrong, makes the worktree last, and returns the
// agent's arguments and its folder.
func prepare(ctx context.Context, app *cmdutil.App, w *Work) (args []string, folder string, notes []string, err error) {
	starter := newStarter(app, app.Environ)
	plan, err := starter.Plan(w.Agent, w.Args, false)
	if err != nil {
		return nil, "", nil, launchError(app, err)
	}
	first, err := promptArgs(plan.Agent, w.Prompt)
	if err != nil {
		return nil, "", nil, err
	}
	if folder, err = workFolder(app, w.Folder); err != nil {
		return nil, "", nil, err
	}
	if w.Worktree != "" {
		tree, err := launch.CreateWorktree(ctx, folder, w.Worktree)
		if err != nil {
			return nil, "", nil, err
		}
		folder = tree.Path
		if tree.Note != "" {
			notes = append(notes, tree.Note)
		}
	}
	return append(append([]string{}, w.Args...), first...), folder, notes, nil
}

// moveThere prepares work in this terminal: this process changes to its folder, and the
// agent's arguments are returned.
func moveThere(ctx context.Context, app *cmdutil.App, w *Work) ([]string, error) {
	args, folder, notes, err := prepare(ctx, app, w)
	if err != nil {
		return nil, err
	}
	app.PrintNotes(notes)
	return args, os.Chdir(folder)
}

// workFolder returns a folder as it was typed: absolute, ~ for home, else from here.
func workFolder(app *cmdutil.App, typed string) (string, error) {
	folder := typed
	switch {
	case folder == "":
		folder = app.Cwd()
	case folder == "~" || strings.HasPrefix(folder, "~/"):
		folder = filepath.Join(app.Getenv("HOME"), folder[1:])
	case !filepath.IsAbs(folder):
		folder = filepath.Join(app.Cwd(), folder)
	}
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return "", fmt.Errorf("there's no folder %s", folder)
	}
	return folder, nil
}

// StartInTmux opens an agent in a tmux window of its own and says where.
func StartInTmux(ctx context.Context, app *cmdutil.App, w Work) (string, error) {
	server := tmux.FromEnv(app.Getenv)
	if !server.Available() {
		return "", fmt.Errorf("tmux isn't installed, and the agent needs a window of its own; `hookmux run --here %s` "+
			"starts it in a terminal", w.Agent)
	}
	args, folder, notes, err := prepare(ctx, app, &w)
	if err != nil {
		return "", err
	}
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	words := append([]string{self, "run", w.Agent}, args...)
	if dir := app.Getenv("HOOKMUX_RUNTIME_DIR"); dir != "" {
		words = append([]string{"env", "HOOKMUX_RUNTIME_DIR=" + dir}, words...)
	}
	session := ""
	if place := tmux.Where(app.Getenv); place.Kind == "tmux" {
		if here, err := server.Pane(ctx, place.Pane); err == nil {
			session = here.Session
		}
	}
	running := server.Running(ctx)
	pane, err := server.Open(ctx, session, w.Agent, folder, start.ShellCommand(app.Getenv("SHELL"), shellquote.Line(words)))
	if err != nil {
		return "", err
	}
	said := fmt.Sprintf("%s started in tmux pane %s, in %s", w.Agent, pane.ID, folder)
	if !running {
		said += "; `tmux attach` shows it"
	}
	return strings.Join(append([]string{said}, notes...), "; "), nil
}
