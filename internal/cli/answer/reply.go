package answer

import (
	"context"
	"errors"
	"strings"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/jsonscan"
	"github.com/hookmux/hookmux/internal/wire"
)

// What approve, deny, answer, plan and release have in common.

// findRequest is the request a person means, which must still wait.
func findRequest(ctx context.Context, app *cmdutil.App, id string) (*client.Client, client.Request, error) {
	c, err := app.ReadDaemon(ctx)
	if err != nil {
		return nil, client.Request{}, err
	}
	item, err := c.Request(ctx, id)
	if err != nil {
		var gone *wire.Error
		if errors.As(err, &gone) && gone.Code == wire.CodeGone {
			return nil, client.Request{}, cmdutil.FailWith(cmdutil.ExitFailed, gone.Message)
		}
		return nil, client.Request{}, err
	}
	return c, item, nil
}

// sendReply answers a request; where approvals ask for a PIN, it is asked for.
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

// eventNameOf is the event's name as a payload says it.
func eventNameOf(payload []byte) string {
	for _, key := range []string{"hook_event_name", "event"} {
		if s, ok := jsonscan.String(jsonscan.Get(payload, key)); ok && s != "" {
			return s
		}
	}
	return ""
}
