//go:build unix

package daemonstart

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// This file starts a daemon if the system service keeps its state: hookmux-start does it, and
// the keeper makes sure that there is only one.

// startExits are hookmux-start's exit codes after which it is useless to try again.
const (
	startUnreachable = 70
	startRefused     = 71
	startLater       = 73
	startFailed      = 74
)

// ErrService says that the system service can't be used.
var ErrService = errors.New("hookmux's system service isn't answering; run: " + paths.Repair)

// startSystem runs hookmux-start, which becomes the daemon. What comes of it follows.
func startSystem() (<-chan int, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = null.Close() }()
	closeOnExec()
	program := paths.SystemProgram("hookmux-start")
	proc, err := os.StartProcess(program, []string{program, "daemon"}, &os.ProcAttr{
		Dir: "/", Env: os.Environ(), Files: []*os.File{null, null, null}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return nil, err
	}
	ended := make(chan int, 1)
	go func() {
		code := -1
		if state, err := proc.Wait(); err == nil {
			code = state.ExitCode()
		}
		ended <- code
	}()
	return ended, nil
}

// ensureSystem is Ensure with the system service.
func ensureSystem(until time.Time, reach func() error) error {
	for pause := 2 * time.Millisecond; ; {
		ended, err := startSystem()
		if err != nil {
			return err
		}
		for running := true; running; {
			if err := reach(); err == nil {
				return nil
			} else if time.Now().After(until) {
				return err
			}
			select {
			case code := <-ended:
				switch code {
				case startUnreachable, startFailed:
					return ErrService
				case startRefused:
					return errors.New("hookmux's system service doesn't know this program: it is being debugged, or " +
						"runs in a sandbox or a container")
				case startLater:
					return errors.New("the daemon died several times within half a minute; the next one waits")
				}
				running = false
			case <-time.After(min(pause, max(0, time.Until(until)))):
				pause = min(2*pause, 50*time.Millisecond)
			}
		}
		time.Sleep(min(50*time.Millisecond, max(0, time.Until(until))))
	}
}
