package agents

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/launch"
	"github.com/hookmux/hookmux/internal/platform/shellquote"
	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// shellInitMux0 exports what mux0's clients look for. They never start a daemon,
// so it is started here.
func shellInitMux0(ctx context.Context, app *cmdutil.App, args []string) error {
	shell := strings.TrimPrefix(filepath.Base(app.Getenv("SHELL")), "-")
	if len(args) > 0 {
		shell = args[0]
		if _, err := shellInit(shell, nil); err != nil {
			return err
		}
	}
	dirs, err := app.Dirs()
	if err != nil {
		return err
	}
	if _, err := app.ConnectDaemon(ctx); err != nil {
		// The shell must come up all the same.
		fmt.Fprintln(app.Stderr, "hookmux: "+termsafe.Line(err.Error(), 300))
	}
	tty := ""
	if app.Table != nil {
		if p, err := app.Table.Lookup(os.Getpid()); err == nil {
			tty = p.TTY
		}
	}
	id, err := launch.TerminalID(filepath.Join(dirs.State, launch.TerminalsFile), tty)
	if err != nil {
		return err
	}
	form, quoteValue := "export %s=%s\n", shellquote.Single
	if shell == "fish" {
		form, quoteValue = "set -gx %s %s\n", shellquote.Fish
	}
	fmt.Fprintf(app.Stdout, form, "MUX0_HOOK_SOCK", quoteValue(dirs.Socket()))
	fmt.Fprintf(app.Stdout, form, "MUX0_TERMINAL_ID", id)
	return nil
}
