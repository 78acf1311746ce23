// Package codexdaemon asks Codex's daemon which of its clients shows a thread.
// Plain `codex` runs through a daemon that all terminals share: hooks have the daemon's
// environment, so nothing else shows the terminal of a session.
//
// Every client has a small server of its own on this machine, and the daemon knows its
// port: the process that listens there is the one in the terminal.
package codexdaemon

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"

	"github.com/hookmux/hookmux/internal/platform/agentrpc"
)

// SocketPath returns the daemon's control socket, below CODEX_HOME.
func SocketPath(codexHome string) string {
	return filepath.Join(codexHome, "app-server-control", "app-server-control.sock")
}

// ErrNoClient says that no terminal shows the thread now.
var ErrNoClient = errors.New("no terminal shows this thread")

// ClientPort asks the daemon for the port of the terminal that shows a thread.
func ClientPort(ctx context.Context, path, thread string) (int, error) {
	s, err := dialSocket(ctx, path)
	if err != nil {
		return 0, err
	}
	defer s.close()
	client, err := agentrpc.Connect(s)
	if err != nil {
		return 0, err
	}
	var servers serverList
	if err := client.Call("mcpServerStatus/list", map[string]string{"threadId": thread}, &servers); err != nil {
		return 0, err
	}
	return servers.port()
}

// clientServer is the name under which a terminal serves.
const clientServer = "codex_tui"

// serverList is the daemon's answer about servers.
type serverList struct {
	Data []struct {
		Name       string `json:"name"`
		HTTPOrigin string `json:"httpOrigin"`
	} `json:"data"`
}

// port finds the terminal's port in a list of servers.
func (l *serverList) port() (int, error) {
	for _, one := range l.Data {
		if one.Name != clientServer {
			continue
		}
		origin, err := url.Parse(one.HTTPOrigin)
		if err != nil {
			return 0, fmt.Errorf("the daemon names no port: %w", err)
		}
		port, err := strconv.Atoi(origin.Port())
		if err != nil || port <= 0 || port > 65535 {
			return 0, fmt.Errorf("the daemon names no port: %q", one.HTTPOrigin)
		}
		return port, nil
	}
	return 0, ErrNoClient
}
