package sessions

import (
	"context"
	"errors"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/sessions/state"
	"github.com/hookmux/hookmux/internal/sessions/window"
	"github.com/hookmux/hookmux/internal/tmux"
)

// AnswerAtPrompt answers what an agent asks at its own prompt by keys in its tmux pane.
// refused says why nothing was pressed; an error, that something was and it is not known
// to have helped.
func (s *Service) AnswerAtPrompt(ctx context.Context, id string, choice event.Choice) (refused string, err error) {
	err = s.pressAtPrompt(ctx, id, choice)
	var refusal *window.Refusal
	if errors.As(err, &refusal) {
		return refusal.Why, nil
	}
	return "", err
}

func (s *Service) pressAtPrompt(ctx context.Context, id string, choice event.Choice) error {
	s.pressing.Lock() // one at a time: of two answers the second finds no dialog
	defer s.pressing.Unlock()
	one, waits := s.findPrompt(id)
	if one == nil {
		return &window.Refusal{Why: "it no longer asks"}
	}
	dialog := s.view.dialogOf(one, waits)
	if dialog == nil {
		return &window.Refusal{Why: "it asks for something else as well, or its pane is not known"}
	}
	keys := dialog.Deny
	if choice == event.ChooseOnce {
		keys = dialog.Approve
	}
	server, pane, err := s.paneNow(ctx, one)
	if err != nil {
		return &window.Refusal{Why: err.Error()}
	}
	return window.Press(ctx, window.InTmux(server, pane), dialog, waits.Whole, keys, func() bool {
		now, still := s.findPrompt(id)
		return now != nil && s.view.dialogOf(now, still) != nil && still.Whole == waits.Whole
	})
}

// paneNow returns the tmux pane that shows a session now. It is looked up each time, because keys
// go there: the session of a shared daemon may be taken up in another terminal at any time.
func (s *Service) paneNow(ctx context.Context, one *state.Session) (*tmux.Server, string, error) {
	place := one.Place
	if place.Shared {
		var ok bool
		if place, ok = s.daemons.terminalNow(ctx, one); !ok {
			return nil, "", errors.New("it runs in a daemon, and hookmux can't find out which terminal shows it")
		}
	}
	if place.Mux != "tmux" || place.Pane == "" {
		return nil, "", errors.New("it sits in no tmux pane that hookmux knows of")
	}
	server := &tmux.Server{Socket: place.Server}
	pane, sits, err := server.PaneOf(ctx, s.deps.Processes, tmux.Hint{PID: place.PID, TTY: place.TTY, Pane: place.Pane})
	if err == nil && !sits {
		err = errors.New("it is not in its pane any more")
	}
	return server, pane.ID, err
}

// findPrompt returns the session in whose window something waits under an id.
func (s *Service) findPrompt(id string) (*state.Session, *state.Waiting) {
	for _, one := range s.tracker.sessions.Waiting() {
		for _, waits := range one.WaitingList() {
			if waits.ID == id && !waits.InInbox && !s.tracker.isDeciding(waits.Event) {
				return one, &waits
			}
		}
	}
	return nil, nil
}
