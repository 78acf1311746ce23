//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemontest"
	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// place is a throw-away home with a daemon in it.
type place struct {
	*sandbox.Home
	dir    string // the home's base
	dirs   paths.Dirs
	daemon *daemontest.Process
	client client.Client
}

// terminalEnv is about as much as an agent in a terminal passes on to the daemon and its hooks in
// addition to the places.
func terminalEnv(dir string) []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "USER=user", "LOGNAME=user",
		"SHELL=/bin/bash", "LANG=en_US.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor", "EDITOR=vim", "PAGER=less",
		"SSH_AUTH_SOCK=/tmp/ssh-agent.sock", "PWD=" + dir, "SHLVL=2", "LESS=-R", "GIT_EDITOR=true",
		"NVM_DIR=" + dir + "/.nvm", "LS_COLORS=" + strings.Repeat("*.tar=01;31:*.jpg=01;35:", 20),
	}
}

func (b *bench) newPlace(name string, files map[string]string) (*place, error) {
	dir := filepath.Join(b.temp, name)
	home, err := sandbox.New(sandbox.Options{Base: dir, Env: terminalEnv(dir)})
	if err != nil {
		return nil, err
	}
	p := &place{Home: home, dir: dir, dirs: home.Dirs}
	p.client.Socket = p.dirs.Socket()
	return p, p.WriteFiles(files)
}

// startDaemon creates a place and starts its daemon. The user's files take effect as if they had
// been accepted, which takes a daemon of the bench's own.
func (b *bench) startDaemon(ctx context.Context, name string, files map[string]string) (*place, error) {
	if len(files) > 0 {
		if err := b.build(ctx, "inboxdaemon", "./lab/bench/inboxdaemon"); err != nil {
			return nil, err
		}
		return b.startDaemonProgram(ctx, name, b.tools+"/inboxdaemon", files, "-live")
	}
	return b.startDaemonProgram(ctx, name, filepath.Join(b.bin, "hookmux"), files, "daemon")
}

// startDaemonProgram does it with a program of its own.
func (b *bench) startDaemonProgram(ctx context.Context, name, program string, files map[string]string,
	args ...string) (*place, error) {
	p, err := b.newPlace(name, files)
	if err != nil {
		return nil, err
	}
	if p.daemon, err = daemontest.StartDaemon(ctx, p.Home, program, args...); err != nil {
		return nil, err
	}
	info, err := p.client.Info(ctx)
	if err == nil && len(info.Problems) > 0 {
		err = fmt.Errorf("the daemon has a problem: %s", info.Problems[0].What)
	}
	if err != nil {
		return nil, errors.Join(err, p.stop())
	}
	return p, nil
}

// stop ends the daemon the clean way; twice does no harm.
func (p *place) stop() error {
	if p.daemon == nil {
		return nil
	}
	return p.daemon.Stop()
}

func (p *place) pid() int { return p.daemon.PID() }

// drained waits until everything acknowledged is in the journal.
func (p *place) drained(ctx context.Context) error {
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		info, err := p.client.Info(ctx)
		if err != nil {
			return err
		}
		if info.Counts.Undrained == 0 {
			return nil
		}
	}
	return errors.New("events are still not in the journal after two minutes")
}

// heard compares how many calls the daemon has seen with how many were made:
// a client that got no daemon answers too, only quicker.
func (p *place) heard(ctx context.Context, calls int) error {
	info, err := p.client.Info(ctx)
	if err != nil {
		return err
	}
	if info.Counts.Events != uint64(calls) {
		return fmt.Errorf("%d calls were made and the daemon heard %d", calls, info.Counts.Events)
	}
	return nil
}

// stored compares the journal of a stopped daemon with the ids it acknowledged.
func (p *place) stored(ctx context.Context, acknowledged []string) error {
	ids, _, err := daemontest.CountStored(ctx, p.dirs)
	if err != nil {
		return err
	}
	n, missing := 0, 0
	for _, times := range ids {
		n += times
	}
	for _, id := range acknowledged {
		if ids[id] == 0 {
			missing++
		}
	}
	if missing > 0 || n != len(acknowledged) {
		return fmt.Errorf("%d events were acknowledged, the journal has %d, and %d of the acknowledged are not in it",
			len(acknowledged), n, missing)
	}
	return nil
}

// hook is hookmux-hook called in this place.
func (p *place) hook(b *bench, event string, payload []byte) *program {
	return &program{
		args: []string{filepath.Join(b.bin, "hookmux-hook"), "claude", event, "600"},
		env:  p.Env, dir: p.Project, stdin: payload, check: printsNothing,
	}
}

// echoServer is the reference's other end.
type echoServer struct {
	cmd    *exec.Cmd
	socket string
}

func (b *bench) startEcho(name string) (*echoServer, error) {
	e := &echoServer{socket: filepath.Join(b.temp, name+".sock")}
	e.cmd = exec.Command(filepath.Join(b.tools, "echo"), e.socket)
	e.cmd.Env = terminalEnv(b.temp)
	if err := e.cmd.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("unix", e.socket)
		if err == nil {
			return e, conn.Close()
		}
		if time.Now().After(end) {
			e.stop()
			return nil, fmt.Errorf("the echo server did not come up: %w", err)
		}
	}
}

func (e *echoServer) stop() {
	_ = e.cmd.Process.Kill()
	_ = e.cmd.Wait() // killed: that it did not end well is no news
}
