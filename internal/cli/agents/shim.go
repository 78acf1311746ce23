package agents

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/hookmux/hookmux/internal/cli/cmdutil"
	"github.com/hookmux/hookmux/internal/install"
	"github.com/hookmux/hookmux/internal/platform/paths"
)

// RefreshShim keeps the path in agents' configs pointing to this hookmux after an upgrade
// moved it. If that fails, `hookmux doctor` reports it.
func RefreshShim(app *cmdutil.App) {
	dirs, err := app.Dirs()
	if err != nil {
		return
	}
	if _, err := os.Readlink(install.Shim(dirs)); err != nil {
		return
	}
	noted := dirs.Installation()
	if noted != nil && paths.Runnable(install.Shim(dirs)) && paths.Runnable(noted.Program) {
		return // PATH, which any program may choose, isn't used then
	}
	self, hook, err := OwnPrograms()
	if err != nil {
		return
	}
	path := app.Getenv("PATH")
	stable := install.StableHook(hook, path)
	if err := install.RefreshShim(dirs, stable, stable != hook || onPath(filepath.Dir(hook), path)); err != nil {
		return
	}
	if noted != nil {
		_ = writeInstallation(app, dirs, stableProgram(dirs, self, stable))
	}
}

func onPath(dir, path string) bool {
	return slices.Contains(filepath.SplitList(path), dir)
}
