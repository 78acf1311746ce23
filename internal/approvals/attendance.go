package approvals

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/approvals/policy"
	"github.com/hookmux/hookmux/internal/approvals/queue"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// attendance knows whether anybody could answer.
type attendance struct {
	surfaces  atomic.Int32 // streams of requests that somebody looks at
	sinks     atomic.Int32 // ways by which a program tells a person elsewhere
	polls     polls        // programs that ask for the list again and again
	away      *awayFlag
	watchers  *watchers
	pushWorks func() bool // the user's own command tells them of requests
	queue     *queue.Table
	catalogue *agent.Catalogue
	reaches   func(agent string, kind policy.Kind) bool // somebody is notified of such requests
	after     func(wait time.Duration, do func())       // does it later, unless the daemon ends
}

// anyoneThere reports whether someone could answer: a view of the requests is open, a
// notification reaches you, or you said that you're away and want them kept.
func (a *attendance) anyoneThere() bool {
	return a.surfaces.Load() > 0 || a.sinks.Load() > 0 || a.isAway() || a.pushWorks() || a.polls.isActive(time.Now())
}

func (a *attendance) isAway() bool { return a.away.now.Load() != nil }

// expectAnyone is anyoneThere, and waits for those who followed the daemon before this one
// and are not back yet, no longer than limit.
func (a *attendance) expectAnyone(ctx context.Context, limit time.Duration) bool {
	if !a.anyoneThere() {
		a.watchers.awaitReturn(ctx, limit)
	}
	return a.anyoneThere()
}

// surfaceLeft notes that a view of the requests was closed. If none is open a moment later,
// requests that keep an agent from its own prompt end.
func (a *attendance) surfaceLeft() {
	if a.surfaces.Add(-1) > 0 || a.anyoneThere() || a.queue.Waiting() == 0 {
		return
	}
	a.after(a.watchers.graceTime(), a.abandonIfAlone)
}

// abandonIfAlone ends the requests that keep an agent from its own prompt if no one could
// answer them.
func (a *attendance) abandonIfAlone() {
	if !a.anyoneThere() && !a.watchers.stopping() {
		a.queue.Drop(func(r *queue.Request) bool {
			return isBlockingAgent(a.catalogue, r) && !(waitsBriefly(a.catalogue, r) && a.reaches(r.Event.Agent, r.Need.Kind))
		}, queue.Abandoned)
	}
}

// isBlockingAgent reports whether an agent can do nothing but wait for a request.
// It is false in three cases:
//   - The agent's own dialog is open: you can answer there, and the request is still
//     here when you come back.
//   - The call would run without being asked about again: leaving isn't a yes.
//   - A program pushed the request: it waits as long as the program said.
func isBlockingAgent(catalogue *agent.Catalogue, r *queue.Request) bool {
	a, ok := catalogue.Agent(r.Event.Agent)
	if !ok || a.Inbox == nil || a.Inbox.Promptless || r.Pushed {
		return false
	}
	if r.Event.Attended == event.AttendedNo {
		return r.Event.Kind != event.ToolBefore
	}
	return a.Inbox.WaitAt(r.Event.Native) != agent.WaitDeadline
}

// waitsBriefly reports whether a request's agent waits longer while someone could answer.
func waitsBriefly(catalogue *agent.Catalogue, r *queue.Request) bool {
	a, ok := catalogue.Agent(r.Event.Agent)
	return ok && !r.Pushed && a.Inbox.WaitAt(r.Event.Native) == agent.WaitBrief
}

// lengthenBriefWaits gives you time to answer, when you open a view, what an agent asked
// while none was open.
func (s *Service) lengthenBriefWaits() {
	s.queue.Lengthen(func(r *queue.Request) time.Time {
		if !waitsBriefly(s.Catalogue, r) {
			return time.Time{}
		}
		waitFor, chosen := s.Settings.WaitTime(r.Event)
		a, _ := s.Catalogue.Agent(r.Event.Agent)
		return r.Opened.Add(a.Inbox.WaitFor(r.Event.Native, time.Hour,
			agent.Wait{Setting: waitFor, Chosen: chosen, Watched: true}))
	})
}

// watchers remembers which programs follow the requests, beyond the end of this daemon. They
// reconnect to the next daemon a moment later, and what an agent asks in that moment must
// not go to its own prompt as if no one were there.
type watchers struct {
	processes proc.Table
	mayAnswer func(peer proc.Cred) (ok bool, why string)
	stopping  func() bool
	file      string

	mu    sync.Mutex
	grace time.Duration   // how long they may be gone
	here  map[watcher]int // who follows, with how many streams
	due   []watcher       // followed an earlier daemon and is not back yet
	until time.Time       // how long those are waited for
	came  chan struct{}   // closed and replaced when somebody begins to follow
}

// watcher is a process: PID and start time, because PIDs are reused.
type watcher struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"`
}

// returnsWithin is how long a daemon waits for those who followed the one before.
// Ours try five times a second.
const returnsWithin = 3 * time.Second

// maxWatchers bounds how many of those are believed to have been there.
const maxWatchers = 512

