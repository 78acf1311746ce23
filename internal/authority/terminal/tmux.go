package terminal

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

const (
	// tmuxWait bounds a question to a tmux server.
	tmuxWait = 10 * time.Second
	// maxTmux bounds its answer.
	maxTmux = 1 << 20
)

// Tmux asks a server for its panes and clients.
func (s *Source) Tmux(server proc.Process) (authority.Tmux, error) {
	ctx, cancel := context.WithTimeout(context.Background(), tmuxWait)
	defer cancel()
	out, err := s.runTmux(ctx, server.PID,
		"list-panes", "-a", "-F", "pane #{pane_id} #{pane_tty} #{allow-passthrough}", ";",
		"list-clients", "-F", "client #{client_pid} #{client_activity} #{pane_id} #{client_name}", ";",
		"show-options", "-s", "command-alias")
	if err != nil {
		return authority.Tmux{}, err
	}
	if name := findAlias(out); name != "" {
		return authority.Tmux{}, fmt.Errorf("this tmux has another meaning for %s (command-alias)", name)
	}
	return parseTmux(out), nil
}

// askedOfTmux are the commands that the daemon gives to tmux.
var askedOfTmux = []string{"list-panes", "list-clients", "show-options", "source-file", "display-popup", "refresh-client"}

// findAlias returns a command of the daemon's that a tmux gives another meaning: such a tmux
// says what another program wants it to say.
func findAlias(out []byte) string {
	for line := range bytes.Lines(out) {
		_, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		name, _, isAlias := strings.Cut(strings.TrimLeft(value, `"'`), "=")
		if bytes.HasPrefix(line, []byte("command-alias")) && isAlias && slices.Contains(askedOfTmux, name) {
			return name
		}
	}
	return ""
}

func parseTmux(out []byte) authority.Tmux {
	var t authority.Tmux
	asked := false
	for line := range bytes.Lines(out) {
		words := strings.Fields(string(line))
		switch {
		case len(words) >= 3 && words[0] == "pane":
			// A tmux that doesn't know this option always passes everything on.
			asked = asked || len(words) < 4 || words[3] != "off" && words[3] != "0"
			t.Panes = append(t.Panes, authority.TmuxPane{ID: words[1], TTY: words[2]})
		case len(words) == 5 && words[0] == "client":
			pid, err := strconv.Atoi(words[1])
			active, err2 := strconv.ParseInt(words[2], 10, 64)
			if err == nil && err2 == nil {
				t.Clients = append(t.Clients, authority.TmuxClient{PID: pid, Active: time.Unix(active, 0),
					Pane: words[3], Name: words[4]})
			}
		}
	}
	for i := range t.Clients {
		t.Clients[i].Asked = asked
	}
	return t
}

// runTmux runs a command of the server's own program against its socket.
func (s *Source) runTmux(ctx context.Context, server int, args ...string) ([]byte, error) {
	return s.runTmuxWith(ctx, server, "", args...)
}

// runTmuxWith also gives it something to read.
func (s *Source) runTmuxWith(ctx context.Context, server int, input string, args ...string) ([]byte, error) {
	program, err := s.Program(server)
	if err != nil {
		return nil, err
	}
	socket, err := listeningAt(server)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program, append([]string{"-S", socket}, args...)...)
	cmd.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm", "LC_ALL=C.UTF-8"}
	cmd.WaitDelay = time.Second
	stdout := bounded.NewBuffer(maxTmux)
	cmd.Stdin, cmd.Stdout = strings.NewReader(input), stdout
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%s %s: %w", program, args[0], err)
	}
	return stdout.Bytes(), nil
}
