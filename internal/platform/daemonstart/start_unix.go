//go:build unix

package daemonstart

import (
	"errors"
	"io"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// Start spawns `hookmux daemon` unless one lives, is being started, or starting
// is paused. It doesn't wait for the socket.
func Start(d paths.Dirs, daemonProgram string, opt Options) (Outcome, error) {
	if d.IsSystem() {
		_, err := startSystem()
		return Started, err
	}
	if err := d.MakeRuntime(); err != nil {
		return 0, err
	}
	lock, err := openLock(d.StartLock())
	if err != nil {
		return 0, err
	}
	// Closing this end keeps the lock if a daemon has got the other one.
	defer func() { _ = lock.Close() }()
	if err := files.TryLock(lock); err != nil {
		if errors.Is(err, files.ErrHeld) {
			return Busy, nil
		}
		return 0, &os.PathError{Op: "lock", Path: d.StartLock(), Err: err}
	}

	alive, err := daemonHoldsLock(d)
	if err != nil {
		return 0, err
	}
	if alive {
		return Running, nil
	}
	now := time.Now()
	lookForDeath(d, now)
	if _, paused := pausedAt(d, now); paused && !opt.Force {
		return Backoff, nil
	}
	if opt.Env == nil {
		opt.Env = os.Environ()
	}
	// From here on, anything but a clean stop is a death. On a full disk a death
	// goes unnoticed, which is better than no daemon.
	_ = writeSmall(d.AliveFile(), []byte(startingMark+"\n"))
	if err := spawn(d, daemonProgram, opt.Env, lock); err != nil {
		_ = os.Remove(d.AliveFile()) // nothing was started, so nothing can die
		return 0, err
	}
	return Started, nil
}

// openLock opens the file of a lock. Anything else in its place is set aside: it must not
// keep every daemon from starting.
func openLock(path string) (*os.File, error) {
	const flags = os.O_RDWR | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	for try := 0; ; try++ {
		f, err := os.OpenFile(path, flags, 0o600)
		if err == nil {
			if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
				return f, nil
			}
			_ = f.Close() // nothing was written
			err = &os.PathError{Op: "lock", Path: path, Err: files.ErrNotRegular}
		}
		if info, errStat := os.Lstat(path); try > 0 || errStat != nil || info.Mode().IsRegular() {
			return nil, err
		}
		if _, errAside := files.SetAside(path); errAside != nil {
			return nil, errors.Join(err, errAside)
		}
	}
}

// daemonHoldsLock reports whether a daemon holds the life lock.
func daemonHoldsLock(d paths.Dirs) (bool, error) {
	f, err := openLock(d.LifeLock())
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // lets go of the lock as well
	switch err := files.TryLock(f); {
	case err == nil:
		return false, nil
	case errors.Is(err, files.ErrHeld):
		return true, nil
	default:
		return false, &os.PathError{Op: "lock", Path: d.LifeLock(), Err: err}
	}
}

// lookForDeath notes the death of a daemon that left its mark behind. If it can't be written
// down, the next start waits less.
func lookForDeath(d paths.Dirs, now time.Time) {
	if os.Remove(d.AliveFile()) == nil {
		_ = noteDeath(d, now)
	}
}

