package handler

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// external runs a command or a script.
type external struct {
	hook.Registration
	deps  Deps
	words []Word // of a script; nil for a command
}

// Handle asks the process and reads its answer.
func (x *external) Handle(ctx context.Context, call *hook.Call) (event.Decision, error) {
	s, err := x.processSpec(call)
	if err != nil {
		return event.Decision{}, err
	}
	if x.Format == hook.Claude {
		return x.handleClaude(ctx, call, s)
	}
	s.stdin = call.Event.MarshalUnified()
	out, err := x.runProcess(ctx, s)
	if err != nil {
		return event.Decision{}, err
	}
	return ParseUnified(call.Event.Kind, call.Carries, out)
}

func (x *external) runProcess(ctx context.Context, s spec) (Output, error) {
	out, err := x.deps.Processes.run(ctx, s)
	if err != nil {
		return out, explainStart(s, err)
	}
	return out, nil
}

// processSpec returns the process but for its stdin.
func (x *external) processSpec(call *hook.Call) (spec, error) {
	dir, note := workDir(call)
	if note != "" {
		x.deps.Report(call.Hook.ID, note)
	}
	s := spec{dir: dir, env: processEnviron(call, dir, x.Format, x.deps.Mark)}
	if x.words == nil {
		s.path, s.args = x.deps.Shell, []string{x.deps.Shell, "-c", x.Target}
		return s, nil
	}
	home := paths.GetenvLast(s.env)("HOME")
	s.args = make([]string, len(x.words))
	for i, w := range x.words {
		s.args[i] = w.In(home)
	}
	var err error
	s.path, err = findExecutable(s.args[0], call.Project, dir, paths.GetenvLast(s.env)("PATH"))
	return s, err
}

// findExecutable returns the file a script's first word means: a bare name is looked up
// in PATH, a relative path starts at the project, else at the cwd.
func findExecutable(name, project, cwd, path string) (string, error) {
	if filepath.IsAbs(name) {
		return name, nil
	}
	if strings.Contains(name, "/") {
		if project == "" {
			project = cwd
		}
		return filepath.Join(project, name), nil
	}
	if program := paths.OnPath(name, path); program != "" {
		return program, nil
	}
	return "", fmt.Errorf("%s: not found in PATH; write ./%s for a file of the project", name, name)
}

// explainStart adds what you can do about a process that didn't start.
func explainStart(s spec, err error) error {
	var path *fs.PathError
	if !errors.As(err, &path) {
		return err
	}
	hint := ""
	switch info, statErr := os.Stat(s.path); {
	case errors.Is(err, fs.ErrNotExist) && statErr == nil:
		hint = "; the interpreter named in its first line is missing"
	case errors.Is(err, fs.ErrNotExist):
		hint = "; check the target, and quote a path with blanks"
	case statErr == nil && info.IsDir():
		hint = "; name a file in it"
	case errors.Is(err, fs.ErrPermission):
		hint = "; make it executable with chmod +x"
	case errors.Is(err, syscall.ENOEXEC):
		hint = "; it needs a first line such as #!/bin/sh"
	case errors.Is(err, syscall.E2BIG):
		hint = "; its environment is too large"
	}
	return fmt.Errorf("%s: %w%s", s.path, path.Err, hint)
}
