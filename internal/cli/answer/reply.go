package answer

import (
	"context"
	"strings"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/jsontext"
)

// sendReply answers a request; if approvals need a PIN, it asks for it.
func sendReply(ctx context.Context, app *cmdutil.App, c *client.Client, reply client.InboxReply, asJSON bool) error {
	result, err := c.Reply(ctx, reply)
	if client.NeedsPIN(err) && reply.PIN == "" {
		if reply.PIN, err = app.AskPIN("PIN: ", err); err != nil {
			return err
		}
		result, err = c.Reply(ctx, reply)
	}
	if err != nil {
		return err
	}
	return sayOutcome(app, result, asJSON)
}

func sayOutcome(app *cmdutil.App, result client.InboxResult, asJSON bool) error {
	if asJSON {
		if err := app.PrintJSON(result); err != nil {
			return err
		}
	}
	lines, delivered := app.Style().ReplyLines(&result)
	switch {
	case !delivered && asJSON:
		return cmdutil.Exit(cmdutil.ExitFailed)
	case !delivered:
		return cmdutil.FailWith(cmdutil.ExitFailed, strings.Join(lines, "\n"))
	case asJSON:
		return nil
	}
	for _, line := range lines {
		app.Say("%s", line)
	}
	return nil
}

// eventNameOf returns the event's name as a payload says it.
func eventNameOf(payload []byte) string {
	for _, key := range []string{"hook_event_name", "event"} {
		if s, ok := jsontext.String(jsontext.Get(payload, key)); ok && s != "" {
			return s
		}
	}
	return ""
}
