package acp

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// Agent is the agent's process.
type Agent struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	cmd     *exec.Cmd
	signals chan os.Signal
}

// Start starts the agent. Its stderr is this process's own, and signals that
// this process gets are passed on to it.
func Start(argv, env []string, stderr io.Writer) (*Agent, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr = env, stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a := &Agent{Stdin: stdin, Stdout: stdout, cmd: cmd, signals: make(chan os.Signal, 8)}
	signal.Notify(a.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	if err := cmd.Start(); err != nil {
		signal.Stop(a.signals)
		return nil, err
	}
	go func() {
		for s := range a.signals {
			_ = cmd.Process.Signal(s) // it may just have ended
		}
	}()
	return a, nil
}

// Wait waits for the agent's end and gives its exit code; 128 and the signal's
// number where a signal ended it. It is called when everything was read.
func (a *Agent) Wait() (int, error) {
	err := a.cmd.Wait()
	signal.Stop(a.signals)
	close(a.signals)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0, nil
	case !errors.As(err, &exit):
		return 0, err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// Serve passes what an editor on stdin and stdout says to an agent and back, and
// gives the agent's exit code.
func Serve(ctx context.Context, p *Proxy, a *Agent) (int, error) {
	p.FromAgent, p.ToAgent = a.Stdout, a.Stdin
	if err := p.Run(ctx); err != nil {
		// The editor is gone, or the agent's output cannot be read: it is to end.
		_ = a.Stdin.Close()
		if closer, ok := a.Stdout.(io.Closer); ok {
			_ = closer.Close()
		}
	}
	return a.Wait()
}
