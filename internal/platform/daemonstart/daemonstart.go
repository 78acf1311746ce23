// Package daemonstart starts the daemon from whichever hook or command needs it first, so
// that exactly one comes up however many try at once. Standard library only: the hook client
// links it.
//
// Two locks (flock) say who does what. start.lock is taken, without waiting, by the process
// that spawns; the open file is handed on to the new daemon, which releases it once its
// socket answers. Starter or daemon may die at any point: the lock goes with the last of
// them. daemon.lock is held by the daemon as long as it lives, so that no one has to guess
// from a pid or a socket file.
//
// daemon.alive is written before a daemon is spawned and removed when it stops cleanly. If
// it is found while daemon.lock is free, the daemon died. After the third death within a
// minute the next start waits, and longer after each further one, so that a broken daemon
// doesn't slow down every tool call of every agent.
//
// A lock that is held by a process that isn't a daemon is put aside, if the system shows who
// holds it: otherwise one process that holds a file open could keep every daemon from
// starting.
package daemonstart

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/paths"
)

// MaxLog is the size at which the daemon's log is set aside: before a start, and
// by a daemon that runs (package logrotate).
const MaxLog = 8 << 20

// Outcome is the result of Start.
type Outcome int

// The outcomes of Start.
const (
	Started Outcome = iota + 1 // a daemon was spawned; its socket will answer soon
	Busy                       // another process is starting one
	Running                    // one lives; if it doesn't answer it is on its way up or down
	Backoff                    // the next start waits after too many deaths
)

// Options of Start.
type Options struct {
	// Env is the environment to take the daemon's from; nil means this process's own.
	Env []string
	// Force starts at once regardless of the number of deaths: the user asked for it.
	Force bool
	// Patient makes Ensure wait while the next start waits, as long as its own time
	// allows.
	Patient bool
}

// LockVariable passes the file descriptor of the start lock to a daemon.
const LockVariable = "HOOKMUX_START_LOCK_FD"

// ErrRunning is returned by Hold when another daemon lives.
var ErrRunning = errors.New("another daemon is running; hookmux status shows it")

// FindProgram finds the hookmux program: next to the running one, or next to the file that
// the running one is a link to. PATH is only used if nothing is installed: an agent's PATH
// is chosen by whatever starts the agent.
func FindProgram(getenv func(string) string) (string, error) {
	var dirs []string
	if self, err := os.Executable(); err == nil {
		dirs = append(dirs, filepath.Dir(self))
		if resolved, err := filepath.EvalSymlinks(self); err == nil {
			dirs = append(dirs, filepath.Dir(resolved))
		}
	}
	found := func() string { return paths.OnPath("hookmux", strings.Join(dirs, string(filepath.ListSeparator))) }
	if file := found(); file != "" {
		return file, nil
	}
	if d, err := paths.Find(getenv); err == nil && d.Installation() != nil {
		return "", errors.New("hookmux: the installed program " + d.Installation().Program +
			" is gone; run hookmux install again")
	}
	dirs = append(dirs, getenv("PATH"))
	if file := found(); file != "" {
		return file, nil
	}
	return "", errors.New("hookmux: program not found beside hookmux-hook or on PATH; install both in one directory")
}

// Ensure starts a daemon and waits until reach, which tries the socket, returns nil or the
// time is over. It may be called by any number of processes at once, and gives up early only
// if nothing can be started or the next start waits.
func Ensure(d paths.Dirs, program string, opt Options, until time.Time, reach func() error) error {
	if d.IsSystem() {
		return ensureSystem(until, reach)
	}
	pause := 2 * time.Millisecond
	var intruder lockIntruder
	for {
		outcome, startErr := Start(d, program, opt)
		err := reach()
		if err == nil {
			return nil
		}
		switch {
		case startErr != nil:
			return startErr
		case outcome == Backoff:
			if next, held := Paused(d); held && (!opt.Patient || next.After(until)) {
				return errors.New("the daemon died several times within a minute and is not started again before " +
					next.Local().Format("15:04:05") + "; see " + d.Log())
			}
		case outcome == Running:
			intruder.putAside(d.LifeLock(), d)
		case outcome == Busy:
			intruder.putAside(d.StartLock(), d)
		}
		left := time.Until(until)
		if left <= 0 {
			return err
		}
		time.Sleep(min(pause, left))
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// daemonEnv reduces an environment to what a daemon needs. Of HOOKMUX_* only the runtime dir
// passes: the daemon that an agent happens to start serves everything, and must not take its
// settings from that agent. The daemon of an installation takes even less of it
// ([paths.Dirs.DaemonEnviron]).
func daemonEnv(env []string, d paths.Dirs) []string {
	var out []string
	has := map[string]bool{}
	for _, entry := range env {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || has[name] || !paths.IsPersonal(name) {
			continue
		}
		if value == "" && (name == "PATH" || name == "HOME") {
			continue
		}
		has[name] = true
		out = append(out, entry)
	}
	if !has["PATH"] {
		out = append(out, "PATH="+paths.DefaultPath)
	}
	if !has["HOME"] && d.Home != "" {
		out = append(out, "HOME="+d.Home)
	}
	return append(out, LockVariable+"=3")
}
