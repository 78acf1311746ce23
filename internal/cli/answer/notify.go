package answer

import (
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/selection/config"
	"github.com/hookmux/hookmux/internal/ui/text"
	"github.com/hookmux/hookmux/internal/wire"
)

// NotifyCommand is `hookmux notify`.
func NotifyCommand(app *cmdutil.App) *cobra.Command {
	var asJSON bool
	status := func(cmd *cobra.Command, _ []string) error { return showNotify(app, cmd, asJSON) }
	cmd := &cobra.Command{
		Use:   "notify",
		Short: "Get notified when an agent needs you",
		Long: `Notifies you on the desktop, in the terminal or tmux, with a sound or over a webhook
when an agent is waiting for you and, if you like, when a turn is done. You get one
notification per request, and none for the pane you're looking at. The notify.…
settings in ` + "`hookmux config list --all`" + ` say how.`,
		Example: "  hookmux notify test\n  hookmux notify on\n  hookmux config set notify.channels desktop,webhook",
		Args:    cmdutil.SubcommandArgs,
		RunE:    status,
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	state := &cobra.Command{
		Use: "status", Short: "Show which channels are on and whether they work", Example: "  hookmux notify status --json",
		Args: cmdutil.ExactArgs(), RunE: status,
	}
	state.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	test := &cobra.Command{
		Use: "test", Short: "Send a test notification on every channel that's on",
		Example: "  hookmux notify test", Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return testNotify(app, cmd, asJSON) },
	}
	test.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.AddCommand(test, switchNotify(app, "on", "Turn notifications on"),
		switchNotify(app, "off", "Turn notifications off"), state)
	return cmd
}

func switchNotify(app *cmdutil.App, word, short string) *cobra.Command {
	return &cobra.Command{
		Use: word, Short: short, Example: "  hookmux notify " + word, Args: cmdutil.ExactArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			value, _ := json.Marshal(word)
			if err := app.CallDaemon(cmd.Context(), wire.MethodConfigSet,
				wire.ConfigSetParams{Key: config.Notify, Value: value}, nil); err != nil {
				return err
			}
			if word == "off" {
				app.Say("notifications are off")
				return nil
			}
			return showNotify(app, cmd, false)
		},
	}
}

func showNotify(app *cmdutil.App, cmd *cobra.Command, asJSON bool) error {
	c, err := app.RunningDaemon()
	if err != nil {
		return err
	}
	var info wire.NotifyInfo
	if err := c.Call(cmd.Context(), wire.MethodNotifyStatus, nil, &info); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(info)
	}
	switch {
	case !info.On:
		app.Say("notifications are off; `hookmux notify on` turns them on")
	case info.Quiet:
		app.Say("notifications are on, but it's quiet hours now")
	default:
		app.Say("notifications are on")
	}
	rows := [][]string{{"CHANNEL", "NOTIFIES ABOUT", "STATE"}}
	for _, one := range info.Channels {
		kinds := strings.Join(one.Kinds, ", ")
		if kinds == "" {
			kinds = "-"
		}
		rows = append(rows, []string{one.Name, kinds, channelWords(&one)})
	}
	text.Table(app.Stdout, rows, app.Columns())
	return nil
}

// channelWords says how a channel did.
func channelWords(one *wire.NotifyChannel) string {
	switch {
	case one.Error != "":
		return "doesn't work: " + termsafe.Line(one.Error, 160)
	case len(one.Kinds) == 0:
		return "off"
	case one.Told > 0:
		return "works"
	}
	return "on, nothing sent yet"
}

// busHint returns the address of a session bus that this shell knows and the daemon doesn't,
// quoted; "" if there is none.
func busHint(app *cmdutil.App, one *wire.NotifyChannel) string {
	address := app.Getenv("DBUS_SESSION_BUS_ADDRESS")
	if one.Name != "desktop" || !one.Absent || address == "" {
		return ""
	}
	return shellquote.Single(termsafe.Line(address, 0))
}

func testNotify(app *cmdutil.App, cmd *cobra.Command, asJSON bool) error {
	var info wire.NotifyInfo
	if err := app.CallDaemon(cmd.Context(), wire.MethodNotifyTest, nil, &info); err != nil {
		return err
	}
	if asJSON {
		return app.PrintJSON(info)
	}
	works := 0
	for _, one := range info.Channels {
		if one.Error == "" {
			works++
			app.Say("%s: sent", one.Name)
			continue
		}
		app.Say("%s: %s", one.Name, termsafe.Line(one.Error, 200))
		if bus := busHint(app, &one); bus != "" {
			app.Say("  your session bus is somewhere else: hookmux config set %s %s", config.NotifyBus, bus)
		}
	}
	switch {
	case len(info.Channels) == 0:
		return cmdutil.UsageError("no channel is on; turn one on with `hookmux config set %s desktop`", config.NotifyChannels)
	case works == 0:
		return cmdutil.FailWith(cmdutil.ExitFailed, "no channel works from here")
	case !info.On:
		app.Say("that was a test; `hookmux notify on` turns notifications on")
	}
	return nil
}
