// Package answer has the verbs with which a person answers agents' requests.
package answer

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// InboxCommand is `hookmux inbox`.
func InboxCommand(app *cmdutil.App) *cobra.Command {
	var asJSON, watch, all bool
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "Everything that waits for you, with what would run",
		Long: `Lists what agents ask and have not been answered, each in full: what would run
or be written. What an agent asks in its own window stands there too, with where
that is; ` + "`hookmux ps`" + ` and tmux count the same. --watch follows the inbox; while
somebody does, agents are held for an answer (docs/inbox.md says how long). Without
anybody there, agents show their own prompts at once.`,
		Example: "  hookmux inbox\n  hookmux inbox -f\n  hookmux inbox --json --all",
		Args:    cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if watch {
				return watchInbox(cmd.Context(), app, asJSON)
			}
			c, err := app.ReadDaemon(cmd.Context())
			if err != nil {
				return err
			}
			list, err := c.Waiting(cmd.Context(), all)
			if err != nil {
				return err
			}
			if asJSON {
				return app.PrintJSON(list)
			}
			if len(list) == 0 {
				app.Say("nothing waits for you")
				if info, err := c.Info(cmd.Context()); err == nil && !info.Inbox.CanAnyoneAnswer {
					fmt.Fprintln(app.Stderr, "agents show their own prompts at once; `hookmux inbox -f` or "+
						"`hookmux away` has them wait for you")
				}
			}
			for i := range list {
				if i > 0 {
					app.Say("")
				}
				fmt.Fprint(app.Stdout, app.Style().Request(&list[i], time.Now()))
			}
			if all {
				fmt.Fprintln(app.Stderr, "this daemon's requests only; what was decided before it started is in "+
					"`hookmux log --agent hookmux`")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "for programs: [{id, status, kind, agent, session, tool, input, "+
		"choices, createdAt, deadline, decision?, …}]; with --watch one change per line")
	cmd.Flags().BoolVar(&watch, "watch", false, "follow the inbox, and have agents wait for you meanwhile")
	cmd.Flags().BoolVar(&all, "all", false, "also requests that ended lately, since the daemon started")
	cmd.AddCommand(inboxPushCommand(app))
	return cmd
}

// pushLimit is how long a pushed request may take, as with cmux's hooks inbox.
const pushLimit = 118 * time.Second

func inboxPushCommand(app *cmdutil.App) *cobra.Command {
	var source, name string
	cmd := &cobra.Command{
		Use:   "push --source AGENT [--event EVENT]",
		Short: "Report an event from stdin and print the agent's answer, as cmux's `hooks inbox` does",
		Long: `Reads one payload from stdin, reports it, waits where a person must decide, and
prints the answer in the agent's own words; {} when there is none, also when no
daemon can be reached. The event's name is read from hook_event_name or event in the
payload, else --event counts. For an agent that hookmux does not know, a refusal
is exit code 2 with the reason on stderr.`,
		Example: "  hookmux feed push --source claude < payload.json",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if source == "" {
				return cmdutil.UsageError("--source is missing; see `%s --help`", cmd.CommandPath())
			}
			payload, err := io.ReadAll(app.Stdin)
			if err != nil {
				return err
			}
			return pushEvent(cmd.Context(), app, source, name, payload)
		},
	}
	cmd.Flags().StringVar(&source, "source", "", "the agent's name in the catalogue")
	cmd.Flags().StringVar(&name, "event", "", "the agent's own name of the event, when the payload does not say it")
	return cmd
}

// pushEvent never fails because of hookmux: an agent takes that for a broken hook.
func pushEvent(ctx context.Context, app *cmdutil.App, source, name string, payload []byte) error {
	if named := eventNameOf(payload); named != "" {
		name = named
	}
	answer := "{}"
	c, err := app.ConnectDaemon(ctx)
	if err == nil && name != "" {
		var result *wire.PushResult
		result, err = c.Push(ctx, wire.PushParams{
			Agent: source, Event: name, Cwd: app.Cwd(), Payload: event.RawJSON(payload), Timeout: pushLimit.Seconds(),
			Env: app.Environ,
		})
		if err == nil {
			if result.Unknown != "" {
				fmt.Fprintln(app.Stderr, "hookmux: "+termsafe.Line(result.Unknown, 300))
			}
			if result.Stdout != "" {
				answer = result.Stdout
			}
			if result.ExitCode != 0 {
				fmt.Fprint(app.Stdout, result.Stdout)
				fmt.Fprint(app.Stderr, result.Stderr)
				return cmdutil.Exit(result.ExitCode)
			}
		}
	}
	if err != nil {
		fmt.Fprintln(app.Stderr, "hookmux: "+err.Error())
	}
	fmt.Fprintln(app.Stdout, answer)
	return nil
}
