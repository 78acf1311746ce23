package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// pollEvery is the interval if pidfd is missing (old kernels, some sandboxes).
const pollEvery = 500 * time.Millisecond

// WatchExit returns a channel that is closed when the process ends. For a process that is
// gone already, or whose pid now belongs to another, it returns a closed channel at once;
// start 0 leaves that comparison out. If ctx ends first the watch is dropped and the channel
// stays open: wait for both.
func WatchExit(ctx context.Context, pid int, start uint64) (<-chan struct{}, error) {
	if pid <= 0 {
		return nil, fmt.Errorf("watch process %d: not a process id", pid)
	}
	done := make(chan struct{})
	fd, openErr := openPidfd(pid)
	if openErr == nil {
		// Compared after opening: from here on the descriptor means one process.
		if gone(pid, start) {
			unix.Close(fd)
			close(done)
			return done, nil
		}
		file := os.NewFile(uintptr(fd), "pidfd")
		go awaitPidfd(ctx, file, done)
		return done, nil
	}
	if gone(pid, start) {
		close(done)
		return done, nil
	}
	go awaitByPolling(ctx, pid, start, done)
	return done, nil
}

// openPidfd asks for a non-blocking descriptor so that the runtime's poller
// takes it: a watch is a parked goroutine, not a blocked thread.
func openPidfd(pid int) (int, error) {
	fd, err := unix.PidfdOpen(pid, unix.PIDFD_NONBLOCK)
	if !errors.Is(err, unix.EINVAL) {
		return fd, err
	}
	// Kernels 5.3 to 5.9 know pidfd but not the flag.
	if fd, err = unix.PidfdOpen(pid, 0); err != nil {
		return -1, err
	}
	if err = unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func gone(pid int, start uint64) bool {
	p, ended, err := lookupProcess(pid)
	if errors.Is(err, ErrGone) {
		return true
	}
	return err == nil && (ended || start != 0 && p.Start != start)
}

func awaitPidfd(ctx context.Context, file *os.File, done chan struct{}) {
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	raw, err := file.SyscallConn()
	if err != nil {
		return
	}
	ended := false
	// Read calls back whenever the descriptor may be ready; a pidfd is
	// readable exactly when its process has ended.
	_ = raw.Read(func(fd uintptr) bool {
		set := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		n, err := ignoringEINTR(func() (int, error) { return unix.Poll(set, 0) })
		ended = err == nil && n > 0
		return ended
	})
	if ended {
		close(done)
	}
}

func awaitByPolling(ctx context.Context, pid int, start uint64, done chan struct{}) {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if gone(pid, start) {
				close(done)
				return
			}
		}
	}
}
