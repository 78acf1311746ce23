// Package demo runs a daemon of its own in a throw-away home with recorded agents, for
// looking at the live view without any agent. Its daemon runs in this process and decides
// about nothing else; so whoever started it may answer, from any terminal.
package demo

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/daemon"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/hookmux/hookmux/internal/wire/frame"
)

// noProcess is a pid that no process has: the daemon must not take the agents of
// this process for its own children.
const noProcess = 1 << 30

// Run starts the daemon and the agents, and ends with show. Agents begin when the
// view follows the inbox.
func Run(ctx context.Context, show func(ctx context.Context, h *Daemon) error) (err error) {
	base, err := os.MkdirTemp("", "hookmux-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	if base, err = filepath.EvalSymlinks(base); err != nil {
		return err
	}
	dirs, err := ownFolders(base)
	if err != nil {
		return err
	}
	if err := errors.Join(writeSettings(dirs.Config), writeRecords(base)); err != nil {
		return err
	}
	inside, err := daemon.New(daemon.Options{Dirs: dirs, Version: version.String, PID: noProcess, Table: oneUser{},
		Facts: oneUser{}, Asker: agrees{}, LiveSettings: true})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	ended := make(chan error, 1)
	running.Go(func() { ended <- inside.Run(ctx) })
	h := &Daemon{Client: &client.Client{Socket: dirs.Socket()}, followed: make(chan struct{})}
	for _, s := range moments("/home/you") {
		running.Go(func() { h.play(ctx, s) })
	}
	defer func() {
		stop()
		running.Wait()
		err = errors.Join(err, <-ended)
	}()
	for _, err := h.Info(ctx); err != nil; _, err = h.Info(ctx) {
		select {
		case err := <-ended:
			ended <- nil
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err := reportContexts(ctx, h); err != nil {
		return err
	}
	return show(ctx, h)
}

// ownFolders returns the places of a daemon that has nothing outside of a folder, not even
// the settings of the machine's owner: those may send requests to someone.
func ownFolders(base string) (paths.Dirs, error) {
	// By the environment alone: an installed hookmux has its own places in mind otherwise.
	dirs, err := paths.FindByEnvironment(paths.GetenvFrom([]string{
		"HOME=" + base, paths.RuntimeVariable + "=" + base + "/run", "XDG_STATE_HOME=" + base + "/state",
		"XDG_CONFIG_HOME=" + base + "/config", "XDG_DATA_HOME=" + base + "/data",
	}))
	if err != nil {
		return dirs, err
	}
	dirs.System = filepath.Join(base, "system")
	for _, dir := range []string{dirs.Runtime, dirs.State, dirs.Config, dirs.Data, dirs.System} {
		if !strings.HasPrefix(dir, base+"/") {
			return dirs, errors.New("the demo would use " + dir + ", which is not its own; this is a fault of hookmux")
		}
	}
	return dirs, nil
}

// writeSettings gives you all the time you want to look around: otherwise Codex only waits
// for seconds while it hides its own dialog.
func writeSettings(config string) error {
	if err := os.MkdirAll(config, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(config, "config.json"), []byte(`{"inbox.wait.codex": "1h"}`), 0o600)
}

// writeRecords writes what the sessions of Claude Code used, as Claude Code records it.
func writeRecords(home string) error {
	dir := filepath.Join(home, ".claude", "projects", "demo")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, s := range moments("/home/you") {
		if s.agent != "claude" {
			continue
		}
		context := contextOf(i)
		line, err := json.Marshal(members{"type": "assistant", "sessionId": s.id, "cwd": s.folder, "requestId": "req_" + s.id,
			"timestamp": time.Now().UTC(), "message": members{"id": "msg_" + s.id, "role": "assistant", "type": "message",
				"model": "claude-opus-5-5", "stop_reason": "tool_use", "usage": members{"input_tokens": 1200,
					"cache_read_input_tokens": context - 1200, "output_tokens": 21000 + 13000*i}}})
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, s.id+".jsonl"), append(line, '\n'), 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// contextOf returns how many tokens are in a session's context.
func contextOf(i int) int64 { return int64(62000 + 17000*i) }

// reportContexts reports how full the sessions' contexts are, as Claude Code's status line does.
func reportContexts(ctx context.Context, h *Daemon) error {
	for i, s := range moments("/home/you") {
		if s.agent != "claude" {
			continue
		}
		if err := h.Call(ctx, wire.MethodUsageWindows, wire.UsageWindowsParams{Agent: s.agent, Session: s.id,
			Context: contextOf(i), Size: 200_000}, nil); err != nil {
			return err
		}
	}
	return nil
}

// Daemon is the demo's daemon as its view sees it.
type Daemon struct {
	*client.Client
	once     sync.Once
	followed chan struct{}
}

// FollowWaiting lets the agents begin.
func (h *Daemon) FollowWaiting(ctx context.Context, each func(client.InboxNote) error) error {
	return h.Client.FollowWaiting(ctx, func(n client.InboxNote) error {
		h.once.Do(func() { close(h.followed) })
		return each(n)
	})
}

// SendToSession does nothing: there is no agent to send to.
func (h *Daemon) SendToSession(context.Context, string, string, bool) (*client.SessionSent, error) {
	return nil, errors.New("the agents of the demo are recordings and read nothing; with a real one this gives it " +
		"your next prompt")
}

// play plays one session until its end, or until the demo ends.
func (h *Daemon) play(ctx context.Context, s moment) {
	select {
	case <-ctx.Done():
		return
	case <-h.followed:
	}
	allowed := true
	for _, st := range s.steps {
		if st.unless == allowed {
			continue
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(st.after):
		}
		reply, err := h.send(ctx, s.request(st))
		if err != nil {
			return // the demo ends
		}
		if st.asks {
			allowed = s.isYes(reply)
		}
	}
}

// send calls a hook, as an agent does.
func (h *Daemon) send(ctx context.Context, r frame.Request) (frame.Reply, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", h.Socket)
	if err != nil {
		return frame.Reply{}, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()
		_ = conn.Close() // one call per connection
	}()
	if _, err := conn.Write(frame.AppendRequest(nil, &r)); err != nil {
		return frame.Reply{}, err
	}
	return frame.ReadReply(bufio.NewReader(conn), frame.Standard)
}
