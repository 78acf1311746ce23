//go:build unix

package daemoncmd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// neededLimits are the limits below which a daemon can't do its work. It inherits them from
// what starts it, and a daemon that answers half of its calls is worse than none: without
// one, hooks decide by themselves.
var neededLimits = []struct {
	what     string
	unit     string
	resource int
	least    uint64
}{
	{"open files", "", unix.RLIMIT_NOFILE, 128},
	{"the size of files", " bytes", unix.RLIMIT_FSIZE, 64 << 20},
	{"memory", " bytes", unix.RLIMIT_AS, 2 << 30},
}

// checkLimits fails if the limits are too small for a daemon.
func checkLimits() error {
	for _, need := range neededLimits {
		var have unix.Rlimit
		if unix.Getrlimit(need.resource, &have) != nil {
			continue // the system doesn't report it
		}
		if have.Cur < need.least {
			return fmt.Errorf("the limit on %s is %d%s, and a daemon needs %d: raise it (ulimit) and start the daemon "+
				"again; until then hooks decide without a daemon", need.what, have.Cur, need.unit, need.least)
		}
	}
	return nil
}
