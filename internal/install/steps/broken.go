package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// BrokenFile is the error for a file that cannot be edited.
func BrokenFile(path string, err error) error { return &BrokenError{path, err} }

// BrokenError says which file cannot be edited, and why.
type BrokenError struct {
	Path string
	Err  error
}

func (e *BrokenError) Error() string {
	what := e.Err.Error()
	if p := (*fs.PathError)(nil); errors.As(e.Err, &p) && p.Path == e.Path {
		what = p.Err.Error()
	}
	what = strings.TrimPrefix(what, e.Path+": ")
	if strings.Contains(what, "; ") { // it says what to do: errors are written "what is wrong; what to do"
		return fmt.Sprintf("%s: %s, and run the command again (nothing was written anywhere)", e.Path, what)
	}
	return fmt.Sprintf("%s: %s; correct it and run the command again (nothing was written anywhere)", e.Path, what)
}

func (e *BrokenError) Unwrap() error { return e.Err }
