//go:build unix

package launch

import (
	"fmt"
	"os/signal"
	"syscall"
)

// Exec replaces this process. It returns only when that failed.
func Exec(program string, argv, env []string) error {
	// A signal that was ignored when we were started (nohup) has to reach the
	// agent ignored; handlers of ours would turn it back to its default.
	signal.Reset()
	for {
		if err := syscall.Exec(program, argv, env); err != syscall.EINTR {
			return fmt.Errorf("%s: cannot be run: %w; check the file and its permissions", program, err)
		}
	}
}
