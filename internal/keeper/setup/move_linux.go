package setup

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/keeper"
	"github.com/hookmux/hookmux/internal/platform/daemonstart"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// stays lists what other programs of the user use in the state folder as well.
var stays = []string{"run", "spool", "overlay", "accepted-programs", "container", "set-aside", "replaced", "install.json",
	"install.lock", "versions.json", "terminals.json", "journal.db", "search.db", "usage.db", "hook-log.jsonl",
	"sessions.jsonl", "places"}

func stayed(name string) bool {
	return slices.ContainsFunc(stays, func(s string) bool {
		return name == s || strings.HasPrefix(name, s+"-") || strings.HasPrefix(name, s+".")
	}) || strings.HasPrefix(name, "told-run-")
}

// Move is the child's work, as the user.
func Move(way string, folder int) error {
	if os.Getuid() == 0 && os.Getenv("SUDO_UID") != "" {
		return errors.New("hookmux system install runs this")
	}
	// The places as they are without the service.
	dirs, err := paths.FindByEnvironment(os.Getenv)
	if err != nil {
		return err
	}
	given, err := keeper.KeptPath(folder, folder+1)
	if err != nil {
		return err
	}
	kept := filepath.Join(given, "state")
	shim := install.ShimPath(dirs)
	switch way {
	case "in":
		if err := endDaemon(dirs); err != nil {
			return err
		}
		if _, err := os.Stat(kept); err == nil {
			return errors.New("the service already has state of this user")
		}
		return moveTree(dirs.State, kept)
	case "link":
		if err := endDaemon(dirs); err != nil { // a hook may have started it meanwhile
			return err
		}
		return link(shim)
	case "out":
		if pid := servingPID(given); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			for end := time.Now().Add(20 * time.Second); syscall.Kill(pid, 0) == nil && time.Now().Before(end); {
				time.Sleep(10 * time.Millisecond)
			}
		}
		return errors.Join(moveTree(kept, dirs.State), unlink(shim))
	}
	return errors.New("unknown way " + way)
}

// servingPID returns the daemon that wrote its number into the keeper's folder.
func servingPID(given string) int {
	text, err := os.ReadFile(filepath.Join(given, "run", "daemon.alive"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return 0
	}
	name, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/comm")
	if !strings.HasPrefix(string(name), "hookmux") {
		return 0
	}
	return pid
}

// endDaemon stops a daemon that runs without the service.
func endDaemon(d paths.Dirs) error {
	for end := time.Now().Add(20 * time.Second); daemonstart.DaemonHoldsLock(d); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			return errors.New("the daemon doesn't stop; run `hookmux daemon stop` and try again")
		}
		if pid := daemonstart.DaemonPID(d); pid > 1 {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
	return nil
}

// moveTree moves files and folders; what stays in the home stays. Links aren't followed.
func moveTree(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		if stayed(e.Name()) {
			continue
		}
		if err := copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	for _, e := range entries { // once all of it is there
		if !stayed(e.Name()) {
			if err := os.RemoveAll(filepath.Join(from, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyTree(from, to string) error {
	info, err := os.Lstat(from)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		if err := os.MkdirAll(to, 0o700); err != nil {
			return err
		}
		entries, err := os.ReadDir(from)
		for _, e := range entries {
			err = errors.Join(err, copyTree(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())))
		}
		return err
	case !info.Mode().IsRegular():
		return nil
	}
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NOFOLLOW, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

const beforeSystem = ".before-system"

// link has what agents run lead to the service's client.
func link(shim string) error {
	if _, err := os.Lstat(shim); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing is installed
	}
	if to, err := os.Readlink(shim); err == nil && to == paths.SystemProgram("hookmux-hook") {
		return nil
	}
	fresh := shim + ".new"
	_ = os.Remove(fresh)
	if err := os.Symlink(paths.SystemProgram("hookmux-hook"), fresh); err != nil {
		return err
	}
	if err := os.Link(shim, shim+beforeSystem); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return os.Rename(fresh, shim)
}

// unlink puts back what agents ran before.
func unlink(shim string) error {
	if to, err := os.Readlink(shim); err != nil || to != paths.SystemProgram("hookmux-hook") {
		return nil
	}
	if _, err := os.Lstat(shim + beforeSystem); err == nil {
		return os.Rename(shim+beforeSystem, shim)
	}
	return copyTreeExecutable(paths.SystemProgram("hookmux-hook"), shim)
}

func copyTreeExecutable(from, to string) error {
	if err := os.Remove(to); err != nil {
		return err
	}
	return errors.Join(copyTree(from, to), os.Chmod(to, 0o755))
}
