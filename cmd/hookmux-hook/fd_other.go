//go:build !unix

package main

import (
	"errors"
	"io"
	"os"
	"time"
)

// On systems that lack what hookmux needs the client still reads its input and answers
// neutrally, so that a shared config file does no harm there.

type fd int

func (f fd) file() *os.File {
	switch f {
	case 0:
		return os.Stdin
	case 1:
		return os.Stdout
	}
	return os.Stderr
}

func (f fd) Read(p []byte) (int, error)  { return f.file().Read(p) }
func (f fd) Write(p []byte) (int, error) { return f.file().Write(p) }

func isTerminal(io.Reader) bool { return false }
func workingDir() string        { return "" }
func isTimeout(error) bool      { return false }

type conn struct{ until time.Time }

var (
	noConn    conn
	errSystem = errors.New("hookmux runs on Linux and macOS only; on Windows use WSL")
)

func dialDaemon(string, time.Time) (conn, error) { return noConn, errSystem }
func (conn) Read([]byte) (int, error)            { return 0, errSystem }
func (conn) Write([]byte) (int, error)           { return 0, errSystem }
func (conn) startReading()                       {}
func (conn) close()                              {}