// newWatchers reads from a file who followed the daemon before.
func newWatchers(file string, processes proc.Table, mayAnswer func(peer proc.Cred) (ok bool, why string),
	stopping func() bool) *watchers {
	w := &watchers{
		processes: processes, mayAnswer: mayAnswer, stopping: stopping, file: file,
		here: map[watcher]int{}, came: make(chan struct{}), grace: returnsWithin,
	}
	if b, err := files.Read(w.file, 1<<20); err == nil && json.Unmarshal(b, &w.due) == nil {
		w.due = w.due[:min(len(w.due), maxWatchers)]
		w.until = time.Now().Add(returnsWithin)
	}
	return w
}

// comesBack reports whether a program that followed the requests can be expected back:
// it's still the same process and could answer. The file alone proves nothing.
func (w *watchers) comesBack(one watcher) bool {
	p, err := w.processes.Lookup(one.PID)
	if err != nil || p.Start != one.Start {
		return false
	}
	ok, _ := w.mayAnswer(proc.Cred{UID: os.Getuid(), PID: one.PID})
	return ok
}

// setGrace changes how long those who follow may be gone, also for those who are
// waited for now.
func (w *watchers) setGrace(span time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.grace = span
	if len(w.due) > 0 {
		w.until = time.Now().Add(span)
	}
}

func (w *watchers) graceTime() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.grace
}

// arrived notes that a program follows the requests. end reports that it left, or, with
// hungUp, that the daemon disconnected it and it will come back.
func (w *watchers) arrived(peer proc.Cred) (end func(hungUp bool)) {
	p, err := w.processes.Lookup(peer.PID)
	if err != nil {
		return func(bool) {}
	}
	one := watcher{p.PID, p.Start}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.here[one]++
	w.due = slices.DeleteFunc(w.due, func(due watcher) bool { return due == one })
	close(w.came)
	w.came = make(chan struct{})
	w.writeFile()
	return func(hungUp bool) {
		if w.stopping() {
			return // the next daemon finds them in the file
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.here[one]--; w.here[one] <= 0 {
			delete(w.here, one)
		}
		if hungUp {
			w.due, w.until = append(w.due, one), time.Now().Add(w.grace)
		}
		w.writeFile()
	}
}

// pids returns the processes that follow the requests now.
func (w *watchers) pids() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []int
	for one := range w.here {
		out = append(out, one.PID)
	}
	return out
}

// awaitReturn waits for programs that are known to come back, for limit at most. It returns
// at once if there are none, which is nearly always.
func (w *watchers) awaitReturn(ctx context.Context, limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); {
		w.mu.Lock()
		if time.Now().After(w.until) {
			w.due = nil
		}
		for len(w.due) > 0 && !w.comesBack(w.due[0]) {
			w.due = w.due[1:]
		}
		waits, came := len(w.due) > 0 && len(w.here) == 0, w.came
		w.mu.Unlock()
		if !waits {
			return
		}
		select {
		case <-came:
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond): // some may have gone
		}
	}
}

// writeFile saves the list. A failure isn't reported: all it means is that the next daemon
// may believe for a moment that you're away.
func (w *watchers) writeFile() {
	list := []watcher{}
	if time.Now().Before(w.until) {
		list = append(list, w.due...) // this daemon may end before they are back
	}
	for one := range w.here {
		list = append(list, one)
	}
	if len(list) == 0 {
		_ = os.Remove(w.file)
		return
	}
	b, _ := json.Marshal(list)
	_ = files.Write(w.file, b)
}

// pollSpan is how long a program that asks for the requests again and again counts
// as looking at them after it last did. cmux's own view asks every second.
const pollSpan = 5 * time.Second

// polls knows programs that follow the requests by asking for the list again and
// again. A single request for the list does not count.
type polls struct {
	mu    sync.Mutex
	last  map[watcher]time.Time
	until time.Time // somebody looks until then
}

// notePoll records that a process asked, and reports whether it asks repeatedly.
func (p *polls) notePoll(one watcher, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last == nil || len(p.last) >= maxWatchers {
		p.last = map[watcher]time.Time{}
	}
	before, known := p.last[one]
	p.last[one] = now
	if !known || now.Sub(before) > pollSpan {
		return false
	}
	p.until = now.Add(pollSpan)
	return true
}

func (p *polls) isActive(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return now.Before(p.until)
}

// awayState says that the user is not at their agents' terminals: requests are
// kept waiting as long as agents let them.
type awayState struct {
	Since time.Time `json:"since"`
	Hits  uint64    `json:"-"` // calls that permissions had let pass before
}

// awayFlag is kept on disk, so that a daemon which comes back does not forget it.
type awayFlag struct {
	file string
	now  atomic.Pointer[awayState] // nil: the user is there
}

// openAway reads the state that an earlier daemon left.
func openAway(file string) *awayFlag {
	f := &awayFlag{file: file}
	b, err := files.Read(file, 1<<20)
	if err != nil {
		return f
	}
	var s awayState
	if json.Unmarshal(b, &s) == nil {
		f.now.Store(&s)
	}
	return f
}

// set notes that the user is away. The error says that it could not be
// written down; it counts all the same.
func (f *awayFlag) set(hits uint64) (*awayState, error) {
	s := &awayState{Since: time.Now(), Hits: hits}
	if old := f.now.Load(); old != nil {
		s = old
	}
	f.now.Store(s)
	b, _ := json.Marshal(s)
	return s, files.Write(f.file, b)
}

// clearFile takes the state off the disk.
func (f *awayFlag) clearFile() error {
	if err := os.Remove(f.file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
