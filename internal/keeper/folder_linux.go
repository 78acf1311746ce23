package keeper

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// folderNameSize is the length of the inner folder's name, 128 random bits in hexadecimal.
const folderNameSize = 32

// OpenFolder opens the two folders of a user below state, and makes them if they don't exist:
// the outer one, which only the keeper can list, and inside it the inner one, which has a
// name that can't be guessed and contains what is kept. A daemon opens paths that agents
// choose, such as a hook's script, and these can lead through /proc/self/fd. With the
// descriptor of the outer folder alone they lead nowhere.
func OpenFolder(state string, uid int) (outer, inner int, err error) {
	const flags = unix.O_PATH | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	path := filepath.Join(state, strconv.Itoa(uid))
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		if err := makeFolder(state, path); err != nil {
			return -1, -1, err
		}
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return -1, -1, err
	}
	if len(entries) != 1 || len(entries[0].Name()) != folderNameSize {
		return -1, -1, fmt.Errorf("%s: want exactly one folder with a random name in it", path)
	}
	if outer, err = unix.Open(path, flags, 0); err != nil {
		return -1, -1, err
	}
	if inner, err = unix.Openat(outer, entries[0].Name(), flags, 0); err != nil {
		_ = unix.Close(outer)
		return -1, -1, err
	}
	return outer, inner, nil
}

// makeFolder makes both folders in one step. They belong to the owner of state, also if root
// makes them.
func makeFolder(state, path string) error {
	info, err := os.Lstat(state)
	if err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	var random [folderNameSize / 2]byte
	if _, err := unix.Getrandom(random[:], 0); err != nil {
		return err
	}
	fresh, err := os.MkdirTemp(state, ".new-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(fresh) }() // renamed if all went well
	for folder, mode := range map[string]os.FileMode{
		filepath.Join(fresh, hex.EncodeToString(random[:])): 0o777, fresh: 0o711,
	} {
		if err := os.Mkdir(folder, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
		if err := errors.Join(os.Lchown(folder, int(owner.Uid), int(owner.Gid)), os.Chmod(folder, mode)); err != nil {
			return err
		}
	}
	err = os.Rename(fresh, path)
	if errors.Is(err, os.ErrExist) { // another process made it meanwhile
		return nil
	}
	return err
}

// KeptPath returns the path of the inner folder for this process, and closes its descriptor,
// so that only this path leads there.
func KeptPath(outer, inner int) (string, error) {
	link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(inner))
	if err != nil {
		return "", err
	}
	name := filepath.Base(link)
	if _, err := hex.DecodeString(name); err != nil || len(name) != folderNameSize {
		return "", errors.New(link + " isn't a folder of the keeper")
	}
	if err := unix.Close(inner); err != nil {
		return "", err
	}
	return "/proc/self/fd/" + strconv.Itoa(outer) + "/" + name, nil
}
