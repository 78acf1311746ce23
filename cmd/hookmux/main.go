// Hookmux is the program that users run, and the daemon behind their agents' hooks.
// Its verbs are in internal/cli.
package main

import (
	"os"

	"github.com/hookmux/hookmux/internal/cli"
)

func main() {
	os.Exit(cli.Main())
}
