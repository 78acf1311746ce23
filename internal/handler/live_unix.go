//go:build unix

package handler

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/termsafe"
)

// liveProgram is a process that reads messages from stdin and writes answers to
// stdout, a line each.
type liveProgram struct {
	process   *os.Process
	processes *Processes
	stdin     *os.File
	exited    chan struct{} // closed when the process is gone
	state     *os.ProcessState
	lines     chan []byte // what was asked for
	over      chan struct{}
	overWhy   error // why nothing comes any more; set before over is closed

	mu      sync.Mutex
	waiting bool
	strays  int
	ended   bool
	words   []byte // the end of stderr

	errorsRead chan struct{} // closed when stderr is read to its end
}

func startLive(processes *Processes, s spec) (*liveProgram, error) {
	var pipes pipeSet
	failed := func(err error) (*liveProgram, error) { pipes.closeAll(); return nil, err }
	inEnd, stdin, err := pipes.openPipe()
	if err != nil {
		return failed(err)
	}
	stdout, outEnd, err := pipes.openPipe()
	if err != nil {
		return failed(err)
	}
	stderr, errEnd, err := pipes.openPipe()
	if err != nil {
		return failed(err)
	}
	process, err := os.StartProcess(s.path, s.args, &os.ProcAttr{
		Dir: s.dir, Env: s.env, Files: []*os.File{inEnd, outEnd, errEnd}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	if err != nil {
		return failed(err)
	}
	inEnd.Close()
	outEnd.Close()
	errEnd.Close()
	l := &liveProgram{process: process, processes: processes, stdin: stdin, exited: make(chan struct{}),
		lines: make(chan []byte, 1), over: make(chan struct{}), errorsRead: make(chan struct{})}
	processes.addProcess()
	go func() {
		defer processes.done()
		l.state, _ = process.Wait()
		closing := time.Now().Add(pipeGrace)
		stdout.SetReadDeadline(closing)
		stderr.SetReadDeadline(closing)
		close(l.exited)
	}()
	go l.readErrors(stderr)
	go l.readLines(stdout)
	return l, nil
}

func (l *liveProgram) hasEnded() bool {
	select {
	case <-l.exited:
		return true
	case <-l.over:
		return true
	default:
		return false
	}
}

// ask brings a message and waits for a line. silent says that the program had ended
// before it could have read the message, so that it may be asked anew.
func (l *liveProgram) ask(ctx context.Context, message []byte, answered bool) (line []byte, silent bool, err error) {
	started := time.Now()
	l.mu.Lock()
	l.waiting = answered
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.waiting = false
		l.mu.Unlock()
	}()
	stop := context.AfterFunc(ctx, func() { l.stdin.SetWriteDeadline(time.Now()) })
	_, err = l.stdin.Write(message)
	stop()
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, false, gaveUp(ctx, started)
	case err != nil:
		return nil, true, l.whyEnded("ended before it read the event")
	case !answered:
		return nil, false, nil
	}
	select {
	case line = <-l.lines:
		return line, false, nil
	case <-ctx.Done():
		return nil, false, gaveUp(ctx, started)
	case <-l.over:
	}
	select {
	case line = <-l.lines: // its last word
		return line, false, nil
	default:
	}
	if l.overWhy != nil {
		return nil, false, l.overWhy
	}
	return nil, true, l.whyEnded("ended without an answer")
}

// readLines passes answers on. Lines that nobody asked for are counted: too many end
// the program, as does one that is too long.
func (l *liveProgram) readLines(stdout *os.File) {
	defer stdout.Close()
	defer close(l.over)
	reader := bufio.NewReaderSize(stdout, 16<<10)
	for {
		line, err := readBoundedLine(reader, maxStdout)
		if err == nil && l.takeLine(line) {
			continue
		}
		if err == nil {
			err = fmt.Errorf("wrote %d lines that nobody asked for; a backend answers questions and writes notes to "+
				"stderr", maxStrays)
		}
		if errors.Is(err, errLongLine) || err != nil && l.tooMany() {
			l.overWhy = err
			l.end()
		}
		return
	}
}

func (l *liveProgram) tooMany() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.strays >= maxStrays
}

func (l *liveProgram) takeLine(line []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(bytes.TrimSpace(line)) == 0 {
		return true
	}
	if l.waiting {
		l.waiting = false
		select {
		case l.lines <- line:
		default: // nobody took the one before
		}
		return true
	}
	l.strays++
	return l.strays < maxStrays
}

var errLongLine = errors.New("wrote a line of more than 1 MiB")

// readBoundedLine reads a line without its end. One that has no end, or is longer than
// limit, is an error.
func readBoundedLine(reader *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := reader.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLongLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

func (l *liveProgram) readErrors(stderr *os.File) {
	defer stderr.Close()
	defer close(l.errorsRead)
	buffer := make([]byte, 4<<10)
	for {
		n, err := stderr.Read(buffer)
		l.mu.Lock()
		l.words = append(l.words, buffer[:n]...)
		l.words = l.words[max(0, len(l.words)-tailKept):]
		l.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// whyEnded says how the program ended, with its last words.
func (l *liveProgram) whyEnded(what string) error {
	select {
	case <-l.exited:
		<-l.errorsRead // which has a deadline now
	case <-time.After(pipeGrace): // it closed its stdout and goes on
	}
	how := ""
	select {
	case <-l.exited:
		if l.state != nil {
			how = " (" + l.state.String() + ")"
		}
	default:
	}
	l.mu.Lock()
	words := cleanText(lastLine(l.words))
	l.mu.Unlock()
	if words != "" {
		words = ": " + termsafe.CutMarked(words, 300)
	}
	return fmt.Errorf("%s%s%s", what, how, words)
}

// end ends the program and what it started, behind the caller.
func (l *liveProgram) end() {
	l.mu.Lock()
	before := l.ended
	l.ended = true
	l.mu.Unlock()
	if before {
		return
	}
	l.stdin.Close()
	l.processes.addProcess()
	go func() {
		defer l.processes.done()
		endGroup(l.process.Pid, l.exited)
	}()
}
