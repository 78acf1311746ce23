package sessions

import (
	"context"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/ui/tmux"
)

// windowSigns is where signs of an answer in an agent's own window are read.
type windowSigns struct {
	// below gives the processes below one.
	below func(pid int) []int
	// title gives the title of the terminal of a pane; false when it is not known.
	title func(ctx context.Context, place event.Place) (string, bool)
}

const (
	// childPeriod is how often the processes below an agent are looked at,
	// titlePeriod how often its title is read: that starts a process.
	childPeriod = 100 * time.Millisecond
	titlePeriod = 400 * time.Millisecond
	// titleSettles is how many readings must agree that the agent waits no more.
	titleSettles = 2
)

func systemSigns(deps services.Deps) windowSigns {
	signs := windowSigns{below: func(int) []int { return nil }, title: readPaneTitle}
	if deps.Processes == proc.System() {
		signs.below = proc.Below
	}
	return signs
}

// readPaneTitle asks tmux for the title of a pane.
func readPaneTitle(ctx context.Context, place event.Place) (string, bool) {
	if place.Mux != "tmux" || place.Pane == "" {
		return "", false
	}
	title, err := (&tmux.Server{Socket: place.Server}).PaneTitle(ctx, place.Pane)
	return title, err == nil
}

// followSigns looks for an answer as long as something stands in the session's
// own window.
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
		one, ok := w.tracker.book.Get(key)
		if !ok || !one.Waits() {
			continue // whoever takes changes in ends this
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
			if text, ok := w.signs.title(ctx, one.Place); ok && title.answered(text) {
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
	if c := w.tracker.book.AskAnswered(key, number, time.Now()); c.Stale == "" {
		w.tracker.noteChange(c)
	}
}

// titleReader judges the titles of one terminal: an answer shows when the title
// spoke of a question and does so no more.
type titleReader struct {
	part   string
	read   time.Time
	waited bool
	quiet  int
}

func (t *titleReader) restart() { t.waited, t.quiet = false, 0 }

func (t *titleReader) isDue() bool {
	if time.Since(t.read) < titlePeriod {
		return false
	}
	t.read = time.Now()
	return true
}

func (t *titleReader) answered(title string) bool {
	if strings.Contains(title, t.part) {
		t.waited, t.quiet = true, 0
		return false
	}
	if !t.waited {
		return false
	}
	if t.quiet++; t.quiet < titleSettles {
		return false
	}
	t.restart()
	return true
}
