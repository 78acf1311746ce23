//go:build unix

package handler

import (
	"context"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// run starts a process and waits for it to end, not for what it left running. It costs two
// goroutines and three pipes; a payload that fits into the pipe is written before the process
// starts.
func (p *Processes) run(ctx context.Context, s spec) (Output, error) {
	started := time.Now()
	if ctx.Err() != nil {
		return Output{}, gaveUp(ctx, started)
	}
	var pipes pipeSet
	defer pipes.closeAll()
	stdin, rest, err := pipes.feedPipe(s.stdin)
	if err != nil {
		return Output{}, err
	}
	stdout, outEnd, err := pipes.openPipe()
	if err != nil {
		return Output{}, err
	}
	stderr, errEnd, err := pipes.openPipe()
	if err != nil {
		return Output{}, err
	}
	process, err := os.StartProcess(s.path, s.args, &os.ProcAttr{
		Dir: s.dir, Env: s.env,
		Files: []*os.File{stdin, outEnd, errEnd},
		Sys:   &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return Output{}, err
	}
	stdin.Close()
	outEnd.Close()
	errEnd.Close()

	var state *os.ProcessState
	var waiting error
	exited := make(chan struct{})
	p.addProcess()
	go func() {
		defer p.done()
		state, waiting = process.Wait()
		closing := time.Now().Add(pipeGrace)
		stdout.SetReadDeadline(closing)
		stderr.SetReadDeadline(closing)
		close(exited)
	}()
	if rest != nil {
		go rest()
	}
	complaints := capture{limit: maxStderr}
	complained := make(chan struct{})
	go func() {
		complaints.readFrom(stderr, 512)
		close(complained)
	}()
	release := context.AfterFunc(ctx, func() {
		now := time.Now()
		stdout.SetReadDeadline(now)
		stderr.SetReadDeadline(now)
	})
	defer release()

	answer := capture{limit: maxStdout}
	answer.readFrom(stdout, 1<<10)
	<-complained
	select {
	case <-exited:
		// An answer that was cut by the end of its time does not count: what is
		// missing may be the deny.
		if ctx.Err() != nil && !(answer.whole && complaints.whole) {
			return Output{}, gaveUp(ctx, started)
		}
	case <-ctx.Done():
		p.addProcess()
		go func() {
			defer p.done()
			endGroup(process.Pid, exited)
		}()
		return Output{}, gaveUp(ctx, started)
	}
	if waiting != nil {
		return Output{}, waiting
	}
	out := Output{Stdout: answer.head, Stderr: complaints.head, TooMuch: answer.over}
	if complaints.over {
		out.LastWords = complaints.lastPart()
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		out.Signal = signalName(status.Signal())
	} else {
		out.Exit = state.ExitCode()
	}
	return out, nil
}

// endGroup ends a process group whose leader is pid: with SIGTERM, then with SIGKILL. The
// leader's pid isn't reused as long as anything is left in its group, so no other process can
// be hit.
func endGroup(pid int, exited <-chan struct{}) {
	select {
	case <-exited:
		return // it came to its end by itself in the last moment
	default:
	}
	syscall.Kill(-pid, syscall.SIGTERM)
	sure := time.NewTimer(killGrace)
	defer sure.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	gone := exited
	for {
		select {
		case <-gone:
			gone = nil // the leader has ended; its children have the same time
		case <-look.C:
			if gone == nil && syscall.Kill(-pid, 0) == syscall.ESRCH {
				return
			}
		case <-sure.C:
			syscall.Kill(-pid, syscall.SIGKILL)
			return
		}
	}
}

func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return s.String()
}

// pipeSet closes what was opened, whatever happens.
type pipeSet struct {
	files [6]*os.File
	n     int
}

func (p *pipeSet) openPipe() (r, w *os.File, err error) {
	r, w, err = os.Pipe()
	if err == nil {
		p.files[p.n], p.files[p.n+1] = r, w
		p.n += 2
	}
	return r, w, err
}

func (p *pipeSet) closeAll() {
	for _, f := range p.files[:p.n] {
		f.Close()
	}
}

// feedPipe creates the pipe a process reads its payload from and fills it as far as
// possible. rest writes what didn't fit and is nil if everything did; it ends when
// the pipe is closed, and tolerates a process that never reads.
func (p *pipeSet) feedPipe(payload []byte) (r *os.File, rest func(), err error) {
	r, w, err := p.openPipe()
	if err != nil {
		return nil, nil, err
	}
	written := 0
	if raw, err := w.SyscallConn(); err == nil {
		raw.Write(func(fd uintptr) bool {
			for written < len(payload) {
				n, err := unix.Write(int(fd), payload[written:])
				if err == unix.EINTR {
					continue
				}
				if err != nil || n <= 0 {
					break
				}
				written += n
			}
			return true // full or done, never wait here: nothing reads yet
		})
	}
	if written == len(payload) {
		w.Close()
		return r, nil, nil
	}
	return r, func() {
		w.Write(payload[written:])
		w.Close()
	}, nil
}
