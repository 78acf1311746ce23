package sessions

import (
	"context"
	"strings"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/services"
	"github.com/hookmux/hookmux/internal/tmux"
)

// promptSigns is where signs of an answer in an agent's own prompt are read.
type promptSigns struct {
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

func systemSigns(deps services.Deps) promptSigns {
	signs := promptSigns{below: func(int) []int { return nil }, title: readPaneTitle}
	if deps.Processes == proc.System() {
		signs.below = proc.Descendants
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

// titleReader reads the titles of one terminal: an answer shows when the title
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

func (t *titleReader) showsAnswer(title string) bool {
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
