package daemonstart

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// intruderWait is how long a process must be seen to hold a lock before the lock is put
// aside: a daemon that just came up hasn't written yet who it is.
const intruderWait = 300 * time.Millisecond

// lockIntruder remembers which process was first seen to hold a lock without being
// a daemon, and when.
type lockIntruder struct {
	pid   int
	since time.Time
}

// putAside renames a lock held by a process that isn't a daemon and isn't starting one, so
// that the next look finds it free. It does nothing if the system doesn't show who holds a
// lock.
func (s *lockIntruder) putAside(lock string, d paths.Dirs) {
	pid, inode := lockHolder(lock)
	if pid == 0 || pid == os.Getpid() || belongsToDaemon(pid, d) {
		s.pid = 0
		return
	}
	if s.pid != pid {
		s.pid, s.since = pid, time.Now()
		return
	}
	if time.Since(s.since) < intruderWait {
		return
	}
	s.pid = 0
	aside := lock + asideMark + strconv.Itoa(pid) + "-" + programName(pid)
	if err := os.Rename(lock, aside); err != nil {
		return // another process was faster
	}
	// If the lock was replaced between the look and the renaming, it is put back.
	if fileNumber(aside) != inode {
		_ = os.Link(aside, lock) // fails if a new one was made in the meantime
		_ = os.Remove(aside)
	}
}

// asideMark separates the name of a lock that was put aside from who held it.
const asideMark = ".held-by-"

// Bypassed returns which processes held a lock without being a daemon, and forgets them. The
// daemon calls it to report them.
func Bypassed(d paths.Dirs) []string {
	files, err := filepath.Glob(filepath.Join(d.Runtime, "*.lock"+asideMark+"*"))
	if err != nil {
		return nil
	}
	var list []string
	for _, file := range files {
		lock, who, _ := strings.Cut(filepath.Base(file), asideMark)
		pid, name, _ := strings.Cut(who, "-")
		list = append(list, "process "+pid+" ("+name+") held "+lock+" without being a daemon; it was bypassed")
		_ = os.Remove(file) // said again at the next start otherwise
	}
	return list
}

// DaemonPID returns the process that holds the daemon's lock and is a daemon; 0 when there is
// none or it is not known.
func DaemonPID(d paths.Dirs) int {
	if d.IsSystem() && !paths.IsAttested() {
		return systemDaemon()
	}
	holder, _ := lockHolder(d.LifeLock())
	if holder != 0 {
		if belongsToDaemon(holder, d) {
			return holder
		}
		return 0
	}
	// The system doesn't show who holds a lock: the daemon wrote down its own pid.
	if !DaemonHoldsLock(d) {
		return 0
	}
	return markedDaemon(d)
}

// startingMark begins the mark of a daemon that is not up yet; its number follows.
const startingMark = "starting "

// markedDaemon returns the process in the mark of a daemon that runs or starts; 0 if there is
// none. It may be gone.
func markedDaemon(d paths.Dirs) int {
	text, err := files.Read(d.AliveFile(), 64)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(string(text)), startingMark))
	if err != nil || pid <= 1 {
		return 0
	}
	return pid
}

// belongsToDaemon reports whether a process is a daemon, or a hookmux program that is
// starting one: the daemon wrote its pid down, or the process has the name. If the process
// is gone, the daemon that it started may have the lock.
func belongsToDaemon(pid int, d paths.Dirs) bool {
	if IsConfinedElsewhere(pid) {
		return false // it isn't believed, so another must be able to start
	}
	marked, name := markedDaemon(d), programName(pid)
	if name == "" {
		name = programName(marked)
	} else if pid == marked {
		return true
	}
	return strings.HasPrefix(name, "hookmux")
}
