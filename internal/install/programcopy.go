package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	diskfiles "github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// This file keeps copies of hookmux's programs in a place that isn't cleaned up. A clone is
// moved or cleaned, JavaScript package managers and Nix delete folders when they like, and
// an agent can replace any file you can write to: such a hookmux is copied at `hookmux
// install`, and agents run the copy. Programs that only root can replace stay where they are.

// Names are the programs, in the order in which they are replaced: the hook client finds the new
// hookmux next to it.
var Names = []string{"hookmux", "hookmux-hook"}

// ProgramFolder returns where the copies are: under the path that is in agents' settings.
func ProgramFolder(d paths.Dirs) string { return filepath.Join(d.Data, "bin") }

// MayVanish reports whether a program can be moved, deleted or replaced without root:
// you can write to it or to a folder above it, or it is in node_modules or Nix's store,
// which are cleaned without asking (also for root). It looks at the path as given and
// at where its links lead.
func MayVanish(file string) bool {
	resolved, err := filepath.EvalSymlinks(file)
	if err != nil {
		resolved = file
	}
	return mayVanish(file, paths.UserID(), isReplaceable) || mayVanish(resolved, paths.UserID(), isReplaceable)
}

// systemFolders are where packages of the system are: root can replace everything,
// so for root only what is here stays.
var systemFolders = []string{"/usr/", "/opt/", "/bin/", "/sbin/", "/snap/"}

func mayVanish(file string, uid int, replaceable func(file string, uid int) bool) bool {
	if strings.Contains(file, "/node_modules/") || strings.HasPrefix(file, "/nix/store/") {
		return true
	}
	if uid == 0 {
		return !slices.ContainsFunc(systemFolders, func(dir string) bool { return strings.HasPrefix(file, dir) })
	}
	for at := file; ; at = filepath.Dir(at) {
		if replaceable(at, uid) {
			return true
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// isReplaceable reports whether a user can write to a file or folder, or make it so.
func isReplaceable(file string, uid int) bool {
	info, err := os.Stat(file)
	if err != nil {
		return true // nothing keeps it
	}
	owner, group, known := diskfiles.Owner(info)
	if !known || owner == uid || info.Mode().Perm()&0o002 != 0 {
		return true
	}
	groups, err := os.Getgroups()
	return info.Mode().Perm()&0o020 != 0 && (err != nil || slices.Contains(groups, group))
}

// StableProgram returns the program that may be written down for later and started as the daemon:
// the copy, if there is one and the program itself may vanish.
func StableProgram(d paths.Dirs, program string) string {
	kept := filepath.Join(ProgramFolder(d), filepath.Base(program))
	if info, err := os.Lstat(kept); err == nil && info.Mode().IsRegular() && paths.Runnable(kept) && MayVanish(program) {
		return kept
	}
	return program
}

// SameProgram reports whether two files have the same content.
func SameProgram(a, b string) bool {
	one, err := os.Open(a)
	if err != nil {
		return false
	}
	defer one.Close()
	two, err := os.Open(b)
	if err != nil {
		return false
	}
	defer two.Close()
	infoOne, err := one.Stat()
	infoTwo, errTwo := two.Stat()
	if err != nil || errTwo != nil || infoOne.Size() != infoTwo.Size() {
		return false
	}
	left, right := make([]byte, 1<<16), make([]byte, 1<<16)
	for {
		n, err := io.ReadFull(one, left)
		m, errTwo := io.ReadFull(two, right)
		if !bytes.Equal(left[:n], right[:m]) {
			return false
		}
		if err != nil || errTwo != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// CopyProgram makes a file a copy of a program, in one step: a process that runs it meanwhile
// gets either the old program or the new one.
func CopyProgram(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	temp := fmt.Sprintf("%s.%016x.new", to, rand.Uint64())
	target, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	err = errors.Join(err, target.Sync(), target.Close())
	if err == nil {
		err = os.Rename(temp, to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	return nil
}
