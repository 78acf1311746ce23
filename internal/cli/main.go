// Package cli is the program people run: one file per verb with its flags and
// words; behaviour is in the packages below.
package cli

import (
	"os"

	"github.com/hookmux/hookmux/internal/platform/proc"
)

// Main runs the verb that the process was started with and returns its exit code.
func Main() int {
	return run(&world{
		args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		table: proc.System(),
	})
}
