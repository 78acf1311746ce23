package tmux

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// ErrNoServer says that no tmux server listens on the socket.
var ErrNoServer = errors.New("no tmux server is running")

// ErrNoTmux says that the program is not installed.
var ErrNoTmux = errors.New("tmux is not on PATH; install it")

// patience bounds one call; a server that hangs must not hold the daemon up.
const patience = 5 * time.Second

// Server is one tmux server. The zero value is the user's default one.
type Server struct {
	Socket  string // path of its socket; "" is the default one
	Program string // "" looks tmux up on PATH
}

// FromEnv returns the server that an environment names: TMUX holds its socket, a pid
// and a session. Without it, the default server.
func FromEnv(getenv func(string) string) *Server {
	// From the right: the path may hold commas itself.
	socket := getenv("TMUX")
	for range 2 {
		if i := strings.LastIndexByte(socket, ','); i >= 0 {
			socket = socket[:i]
		}
	}
	if !filepath.IsAbs(socket) {
		socket = ""
	}
	return &Server{Socket: socket}
}

// oneSocket returns the one path of a server's socket, including the default server's, for which
// socket is "".
func oneSocket(socket string) string {
	if socket == "" {
		socket = filepath.Join(cmp.Or(os.Getenv("TMUX_TMPDIR"), "/tmp"), "tmux-"+strconv.Itoa(os.Getuid()), "default")
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(socket)); err == nil {
		return filepath.Join(dir, filepath.Base(socket))
	}
	return socket
}

// Available reports whether tmux is installed at all.
func (s *Server) Available() bool {
	_, err := s.tmuxProgram()
	return err == nil
}

func (s *Server) tmuxProgram() (string, error) {
	if s.Program != "" {
		return s.Program, nil
	}
	path, err := exec.LookPath("tmux")
	if err != nil {
		return "", ErrNoTmux
	}
	return path, nil
}

// runCommand runs one command on the server and returns what it prints.
func (s *Server) runCommand(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	return s.runClient(ctx, nil, args)
}

// runBatch runs several commands on the server in one go. tmux stops at the first that fails.
func (s *Server) runBatch(ctx context.Context, commands [][]string) error {
	// A client's whole message must fit tmux's limit of 16 kB.
	const most = 8 << 10
	for len(commands) > 0 {
		n, size := 0, 0
		for n < len(commands) {
			for _, a := range commands[n] {
				size += len(a) + 2
			}
			if n > 0 && size > most {
				break
			}
			n++
		}
		call, cancel := context.WithTimeout(ctx, patience)
		_, err := s.runClient(call, nil, commands[:n]...)
		cancel()
		if err != nil {
			return err
		}
		commands = commands[n:]
	}
	return nil
}

// runClient runs one tmux client for some commands, for as long as ctx lets it.
func (s *Server) runClient(ctx context.Context, stdin []byte, commands ...[]string) (string, error) {
	program, err := s.tmuxProgram()
	if err != nil {
		return "", err
	}
	args := []string{"-u"}
	if s.Socket != "" {
		args = append(args, "-S", s.Socket)
	}
	for i, command := range commands {
		if i > 0 {
			args = append(args, ";")
		}
		for _, a := range command {
			args = append(args, escapeArgument(strings.ReplaceAll(a, "\x00", "")))
		}
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = time.Second
	// TMUX decides the server and the client tmux thinks it speaks for; the
	// socket above does that here.
	cmd.Env = withoutVariables(os.Environ(), "TMUX", "TMUX_PANE")
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(problem.String())
		if ctx.Err() != nil {
			return "", fmt.Errorf("tmux %s: no answer: %w", commands[0][0], ctx.Err())
		}
		if strings.Contains(said, "no server running") || strings.Contains(said, "error connecting to") ||
			strings.Contains(said, "server exited") || strings.Contains(said, "lost server") {
			return "", ErrNoServer
		}
		if said == "" {
			return "", fmt.Errorf("tmux %s: %w", commands[0][0], err)
		}
		return "", fmt.Errorf("tmux %s: %s", commands[0][0], termsafe.Line(said, 200))
	}
	return out.String(), nil
}

// Running reports whether the server is there.
func (s *Server) Running(ctx context.Context) bool {
	_, err := s.runCommand(ctx, "list-sessions", "-F", "#{session_id}")
	return err == nil
}

// Version is tmux's own, as major and minor; 0, 0 when it cannot be known.
func (s *Server) Version(ctx context.Context) (major, minor int) {
	program, err := s.tmuxProgram()
	if err != nil {
		return 0, 0
	}
	out, err := exec.CommandContext(ctx, program, "-V").Output()
	if err != nil {
		return 0, 0
	}
	text := strings.TrimSpace(string(out))
	if i := strings.IndexAny(text, "0123456789"); i >= 0 {
		_, _ = fmt.Sscanf(text[i:], "%d.%d", &major, &minor)
	}
	return major, minor
}

func withoutVariables(environ []string, names ...string) []string {
	out := make([]string, 0, len(environ))
next:
	for _, entry := range environ {
		for _, name := range names {
			if strings.HasPrefix(entry, name+"=") {
				continue next
			}
		}
		out = append(out, entry)
	}
	return out
}
