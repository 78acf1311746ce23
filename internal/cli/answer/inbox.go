// Package answer implements the commands that answer agents' requests.
package answer

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/event"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/wire"
)

// InboxCommand is `hookmux inbox`.
func InboxCommand(app *cmdutil.App) *cobra.Command {
	var asJSON, follow, all bool
	var host string
	cmd := &cobra.Command{
		Use:   "inbox",
		Short: "Show every request that's waiting for you",
		Long: `Shows every pending request in full: what would run or be written, and how to
answer it. Prompts that you can only answer in an agent's own terminal are listed
too, with the way there.

While you follow the inbox with -f, agents wait for your answer (inbox.wait says
how long). Otherwise they ask in their own terminals right away.`,
		Example: "  hookmux inbox\n  hookmux inbox -f\n  hookmux inbox --all --json",
		Args:    cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if follow && all {
				return cmdutil.UsageError("use --follow or --all, not both")
			}
			if err := app.CheckHost(cmd.Context(), host); err != nil {
				return err
			}
			if follow {
				return followInbox(cmd.Context(), app, host, asJSON)
			}
			return listInbox(cmd.Context(), app, host, all, asJSON)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "follow the inbox and have agents wait for you")
	cmd.Flags().BoolVar(&all, "all", false, "also requests that ended since the daemon started")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: [{id, status, kind, agent, session, tool, input, "+
		"choices, createdAt, deadline, decision?, …}]; with -f one change per line")
	cmd.Flags().StringVar(&host, "host", "", cmdutil.HostFlag)
	return cmd
}

func listInbox(ctx context.Context, app *cmdutil.App, host string, all, asJSON bool) error {
	c, err := app.ReadDaemon(ctx)
	if err != nil {
		return err
	}
	list, err := c.Waiting(ctx, all)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(one client.Request) bool { return !cmdutil.OnHost(host, one.Host) })
	if asJSON {
		return app.PrintJSON(list)
	}
	limited := app.NoteLimited(ctx, c, "requests", func(info *client.Info) int {
		own := slices.DeleteFunc(slices.Clone(list), func(one client.Request) bool { return one.Status != wire.InboxPending })
		return info.Inbox.Waiting - len(own)
	})
	if len(list) == 0 && !limited {
		app.Say("no requests are waiting")
		if info, err := c.Info(ctx); err == nil && !info.Inbox.CanAnyoneAnswer {
			fmt.Fprintln(app.Stderr, "agents prompt you in their own terminals; to answer here, run `hookmux inbox -f`")
		}
	}
	for i := range list {
		if i > 0 {
			app.Say("")
		}
		fmt.Fprint(app.Stdout, app.Style().Request(&list[i], time.Now()))
	}
	if all {
		fmt.Fprintln(app.Stderr, app.WrapError("this shows requests since the daemon started; for earlier ones: `hookmux log -a hookmux`"))
	}
	return nil
}

// FeedCommand is `hookmux feed`, for programs that speak cmux's form.
func FeedCommand(app *cmdutil.App) *cobra.Command {
	cmd := &cobra.Command{
		Use: "feed", Short: "Entry points for programs, with cmux's names", Hidden: true,
		Example: "  hookmux feed push --source claude < payload.json",
		Args:    cmdutil.SubcommandArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmdutil.UnknownCommand(cmd.Root(), []string{"feed"})
		},
	}
	cmd.AddCommand(feedPushCommand(app))
	return cmd
}

// pushLimit is how long a pushed request may take, as with cmux's hooks feed.
const pushLimit = 118 * time.Second

func feedPushCommand(app *cmdutil.App) *cobra.Command {
	var source, name string
	cmd := &cobra.Command{
		Use:   "push --source AGENT [--event EVENT]",
		Short: "Report an event from stdin and print the agent's answer, as cmux's `hooks feed` does",
		Long: `Reads one payload from stdin, reports it, waits if you have to decide, and prints
the answer in the agent's format, or {} if there is none or no daemon can be reached.
The payload's hook_event_name or event says which event it is, otherwise --event.
For an agent that hookmux doesn't know, a denial is exit code 2 with the reason on
stderr.`,
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
	cmd.Flags().StringVar(&source, "source", "", "the agent's name")
	cmd.Flags().StringVar(&name, "event", "", "the agent's own name for the event, if the payload doesn't have it")
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
