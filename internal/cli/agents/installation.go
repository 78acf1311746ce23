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
	"github.com/hookmux/hookmux/internal/pipeline/evaluate"
	"github.com/hookmux/hookmux/internal/platform/files"
	"github.com/hookmux/hookmux/internal/platform/guardnote"
	"github.com/hookmux/hookmux/internal/platform/paths"
	"github.com/hookmux/hookmux/internal/platform/proc"
	"github.com/hookmux/hookmux/internal/platform/sealed"
	"github.com/hookmux/hookmux/internal/selection/sources"
	"github.com/hookmux/hookmux/internal/wire"
)

// noteInstallation records where this installation keeps its things, which programs belong
// to it, and which events its guards cover.
func noteInstallation(app *cmdutil.App, h *install.Host) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := writeInstallation(app, h.Dirs, stableProgram(h.Dirs, self, h.Hook)); err != nil {
		return err
	}
	return noteGuarded(app, h.Dirs)
}

// noteGuarded records which events guards cover. It comes after the installation: an older
// note isn't believed.
func noteGuarded(app *cmdutil.App, dirs paths.Dirs) error {
	if err := guardnote.Write(dirs.State, evaluate.New(dirs, app.LiveSettings).Covers()); err != nil {
		return fmt.Errorf("can't save which events guards cover: %w", err)
	}
	return nil
}

// writeInstallation writes the record of the installation, sealed if the user writes it or
// nothing was sealed here before.
func writeInstallation(app *cmdutil.App, dirs paths.Dirs, program string) error {
	file, ok := paths.InstallationKey(app.Getenv)
	if !ok {
		return nil
	}
	key, err := sealed.ReadKey(file)
	switch {
	case errors.Is(err, sealed.ErrNoKey):
		key, err = sealed.MakeKey(file, writeKey)
	case err == nil && !isUser(app):
		if isSealedAlready(dirs, program) {
			return nil // a script that installs again doesn't take your seal and environment away
		}
		key = nil
	}
	if err != nil {
		return fmt.Errorf("can't seal the installation record: %w", err)
	}
	_, err = dirs.WriteInstallation(app.Getenv, install.Shim(dirs), program, key, app.Environ)
	return err
}

// isSealedAlready reports whether a sealed record says the same places and programs.
func isSealedAlready(dirs paths.Dirs, program string) bool {
	noted := dirs.Installation()
	return noted != nil && noted.IsSealed() && noted.WasWrittenFor(dirs) && noted.Hook == install.Shim(dirs) &&
		noted.Program == program
}

func writeKey(path string, key []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return files.WriteSynced(path, key)
}

// isUser reports whether this command runs at a trusted terminal. Root isn't asked: as root
// you can do everything that hookmux can.
func isUser(app *cmdutil.App) bool {
	if os.Getuid() == 0 {
		return true
	}
	return app.Table != nil && terminal.NewEvaluator(agent.Builtin(), app.Table, app.Facts, 0).
		May(authority.Decide, proc.Cred{PID: os.Getpid(), UID: os.Getuid()},
			func() []string { return app.Environ }).OK
}

// SealInstallation seals an unsealed record when the user runs a command: one of an earlier
// version, or one that another program wrote. Its content is only sealed as far as it is
// believed already, or as the user's own environment says the same.
func SealInstallation(app *cmdutil.App) {
	dirs, err := app.Dirs()
	if err != nil {
		return
	}
	noted := dirs.Installation()
	if noted == nil || noted.IsSealed() || !isUser(app) {
		return
	}
	if chosen, err := paths.FindByEnvironment(app.Getenv); err == nil && noted.WasWrittenFor(chosen) {
		dirs = chosen
	}
	if writeInstallation(app, dirs, noted.Program) == nil { // else the next command tries again
		_ = noteGuarded(app, dirs) // without it, all tool calls are taken to be guarded while no daemon answers
	}
}

// acceptFirst accepts the settings that are there, if none were accepted yet and the user
// installs at a trusted terminal. If it doesn't, `hookmux status` says what waits.
func acceptFirst(ctx context.Context, app *cmdutil.App, c *agent.Catalogue, dirs paths.Dirs) {
	if app.LiveSettings || app.Table == nil {
		return
	}
	evaluator := terminal.NewEvaluator(c, app.Table, app.Facts, 0)
	if !evaluator.May(authority.Decide, proc.Cred{PID: os.Getpid(), UID: os.Getuid()},
		func() []string { return app.Environ }).OK {
		return
	}
	daemon, err := app.RunningDaemon()
	if err != nil {
		return
	}
	err = daemon.Call(ctx, wire.MethodAcceptFirst, nil, nil)
	if errors.Is(err, client.ErrNoDaemon) {
		_ = sources.New(sources.Options{
			Dirs: dirs, Catalogue: c, Accepted: sources.OpenAccepted(dirs, false),
		}).Accepted.AcceptInitial(true) // status shows what wasn't accepted
	}
}

// stableProgram returns the copy of hookmux if agents run copies, else the hookmux next to
// the stable path of hookmux-hook: package managers keep that and move its target.
func stableProgram(dirs paths.Dirs, self, hook string) string {
	if kept := install.StableProgram(dirs, self); kept != self {
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
