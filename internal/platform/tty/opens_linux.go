package tty

import (
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// A terminal answers queries as if you had typed: where its cursor is, what it is, which
// colors it has. So a program that can write to a terminal can make keys arrive there, and
// code that waits for the user's keys must know who opened the terminal in the meantime.

// opens is what this process knows of them, without its own writes.
var opens struct {
	mu    sync.Mutex
	fd    int // of inotify; 0 until a terminal is watched
	paths map[string]*opened
}

type opened struct {
	watch int
	last  time.Time
}

// maxWatched limits how many terminals are watched.
const maxWatched = 256

// TellsOpens is whether this system reports who opens a terminal.
const TellsOpens = true

// WatchOpens notices from now on when another program opens a terminal.
func WatchOpens(tty string) error {
	opens.mu.Lock()
	defer opens.mu.Unlock()
	if opens.fd == 0 {
		fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
		if err != nil {
			return err
		}
		opens.fd, opens.paths = fd, map[string]*opened{}
	}
	drainOpens()
	if opens.paths[tty] == nil && len(opens.paths) >= maxWatched {
		return errors.New("too many terminals")
	}
	watch, err := unix.InotifyAddWatch(opens.fd, tty, unix.IN_OPEN)
	if err != nil {
		return err
	}
	if one := opens.paths[tty]; one == nil || one.watch != watch { // else it is the same device as before
		opens.paths[tty] = &opened{watch: watch}
	}
	return nil
}

// OpenedAt returns when another program was last found to have opened a terminal, zero for
// never, and whether the terminal is watched.
func OpenedAt(tty string) (at time.Time, watched bool) {
	opens.mu.Lock()
	defer opens.mu.Unlock()
	drainOpens()
	one := opens.paths[tty]
	if one == nil {
		return time.Time{}, false
	}
	return one.last, true
}

// drainOpens reads what happened. opens.mu is held.
func drainOpens() {
	var buf [16 << 10]byte
	for opens.fd != 0 {
		n, err := unix.Read(opens.fd, buf[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			return // nothing more
		}
		for rest := buf[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			watch := int(int32(binary.NativeEndian.Uint32(rest)))
			mask := binary.NativeEndian.Uint32(rest[4:])
			rest = rest[min(len(rest), unix.SizeofInotifyEvent+int(binary.NativeEndian.Uint32(rest[12:]))):]
			noteOpen(watch, mask)
		}
	}
}

func noteOpen(watch int, mask uint32) {
	for tty, one := range opens.paths {
		switch {
		case mask&unix.IN_Q_OVERFLOW != 0, one.watch == watch && mask&unix.IN_OPEN != 0:
			one.last = time.Now()
		case one.watch == watch && mask&unix.IN_IGNORED != 0: // the terminal is gone
			delete(opens.paths, tty)
		}
	}
}

// open opens a terminal without being noticed by WatchOpens.
func open(tty string, flags int) (int, error) {
	opens.mu.Lock()
	defer opens.mu.Unlock()
	drainOpens()
	one := opens.paths[tty]
	if one != nil {
		_, _ = unix.InotifyRmWatch(opens.fd, uint32(one.watch)) // it may be gone
	}
	fd, err := unix.Open(tty, flags, 0)
	if one != nil {
		if watch, errWatch := unix.InotifyAddWatch(opens.fd, tty, unix.IN_OPEN); errWatch == nil {
			one.watch = watch
		} else {
			delete(opens.paths, tty)
		}
	}
	return fd, err
}