// spawn runs the daemon cut off from everything of this process: an agent waits for every
// process that holds its pipes, and kills its own session and group.
func spawn(d paths.Dirs, program string, env []string, lock *os.File) error {
	if info, err := os.Lstat(d.Log()); err == nil && info.Size() > MaxLog {
		_ = os.Rename(d.Log(), d.Log()+".1") // a log too long is better than no daemon
	}
	log, err := openLog(d.Log())
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the daemon has its own
	null, err := os.OpenFile(os.DevNull, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()

	closeOnExec()
	// The daemon's own files must be private from the first one on. For a moment
	// this also applies to this process, which does no harm.
	old := syscall.Umask(0o077)
	defer syscall.Umask(old)
	proc, err := os.StartProcess(program, []string{program, "daemon"}, &os.ProcAttr{
		Dir:   "/",
		Env:   daemonEnv(env, d),
		Files: []*os.File{null, log, log, lock},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return err
	}
	// The starter may be gone before the daemon is up, and is all that the system shows of the
	// lock. On a full disk the lock may be mistaken for another program's.
	_ = writeSmall(d.AliveFile(), []byte(startingMark+strconv.Itoa(proc.Pid)+"\n"))
	go func() { _, _ = proc.Wait() }() // no zombie if the starter lives on
	return nil
}

// OpenLog opens the log of the daemon for the daemon itself; if that fails, output is
// discarded.
func OpenLog(d paths.Dirs) io.Writer {
	_ = os.MkdirAll(d.OpenRuntime(), 0o700)
	if info, err := os.Lstat(d.Log()); err == nil && info.Size() > MaxLog {
		_ = os.Rename(d.Log(), d.Log()+".1")
	}
	if log, err := openLog(d.Log()); err == nil {
		return log
	}
	return io.Discard
}

// openLog opens the daemon's log. Something else in its place, or a full disk, must
// not keep a daemon from starting.
func openLog(file string) (*os.File, error) {
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE | syscall.O_NOFOLLOW | syscall.O_NONBLOCK
	if log, err := os.OpenFile(file, flags, 0o600); err == nil {
		if info, err := log.Stat(); err == nil && info.Mode().IsRegular() {
			return log, nil
		}
		_ = log.Close() // not hookmux's own
	}
	return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
}

// DaemonLock is a daemon's hold on being the only one.
type DaemonLock struct {
	dirs    paths.Dirs
	lock    *os.File
	earlier *os.File // keeps out daemons of builds before the first release; nil if it can't
}

// AcquireLock makes the calling process the daemon, or returns ErrRunning. It keeps retrying
// for a moment, because a starter that checks whether a daemon lives holds the lock for an
// instant.
func AcquireLock(d paths.Dirs) (*DaemonLock, error) {
	if err := d.MakeRuntime(); err != nil {
		return nil, err
	}
	f, err := openLock(d.LifeLock())
	if err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		err := files.TryLock(f)
		if err == nil {
			break
		}
		if !errors.Is(err, files.ErrHeld) || try == 40 {
			_ = f.Close() // the lock was never ours
			if errors.Is(err, files.ErrHeld) {
				return nil, ErrRunning
			}
			return nil, &os.PathError{Op: "lock", Path: d.LifeLock(), Err: err}
		}
		time.Sleep(5 * time.Millisecond)
	}
	var earlier *os.File
	if !d.IsSystem() { // there was no service then
		earlier = replaceEarlier(d)
	}
	syscall.Umask(0o077)
	// Says who holds the lock; on a full disk the name of the program does.
	_ = writeSmall(d.AliveFile(), []byte(strconv.Itoa(os.Getpid())+"\n"))
	return &DaemonLock{dirs: d, lock: f, earlier: earlier}, nil
}

// Ready releases the start lock. The daemon calls it once its socket answers.
func (l *DaemonLock) Ready() {
	text, ok := os.LookupEnv(LockVariable)
	if !ok {
		return
	}
	_ = os.Unsetenv(LockVariable) // not for the daemon's children
	// Only the number that Start passes on: anything else isn't ours to close.
	if fd, err := strconv.Atoi(text); err == nil && fd == 3 && sameFile(fd, l.dirs.StartLock()) {
		_ = syscall.Close(fd) // closing is all there is to do
	}
}

// sameFile guards against a variable that was inherited without its file.
func sameFile(fd int, path string) bool {
	var a, b syscall.Stat_t
	return syscall.Fstat(fd, &a) == nil && syscall.Stat(path, &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino
}

// Stop is the clean end: it removes the mark, then releases the lock, in this order, so that
// no starter sees a mark without a daemon.
func (l *DaemonLock) Stop() error {
	if l.earlier != nil { // first: the next daemon would take this one for an earlier one
		if !l.Lost() {
			_ = os.Remove(l.earlier.Name()) // what stays is only a leftover
		}
		_ = l.earlier.Close()
	}
	if l.Lost() {
		return l.lock.Close() // the mark there is another daemon's
	}
	err := os.Remove(l.dirs.AliveFile())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.lock.Close())
}

// DaemonHoldsLock reports whether there is a daemon, answering or not.
func DaemonHoldsLock(d paths.Dirs) bool {
	if d.IsSystem() && !paths.IsAttested() {
		return systemDaemon() != 0
	}
	if _, err := os.Stat(d.LifeLock()); err != nil {
		return false
	}
	alive, err := daemonHoldsLock(d)
	return err == nil && alive
}

// Lost reports that this daemon's lock is no longer the one that daemons use: its folder was
// removed, or the lock was put aside. Another daemon may be running then, and this one must
// end.
func (l *DaemonLock) Lost() bool {
	mine, err := l.lock.Stat()
	if err != nil {
		return true
	}
	there, err := os.Stat(l.dirs.LifeLock())
	return err != nil || !os.SameFile(mine, there)
}
