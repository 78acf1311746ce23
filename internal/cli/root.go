package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/answer"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/cli/configcmd"
	"github.com/hookmux/hookmux/internal/cli/daemoncmd"
	"github.com/hookmux/hookmux/internal/cli/fleetcmd"
	"github.com/hookmux/hookmux/internal/cli/hookcmd"
	"github.com/hookmux/hookmux/internal/cli/protocolcmd"
	"github.com/hookmux/hookmux/internal/cli/remotecmd"
	"github.com/hookmux/hookmux/internal/cli/rulescmd"
	"github.com/hookmux/hookmux/internal/cli/runcmd"
	"github.com/hookmux/hookmux/internal/cli/see"
	"github.com/hookmux/hookmux/internal/cli/systemcmd"
	"github.com/hookmux/hookmux/internal/cli/usagecmd"
	"github.com/hookmux/hookmux/internal/cli/webcmd"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/version"
	"github.com/hookmux/hookmux/internal/wire"
)

// runCommandLine runs the verb that the arguments name and returns the exit code.
func runCommandLine(app *cmdutil.App) int {
	if slices.Equal(app.Args, []string{"--version"}) || slices.Equal(app.Args, []string{"version"}) {
		see.PrintVersion(app) // scripts ask often: no need to build all the commands
		return cmdutil.ExitOK
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if len(app.Args) == 0 || app.Args[0] != "evaluate" { // an agent waits for that
		agents.RefreshShim(app)
		agents.SealInstallation(app)
	}
	root := newRoot(app)
	root.SetArgs(app.Args)
	err := checkCommand(app, root, app.Args)
	if err == nil {
		var cmd *cobra.Command
		cmd, err = root.ExecuteContextC(ctx)
		err = cmdutil.MeantFlag(cmd, err)
	}
	if err == nil {
		return cmdutil.ExitOK
	}
	code := cmdutil.ExitFailed
	var own *cmdutil.CodeError
	var refused *client.RefusedError
	var answer *wire.Error
	switch {
	case errors.As(err, &own):
		code = own.Code
	case errors.As(err, &refused):
		code = cmdutil.ExitDenied
	case errors.As(err, &answer) && (answer.Code == wire.CodeParams || answer.Code == wire.CodeGone):
		code = cmdutil.ExitUsage
	case errors.Is(err, client.ErrNoDaemon):
		code = cmdutil.ExitNoDaemon
	}
	if errors.As(err, &answer) && (answer.Code == wire.CodeParams || answer.Code == wire.CodeNoMethod) {
		err = explainOlderDaemon(ctx, app, err)
	}
	if msg := err.Error(); msg != "" {
		fmt.Fprintln(app.Stderr, app.WrapError("hookmux: "+termsafe.Text(app.Shorten(msg))))
	}
	return code
}

// newRoot builds the tree of commands.
func newRoot(app *cmdutil.App) *cobra.Command {
	cobra.EnableCommandSorting = false // the groups have an order of their own
	var root *cobra.Command
	root = &cobra.Command{
		Use:   "hookmux",
		Short: "One inbox and one set of guardrails for your coding agents",
		Long: `One inbox and one set of guardrails for your coding agents: see which one is
waiting, answer it with one key, and block what you never want to happen.

Run hookmux without a command to open the live view.`,
		Example: `  hookmux setup                 # hook your agents and turn on guards
  hookmux                       # open the live view
  hookmux approve               # answer the request that has waited longest
  hookmux guard on destructive  # block rm -rf ~ and the like in every agent`,
		Version:           version.String,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: cmdutil.CheckEmpty,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cmdutil.UnknownCommand(root, args, nouns(app)...)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if app.IsTerminal() {
				return see.ShowViewOrOverview(cmd.Context(), app)
			}
			return cmd.Help()
		},
	}
	root.SetVersionTemplate(see.VersionLine)
	root.SetFlagErrorFunc(cmdutil.FlagError)
	setHelp(root)
	for _, g := range commandGroups(app) {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(manCommand(), configcmd.SchemaCommand(app))
	root.SetCompletionCommandGroupID(groupStart)
	root.SetIn(app.Stdin)
	root.SetOut(app.Stdout)
	root.SetErr(app.Stderr)
	replaceBashCompletion(root)
	addCompletions(app, root)
	root.SetHelpCommand(&cobra.Command{
		Use: "help [COMMAND]", GroupID: groupFix, Short: "Show help for a command", Example: "  hookmux help guard exception add",
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 && cmd.HasSubCommands() {
				return cmdutil.UnknownCommand(cmd, rest, nouns(app)...)
			}
			cmd.InitDefaultHelpFlag()
			cmd.InitDefaultVersionFlag()
			return cmd.Help()
		},
	})
	return root
}

