//go:build unix

package tty

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// Open opens a terminal without blocking and without making it the process's controlling
// terminal.
func Open(tty string, mode int) (int, error) {
	return open(tty, mode|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC)
}

// Write writes to a terminal of this user without blocking: a terminal that is stopped gets
// nothing.
func Write(tty, text string) error {
	if !strings.HasPrefix(tty, "/dev/") {
		return fmt.Errorf("%q is not a terminal", tty)
	}
	fd, err := Open(tty, unix.O_WRONLY|unix.O_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("%s: %w", tty, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("%s: %w", tty, err)
	}
	_, noTerminal := unix.IoctlGetWinsize(fd, unix.TIOCGWINSZ)
	if noTerminal != nil || int(stat.Uid) != os.Getuid() {
		return fmt.Errorf("%s isn't your terminal", tty)
	}
	n, err := unix.Write(fd, []byte(text))
	if err != nil {
		return fmt.Errorf("%s takes no text now: %w", tty, err)
	}
	if n < len(text) {
		return fmt.Errorf("%s takes no more text now", tty)
	}
	return nil
}
