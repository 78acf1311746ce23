//go:build unix

package launch

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// RunOver runs an agent with an overlay as its config folder and waits for it, because what it wrote
// has to be moved to the user's folder afterwards. Signals are passed on; those of the terminal
// reach it anyway. It returns the exit code, as shells report it, and what the user should know.
func (o *Overlay) RunOver(program string, argv, env []string) (code int, told []string, err error) {
	cmd := exec.Command(program)
	cmd.Args, cmd.Env = argv, env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGUSR1,
		syscall.SIGUSR2)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			if s != syscall.SIGINT && s != syscall.SIGQUIT {
				_ = cmd.Process.Signal(s) // gone already: then it ends anyway
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, nil, err
			}
			code = cmd.ProcessState.ExitCode()
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				code = 128 + int(status.Signal())
			}
			told, err = o.Carry()
			return code, told, err
		}
	}
}
