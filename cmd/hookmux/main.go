// Hookmux is the program people run, and the hub behind their agents' hooks.
// One file per verb: flags and words here, behaviour in the packages.
package main

import (
	"os"

	"github.com/hookmux/hookmux/internal/proc"
)

func main() {
	os.Exit(run(&world{
		args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		table: proc.System(),
	}))
}
