// Package handler makes registrations run: built-ins inside the daemon, commands and scripts as
// processes of their own.
//
// The contract:
//   - A handler returns an opinion or fails; what a failure means is up to the registration
//     (package hook). Silence is no opinion, never an approval.
//   - A process gets the event on stdin, runs in the event's cwd with the environment of the
//     calling hook, in a process group of its own. When its time is over Handle returns at once
//     and the whole group is ended in the background: SIGTERM, a second later SIGKILL.
//     [Processes] knows what still runs.
//   - What a process leaves running after its own end doesn't delay the call: its pipes are
//     given a quarter of a second, then closed.
//   - Output is bounded in memory. Not reading stdin is no error.
//   - In the format "claude" a process is called in Claude Code's own format, whatever the
//     agent. That format knows one command or one file per call, so for a call with several the
//     hook runs once for each (see [MaxRuns]); if any of them is denied, the call is.
package handler

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
)

// Deps are a handler's ties to the daemon. All may be left empty.
type Deps struct {
	// Builtins are the built-ins on offer; nil means the shipped ones, made
	// from the fields below.
	Builtins *Builtins
	// StateDir is where the shipped built-ins write.
	StateDir string
	// Shell runs commands; empty means /bin/sh.
	Shell string
	// Report receives notes for `hookmux trace` and the like, for example about what a handler had
	// to work around. It must not block.
	Report func(hookID, text string)
	// Redact appends JSON src to dst without its secrets; nil means the rules
	// of internal/redact, without cutting anything.
	Redact func(dst, src []byte) []byte
	// Mark is how what runs below a hook is marked, so that the daemon knows it
	// again; nil means by the hook's id.
	Mark func(hookID string) string
	// Processes keeps count of what runs, so that the daemon can wait for it
	// before it ends.
	Processes *Processes
}

// New returns the handler of a registration. What can be known to be wrong beforehand is rejected
// here: an unknown built-in never becomes a hook that silently allows.
func New(r hook.Registration, deps Deps) (hook.Handler, error) {
	if deps.Shell == "" {
		deps.Shell = "/bin/sh"
	}
	if deps.Report == nil {
		deps.Report = func(string, string) {}
	}
	if deps.Mark == nil {
		deps.Mark = func(id string) string { return id }
	}
	if deps.Processes == nil {
		deps.Processes = new(Processes)
	}
	switch r.Handler {
	case "builtin":
		builtins := deps.Builtins
		if builtins == nil {
			builtins = NewBuiltins(deps)
		}
		return builtins.Find(r.Target)
	case "command":
		if strings.TrimSpace(r.Target) == "" {
			return nil, errors.New("command: target is empty; write what /bin/sh shall run")
		}
		return &external{Registration: r, deps: deps}, nil
	case "script":
		words, err := Split(r.Target)
		if err != nil {
			return nil, fmt.Errorf("script %q: %w", r.Target, err)
		}
		if len(words) == 0 {
			return nil, errors.New("script: target is empty; write an executable and its arguments")
		}
		return &external{Registration: r, deps: deps, words: words}, nil
	case hook.HandlerTypeScript:
		return nil, errors.New("TypeScript hooks run inside the daemon only")
	}
	return nil, fmt.Errorf("handler %q is none of builtin, command, script", r.Handler)
}

// Func is the body of a built-in.
type Func func(ctx context.Context, call *hook.Call) (event.Decision, error)
