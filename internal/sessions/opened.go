package sessions

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/launch/resumeargs"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
)

// openFinder finds agents that are open at a terminal and haven't been prompted: some
// report nothing before that.
type openFinder struct {
	deps    services.Deps
	tracker *tracker
	locate  func(who Process, claimed event.Place, environ []byte) event.Place
	list    func() []int // the processes there are

	mu     sync.Mutex
	looked time.Time
	others map[program]bool // what was looked at, and is nothing of the kind
}

// program is the program that a process runs, until it runs something else.
type program struct {
	processKey
	name string
}

const (
	// openPeriod is how often processes are looked at while the sessions are on a screen.
	openPeriod = 2 * time.Second
	// maxHookFile bounds how much is read of a file with hooks.
	maxHookFile = 4 << 20
)

func newOpenFinder(deps services.Deps, t *tracker, panes *paneFinder) *openFinder {
	return &openFinder{deps: deps, tracker: t, locate: panes.locateProcess, list: proc.List,
		others: map[program]bool{}}
}

// find looks for such agents, unless it did so a moment ago.
func (o *openFinder) find(ctx context.Context) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if time.Since(o.looked) < openPeriod/2 {
		return
	}
	o.looked = time.Now()
	kept := map[program]bool{}
	for _, pid := range o.list() {
		if ctx.Err() != nil {
			return
		}
		p, err := o.deps.Processes.Lookup(pid)
		if err != nil || p.TTY == "" || p.Foreground != p.PGID || p.EUID != os.Getuid() {
			continue
		}
		key := program{processKey{p.PID, p.Start}, p.Name}
		if o.others[key] || !o.noteOpen(p) {
			kept[key] = true
		}
	}
	o.others = kept
}

// noteOpen records that an agent is open in a process; false where none is.
func (o *openFinder) noteOpen(p proc.Process) bool {
	shown, err := o.deps.Processes.Args(p.PID)
	if err != nil {
		return false
	}
	for _, a := range o.deps.Catalogue.Agents() {
		if !a.Status.OpensSilently {
			continue
		}
		_, args, ok := resumeargs.FromProcess(a, shown)
		if !ok {
			continue
		}
		folder := proc.Folder(p.PID)
		environ, _ := o.deps.Processes.Environ(p.PID)
		if _, session := resumeargs.Clean(a, args, folder); !session || !o.isHooked(a, p, args, environ, folder) {
			return false
		}
		at := o.locate(Process{PID: p.PID, Start: p.Start, TTY: p.TTY}, event.Place{}, joinEnviron(environ))
		o.tracker.noteChange(o.tracker.sessions.Opened(a.Name, at, folder, p.StartTime))
		return true
	}
	return false
}

// isHooked reports whether the agent had hookmux's hooks when it was opened. Without them it
// never reports a prompt, and what it does isn't known.
func (o *openFinder) isHooked(a *agent.Agent, p proc.Process, args, environ []string, folder string) bool {
	variables := paths.GetenvFrom(environ)
	if variables("HOME") != o.deps.Dirs.Home {
		return false // its hooks call another daemon, or nobody knows which
	}
	given := func(text string) bool { return strings.Contains(text, "hookmux") }
	if slices.ContainsFunc(args, given) || a.Launch.Carrier != "" && given(variables(a.Launch.Carrier)) {
		return true // for this launch alone
	}
	if a.Install == nil {
		return false
	}
	for _, place := range a.Install.Places {
		path := place.Resolve(o.deps.Dirs.Home, folder, variables)
		info, err := os.Stat(path)
		if err != nil || info.ModTime().After(p.StartTime) {
			continue
		}
		if text, err := files.ReadLinked(path, maxHookFile); err == nil && bytes.Contains(text, []byte("hookmux")) {
			return true
		}
	}
	return false
}

func joinEnviron(environ []string) []byte {
	var joined []byte
	for _, variable := range environ {
		joined = append(append(joined, variable...), 0)
	}
	return joined
}
