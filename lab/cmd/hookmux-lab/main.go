// Hookmux-lab proves on real agents that hookmux works: `hookmux verify` runs it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hookmux/hookmux/internal/cli/agents"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
	"github.com/hookmux/hookmux/internal/version"
)

func main() {
	os.Exit(run(&cmdutil.App{
		Args: os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Table: proc.System(),
	}))
}

// run runs the command that the arguments name and returns its exit code.
func run(app *cmdutil.App) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := &cobra.Command{
		Use: agents.Lab, Short: "Prove on real agents that hookmux works",
		Long:    "Runs real agents against a scripted model and checks what hookmux says about them.\n`hookmux verify` runs this.",
		Version: version.String, SilenceUsage: true, SilenceErrors: true,
	}
	root.SetFlagErrorFunc(cmdutil.FlagError)
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(agents.Command(func(ctx context.Context, names []string, f *agents.Flags) error {
		switch {
		case f.List:
			return listChecks(app, f.JSON)
		case f.Newest:
			return verifyNewest(ctx, app, names, f)
		}
		return verifyAgents(ctx, app, names, f)
	}))
	root.SetArgs(app.Args)
	root.SetIn(app.Stdin)
	root.SetOut(app.Stdout)
	root.SetErr(app.Stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return cmdutil.ExitOK
	}
	if msg := err.Error(); msg != "" {
		fmt.Fprintln(app.Stderr, app.WrapError("hookmux: "+termsafe.Text(app.Shorten(msg))))
	}
	var own *cmdutil.CodeError
	if errors.As(err, &own) {
		return own.Code
	}
	return cmdutil.ExitFailed
}
