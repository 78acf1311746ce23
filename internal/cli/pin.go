package cli

import (
	"bufio"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/wire"
)

// setPIN sets or drops the PIN that approvals ask for. PINs are typed, never
// given as arguments: those stay in a shell's history.
func (w *world) setPIN(cmd *cobra.Command, on bool) error {
	c, err := w.hub(cmd.Context())
	if err != nil {
		return err
	}
	if !w.terminal() {
		w.stdin = bufio.NewReader(w.stdin) // several lines may be needed
	}
	var p wire.PINParams
	if on {
		if p.New, err = w.askPIN("new PIN for approvals: ", errors.New("the new PIN is missing")); err != nil {
			return err
		}
		if p.New = strings.TrimSpace(p.New); p.New == "" {
			return usage("an empty PIN is none")
		}
	}
	err = c.Call(cmd.Context(), wire.MethodPIN, p, nil)
	if client.NeedsPIN(err) {
		if p.PIN, err = w.askPIN("PIN in force: ", err); err != nil {
			return err
		}
		err = c.Call(cmd.Context(), wire.MethodPIN, p, nil)
	}
	if err != nil {
		return err
	}
	if on {
		w.say("approvals ask for the PIN now; refusals never do")
	} else {
		w.say("approvals ask for no PIN")
	}
	return nil
}
