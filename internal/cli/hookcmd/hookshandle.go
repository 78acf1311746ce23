package hookcmd

import (
	"fmt"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/install/importer"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

// hooksHandle is agent-mux's handle: a payload in, the native answer out. Its
// exit code is the answer's, like a hook's.
func hooksHandle(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, agentName, hookType string) error {
	if agentName == hook.Any {
		return cmdutil.UsageError("handle needs one agent, not '*'")
	}
	native, err := rulescmd.NativeEvent(app, agentName, hookType)
	if _, known := importer.KindOf(hookType); err != nil && known {
		native, err = hookType, nil // agent-mux's name for any event, or for one that this agent lacks: the payload names it
	}
	if err != nil {
		return err
	}
	payload, err := app.ReadPayload("hooks " + agentName + " handle " + hookType)
	if err != nil {
		return err
	}
	c, err := app.ConnectDaemon(cmd.Context())
	if err != nil {
		return err
	}
	c.Timeout = 10 * time.Minute
	result, err := c.Push(cmd.Context(), wire.PushParams{Agent: agentName, Event: native, Cwd: app.Cwd(),
		Payload: event.RawJSON(payload), Env: app.Environ, Timeout: 600})
	if err != nil {
		return err
	}
	if f.asJSON {
		return app.PrintJSON(result)
	}
	fmt.Fprint(app.Stdout, result.Stdout)
	fmt.Fprint(app.Stderr, result.Stderr)
	if result.ExitCode != 0 {
		return cmdutil.Exit(result.ExitCode)
	}
	return nil
}

// knownType reports whether name is one of the agent's own event names; for '*', any
// agent's.
func knownType(app *cmdutil.App, agentName, name string) bool {
	catalogue, err := app.Catalogue()
	if err != nil {
		return false
	}
	for _, a := range catalogue.Agents() {
		if agentName == hook.Any || a.Name == agentName {
			if _, ok := a.Event(name); ok {
				return true
			}
		}
	}
	return false
}
