package cmdutil

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// FileError says in one sentence why a file that was named on the command line can't be used.
// It's a usage error.
func FileError(name string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return UsageError("there's no file %s", name)
	case errors.Is(err, fs.ErrPermission):
		return UsageError("you may not read %s", name)
	case errors.Is(err, syscall.EISDIR):
		return UsageError("%s is a folder, not a file", name)
	}
	if wrapped := (*fs.PathError)(nil); errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return UsageError("can't read %s: %v", name, err)
}

// FolderError is [FileError] for a folder.
func FolderError(name string, err error) error {
	info, statErr := os.Stat(name)
	switch {
	case errors.Is(statErr, fs.ErrNotExist):
		return UsageError("there's no folder %s", name)
	case statErr == nil && !info.IsDir():
		return UsageError("%s is a file, not a folder", name)
	}
	return FileError(name, err)
}

// JSONError says in which line a file isn't valid JSON. Any other error is returned as it is.
func JSONError(name string, data []byte, err error) error {
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) && json.Valid(data) {
		return UsageError("%s: %v", name, err)
	}
	offset, what := int64(len(data)), "unexpected end of file"
	if syntax != nil {
		offset = syntax.Offset
		if !strings.Contains(syntax.Error(), "unexpected end") {
			what = syntax.Error()
		}
	}
	line := 1 + strings.Count(string(data[:min(int(offset), len(data))]), "\n")
	return UsageError("%s line %d: not valid JSON (%s)", name, line, fmt.Sprint(what))
}
