package ops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/hookmux/hookmux/internal/platform/bounded"
	"github.com/hookmux/hookmux/internal/tshook/engine"
)

// execArgs are the arguments for starting a process.
type execArgs struct {
	Command  string
	Args     []string
	Cwd      string
	Env      map[string]string
	Timeout  float64 // ms
	Input    []byte
	Shell    string
	Detached bool
	Words    bool // the output is wanted as text, if it is any
}

func (a *execArgs) commandLine() string {
	return strings.Join(append([]string{a.Command}, a.Args...), " ")
}

// child is a process a hook started. It has a process group of its own, which
// is ended with it.
type child struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	inbox chan []byte // nil ends the input
	limit *time.Timer // ends it when its time is over; nil for none

	mu     sync.Mutex
	killed string // the signal we sent
	over   bool
}

// maxOutput limits what is kept of a process's output.
const maxOutput = 16 << 20

// makeCommand makes the process ready.
func (o *Operations) makeCommand(a *execArgs) *exec.Cmd {
	name, args := a.Command, a.Args
	if a.Shell != "" {
		name, args = a.Shell, []string{"-c", strings.Join(append([]string{a.Command}, a.Args...), " ")}
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = a.Cwd
	for key, value := range a.Env {
		cmd.Env = append(cmd.Env, key+"="+value)
	}
	if a.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, o.owner.ChildEnv()...)
	cmd.WaitDelay = 250 * time.Millisecond // what a process leaves running does not hold us up
	OwnGroup(cmd)
	return cmd
}

// result is how a process ended.
type result struct {
	Code     int    `json:"code"`
	Signal   string `json:"signal,omitempty"`
	Killed   bool   `json:"killed,omitempty"`
	TimedOut bool   `json:"timedOut,omitempty"`
}

func (c *child) makeResult(err error) (result, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
	if c.limit != nil {
		c.limit.Stop()
	}
	r := result{Killed: c.killed != ""}
	var exit *exec.ExitError
	switch {
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
		r.Code = max(c.cmd.ProcessState.ExitCode(), 0)
	case errors.As(err, &exit):
		if r.Code = exit.ExitCode(); r.Code < 0 {
			r.Signal = signalOf(exit)
			r.Code = 1
		}
	default:
		return r, err
	}
	return r, nil
}

// signalGroup sends a signal to the whole group.
func (c *child) signalGroup(signal string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over || c.cmd.Process == nil {
		return false
	}
	c.killed = signal
	return SignalGroup(c.cmd, signal)
}

// stopChild ends the process with SIGTERM, and with SIGKILL a second later.
func (c *child) stopChild() {
	c.signalGroup("SIGTERM")
	time.AfterFunc(time.Second, func() { c.signalGroup("SIGKILL") })
}

// startChild starts a process and notes it; problems are the caller's to report.
func (o *Operations) startChild(id int, a *execArgs, key string, cmd *exec.Cmd) (*child, error) {
	c := &child{cmd: cmd}
	err := cmd.Start()
	o.owner.RecordAction(key, "exec", a.commandLine(), err)
	if err != nil {
		return nil, notStarted(a.Command, err)
	}
	o.mu.Lock()
	o.children[id] = c
	o.mu.Unlock()
	o.keepStopper(id, c.stopChild)
	if a.Timeout > 0 {
		c.limit = time.AfterFunc(time.Duration(a.Timeout*float64(time.Millisecond)), c.stopChild)
	}
	return c, nil
}

func notStarted(command string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return &namedError{"Error", "ENOENT", "spawn " + command + " ENOENT"}
	}
	return err
}

func (o *Operations) removeChild(id int) {
	o.mu.Lock()
	delete(o.children, id)
	delete(o.stoppers, id)
	o.mu.Unlock()
}

// execCommand is pi's exec: it never fails; a process that cannot be started has
// code 1.
func (o *Operations) execCommand(id int, args json.RawMessage, key string, finish func(any, error)) {
	a, err := readArgs[execArgs](args)
	if err != nil {
		finish(nil, err)
		return
	}
	stdout, stderr := bounded.NewBuffer(maxOutput), bounded.NewBuffer(maxOutput)
	cmd := o.makeCommand(&a)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if len(a.Input) > 0 {
		cmd.Stdin = bytes.NewReader(a.Input)
	}
	c, err := o.startChild(id, &a, key, cmd)
	type said struct {
		Stdout string `json:"stdout"`
		Stderr string `json:"stderr"`
		result
	}
	if err != nil {
		finish(said{result: result{Code: 1}}, nil) // why is in the journal; pi says no more
		return
	}
	go func() {
		r, err := c.makeResult(cmd.Wait())
		o.removeChild(id)
		if err != nil {
			finish(said{Stderr: err.Error(), result: result{Code: 1, Killed: r.Killed}}, nil)
			return
		}
		finish(said{outputText(stdout), outputText(stderr), r}, nil)
	}()
}

