package window

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/internal/tmux"
)

// This file answers an agent's own dialog by keys in its tmux pane.
//
// Contract: keys are pressed only while the pane shows the agent's dialog for exactly the
// command that was answered, at the end of its screen; they are pressed once; and what
// follows is looked at. Whatever does not fit is a [Refusal], and nothing was pressed.

// Refusal says why nothing was pressed.
type Refusal struct{ Why string }

func (r *Refusal) Error() string { return r.Why }

// Unsure says that keys were pressed and the dialog is still there.
type Unsure struct{}

func (Unsure) Error() string {
	return "the keys were pressed, but its dialog is still on the screen; look there"
}

// Pane is where the agent runs.
type Pane interface {
	Screen(ctx context.Context) (tmux.Screen, error)
	PressWhile(ctx context.Context, screen tmux.Screen, first, last int, keys ...string) (bool, error)
}

// InTmux returns a pane of a tmux server.
func InTmux(server *tmux.Server, id string) Pane { return tmuxPane{server, id} }

type tmuxPane struct {
	server *tmux.Server
	id     string
}

func (p tmuxPane) Screen(ctx context.Context) (tmux.Screen, error) { return p.server.Screen(ctx, p.id) }

func (p tmuxPane) PressWhile(ctx context.Context, screen tmux.Screen, first, last int, keys ...string) (bool, error) {
	return p.server.PressWhile(ctx, p.id, screen, first, last, keys...)
}

const (
	// settles is how long a dialog must stay as it is before keys are pressed.
	settles = 150 * time.Millisecond
	// leaves is how long a dialog may take to go, and period how often that is looked at.
	leaves = 5 * time.Second
	period = 100 * time.Millisecond
)

// Press answers the dialog about a command. asked reports whether the agent still asks; it
// is called right before the keys are pressed.
func Press(ctx context.Context, pane Pane, dialog *agent.Dialog, command string, keys []string, asked func() bool) error {
	before, err := read(ctx, pane, dialog, command)
	if err != nil {
		return err
	}
	if !pauseFor(ctx, settles) {
		return ctx.Err()
	}
	now, err := read(ctx, pane, dialog, command)
	if err != nil {
		return err
	}
	if !slices.Equal(before.lines(), now.lines()) {
		return &Refusal{"its screen is changing"}
	}
	if !asked() {
		return &Refusal{"it no longer asks"}
	}
	pressed, err := pane.PressWhile(ctx, now.screen, now.first, now.last, keys...)
	switch {
	case err != nil:
		return err
	case !pressed:
		return &Refusal{"its screen changed before the key was pressed"}
	}
	for end := time.Now().Add(leaves); time.Now().Before(end); {
		if _, err := read(ctx, pane, dialog, command); err != nil {
			return nil // it is gone, or the pane is
		}
		if !pauseFor(ctx, period) {
			break
		}
	}
	return Unsure{}
}

// found is a dialog on a screen.
type found struct {
	screen      tmux.Screen
	first, last int
}

func (f *found) lines() []string { return f.screen.Lines[f.first : f.last+1] }

// read finds the dialog about a command at the end of a pane's screen.
func read(ctx context.Context, pane Pane, dialog *agent.Dialog, command string) (*found, error) {
	screen, err := pane.Screen(ctx)
	if err != nil {
		return nil, err
	}
	lines := make([]string, len(screen.Lines))
	last := -1
	for i, line := range screen.Lines {
		if lines[i] = agent.DialogLine(line); lines[i] != "" {
			last = i
		}
	}
	shown, first, ok := dialog.Find(lines[:last+1])
	if !ok {
		return nil, &Refusal{"its own dialog is not at the end of its screen"}
	}
	if !Fits(command, shown) {
		return nil, &Refusal{"the dialog on its screen is about something else, or shows only part of the command"}
	}
	return &found{screen: screen, first: first, last: last}, nil
}

// Fits reports whether lines of a screen show exactly a command. Where a line ends, any
// blanks of the command may have been; within a line nothing may differ.
func Fits(command string, lines []string) bool {
	rest := strings.TrimSpace(command)
	for _, line := range lines {
		line = strings.TrimSpace(line)
		after, ok := strings.CutPrefix(rest, line)
		if !ok {
			return false
		}
		rest = strings.TrimLeft(after, " \t\n")
	}
	return rest == "" && strings.TrimSpace(command) != ""
}

func pauseFor(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
