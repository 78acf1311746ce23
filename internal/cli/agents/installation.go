package agents

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hookmux/hookmux/agent"
	"github.com/hookmux/hookmux/client"
	"github.com/hookmux/hookmux/internal/authority"
	"github.com/hookmux/hookmux/internal/authority/terminal"
	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/install/programcopy"
	"github.com/hookmux/hookmux/internal/judge"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/wire"
)

// noteInstallation writes down where this installation keeps its things, which
// programs belong to it, and which events its guards cover.
func noteInstallation(app *cmdutil.App, h *install.Host) error {
	if err := guardnote.Write(h.Dirs.State, judge.New(h.Dirs, app.LiveSettings).Covers()); err != nil {
		return fmt.Errorf("which events guards cover cannot be written down: %w", err)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	_, err = h.Dirs.WriteInstallation(app.Getenv, install.Shim(h.Dirs), stableProgram(h.Dirs, self, h.Hook))
	return err
}

// confirmFirst lets the settings that are there count, where nobody confirmed
// any yet and a person at a trusted terminal installs. Where it does not, `hookmux status`
// says what waits.
func confirmFirst(ctx context.Context, app *cmdutil.App, c *agent.Catalogue, dirs paths.Dirs) {
	if app.LiveSettings || app.Table == nil {
		return
	}
	judge := terminal.NewJudge(c, app.Table, app.Facts, 0)
	if !judge.May(authority.Decide, proc.Cred{PID: os.Getpid(), UID: os.Getuid()},
		func() []string { return app.Environ }).OK {
		return
	}
	daemon, err := app.RunningDaemon()
	if err != nil {
		return
	}
	err = daemon.Call(ctx, wire.MethodConfirmFirst, nil, nil)
	if errors.Is(err, client.ErrNoDaemon) {
		_ = sources.New(sources.Options{
			Dirs: dirs, Catalogue: c, Confirmed: sources.OpenConfirmed(dirs, false),
		}).Confirmed.ConfirmInitial(true) // status tells what was not taken
	}
}

// stableProgram is the copy of hookmux where agents run copies, else the hookmux beside
// the stable path of hookmux-hook: package managers keep that and move where it leads.
func stableProgram(dirs paths.Dirs, self, hook string) string {
	if kept := programcopy.Stable(dirs, self); kept != self {
		return kept
	}
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