func outputText(b *bounded.Buffer) string {
	return strings.ToValidUTF8(string(b.Bytes()), "\ufffd")
}

// syncLimit limits a process that blocks the engine.
const syncLimit = 30 * time.Second

func (o *Operations) execSync(args json.RawMessage) (any, error) {
	a, err := readArgs[execArgs](args)
	if err != nil {
		return nil, err
	}
	limit := time.Duration(a.Timeout * float64(time.Millisecond))
	if limit <= 0 || limit > syncLimit {
		limit = syncLimit
	}
	ctx, cancel := context.WithTimeout(o.ctx, limit)
	defer cancel()
	stdout, stderr := bounded.NewBuffer(maxOutput), bounded.NewBuffer(maxOutput)
	cmd := o.makeCommand(&a)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if len(a.Input) > 0 {
		cmd.Stdin = bytes.NewReader(a.Input)
	}
	c := &child{cmd: cmd}
	err = cmd.Start()
	o.owner.RecordAction("", "exec", a.commandLine(), err)
	if err != nil {
		return nil, notStarted(a.Command, err)
	}
	stop := context.AfterFunc(ctx, c.stopChild)
	defer stop()
	r, err := c.makeResult(cmd.Wait())
	if err != nil {
		return nil, err
	}
	r.TimedOut = ctx.Err() != nil
	return struct {
		Stdout any `json:"stdout"`
		Stderr any `json:"stderr"`
		PID    int `json:"pid"`
		result
	}{decodeText(nonNil(stdout.Bytes()), a.Words), decodeText(nonNil(stderr.Bytes()), a.Words), cmd.Process.Pid, r}, nil
}

// spawnChild streams: {pid}, then {stdout} and {stderr} as they come.
func (o *Operations) spawnChild(id int, args json.RawMessage, key string, data func(any), finish func(any, error)) {
	a, err := readArgs[execArgs](args)
	if err != nil {
		finish(nil, err)
		return
	}
	cmd := o.makeCommand(&a)
	cmd.Stdout = stream{o, "stdout", data}
	cmd.Stderr = stream{o, "stderr", data}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		finish(nil, err)
		return
	}
	c, err := o.startChild(id, &a, key, cmd)
	if err != nil {
		finish(nil, err)
		return
	}
	c.stdin = stdin
	c.inbox = make(chan []byte, 1024)
	data(map[string]any{"pid": cmd.Process.Pid})
	fed := make(chan struct{})
	go func() { // a process that does not read must not block the engine
		for {
			select {
			case piece := <-c.inbox:
				if piece == nil {
					_ = stdin.Close()
					return
				}
				if _, err := stdin.Write(piece); err != nil {
					return
				}
			case <-fed:
				return
			}
		}
	}()
	if len(a.Input) > 0 {
		c.inbox <- a.Input
	}
	go func() {
		r, err := c.makeResult(cmd.Wait())
		close(fed)
		o.removeChild(id)
		finish(r, err)
	}()
}

// stream passes a process's output to the engine. A process that writes faster than
// the engine reads waits, as for any reader.
type stream struct {
	o    *Operations
	name string
	data func(any)
}

func (s stream) Write(p []byte) (int, error) {
	for s.o.engine.IsQueueFull() {
		select {
		case <-s.o.ctx.Done():
			return 0, engine.ErrClosed
		case <-time.After(5 * time.Millisecond):
		}
	}
	s.data(map[string]any{s.name: append([]byte(nil), p...)})
	return len(p), nil
}

func (o *Operations) findChild(id int) *child {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.children[id]
}

func (o *Operations) killChild(id int, signal string) bool {
	c := o.findChild(id)
	if c == nil {
		return false
	}
	return c.signalGroup(signal)
}

func (o *Operations) writeInput(args json.RawMessage) error {
	v, err := readArgs[struct {
		ID   int
		Data []byte
		End  bool
	}](args)
	if err != nil {
		return err
	}
	c := o.findChild(v.ID)
	if c == nil || c.inbox == nil {
		return nil
	}
	piece := v.Data
	if v.End {
		piece = nil
	} else if len(piece) == 0 {
		return nil
	}
	select {
	case c.inbox <- piece:
		return nil
	default:
		return errors.New("the process does not read its input")
	}
}
