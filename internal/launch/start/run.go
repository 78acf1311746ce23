package start

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/launch/resumeargs"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Run becomes the agent, and returns only when that fails or the agent ran below
// this process.
func (s *Starter) Run(ctx context.Context, p *Plan) error {
	s.PrintNotes(p.Notes)
	if p.Injected {
		if !p.untrusted {
			s.tellOnce(p.Agent)
		}
		if err := s.daemonBeforehand(ctx); err != nil {
			// Hooks start it as well, and a session without daemon is still one.
			s.PrintNotes([]string{fmt.Sprintf("the daemon does not start, so nothing is decided or shown until it does: "+
				"%v; see `hookmux status`", err)})
		}
	}
	if p.overlay != nil {
		return s.runOverlay(p)
	}
	s.leaveNote(p)
	err := launch.Exec(p.Program, p.Argv, launch.Environ(s.Environ, p.active))
	return &Error{Kind: NotRunnable, Text: err.Error()}
}

// runOverlay runs an agent with an overlay and ends as it ended.
func (s *Starter) runOverlay(p *Plan) error {
	told, err := p.overlay.Prepare()
	s.PrintNotes(told)
	if err != nil {
		return usageError("%v; correct it, or start %s without hookmux", err, p.Agent.Title)
	}
	env := slices.DeleteFunc(launch.Environ(s.Environ, p.active),
		func(v string) bool { return strings.HasPrefix(v, p.env+"=") })
	code, told, err := p.overlay.RunOver(p.Program, p.Argv, append(env, p.env+"="+p.overlay.Dir))
	s.PrintNotes(told)
	if err != nil {
		return &Error{Kind: NotRunnable, Text: fmt.Sprintf("%s: %v", p.Program, err)}
	}
	if code != 0 {
		return &Error{Kind: Ended, Code: code}
	}
	return nil
}

// tellOnce prints what you should know the first time, and remembers that it did.
func (s *Starter) tellOnce(a *agent.Agent) {
	notice := launch.OnceNotice(a)
	if notice == "" {
		return
	}
	if s.DirsError != nil {
		s.PrintNotes([]string{notice})
		return
	}
	file := filepath.Join(s.Dirs.State, "told-run-"+a.Name)
	if _, err := os.Stat(file); err == nil {
		return
	}
	s.PrintNotes([]string{notice})
	if err := os.MkdirAll(s.Dirs.State, 0o700); err == nil {
		_ = files.Write(file, []byte(notice+"\n")) // else it is said again
	}
}

// daemonBeforehand starts the daemon without waiting for it to answer. A process of
// its own does it, because ours becomes the agent: the daemon must not be the
// agent's child, and starting it closes files the agent may have been given.
func (s *Starter) daemonBeforehand(ctx context.Context) error {
	if s.DirsError != nil {
		return s.DirsError
	}
	if daemonstart.DaemonHoldsLock(s.Dirs) {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	var said bytes.Buffer
	start := exec.CommandContext(ctx, self, "run", "--start-daemon")
	start.Env = s.Environ
	start.Stderr = &said
	start.WaitDelay = time.Second
	if err := start.Run(); err != nil {
		if text := strings.TrimSpace(said.String()); text != "" {
			return errors.New(strings.TrimPrefix(text, "hookmux: ")) // this program says it again before its own errors
		}
		return err
	}
	return nil
}

// SpawnDaemon starts the daemon in the background; daemonBeforehand has another process call
// it.
func (s *Starter) SpawnDaemon() error {
	if s.DirsError != nil {
		return s.DirsError
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	outcome, err := daemonstart.Start(s.Dirs, install.StableProgram(s.Dirs, self), daemonstart.Options{Env: s.Environ})
	if err != nil {
		return err
	}
	if outcome == daemonstart.Backoff {
		return fmt.Errorf("it died several times within a minute and waits before the next start; its log is %s",
			s.Dirs.Log())
	}
	return nil
}

// leaveNote records for the daemon the flags with which this process becomes an agent: most
// agents hide them behind a title of their own. Without the note a session is resumed without
// its flags.
func (s *Starter) leaveNote(p *Plan) {
	if s.DirsError != nil || p.Agent.Resume == nil {
		return
	}
	self, err := proc.System().Lookup(os.Getpid())
	if err != nil {
		return
	}
	args, _ := launch.Strip(p.Agent, p.Argv[1:])
	_ = resumeargs.WriteNote(s.Dirs.Runtime, p.Agent, resumeargs.Note{PID: self.PID, Start: self.Start,
		Given: p.Injected,
		Dir:   s.Cwd}, args)
}
