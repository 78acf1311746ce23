package cmdutil

import "fmt"

// Exit codes. 2 is never used: agents read it as "block".
const (
	ExitOK       = 0
	ExitFailed   = 1
	ExitUsage    = 64 // wrong arguments
	ExitNoDaemon = 69
	ExitDenied   = 77 // denied because of who asked
)

// What shells say for a program that isn't there or can't be run.
const (
	ExitNotRunnable = 126
	ExitNotFound    = 127
)

// CodeError ends the program with a code of its own. With an empty message
// nothing more is printed.
type CodeError struct {
	Code    int
	Message string
}

func (e *CodeError) Error() string { return e.Message }

// Exit ends the program with a code, without a further message.
func Exit(code int) error { return &CodeError{Code: code} }

// FailWith ends the program with a code and a message.
func FailWith(code int, message string) error { return &CodeError{Code: code, Message: message} }

// UsageError is about wrong arguments.
func UsageError(format string, args ...any) error {
	return &CodeError{Code: ExitUsage, Message: fmt.Sprintf(format, args...)}
}
