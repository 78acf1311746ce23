// Package programs builds hookmux's two programs for tests that run them.
package programs

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/hookmux/hookmux/internal/daemontest/sandbox"
)

// module is where the programs' packages are.
const module = "github.com/hookmux/hookmux"

// waitFactor makes the hook client wait longer for a daemon than the one people
// install: on a busy machine a test would else see what the client does
// without a daemon.
const waitFactor = "10"

// Options of Build.
type Options struct {
	// Version is the version that the programs report; empty: the version of the tree.
	Version string
	// Names are the programs to build; none: both.
	Names []string
	// Released builds the hook client that people install, with its own patience.
	Released bool
}

// Shared are programs that all tests of a package use: built when the first test asks
// for them.
type Shared struct {
	Options Options

	once sync.Once
	dir  string
	err  error
}

// Folder returns where the programs are.
func (s *Shared) Folder(t testing.TB) string {
	t.Helper()
	s.once.Do(func() {
		if s.dir, s.err = sandbox.ShortDir(); s.err == nil {
			s.err = Build(s.dir, s.Options)
		}
	})
	if s.err != nil {
		t.Fatal(s.err)
	}
	return s.dir
}

// Remove takes the programs away, for TestMain.
func (s *Shared) Remove() {
	if s.dir != "" {
		_ = os.RemoveAll(s.dir)
	}
}

// Build puts the programs into dir. They are also kept in bin: what is up to date there, go
// build doesn't link again, which takes longer than most tests.
func Build(dir string, opt Options) error {
	names := opt.Names
	if len(names) == 0 {
		names = []string{"hookmux", "hookmux-hook"}
	}
	linked := "-s -w"
	if !opt.Released {
		linked += " -X main.waitFactor=" + waitFactor
	}
	if opt.Version != "" {
		linked += " -X " + module + "/internal/version.String=" + opt.Version
	}
	kept, err := keptFolder(linked)
	if err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(kept, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // ends the lock too
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	args := []string{"build", "-trimpath", "-ldflags", linked, "-o", kept + string(filepath.Separator)}
	for _, name := range names {
		from := module + "/cmd/" + name
		if name == "hookmux-lab" {
			from = module + "/lab/cmd/" + name
		}
		args = append(args, from)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot build %v: %w\n%s", names, err, out)
	}
	for _, name := range names {
		if err := copyProgram(filepath.Join(kept, name), filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// keptFolder makes the folder in bin of the programs that are linked with some flags.
func keptFolder(linked string) (string, error) {
	tree, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(tree, "go.work")); err == nil {
			break
		}
		if tree == filepath.Dir(tree) {
			return "", errors.New("this isn't below a working tree of hookmux")
		}
		tree = filepath.Dir(tree)
	}
	dir := filepath.Join(tree, "bin", "tests", fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(linked))))
	return dir, os.MkdirAll(dir, 0o700)
}

func copyProgram(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
