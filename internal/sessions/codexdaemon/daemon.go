// Package codexdaemon asks Codex's daemon which of its clients shows a thread.
// Plain `codex` runs through a daemon that all terminals share: hooks have the
// daemon's environment, so that nothing else tells the terminal of a session.
//
// Every client has a small server of its own on this machine, and the daemon
// knows its port: the process that listens there is the one in the terminal.
package codexdaemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
)

// SocketPath is the daemon's control socket, below CODEX_HOME.
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
	if _, err := call(s, 1, "initialize", map[string]any{
		"clientInfo": map[string]string{"name": "hookmux", "title": "hookmux", "version": "1"},
	}); err != nil {
		return 0, err
	}
	if err := sendMessage(s, map[string]any{"jsonrpc": "2.0", "method": "initialized"}); err != nil {
		return 0, err
	}
	result, err := call(s, 2, "mcpServerStatus/list", map[string]string{"threadId": thread})
	if err != nil {
		return 0, err
	}
	return portOf(result)
}

// clientServer is the name under which a terminal serves.
const clientServer = "codex_tui"

// portOf finds the terminal's port in a list of servers.
func portOf(result json.RawMessage) (int, error) {
	var list struct {
		Data []struct {
			Name       string `json:"name"`
			HTTPOrigin string `json:"httpOrigin"`
		} `json:"data"`
	}
	if err := json.Unmarshal(result, &list); err != nil {
		return 0, fmt.Errorf("the daemon's list of servers cannot be read: %w", err)
	}
	for _, one := range list.Data {
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

// maxPassed is how many messages may come before an answer: the daemon tells
// every client what happens in all threads.
const maxPassed = 1000

// call sends a request and waits for its answer.
func call(s *socket, id int, method string, params any) (json.RawMessage, error) {
	request := map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params}
	if err := sendMessage(s, request); err != nil {
		return nil, err
	}
	for range maxPassed {
		message, err := s.receive()
		if err != nil {
			return nil, err
		}
		var answer struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Result json.RawMessage `json:"result"`
			Error  *struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if err := json.Unmarshal(message, &answer); err != nil {
			return nil, fmt.Errorf("the daemon cannot be understood: %w", err)
		}
		if answer.Method != "" || string(answer.ID) != strconv.Itoa(id) {
			continue
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		return answer.Result, nil
	}
	return nil, fmt.Errorf("%s: the daemon gives no answer", method)
}

func sendMessage(s *socket, message any) error {
	b, err := json.Marshal(message)
	if err != nil {
		return err
	}
	return s.send(b)
}
