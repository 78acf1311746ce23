//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/recorder/journal"
)

// place is a throw-away home with a hub in it.
type place struct {
	dir    string
	dirs   paths.Dirs
	hub    *exec.Cmd
	client client.Client
}

// env is what the hub and its hooks see: the places, and about as much besides
// as an agent in a terminal hands on.
func env(dir string) []string {
	return []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=" + dir,
		paths.RuntimeVariable + "=" + filepath.Join(dir, "run"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "XDG_STATE_HOME=" + filepath.Join(dir, "state"),
		"XDG_DATA_HOME=" + filepath.Join(dir, "data"), "USER=user", "LOGNAME=user", "SHELL=/bin/bash",
		"LANG=en_US.UTF-8", "TERM=xterm-256color", "COLORTERM=truecolor", "EDITOR=vim", "PAGER=less",
		"SSH_AUTH_SOCK=/tmp/ssh-agent.sock", "PWD=" + dir, "SHLVL=2", "LESS=-R", "GIT_EDITOR=true",
		"NVM_DIR=" + dir + "/.nvm", "LS_COLORS=" + strings.Repeat("*.tar=01;31:*.jpg=01;35:", 20),
	}
}

func (b *bench) newPlace(name string, files map[string]string) (*place, error) {
	p := &place{dir: filepath.Join(b.temp, name)}
	all := map[string]string{"project/.git/HEAD": "ref: refs/heads/main\n"}
	for file, text := range files {
		all[file] = text
	}
	for file, text := range all {
		path := filepath.Join(p.dir, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return nil, err
		}
	}
	var err error
	p.dirs, err = paths.Find(paths.GetenvFrom(env(p.dir)))
	p.client.Socket = p.dirs.Socket()
	return p, err
}

// startHub makes a place and starts its hub.
func (b *bench) startHub(ctx context.Context, name string, files map[string]string) (*place, error) {
	return b.startHubProgram(ctx, name, filepath.Join(b.bin, "hookmux"), files, "hub")
}

// startHubProgram does it with a program of its own.
func (b *bench) startHubProgram(ctx context.Context, name, program string, files map[string]string,
	args ...string) (*place, error) {
	p, err := b.newPlace(name, files)
	if err != nil {
		return nil, err
	}
	// A file, as in real life: a pipe would wake this process at every line.
	log, err := os.Create(p.logFile())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.hub = exec.Command(program, args...)
	p.hub.Env, p.hub.Dir, p.hub.Stderr = env(p.dir), "/", log
	p.hub.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // as hooks start it
	if err := p.hub.Start(); err != nil {
		return nil, err
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		info, err := p.client.Info(ctx)
		if err == nil {
			if len(info.Problems) > 0 {
				err = fmt.Errorf("the hub has a problem: %s", info.Problems[0].What)
				p.stop()
			}
			return p, err
		}
		if time.Now().After(end) || ctx.Err() != nil {
			p.stop()
			return nil, fmt.Errorf("the hub did not come up: %w\n%s", err, p.lastWords())
		}
	}
}

func (p *place) logFile() string { return filepath.Join(p.dir, "hub.log") }

// lastWords is the end of the hub's log.
func (p *place) lastWords() string {
	text, err := os.ReadFile(p.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-2000):])
}

// stop ends the hub the clean way; twice does no harm.
func (p *place) stop() error {
	if p.hub == nil {
		return nil
	}
	hub := p.hub
	p.hub = nil
	_ = hub.Process.Signal(syscall.SIGTERM)
	sure := time.AfterFunc(30*time.Second, func() { _ = hub.Process.Kill() })
	defer sure.Stop()
	if err := hub.Wait(); err != nil {
		return fmt.Errorf("the hub ended with %w\n%s", err, p.lastWords())
	}
	return nil
}

func (p *place) pid() int { return p.hub.Process.Pid }

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

// heard compares how many calls the hub has seen with how many were made:
// a client that got no hub answers too, only quicker.
func (p *place) heard(ctx context.Context, calls int) error {
	info, err := p.client.Info(ctx)
	if err != nil {
		return err
	}
	if info.Counts.Events != uint64(calls) {
		return fmt.Errorf("%d calls were made and the hub heard %d", calls, info.Counts.Events)
	}
	return nil
}

// stored compares the journal of a stopped hub with the ids it acknowledged.
func (p *place) stored(ctx context.Context, acknowledged []string) error {
	left := make(map[string]bool, len(acknowledged))
	for _, id := range acknowledged {
		left[id] = true
	}
	j, err := journal.Open(filepath.Join(p.dirs.State, "journal.db"), journal.Options{})
	if err != nil {
		return err
	}
	defer j.Close()
	n := 0
	for event, err := range j.Query(ctx, journal.Filter{}) {
		if err != nil {
			return err
		}
		n++
		delete(left, event.ID)
	}
	if len(left) > 0 || n != len(acknowledged) {
		return fmt.Errorf("%d events were acknowledged, the journal has %d, and %d of the acknowledged are not in it",
			len(acknowledged), n, len(left))
	}
	return nil
}

// hook is hookmux-hook called in this place.
func (p *place) hook(b *bench, event string, payload []byte) *program {
	return &program{
		args: []string{filepath.Join(b.bin, "hookmux-hook"), "claude", event, "600"},
		env:  env(p.dir), dir: filepath.Join(p.dir, "project"), stdin: payload, check: printsNothing,
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
	e.cmd.Env = env(b.temp)
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
