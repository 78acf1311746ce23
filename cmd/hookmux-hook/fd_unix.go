//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// fd is a file descriptor used with plain blocking system calls. os.File and
// net.Conn would bring up the netpoller, which costs more than the exchange
// with the daemon; and os.File dies of SIGPIPE when stdout is gone.
type fd int

func (f fd) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(f), p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case !worthRepeating(err):
			return 0, err
		}
	}
}

func (f fd) Write(p []byte) (int, error) {
	for done := 0; ; {
		n, err := syscall.Write(int(f), p[done:])
		done += max(n, 0)
		if done == len(p) {
			return done, nil
		}
		if err != nil && !worthRepeating(err) {
			return done, err
		}
	}
}

// worthRepeating reports whether a call is worth repeating. A stream that some parent made
// non-blocking is tried again after a moment.
func worthRepeating(err error) bool {
	if errors.Is(err, syscall.EAGAIN) {
		time.Sleep(time.Millisecond)
		return true
	}
	return errors.Is(err, syscall.EINTR)
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(fd)
	return ok && isTerminalFD(int(f))
}

func workingDir() string {
	dir, err := syscall.Getwd()
	if err != nil || dir == "" || dir[0] != '/' {
		return "" // it was removed, or is outside our root
	}
	return dir
}

// conn is a connection to the daemon. Its times are the kernel's (SO_SNDTIMEO,
// SO_RCVTIMEO), so that no second thread has to watch. It is not marked
// close-on-exec: daemonstart marks everything before it spawns.
type conn struct {
	fd    int
	until time.Time // when reading and writing give up
}

var noConn = conn{fd: -1}

// dialDaemon connects, and gives up at until: a daemon that no longer accepts connections
// keeps its callers waiting once its queue is full.
func dialDaemon(path string, until time.Time) (conn, error) {
	s, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return noConn, os.NewSyscallError("socket", err)
	}
	c := conn{fd: s, until: until}
	c.setLimit(syscall.SO_SNDTIMEO)
	for {
		err = syscall.Connect(s, &syscall.SockaddrUnix{Name: path})
		if err == nil {
			return c, nil
		}
		if err != syscall.EINTR || c.isOver() {
			c.close()
			return noConn, &os.PathError{Op: "connect", Path: path, Err: err}
		}
	}
}

func (c conn) isOver() bool { return !time.Now().Before(c.until) }

// setLimit sets how long a system call may wait. Should it fail, the process's
// own timer ends the wait.
func (c conn) setLimit(option int) {
	// 0 would mean forever.
	tv := syscall.NsecToTimeval(int64(max(time.Millisecond, time.Until(c.until))))
	_ = syscall.SetsockoptTimeval(c.fd, syscall.SOL_SOCKET, option, &tv)
}

// mayRetry reports whether a call that came back without success is worth
// repeating: it was interrupted, or ran into a limit set for an earlier until.
func (c conn) mayRetry(option int, err error) bool {
	if !errors.Is(err, syscall.EINTR) && !errors.Is(err, syscall.EAGAIN) || c.isOver() {
		return false
	}
	c.setLimit(option)
	return true
}

// startReading sets the limit of the reads to come.
func (c conn) startReading() { c.setLimit(syscall.SO_RCVTIMEO) }

func (c conn) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(c.fd, p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case !c.mayRetry(syscall.SO_RCVTIMEO, err):
			return 0, err
		}
	}
}

func (c conn) Write(p []byte) (int, error) {
	for done := 0; ; {
		n, err := syscall.Write(c.fd, p[done:])
		done += max(n, 0)
		if done == len(p) {
			return done, nil
		}
		if err != nil && !c.mayRetry(syscall.SO_SNDTIMEO, err) {
			return done, err
		}
	}
}

func (c conn) close() {
	_ = syscall.Close(c.fd) // one request per connection: nothing is lost by it
}

func isTimeout(err error) bool { return errors.Is(err, syscall.EAGAIN) }
