package proc

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// wakeIdent marks the user event that ends a watch when its context does.
const wakeIdent = 1

// WatchExit returns a channel that is closed when the process ends. For a process that is
// gone already, or whose pid now belongs to another, it returns a closed channel at once;
// start 0 leaves that comparison out. If ctx ends first the watch is dropped and the channel
// stays open: wait for both.
func WatchExit(ctx context.Context, pid int, start uint64) (<-chan struct{}, error) {
	if pid <= 0 {
		return nil, fmt.Errorf("watch process %d: not a process id", pid)
	}
	queue, err := unix.Kqueue()
	if err != nil {
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	unix.CloseOnExec(queue)
	done := make(chan struct{})

	var exit, wake unix.Kevent_t
	unix.SetKevent(&exit, pid, unix.EVFILT_PROC, unix.EV_ADD|unix.EV_ONESHOT)
	exit.Fflags = unix.NOTE_EXIT
	unix.SetKevent(&wake, wakeIdent, unix.EVFILT_USER, unix.EV_ADD|unix.EV_CLEAR)
	if err := changeEvents(queue, wake); err != nil {
		unix.Close(queue)
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	err = changeEvents(queue, exit)
	// Compared after registering: from here on the event means one process.
	if errors.Is(err, unix.ESRCH) || gone(pid, start) {
		unix.Close(queue)
		close(done)
		return done, nil
	}
	if err != nil {
		unix.Close(queue)
		return nil, fmt.Errorf("watch process %d: %w", pid, err)
	}
	go await(ctx, queue, done)
	return done, nil
}

func changeEvents(queue int, event unix.Kevent_t) error {
	for {
		_, err := unix.Kevent(queue, []unix.Kevent_t{event}, nil, nil)
		if err != unix.EINTR {
			return err
		}
	}
}

func gone(pid int, start uint64) bool {
	p, ended, err := lookupProcess(pid)
	if errors.Is(err, ErrGone) {
		return true
	}
	return err == nil && (ended || start != 0 && p.Start != start)
}

func await(ctx context.Context, queue int, done chan struct{}) {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		var wake unix.Kevent_t
		unix.SetKevent(&wake, wakeIdent, unix.EVFILT_USER, 0)
		wake.Fflags = unix.NOTE_TRIGGER
		_ = changeEvents(queue, wake)
	})
	defer func() {
		// The queue's number may be given out again once closed, so a wake
		// that has begun must be over first.
		if !stop() {
			<-woken
		}
		unix.Close(queue)
	}()
	events := make([]unix.Kevent_t, 1)
	for {
		n, err := unix.Kevent(queue, nil, events, nil)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n > 0 && events[0].Filter == unix.EVFILT_PROC {
			close(done)
		}
		return
	}
}
