package guardcmd

import (
	"fmt"
	"time"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/hook"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/importer"
	"github.com/hookmux/hookmux/internal/wire"
	"github.com/spf13/cobra"
)

// hooksHandle is agent-mux's handle: a payload in, the native answer out. Its
// exit code is the answer's, like a hook's.
func hooksHandle(app *cmdutil.App, cmd *cobra.Command, f *hookFlags, agentName, hookType string) error {
	if agentName == hook.Any {
		return cmdutil.UsageError("handle needs one agent, not '*'")
	}
	native, err := nativeEvent(app, agentName, hookType)
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

// nativeEvent finds the agent's own event for what a person calls it: its
// native name, a kind, or agent-mux's name. Anything else is a mistake, and
// must not look like a hook that has nothing against it.
func nativeEvent(app *cmdutil.App, agentName, hookType string) (string, error) {
	catalogue, err := app.Catalogue()
	if err != nil {
		return "", err
	}
	a, ok := catalogue.Agent(agentName)
	if !ok {
		return "", cmdutil.UsageError("agent %q is unknown; `hookmux status` lists the agents", agentName)
	}
	if _, ok := a.Event(hookType); ok {
		return hookType, nil
	}
	kind := event.Kind(hookType)
	if !kind.Known() {
		name, ok := importer.KindOf(hookType)
		if !ok {
			return "", cmdutil.UsageError("%s has no event %q; `hookmux hooks %s discover` lists them", agentName,
				hookType, agentName)
		}
		kind = event.Kind(name)
	}
	for _, e := range a.Events {
		if e.Kind == kind {
			return e.Name, nil
		}
	}
	return "", cmdutil.UsageError("%s has no event of kind %s; `hookmux hooks %s discover` lists what it has",
		agentName, kind, agentName)
}

// knownType tells an agent's own event names; of '*' any agent's.
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
