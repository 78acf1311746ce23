package ops

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// hostError is a failure as Node would describe it.
type hostError struct {
	Name    string `json:"name,omitempty"`
	Message string `json:"message"`
	Code    any    `json:"code,omitempty"`
	Syscall string `json:"syscall,omitempty"`
	Path    string `json:"path,omitempty"`
}

// describeError adds the codes that hooks look for to Go's errors.
func describeError(err error) *hostError {
	e := &hostError{Message: err.Error()}
	var named *namedError
	if errors.As(err, &named) {
		e.Name, e.Code = named.name, named.code
		return e
	}
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		e.Syscall, e.Path = at.Op, at.Path
	case errors.As(err, &link):
		e.Syscall, e.Path = link.Op, link.Old
	}
	var number syscall.Errno
	if errors.As(err, &number) {
		if name := errnoName(number); name != "" {
			e.Code = name
			e.Message = name + ": " + number.Error()
			if e.Path != "" {
				e.Message += ", " + e.Syscall + " '" + e.Path + "'"
			}
		}
	}
	return e
}

type namedError struct{ name, code, text string }

func (e *namedError) Error() string { return e.text }

func errnoName(n syscall.Errno) string {
	switch n {
	case syscall.ENOENT:
		return "ENOENT"
	case syscall.EACCES:
		return "EACCES"
	case syscall.EEXIST:
		return "EEXIST"
	case syscall.ENXIO:
		return "ENXIO"
	case syscall.ENOTDIR:
		return "ENOTDIR"
	case syscall.EISDIR:
		return "EISDIR"
	case syscall.ENOTEMPTY:
		return "ENOTEMPTY"
	case syscall.EPERM:
		return "EPERM"
	case syscall.EADDRINUSE:
		return "EADDRINUSE"
	case syscall.ECONNREFUSED:
		return "ECONNREFUSED"
	case syscall.EINVAL:
		return "EINVAL"
	case syscall.ELOOP:
		return "ELOOP"
	case syscall.EMFILE:
		return "EMFILE"
	case syscall.EROFS:
		return "EROFS"
	case syscall.EXDEV:
		return "EXDEV"
	case syscall.ENOSPC:
		return "ENOSPC"
	}
	return ""
}
