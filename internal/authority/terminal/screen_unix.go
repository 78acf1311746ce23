//go:build unix

package terminal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	ttys "github.com/hookmux/hookmux/internal/platform/tty"
)

// ttyScreen is a terminal that the daemon opened. It does not become the daemon's own.
type ttyScreen struct {
	fd    int
	state *term.State
}

// openScreen opens a terminal, makes it pass on keys as they come and forgets
// what was typed before.
func openScreen(tty string) (screen, error) {
	fd, err := ttys.Open(tty, unix.O_RDWR)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", tty, err)
	}
	state, err := term.MakeRaw(fd)
	if err != nil {
		_ = unix.Close(fd) // nothing was written
		return nil, fmt.Errorf("%s: %w", tty, err)
	}
	s := &ttyScreen{fd, state}
	if err := flushInput(fd); err != nil {
		s.Close()
		return nil, fmt.Errorf("%s: %w", tty, err)
	}
	return s, nil
}

// openWriter opens a terminal only to write to it.
func openWriter(tty string) (screenWriter, error) {
	fd, err := ttys.Open(tty, unix.O_WRONLY)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", tty, err)
	}
	return &ttyWriter{ttyScreen{fd: fd}}, nil
}

// ttyWriter is a terminal that another program reads.
type ttyWriter struct{ ttyScreen }

func (w *ttyWriter) Close() { _ = unix.Close(w.fd) } // nothing is buffered

// pollStep is how often a wait for a key looks whether it is still wanted.
const pollStep = 100 * time.Millisecond

func (s *ttyScreen) Print(text string) error {
	if columns, _, err := term.GetSize(s.fd); err == nil {
		text = wrapLines(text, columns)
	}
	b := []byte(text)
	for end := time.Now().Add(5 * time.Second); len(b) > 0; {
		n, err := unix.Write(s.fd, b)
		switch {
		case n > 0:
			b = b[n:]
		case errors.Is(err, unix.EAGAIN) && time.Now().Before(end):
			s.waitFor(unix.POLLOUT)
		case !errors.Is(err, unix.EINTR):
			return fmt.Errorf("write to the terminal: %w", err)
		}
	}
	return nil
}

// ShowCode has it shown with the question.
func (s *ttyScreen) ShowCode(code string) (string, error) { return codeWords(code), nil }

// waitFor waits a moment for the terminal.
func (s *ttyScreen) waitFor(what int16) {
	set := []unix.PollFd{{Fd: int32(s.fd), Events: what}}
	_, _ = unix.Poll(set, int(pollStep.Milliseconds())) // who calls tries again
}

func (s *ttyScreen) ReadKey(ctx context.Context) (byte, error) {
	var key [1]byte
	for {
		if err := ctx.Err(); err != nil {
			return 0, errNoAnswer
		}
		n, err := unix.Read(s.fd, key[:])
		switch {
		case n == 1:
			return key[0], nil
		case err == nil:
			return 0, errNoAnswer // it was hung up
		case errors.Is(err, unix.EAGAIN):
			s.waitFor(unix.POLLIN)
		case !errors.Is(err, unix.EINTR):
			return 0, fmt.Errorf("read from the terminal: %w", err)
		}
	}
}

func (s *ttyScreen) Flush() error { return flushInput(s.fd) }

func (s *ttyScreen) Close() {
	_ = flushInput(s.fd)            // keys meant for the question
	_ = term.Restore(s.fd, s.state) // the terminal may be gone
	_ = unix.Close(s.fd)            // nothing is buffered
}
