package recorder

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
)

// Only limits of the process itself are a reason to leave the place to another
// daemon: a full disk is full for that one, too.
func TestCripplingErrors(t *testing.T) {
	for err, want := range map[error]bool{
		nil: false, errors.New("something"): false, syscall.ENOSPC: false, syscall.EROFS: false,
		&os.PathError{Op: "write", Path: "intake", Err: syscall.EFBIG}:   true,
		fmt.Errorf("rotating: %w", &os.PathError{Err: syscall.EMFILE}):   true,
		&os.PathError{Op: "open", Path: "intake", Err: syscall.EACCES}:   false,
		&os.PathError{Op: "open", Path: "intake", Err: syscall.ENFILE}:   false,
		&os.PathError{Op: "write", Path: "intake", Err: syscall.EDQUOT}:  false,
		&os.PathError{Op: "open", Path: "intake", Err: os.ErrPermission}: false,
	} {
		if got := isCrippling(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
