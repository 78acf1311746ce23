package configcmd

import (
	"bufio"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/wire"
)

// SetPIN sets or drops the PIN that approvals ask for. PINs are typed, never
// given as arguments: those stay in a shell's history.
func SetPIN(app *cmdutil.App, cmd *cobra.Command, on bool) error {
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	if !app.IsTerminal() {
		app.Stdin = bufio.NewReader(app.Stdin) // several lines may be needed
	}
	var p wire.PINParams
	if on {
		if p.New, err = app.AskPIN("new PIN for approvals: ", errors.New("the new PIN is missing")); err != nil {
			return err
		}
		if p.New = strings.TrimSpace(p.New); p.New == "" {
			return cmdutil.UsageError("the PIN can't be empty")
		}
	}
	err = c.Call(cmd.Context(), wire.MethodPIN, p, nil)
	if client.NeedsPIN(err) {
		if p.PIN, err = app.AskPIN("current PIN: ", err); err != nil {
			return err
		}
		err = c.Call(cmd.Context(), wire.MethodPIN, p, nil)
	}
	if err != nil {
		return err
	}
	if on {
		app.Say("approvals now ask for the PIN; denials never do")
	} else {
		app.Say("approvals no longer ask for a PIN")
	}
	return nil
}
