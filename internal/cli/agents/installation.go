package agents

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/judge"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// noteInstallation writes down where this installation keeps its things, which
// programs belong to it, and which events its guards cover.
func noteInstallation(app *cmdutil.App, h *install.Host) error {
	if err := guardnote.Write(h.Dirs.State, judge.New(h.Dirs).Covers()); err != nil {
		return fmt.Errorf("which events guards cover cannot be written down: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, err = h.Dirs.WriteInstallation(app.Getenv, install.Shim(h.Dirs), stableProgram(self, h.Hook))
	return err
}

// stableProgram prefers the hookmux beside the stable path of hookmux-hook to
// where that leads: package managers keep the first and move the second.
func stableProgram(self, hook string) string {
	if file := filepath.Join(filepath.Dir(hook), filepath.Base(self)); paths.SameFile(file, self) {
		return file
	}
	return self
}

// forgetInstallation takes the notes back once nothing is installed any more.
func forgetInstallation(app *cmdutil.App, h *install.Host) error {
	if _, err := os.Lstat(install.Shim(h.Dirs)); err == nil {
		return nil // some agent still runs it
	}
	return paths.RemoveInstallation(app.Getenv)
}
