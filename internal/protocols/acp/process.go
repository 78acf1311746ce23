package acp

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// Agent is the agent's process.
type Agent struct {
	Stdin  io.WriteCloser
	Stdout io.Reader

	cmd     *exec.Cmd
	signals chan os.Signal
	ended   chan struct{} // closed when the process has ended, and err says how
	err     error
}

// How long output of an agent that has ended is still read: what it started may hold its
// output open forever without writing. If output keeps coming, it is read for lastWords at
// most.
const (
	quietTime = 500 * time.Millisecond
	lastWords = 5 * time.Second
)

// Start starts the agent. Its stderr is this process's own, and signals that
// this process gets are passed on to it.
func Start(argv, env []string, stderr io.Writer) (*Agent, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Stderr, cmd.WaitDelay = env, stderr, quietTime
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdout = to
	a := &Agent{Stdin: stdin, cmd: cmd, signals: make(chan os.Signal, 8), ended: make(chan struct{})}
	a.Stdout = &agentOutput{from: from, ended: a.ended}
	signal.Notify(a.signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	err = cmd.Start()
	_ = to.Close() // the agent has its own
	if err != nil {
		signal.Stop(a.signals)
		_ = from.Close() // nothing was written
		return nil, err
	}
	go func() {
		for s := range a.signals {
			_ = cmd.Process.Signal(s) // it may just have ended
		}
	}()
	go func() {
		a.err = cmd.Wait()
		close(a.ended)
		// Readers are woken; a pipe without deadlines is closed instead.
		if from.SetReadDeadline(time.Now().Add(quietTime)) != nil {
			time.AfterFunc(quietTime, func() { _ = from.Close() })
		}
	}()
	return a, nil
}

// agentOutput ends when everything was read, or when the agent has ended and its
// output is silent.
type agentOutput struct {
	from  *os.File
	ended <-chan struct{}
	last  time.Time // what comes later is ignored; zero while the agent runs
}

func (o *agentOutput) Close() error { return o.from.Close() }

func (o *agentOutput) Read(p []byte) (int, error) {
	for {
		select {
		case <-o.ended:
			now := time.Now()
			if o.last.IsZero() {
				o.last = now.Add(lastWords)
			}
			if now.After(o.last) {
				return 0, io.EOF
			}
			_ = o.from.SetReadDeadline(now.Add(quietTime)) // without one the pipe is closed soon
		default:
		}
		ended := !o.last.IsZero()
		n, err := o.from.Read(p)
		switch {
		case n > 0:
			return n, nil
		case errors.Is(err, os.ErrClosed), ended && errors.Is(err, os.ErrDeadlineExceeded):
			return 0, io.EOF
		case errors.Is(err, os.ErrDeadlineExceeded):
			continue // the agent ended meanwhile
		}
		return n, err
	}
}

// Wait waits for the agent's end and returns its exit code; 128 and the signal's number if a
// signal ended it. Call it once everything was read.
func (a *Agent) Wait() (int, error) {
	<-a.ended
	err := a.err
	signal.Stop(a.signals)
	close(a.signals)
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay): // its stderr was held open
		return 0, nil
	case !errors.As(err, &exit):
		return 0, err
	}
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal()), nil
	}
	return exit.ExitCode(), nil
}

// Serve passes what an editor on stdin and stdout says to an agent and back, and returns the
// agent's exit code.
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
