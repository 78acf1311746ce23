package install

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// BrokenFile returns the error for a file that cannot be edited.
func BrokenFile(path string, err error) error { return &BrokenError{path, err} }

// BrokenError names a file that can't be edited, and why.
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
	return fmt.Sprintf("%s: %s (nothing was written anywhere; fix it and run the command again)", e.Path, what)
}

func (e *BrokenError) Unwrap() error { return e.Err }