// The groups of help.
const (
	groupStart  = "start"
	groupSee    = "see"
	groupAnswer = "answer"
	groupGuard  = "guard"
	groupFix    = "fix"
)

// commandGroup is one section of help. A command is in exactly one of them.
type commandGroup struct {
	id, title string
	commands  []*cobra.Command
}

func commandGroups(app *cmdutil.App) []commandGroup {
	return []commandGroup{
		{groupStart, "Start:", []*cobra.Command{
			setupCommand(app), runcmd.RunCommand(app), protocolcmd.ACPCommand(app), protocolcmd.MCPCommand(app),
			agents.InstallCommand(app), agents.UninstallCommand(app),
			runcmd.ResumeCommand(app), runcmd.TmuxCommand(app), agents.ShellInitCommand(app),
		}},
		{groupSee, "See what agents do:", []*cobra.Command{
			see.UpCommand(app), see.PsCommand(app), see.ShowCommand(app), see.LogCommand(app), usagecmd.UsageCommand(app),
			see.AuditCommand(app), see.JumpCommand(app),
			see.SendCommand(app), see.RenameCommand(app), see.ForgetCommand(app),
		}},
		{groupAnswer, "Answer agents:", []*cobra.Command{
			answer.InboxCommand(app), answer.ApproveCommand(app), answer.DenyCommand(app), answer.SkipCommand(app),
			answer.PermissionsCommand(app), answer.AwayCommand(app), answer.NotifyCommand(app), webcmd.WebCommand(app),
			fleetcmd.FleetCommand(app),
			remotecmd.RemoteCommand(app), remotecmd.ServeCommand(app),
			answer.FeedCommand(app),
		}},
		{groupGuard, "Guard and decide:", []*cobra.Command{
			rulescmd.GuardCommand(app), rulescmd.RulesCommand(app), hookcmd.HooksCommand(app), rulescmd.WhyCommand(app),
			configcmd.TrustCommand(app), rulescmd.OffCommand(app), rulescmd.OnCommand(app),
		}},
		{groupFix, "Find out and fix:", []*cobra.Command{
			see.StatusCommand(app), agents.AgentsCommand(app), configcmd.WhoamiCommand(app), agents.DoctorCommand(app),
			agents.ThroughLab(app), configcmd.ConfigCommand(app),
			daemoncmd.DaemonCommand(app), systemcmd.SystemCommand(app), see.VersionCommand(app), daemoncmd.EvaluateCommand(app),
		}},
	}
}

// explainOlderDaemon says what to do if the daemon is still the one from before an upgrade,
// and so doesn't know what it was asked: it goes on while requests wait for the user.
func explainOlderDaemon(ctx context.Context, app *cmdutil.App, err error) error {
	daemon, errDaemon := app.RunningDaemon()
	if errDaemon != nil {
		return err
	}
	info, errDaemon := daemon.Info(ctx)
	if errDaemon != nil || version.Compare(info.Version, version.String) >= 0 {
		return err
	}
	return fmt.Errorf("%w; the daemon is still of version %s and this is %s: `hookmux daemon restart` starts the new one, "+
		"and requests that wait stay", err, info.Version, version.String)
}
