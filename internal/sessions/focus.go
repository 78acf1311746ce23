package sessions

import (
	"context"

	"github.com/hookmux/hookmux/internal/platform/tty"
	"github.com/hookmux/hookmux/internal/tmux"
	"github.com/hookmux/hookmux/internal/wire"
)

// FocusPane shows the pane or window of a session; attached is false if it isn't on any
// screen.
func FocusPane(ctx context.Context, one *wire.Session) (attached bool, err error) {
	if one.Mux != "tmux" {
		err := tty.System().Focus(ctx, tty.Window{Kind: one.Mux, ID: one.Pane, Server: one.Server,
			TTY: one.TTY, PID: one.PID})
		return err == nil, err
	}
	done, err := (&tmux.Server{Socket: one.Server}).Focus(ctx, one.Pane, "")
	return done.Client != "", err
}
