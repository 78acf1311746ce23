package daemontest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// Process is a daemon that runs as a program of its own.
type Process struct {
	Client client.Client
	cmd    *exec.Cmd
	log    string
}

// StartDaemon starts a daemon in a home and waits until it answers. Its log goes to a file,
// as in real life: a pipe would wake the caller at every line.
func StartDaemon(ctx context.Context, home *sandbox.Home, program string, args ...string) (*Process, error) {
	p := &Process{Client: client.Client{Socket: home.Dirs.Socket()}, log: filepath.Join(home.Base, "daemon.log")}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = home.Env, "/", log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as hooks start it
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(Patience); ; time.Sleep(10 * time.Millisecond) {
		if _, err = p.Client.Info(ctx); err == nil {
			return p, nil
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return nil, errors.Join(fmt.Errorf("the daemon did not come up: %w", err), p.Stop())
		}
	}
}

// PID returns the process id of the daemon.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Stop ends the daemon the clean way; a second time does nothing. An error has the end of
// the daemon's log.
func (p *Process) Stop() error {
	if p.cmd == nil {
		return nil
	}
	daemon := p.cmd
	p.cmd = nil
	_ = daemon.Process.Signal(syscall.SIGTERM)
	kill := time.AfterFunc(Patience, func() { _ = daemon.Process.Kill() })
	defer kill.Stop()
	if err := daemon.Wait(); err != nil {
		log, _ := os.ReadFile(p.log)
		return fmt.Errorf("the daemon ended with %w\n%s", err, log[max(0, len(log)-2000):])
	}
	return nil
}

// EndDaemon ends whatever daemon runs in these folders, politely, and waits until it has
// gone.
func EndDaemon(dirs paths.Dirs) error {
	c := client.Client{Socket: dirs.Socket(), Timeout: time.Second}
	for end := time.Now().Add(Patience); daemonstart.DaemonHoldsLock(dirs); time.Sleep(5 * time.Millisecond) {
		if info, err := c.Info(context.Background()); err == nil {
			_ = syscall.Kill(info.PID, syscall.SIGTERM)
		}
		if time.Now().After(end) {
			return fmt.Errorf("the daemon is still there %v after SIGTERM", Patience)
		}
	}
	return nil
}

// CountStored counts ids and sessions in the journal of a stopped daemon.
func CountStored(ctx context.Context, dirs paths.Dirs) (ids, sessions map[string]int, err error) {
	j, err := journal.Open(filepath.Join(dirs.State, "journal.db"), journal.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer j.Close()
	ids, sessions = map[string]int{}, map[string]int{}
	for stored, err := range j.Query(ctx, journal.Filter{}) {
		if err != nil {
			return nil, nil, err
		}
		ids[stored.ID]++
		sessions[stored.Session]++
	}
	return ids, sessions, nil
}
