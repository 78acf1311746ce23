package host

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/internal/edit/userfile"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
)

// launchList has the files that `hookmux run --hook` loads for one launch. They apply to
// what comes from below the process that asked, which then becomes the agent, and end with
// it. They are recorded on disk, because a daemon may end before the agent does, and the next
// must not leave its guards out.
type launchList struct {
	deps  services.Deps
	ended func(*launched)
	count atomic.Int32 // to pass by without the lock

	mu     sync.Mutex
	list   []*launched
	ctx    context.Context
	cancel context.CancelFunc
}

// launched is one launch.
type launched struct {
	PID   int      `json:"pid"`
	Start uint64   `json:"start"`
	Files []string `json:"files"`
}

func (one *launched) ownerName() string {
	return "run:" + strconv.Itoa(one.PID) + ":" + strconv.FormatUint(one.Start, 10)
}

func (one *launched) sameProcess(other *launched) bool {
	return one.PID == other.PID && one.Start == other.Start
}

func newLaunchList(ctx context.Context, deps services.Deps, ended func(*launched)) *launchList {
	l := &launchList{deps: deps, ended: ended}
	l.ctx, l.cancel = context.WithCancel(ctx)
	return l
}

func (l *launchList) stateFile() string { return filepath.Join(l.deps.Dirs.State, "runs.json") }

// loadLaunches takes over what an earlier daemon knew.
func (l *launchList) loadLaunches() {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := files.Read(l.stateFile(), 16<<20)
	if err != nil {
		return
	}
	var list []*launched
	if err := json.Unmarshal(b, &list); err != nil {
		l.deps.Problems.Raise("runs", l.stateFile()+": cannot be read, so hooks given to `hookmux run --hook` do "+
			"not count "+
			"for sessions that are open", "restart those sessions")
		return
	}
	for _, one := range list {
		if p, err := l.deps.Processes.Lookup(one.PID); err == nil && p.Start == one.Start {
			l.watchLaunch(one)
		}
	}
	_ = l.saveLaunches() // an entry too many is dropped by the next daemon
}

func (l *launchList) stopWatching() { l.cancel() }

// addLaunch remembers a launch before it begins.
func (l *launchList) addLaunch(p proc.Process, files []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watchLaunch(&launched{PID: p.PID, Start: p.Start, Files: files})
	return l.saveLaunches()
}

// watchLaunch keeps a launch until its process ends.
func (l *launchList) watchLaunch(one *launched) {
	for i, old := range l.list {
		if old.sameProcess(one) {
			l.list[i] = one
			return
		}
	}
	l.list = append(l.list, one)
	l.count.Store(int32(len(l.list)))
	gone := l.deps.WatchExit(l.ctx, one.PID, one.Start)
	l.deps.Background.Go(func() {
		if gone == nil {
			gone = l.pollExit(one)
		}
		select {
		case <-gone:
			l.dropLaunch(one)
		case <-l.ctx.Done():
		}
	})
}

// pollExit is for systems that don't report the end of a process.
func (l *launchList) pollExit(one *launched) <-chan struct{} {
	done := make(chan struct{})
	l.deps.Background.Go(func() {
		defer close(done)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			if p, err := l.deps.Processes.Lookup(one.PID); err != nil || p.Start != one.Start {
				return
			}
			select {
			case <-tick.C:
			case <-l.ctx.Done():
				return
			}
		}
	})
	return done
}

func (l *launchList) dropLaunch(one *launched) {
	if l.ctx.Err() != nil {
		return // the daemon ends; the next one looks itself
	}
	l.mu.Lock()
	for i, old := range l.list {
		if old.sameProcess(one) {
			l.list = append(l.list[:i], l.list[i+1:]...)
			break
		}
	}
	l.count.Store(int32(len(l.list)))
	_ = l.saveLaunches() // an entry too many is dropped by the next daemon
	l.mu.Unlock()
	l.ended(one)
}

func (l *launchList) saveLaunches() error {
	if len(l.list) == 0 {
		_ = os.Remove(l.stateFile())
		return nil
	}
	b, err := json.Marshal(l.list)
	if err != nil {
		return err
	}
	return userfile.Store(l.stateFile(), b)
}

// maxDepth is more processes than there ever are above a hook, unless it is called in a
// circle.
const maxDepth = 128

// launchesAbove returns the launches whose process is the agent's, or is above pid.
func (l *launchList) launchesAbove(agent Process, pid int) []*launched {
	l.mu.Lock()
	list := append([]*launched(nil), l.list...)
	l.mu.Unlock()
	chain := proc.Ancestry(l.deps.Processes, pid, maxDepth)
	var out []*launched
	for _, one := range list {
		found := agent.PID == one.PID && agent.Start == one.Start
		for _, above := range chain {
			found = found || above.PID == one.PID && above.Start == one.Start
		}
		if found {
			out = append(out, one)
		}
	}
	return out
}

// Process identifies a process forever.
type Process struct {
	PID   int
	Start uint64
}
