package sessions

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/window"
)

// answerWatcher notices that you answered in the agent's own terminal, if the agent keeps a
// file that shows it: no hook reports it, and the allowed command may run for a long time
// before a hook does.
type answerWatcher struct {
	ctx     context.Context
	deps    services.Deps
	tracker *tracker

	signs promptSigns

	mu      sync.Mutex
	open    map[state.Key]context.CancelFunc
	running sync.WaitGroup
}

func newAnswerWatcher(ctx context.Context, deps services.Deps, t *tracker) *answerWatcher {
	return &answerWatcher{
		ctx: ctx, deps: deps, tracker: t, signs: systemSigns(deps), open: map[state.Key]context.CancelFunc{},
	}
}

// watchSession follows the signs of a session as long as it waits.
func (w *answerWatcher) watchSession(one *state.Session) {
	w.mu.Lock()
	defer w.mu.Unlock()
	cancel, watched := w.open[one.Key]
	if !one.Live() || !one.Waits() {
		if watched {
			cancel()
			delete(w.open, one.Key)
		}
		return
	}
	a, ok := w.deps.Catalogue.Agent(one.Agent)
	if watched || !ok {
		return
	}
	ctx, cancel := context.WithCancel(w.ctx)
	if a.Status.Answers != (agent.AnswerSigns{}) && one.Place.PID > 0 {
		w.open[one.Key] = cancel
		w.running.Go(func() { w.followSigns(ctx, one.Key, a.Status.Answers) })
		return
	}
	asked := &event.Event{Session: one.ID, Transcript: one.Transcript, Where: one.Place}
	var answered <-chan struct{}
	if a.Inbox != nil && a.Inbox.Prompt == agent.PromptState && !one.Place.Shared {
		answered = window.Answered(ctx, w.running.Go, a.Inbox.State, asked)
	}
	if answered == nil {
		cancel()
		return
	}
	w.open[one.Key] = cancel
	w.running.Go(func() {
		defer cancel()
		select {
		case <-ctx.Done():
			return
		case <-answered:
		}
		w.mu.Lock()
		delete(w.open, one.Key)
		w.mu.Unlock()
		// What was asked since then is another question.
		if c := w.tracker.sessions.Answered(one.Key, "", time.Now().Add(-window.SettleTime)); c.Answered {
			w.tracker.noteChange(c)
		}
	})
}

// stopWatching stops following a session that is gone.
func (w *answerWatcher) stopWatching(key state.Key) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if cancel, ok := w.open[key]; ok {
		cancel()
		delete(w.open, key)
	}
}

func (w *answerWatcher) waitStopped() { w.running.Wait() }

// followSigns looks for an answer while a question is open at the session's own prompt.
func (w *answerWatcher) followSigns(ctx context.Context, key state.Key, signs agent.AnswerSigns) {
	tick := time.NewTicker(childPeriod)
	defer tick.Stop()
	title := titleReader{part: signs.Title}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		one, ok := w.tracker.sessions.Get(key)
		if !ok || !one.Waits() {
			continue // whoever applies changes ends this
		}
		asks := one.OpenAsks()
		if len(asks) == 0 {
			title.restart()
			continue
		}
		if signs.Child {
			w.findCommands(one, asks)
		}
		if signs.Title != "" && title.isDue() {
			if text, ok := w.signs.title(ctx, one.Place); ok && title.showsAnswer(text) {
				for _, ask := range asks {
					w.noteAnswered(key, ask.N)
				}
			}
		}
	}
}

// findCommands ends the questions whose command runs.
func (w *answerWatcher) findCommands(one *state.Session, asks []state.Ask) {
	var below []int
	for _, ask := range asks {
		if ask.Command == "" {
			continue
		}
		if below == nil {
			below = w.signs.below(one.Place.PID)
		}
		for _, pid := range below {
			if w.runsCommand(pid, &ask) {
				w.noteAnswered(one.Key, ask.N)
				break
			}
		}
	}
}

// runsCommand reports whether a process was started with the command that was
// asked about, after the question.
func (w *answerWatcher) runsCommand(pid int, ask *state.Ask) bool {
	process, err := w.deps.Processes.Lookup(pid)
	if err != nil || !process.StartTime.After(ask.At) {
		return false
	}
	args, err := w.deps.Processes.Args(pid)
	if err != nil {
		return false
	}
	for _, arg := range args {
		if strings.Contains(arg, ask.Command) {
			return true
		}
	}
	return false
}

func (w *answerWatcher) noteAnswered(key state.Key, number int) {
	if c := w.tracker.sessions.AskAnswered(key, number, time.Now()); c.Stale == state.No {
		w.tracker.noteChange(c)
	}
}
