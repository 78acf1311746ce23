// Package cli is the program that users run. It composes the tree of commands; the packages
// below it have one file per verb, with its flags and texts. Behaviour is in the packages
// that the verbs call.
package cli

import (
	"fmt"
	"os"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Main runs the verb that the process was started with and returns its exit code.
func Main() int {
	given, err := keeper.TakeGiven() // first: until then a child could get it
	if err != nil {
		fmt.Fprintln(os.Stderr, "hookmux:", err)
		return cmdutil.ExitFailed
	}
	useSystem(given)
	proc.NoteFirstProgram() // the daemon asks, before it believes that you typed this
	return runCommandLine(&cmdutil.App{
		Given: given,
		Args:  os.Args[1:], Environ: os.Environ(), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Table: proc.System(),
	})
}
