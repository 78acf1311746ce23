package files

import "errors"

// This file takes exclusive locks of open files. A lock lasts until the file is closed, here
// and in every process that inherited it. Standard library only: the hook client links it.

// ErrHeld says that another open file has the lock.
var ErrHeld = errors.New("another process holds the lock")
