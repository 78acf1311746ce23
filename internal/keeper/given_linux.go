package keeper

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Given is what hookmux-start passed to this process.
type Given struct {
	Socket *os.File // on which the daemon listens; nil for none
	Conn   *os.File // the connection to the keeper
}

// TakeGiven takes over what hookmux-start passed on: nothing of it reaches a child. It
// returns nil if hookmux-start didn't start this process. A program that sets the variable
// without the keeper's descriptors only fools itself: no other program connects to it.
func TakeGiven() (*Given, error) {
	text := os.Getenv(GivenVariable)
	if text == "" {
		return nil, nil
	}
	if err := os.Unsetenv(GivenVariable); err != nil {
		return nil, err
	}
	// From here on, no other process of this user can look into this one, even if the program
	// can be read.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return nil, err
	}
	var fds []int
	for word := range strings.FieldsSeq(text) {
		fd, err := strconv.Atoi(word)
		if err != nil || fd < 3 {
			return nil, errors.New(GivenVariable + " can't be read")
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return nil, err
		}
		fds = append(fds, fd)
	}
	if len(fds) != 2 && len(fds) != 4 {
		return nil, errors.New(GivenVariable + " can't be read")
	}
	path, err := KeptPath(fds[0], fds[1])
	if err != nil {
		return nil, err
	}
	paths.UseKept(path)
	if len(fds) == 2 {
		return &Given{}, nil
	}
	return &Given{Socket: os.NewFile(uintptr(fds[2]), "socket"), Conn: os.NewFile(uintptr(fds[3]), "keeper")}, nil
}
