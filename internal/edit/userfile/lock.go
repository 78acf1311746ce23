package userfile

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/platform/files"
)

// lockWait is how long a writer waits for the others.
const lockWait = 60 * time.Second

// lock takes the exclusive lock of the folder a file is in: all writers of the file agree on it
// whatever their settings, it outlives the renaming of the file, and it leaves nothing behind. If
// folders can't be locked (some network file systems) a lock file next to the target is used.
func lock(target string) (unlock func(), err error) {
	dir := filepath.Dir(target)
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	err = waitForLock(f, target)
	if errors.Is(err, syscall.EBADF) || errors.Is(err, syscall.ENOTSUP) || errors.Is(err, syscall.EINVAL) ||
		errors.Is(err, syscall.ENOLCK) {
		f.Close()
		beside := filepath.Join(dir, "."+filepath.Base(target)+".lock")
		if f, err = os.OpenFile(beside, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
			return nil, err
		}
		err = waitForLock(f, target)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil // closing releases the lock
}

// Lock takes an exclusive lock that represents more than one file. The file it is named by is
// created and stays: removing it would let two in.
func Lock(path string) (unlock func(), err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := waitForLock(f, path); err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}

func waitForLock(f *os.File, target string) error {
	give := time.Now().Add(lockWait)
	pause := time.Millisecond
	for {
		switch err := files.TryLock(f); {
		case err == nil || !errors.Is(err, files.ErrHeld):
			return err
		case time.Now().After(give):
			return fmt.Errorf("%s: another program has held its lock for %s; end it and try again", target, lockWait)
		}
		time.Sleep(pause/2 + rand.N(pause))
		pause = min(pause*2, 20*time.Millisecond)
	}
}

// keepOwner gives the new file the owner of the old one. The group is kept if that is allowed.
func keepOwner(f *os.File, old fs.FileInfo) error {
	uid, gid, ok := files.Owner(old)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	isUID, isGID, _ := files.Owner(info)
	if isUID != uid {
		return f.Chown(uid, gid)
	}
	if isGID != gid {
		_ = f.Chown(-1, gid)
	}
	return nil
}
