// Package programs builds hookmux's two programs for tests that run them.
package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
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

// Build puts the programs into dir.
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
	args := []string{"build", "-trimpath", "-ldflags", linked, "-o", dir + string(filepath.Separator)}
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
	return nil
}
