package cli

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
)

// useSystem goes on as the system service's own hookmux, if the service is installed: another
// copy has other places. A copy in a throw-away place of its own stays what it is.
func useSystem(given *keeper.Given) {
	if given != nil {
		proc.Measured = paths.SystemProgram("hookmux")
		return
	}
	if len(os.Args) > 1 && os.Args[1] == "system" { // what installs or removes it
		return
	}
	if paths.RunsFromSystem() && paths.HasSystem() && keeper.Shows(os.Args[1:]) {
		start := paths.SystemProgram("hookmux-start")
		_ = unix.Exec(start, append([]string{start, keeper.StartRead}, os.Args[1:]...), os.Environ())
	}
	if paths.LeavesToSystem(os.Getenv) {
		_ = unix.Exec(paths.SystemProgram("hookmux"), os.Args, os.Environ()) // if it's gone, this one says what is wrong
	}
}
