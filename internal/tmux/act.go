package tmux

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Focused is what Focus did.
type Focused struct {
	Pane   Pane
	Client string // the client that now shows the pane; "" when none is attached
	// Attach shows the pane in a terminal of your own, if there is no client.
	Attach []string
}

// Focus shows a pane to the user. from is the pane the user asks from (TMUX_PANE), "" from outside of
// tmux: then the client that shows the pane's session already is used, else the one used last. Without
// any client the pane is selected for the next one that attaches.
func (s *Server) Focus(ctx context.Context, id, from string) (Focused, error) {
	p, err := s.Pane(ctx, id)
	if err != nil {
		return Focused{}, err
	}
	client, err := s.clientFor(ctx, p, from)
	if err != nil {
		return Focused{}, err
	}
	commands := [][]string{
		{"select-window", "-t", p.Session + ":" + strconv.Itoa(p.Index)},
		{"select-pane", "-t", p.ID},
	}
	if client != "" {
		commands = append(commands, []string{"switch-client", "-c", client, "-t", p.ID})
	}
	if err := s.runBatch(ctx, commands); err != nil {
		return Focused{}, err
	}
	attach := []string{"tmux"}
	if s.Socket != "" {
		attach = append(attach, "-S", s.Socket)
	}
	return Focused{Pane: p, Client: client, Attach: append(attach, "attach-session", "-t", p.Session)}, nil
}

func (s *Server) clientFor(ctx context.Context, p Pane, from string) (string, error) {
	out, err := s.runCommand(ctx, "list-clients", "-F",
		strings.Join([]string{"#{client_activity}", "#{session_id}", "#{client_control_mode}", "#{client_name}"}, sep))
	if err != nil {
		return "", err
	}
	prefer := p.Session
	if from != "" {
		if here, err := s.Pane(ctx, from); err == nil {
			prefer = here.Session
		}
	}
	best, bestAt := "", int64(-1)
	for _, row := range strings.Split(out, "\n") {
		f := strings.SplitN(row, sep, 4)
		if len(f) != 4 || f[2] == "1" { // a program, not a user
			continue
		}
		at, _ := strconv.ParseInt(f[0], 10, 64)
		if f[1] == prefer {
			at += 1 << 40
		}
		if at > bestAt {
			best, bestAt = f[3], at
		}
	}
	return best, nil
}

// Open runs a program in a new window and returns its pane. argv is run as it is, by no shell. The
// window opens behind the current one. session "" is the one used last; without a server one is
// started.
func (s *Server) Open(ctx context.Context, session, name, cwd string, argv []string) (Pane, error) {
	if len(argv) == 0 {
		return Pane{}, fmt.Errorf("nothing to run in a new window")
	}
	if len(argv) == 1 {
		argv = []string{"/usr/bin/env", argv[0]} // one word would go to a shell
	}
	args := []string{"new-window", "-d", "-P", "-F", "#{pane_id}"}
	if !s.Running(ctx) {
		args = []string{"new-session", "-d", "-P", "-F", "#{pane_id}"}
	} else if session != "" {
		args = append(args, "-a", "-t", session)
	}
	if name != "" {
		args = append(args, "-n", Name(name))
	}
	if cwd != "" {
		// The directory is expanded, too.
		args = append(args, "-c", strings.ReplaceAll(cwd, "#", "##"))
	}
	out, err := s.runCommand(ctx, append(append(args, "--"), argv...)...)
	if err != nil {
		return Pane{}, err
	}
	id := strings.TrimSpace(out)
	p, err := s.Pane(ctx, id)
	if err != nil {
		return Pane{ID: id, Dead: true}, fmt.Errorf("the new window closed at once: %w", err)
	}
	return p, nil
}

var buffers atomic.Int64

// Type puts text into a pane as if it was pasted: by itself it runs nothing in
// a program that knows pastes. Control characters other than line ends and tabs
// are left out, so that it cannot end the paste by itself. With enter a return
// follows, a moment later: programs take one that comes with the paste as part
// of it.
func (s *Server) Type(ctx context.Context, id, text string, enter bool) error {
	p, err := s.Pane(ctx, id)
	if err != nil {
		return err
	}
	if p.Dead {
		return fmt.Errorf("nothing runs in pane %s any more", id)
	}
	if p.InMode { // else the keys would scroll
		if _, err := s.runCommand(ctx, "copy-mode", "-q", "-t", id); err != nil {
			return err
		}
	}
	text = typableText(text)
	if text != "" {
		name := fmt.Sprintf("hookmux-%d-%d", os.Getpid(), buffers.Add(1))
		loading, cancel := context.WithTimeout(ctx, patience)
		_, err := s.runClient(loading, []byte(text), []string{"load-buffer", "-b", name, "-"})
		cancel()
		if err != nil {
			return err
		}
		if _, err := s.runCommand(ctx, "paste-buffer", "-d", "-p", "-b", name, "-t", id); err != nil {
			_, _ = s.runCommand(ctx, "delete-buffer", "-b", name)
			return err
		}
	}
	if !enter {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(150 * time.Millisecond):
	}
	_, err = s.runCommand(ctx, "send-keys", "-t", id, "Enter")
	return err
}

func typableText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r == '\uFFFD' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), ""))
}

// SplitLeft runs a shell command in a new pane at the left edge of a pane's window, so
// many columns wide. The pane stays selected.
func (s *Server) SplitLeft(ctx context.Context, pane string, columns int, command string) error {
	_, err := s.runCommand(ctx, "split-window", "-d", "-h", "-b", "-f", "-l", strconv.Itoa(columns), "-t", pane, command)
	return err
}

// NewWindow runs a shell command in a new window next to a pane's.
func (s *Server) NewWindow(ctx context.Context, pane, name, command string) error {
	at, err := s.Pane(ctx, pane)
	if err != nil {
		return err
	}
	_, err = s.runCommand(ctx, "new-window", "-a", "-t", at.Window, "-n", name, command) // it takes no pane
	return err
}

// ShowPopup runs a shell command in a popup over a pane, until it ends.
func (s *Server) ShowPopup(ctx context.Context, pane, command string) error {
	_, err := s.runClient(ctx, nil, []string{"display-popup", "-t", pane, "-E", "-w", "90%", "-h", "80%", command})
	return err
}
