//go:build unix

package files

import (
	"io"
	"os"
	"syscall"
)

// descriptor is an open file used with plain system calls: os.File would bring
// up the runtime's poller, which costs the hook client more than the reading.
type descriptor int

func (d descriptor) Read(p []byte) (int, error) {
	for {
		n, err := syscall.Read(int(d), p)
		switch {
		case n > 0:
			return n, nil
		case err == nil:
			return 0, io.EOF
		case err != syscall.EINTR:
			return 0, err
		}
	}
}

// Close closes the descriptor; nothing was written, so nothing is lost.
func (d descriptor) Close() { _ = syscall.Close(int(d)) }

// openRegular opens a regular file for reading. O_NONBLOCK keeps a pipe without a writer from
// blocking; on a regular file it changes nothing.
func openRegular(path string, follow bool) (descriptor, int64, error) {
	flags := syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_CLOEXEC
	if !follow {
		flags |= syscall.O_NOFOLLOW
	}
	var fd int
	var err error
	for {
		if fd, err = syscall.Open(path, flags, 0); err != syscall.EINTR {
			break
		}
	}
	switch err {
	case nil:
	case syscall.ELOOP, syscall.ENXIO: // a link; a socket or a device without a driver
		return 0, 0, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	default:
		return 0, 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	var st syscall.Stat_t
	if err := syscall.Fstat(fd, &st); err != nil {
		_ = syscall.Close(fd)
		return 0, 0, &os.PathError{Op: "stat", Path: path, Err: err}
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		_ = syscall.Close(fd)
		return 0, 0, &os.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	return descriptor(fd), st.Size, nil
}

// Open opens a regular file of any size for reading.
func Open(path string) (*os.File, error) {
	fd, _, err := openRegular(path, false)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}
